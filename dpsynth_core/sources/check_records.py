"""A check of what in a table cannot be read in its stated format, and of whether the keys of two linked tables fit each other.

The results are exact counts of private records for the curator's eyes, before anything is charged: on screen or on the terminal, never in a
file, an error message or a release. A limit that is chosen by these counts is chosen after a look at the private data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.foundation.zones import Zoned, curator_only
from dpsynth_core.sources import persons
from dpsynth_core.sources.formats import LINES, TableFormat
from dpsynth_core.sources.opening import Table
from dpsynth_core.vocabulary.names import column_field

if TYPE_CHECKING:
    from dpsynth_core.sources.locations import Location


@dataclass(frozen=True)
class RecordsCheck:
    """The numbers of records that cannot be read in the stated format.

    Attributes:
        malformed: Lines that are not a record of the stated form (one value for each column, or a
            JSON object); all their cells are missing.
        blank: Malformed lines that are empty.
        damaged: Replacement characters in a CSV file, which stand for bytes that the stated
            encoding does not know.
        unnamed: Records without a person, malformed lines among them, which are not counted.
        left_out: Files of the folder that are ignored, because their names lack the ending of a
            table.
        quoted: Whether a quoted cell ends with its line at the latest, so that a line break in a
            cell makes two malformed lines.
        made_names: Column names that the tool made up (`files.FileTable.made_names`).
    """

    malformed: int = 0
    blank: int = 0
    damaged: int = 0
    unnamed: int = 0
    left_out: int = 0
    quoted: bool = False
    made_names: tuple[str, ...] = ()

    def sentences(self) -> tuple[str, ...]:
        """Return one text for the curator, of one or two sentences, for each kind of fault; () without faults.

        The texts hold exact counts and are for the curator only.
        """
        notes = []
        if self.made_names:
            made = ", ".join(column_field(name).removeprefix("column ") for name in self.made_names)
            record = "If the first line is a record, say so: under “The first line has the names of the columns”, or with --columns."
            notes.append(f"Columns that have no name in the header, or the name of one before, are called {made}. {record}")
        if self.malformed:
            blank = f" ({self.blank:,} of them blank)" if self.blank else ""
            breaks = " If quoted cells contain line breaks, say so: under “Quotes”, or with --quoting standard." if self.quoted else ""
            lines = "1 line is" if self.malformed == 1 else f"{self.malformed:,} lines are"
            notes.append(f"{lines} malformed{blank}: each counts as a record whose cells are all missing.{breaks}")
        if self.damaged:
            notes.append(f"{self.damaged:,} characters cannot be decoded; their cells hold a replacement character. Is the encoding right?")
        if self.unnamed:
            notes.append(f"{self.unnamed:,} records name no person and are left out: one person could have any number of them.")
        if self.left_out:
            files = "1 file" if self.left_out == 1 else f"{self.left_out:,} files"
            notes.append(f"{files} of the folder left out: by their names they are not tables.")
        return tuple(notes)


def check_records(table: Table, columns: Sequence[str], person_column: str | None = None) -> Zoned[RecordsCheck]:
    """Return the numbers of records that cannot be read, and of ignored files, after reading the whole table.

    Malformed lines are counted in CSV and JSON lines, replacement characters in CSV alone, and records without a
    person in any table with a person column. A table that is not in files is not read without such a column. The exact counts are
    curator-only.

    Args:
        table: The table.
        columns: The columns that will be used.
        person_column: The column that names persons, if there is one.

    Raises:
        InputError: The table cannot be read to its end, or lacks one of the columns.
    """
    form, used = table.form, tuple(dict.fromkeys((*columns, *([person_column] if person_column else []))))
    faults = _of_files(table.files, table.folder, form) if table.files else RecordsCheck()
    unnamed = 0
    if person_column is not None or form.kind != "csv":
        for batch in table.batches(used):
            unnamed += persons.named(batch.column(person_column), form).null_count if person_column is not None else 0
    quoted = form.kind == "csv" and form.quoting == LINES
    return curator_only(replace(faults, unnamed=unnamed, quoted=quoted, made_names=table.made_names()))


def _of_files(files: Sequence[Location], folder: Location | None, form: TableFormat) -> RecordsCheck:
    """Return the counts of lines that cannot be read, and of files that are left out. Raises InputError."""
    from dpsynth_core.sources import csv_file, jsonl_file, lines, listing, parts, readers  # loaded where the table is files

    malformed = blank = damaged = 0
    with readers.reading():
        if form.kind == "jsonl":
            for path in files:
                wrong, empty = jsonl_file.malformed(path, form)
                malformed, blank = malformed + wrong, blank + empty
        if form.kind == "csv":
            for block in csv_file.blocks(parts.uncut(files), form):
                malformed += int(block.malformed().sum())
                blank += block.blank if len(block.names) > 1 else 0
                damaged += block.text.count(lines.DAMAGED)
    return RecordsCheck(malformed, blank, damaged, left_out=0 if folder is None else listing.left_out(folder))


@dataclass(frozen=True)
class LinkCheck:
    """The numbers of rows that are not counted in two linked tables.

    Attributes:
        repeated: Rows of the first table that repeat the key of an earlier row.
        orphans: Rows of the second table whose key the first table lacks.
        beyond: Rows of the second table beyond the limit of rows for their key.
    """

    repeated: int
    orphans: int
    beyond: int

    def sentences(self) -> tuple[str, ...]:
        """Return one sentence for each reason why rows are not counted; () if all rows are counted.

        The sentences hold exact counts and are for the curator only.
        """
        told = (
            (self.repeated, "of the first table repeat the key of an earlier one: the first of each key counts."),
            (self.orphans, "of the second table have a key that the first one lacks."),
            (self.beyond, "of the second table are beyond the limit for their key."),
        )
        return tuple(f"{number:,} row{'s' * (number != 1)} {why}" for number, why in told if number)


def check_link(first: Table, second: Table, key: str, most: int) -> Zoned[LinkCheck]:
    """Return how many rows of two linked tables are not counted, by reason, from one pass over each table.

    Not counted are rows of the first table that repeat a key, and rows of the second whose key the
    first lacks or that exceed the limit for their key. Rows without a key are in none of these
    numbers, although they are not counted either. The numbers are exact and curator-only.

    Args:
        first: The first table, such as households.
        second: The second table, such as members.
        key: The column of the key, which both tables have.
        most: The number of rows of the second table that are counted for a key.

    Raises:
        InputError: A table cannot be read, or lacks the key.
    """
    rows, owned = (_counts(table, key) for table in (first, second))
    orphans = sum(number for name, number in owned.items() if name not in rows)
    beyond = sum(max(0, number - most) for name, number in owned.items() if name in rows)
    return curator_only(LinkCheck(sum(rows.values()) - len(rows), orphans, beyond))


def _counts(table: Table, key: str) -> dict[str, int]:
    """Return the number of rows of each key; rows without a key are left out (see `check_records`)."""
    named = [persons.named(batch.column(key), table.form).dictionary_decode() for batch in table.batches((key,))]
    counted = pc.value_counts(pc.drop_null(pa.chunked_array(named, pa.string()))) if named else []
    return {str(one["values"]): one["counts"].as_py() for one in counted}
