"""Tables of files that are opened once, checked before anything is spent, and read as batches: a file or a folder.

Text is read here. Files that a library in C reads are read in a process with limits (`confined`), because a hostile file may do anything to
a library in C. The questions to each kind of file, and how it is read, are in `readers`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import confined, headers, packed, readers
from dpsynth_core.sources.formats import STANDARD, TableFormat
from dpsynth_core.sources.listing import Files, table_files
from dpsynth_core.sources.locations import Location
from dpsynth_core.sources.parts import NOTHING_LISTED, WHOLE, Listed, Part, Piece, Sizes, gathered
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.declared import domain_json
from dpsynth_core.vocabulary.domain import LABELS
from dpsynth_core.vocabulary.names import told_apart

DEFAULT_LIMIT_BYTES = 2_000_000_000


def declared_domain(path: Location, form: TableFormat) -> dict[str, Any]:
    """Return the JSON of a domain from what the file itself declares of its columns.

    No record is read. Labels belong to a questionnaire: they are public before any person answers.
    Facts that the file does not declare, such as bounds, stay open ("to_do"), and a person who knows the
    table fills them in (`vocabulary.declared`).

    Args:
        path: The file or folder.
        form: The format of the table.

    Raises:
        InputError: The file cannot be read, or it is of JSON lines, which declare nothing.
    """
    if not form.file_kind.declares:
        raise InputError("data", "JSON lines say nothing of themselves but in their records", "write the domain by hand")
    return domain_json(FileTable.of(path, form).described(), LABELS if form.file_kind.declares == "labels" else "")


def sheets(path: str | os.PathLike[str], kind: str) -> tuple[str, ...]:
    """Return the names of the sheets of a workbook, or of the first file of a folder, in order.

    Args:
        path: The file or folder.
        kind: A kind of file that has sheets.

    Raises:
        InputError: The path has no table file, or that file cannot be read as a workbook.
        CapacityError: A folder holds too many files (`table_files`).
    """
    return tuple(confined.about("sheets", table_files(path)[0], kind))


class FileTable(Files):
    """A table in one file or in the files of a folder.

    Files that a library in C reads are read by another process with limits (`confined`). Every
    method raises InputError for files that cannot be read.
    """

    def column_names(self) -> tuple[str, ...]:
        """Return the names of the columns in file order.

        Repeated names in the header of a CSV file or workbook are numbered; those of other kinds of files stay, and `check`
        refuses them. In a folder, the first file decides.
        """
        return tuple(self._answer(readers.names))

    def made_names(self) -> tuple[str, ...]:
        """Return the names that the tool made up for empty or repeated header cells, in file order.

        An empty cell becomes "column_3" by its place, a repeated one "age_2". Empty if the file has
        no header line, as in Parquet.

        Raises:
            InputError: The file cannot be read, or most cells of its header are empty.
        """
        if not self.form.applies("names"):
            return ()
        cells = tuple(self._answer(readers.header))
        return tuple(name for name, cell in zip(told_apart(cells), cells, strict=True) if name != cell)

    def check(self, limit_bytes: int | None = DEFAULT_LIMIT_BYTES) -> None:
        """Check that the files are one table with named columns and rows (`readers.check`), and not larger than the limit.

        Args:
            limit_bytes: The largest number of bytes of all files, by default 2 GB; text files count unpacked. None
                for no limit.

        Raises:
            InputError: A file cannot be read; a column has no name or the name of another one; the files of a folder have
                different columns; there are no rows; or the files are larger than the limit.
        """
        with readers.reading():
            if limit_bytes is not None and self._exceeds(limit_bytes):
                problem = f"the file is larger than the limit of {limit_bytes / 1e6:,.0f} MB"
                raise InputError("data", problem, "give a path on the server, or a smaller file")
        self._answer(readers.check)

    @property
    def schema(self) -> pa.Schema:
        """The columns with their types; a column is listed once for each type in a folder's files."""
        return pa.ipc.read_schema(pa.py_buffer(self._answer(readers.schema)))

    def described(self) -> list[Column]:
        """Return what the files declare of their columns (labels, types), in file order, without reading a record.

        Raises:
            InputError: The files cannot be read.
        """
        return list(map(Column.from_json, self._answer(readers.described)))

    def first_texts(self, rows: int) -> dict[str, list[str]]:
        """Return by column the texts in about the first `rows` records of the first file, in order, for the curator only.

        Empty texts, numbers and other values that are not stored as text are left out; a column of these has an empty list.

        Raises:
            InputError: The files cannot be read.
        """
        return dict(self._answer(readers.first_texts, rows))

    def divide(self, sizes: Sizes) -> list[Part]:
        """Return the table in parts, in file order; at least one part.

        A small table is one part, `WHOLE` (which is ()). So is a CSV file with the quoting "standard", because its
        records can only be separated from the beginning. A packed file is not cut.

        Args:
            sizes: The approximate sizes of the parts.

        Raises:
            InputError: The files cannot be read.
        """
        if self.form.kind == "csv" and self.form.quoting == STANDARD:
            return [WHOLE]
        with readers.reading():
            if self.size < sizes.divided:
                return [WHOLE]
        pieces = [(Piece(*piece), size) for piece, size in self._answer(readers.pieces, sizes.bytes)]
        return gathered(pieces, sizes.rows if self.form.file_kind.as_dataset else sizes.bytes) or [WHOLE]

    def batches(self, columns: Sequence[str], part: Part = WHOLE, listed: Listed = NOTHING_LISTED) -> Iterator[pa.RecordBatch]:
        """Yield record batches of these columns, in file order, with the values as the file has them.

        Args:
            columns: The names of the columns, at least one.
            part: The part of the table to read; the whole table by default.
            listed: Listed values by column. A listed value is a value, even where the file declares
                that it means missing.

        Raises:
            InputError: A column does not exist, or a file cannot be read.
        """
        if self.form.file_kind.is_text:
            yield from readers.batches(self, columns, headers.BATCH_ROWS, part, listed)
            return
        with confined.work("batches", self, list(columns), headers.BATCH_ROWS, part, confined.LIMITS.seconds, dict(listed)) as answers:
            for answer in answers:
                with pa.ipc.open_stream(pa.py_buffer(answer)) as reader:
                    yield from reader

    def _exceeds(self, limit_bytes: int) -> bool:
        """Return whether the files have more than `limit_bytes` bytes after unpacking.

        Unpacking stops as soon as the answer is known.
        """
        total = self.size
        for path in self.files if self.form.file_kind.is_text else ():
            if total > limit_bytes:
                break
            total += packed.size(path, limit_bytes) - path.stat().st_size
        return total > limit_bytes

    def _answer(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """Return `question(self, *arguments)`, where `question` is a function of `readers`.

        For text it runs here, for other kinds of files in a process with limits.
        """
        if self.form.file_kind.is_text:
            return question(self, *arguments)
        with confined.work("answer", self, question.__name__, *arguments) as answers:
            (answer,) = answers
        return answer
