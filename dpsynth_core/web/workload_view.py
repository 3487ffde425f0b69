"""Parts of the Workload page: the ways to say which tables matter, and what comes out of it."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from dpsynth_core import charts, planning
from dpsynth_core import workload as workloads
from dpsynth_core.domain import Domain
from dpsynth_core.errors import InputError
from dpsynth_core.web import document, fields, frame, numbers, session
from dpsynth_core.web.document import Draft
from dpsynth_core.web.session import Current
from dpsynth_core.workload import Workload
from dpsynth_core.zones import Zone

ALL, TARGET, PICKED = "all", "target", "marginals"
WAYS = {ALL: "All combinations", TARGET: "Around one column", PICKED: "Hand-picked"}
ORDERS = {1: "single", 2: "pairs", 3: "triples", 4: "fours", 5: "fives"}
MOST_TO_COPY = 300
CELLS_HELP = "A cell is one count: women of 30 to 34 in the north, say. Each cell gets the same noise, so large tables are mostly noise."
_SAID, _LOADS = "_workload_said", "_workload_loads"


def prefill(here: Current) -> Current:
    """A workload to start from: all pairs."""
    if not here.draft.get("workload"):
        session.edit(lambda draft: draft.update(workload=_start(ALL, draft)))
    return session.current()


def choice(here: Current) -> None:
    """What is asked for, and how it is said."""
    now, domain = here.draft["workload"], document.domain(here.draft)
    with frame.card("What must come out right?", Zone.PUBLIC, "Tables of counts over some columns. The rows are made to agree with them."):
        _way(here, now["kind"])
        if now["kind"] == PICKED:
            _picked(here, domain, now["marginals"])
        else:
            _combinations(domain, now["kind"])
        _files(now)
        if said := st.session_state.pop(_SAID, None):
            frame.refused(said)


def _way(here: Current, kind: str) -> None:
    key = f"{here.project}:way"
    st.session_state[key] = kind
    st.segmented_control(
        "Which tables?",
        list(WAYS),
        format_func=WAYS.get,
        key=key,
        required=True,
        on_change=lambda: _switch(st.session_state[key]),
        label_visibility="collapsed",
    )


def _combinations(domain: Domain, kind: str) -> None:
    if kind == TARGET:
        fields.choice("Column of interest", "workload.column", domain.names, dict(zip(domain.names, domain.names, strict=True)))
    fields.choice("Columns per table", "workload.k", [k for k in ORDERS if k <= len(domain)], ORDERS, kind="segmented")


def _switch(way: str) -> None:
    """Another way of saying it, with what was last said that way."""

    def change(draft: Draft) -> None:
        kept = draft["wizard"].setdefault("workloads", {})
        kept[draft["workload"]["kind"]] = draft["workload"]
        draft["workload"] = kept.get(way) or _start(way, draft)

    session.edit(change)


def _start(way: str, draft: Draft) -> dict[str, Any]:
    names = document.domain(draft).names
    if way == PICKED:
        return {"kind": PICKED, "marginals": []}
    start = {"kind": way, "k": min(2, len(names))}
    return start | {"column": names[-1]} if way == TARGET else start


def _picked(here: Current, domain: Domain, marginals: list[dict[str, Any]]) -> None:
    """Tables one by one, with weights."""
    key = f"{here.project}:pick"
    st.multiselect("Columns of a table", domain.names, key=key, placeholder="Choose columns that belong together")
    with st.container(horizontal=True, gap="small"):
        chosen = st.session_state.get(key)
        st.button("Add this table", icon=":material/add:", key="add_marginal", on_click=_add, args=(key,), disabled=not chosen)
        if not marginals and (copied := _former(here, domain)):
            st.button(f"Start from {len(copied)} tables", key="copy_marginals", on_click=_set_marginals, args=(copied,))
    if marginals:
        _weights(marginals)


def _add(key: str) -> None:
    draft = session.current().draft
    names, marginals = list(document.domain(draft).clique(st.session_state[key])), draft["workload"]["marginals"]
    if names not in [m["attributes"] for m in marginals]:
        _set_marginals([*marginals, {"attributes": names, "weight": 1.0}])
    st.session_state[key] = []


def _set_marginals(marginals: list[dict[str, Any]]) -> None:
    session.edit(lambda draft: draft.update(workload={"kind": PICKED, "marginals": marginals}))


def _former(here: Current, domain: Domain) -> list[dict[str, Any]]:
    """The tables of the other ways, as a list to start from."""
    kept = here.draft["wizard"].get("workloads", {})
    for way in (ALL, TARGET):
        try:
            found = workloads.from_json(domain, kept[way])
        except (KeyError, InputError):
            continue
        if len(found.cliques) <= MOST_TO_COPY:
            return [{"attributes": list(clique), "weight": weight} for clique, weight in found.weights.items()]
    return []


def _weights(marginals: list[dict[str, Any]]) -> None:
    st.data_editor(
        {"table": [" × ".join(m["attributes"]) for m in marginals], "weight": [float(m["weight"]) for m in marginals]},
        key="weights_editor",
        num_rows="delete",
        hide_index=True,
        height=35 * min(len(marginals), 6) + 40,
        column_config={
            "table": st.column_config.TextColumn("Table", disabled=True),
            "weight": st.column_config.NumberColumn("Weight", min_value=0.001, max_value=1e6, help="A table of weight 2 counts twice."),
        },
        on_change=_take_weights,
        alt="Tables of the workload with their weights",
    )


def _take_weights() -> None:
    changes = st.session_state["weights_editor"]
    marginals = [dict(m) for m in session.current().draft["workload"]["marginals"]]
    for position, values in changes["edited_rows"].items():
        marginals[int(position)]["weight"] = values.get("weight") or 1.0
    gone = set(changes["deleted_rows"])
    _set_marginals([m for i, m in enumerate(marginals) if i not in gone])


def _files(now: dict[str, Any]) -> None:
    with st.expander("Import or export", icon=":material/swap_vert:"):
        key = f"workload_{st.session_state.get(_LOADS, 0)}"
        st.file_uploader("Workload JSON", type=["json"], key=key, on_change=_take_file, args=(key,), help='Such as {"kind": "all", "k": 2}')
        st.download_button(
            "Download the workload",
            data=json.dumps(now, indent=1).encode(),
            file_name="workload.json",
            mime="application/json",
            icon=":material/download:",
            on_click="ignore",
            key="download_workload",
        )


def _take_file(key: str) -> None:
    file = st.session_state.get(key)
    if file is None:
        return
    st.session_state[_LOADS] = st.session_state.get(_LOADS, 0) + 1
    try:
        read = workloads.from_json(document.domain(session.current().draft), json.loads(file.getvalue())).to_json()
    except InputError as error:
        st.session_state[_SAID] = error
    except ValueError:
        st.session_state[_SAID] = InputError("workload", "the file is not JSON", "check commas, quotes and brackets")
    else:
        session.edit(lambda draft: draft.update(workload=read))


def outcome(workload: Workload) -> None:
    """How many tables and cells that makes, and the largest."""
    largest = planning.largest(workload)
    with st.container(horizontal=True, gap="small"):
        st.metric("Tables", f"{len(workload.cliques):,}", border=True, width=130, help="Marginals: tables of counts over some columns.")
        st.metric("Cells in all", numbers.count(workload.cells), border=True, width=150, help=CELLS_HELP)
        st.metric("Largest table", numbers.count(largest[0][1]), border=True, width=150, help="Its number of cells.")
    st.dataframe(
        {"Largest tables": [" × ".join(clique) for clique, _ in largest], "Cells": [cells for _, cells in largest]},
        hide_index=True,
        height=35 * min(len(largest), 5) + 38,
        column_config={"Cells": st.column_config.NumberColumn(format="localized", width=90)},
        alt="The tables with the most cells",
    )


def coverage(workload: Workload) -> None:
    """Which pairs of columns are covered."""
    st.altair_chart(charts.coverage(planning.coverage(workload)))
