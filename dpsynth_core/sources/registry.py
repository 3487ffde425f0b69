"""Every kind of table that a spec can name (`data.kind`), one entry each: the only place that asks which kind a table is.

**To add a source takes one file** with a counting source (`sources.source`) **and one entry here.** A spec names kinds, so importing this
file loads no engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dpsynth_core.foundation import documents, extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.file_kinds import FILE_KINDS

if TYPE_CHECKING:  # engines are loaded when a table is looked at
    import pandas as pd
    import pyarrow as pa

    from dpsynth_core.foundation.zones import Zoned
    from dpsynth_core.sources.check_records import RecordsCheck
    from dpsynth_core.sources.files import FileTable
    from dpsynth_core.sources.held import PlacedTable
    from dpsynth_core.sources.memory import NamedTable
    from dpsynth_core.sources.opening import TableSource
    from dpsynth_core.sources.source import MarginalSource
    from dpsynth_core.vocabulary.domain import Domain
    from dpsynth_core.vocabulary.link import Link

Section = Mapping[str, Any]
"""The `data` section of a spec."""


@dataclass(frozen=True)
class TableKind:
    """A kind of table, with the functions that treat tables of this kind differently from others.

    The functions take the `data` section of a spec.

    Attributes:
        label: The name of the kind on pages.
        open: Returns the counting source of a table. Further arguments are the domain, the person
            column (or None) and the number of rows that each person may have.
        columns: Returns the columns of a table with their types (see `files.FileTable.schema`),
            reading no more records than this needs. It raises InputError. None if tables of this
            kind always have the columns of the domain.
        survey: Returns the numbers of records that cannot be read, for the curator before the
            privacy budget is charged. Further arguments are the columns and the person column. None
            if all records can be read.
        simulated: Whether the records are invented, so that no person's privacy is at stake and no
            file is named.
        skips_rows: Whether a row may fail to be a record because of its content. The number of
            records is then not public, even under the relation in which neighbouring tables have
            one person replaced.
        base_name: Returns the published name of a table from its path.
        content: Returns the bytes that identify a table that is not in a file; None for other
            kinds.
        source: Returns the table from which records are read; None for kinds whose records are
            invented.
        identity: Returns values that are equal for two sections that name the same table, as JSON
            has them; None for kinds that are recognised by their content.
    """

    label: str
    open: Callable[[Section, Domain, str | None, int], MarginalSource]
    columns: Callable[[Section], pa.Schema] | None
    survey: Callable[[Section, Sequence[str], str | None], Zoned[RecordsCheck]] | None = None
    simulated: bool = False
    skips_rows: bool = False
    base_name: Callable[[str], str] = documents.base_name
    content: Callable[[Section], Iterator[bytes]] | None = None
    source: Callable[[Section], TableSource] | None = None
    identity: Callable[[Section], Sequence[Any]] | None = None

    @property
    def is_file(self) -> bool:
        """True if tables of this kind are files."""
        return self.open is _open_file


LINKED_DEMO = ("demo-households", "demo-members")
LINKED_STANDIN = ("standin", "standin")
"""The kinds of two linked tables that are invented, which go with each other alone."""


def can_be_linked(first: str, second: str) -> bool:
    """Return whether tables of these kinds can be linked as households and their members.

    They can if each is in files or in memory, if both are the invented ones of `LINKED_DEMO` or `LINKED_STANDIN`, or if both are the same
    invented table of an extension (`extension.Demo`).

    Args:
        first: The kind of the table of households.
        second: The kind of the table of members.

    Raises:
        KeyError: A kind is unknown.
    """
    invented = (first, second) in (LINKED_DEMO, LINKED_STANDIN) or first == second in extension.demos()
    return invented or all(KINDS[kind].is_file or KINDS[kind].content is not None for kind in (first, second))


def _file_columns(section: Section) -> pa.Schema:
    """Return the columns of files with their types, after checking the files (`TableKind.columns`).

    If the section names a scheduler, it is checked whether its engine can be reached.
    """
    table = _table(section)
    table.check(limit_bytes=None)
    columns = table.schema
    if section.get("scheduler") is not None:
        extension.load(extension.engines()[section["engine"]].check)(section)
    return columns


def _table(section: Section) -> FileTable:
    from dpsynth_core.sources.files import FileTable
    from dpsynth_core.sources.formats import TableFormat

    return FileTable.of(section["path"], TableFormat.of(section))


def _counted_here(table: TableSource, section: Section, domain: Domain, person: str | None, rows: int) -> MarginalSource:
    """Return a source that counts a table in this process, without a cluster."""
    from dpsynth_core.sources.arrow import ArrowSource
    from dpsynth_core.sources.formats import TableFormat

    return ArrowSource(domain, table, TableFormat.of(section), person, rows)


def _open_file(section: Section, domain: Domain, person: str | None, rows: int) -> MarginalSource:
    """Return the counting source of files: by the engine of an extension if the section names one, else here."""
    if section.get("engine") is None:
        return _counted_here(section["path"], section, domain, person, rows)
    from dpsynth_core.sources.records import Records

    open_there = extension.load(extension.engines()[section["engine"]].source)
    source: MarginalSource = open_there(domain, Records(_table(section), person, rows), section)
    return source


def open_linked(
    link: Link, households: Section, members: Section, *further: Section, key: str, layout: extension.Layout | None = None
) -> MarginalSource:
    """Return the counting source of two linked tables in files, in memory or invented for the demo. No record is read yet.

    Two stand-ins, which `can_be_linked` allows too, are not opened here.

    Args:
        link: The domains of both tables, and the number of members of a household that are counted.
        households: The section of the table of households.
        members: The section of the table of members.
        *further: The sections of further tables that the layout has.
        key: The column that names the household, in all tables.
        layout: How they are counted; None for pairs of members.

    Raises:
        InputError: A table cannot be opened, or lacks a column of its domain or the key.
    """
    from dpsynth_core.sources.formats import TableFormat
    from dpsynth_core.sources.linked import LinkedSource
    from dpsynth_core.sources.opening import opened

    first, second, *others = (opened(_source(one), TableFormat.of(one)) for one in (households, members, *further))
    kind: Callable[..., MarginalSource] = LinkedSource if layout is None else extension.load(layout.source)
    return kind(link, first, second, key, *others)


def sheet_with(section: Section, column: str) -> str | None:
    """Return the name of the first sheet of a workbook that has this column.

    None if no sheet has it, or if the table is not a workbook.

    Args:
        section: The `data` section of a spec; its own sheet has no influence.
        column: The name of the column.

    Raises:
        InputError: The workbook cannot be read.
    """
    if section["kind"] not in FILE_KINDS or "sheet" not in FILE_KINDS[section["kind"]].fields:
        return None
    from dpsynth_core.sources.files import FileTable, sheets
    from dpsynth_core.sources.formats import TableFormat

    form = TableFormat.of(section)
    tables = ((sheet, FileTable.of(section["path"], replace(form, sheet=sheet))) for sheet in sheets(section["path"], form.kind))
    return next((sheet for sheet, table in tables if column in table.column_names()), None)


def _survey_file(section: Section, columns: Sequence[str], person: str | None) -> Zoned[RecordsCheck]:
    """Return the numbers of unreadable records in files; none counted if an engine reads them."""
    from dpsynth_core.foundation.zones import curator_only
    from dpsynth_core.sources.check_records import RecordsCheck, check_records

    if section.get("engine") is not None:  # what it has to read is not read here first
        return curator_only(RecordsCheck())
    return check_records(_table(section), columns, person)


def _file_source(section: Section) -> TableSource:
    path: str = section["path"]
    return path


def placed(section: Section) -> PlacedTable:
    """Return the table of a section that names one at a place of an extension, such as a database (`extension.Place`).

    Args:
        section: The `data` section of a spec, whose kind is one of `extension.places`.

    Raises:
        InputError: The address cannot be used, or the table cannot be read.
        KeyError: The kind is not one of a place.
    """
    return _placed_at(extension.places()[section["kind"]], section)


def _placed_at(place: extension.Place, section: Section, order: Sequence[str] = ()) -> PlacedTable:
    table: PlacedTable = extension.load(place.table)(section, order)
    return table


def _at(place: extension.Place) -> TableKind:
    """Return the entry of tables at a kind of place, whose extension is loaded when one is looked at."""

    def opened_there(section: Section, domain: Domain, person: str | None, rows: int) -> MarginalSource:
        # sorted by the person and all columns of the domain, so that the first rows of a person are well defined
        order = () if person is None else (person, *domain.names)
        return _counted_here(_placed_at(place, section, order), section, domain, person, rows)

    def base_name(path: str) -> str:
        try:
            return str(extension.load(place.read)(path).base_name)
        except InputError:
            return ""  # such a spec is refused before anything is published

    def identity(section: Section) -> Sequence[Any]:
        stated = [section[entry.name] for entry in place.entries if entry.identifies]
        return [extension.load(place.read)(section["path"]).identity, *stated]

    return TableKind(
        place.kind,
        opened_there,
        lambda section: _placed_at(place, section).schema,
        skips_rows=place.skips_rows,
        base_name=base_name,
        source=partial(_placed_at, place),
        identity=identity,
    )


def _held(section: Section) -> NamedTable:
    from dpsynth_core.sources import memory

    return memory.named(section["path"])


def _open_held(section: Section, domain: Domain, person: str | None, rows: int) -> MarginalSource:
    return _counted_here(_held(section).source, section, domain, person, rows)


def _held_columns(section: Section) -> pa.Schema:
    held = _held(section)
    held.check()
    return held.source.schema


def _survey_held(section: Section, columns: Sequence[str], person: str | None) -> Zoned[RecordsCheck]:
    from dpsynth_core.sources.check_records import check_records
    from dpsynth_core.sources.formats import TableFormat

    return check_records(_held(section).opened(TableFormat.of(section)), columns, person)


def invented(kind: str, rows: int | None = None) -> pd.DataFrame:
    """Return an invented table of a kind, with `rows` rows or its usual number; the same arguments give the same table.

    The usual number is 50,000 people for "demo", and 20,000 households with their members. The rows are the first
    ones of the usual table only for linked tables; the table "demo" is simulated anew and has other rows. Linked
    tables are kept and returned again, so the caller must not change them.

    Args:
        kind: "demo", "demo-households", "demo-members", or the kind of an extension's table (`extension.Demo`).
        rows: The number of rows; None for the usual number.
    """
    if kind in (demos := extension.demos()):
        held: pd.DataFrame = extension.load(demos[kind].table)()
        return held if rows is None else held.head(rows)
    if kind in LINKED_DEMO:
        from dpsynth_core.sources import demo_households

        table = demo_households.simulate()[LINKED_DEMO.index(kind)]
        return table if rows is None else table.head(rows)
    from dpsynth_core.sources import demo

    return demo.simulate(demo.ROWS if rows is None else rows)


def _demo_columns(section: Section) -> pa.Schema:
    from dpsynth_core.sources.held import Frame

    return Frame(invented(section["kind"], rows=1)).schema


def _open_demo(section: Section, domain: Domain, person: str | None, rows: int) -> MarginalSource:
    """Return the counting source of an invented table."""
    return _counted_here(invented(section["kind"]), section, domain, person, rows)


def _open_standin(section: Section, domain: Domain, _person: str | None, _rows: int) -> MarginalSource:
    """Return the counting source of a stand-in: codes that are simulated over the domain."""
    from dpsynth_core.sources import simulated
    from dpsynth_core.sources.codes import CodesSource

    made = section["standin"]
    return CodesSource(domain, simulated.simulate(domain, made["rows"], made["strength"], made["seed"]))


KINDS: Mapping[str, TableKind] = {
    **{
        name: TableKind(kind.label, _open_file, _file_columns, _survey_file, skips_rows=kind.skips_rows, source=_file_source)
        for name, kind in FILE_KINDS.items()
    },
    **{kind: _at(place) for kind, place in extension.places().items()},
    "memory": TableKind(
        "memory",
        _open_held,
        _held_columns,
        _survey_held,
        base_name=lambda _: "a table in memory",
        content=lambda section: _held(section).content(),
        source=lambda section: _held(section).source,
    ),
    "demo": TableKind("simulated", _open_demo, _demo_columns, simulated=True),
    **{kind: TableKind("simulated", _open_demo, _demo_columns, simulated=True) for kind in (*LINKED_DEMO, *extension.demos())},
    "standin": TableKind("stand-in", _open_standin, None, simulated=True),
}


def records(section: Section, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield all records of a table, batch by batch in order, with these columns; they are private.

    All records are there, also those that do not count because of a limit per person.

    Args:
        section: The `data` section of the table; not of a stand-in, which has no records to read.
        columns: The names of the columns.

    Raises:
        InputError: The table cannot be read or lacks a column.
    """
    from dpsynth_core.sources.formats import TableFormat
    from dpsynth_core.sources.opening import opened

    return opened(_source(section), TableFormat.of(section)).batches(columns)


def _source(section: Section) -> TableSource:
    """Return the table that a section's records are read from; it may be an invented one."""
    return (KINDS[section["kind"]].source or (lambda one: invented(one["kind"])))(section)
