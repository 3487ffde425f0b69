"""Tables that are opened once, checked before anything is spent, and read as batches: a file, a folder, a DataFrame or a database table.

Text is read here. Files that a library in C reads are read in a process with limits (`confined`), because a hostile file may do anything to
a library in C. The questions to each kind of file, and how it is read, are in `readers`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import confined, packed, readers
from dpsynth_core.sources.formats import STANDARD, STATISTICAL, TEXT, Files, TableFormat, table_files
from dpsynth_core.sources.locations import Location
from dpsynth_core.sources.parts import NOTHING_LISTED, WHOLE, Listed, Part, Piece, Sizes, gathered
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.declared import domain_json
from dpsynth_core.vocabulary.domain import LABELS
from dpsynth_core.vocabulary.names import told_apart

if TYPE_CHECKING:
    import pandas as pd

    from dpsynth_core.sources.held import Batches, HeldTable

TableSource: TypeAlias = "str | os.PathLike[str] | pd.DataFrame | Batches"
Table: TypeAlias = "FileTable | HeldTable"
DEFAULT_LIMIT_BYTES = 2_000_000_000


def opened(source: TableSource, form: TableFormat) -> Table:
    """Return the source as an opened table. Raises InputError unless it is a file or a folder of files of one kind."""
    if isinstance(source, str | os.PathLike):
        return FileTable.of(source, form)
    import pandas as pd

    from dpsynth_core.sources.held import Frame, HeldTable

    return HeldTable(Frame(source) if isinstance(source, pd.DataFrame) else source, form)


def declared_domain(path: Location, form: TableFormat) -> dict[str, Any]:
    """Return the JSON of a domain with all columns in file order, from the file's own labels, types and declared missing values.

    No record is read. Labels belong to a questionnaire: they are public before any person answers. Facts that the file does not declare,
    like bounds, stay open, and a person who knows the table fills them in (`vocabulary.declared`).

    Raises:
        InputError: The file cannot be read.
    """
    if form.kind == "jsonl":
        raise InputError("data", "JSON lines say nothing of themselves but in their records", "write the domain by hand")
    return domain_json(FileTable.of(path, form).described(), LABELS if form.kind in STATISTICAL else "")


def sheets(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """Return the names of the sheets of a workbook in order. Raises InputError."""
    return tuple(confined.about("sheets", table_files(path)[0], "spreadsheet"))


class FileTable(Files):
    """All that can be asked of files. Each question raises InputError for files that cannot be read."""

    def column_names(self) -> tuple[str, ...]:
        """Return the names of the columns, in file order."""
        return tuple(self._answer(readers.names))

    def made_names(self) -> tuple[str, ...]:
        """Return the column names that are not in the header, because a name is missing there or repeats an earlier name."""
        if not self.form.applies("names"):
            return ()
        cells = tuple(self._answer(readers.header))
        return tuple(name for name, cell in zip(told_apart(cells), cells, strict=True) if name != cell)

    def check(self, limit_bytes: int | None = DEFAULT_LIMIT_BYTES) -> None:
        """Raise InputError if this is larger than the limit (None for any size), or refused by `readers.check`."""
        with readers.reading():
            if limit_bytes is not None and self._exceeds(limit_bytes):
                problem = f"the file is larger than the limit of {limit_bytes / 1e6:,.0f} MB"
                raise InputError("data", problem, "give a path on the server, or a smaller file")
        self._answer(readers.check)

    @property
    def schema(self) -> pa.Schema:
        """The columns with their types; a column is there once for each type that it has in a file of a folder."""
        return pa.ipc.read_schema(pa.py_buffer(self._answer(readers.schema)))

    def described(self) -> list[Column]:
        """Return the columns with what the files say about each, such as labels."""
        return list(map(Column.from_json, self._answer(readers.described)))

    def first_texts(self, rows: int) -> dict[str, list[str]]:
        """Return the texts of each column in about the first `rows` records, for the curator alone."""
        return dict(self._answer(readers.first_texts, rows))

    def divide(self, sizes: Sizes) -> list[Part]:
        """Return the table in parts, at least one.

        A small table is one part. A table with the quoting "standard" is one part, because its records can only be separated from the
        beginning. Each packed file is one piece.
        """
        if self.form.kind == "csv" and self.form.quoting == STANDARD:
            return [WHOLE]
        with readers.reading():
            if self.size < sizes.divided:
                return [WHOLE]
        pieces = [(Piece(*piece), size) for piece, size in self._answer(readers.pieces, sizes.bytes)]
        return gathered(pieces, sizes.rows if self.form.kind == "parquet" else sizes.bytes) or [WHOLE]

    def batches(self, columns: Sequence[str], part: Part = WHOLE, listed: Listed = NOTHING_LISTED) -> Iterator[pa.RecordBatch]:
        """Yield batches of these columns.

        Args:
            columns: The names of columns.
            part: The part of the files that is read.
            listed: The listed values of columns. A listed value is a value, also where the file declares that it means missing.
        """
        if self.form.kind in TEXT:
            yield from readers.batches(self, columns, readers.BATCH_ROWS, part, listed)
            return
        with confined.work("batches", self, list(columns), readers.BATCH_ROWS, part, confined.LIMITS.seconds, dict(listed)) as answers:
            for answer in answers:
                with pa.ipc.open_stream(pa.py_buffer(answer)) as reader:
                    yield from reader

    def _exceeds(self, limit_bytes: int) -> bool:
        """Return whether the files have more than `limit_bytes` bytes, unpacked; unpacking stops once that is known."""
        total = self.size
        for path in self.files if self.form.kind in TEXT else ():
            if total > limit_bytes:
                break
            total += packed.size(path, limit_bytes) - path.stat().st_size
        return total > limit_bytes

    def _answer(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """Return the answer of a function of `readers`."""
        if self.form.kind in TEXT:
            return question(self, *arguments)
        with confined.work("answer", self, question.__name__, *arguments) as answers:
            (answer,) = answers
        return answer
