"""The table of a project as the pages see it: taking it in, its header, its first rows for the curator, and guesses about its columns.

The header (column names) is structure and is kept in the draft. Rows are read only on request and come back curator-only unless the
table is simulated; nothing read here is cached.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa

from dpsynth_core.foundation import extension, settings
from dpsynth_core.foundation.documents import is_uri
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zoned, curator_only, public
from dpsynth_core.planning.spec import DEMO
from dpsynth_core.sources import demo, demo_households, files, first_records, guess, opening, outside
from dpsynth_core.sources.check_records import LinkCheck, RecordsCheck, check_link, check_records
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.detect import suggestions
from dpsynth_core.sources.detect_notation import Doubt
from dpsynth_core.sources.first_records import Remark
from dpsynth_core.sources.formats import FIELDS, TableFormat
from dpsynth_core.sources.guess import Guess
from dpsynth_core.sources.listing import table_files
from dpsynth_core.sources.locations import Location, located
from dpsynth_core.sources.opening import TableSource
from dpsynth_core.sources.outside import ColumnFit
from dpsynth_core.sources.registry import KINDS, LINKED_DEMO, invented, placed
from dpsynth_core.store import home, projects
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.shell import document, kept_rules, plan_first
from dpsynth_core.web.shell.document import Draft

PREVIEW_ROWS = 8
DEMO_LABEL = "Simulated people"

DELIMITER_NAMES = {",": "Comma  ,", ";": "Semicolon  ;", "\t": "Tab", "|": "Bar  |"}
ENCODING_NAMES = {"utf-8": "UTF-8", "cp1252": "Western (cp1252)", "latin-1": "Western (Latin-1)", "utf-16": "UTF-16"}
QUOTING_NAMES = {"lines": "Every line is a record", "none": "Quotes mean nothing", "standard": "Quoted cells may contain line breaks"}
SMALL_BYTES = 20_000_000
"""Tables up to this size are read unasked."""


@dataclass(frozen=True)
class Table:
    """A table that a project can use.

    Attributes:
        section: The spec's data section.
        columns: The names of its columns, in their order.
        source: Where it comes from: "upload", "path", "demo" or the kind of a place of an extension.
        label: Its name on screen, which is hostile text.
        declared: What the file declares about its columns besides names (see `sources.files`); () for
            nothing.
        doubts: The questions that its first records raise about its format; () without questions.
        stated: The names of the fields of its format that the curator stated.
    """

    section: dict[str, Any]
    columns: tuple[str, ...]
    source: str
    label: str
    declared: tuple[dict[str, Any], ...] = ()
    doubts: tuple[Doubt, ...] = ()
    stated: tuple[str, ...] = ()


def from_upload(owner: str, project: str, name: str, content: BinaryIO, shelf: projects.Shelf = "uploads") -> Table:
    """Store an uploaded file in place of the project's earlier one, and return its table.

    Args:
        owner: The visitor's owner id.
        project: The id of the project.
        name: The name of the file.
        content: The file.
        shelf: The folder of the project's uploads.

    Raises:
        InputError: The file is not a table, or the visitor may not change the project; nothing is stored.
        CapacityError: The file is larger than 1 GiB, or than what the project's owner may still send.
    """
    return projects.replace_upload(owner, project, name, content, lambda path: _inspect(path, "upload"), shelf)


def from_path(text: str, only_this_machine: bool) -> Table:
    """Return the table in a file or folder of this machine, or at an address of an object store.

    Only its structure and first records are read; nothing is stored. Addresses are opened for the person who
    runs the server alone, and not where `settings.DATA_ROOTS` limits the folders.

    Args:
        text: The path or address.
        only_this_machine: Whether the only user is the person who runs the server.

    Raises:
        InputError: The table cannot be read, or may not be opened from the page.
    """
    shown = text.strip().removeprefix("file://")
    if not shown:
        raise InputError("path", "the path is empty", "write the path of a table file, or of a folder of them")
    if (there := extension.place_at(shown)) is not None:
        title = there.title.partition(" ")[2]
        raise InputError("path", f"this is {there.one}", f"choose “{title}” above")
    if is_uri(shown):
        # of an object store, with the credentials of the person who runs this server: so for that person alone
        if not only_this_machine or os.environ.get(settings.DATA_ROOTS):
            raise InputError("path", "addresses may not be opened from this page", "upload the table, or ask who runs this server")
        return _inspect(located(shown), "path")
    path = Path(shown).expanduser()
    if not path.is_absolute():
        raise InputError("path", "the path is not a whole path", "write the whole path, such as /home/me/table.csv")
    check_place(path.resolve(), only_this_machine)
    try:
        return _inspect(path, "path")
    except OSError:
        raise InputError("path", "the file cannot be read", "check its permissions") from None


def simulated(kind: str = DEMO) -> Table:
    """Return the table of the simulated people, one of the two linked simulated tables, or the simulated table of an extension.

    Args:
        kind: `DEMO` for the people, one of `LINKED_DEMO`: the households, or their members; or the kind of an
            extension's table (`extension.Demo`).
    """
    if (of := extension.demos().get(kind)) is not None:
        return Table({"kind": kind}, tuple(invented(kind, 1).columns), DEMO, of.label)
    key = (demo_households.KEY,) if kind in LINKED_DEMO else ()
    label = dict(zip(LINKED_DEMO, ("Simulated households", "Their members"), strict=True)).get(kind, DEMO_LABEL)
    return Table({"kind": kind}, (*key, *_domain_of(kind).names), DEMO, label)


def _domain_of(kind: str) -> Domain:
    if (of := extension.demos().get(kind)) is not None:
        known: Domain = extension.load(of.domain)()
        return known
    return demo_households.domains()[LINKED_DEMO.index(kind)] if kind in LINKED_DEMO else demo.demo_domain()


def reread(draft: Draft, **changes: Any) -> Table:
    """Return the draft's table, read again with `changes` to the fields of its format.

    The table has questions if its first records suggest another format. The draft is not changed.

    Args:
        draft: The draft of one table.
        **changes: New values by the name of the field in the draft's "data".

    Raises:
        InputError: The file is not a table in this format, or is gone.
    """
    path, wizard, data = located(draft["data"]["path"]), draft["wizard"], {**draft["data"], **changes}
    stated = {*wizard.get("stated", FIELDS), *changes}
    found = _inspect(path, wizard["source"], {name: data[name] for name in FIELDS if name in stated and data.get(name) is not None})
    names = ("engine", *(entry.name for engine in extension.engines().values() for entry in engine.entries))
    counted = {name: data[name] for name in names if data.get(name) is not None}
    return replace(found, section=found.section | counted, label=wizard["label"])


def restated(draft: Draft, **changes: Any) -> Table:
    """Return the draft's table with `changes` to the notation of its texts, without reading the table.

    This is for a table that an extension reads from another place than a file, such as a database. The draft is
    not changed; `adopt` makes the result its table.

    Args:
        draft: The draft.
        **changes: New values by the name of the field in the draft's "data".

    Raises:
        InputError: The marks of the notation contradict each other.
    """
    section, wizard = {**draft["data"], **changes}, draft["wizard"]
    TableFormat.of(section)
    return Table(section, tuple(wizard["columns"]), wizard["source"], wizard["label"], tuple(wizard["declared"]))


def adopt(draft: Draft, table: Table) -> None:
    """Make a table the draft's table, in place.

    The Domain page later drops columns that the new table lacks. For simulated people, number of people and
    population (if none is named) are filled in, and a plan from before the table is forgotten; another table
    removes what was filled in. The step Domain counts as not passed. A table that is not a file removes the
    second table.
    """
    wizard = draft.setdefault("wizard", {})
    if table.source == DEMO:
        plan_first.forget(draft)
        draft["population"] = draft.get("population") or table.label
        wizard["people"] = demo.ROWS if table.section["kind"] == DEMO else demo_households.ROWS
        if (of := extension.demos().get(table.section["kind"])) is not None:
            _lay_out(draft, of)
    else:
        _forget_simulated(draft)
    if not KINDS[table.section["kind"]].is_file:
        unlink(draft)
    draft["data"] = table.section
    _ask_again(draft)
    _note(draft, table)


def _lay_out(draft: Draft, of: extension.Demo) -> None:
    """State in a draft what is known of an extension's invented table: its people, whose a row is, and how its rows are counted."""
    unlink(draft)
    document.forget_layout(draft)
    draft["wizard"].update(people=of.people, several=True)
    draft["unit"].update(person_column=of.person, max_rows_per_person=of.most)
    for name, texts in of.stated:
        document.state_setting(draft, name, list(texts))
    kept_rules.take_over(draft)


