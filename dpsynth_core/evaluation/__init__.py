"""Error bounds of a release, its verdict, answers with intervals, and comparisons with the truth for the curator alone."""
