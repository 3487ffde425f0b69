"""Part of the Domain page: values that nobody says are learnt with noise for a share of the budget. What that costs is said before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.discovery.learning import Portion
from dpsynth_core.planning import discovery
from dpsynth_core.planning.spec import DEFAULT_DISCOVERY
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.web.domain import domain_table, draft_rows
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.shell import document, fields
from dpsynth_core.web.shell.numbers import short
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

SHARE = "budget.discovery"
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3)
_MOST = (8, 16, 32, 64, 128, 256, 1024)
_MOST_HELP = "Until it is known what there is, every table with this column is planned with so many cells."
_HELP = (
    "Before the mechanism starts, noisy counts tell which values there are, and where numbers lie. Nothing that only one person has can be "
    "found. The columns that are learnt have equal parts of this share."
)


def column(project: Current, draft: ColumnDraft) -> None:
    """What is said of a column whose values are to be learnt."""

    def take(most: int) -> None:
        draft_rows.change_column(draft.name, {"most": most})

    look = {"options": sorted({*_MOST, draft.most}), "format_func": "{:,}".format, "help": _MOST_HELP}
    fields.linked(f"most:{draft.name}", draft.most, take, st.selectbox, "Values or groups, at most", **look)
    _price(project, _unknown(draft_rows.of(project.draft)), draft.name)


def share(project: Current) -> None:
    """The share of the budget that learns values. Its key has the share: what is set behind a closed popover does not reach the field."""
    chosen = fields.value(SHARE, DEFAULT_DISCOVERY)
    options, key = sorted({*_SHARES, chosen}), f"{project.id}:{SHARE}:{chosen}"
    st.selectbox(
        "Share of the budget that learns values",
        options,
        options.index(chosen),
        format_func=lambda one: f"{100 * one:g}%",
        key=key,
        on_change=lambda: fields.store(SHARE, st.session_state[key]),
        help=_HELP,
    )


def whole(project: Current, rows: list[ColumnDraft]) -> None:
    """All columns that are open at once: which they are, the price, and the button."""
    columns = domain_table.to_learn(rows)
    share(project)
    affected = [draft for draft, before in zip(columns, rows, strict=True) if draft.most and not before.most]
    if not affected:
        st.caption("Every column that is used has its values. Drop values of a column, or choose “Learn them” in its panel.")
        return
    st.markdown(f"Learn the values of the **{len(affected)}** columns that are still open, before the rows are made.")
    _price(project, _unknown(columns), affected[0].name)
    st.button("Learn them", key="learn_open", type="primary", on_click=draft_rows.load, args=(domain_table.to_learn, "learnt"))


def prices(project: Current, unknown: Sequence[Attribute]) -> list[str]:
    """What the columns get that are to be learnt, each kind of price once. Raises InputError for a budget that cannot be used."""
    portions = document.portions(project.draft, unknown)
    rows = project.draft["unit"]["max_rows_per_person"]
    return list(dict.fromkeys(discovery.price(portion, rows) for portion in portions))


def _unknown(rows: Iterable[ColumnDraft]) -> list[Attribute]:
    return [attribute for attribute in domain_table.measured(rows) if attribute.most]


def _price(project: Current, unknown: list[Attribute], name: str) -> None:
    """What a column gets if these columns are learnt."""
    try:
        portion = next(one for one in document.portions(project.draft, unknown) if one.column.name == name)
    except (InputError, StopIteration):
        st.caption("The price shows once the budget can be used.")
        return
    st.caption(f":blue[:material/query_stats:] {_in_words(project, portion, len(unknown))}")


def _in_words(project: Current, portion: Portion, columns: int) -> str:
    budget, people = document.budget(project.draft), document.people(project.draft)
    rows = project.draft["unit"]["max_rows_per_person"]
    of_all = f" (of {people:,})" if people else ""
    each = f", {100 * budget.discovery / columns:.2g}% for each of {columns} columns" if columns > 1 else ""
    price = discovery.price(portion, rows).replace(" people to be found", f" people{of_all} to be found")
    return literal(f"Price: {100 * budget.discovery:g}% of ε {short(budget.epsilon)}{each}. {price}")