def _ask_again(draft: Draft) -> None:
    """Delete the decision whether to compare table and domain, and mark the Domain step as not passed.

    Both were made for another table.
    """
    wizard = draft["wizard"]
    wizard.pop("comparison", None)  # it was made, or declined, for another table
    wizard["passed"] = [step for step in wizard.get("passed", []) if step != "domain"]


def _note(draft: Draft, table: Table) -> None:
    about = {"source": table.source, "label": table.label, "columns": list(table.columns), "declared": list(table.declared)}
    draft["wizard"].update(about | {"stated": list(table.stated)})
    document.note_doubts(draft, table.doubts)


MOST_MEMBERS = 6
"""The number of members that count per household until the curator states another."""


def link(draft: Draft, table: Table) -> None:
    """Make a table the second table of the draft, in place; its rows belong to rows of the first.

    The domain and rules of an earlier second table are kept. If there was none, the unit of privacy becomes a row
    of the first table with its members, such as a household; a column that is the only one in both tables becomes
    their key, and at first 6 members of each (`MOST_MEMBERS`) count. Otherwise key and limit stay. The step
    Domain counts as not passed.
    """
    there = draft.get("members")
    said = {name: value for name, value in (there or {}).items() if name in ("domain", "rules")}
    draft["members"] = table.section | {"domain": None} | said
    draft["wizard"]["members"] = {"place": "members:"}
    _note(document.second(draft), table)
    if there is None:
        document.forget_layout(draft)
        kept_rules.take_over(draft)
        shared = [name for name in document.columns(draft) if name in table.columns]
        draft["unit"].update(person_column=shared[0] if len(shared) == 1 else None, max_rows_per_person=MOST_MEMBERS)
        draft["wizard"].update(several=False, left_out=None)
    _ask_again(draft)


