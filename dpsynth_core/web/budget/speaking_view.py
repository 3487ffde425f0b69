"""The slider that speaks: dragging epsilon moves sentences about this very table. Public facts and invented people alone."""

from __future__ import annotations

import json

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning import precision, speaking
from dpsynth_core.planning.speaking import Told
from dpsynth_core.planning.spec import StandinSpec
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources import simulated
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.web.budget import budget_view
from dpsynth_core.web.shell import document, fields
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_DRAWN = 20_000
"""Invented people; their shares are taken for those of as many as there are."""
_HELP = (
    "The numbers are of invented people with your columns: how common a value is among yours is not looked at. What is known is how "
    "exact such a number would be, if all tables share the budget equally: 95% of them are this close."
)


def fold(project: Current, workload: Workload, unit: Unit, sound: bool) -> None:
    """What ε would say, and which one gives a stated accuracy. sound: whether the budget can be used."""
    with st.expander("What ε would say", icon=":material/record_voice_over:", key=f"{project.id}:speaking"):
        if sound and not document.is_linked(project.draft):  # of whose pairs no people are invented
            _speak(project, workload, unit)
        budget_view.accuracy(project, workload, unit)


def _speak(project: Current, workload: Workload, unit: Unit) -> None:
    """The sentences at the chosen epsilon, and at half of it."""
    now = fields.value(budget_view.EPSILON)
    if now is None or workload.domain.unknown:
        return
    people = document.people(project.draft) or StandinSpec().rows
    options = sorted({*EPSILONS, now})
    look = {"format_func": lambda epsilon: f"ε {epsilon:g}", "help": _HELP}
    fields.linked("spoken_epsilon", now, budget_view.set_epsilon, st.select_slider, "Drag ε", options, **look)
    try:
        sigma, less = (_sigma(project, workload, unit, epsilon) for epsilon in (now, now / 2))
    except InputError:  # half of the smallest there is; the field above says what is wrong with any other
        return
    for one in _told(json.dumps(workload.domain.to_json()), speaking.tables(workload), people):
        said = literal(speaking.sentence(one, sigma, less, now / 2), 1000)
        st.markdown("- " + said.replace("± ", "±\N{NO-BREAK SPACE}").replace("ε ", "ε\N{NO-BREAK SPACE}"))
    tables = len(workload.cliques)
    shared = f"; all {tables:,} tables share the budget equally" if tables > 1 else ""
    st.caption(f"Of {people:,} invented people{shared}.")


def _sigma(project: Current, workload: Workload, unit: Unit, epsilon: float) -> float:
    draft = {**project.draft, "budget": {**project.draft["budget"], "epsilon": epsilon}}
    return precision.sigma(document.shares(draft).mechanism, unit, len(workload.cliques))


@st.cache_data(max_entries=16, show_spinner=False)
def _told(domain_text: str, tables: tuple[Clique, ...], people: int) -> tuple[Told, ...]:
    domain = Domain.from_json(json.loads(domain_text))
    kept = domain.keep({name for clique in tables for name in clique})
    codes = simulated.simulate(kept, min(people, _DRAWN), StandinSpec().strength)
    counts = row_marginals(kept, codes, tables)
    return speaking.told(kept, {clique: table * (people / len(codes)) for clique, table in counts.items()})
