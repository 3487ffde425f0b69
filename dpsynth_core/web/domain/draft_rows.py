"""The columns of the Domain page in the draft: read from it, and stored with each change together with the resulting domain.

A codebook may leave columns open, as a DDI codebook does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from dpsynth_core.foundation.documents import decoded
from dpsynth_core.foundation.errors import InputError, first_repeated
from dpsynth_core.planning.domain_origin import UNSTATED
from dpsynth_core.vocabulary import ddi, foreign_domains
from dpsynth_core.vocabulary.codebook import parse_domain
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.domain import DATA, Domain
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.web.data import project_table
from dpsynth_core.web.domain import domain_table
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.shell import curator, document, kept_rules, plan_first, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.kept_rules import Rule
from dpsynth_core.web.shell.session import Current

Change = Callable[[list[ColumnDraft]], list[ColumnDraft]]

_LOADS = "_domain_loads"
_STORED = "rows"


def of(draft: Draft) -> list[ColumnDraft]:
    """Return the columns of all tables as stored in the draft, in the tables' order.

    Columns that no table has are dropped, new ones added. If nothing is stored, they come from the draft's
    domain if it has a valid one, and otherwise from their names and what the files declare.
    """
    stored = _stored(draft)
    columns = _of_tables(draft, domain_table.fitted(stored or [], list(document.every_column(draft)), declared(draft)))
    if stored is not None or document.problem(draft, "domain") is not None:
        return columns
    origin = draft.get("domain_origin", "")
    for domain in document.domains(draft):
        said = domain.origin or ("" if origin == UNSTATED else origin)
        columns = domain_table.with_codebook(columns, map(Column.of, domain.columns), said)
    return _of_tables(draft, columns)


def _of_tables(draft: Draft, columns: Sequence[ColumnDraft]) -> list[ColumnDraft]:
    """Return the columns, each with the name of its table."""
    there = document.every_column(draft)
    return [column.changed(table="" if there[column.name] is draft else there[column.name]["wizard"]["label"]) for column in columns]


def _stored(draft: Draft) -> list[ColumnDraft] | None:
    """Return the columns stored in the draft; None if nothing is stored."""
    entries = draft["wizard"].get(_STORED)
    return None if entries is None else list(map(ColumnDraft.from_json, entries))


def declared(draft: Draft) -> list[Column]:
    """Return what the tables' files declare about their columns besides the names; [] if they declare nothing."""
    there = [(table, entry) for table in document.tables(draft) for entry in table["wizard"].get("declared", ())]
    return [Column.from_json(entry) for table, entry in there if document.every_column(draft).get(entry["name"]) is table]


def labelled(draft: Draft, only: str = "") -> list[Column]:
    """Return the columns that a file describes completely, by labels or types; [] without such a column.

    Args:
        draft: The draft.
        only: The name of the one column to return; "" for all.
    """
    return [column for column in declared(draft) if not column.to_do and only in ("", column.name)]


def prefill(project: Current) -> Current:
    """Save a first description of new columns, and return the changed project.

    A domain that the draft has already is kept. Otherwise simulated people get their known domain,
    and other columns what their names suggest. Nothing is saved if the columns stored are already
    the table's columns.
    """
    stored = _stored(project.draft)
    if stored is None and document.problem(project.draft, "domain") is None:
        save(lambda drafts: drafts)
    elif stored is None and project_table.is_simulated(project.draft):
        guesses = [guess for table in document.tables(project.draft) for guess in project_table.look(table).value]
        known = {column.name: column for column in domain_table.from_guesses(guesses)}
        save(lambda columns: [known.get(column.name, _first(project.draft, column).changed(use=False)) for column in columns], "public")
    elif {column.name for column in stored or ()} != document.every_column(project.draft).keys():
        save(lambda drafts: [_first(project.draft, column) for column in drafts])
    return session.current()


_KEY = "This is the key of both tables. Its values are not released; rows get new keys."


def _first(draft: Draft, column: ColumnDraft) -> ColumnDraft:
    """Return a new column in its first stored state.

    The person column, and columns that an earlier plan does not name, are not used.
    """
    if column.name == draft["unit"]["person_column"]:
        return column.left_out().changed(note=_KEY) if document.has_second(draft) else column.left_out()
    there = plan_first.differences(draft)
    return column.changed(use=False, note="Your plan does not name it.") if there and column.name in there.extra else column


@session.edits
def save(draft: Draft, change: Change, origin: str = "", rules: Callable[[], list[Rule]] | None = None) -> None:
    """Store changed columns in the open project's draft and, if they are complete, the resulting domain.

    It is called without `draft`, and returns whether the change was not refused (`session.edits`). If a
    column is not complete, the draft has no domain afterwards. The reason why a domain read from the records is
    harmless is deleted when values are read anew, and when none are left that were read.

    Args:
        draft: The draft, passed by the decorator.
        change: Returns the columns after the change; may raise InputError, which refuses it.
        origin: The origin of loaded values; "" for typed changes.
        rules: Returns new rules about impossible combinations; None keeps the rules.
    """
    before = of(draft)
    columns = _of_tables(draft, domain_table.with_origins(before, change(before), origin))
    draft["wizard"][_STORED] = [column.to_json() for column in columns]
    kept = kept_rules.of(draft) if rules is None else rules()
    draft["domain"] = _meant([column for column in columns if not column.table])
    if document.has_second(draft):
        draft["members"]["domain"] = _meant([column for column in columns if column.table])
    kept_rules.keep(draft, kept)
    draft["domain_origin"] = domain_table.origin_of(columns) or UNSTATED
    if origin == DATA or draft["domain_origin"] != DATA:  # a reason is for what was read, and for nothing that is read later
        draft["domain_justification"] = ""


