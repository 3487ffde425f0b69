"""Parts of the Workload page: purposes, the detailed choice of tables, and the size of the resulting workload."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpsynth_core import charts
from dpsynth_core.foundation.documents import decoded
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.inference.households import ACROSS, WITHIN, told_kinds, told_titles
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning import precision
from dpsynth_core.planning.proposals import MANY_COLUMNS
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.web.shell import document, fields, frame, numbers, refusals, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.figures import show
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal
from dpsynth_core.web.workload import purposes_view

ALL, TARGET, RANGES, PICKED = "all", "target", "ranges", "marginals"
WAYS = {
    **{ALL: "All combinations", TARGET: "Around one column", RANGES: "Ranges", PICKED: "Hand-picked"},
    purposes_view.DRAWN: purposes_view.DRAWN_TITLE,
}
ORDERS = {1: "single", 2: "pairs", 3: "triples", 4: "fours", 5: "fives"}
MOST_TO_COPY = 300
MOST_TO_DRAW = 60
"""The most columns with a chart of all pairs."""
_ABOUT = "You choose tables of counts over some columns. The rows are made to agree with them; other tables cost nothing."
CELLS_HELP = "A cell is one count, such as women of 30 to 34 in the north. Each cell gets the same noise, so large tables are mostly noise."
MATCHING_HELP = (
    "With “at least”, a question joins conditions by “or”: someone who matches several counts once. The Results page then certifies the "
    "largest error of these questions."
)
RANGES_HELP = (
    "These are ranges of every column with an order, alone and with each other column: “from 30 to 45”, of everybody and in each group."
)
_EVERY = 0
"""Stands for no threshold: all columns of a table have to match."""
_WORKLOAD = "workload"


def prefill(project: Current) -> Current:
    """Save all pairs of columns as workload if the draft has none, and return the project.

    A domain of one column gets this column as workload.

    Raises:
        InputError: The draft has no workload, and its domain is missing or wrong.
    """
    if not project.draft.get("workload"):
        session.edit(lambda draft: draft.update(workload=_start(ALL, draft)))
    return session.current()


def choice(project: Current) -> None:
    """Draw the choice of the workload by purpose or in detail; it is stored in the draft.

    For two linked tables the workload is fixed, and only described.
    """
    if document.is_linked(project.draft):
        _of_linked(document.link(project.draft))
        return
    own = project.draft["wizard"].get("workloads", {}).get(PICKED) or _start(PICKED, project.draft)
    with frame.card("What will readers study?", Zone.PUBLIC, f"{_ABOUT} {purposes_view.COST_HELP}"):
        purposes_view.choice(project, own)
        is_own = purposes_view.served(project.draft) == purposes_view.OWN
        in_detail = is_own or "threshold" in project.draft["workload"]
        with st.expander("Set the tables in detail", in_detail, icon=":material/tune:", key=f"workload_in_detail_{in_detail}"):
            _detail(project, is_own)
        frame.refused_at(_WORKLOAD)


def _of_linked(link: Link) -> None:
    """Draw a description of each kind of table that two linked tables have, with the number of tables."""
    number, first, second = Counter(told_kinds(link).values()), link.households.names[0], link.members.names[0]
    examples = {
        ACROSS: f"Example: {first} by {second}.",
        WITHIN: f"Example: {second} by {link.other(second)}.",
    }
    with frame.card("Which tables of counts will be measured?", Zone.PUBLIC, link.words.once):
        for kind, (title, what) in told_titles(link).items():
            if number[kind]:
                tables = f"{number[kind]:,} table{'s' * (number[kind] != 1)}"
                st.markdown(f"**{title}** · {tables}. {what} {literal(examples.get(kind, ''), 200)}")
        st.caption("All of these tables of two columns are measured, so you need not choose. The model guesses tables of three columns.")


def _detail(project: Current, is_own: bool) -> None:
    now, domain = project.draft["workload"], document.domain(project.draft)
    look = {"format_func": WAYS.get, "required": True, "label_visibility": "collapsed"}
    fields.linked("way", purposes_view.way_of(now), _switch, st.segmented_control, "Which tables?", list(WAYS), **look)
    if now["kind"] == PICKED:
        _picked(project, domain, now["marginals"])
    elif now["kind"] == RANGES:
        st.caption(RANGES_HELP)
    else:
        kind = now["kind"]
        if kind in purposes_view.DRAWN_KINDS:
            purposes_view.drawn_form()
        if kind == TARGET and is_own:  # else the column is asked for beside its purpose
            fields.choice("Column of interest", "workload.column", domain.names, dict(zip(domain.names, domain.names, strict=True)))
        orders = [k for k in ORDERS if k <= len(domain)]
        number, names = len(domain), ORDERS
        if number >= MANY_COLUMNS:
            tables = {k: math.comb(number - 1, k - 1) if kind == TARGET else math.comb(number, k) for k in orders}
            names = {k: f"{ORDERS[k]} ({numbers.count(tables[k])})" for k in orders}
        fields.choice("Columns per table", "workload.k", orders, names, kind="segmented", on_change=_drop_threshold)
    _matching(project, domain)
    if is_own and _sizes(now):
        st.caption(purposes_view.words(document.cost(project.draft)))
    _files(now)


def _matching(project: Current, domain: Domain) -> None:
    """Draw the choice of the threshold: whether people must match all values of a cell or some.

    The choice is stored in the draft's workload. Nothing is drawn if all tables have one column, if
    the workload asks for ranges or is not valid, or if no mechanism that makes rows takes
    thresholds.

    Args:
        project: The open project.
        domain: The domain of its draft.
    """
    cards = [mechanism.card for mechanism in registry.MECHANISMS.values()]
    now, takers = project.draft["workload"], [card.title for card in cards if card.takes_thresholds and card.makes_rows]
    sizes, columns = _sizes(now), _example(now, domain)
    if not takers or not columns or not _thresholds(sizes):
        return
    many = str(sizes[0]) if len(sizes) == 1 else "them"
    names = {_EVERY: "all values"} | {t: f"at least {t} of {many}" for t in _thresholds(sizes)}
    threshold, title = now.get("threshold"), "A question counts the people who match"
    look = {"options": list(names), "format_func": names.get, "required": True, "help": MATCHING_HELP}
    fields.linked("threshold", threshold if threshold in names else _EVERY, _set_threshold, st.segmented_control, title, **look)
    st.caption(literal(_sentence(threshold, [f"{name} = {domain[name].cell_labels()[0]}" for name in columns], takers), 1000))


def _sizes(workload: dict[str, Any]) -> list[int]:
    """Return the different numbers of columns per table in a workload's document; [] for ranges."""
    if workload["kind"] == PICKED:
        return sorted({len(m["attributes"]) for m in workload["marginals"]})
    return [workload["k"]] if "k" in workload else []


