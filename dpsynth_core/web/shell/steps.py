"""The steps of the wizard and their states. Public facts only: the draft and the states of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dpsynth_core.foundation import extension
from dpsynth_core.store.runs import ACTIVE
from dpsynth_core.web.shell import document


class State(StrEnum):
    """The state of a step."""

    DONE = "done"
    OPEN = "open"
    LOCKED = "locked"
    RUNNING = "running"


@dataclass(frozen=True)
class Step:
    """A step of the wizard, with a page of its own.

    Attributes:
        name: The name of the step, of its page's file and of its address.
        title: The title of the page.
        section: The heading in the navigation.
        icon: The icon as Streamlit's short code.
        help: The purpose of the page, shown on hover.
    """

    name: str
    title: str
    section: str
    icon: str
    help: str


STEPS = (
    Step("data", "Data", "Prepare", ":material/table_view:", "Choose the sensitive table, and say what counts as one person."),
    Step("domain", "Domain", "Prepare", ":material/data_object:", "Say what every column may contain, from public knowledge."),
    Step("workload", "Workload", "Prepare", ":material/grid_on:", "Choose the tables of counts that must be right."),
    Step("budget", "Budget", "Spend", ":material/balance:", "Choose how strongly each person is protected."),
    Step("mechanism", "Mechanism", "Spend", ":material/play_circle:", "Choose how the rows are made, and make them."),
    Step("results", "Results", "Publish", ":material/monitoring:", "How good the synthetic rows are, and the downloads."),
)
REFERENCE = (
    Step("ledger", "Ledger", "Reference", ":material/receipt_long:", "Every charge against every population."),
    Step("verify", "Verify", "Reference", ":material/verified:", "Check a release bundle that was published."),
    Step("guide", "Guide", "Reference", ":material/menu_book:", "The ideas in plain words."),
)
ALWAYS = (
    *(Step(page.name, page.title, page.section, page.icon, page.help) for page in extension.pages()),
    Step("compare", "Compare", "Explore", ":material/compare:", "Finished runs side by side."),
    *REFERENCE,
)
"""Pages that are open at any time, those of extensions first."""
PREPARATION = ("data", "domain", "workload", "budget")
_ORDER = tuple(step.name for step in STEPS)


def states(draft: Mapping[str, Any], run_states: Sequence[str]) -> dict[str, State]:
    """Return the state of each step and each page of `ALWAYS`, by name.

    A preparation step is done when Continue was pressed on it and its content is still valid; it is
    open when all steps before it are done, and otherwise locked. The mechanism is running while a run is
    active, and done once one finished; results are open from then on with any draft. Pages of `ALWAYS` are
    open.

    Args:
        draft: The draft of the project.
        run_states: The states of the project's runs, in any order.
    """
    result: dict[str, State] = {}
    reached = True
    for name in PREPARATION:
        passed = reached and name in document.passed(draft) and document.problem(draft, name) is None
        result[name] = State.DONE if passed else State.OPEN if reached else State.LOCKED
        reached = passed
    finished, active = "done" in run_states, any(state in ACTIVE for state in run_states)
    if active:
        result["mechanism"] = State.RUNNING
    elif finished:
        result["mechanism"] = State.DONE
    else:
        result["mechanism"] = State.OPEN if reached else State.LOCKED
    result["results"] = State.OPEN if finished else State.LOCKED
    return result | {step.name: State.OPEN for step in ALWAYS}


def first_open(states_of: Mapping[str, State]) -> str:
    """Return the name of the first step, in the wizard's order, that is open or running; the first step if none is.

    Args:
        states_of: The states by name, as `states` returns them.
    """
    return next((name for name in _ORDER if states_of[name] in (State.OPEN, State.RUNNING)), _ORDER[0])


def before(name: str) -> str | None:
    """Return the name of the wizard's step before; None for the first. An unknown name raises ValueError."""
    at = _ORDER.index(name)
    return _ORDER[at - 1] if at > 0 else None


def after(name: str) -> str | None:
    """Return the name of the wizard's step after; None for the last. An unknown name raises ValueError."""
    at = _ORDER.index(name)
    return _ORDER[at + 1] if at + 1 < len(_ORDER) else None
