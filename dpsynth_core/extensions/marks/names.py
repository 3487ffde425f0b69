"""Names by which a file of synthetic rows is known."""

SUFFIX = "-metadata.json"
"""End of the name of the file beside a file of rows, as CSV on the Web has it."""
MARKED = "-marked."
"""In the name of a file of rows with the column that says what they are."""
COLUMN = "synthetic_rows"
"""The name of that column, which is the first one."""