def _thresholds(sizes: list[int]) -> range:
    """Return the thresholds allowed for tables with these numbers of columns."""
    return range(1, max(min(sizes), 2 if len(sizes) > 1 else 1)) if sizes else range(0)


def _example(workload: dict[str, Any], domain: Domain) -> tuple[str, ...]:
    """Return the columns of the largest table of a workload; () if the workload is not valid."""
    try:
        cliques = workloads.from_json(domain, purposes_view.without_threshold(workload)).cliques
    except InputError:
        return ()
    return max(cliques, key=len)


def _sentence(threshold: int | None, values: list[str], takers: list[str]) -> str:
    if threshold is None:
        return f"For example: people with {' and '.join(values)}."
    which = " or ".join(values) if threshold == 1 else f"at least {threshold} of these: {'; '.join(values)}"
    return f"For example: people with {which}. Only some mechanisms can be asked this: {', '.join(takers)}."


@session.edits
def _set_threshold(draft: Draft, threshold: int) -> None:
    draft["workload"].pop("threshold", None)
    if threshold != _EVERY:
        draft["workload"]["threshold"] = threshold


def _drop_threshold() -> None:
    """Remove the threshold from the draft if its present tables do not allow it."""
    now = session.current().draft["workload"]
    if now.get("threshold") not in _thresholds(_sizes(now)):
        _set_threshold(_EVERY)


