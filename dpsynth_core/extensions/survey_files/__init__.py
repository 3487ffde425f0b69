"""Files of survey programs: SPSS, Stata, SAS, Excel and OpenDocument, read as tables and written as rows."""

from dpsynth_core.foundation.extension import Deferred, Extension, RowFormat

_HERE = "dpsynth_core.extensions.survey_files"
SHEET_ROWS = 1_048_575
"""Rows of a sheet of Excel below its header."""
MOST_AT_ONCE = 2_000_000
"""Rows of formats whose libraries need all of them in memory."""


EXTENSION = Extension(
    summary="Files of SPSS, Stata, SAS, Excel and OpenDocument, as tables and as rows.",
    row_formats=(
        RowFormat(
            "xlsx",
            ".xlsx",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "Excel",
            "Numbers, days and texts as such; no formulas. Labels on another sheet.",
            write=Deferred(f"{_HERE}.workbook_rows:write"),
            most_rows=SHEET_ROWS,
            notes=Deferred(f"{_HERE}.workbook_rows:notes"),
            after="parquet",
        ),
        RowFormat(
            "sav",
            ".sav",
            "application/x-spss-sav",
            "SPSS",
            "With labels of columns and values.",
            write=Deferred(f"{_HERE}.program_rows:write_sav"),
            most_rows=MOST_AT_ONCE,
            after="xlsx",
        ),
        RowFormat(
            "dta",
            ".dta",
            "application/x-stata-dta",
            "Stata",
            "With labels of columns, and of values that are whole numbers.",
            write=Deferred(f"{_HERE}.program_rows:write_dta"),
            most_rows=MOST_AT_ONCE,
            after="sav",
        ),
        RowFormat(
            "xpt",
            ".xpt",
            "application/x-sas-xport",
            "SAS transport",
            "With labels of columns.",
            write=Deferred(f"{_HERE}.program_rows:write_xpt"),
            most_rows=MOST_AT_ONCE,
            after="dta",
        ),
    ),
)
