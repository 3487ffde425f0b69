"""Domain: what every column may contain, from public knowledge, and what happens to everything else."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.web.domain import column_view, domain_table, draft_rows, fit_view, grid_view, list_view, sources_view, zeros_view
from dpsynth_core.web.shell import document, frame
from dpsynth_core.web.shell.text import names


def main() -> None:
    here = draft_rows.prefill(frame.require("domain"))
    rows = draft_rows.of(here.draft)
    sentence = "What every column may contain, from public knowledge: a codebook, a questionnaire, the law."
    frame.header("domain", sentence, document.domain_zone(here.draft))
    as_table = sources_view.loaders(here, rows)
    sources_view.justification(here, rows)
    if as_table:
        list_view.summary(here, rows)
        grid_view.editor(rows)
    else:
        left, right = st.columns([5, 8], gap="small")
        with left:
            list_view.summary(here, rows)
        with right:
            column_view.panel(here, list_view.selected(here, rows))
    comparison = fit_view.compared(here)
    if not as_table:
        with left:  # after the panel, which need not wait until the table is read
            list_view.choices(here, rows, fit_view.remarks(comparison))
    unfit = fit_view.section(here, rows, comparison, draft_rows.change_column, draft_rows.add_values)
    zeros_view.section(here, rows)
    still_open = list(domain_table.problems(rows))
    why = f"Still open: {names(still_open, 3)}" if still_open else "" if any(row.use for row in rows) else "Use at least one column."
    if unfit:
        frame.nav("domain", ready=False, why=unfit)
    else:
        frame.nav_checked("domain", document.problem(here.draft, "domain"), why)


main()