@session.edits
def _switch(draft: Draft, way: str) -> None:
    """Switch to another kind of workload, in its last state or with its defaults."""
    purposes_view.keep(draft)
    draft["workload"] = document.wizard(draft).get("workloads", {}).get(way) or _start(way, draft)


def _start(way: str, draft: Draft) -> dict[str, Any]:
    names = document.domain(draft).names
    if way == PICKED:
        return {"kind": PICKED, "marginals": []}
    if way == purposes_view.DRAWN:
        return purposes_view.start_drawn(len(names))
    if way == RANGES:
        return {"kind": RANGES}
    start = {"kind": way, "k": min(2, len(names))}
    return start | {"column": names[-1]} if way == TARGET else start


def _picked(project: Current, domain: Domain, marginals: list[dict[str, Any]]) -> None:
    key = f"{project.id}:pick"
    st.multiselect("Columns of a table", domain.names, key=key, placeholder="Choose columns that belong together")
    with st.container(horizontal=True, gap="small"):
        chosen = st.session_state.get(key)
        st.button("Add this table", icon=":material/add:", key="add_marginal", on_click=_add, args=(key,), disabled=not chosen)
        if not marginals and (copied := _former(project, domain)):
            st.button(f"Start from {len(copied)} tables", key="copy_marginals", on_click=_change_marginals, args=(lambda _: copied,))
    if marginals:
        _weights_editor(marginals, _change_marginals)


def is_empty_list(project: Current) -> bool:
    """Return whether the workload is a hand-picked list without a table yet, which is not an error."""
    return project.draft["workload"] == _start(PICKED, project.draft)


def _add(key: str) -> None:
    names = list(document.domain(session.current().draft).clique(st.session_state[key]))
    new = {"attributes": names, "weight": 1.0}
    _change_marginals(lambda marginals: marginals if names in [m["attributes"] for m in marginals] else [*marginals, new])
    st.session_state[key] = []


def _change_marginals(change: Callable[[Tables], Tables]) -> None:
    session.edit(lambda draft: draft["workload"].update(marginals=change(draft["workload"]["marginals"])))
    _drop_threshold()


def _former(project: Current, domain: Domain) -> list[dict[str, Any]]:
    """Return the tables of a workload of another kind that was chosen before, as a list to start from.

    The list is empty if there was none or it has more than `MOST_TO_COPY` tables.
    """
    kept = project.draft["wizard"].get("workloads", {})
    for way in (ALL, TARGET):
        try:
            workload = workloads.from_json(domain, kept[way])
        except (KeyError, InputError):
            continue
        if len(workload.cliques) <= MOST_TO_COPY:
            return [{"attributes": list(clique), "weight": weight} for clique, weight in workload.weights.items()]
    return []


def _files(now: dict[str, Any]) -> None:
    with st.expander("Import or export", icon=":material/swap_vert:"):
        forms = 'JSON such as {"kind": "all", "k": 2}, or lines such as: age, sex: 2'
        fields.file("Workload JSON", ["json", "txt"], "workload", _take_file, forms)
        content = json.dumps(now, indent=1).encode()
        look: dict[str, Any] = {"icon": ":material/download:", "on_click": "ignore", "key": "download_workload"}
        st.download_button("Download the workload", content, "workload.json", "application/json", **look)


def _take_file(file: UploadedFile) -> None:
    with refusals.attempted(_WORKLOAD):
        text = decoded(file.getvalue(), _WORKLOAD)
        read = workloads.from_document(document.domain(session.current().draft), file.name, text).to_json()
        session.edit(lambda draft: draft.update(workload=read))


