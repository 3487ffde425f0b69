"""Budget: epsilon and delta, what they mean for one person and for the tables, and what the population's account allows."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpsynth_core import charts, planning
from dpsynth_core.errors import InputError
from dpsynth_core.planning import Sharing
from dpsynth_core.privacy import accounting
from dpsynth_core.privacy.unit import ADD_REMOVE
from dpsynth_core.store import ledger
from dpsynth_core.web import document, fields, frame, numbers, session
from dpsynth_core.web.text import code, literal
from dpsynth_core.zones import Zone

EPSILON, DELTA = "budget.epsilon", "budget.delta"
USUAL = (0.1, 0.5, 1.0, 2.0, 5.0)
EPSILON_HELP = (
    "How far the odds about any one person can move: at most by the factor e to the power of ε, either way. Lower is more private."
)
DELTA_HELP = "The chance, at worst, that the promise of ε fails. Far below one in the number of people: 1e-9 is customary here."
RHO_HELP = "The same budget in zero-concentrated differential privacy, the currency in which the pieces of a run add up."


def amount_card() -> None:
    with frame.card("How much may one person's presence show?", Zone.PUBLIC):
        left, right = st.columns(2)
        with left:
            fields.number("ε (epsilon)", EPSILON, read_epsilon, numbers.short, help=EPSILON_HELP)
        with right:
            fields.number("δ (delta)", DELTA, read_delta, numbers.short, help=DELTA_HELP)
        usual()
        if budget is not None:
            meaning(*budget)


def read_epsilon(text: str) -> float:
    epsilon = numbers.positive(text, EPSILON, "1")
    accounting.check_budget(epsilon, document.DEFAULT_BUDGET["delta"])
    return epsilon


def read_delta(text: str) -> float:
    delta = numbers.positive(text, DELTA, "1e-9")
    accounting.check_budget(document.DEFAULT_BUDGET["epsilon"], delta)
    return delta


def usual() -> None:
    """Common choices, one click each."""
    key = f"{here.project}:usual_epsilon"
    now = fields.value(EPSILON)
    st.session_state[key] = now if now in USUAL else None
    st.pills(
        "Common choices",
        USUAL,
        format_func=lambda e: f"ε {numbers.short(e)}",
        key=key,
        on_change=lambda: st.session_state[key] and set_epsilon(st.session_state[key]),
        label_visibility="collapsed",
    )


def set_epsilon(epsilon: float) -> None:
    fields.store(EPSILON, epsilon)
    session.edit(lambda draft: draft["wizard"].setdefault("typed", {}).pop(EPSILON, None))


def meaning(epsilon: float, delta: float) -> None:
    sure = accounting.posterior_odds(epsilon, delta)
    question = "whether a person is in the table" if unit.relation == ADD_REMOVE else "which of two records is a person's"
    st.markdown(
        f"Someone who is **50:50** about {question} can end up at most **{percent(sure)}** right, "
        "however much else they know and whatever they compute from the release."
    )
    for warning in accounting.check_budget(epsilon, delta, document.people(here.draft)):
        st.warning(literal(warning), icon=":material/warning:")


def percent(share: float) -> str:
    return f"{share:.0%}" if 0.01 <= share <= 0.99 else f"{share:.1%}" if share < 0.9995 else "almost 100%"


def accuracy_card() -> None:
    """The other way round: state the accuracy, read off epsilon."""
    with st.expander("I know the accuracy I need instead", icon=":material/straighten:", key=f"{here.project}:reverse"):
        left, right = st.columns(2)
        with left:
            parse = partial(numbers.positive, field="accuracy", example="50")
            wanted = fields.number("People off in a cell, at most ±", "wizard.wanted", parse, numbers.short, placeholder="50")
        with right:
            shared = st.selectbox("when the budget is shared by", shares, format_func=lambda s: s.title, key=f"{here.project}:shared")
        delta = fields.value(DELTA)
        if wanted is None or delta is None:
            return
        try:
            epsilon = planning.round_up(planning.epsilon_for(wanted, delta, unit, shared.tables))
        except InputError as error:
            fields.problem(error)
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"That takes **ε = {numbers.short(epsilon)}**.", width="content")
            st.button(
                f"Use ε = {numbers.short(epsilon)}", key="use_epsilon", icon=":material/check:", on_click=set_epsilon, args=(epsilon,)
            )


def noise_card(rho: float) -> None:
    with frame.card("How exact will the tables be?", Zone.PUBLIC, "From the budget and the workload alone: the records are not looked at."):
        for column, shared in zip(st.columns(len(shares)), shares, strict=True):
            column.metric(capital(shared), plus_minus(planning.half_width(rho, unit, shared.tables)), help=sharing_help(shared))
        biggest, cells = planning.largest(workload)[0]
        people = document.people(here.draft)
        average = f", about {numbers.count(people / cells)} people in each" if people else ""
        largest = f"The largest table, {code(' × '.join(biggest))}, has {numbers.count(cells)} cells{average}."
        st.caption(f"People per cell; 95 % of the cells are this close. {largest}")


def capital(shared: Sharing) -> str:
    return shared.title[:1].upper() + shared.title[1:]


def sharing_help(shared: Sharing) -> str:
    return (
        f"If the whole budget were spread evenly over {shared.title}. AIM measures only those that matter most, and a mechanism that fits a model to what it measured does better on "
        "large tables, because tables that overlap tell about each other."
    )


def plus_minus(people: float) -> str:
    return f"± {people:,.0f}" if people >= 10 else f"± {people:.1f}"


def ledger_card(rho: float) -> bool:
    """What this population's account says; whether the budget fits it."""
    name = here.draft["population"]
    known = name in ledger.populations(here.owner)
    account = ledger.spent(here.owner, name)
    cap_epsilon, cap_delta = (account.cap_epsilon, account.cap_delta) if known else document.cap(here.draft)
    cap_rho = accounting.rho_from(cap_epsilon, cap_delta)
    left_over = cap_rho - account.rho - rho
    mixed = bool(set(account.relations) - {unit.relation})
    with frame.card(
        "What is left of the account?", Zone.PUBLIC, "Losses of all releases about the same people add up; the ledger keeps the sum."
    ):
        spent, this, left = st.columns(3)
        spent.metric(
            "Spent so far", f"ε {account.epsilon:.2f}", help=f"In {account.releases} release(s), at δ = {numbers.short(cap_delta)}."
        )
        this.metric(
            "This release", f"ε {accounting.epsilon_from(rho, cap_delta):.2f}", help="At the δ of the limit. Losses add up in ρ, not in ε."
        )
        remains = accounting.epsilon_from(left_over, cap_delta) if left_over > 0 else 0.0
        left.metric("Left afterwards", "?" if mixed else f"ε {remains:.2f}", help=f"Of the limit ε {numbers.short(cap_epsilon)}.")
        st.caption(f"Population {code(name)}: limit ε {numbers.short(cap_epsilon)}, δ {numbers.short(cap_delta)}.")
        if mixed:
            st.caption("Earlier releases used the other unit of privacy; the ledger adds both up for the stricter one.")
        elif left_over < -1e-9 * cap_rho:
            st.error(
                "This is more than the account allows. Lower ε, or raise the limit on the Ledger page and give the reason there.",
                icon=":material/block:",
            )
            return False
    return True


here = frame.require("budget")
workload, unit = document.workload(here.draft), document.unit(here.draft)
shares = planning.sharings(workload)
error = document.problem(here.draft, "budget")
budget = None if error else (here.draft["budget"]["epsilon"], here.draft["budget"]["delta"])
frame.header("budget", "How much one person's presence may show. More budget means less noise; what is spent cannot be had back.")
affordable = False
left, right = st.columns([11, 10], gap="medium")
with left:
    amount_card()
    accuracy_card()
    if budget is not None:
        rho = document.rho(here.draft)
        noise_card(rho)
        affordable = ledger_card(rho)
with right:
    if budget is not None:
        st.altair_chart(charts.tradeoff(planning.attacker(*budget)))
        split = planning.budget_split(here.draft["mechanism"]["name"], here.draft["mechanism"]["settings"], workload, rho)
        st.altair_chart(charts.split(split))
        st.caption(f"In all ρ = {rho:.4g}.", help=RHO_HELP)
why = frame.sentence(error) if error else "" if affordable else "More than the account allows."
frame.nav("budget", ready=error is None and affordable, why=why)