def unlink(draft: Draft) -> None:
    """Remove the second table from the draft, in place; without a second table, nothing changes.

    The unit of privacy becomes one row of the first table. What was stated about the second table's columns
    stays stored for the Domain page, and no file is deleted.
    """
    if document.has_second(draft):
        del draft["members"], draft["wizard"]["members"]
        document.forget_layout(draft)
        kept_rules.take_over(draft)
        draft["unit"].update(person_column=None, max_rows_per_person=1)
        draft["wizard"].setdefault("typed", {}).pop("unit.max_rows_per_person", None)
        _ask_again(draft)


def disown(draft: Draft) -> None:
    """Remove the draft's tables, in place; no file is deleted. A plan that was made before the table stays."""
    _forget_simulated(draft)
    unlink(draft)
    draft.pop("data", None)
    if planned := plan_first.planned(draft):
        plan_first.begin(draft, planned)
        return
    for name in ("source", "label", "columns", "declared", "doubts", "stated"):
        draft.get("wizard", {}).pop(name, None)


def _forget_simulated(draft: Draft) -> None:
    """Remove the number of people and the population that came with a simulated table, if any, and how its rows are counted."""
    if is_simulated(draft):
        draft["wizard"]["people"] = None
        if draft["data"]["kind"] in extension.demos():
            document.forget_layout(draft)
            draft["wizard"]["several"] = False
            draft["unit"].update(person_column=None, max_rows_per_person=1)
        if draft.get("population") == draft["wizard"].get("label"):
            del draft["population"]


