"""The kinds of files that hold tables: one entry each, with all that differs between kinds but the work of the reader that it names.

Files are recognised by their magic numbers: bytes that a program writes at the start of a container, in which no record takes part.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsynth_core.foundation import extension
from dpsynth_core.foundation.extension import FileKind

_CONTROL = rb"[\x00-\x08\x0e-\x1f]"
"""A control character that does not occur in text."""

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
        *extension.file_kinds(),
    )
}
"""By name. Arrow loads pandas before it makes an array of Python's objects, so readers that make such arrays name it."""
COMPRESSED = (".gz", ".zst")
"""Endings that may follow the ending of a text file."""
_TITLES = [kind.title for kind in FILE_KINDS.values()]
KNOWN = f"{', '.join(_TITLES[:-1])} or {_TITLES[-1]}"
"""The kinds of files in words."""
