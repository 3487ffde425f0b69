"""A third table: events of the rows of persons, such as drugs of hospital stays; the same step as from persons to rows, once more."""