def is_simulated(draft: Mapping[str, Any]) -> bool:
    """Return whether the draft's table is simulated, so that all facts about it are public; False without a table."""
    return "data" in draft and KINDS[draft["data"]["kind"]].simulated


def place_of(draft: Mapping[str, Any]) -> extension.Place | None:
    """Return the kind of place that holds the draft's table; None for files, simulated people and drafts without a table."""
    return extension.places().get(draft.get("data", {}).get("kind"))


def preview(draft: Draft) -> Zoned[pd.DataFrame]:
    """Return the first 8 rows (`PREVIEW_ROWS`) of the draft's table, with all columns, as they are.

    Rows of a private table are texts and curator-only; rows of a simulated table are public.

    Raises:
        InputError: The table is gone, cannot be read, or has no rows.
    """
    if is_simulated(draft):
        return public(invented(draft["data"]["kind"], PREVIEW_ROWS))
    table = opening.opened(*_table(draft))
    batches = [batch.slice(0, PREVIEW_ROWS) for batch in islice(table.batches(table.column_names()), 1)]
    if not batches:
        raise InputError("data", "the table has no rows", "choose another table")
    return curator_only(pa.Table.from_batches(batches).to_pandas().astype("string"))


def survey(draft: Draft) -> Zoned[RecordsCheck]:
    """Return how many records of the draft's table cannot be read as stated; curator-only.

    The whole table is read, and the counts are exact: malformed lines of CSV and JSON files, unreadable characters of CSV
    files, and, with a person column, records without a person.

    Raises:
        InputError: The table cannot be read to its end, or lacks a column.
    """
    columns, person = draft["wizard"]["columns"], draft["unit"]["person_column"]
    return check_records(opening.opened(*_table(draft)), columns, person if person in columns else None)


def keys(draft: Draft) -> Zoned[LinkCheck]:
    """Return how many rows of the draft's two tables do not count because of their keys; curator-only.

    Both tables are read; the counts are exact. Rows without a key do not count either, but are not in these numbers.

    Raises:
        InputError: A table cannot be read, or lacks the key.
    """
    first, second = (opening.opened(*_table(table)) for table in document.tables(draft))
    return check_link(first, second, draft["unit"]["person_column"], draft["unit"]["max_rows_per_person"])


def is_small(draft: Draft) -> bool:
    """Return whether the draft's files are small enough to be read without asking the curator.

    They must exist and have at most 20 MB together (`SMALL_BYTES`). The result is False if they cannot be
    found, and for data that are not files.
    """
    if not KINDS[draft["data"]["kind"]].is_file:
        return False
    try:
        return sum(path.stat().st_size for path in table_files(draft["data"]["path"])) <= SMALL_BYTES
    except (InputError, OSError):
        return False


def look(draft: Draft, only: Sequence[str] = ()) -> Zoned[tuple[Guess, ...]]:
    """Return a guess about the domain of each column, from the first records of the draft's table.

    The guesses are curator-only unless the table is simulated; they cost no budget and must not be released.

    Args:
        draft: The draft of one table.
        only: The columns to guess; all if empty, and always all of a simulated table.

    Raises:
        InputError: The table cannot be read.
    """
    if is_simulated(draft):
        return public(tuple(Guess(a.name, a) for a in _domain_of(draft["data"]["kind"])))
    return guess.propose(*_table(draft), only=only)


