"""Domain: what every column may contain, from public knowledge, and what happens to everything else."""

from __future__ import annotations

from dpsynth_core.web.domain import domain_table, domain_view, zeros_view
from dpsynth_core.web.shell import document, frame
from dpsynth_core.web.shell.text import names


def main() -> None:
    here = domain_view.prefill(frame.require("domain"))
    rows = domain_view.rows_of(here.draft)
    sentence = "What every column may contain, from public knowledge: a codebook, a questionnaire, the law."
    frame.header("domain", sentence, document.domain_zone(here.draft))
    domain_view.sources(here)
    domain_view.justification(here)
    domain_view.summary(rows)
    domain_view.editor(rows)
    domain_view.detail(here, rows)
    zeros_view.section(here, rows)
    unfit = domain_view.check(here, rows)
    still_open = list(domain_table.problems(rows))
    why = f"Still open: {names(still_open, 3)}" if still_open else "" if any(row["use"] for row in rows) else "Use at least one column."
    if unfit:
        frame.nav("domain", ready=False, why=unfit)
    else:
        frame.nav_checked("domain", document.problem(here.draft, "domain"), why)


main()
