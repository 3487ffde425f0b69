"""Files of survey programs: SPSS, Stata, SAS, Excel and OpenDocument, read as tables and written as rows."""

from dpsynth_core.foundation.extension import Deferred, Extension, FileKind, RowFormat

_HERE = "dpsynth_core.extensions.survey_files"
_SAS7BDAT = rb"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11"
SHEET_ROWS = 1_048_575
"""Rows of a sheet of Excel below its header."""
MOST_AT_ONCE = 2_000_000
"""Rows of formats whose libraries need all of them in memory."""


def _statistical(name: str, title: str, endings: tuple[str, ...], begins: bytes, named_late: bool = False) -> FileKind:
    """Return the kind of files of a statistical program, which declare labels of columns and values."""
    return FileKind(
        name,
        title,
        label=title,
        endings=endings,
        reader=f"{_HERE}.statistical_file",
        fields=frozenset({"encoding"}),
        begins=begins,
        named_late=named_late,
        declares="labels",
        in_stores=False,
        libraries=("pandas", "pyreadstat"),
    )


EXTENSION = Extension(
    summary="Files of SPSS, Stata, SAS, Excel and OpenDocument, as tables and as rows.",
    file_kinds=(
        FileKind(
            "spreadsheet",
            title="Excel, ODS",
            label="workbook",
            endings=(".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"),
            reader=f"{_HERE}.spreadsheet_file",
            fields=frozenset({"names", "sheet", "skip"}),
            begins=rb"\xd0\xcf\x11\xe0",
            archive="is_workbook",
            has_texts=True,
            in_stores=False,
            skips_rows=True,
            libraries=("pandas",),
        ),
        # a portable file of SPSS names itself in a later line
        _statistical("spss", "SPSS", (".sav", ".zsav", ".por"), rb"\$FL[23]|.*(?:SPSS PORT FILE|SPSSPORT)", named_late=True),
        _statistical("stata", "Stata", (".dta",), rb"<stata_dta>|[\x68-\x73][\x01\x02]\x01\x00"),
        _statistical("sas", "SAS", (".sas7bdat", ".xpt"), rb"HEADER RECORD\*{7}LIB|.{12}" + _SAS7BDAT),
    ),
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