def outside_of(draft: Draft, domain: Domain) -> Zoned[tuple[ColumnFit, ...]]:
    """Return for each column, in the domain's order, how many values of the table have no cell of their own in the domain.

    The counts (`outside.fit`) are exact, from all records, and curator-only unless the table is simulated.
    A domain without columns gives ().

    Raises:
        InputError: The table cannot be read or lacks a column.
    """
    domain = Domain(domain.attributes)
    if not len(domain):
        return public(())
    if is_simulated(draft):
        return public(_fit_of_simulated(draft["data"]["kind"], domain))
    return outside.fit(domain, *_table(draft))


def not_understood(draft: Draft, domain: Domain) -> Zoned[tuple[Remark, ...]]:
    """Return remarks on columns whose first values do not fit the domain, curator-only.

    Only the first 1,000 records are read (`sources.first_records`). A column gets a remark if a fifth of its values
    is outside the domain or has decimals in a column of whole numbers, if all are missing, or if some only look like
    a listed value or like each other. The remarks are () if there is nothing to remark, for a simulated table, and
    for a domain without columns.

    Raises:
        InputError: The table cannot be read.
    """
    domain = Domain(domain.attributes)
    return public(()) if is_simulated(draft) or not len(domain) else first_records.look(domain, *_table(draft))


@lru_cache(maxsize=8)
def _fit_of_simulated(kind: str, domain: Domain) -> tuple[ColumnFit, ...]:
    """Return how simulated people fit a domain, cached.

    The result is public and never changes, and making the people takes longer than the rest of the
    page.
    """
    return outside.fit(domain, invented(kind), TableFormat()).value


def state(draft: Draft, stated: Mapping[str, str]) -> None:
    """State fields of the draft's file format, without reading the table again; questions that they answer are closed.

    Args:
        draft: The draft, which is changed in place.
        stated: The new values, by name of the field.

    Raises:
        InputError: The marks of numbers contradict each other.
    """
    left = document.doubts(draft, stated)
    TableFormat.of({**draft["data"], **stated})
    draft["data"].update(stated)
    draft["wizard"]["stated"] = sorted({*draft["wizard"].get("stated", FIELDS), *stated})
    document.note_doubts(draft, left)


def _table(draft: Mapping[str, Any]) -> tuple[TableSource, TableFormat]:
    section = draft["data"]
    return section["path"] if place_of(draft) is None else placed(section), TableFormat.of(section)


def _inspect(path: Location, source: str, stated: Mapping[str, Any] | None = None) -> Table:
    """Return the table in a file: its columns, and the questions that its first records raise.

    The questions are shown to the curator only. The file is checked for errors if it raises none.

    Args:
        path: The file or folder.
        source: Where it comes from, for `Table.source`.
        stated: The fields of the format that the curator stated.
    """
    form = default_format(path, stated)
    table, doubts = opening.opened(path, form), suggestions(path, form, stated or {}).value
    if not doubts:
        table.check()
    return Table(form.section(path), table.column_names(), source, path.name, _declared(path, form), doubts, tuple(stated or ()))


def _declared(path: Location, form: TableFormat) -> tuple[dict[str, Any], ...]:
    """Return what the file declares about its columns; () for kinds that declare nothing. No record is read."""
    if form.file_kind.declares not in ("types", "labels"):
        return ()
    entries: list[dict[str, Any]] = files.declared_domain(path, form)["attributes"]
    return tuple(entries)


def check_place(path: Path, only_this_machine: bool) -> None:
    """Check that a path may be opened from the page.

    Refused are places in or around DPSYNTH_HOME, and places outside the folders in `settings.DATA_ROOTS`. Without
    these folders, paths may only be opened on a server that only the person who runs it can use.

    Args:
        path: The path, resolved.
        only_this_machine: Whether the only user is the person who runs the server.

    Raises:
        InputError: It may not be opened.
    """
    roots = [root.resolve() for root in settings.data_roots()]
    allowed = any(path.is_relative_to(root) for root in roots) if roots else only_this_machine
    store = home.home().resolve()
    if not allowed or path.is_relative_to(store) or store.is_relative_to(path):
        raise InputError("path", "tables there may not be opened from this page", "upload the table, or ask who runs this server")