def outcome(workload: Workload) -> None:
    """Draw the numbers of tables and cells; in an expander the largest tables and covered pairs.

    Pairs are drawn as a chart in domains of at most 60 columns (`MOST_TO_DRAW`), else counted.

    Args:
        workload: The workload, with at least one table.
    """
    largest, tables = precision.largest(workload), len(workload.cliques)
    title = f"{tables:,} table{'s' * (tables != 1)}, {numbers.count(workload.cells)} cells in all"
    with st.expander(title, icon=":material/table_chart:", key="workload_in_numbers"):
        st.caption(CELLS_HELP)
        names, cells = [" × ".join(clique) for clique, _ in largest], [cells for _, cells in largest]
        config = {"Cells": st.column_config.NumberColumn(format="localized", width=90)}
        look = {"height": 35 * min(len(largest), 5) + 38, "column_config": config, "alt": "The tables with the most cells"}
        st.dataframe({"Largest tables": names, "Cells": cells}, hide_index=True, **look)
        covered, pairs = precision.covered_pairs(workload)
        if pairs and covered == pairs:
            st.caption(f":material/check: All {pairs:,} pairs of columns are asked for.")
        elif len(workload.domain) <= MOST_TO_DRAW:
            show(charts.coverage, precision.coverage(workload))
        else:
            st.caption(f"{covered:,} of {pairs:,} pairs of columns are asked for.")


Tables = list[dict[str, Any]]
"""The tables as in a workload's document: {"attributes": columns, "weight": weight}."""

_BASE = "_weights_base"
"""Session key of the editor's version and the tables that its edits refer to."""


def _weights_editor(tables: Tables, take: Callable[[Callable[[Tables], Tables]], None]) -> None:
    """Draw an editor for the list of tables and their weights; tables can be deleted in it.

    The editor keeps its key while nothing else changes the tables: a new editor after each edit
    would lose what is being typed.

    Args:
        tables: The tables of the draft.
        take: Stores an edit; it gets the function that changes the stored tables.
    """
    tables = edited(tables, tables, {})  # with the weights that a document may leave out
    version, base = st.session_state.get(_BASE, (0, tables))
    if edited(base, base, st.session_state.get(f"weights_editor_{version}", {})) != tables:
        version, base = version + 1, tables
    st.session_state[_BASE] = version, base
    config = {
        "table": st.column_config.TextColumn("Table", disabled=True),
        "weight": st.column_config.NumberColumn("Weight", min_value=0.001, max_value=1e6, help="A table of weight 2 counts twice."),
    }
    lines = {"table": [" × ".join(table["attributes"]) for table in base], "weight": [float(table["weight"]) for table in base]}
    key, alt = f"weights_editor_{version}", "Tables of the workload with their weights"
    look = {"num_rows": "delete", "hide_index": True, "height": 35 * min(len(base), 6) + 40, "column_config": config, "alt": alt}
    st.data_editor(lines, key=key, on_change=lambda: take(partial(edited, base=base, edits=st.session_state[key])), **look)


def edited(tables: Tables, base: Tables, edits: Mapping[str, Any]) -> Tables:
    """Return the present tables after all edits of a data editor; each table then states its weight.

    The editor gives its edits by the number of a table in `base`, but the present list may be another one. So
    each edit is applied to the present table with the same columns; without such a table it is ignored. A weight
    that was emptied, or that a table never stated, becomes 1.

    Args:
        tables: The present tables.
        base: The tables that the editor showed when it was made.
        edits: The state of the editor: "edited_rows" and "deleted_rows", by number in `base`.
    """
    weights = {_columns_of(base[int(line)]): values.get("weight") or 1.0 for line, values in edits.get("edited_rows", {}).items()}
    gone = {_columns_of(base[line]) for line in edits.get("deleted_rows", ())}
    left = [table for table in tables if _columns_of(table) not in gone]
    return [table | {"weight": weights.get(_columns_of(table), table.get("weight", 1.0))} for table in left]


def _columns_of(table: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(table["attributes"])
