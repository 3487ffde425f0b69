"""The words of pages, files and errors for persons and their rows in order."""

from __future__ import annotations

from collections.abc import Iterable

from dpsynth_core.vocabulary.link_words import HOUSEHOLDS, LinkWords

ROWS_FILE = "rows-in-order.csv"
"""The file of rows with the columns of their persons, of a release of one file."""
EVENTS_FILE = "events.csv"
"""The file of events, of a release of three tables."""
_COUNTS_ONCE = (
    "In errors, bounds and noisy tables each person counts once: each of k rows of a person counts 1/k. So that this is in whole numbers, "
    "noisy tables count {each:,} for each person. The column “members” is the number of rows of a person; one that ends in “before” is of "
    "the row before."
)
GAP = (
    "Days, or what the order is in, since the person's row before. A first row has none, nor has a row whose own time, or that of the row "
    "before it, is not known."
)
_KINDS = (
    ("Of persons", "Two columns of a person."),
    ("Of rows", "Two columns of one row."),
    ("Person and row", "A column of a person by one of a row."),
    ("A row and the row before", "A column of a row by one of the row before it: what follows what."),
)
_NUMBER = ("Number of rows", "How many rows a person has, by a column of the person or of a row.")


def words(order: str | None, one_file: bool, columns: Iterable[tuple[str, str]], read: str) -> LinkWords:
    """Return the words of a link.

    Args:
        order: The column by which rows are ordered; None for the order of the file.
        one_file: Whether persons are known from their rows alone.
        columns: Columns that no file of rows has, each with a sentence on what it is.
        read: As what values of that column are read.
    """
    by = "the order of their file"
    if order is not None:
        by = f"the order of “{order}”, read as {read}; equal ones keep the order of their file, and what is not read so comes last"
    where = "" if one_file else " in both tables"
    first = "Of each person, one row of the first table was used."
    if one_file:
        first = "Where rows of a person disagree on what is the same in all of them, the first one in the file counts."
    return LinkWords(
        household="person",
        households="people",
        everybody="all people",
        member="row",
        members="rows",
        which="which",
        counted="rows",
        all_counted="all rows",
        some="some row",
        none="no row",
        later="a later row",
        two="questions about the row two before are not answered",
        pairs="rows (each person counts once)",
        unit="one person with all rows of that person (see neighbouring tables), not for a family or a firm",
        owned="all rows of a person say, how many they are, and what follows what",
        changed=f"one person{where},",
        person=f"a person is a value of the column {{column!r}} with all its rows{where}, of which the first {{most}} in order are used",
        protects="one person with all its rows, of which at most {most} are used",
        key=f"The column “{{column}}”{' of both tables' * (not one_file)} names the person of a row.",
        used=f"At most {{most:,}} rows of each person were used, the first ones in {by}. {first}",
        made="persons",
        records="persons",
        held="rows in order",
        title="Rows of persons",
        order="The rows of a person are together and in order.",
        tables=_COUNTS_ONCE,
        once="A person counts once in each table, divided evenly among the rows of that person: many rows do not cost more than few.",
        unbounded="Tables of rows are measured in fewer ways than tables of persons, and their bounds are wider.",
        beyond="A person with more than {most} rows counts as one with {most}.",
        counting="Only the first {most} rows of a person count: later ones are not in this release.",
        most_of="{share} of people have {most} rows or more, of which {most} count: further ones, if any, are not in this release.",
        elsewhere=f"count in {ROWS_FILE}, or in what rows_in_order returns in Python" if one_file else HOUSEHOLDS.elsewhere,
        page="Counts, shares and means are of rows, each with the columns of its person, also where this page says “people”.",
        explore="Rows are the first {most} of each person: later ones do not count.",
        computed="Counted from the rows of a person, for the noisy tables; no file of rows has this column.",
        columns=dict(columns),
        kinds=_KINDS,
        number=_NUMBER,
    )