def _meant(columns: Sequence[ColumnDraft]) -> dict[str, Any] | None:
    """Return the domain of one table's columns as JSON; None while they are not complete."""
    complete = any(column.use and not column.is_filled for column in columns) and not domain_table.problems(columns)
    return domain_table.domain_of(columns).to_json() if complete else None


def load(change: Change, origin: str, rules: Callable[[], list[Rule]] | None = None) -> bool:
    """Store loaded columns in the draft, and return whether the columns were accepted.

    The popovers of all loaders close, also if the columns are refused.

    Args:
        change: Returns the columns after loading; may raise InputError, which refuses them.
        origin: The origin of the loaded values.
        rules: Returns new rules about impossible combinations; None keeps the rules.
    """
    close_loaders()
    return save(change, origin, rules)


def close_loaders() -> None:
    """Close the popovers of all loaders, and forget what was entered in them."""
    st.session_state[_LOADS] = st.session_state.get(_LOADS, 0) + 1


def loader_key(kind: str) -> str:
    """Return the widget key of a loader.

    It changes with each load, so that the uploaded file is forgotten and the popover closes.
    """
    return f"{kind}_{st.session_state.get(_LOADS, 0)}"


def change_column(name: str, fields: dict[str, Any], origin: str = "") -> None:
    """Store changed fields of a column, which counts as confirmed by the curator.

    Args:
        name: The name of the column.
        fields: The changed fields.
        origin: The origin of the fields; "" for typed ones.
    """
    change_one(name, lambda column: column.changed(**{"note": "", "guessed": False, **fields}), origin)


def change_one(name: str, change: Callable[[ColumnDraft], ColumnDraft], origin: str = "") -> None:
    """Apply `change` to the column `name`, and save it in the draft.

    Args:
        name: The name of the column; nothing changes if no column has it.
        change: Returns the changed column.
        origin: The origin of the values; "" for typed ones.
    """
    save(lambda columns: [change(column) if column.name == name else column for column in columns], origin)


def add_values(name: str, values: Sequence[str]) -> None:
    """Add values found in the records to a column, in the draft. The domain then counts as read from the data.

    Args:
        name: The name of the column.
        values: The values, which are curator-only until the curator publishes the domain.
    """
    change_one(name, lambda column: column.with_values(values), DATA)


def read(name: str) -> None:
    """Replace a column by a guess from the private records, in the draft, and record this look.

    The domain then counts as read from the data. An error of reading is shown on the page.

    Args:
        name: The name of the column.
    """

    def look(_: ColumnDraft) -> ColumnDraft:
        curator.note("domain")
        table = document.every_column(session.current().draft)[name]
        seen = domain_table.from_guesses(project_table.look(table, [name]).value)
        return next(column for column in seen if column.name == name)  # of simulated people every column is looked at

    change_one(name, look, DATA)


ENDINGS = ("json", "csv", "txt", "tsv", "xml", "yaml", "yml")


@dataclass(frozen=True)
class Codebook:
    """The columns of a codebook.

    Attributes:
        columns: The columns; some may be open.
        rules: Rules about impossible combinations.
        origin: The origin of the domain.
        linked: Whether the columns belong to two tables.

    Raises:
        InputError: Two columns have the same name.
    """

    columns: tuple[Column, ...]
    rules: list[Rule] = field(default_factory=list)
    origin: str = "codebook"
    linked: bool = False

    def __post_init__(self) -> None:
        if (repeated := first_repeated(self.names)) is not None:
            raise InputError(column_field(repeated), "two columns have this name", "rename or drop one of the columns")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def fill(self, drafts: Sequence[ColumnDraft]) -> list[ColumnDraft]:
        """Return the columns of the Domain page as the codebook describes them.

        A column that the codebook does not name is not used any more, if the codebook names another column of the
        same table.

        Raises:
            InputError: The codebook names none of the columns.
        """
        return domain_table.with_codebook(drafts, self.columns, self.origin)


def read_codebook(content: bytes) -> Codebook:
    """Read a codebook.

    Args:
        content: A domain in JSON, a codebook CSV, a DDI codebook, or metadata of SDV or
            google/dpsynth about two linked tables.

    Raises:
        InputError: The content is anything else.
    """
    text = decoded(content, "codebook")
    if (linked := _linked(text)) is not None:
        return linked
    if not ddi.is_xml(text):
        return codebook_of(parse_domain(text))
    return Codebook(tuple(map(Column.from_json, ddi.declared_domain(text)["attributes"])))


def _linked(text: str) -> Codebook | None:
    """Return the codebook of two linked tables; None if the text describes one table."""
    if not ("\ntables:" in f"\n{text}" or (text.lstrip().startswith("{") and '"tables"' in text)):  # a codebook CSV is no YAML
        return None
    if (said := foreign_domains.read_linked(text)) is None:
        return None
    return Codebook(tuple(map(Column.from_json, [*said.first["attributes"], *said.second["attributes"]])), linked=True)


def codebook_of(domain: Domain) -> Codebook:
    """Return a domain as a codebook without open columns, with its rules and its origin ("codebook" if it states none)."""
    rules = kept_rules.of({"domain": domain.to_json()})
    return Codebook(tuple(map(Column.of, domain.columns)), rules, domain.origin or "codebook")
