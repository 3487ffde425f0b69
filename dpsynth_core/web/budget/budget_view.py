"""Parts of the Budget page: the amount and what it means, accuracy first, noise, the population's account. Public facts only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core import charts
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning import precision, weakness
from dpsynth_core.planning.plan import Shares
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy import attacker, meaning
from dpsynth_core.privacy import budget as budgets
from dpsynth_core.privacy.unit import ADD_REMOVE, Unit
from dpsynth_core.store import accounts, balance
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.web.domain import origin_view
from dpsynth_core.web.shell import document, fields, frame, numbers
from dpsynth_core.web.shell.figures import show
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import capital, code, literal, names

EPSILON, DELTA, CERTIFICATE = "budget.epsilon", "budget.delta", "budget.certificate"
_EXPERTS = "budget_experts"
SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)
"""Shares of the budget offered for the certificate."""
USUAL = (0.1, 0.5, 1.0, 2.0, 5.0)
EPSILON_HELP = (
    "How far the odds about any one person can move: at most by the factor e to the power of ε, either way. Lower is more private."
)
DELTA_HELP = "The chance, at worst, that the promise of ε fails. Far below one in the number of people: 1e-9 is customary here."
CERTIFICATE_HELP = (
    "When the rows are final, this share of the budget measures how far every table of them is from the private one. "
    "The measured errors, each with the bound that it stays below, are published with the rows."
)
FOUND_HELP = (
    "An attacker tests who is in the table, and accuses so many of those who are not. Of those who are, no test finds more than this; "
    "guessing would find as many as it accuses wrongly."
)
RHO_HELP = (
    "The same budget in the currency in which the pieces of a run add up: ρ of zero-concentrated differential privacy (zCDP), or μ²/2 of "
    "Gaussian differential privacy (GDP) where nearly all of the noise is Gaussian."
)
_SHARING_HELP = (
    "AIM measures only the tables that matter most, and fits a model to them: tables that overlap tell about each other, so that large "
    "ones come out better than this."
)


def amount(project: Current) -> None:
    """Epsilon and delta, typed or picked, and what they mean for one person."""
    with frame.card("How strongly should each person be protected?", Zone.PUBLIC):
        left, right = st.columns(2)
        with left:
            epsilon = fields.number("ε (epsilon)", EPSILON, partial(_read, field=EPSILON, example="1"), numbers.short, help=EPSILON_HELP)
        with right:
            delta = fields.number("δ (delta)", DELTA, partial(_read, field=DELTA, example="1e-9"), numbers.short, help=DELTA_HELP)
        now = fields.value(EPSILON)
        look: dict[str, Any] = {"format_func": lambda e: f"ε {numbers.short(e)}", "label_visibility": "collapsed"}
        fields.linked("usual_epsilon", now if now in USUAL else None, set_epsilon, st.pills, "Common choices", USUAL, **look)
        if epsilon is not None and delta is not None:
            _meaning(project, epsilon, delta)


def _read(text: str, field: str, example: str) -> float:
    """Epsilon or delta, whose other one may not be known yet."""
    number, usual = numbers.positive(text, field, example), document.DEFAULT_BUDGET
    budgets.check_budget(*((number, usual["delta"]) if field == EPSILON else (usual["epsilon"], number)))
    return number


def set_epsilon(epsilon: float | None) -> None:
    """Store a picked epsilon in place of what was typed; nothing for a choice that was clicked away."""
    if epsilon is not None:
        fields.store(EPSILON, epsilon)


def _meaning(project: Current, epsilon: float, delta: float) -> None:
    shares = document.shares(project.draft)
    odds = meaning.reading(shares.accountant, shares.rho, shares.slack)
    added = project.draft["unit"]["relation"] == ADD_REMOVE
    question = "whether a person is in the table" if added else "which of two records is a person's"
    alone = _at_most(attacker.posterior_odds(epsilon, delta))
    however = "however much else they know and whatever they compute from the release."
    help = f"By the accounting of a run ({shares.accountant.name}). ε and δ alone promise only: {alone}."
    st.markdown(f"Someone who is **50:50** about {question} can end up {_at_most(odds.guess)}, {however}", help=help)
    found = f"An attacker who accepts 1 wrong accusation in 100 finds at most {100 * odds.at_1:.1f} of 100 members. By guessing: 1."
    st.caption(found, help=FOUND_HELP)
    for warning in budgets.check_budget(epsilon, delta):
        st.warning(literal(capital(warning)), icon=":material/warning:")
    if document.needs_reason(project.draft):
        help = "A sentence. It is published with the release, in the report and in the data card."
        example = "The counts are published already; this release adds the rows that go with them."
        fields.paragraph("Why is so large an ε right for these people?", weakness.FIELD, placeholder=example, max_chars=10_000, help=help)
        try:
            weakness.check(document.budget(project.draft))
        except InputError as error:
            fields.problem(error)


def can_be_divided(error: InputError | None) -> bool:
    """Whether the budget can be drawn: at most a reason, a criterion or a column to predict is wrong."""
    return error is None or error.field == weakness.FIELD or error.field.startswith((document.CONDITION, "models"))


def _at_most(share: float) -> str:
    if share >= 0.9995:
        return "**all but certain**"
    return f"at most **{share:.0%}** right" if share <= 0.99 else f"at most **{share:.1%}** right"


def accuracy(project: Current, workload: Workload, unit: Unit) -> None:
    """The other way round: state the accuracy, read off epsilon."""
    with st.expander("I know the accuracy I need instead", icon=":material/straighten:", key=f"{project.id}:reverse"):
        left, right = st.columns(2)
        with left:
            parse = partial(numbers.positive, field="accuracy", example="50")
            wanted = fields.number("People off in a cell, at most ±", "wizard.wanted", parse, numbers.short, placeholder="50")
        with right:
            titles = {shared.title: shared.tables for shared in precision.sharings(workload)}
            tables = titles[st.selectbox("when the budget is shared by", list(titles), key=f"{project.id}:shared")]
        delta = fields.value(DELTA)
        if wanted is None or delta is None:
            return
        try:
            now = document.shares(project.draft)
            measuring, left = now.mechanism / now.rho, delta - now.delta
            epsilon = precision.round_up(precision.epsilon_for(wanted, left, unit, tables, now.accountant, measuring))
        except InputError as error:
            fields.problem(error)
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"That takes **ε = {numbers.short(epsilon)}**.", width="content")
            st.button("Use it", key="use_epsilon", icon=":material/check:", on_click=set_epsilon, args=(epsilon,))


def noise(project: Current, workload: Workload, unit: Unit, rho: float) -> None:
    """How far the cells of measured tables will be off."""
    shares = precision.sharings(workload)
    with frame.card("How exact will the tables be?", Zone.PUBLIC, "From the budget and the workload alone: the records are not looked at."):
        for column, shared in zip(st.columns(len(shares)), shares, strict=True):
            help = f"If the whole budget were spread evenly over {shared.title}. {_SHARING_HELP}"
            column.metric(capital(shared.title), f"± {numbers.people(precision.half_width(rho, unit, shared.tables))}", help=help)
        clique, cells = precision.largest(workload)[0]
        people = document.people(project.draft)
        average = f", about {numbers.count(people / cells)} people in each" if people else ""
        largest = f"The largest table, {code(' × '.join(clique))}, has {numbers.count(cells)} cells{average}."
        st.caption(f"People per cell; 95% of the cells are this close. {largest}")


def certificate(project: Current, workload: Workload, unit: Unit, rho: float) -> None:
    """The share of the budget for measuring the errors of the result. rho: that share."""
    with frame.card("How much budget measures the quality of the rows?", Zone.PUBLIC, CERTIFICATE_HELP):
        title, none = "Share of the budget for the certificate", "no certificate"
        if not fields.share(title, CERTIFICATE, SHARES, 0.0, CERTIFICATE_HELP, none):
            st.caption(
                ":material/info: Errors will only be bounded from the noisy tables: several times larger than they are, and in tables that "
                "were not measured hardly at all."
            )
            return
        tables, people = len(workload.cliques), document.people(project.draft)
        each = precision.certificate_margin(rho, unit, tables)
        mean, largest = each / math.sqrt(tables), precision.largest_margin(rho, unit)
        if people:
            margins, average, worst = f"± {each / people:.1%} of people", f"± {mean / people:.2%}", f"± {largest / people:.2%} of people"
        else:
            margins, average, worst = f"± {numbers.count(each)} people", f"± {numbers.count(mean)}", f"± {numbers.count(largest)} people"
        if tables > 1:
            margins += f" in each of the {tables:,} tables, {average} on average over all"
        st.caption(f"It will tell how many people are counted in the wrong group: {margins}; and how far off the worst count is: {worst}.")


def learning(project: Current) -> None:
    """The share of the budget that learns the values of columns that are left open, if there are any, and what is found with it."""
    unknown = document.domain(project.draft).unknown
    if not unknown:
        return
    with frame.card("What is learnt before the tables", Zone.PUBLIC):
        origin_view.share(project)
        st.caption(f"For {names([column.name for column in unknown])}, in equal parts.")
        for price in origin_view.prices(project, unknown):
            st.caption(literal(price))


def account(project: Current, shares: Shares) -> InputError | None:
    """What this population's account says; an error if the budget or the unit does not fit it."""
    name, counted, rho = project.draft["population"], shares.accountant, shares.rho
    spent = balance.spent(name, counted, document.cap(project.draft))
    cap_epsilon, cap_delta, left_over = spent.cap_epsilon, spent.cap_delta, spent.remaining_rho - rho
    error: InputError | None = accounts.mixed(name, spent.unit, UnitSpec(**project.draft["unit"]))
    help = "Losses of all releases about the same people add up; the ledger keeps the sum."
    with frame.card("What is left of the account?", Zone.PUBLIC, help):
        before, now, after = st.columns(3)
        before.metric("Spent so far", f"ε {spent.epsilon:.2f}", help=f"In {spent.releases} release(s), at δ = {numbers.short(cap_delta)}.")
        now.metric("This release", f"ε {counted.epsilon_from(rho, cap_delta):.2f}", help="At the δ of the limit.")
        remains = counted.epsilon_from(left_over, cap_delta) if left_over > 0 else 0.0
        why = f"Of the limit ε {numbers.short(cap_epsilon)}."
        after.metric("Left afterwards", "?" if error else f"ε {remains:.2f}", help=why)
        more = balance.times_more(left_over, rho) if error is None else 0
        st.caption(f"Population {code(name)}: limit ε {numbers.short(cap_epsilon)}, δ {numbers.short(cap_delta)}. {numbers.more(more)}")
        if error is None and left_over < 0:
            error = InputError("budget", "it is more than the account allows", "lower ε, or raise the limit on the Ledger page")
        if error is not None:
            frame.refused(error)
        return error


def pictures(draft: Mapping[str, Any], workload: Workload, unit: Unit, shares: Shares) -> None:
    """How the budget is divided when this plan runs; for experts, the attacker's trade-off."""
    mechanism = document.mechanism(draft)
    show(charts.split, precision.budget_split(mechanism, workload, shares, unit.total_is_public))
    if (experts := st.expander("For experts: any attacker's best test", icon=":material/policy:", key=_EXPERTS, on_change="rerun")).open:
        with experts:
            show(charts.tradeoff, precision.attacker(shares.rho, shares.slack, shares.accountant))
            st.caption(f"In all ρ = {shares.rho:.4g} ({shares.accountant.name}). Mechanism: {mechanism.card.title}.", help=RHO_HELP)
