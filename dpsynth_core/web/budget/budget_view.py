"""Parts of the Budget page: the amount and its meaning, the noise, the budget's division and the population's account.

The page also shows example sentences about the project's own columns, which change as epsilon is dragged. All of this comes from public
facts and invented people.
"""

from __future__ import annotations

import math
from functools import partial

import pandas as pd
import streamlit as st

from dpsynth_core import charts
from dpsynth_core.evaluation.verdict import LIMIT
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone, Zoned
from dpsynth_core.planning import epsilon_curve, precision, weakness
from dpsynth_core.planning import example_statements as sentences
from dpsynth_core.planning.example_statements import Told
from dpsynth_core.planning.expected_verdict import Facts
from dpsynth_core.planning.plan import Plan, Shares
from dpsynth_core.planning.spec import StandinSpec
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy import attacker, meaning
from dpsynth_core.privacy import budget as budgets
from dpsynth_core.privacy.unit import ADD_REMOVE, Unit
from dpsynth_core.sources import simulated
from dpsynth_core.store import accounts, balance
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.web.domain import origin_view
from dpsynth_core.web.shell import additions, document, fields, frame, numbers
from dpsynth_core.web.shell.figures import show
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import capital, code, literal, names

EPSILON, DELTA, CERTIFICATE = "budget.epsilon", "budget.delta", "budget.certificate"
SHARES = (0.0, 0.02, 0.05, 0.1, 0.2)
"""Shares of the budget offered for the certificate."""
DRAGGED = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Values of epsilon on the slider and in the chart, besides the chosen one."""
EPSILON_HELP = (
    "ε limits how far the odds about any one person can move: at most by the factor e to the power of ε, either way. Lower is more private."
)
DELTA_HELP = "δ is the largest chance that the promise of ε fails. Choose it far below one in the number of people: 1e-9 is customary here."
CERTIFICATE_HELP = (
    "When the rows are final, this share of the budget measures how far every table of them is from the private one. "
    "The measured errors, each with the bound that it stays below, are published with the rows."
)
FOUND_HELP = (
    "An attacker tests who is in the table, and accuses this share of the others wrongly. No test finds more members than stated; "
    "guessing finds as many as it accuses wrongly."
)
RHO_HELP = (
    "ρ is the budget in the unit in which the parts of a run add up: ρ of zero-concentrated differential privacy (zCDP), or μ²/2 of "
    "Gaussian differential privacy (GDP) where nearly all noise is Gaussian."
)
_BOUGHT_HELP = (
    "The forecast rests on the plan, the number of people, and our own trials on simulated tables; brackets are what those missed by. The "
    "records are not read."
)
_DRAWN = 20_000
"""The most invented people; their shares stand for the shares of a larger population."""
_SPEAKING_HELP = (
    "These numbers are of invented people with your columns: your records are not read. Numbers will be this exact if all tables share "
    "the budget equally: 95% of them are this close."
)
_SHARING_HELP = (
    "AIM measures only the tables that matter most, and fits a model to them: overlapping tables tell about each other, so that large "
    "tables come out better than this."
)


def amount(project: Current, plan: Plan | None, facts: Facts | None) -> None:
    """Draw epsilon, typed or dragged, and what it buys; both ways store it in the draft.

    A sentence says what epsilon means for one person. For an epsilon above 10 and a real table, a field for the
    published reason follows. With a plan and facts, another sentence and a chart of other values of epsilon say
    what it buys for the tables.

    Args:
        project: The open project.
        plan: The plan; None while it is not complete.
        facts: The public facts on which errors are forecast; None without a forecast.
    """
    with frame.card("How strongly should each person be protected?", Zone.PUBLIC):
        left, right = st.columns([1, 1], gap="medium")
        with left:
            epsilon = fields.number("ε (epsilon)", EPSILON, partial(_read, field=EPSILON, example="1"), numbers.short, help=EPSILON_HELP)
            now, delta = fields.value(EPSILON), fields.value(DELTA)
            look = {"format_func": lambda e: f"ε {numbers.short(e)}", "label_visibility": "collapsed"}
            if now is not None:
                fields.linked("dragged_epsilon", now, set_epsilon, st.select_slider, "Drag ε", sorted({*DRAGGED, now}), **look)
            if epsilon is not None and delta is not None:
                _meaning(project, epsilon, delta)
        if plan is not None and facts is not None and epsilon is not None:
            with left:
                one = epsilon_curve.bought(plan, facts, epsilon)
                st.markdown(epsilon_curve.sentence(one, plan.who), help=_BOUGHT_HELP)
            with right:
                show(charts.bought, _curve(plan, facts, tuple(sorted({*DRAGGED, epsilon}))), epsilon, LIMIT)


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs={Plan: lambda plan: plan.spec.model_dump_json()})
def _curve(plan: Plan, facts: Facts, epsilons: tuple[float, ...]) -> Zoned[pd.DataFrame]:
    return epsilon_curve.curve(plan, facts, epsilons)


def _read(text: str, field: str, example: str) -> float:
    """Return epsilon or delta from a text.

    The number is checked together with the default of the other one, which may not be known yet.
    Raises InputError if it is not valid.

    Args:
        text: The text.
        field: `EPSILON` or `DELTA`.
        example: A valid text, for the error.
    """
    number, usual = numbers.positive(text, field, example), document.DEFAULT_BUDGET
    budgets.check_budget(*((number, usual["delta"]) if field == EPSILON else (usual["epsilon"], number)))
    return number


def set_epsilon(epsilon: float | None) -> None:
    """Save an epsilon that was picked in the open project's draft.

    Args:
        epsilon: The epsilon; None, from a choice that was clicked away, changes nothing.
    """
    if epsilon is not None:
        fields.store(EPSILON, epsilon)


def _meaning(project: Current, epsilon: float, delta: float) -> None:
    shares = document.shares(project.draft)
    odds = _odds(shares)
    added = project.draft["unit"]["relation"] == ADD_REMOVE
    question = "a person’s presence" if added else "which of two records is a person's"
    alone = _at_most(attacker.posterior_odds(epsilon, delta))
    however = "This holds whatever else they know."
    help = f"The accounting of a run ({shares.accountant.name}) shows this. ε and δ alone promise only: {alone}."
    st.markdown(f"Someone **50:50** about {question} can end up {_at_most(odds.guess)}.", help=f"{however} {help}")
    for warning in budgets.check_budget(epsilon, delta):
        st.warning(literal(capital(warning)), icon=":material/warning:")
    if document.needs_reason(project.draft):
        help = "Write a sentence. It is published with the release, in the report and the data card."
        example = "The counts are published already; this release adds the rows that go with them."
        fields.paragraph("Why is so large an ε right for these people?", weakness.FIELD, placeholder=example, max_chars=10_000, help=help)
        with fields.minded():
            weakness.check(document.budget(project.draft))


def can_be_divided(error: InputError | None) -> bool:
    """Return whether the division of the budget can be shown in spite of an error.

    It can if the error is only about the reason for a large epsilon, a criterion or a column to
    predict.

    Args:
        error: The error of the step Budget; None, for which the result is True, if it has none.
    """
    return error is None or error.field == weakness.FIELD or error.field.startswith((document.CRITERION, "models"))


def _at_most(share: float) -> str:
    if share >= 0.9995:
        return "**all but certain**"
    return f"at most **{share:.0%}** right" if share <= 0.99 else f"at most **{share:.1%}** right"


def speaking(project: Current, workload: Workload, unit: Unit, sound: bool) -> None:
    """Draw an expander with example statements and a field that finds epsilon for an accuracy.

    The field's button stores the epsilon that was found in the draft.

    Args:
        project: The open project.
        workload: The workload.
        unit: The unit of privacy.
        sound: Whether the budget is valid. The example statements are drawn only if it is, and never for two
            linked tables or while values of a column are still to be learnt.
    """
    with st.expander("Examples at this ε", icon=":material/record_voice_over:", key=f"{project.id}:speaking"):
        if sound and not document.is_linked(project.draft):  # of whose pairs no people are invented
            _speak(project, workload, unit)
        _accuracy(project, workload, unit)


def _speak(project: Current, workload: Workload, unit: Unit) -> None:
    """Draw example statements with their noise at the chosen epsilon and at half this epsilon.

    Nothing is drawn while epsilon is invalid or a column's values are still to be learnt.

    Args:
        project: The open project.
        workload: The workload.
        unit: The unit of privacy.
    """
    now = fields.value(EPSILON)
    if now is None or workload.domain.unknown:
        return
    people = document.people(project.draft) or StandinSpec().rows
    try:
        sigma, less = (_sigma(project, workload, unit, epsilon) for epsilon in (now, now / 2))
    except InputError:  # half of the smallest there is; the field above says what is wrong with any other
        return
    for one in _told(workload.domain, sentences.tables(workload), people):
        said = literal(sentences.sentence(one, sigma, less, now / 2), 1000)
        st.markdown("- " + said.replace("± ", "±\N{NO-BREAK SPACE}").replace("ε ", "ε\N{NO-BREAK SPACE}"))
    tables = len(workload.cliques)
    shared = f"; all {tables:,} tables share the budget equally" if tables > 1 else ""
    st.caption(f"These are {people:,} invented people{shared}.", help=_SPEAKING_HELP)


def _sigma(project: Current, workload: Workload, unit: Unit, epsilon: float) -> float:
    draft = {**project.draft, "budget": {**project.draft["budget"], "epsilon": epsilon}}
    return precision.sigma(document.shares(draft).mechanism, unit, len(workload.cliques))


@st.cache_data(max_entries=16, show_spinner=False, **document.BY_DOMAIN)
def _told(domain: Domain, tables: tuple[Clique, ...], people: int) -> tuple[Told, ...]:
    kept = domain.keep({name for clique in tables for name in clique})
    codes = simulated.simulate(kept, min(people, _DRAWN), StandinSpec().strength)
    counts = row_marginals(kept, codes, tables)
    return sentences.told(kept, {clique: table * (people / len(codes)) for clique, table in counts.items()})


@fields.minded()
def _accuracy(project: Current, workload: Workload, unit: Unit) -> None:
    """Draw a field for the largest error of a cell, in people, and the epsilon that it needs.

    The needed epsilon, rounded up, is drawn once an error is entered and delta is valid; its button
    stores it in the draft. The entered error itself is a note of the wizard, not part of the plan.

    Args:
        project: The open project.
        workload: The workload.
        unit: The unit of privacy.
    """
    left, right = st.columns(2)
    with left:
        parse = partial(numbers.positive, field="accuracy", example="50")
        wanted = fields.number("Largest error of a cell, in people", "wizard.wanted", parse, numbers.short, placeholder="50")
    with right:
        titles = {shared.title: shared.tables for shared in precision.sharings(workload)}
        tables = titles[st.selectbox("if the budget is shared by", list(titles), key=f"{project.id}:shared")]
    delta = fields.value(DELTA)
    if wanted is None or delta is None:
        return
    now = document.shares(project.draft)
    measuring, left = now.mechanism / now.rho, delta - now.delta
    epsilon = precision.round_up(precision.epsilon_for(wanted, left, unit, tables, now.accountant, measuring))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"You need **ε = {numbers.short(epsilon)}**.", width="content")
        st.button("Use it", key="use_epsilon", icon=":material/check:", on_click=set_epsilon, args=(epsilon,))


def details(project: Current, workload: Workload, unit: Unit, shares: Shares | None) -> None:
    """Draw the field for delta and, if the budget is valid, what it buys, in an expander, and what extensions have for it.

    It buys how many members the best attacker finds, the noise of the tables and the division of
    the budget. The expander starts closed if the budget is valid, else open.

    Args:
        project: The open project; the field stores delta in its draft.
        workload: The workload.
        unit: The unit of privacy.
        shares: The division of the budget; None while the budget is not valid.
    """
    delta = fields.value(DELTA)
    title = f"δ {'?' if delta is None else numbers.short(delta)}, noise, shares of the budget"
    with st.expander(title, shares is None, icon=":material/tune:", key=f"{project.id}:budget_details_{shares is None}"):
        fields.number("δ (delta)", DELTA, partial(_read, field=DELTA, example="1e-9"), numbers.short, help=DELTA_HELP)
        if shares is not None:
            at_1 = 100 * _odds(shares).at_1
            found = f"An attacker who accepts 1 wrong accusation in 100 finds at most {at_1:.1f} of 100 members. Guessing finds 1."
            st.caption(found, help=FOUND_HELP)
            _noise(project, workload, unit, shares.mechanism)
            mechanism = document.mechanism(project.draft)
            show(charts.split, precision.budget_split(mechanism, workload, shares, unit.total_is_public))
            st.caption(f"Planned parts: {precision.budget_sentence(mechanism, workload, shares, unit.total_is_public)}.")
            icon, key = ":material/policy:", "budget_experts"
            if (experts := st.expander("For experts: the best test of any attacker", icon=icon, key=key, on_change="rerun")).open:
                with experts:
                    show(charts.tradeoff, precision.attacker(shares.rho, shares.slack, shares.accountant))
                    st.caption(f"The whole budget is ρ = {shares.rho:.4g} ({shares.accountant.name}).", help=RHO_HELP)
        additions.draw("budget_details", project)


def _odds(shares: Shares) -> attacker.Reading:
    return meaning.reading(shares.accountant, shares.rho, shares.slack)


def _noise(project: Current, workload: Workload, unit: Unit, rho: float) -> None:
    shares = precision.sharings(workload)
    st.markdown("**How exact will the tables be?**", help="This follows from the budget and the workload: the records are not read.")
    for column, shared in zip(st.columns(len(shares)), shares, strict=True):
        help = f"This spreads the whole budget evenly over {shared.title}. {_SHARING_HELP}"
        column.metric(capital(shared.title), f"± {numbers.people(precision.half_width(rho, unit, shared.tables))}", help=help)
    clique, cells = precision.largest(workload)[0]
    people = document.people(project.draft)
    average = f", about {numbers.count(people / cells)} people in each" if people else ""
    largest = f"The largest table, {code(' × '.join(clique))}, has {numbers.count(cells)} cells{average}."
    st.caption(f"95% of the cells are this close, in people. {largest}")


def certificate(project: Current, workload: Workload, unit: Unit, shares: Shares) -> None:
    """Draw the certificate's share of the budget, and the margins of the measured errors.

    The chosen share, a fraction, is saved in the draft; without a share, a sentence says what stays
    unknown. Margins hold with 95 % confidence each. They are shares of the people (or households) if
    their number is stated, and otherwise counts.

    Args:
        project: The open project.
        workload: The workload.
        unit: The unit of privacy.
        shares: The division of the budget, in rho.
    """
    title, none = "Share of the budget that measures the quality of the rows", "no certificate"
    link = document.link(project.draft) if document.is_linked(project.draft) else None
    if not fields.share(title, CERTIFICATE, SHARES, 0.0, CERTIFICATE_HELP, none):
        st.caption(f":material/info: {precision.without_certificate(link)}")
        return
    tables, people, rho = len(workload.cliques), document.people(project.draft), shares.of("certificate")
    each = precision.certificate_margin(rho, unit, tables)
    who = "people" if link is None else link.words.households
    mean, largest = each / math.sqrt(tables), precision.largest_margin(rho, unit)
    if people:
        margins, average, worst = f"± {each / people:.1%} of {who}", f"± {mean / people:.2%}", f"± {largest / people:.2%} of {who}"
    else:
        margins, average, worst = f"± {numbers.count(each)} {who}", f"± {numbers.count(mean)}", f"± {numbers.count(largest)} {who}"
    if tables > 1:
        margins += f" in each of the {tables:,} tables, {average} on average over all"
    st.caption(f"You will know how many {who} are counted in the wrong group, {margins}, and the error of the worst count, {worst}.")


def learning(project: Current) -> None:
    """Draw the share of the budget that learns values, and how many people must share a learnt value.

    A chosen share is stored in the draft. Nothing is drawn if all columns have declared values.

    Raises:
        InputError: The draft's domain is missing or wrong, or its budget cannot be used.
    """
    unknown = document.domain(project.draft).unknown
    if not unknown:
        return
    with frame.card("What is learnt before the tables", Zone.PUBLIC):
        origin_view.share(project)
        st.caption(f"{names([column.name for column in unknown])} share it equally.")
        for price in origin_view.prices(project, unknown):
            st.caption(literal(price))


def account(project: Current, shares: Shares) -> InputError | None:
    """Draw the state of the population's ledger account in one line. Nothing is charged, and no account is opened.

    Args:
        project: The open project. If the ledger has no account of its population, the line is about an empty one
            with the draft's limit.
        shares: The division of the budget, in rho.

    Returns:
        The error, also drawn, if the budget exceeds the account or the unit of privacy differs from
        the account's; otherwise None.

    Raises:
        BooksLost: The ledger is not whole.
    """
    name, counted, rho = project.draft["population"], shares.accountant, shares.rho
    spent = balance.spent(name, counted, document.cap(project.draft))
    cap, left_over = numbers.short(spent.cap_epsilon), spent.remaining_rho - rho
    error: InputError | None = accounts.mixed(name, spent.unit, UnitSpec(**project.draft["unit"]))
    if error is None and left_over < 0:
        error = InputError("budget", "this budget is more than the account allows", "lower ε, or raise the limit on the Ledger page")
    if error is not None:
        frame.refused(error)
        return error
    more = balance.times_more(left_over, rho)
    before = f", {spent.epsilon:.2f} of it spent" if spent.releases else ""
    charged, at = f"{counted.epsilon_from(rho, spent.cap_delta):.2f}", numbers.short(spent.cap_delta)
    help = f"Losses of all releases about the same people add up. At the δ of the limit, {at}, this one is ε {charged}. {numbers.SLOWLY}"
    st.caption(f":material/account_balance: Limit for {code(name)}: ε {cap}{before}. {numbers.more(more)}", help=help)
    return None
