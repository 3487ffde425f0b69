"""The kinds of files that hold tables: one entry each, with all that differs between kinds but the work of the reader that it names.

Files are recognised by their magic numbers: bytes that a program writes at the start of a container, in which no record takes part.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsynth_core.foundation.extension import FileKind

_CONTROL = rb"[\x00-\x08\x0e-\x1f]"
"""A control character that does not occur in text."""
_SAS7BDAT = rb"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11"

FILE_KINDS: Mapping[str, FileKind] = {
    kind.name: kind
    for kind in (
        FileKind(
            "csv",
            title="CSV",
            label="text table",
            endings=(".csv", ".tsv", ".txt", ".tab"),
            reader=f"{__package__}.csv_file",
            fields=frozenset({"encoding", "delimiter", "quoting", "names", "skip"}),
            is_text=True,
            has_texts=True,
        ),
        FileKind(
            "jsonl",
            title="JSON lines",
            label="JSON lines",
            endings=(".jsonl", ".ndjson"),
            reader=f"{__package__}.jsonl_file",
            fields=frozenset({"encoding"}),
            declares="",
            is_text=True,
            has_texts=True,
        ),
        FileKind(
            "parquet",
            title="Parquet",
            label="Parquet",
            endings=(".parquet", ".pq"),
            reader=f"{__package__}.parquet_file",
            begins=rb"PAR1.*" + _CONTROL,  # the first name of a header may be such a word
            declares="types",
            as_dataset=True,
        ),
        FileKind(
            "feather",
            title="Feather",
            label="Feather",
            endings=(".feather", ".arrow", ".ipc"),
            reader=f"{__package__}.feather_file",
            begins=rb"ARROW1\x00|\xff\xff\xff\xff|FEA1.*" + _CONTROL,
            declares="types",
            is_mapped=True,
        ),
        FileKind(
            "spreadsheet",
            title="Excel, ODS",
            label="workbook",
            endings=(".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"),
            reader=f"{__package__}.spreadsheet_file",
            fields=frozenset({"names", "sheet", "skip"}),
            begins=rb"\xd0\xcf\x11\xe0",
            archive="is_workbook",
            has_texts=True,
            in_stores=False,
            skips_rows=True,
            libraries=("pandas",),
        ),
        FileKind(
            "spss",
            title="SPSS",
            label="SPSS",
            endings=(".sav", ".zsav", ".por"),
            reader=f"{__package__}.statistical_file",
            begins=rb"\$FL[23]|.*(?:SPSS PORT FILE|SPSSPORT)",
            named_late=True,
            fields=frozenset({"encoding"}),
            declares="labels",
            in_stores=False,
            libraries=("pandas", "pyreadstat"),
        ),
        FileKind(
            "stata",
            title="Stata",
            label="Stata",
            endings=(".dta",),
            reader=f"{__package__}.statistical_file",
            begins=rb"<stata_dta>|[\x68-\x73][\x01\x02]\x01\x00",
            fields=frozenset({"encoding"}),
            declares="labels",
            in_stores=False,
            libraries=("pandas", "pyreadstat"),
        ),
        FileKind(
            "sas",
            title="SAS",
            label="SAS",
            endings=(".sas7bdat", ".xpt"),
            reader=f"{__package__}.statistical_file",
            begins=rb"HEADER RECORD\*{7}LIB|.{12}" + _SAS7BDAT,
            fields=frozenset({"encoding"}),
            declares="labels",
            in_stores=False,
            libraries=("pandas", "pyreadstat"),
        ),
    )
}
"""By name. Arrow loads pandas before it makes an array of Python's objects, so readers that make such arrays name it."""
COMPRESSED = (".gz", ".zst")
"""Endings that may follow the ending of a text file."""
_TITLES = [kind.title for kind in FILE_KINDS.values()]
KNOWN = f"{', '.join(_TITLES[:-1])} or {_TITLES[-1]}"
"""The kinds of files in words."""
