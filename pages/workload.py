"""Workload: which tables of counts (marginals) must come out right, and how much each one counts."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from dpsynth_core import charts, planning
from dpsynth_core import workload as workloads
from dpsynth_core.errors import InputError
from dpsynth_core.web import document, fields, frame, numbers, session
from dpsynth_core.web.document import Draft
from dpsynth_core.workload import Workload
from dpsynth_core.zones import Zone

ALL, TARGET, PICKED = "all", "target", "marginals"
WAYS = {ALL: "All combinations", TARGET: "Around one column", PICKED: "Hand-picked"}
ORDERS = {1: "single", 2: "pairs", 3: "triples", 4: "fours", 5: "fives"}
MOST_TO_COPY = 300
CELLS_HELP = (
    "A cell is one count: women of 30 to 34 in the north, for instance. Each cell gets the same noise, so large tables are mostly noise."
)


def choose(**changes: Any) -> None:
    """Store a changed workload, whether or not it can be used: what is wrong with it is shown."""
    session.edit(lambda draft: draft.update(workload={**draft["workload"], **changes}))


def switch(way: str) -> None:
    """Another way of saying it, with what was last said that way."""

    def change(draft: Draft) -> None:
        kept = draft["wizard"].setdefault("workloads", {})
        kept[draft["workload"]["kind"]] = draft["workload"]
        draft["workload"] = kept.get(way) or start(way, draft)

    session.edit(change)


def start(way: str, draft: Draft) -> dict[str, Any]:
    names = document.domain(draft).names
    k = min(2, len(names))
    return {ALL: {"kind": ALL, "k": k}, TARGET: {"kind": TARGET, "column": names[-1], "k": k}, PICKED: {"kind": PICKED, "marginals": []}}[
        way
    ]


def choice_card(now: dict[str, Any]) -> None:
    with frame.card(
        "What must come out right?", Zone.PUBLIC, "Tables of counts over some of the columns. The rows are made to agree with them."
    ):
        key = f"{here.project}:way"
        st.session_state[key] = now["kind"]
        st.segmented_control(
            "Which tables?",
            list(WAYS),
            format_func=WAYS.get,
            key=key,
            required=True,
            on_change=lambda: switch(st.session_state[key]),
            label_visibility="collapsed",
        )
        if now["kind"] == PICKED:
            picked(now["marginals"])
        else:
            if now["kind"] == TARGET:
                names = domain.names
                fields.choice("Column of interest", "workload.column", names, dict(zip(names, names, strict=True)))
            orders = [k for k in ORDERS if k <= len(domain)]
            fields.choice("Columns per table", "workload.k", orders, ORDERS, kind="segmented")
        import_file()


def picked(marginals: list[dict[str, Any]]) -> None:
    """Tables one by one, with weights."""
    key = f"{here.project}:pick"
    st.multiselect("Columns of a table", domain.names, key=key, placeholder="Choose columns that belong together")
    with st.container(horizontal=True, gap="small"):
        st.button("Add this table", icon=":material/add:", key="add_marginal", on_click=add, disabled=not st.session_state.get(key))
        if not marginals and (copied := former()):
            st.button(f"Start from the {len(copied)} tables chosen before", key="copy_marginals", on_click=lambda: choose(marginals=copied))
    if marginals:
        weights(marginals)


def add() -> None:
    key = f"{here.project}:pick"
    marginals = session.current().draft["workload"]["marginals"]
    names = list(domain.clique(st.session_state[key]))
    if names not in [m["attributes"] for m in marginals]:
        choose(marginals=[*marginals, {"attributes": names, "weight": 1.0}])
    st.session_state[key] = []


def former() -> list[dict[str, Any]]:
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


def weights(marginals: list[dict[str, Any]]) -> None:
    shown = {"table": [" × ".join(m["attributes"]) for m in marginals], "weight": [float(m["weight"]) for m in marginals]}
    st.data_editor(
        shown,
        key="weights_editor",
        num_rows="delete",
        hide_index=True,
        height=min(36 * len(marginals) + 40, 260),
        column_config={
            "table": st.column_config.TextColumn("Table", disabled=True),
            "weight": st.column_config.NumberColumn("Weight", min_value=0.001, max_value=1e6, help="A table of weight 2 counts twice."),
        },
        on_change=take_weights,
        alt="Tables of the workload with their weights",
    )


def take_weights() -> None:
    changes = st.session_state["weights_editor"]
    marginals = [dict(m) for m in session.current().draft["workload"]["marginals"]]
    for position, values in changes["edited_rows"].items():
        marginals[int(position)]["weight"] = values.get("weight") or 1.0
    gone = set(changes["deleted_rows"])
    choose(marginals=[m for i, m in enumerate(marginals) if i not in gone])


def import_file() -> None:
    with st.expander("Import or export", icon=":material/swap_vert:"):
        number = st.session_state.get("_workload_loads", 0)
        st.file_uploader(
            "Workload JSON", type=["json"], key=f"workload_{number}", on_change=take_file, help='Such as {"kind": "all", "k": 2}'
        )
        st.download_button(
            "Download the workload",
            data=lambda: json.dumps(session.current().draft["workload"], indent=1).encode(),
            file_name="workload.json",
            mime="application/json",
            icon=":material/download:",
            on_click="ignore",
            key="download_workload",
        )


def take_file() -> None:
    number = st.session_state.get("_workload_loads", 0)
    file = st.session_state.get(f"workload_{number}")
    if file is None:
        return
    st.session_state["_workload_loads"] = number + 1
    try:
        read = workloads.from_json(domain, json.loads(file.getvalue())).to_json()
    except ValueError as error:
        st.session_state["_workload_said"] = (
            error if isinstance(error, InputError) else InputError("workload", "the file is not JSON", "check commas, quotes and brackets")
        )
        return
    session.edit(lambda draft: draft.update(workload=read))


def outcome(chosen: Workload) -> None:
    cells = chosen.cells
    with st.container(horizontal=True, gap="small"):
        st.metric(
            "Tables", f"{len(chosen.cliques):,}", border=True, width=120, help="Marginals: tables of counts over some of the columns."
        )
        st.metric("Cells in all", numbers.count(cells), border=True, width=150, help=CELLS_HELP)
        largest = planning.largest(chosen)
        st.metric("Largest table", numbers.count(largest[0][1]), border=True, width=150, help="Its number of cells.")
    st.dataframe(
        {"Largest tables": [" × ".join(clique) for clique, _ in largest], "Cells": [n for _, n in largest]},
        hide_index=True,
        height=36 * min(len(largest), 5) + 38,
        column_config={"Cells": st.column_config.NumberColumn(format="localized", width=90)},
        alt="The tables with the most cells",
    )


here = frame.require("workload")
domain = document.domain(here.draft)
if not here.draft.get("workload"):
    session.edit(lambda draft: draft.update(workload=start(ALL, draft)))
    here = session.current()
frame.header(
    "workload", "Which tables of counts must come out right. Few and small ones come out best: what is not asked for costs nothing."
)
left, right = st.columns([1, 1], gap="medium")
error = document.problem(here.draft, "workload")
with left:
    choice_card(here.draft["workload"])
    if said := st.session_state.pop("_workload_said", None):
        frame.refused(said)
    if error is not None:
        frame.refused(error)
    else:
        outcome(document.workload(here.draft))
with right:
    if error is None:
        st.altair_chart(charts.coverage(planning.coverage(document.workload(here.draft))))
frame.nav("workload", ready=error is None, why=frame.sentence(error) if error else "")
