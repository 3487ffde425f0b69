"""What tests of the core go through besides, so far as it is about files of survey programs. For `tests/additions.py`."""

OPENERS = ("extensions.survey_files",)
ROWS_OF_A_BLOCK = ("dpsynth_core.extensions.survey_files.spreadsheet_file._ROWS",)
CELL_BY_CELL = (".xlsx", ".sav", ".zsav", ".dta", ".xpt")
SHORT_TEXTS = (".sav", ".zsav", ".dta", ".xpt")
"""Kinds of files whose texts have a length, and no NUL."""
CUT_OFF = (".xlsx", ".ods", ".sav", ".zsav", ".dta")
DAMAGED = (".xlsx", ".sav", ".dta", ".xpt")
EXPLODING = (".xlsx",)
ASKED_ABOUT = (".xlsx", ".sav", ".ods")
"""Kinds of files whose days may be text."""
IN_ONE_STEP = ("xlsx", "sav", "dta", "xpt")
"""Formats of rows whose libraries need all rows at once."""
TABLES = (".xlsx", ".ods", ".sav", ".zsav", ".por", ".dta", ".xpt")
"""Kinds of files in the corpus of fuzzed inputs."""
HEAVY = (".ods",)
LINKED = [("csv", "spss"), ("spss", "parquet")]
"""Kinds of files of two linked tables."""
ENDINGS = {"spss": ".sav"}
ONLY_HERE = (".xlsx", ".sav")
"""Kinds of files that are not read from object stores."""
SKIPPING = ("spreadsheet",)
"""Kinds of tables in which a row may be no record because of its content."""
