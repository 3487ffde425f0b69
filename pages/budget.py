"""Budget: epsilon and delta, what they mean for one person and for the tables, and what the population's account allows."""

from __future__ import annotations

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.budget import budget_view, claims_view
from dpsynth_core.web.mechanism import outlook_view
from dpsynth_core.web.shell import additions, document, frame


def main() -> None:
    """Draw the page: the budget, what it means for a person and for the tables, and the account."""
    project = frame.require("budget")
    workload, unit = document.workload(project.draft), document.unit(project.draft)
    error = document.problem(project.draft, "budget")
    frame.header("budget", "Spent privacy never returns.", Zone.PUBLIC)
    plan = outlook_view.light(project)
    budget_view.amount(project, plan, None if plan is None else outlook_view.facts(project, plan))
    divided = document.shares(project.draft) if budget_view.can_be_divided(error) else None
    if divided is not None:
        outlook_view.before(project, plan)
        budget_view.learning(project)
        claims_view.cards(project, workload, unit, divided)
    budget_view.speaking(project, workload, unit, error is None)
    budget_view.details(project, workload, unit, divided)
    additions.draw("budget", project)
    if divided is not None:
        error = error or budget_view.account(project, divided)
    frame.nav_checked("budget", error)


main()
