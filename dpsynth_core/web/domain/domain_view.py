"""Parts of the Domain page: where a domain can come from, the table, one column in detail, what its size means."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone, Zoned, publishable
from dpsynth_core.planning.origins import UNSTATED
from dpsynth_core.vocabulary.attribute import LABEL_DTYPES
from dpsynth_core.vocabulary.domain import parse_domain
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.recoding import outside_rule
from dpsynth_core.web.data import project_table, public_data
from dpsynth_core.web.domain import cells_view, domain_table, fit_view, zeros_table
from dpsynth_core.web.domain.domain_table import Row
from dpsynth_core.web.domain.zeros_table import Rule
from dpsynth_core.web.shell import curator, document, fields, frame, numbers, refusals, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

Change = Callable[[list[Row]], list[Row]]

DTYPE_NAMES = {"string": "Text", "int64": "Whole number", "float64": "Number", "bool": "true / false"}
CODEBOOK_HELP = (
    "Our JSON (from “Download”), the form {“age”: 32} of coded benchmark files, or a codebook CSV with the header "
    "column,value[,label]: one line per value, or one line like 17..90 for bounds."
)
GROUPS_HELP = (
    "The width of each group: 10 gives 0 to 9, 10 to 19, …; for dates a number of days, week, month, quarter, year, 5 years or 10 years. "
    "Or the first values of the groups, separated by commas; or “20 bins” for 20 equal ones. Empty: a round width. Codes: how many."
)
MOST_ROWS_SHOWN = 10
_LOADS, _GRID = "_domain_loads", "_grid"
_DOMAIN = "domain"


def rows_of(draft: Draft) -> list[Row]:
    """The table as stored, fitted to the columns of the file."""
    stated = draft.get("domain_origin", UNSTATED)
    whole = {"origin": "" if stated == UNSTATED else stated}  # of rows that were kept without their own
    return domain_table.fitted([whole | row for row in draft["wizard"].get("rows", [])], document.columns(draft))


def prefill(here: Current) -> Current:
    """The simulated people come with their domain: it is public."""
    if "rows" not in here.draft["wizard"] and project_table.is_simulated(here.draft):
        _save(lambda _: _from_data(), "public")
    return session.current()


def _save(change: Change, origin: str = "", rules: Callable[[], list[Rule]] | None = None) -> None:
    """Store changed rows, and the domain they mean if they are complete. origin: where the change came from, "" for what was typed.
    rules: new ones about what cannot occur."""

    def apply(draft: Draft) -> None:
        before = rows_of(draft)
        rows = domain_table.with_origins(before, change(before), origin)
        complete = any(row["use"] for row in rows) and not domain_table.problems(rows)
        draft["wizard"]["rows"] = rows
        kept = zeros_table.rules_of(draft) if rules is None else rules()
        draft["domain"] = domain_table.domain_of(rows).to_json() if complete else None
        zeros_table.keep(draft, kept)
        draft["domain_origin"] = domain_table.origin_of(rows) or UNSTATED
        if origin:
            draft["domain_justification"] = ""

    session.edit(apply)


def _load(change: Change, origin: str, rules: Callable[[], list[Rule]] | None = None) -> None:
    """Replace the whole domain, or keep what is wrong for the next run of the page. Closes the popover it came from."""
    st.session_state[_LOADS] = st.session_state.get(_LOADS, 0) + 1
    refusals.attempt(_DOMAIN, partial(_save, change, origin, rules))


def _key(kind: str) -> str:
    """Key of a loader; a new one after each load, so that the file is forgotten and the popover closes."""
    return f"{kind}_{st.session_state.get(_LOADS, 0)}"


def sources(here: Current) -> None:
    """The ways to fill the table, the best first, and the download."""
    with st.container(horizontal=True, gap="small"):
        with st.popover("Load a codebook", icon=":material/menu_book:", key=_key("load_codebook")):
            st.caption(CODEBOOK_HELP)
            kinds = ["json", "csv", "txt", "tsv"]
            st.file_uploader("Domain JSON or codebook CSV", type=kinds, key=_key("codebook"), on_change=_load_codebook)
        with st.popover("From a public table", icon=":material/public:", key=_key("load_public")):
            st.caption("A published table with the same columns: an earlier release, a census sample, a simulated twin.")
            if (section := here.draft.get("public")) is not None:
                name = literal(public_data.label(section))
                st.button(f"Take it from {name}", key="take_public", on_click=_take_public, args=(section,), icon=":material/public:")
            st.file_uploader("Public table", type=["csv", "tsv", "txt", "parquet"], key=_key("public"), on_change=_load_public)
        simulated = project_table.is_simulated(here.draft)
        with st.popover("Read it from the data", icon=":material/visibility_lock:", key=_key("load_data"), disabled=simulated):
            st.markdown(
                "This looks at the private records. A rare category or an extreme value can point to one person, and no noise covers it. "
                "The release is marked, and you will have to write why it is harmless."
            )
            st.button("Read it all the same", key="read_data", on_click=lambda: _load(lambda _: _from_data(), "data"))
        _download(here)
    frame.refused_at(_DOMAIN)


def _download(here: Current) -> None:
    ready = bool(here.draft.get("domain")) and document.domain_zone(here.draft) is not Zone.CURATOR
    st.download_button(
        "Download",
        data=partial(_domain_json, here.draft) if ready else b"",
        file_name="domain.json",
        mime="application/json",
        icon=":material/download:",
        disabled=not ready,
        on_click="ignore",
        key="download_domain",
        help=None if ready else "Possible once every column is complete and, if it was read from the data, justified.",
    )


def _domain_json(draft: Draft) -> bytes:
    return json.dumps(publishable(Zoned(document.domain_zone(draft), draft["domain"]), "the domain"), indent=1).encode()


def _load_codebook() -> None:
    file = st.session_state.get(_key("codebook"))
    if file is not None:
        read = cache(lambda: parse_domain(_decoded(file.getvalue())))
        _load(lambda rows: domain_table.with_domain(rows, read()), "codebook", lambda: zeros_table.rules_of({"domain": read().to_json()}))


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("codebook", "it is not UTF-8 text", "save it as UTF-8") from None


def _load_public() -> None:
    file = st.session_state.get(_key("public"))
    if file is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{Path(file.name).suffix.lower()}"
        path.write_bytes(file.getvalue())
        _load(lambda rows: domain_table.with_guesses(rows, project_table.look_at_public(path)), "public")


def _take_public(section: dict[str, Any]) -> None:
    _load(lambda rows: domain_table.with_guesses(rows, public_data.look(section)), "public")


def _from_data() -> list[Row]:
    draft = session.current().draft
    if not project_table.is_simulated(draft):
        curator.note("domain")
    return domain_table.from_guesses(project_table.look(draft).value)


def justification(here: Current) -> None:
    """Asked for when the domain was read from the private table."""
    if here.draft.get("domain_origin") != "data":
        return
    with st.container(border=True):
        st.markdown(
            ":orange[:material/visibility_lock: **This domain was read from the private table.**] Everything in it will be "
            "published with the release. Replace what only the records could tell, then write why the rest is public knowledge."
        )
        fields.paragraph(
            "Why this domain gives nobody away, in a sentence",
            "domain_justification",
            height=80,
            placeholder="Example: categories are those of the published questionnaire; bounds were rounded to the legal limits.",
        )


def summary(rows: Sequence[Row]) -> None:
    """The domain in one line."""
    used = [row for row in rows if row["use"]]
    sizes = [domain_table.cells(row) for row in used]
    complete = [size for size in sizes if size is not None]
    still_open = len(sizes) - len(complete)
    with st.container(horizontal=True, gap="small"):
        st.badge(f"{len(used)} of {len(rows)} columns used", icon=":material/view_column:", color="gray")
        st.badge(
            f"{sum(complete):,} cells",
            icon=":material/grid_view:",
            color="gray",
            help="What one table per column adds up to. Every cell gets the same noise: the fewer cells, the more people in each.",
        )
        if still_open:
            st.badge(
                f"{still_open} still open", icon=":material/edit:", color="orange", help="Their values or bounds are not complete yet."
            )
        elif complete:
            st.badge(
                f"{numbers.count(math.prod(complete))} possible rows",
                icon=":material/open_in_full:",
                color="gray",
                help="Size of the domain: how many different rows could be written.",
            )


def editor(rows: list[Row]) -> None:
    """The table. Its edits are stored as they are made."""
    st.data_editor(
        domain_table.grid(rows),
        key=_grid_key(rows),
        column_config=_columns(),
        hide_index=True,
        height=35 * min(len(rows), MOST_ROWS_SHOWN) + 40,
        placeholder="–",
        on_change=_take_edits,
        alt="Domain: one row per column of the table",
    )


def _columns() -> dict[str, Any]:
    config = st.column_config
    return {
        "column": config.TextColumn("Column", pinned=True, width=130, disabled=True),
        "use": config.CheckboxColumn("Use", help="Columns that are not used do not appear in the release.", width=65),
        "kind": config.SelectboxColumn("Kind", options=list(KINDS), format_func=lambda name: KINDS[name].title, required=True, width=125),
        "cells": config.NumberColumn("Cells", help="Different values that the release can tell apart.", width=60, disabled=True),
        "values": config.TextColumn("Values", help="Edit them below the table.", width=150, disabled=True),
        "lower": config.TextColumn("From", help="Lowest value that counts; smaller ones are “other”.", width=80),
        "upper": config.TextColumn("To", help="Highest value that counts; larger ones are “other”.", width=80),
        "bins": config.TextColumn("Groups of", help=GROUPS_HELP, width=80),
        "missing": config.CheckboxColumn("Missing", help="Empty values have a value of their own; else see below.", width=90),
        "other": config.CheckboxColumn("Other", help="Values outside the list or the bounds become “other”.", width=75),
    }


def _grid_key(rows: list[Row]) -> str:
    """The editor keeps its edits under this key; it gets a new one when the rows were changed elsewhere since."""
    version = st.session_state.setdefault(_GRID, 0)
    edits = st.session_state.get(f"domain_grid_{version}", {}).get("edited_rows", {})
    if domain_table.edited(rows, edits) != rows:
        st.session_state[_GRID] = version + 1
    return f"domain_grid_{st.session_state[_GRID]}"


def _take_edits() -> None:
    edits = st.session_state[f"domain_grid_{st.session_state[_GRID]}"]["edited_rows"]
    _save(lambda rows: domain_table.edited(rows, edits))


def detail(here: Current, rows: Sequence[Row]) -> None:
    """One column at a time: the list of its categories, its cells, and what happens to everything else."""
    by_name = {row["column"]: row for row in rows if row["use"]}
    if not by_name:
        return
    problems = domain_table.problems(rows)
    with frame.card("One column", document.domain_zone(here.draft)):
        left, right = st.columns([3, 2], gap="medium")
        with left:
            key = f"{here.project}:detail"
            if st.session_state.get(key) not in by_name:
                st.session_state[key] = next(iter(problems), next(iter(by_name)))
            row = by_name[st.selectbox("Column", list(by_name), key=key)]
            if row["kind"] in domain_table.LISTED:
                _categories(here, row)
            else:
                st.caption("Its bounds and groups are edited in the table above.")
            if row["kind"] == "numeric":
                _decimals(here, row)
            if row["kind"] != "coded":
                for which in ("missing", "other"):
                    cells_view.treatment(here.project, row, which, _change_row)
            if row["note"]:
                st.caption(f":material/info: {literal(row['note'])}")
        with right:
            _cells(row, problems.get(row["column"]))


def _categories(here: Current, row: Row) -> None:
    name = row["column"]
    key, kind = f"{here.project}:list:{name}", f"{here.project}:dtype:{name}"
    st.session_state[key], st.session_state[kind] = domain_table.listed_text(row), row["dtype"]
    st.text_area(
        "Values, one per line",
        key=key,
        height=200,
        on_change=lambda: _change_row(name, domain_table.read_listed(st.session_state[key])),
        help="As they are written in the file. To show another name, add it after a tab; two columns of a spreadsheet can be pasted.",
    )
    st.selectbox(
        "Released as",
        LABEL_DTYPES,
        format_func=DTYPE_NAMES.get,
        key=kind,
        on_change=lambda: _change_row(name, {"dtype": st.session_state[kind]}),
    )


def _decimals(here: Current, row: Row) -> None:
    name, key = row["column"], f"{here.project}:decimals:{row['column']}"
    st.session_state[key] = row["decimals"]
    st.selectbox(
        "Digits after the point",
        [None, *range(13)],
        format_func=lambda digits: "as many as a number has" if digits is None else str(digits),
        key=key,
        on_change=lambda: _change_row(name, {"decimals": st.session_state[key]}),
        help="Numbers of the rows are rounded to so many, as the column has them: prices 2, lengths in millimetres 0.",
    )


def _change_row(column: str, values: dict[str, Any]) -> None:
    _save(lambda rows: [row | values | {"note": ""} if row["column"] == column else row for row in rows])


def _cells(row: Row, problem: InputError | None) -> None:
    if problem is not None:
        st.warning(frame.sentence(problem), icon=":material/edit:")
        return
    attribute = domain_table.attribute(row)
    st.dataframe({f"{attribute.size:,} cells": attribute.cell_labels()}, hide_index=True, height=200, alt="Cells of this column")
    st.caption(f":material/rule: {literal(outside_rule(attribute))}")


def check(here: Current, rows: Sequence[Row]) -> str:
    """Compare the table with its domain; why the page cannot be left yet, "" if it can."""
    return fit_view.section(here, rows, _change_row, _add_values)


def _add_values(column: str, values: Sequence[str]) -> None:
    """Add values that the records hold: from then on the domain was read from the data."""

    def add(rows: list[Row]) -> list[Row]:
        return [domain_table.with_values(row, values) if row["column"] == column else row for row in rows]

    _save(add, "data")
