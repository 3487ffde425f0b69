"""Marks of synthetic rows: a file beside each CSV, a first column on request, and a warning where such a file is chosen as input."""

from dpsynth_core.foundation.extension import Deferred, Extension, RowFormat

_HERE = "dpsynth_core.extensions.marks"
_SAYS = "Its first column says in each row that it is synthetic"

EXTENSION = Extension(
    summary="Files of rows that say that they are synthetic, also where their format has no place for it.",
    files=f"{_HERE}.sidecar:files",
    beside=f"{_HERE}.sidecar:beside",
    recognises=f"{_HERE}.recognition:said",
    row_formats=(
        RowFormat(
            "csv-zip",
            "-csv.zip",
            "application/zip",
            "CSV with its sidecar",
            "The CSV and a file that describes it.",
            Deferred(f"{_HERE}.marked:write_zip"),
        ),
        RowFormat("marked-csv", "-marked.csv", "text/csv", "marked CSV", f"{_SAYS}.", Deferred(f"{_HERE}.marked:write_csv")),
        RowFormat(
            "marked-jsonl",
            "-marked.jsonl",
            "application/x-ndjson",
            "marked JSON lines",
            f"{_SAYS}.",
            Deferred(f"{_HERE}.marked:write_json_lines"),
        ),
    ),
)
