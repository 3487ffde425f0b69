"""Domain: what every column may contain, from public knowledge, and what happens to everything else."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.web.domain import (
    column_view,
    domain_table,
    draft_rows,
    fit_view,
    learning_view,
    list_view,
    published_view,
    several_view,
    sources_view,
    zeros_view,
)
from dpsynth_core.web.shell import additions, document, frame
from dpsynth_core.web.shell.text import names


def main() -> None:
    """Draw the page: what every column may contain.

    New columns get a first description, and open columns the values of a finished run that learnt
    them; both are saved in the draft.
    """
    project = learning_view.taken(draft_rows.prefill(frame.require("domain")))
    rows = draft_rows.of(project.draft)
    sentence = "Describe columns from public knowledge."
    frame.header("domain", sentence, document.domain_zone(project.draft))
    learning_view.section(project, rows)
    as_table = sources_view.loaders(project, rows)
    additions.draw("columns", project)
    sources_view.justification(project, rows)
    several_view.several(project, rows)
    if as_table:
        list_view.summary(project, rows)
        list_view.grid(rows)
    else:
        left, right = st.columns([5, 8], gap="small")
        with left:
            list_view.summary(project, rows)
        with right:
            column_view.panel(project, list_view.selected(project, rows))
    comparison = fit_view.compared(project)
    if not as_table:
        with left:  # after the panel, which need not wait until the table is read
            list_view.choices(project, rows, fit_view.remarks(comparison))
    unfit = fit_view.section(project, rows, comparison)
    zeros_view.section(project, rows)
    published_view.section(project)
    additions.draw("domain", project)
    still_open = list(domain_table.problems(rows))
    why = "" if any(row.use for row in rows) else "Use at least one column."
    if still_open:
        why = f"Complete {names(still_open, 3)}."
    if unfit:
        frame.nav("domain", ready=False, why=unfit)
    else:
        frame.nav_checked("domain", document.problem(project.draft, "domain"), why)


main()
