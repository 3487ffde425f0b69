"""The outlook of the plan before anything is spent, a coloured light at the same place on Workload, Budget and Mechanism.

Where the plan should not be good enough, or a run was not, a card lists the changes that would help: each with its expected result and a
button that changes the draft and leads to its page. All of this comes from public facts: the declared or released number of people.
"""

from __future__ import annotations

import streamlit as st

from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.evaluation.verdict import UNREAD, WITHHOLD, Verdict
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning import alternatives, expected_verdict
from dpsynth_core.planning.alternatives import Kind, Way
from dpsynth_core.planning.expected_verdict import Facts, Light, Power
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.budget import WEAK_EPSILON
from dpsynth_core.store import balance
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.domain import draft_rows, several_view
from dpsynth_core.web.domain.column_draft import NO_GROUPS, ColumnDraft
from dpsynth_core.web.mechanism import choice_view, plan_view
from dpsynth_core.web.shell import document, fields, frame, numbers, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal
from dpsynth_core.web.workload import purposes_view

HELP = (
    "These suggestions use the plan and the number of people, never the private table. Errors are estimated from our own trials on "
    "simulated tables; the range in brackets is what those missed by."
)
_LOOK = {
    Kind.MECHANISM: (":material/swap_horiz:", "Choose it", "mechanism"),
    Kind.EPSILON: (":material/balance:", "Raise ε", "budget"),
    Kind.TABLES: (":material/grid_on:", "Ask for less", "workload"),
    Kind.GROUPS: (":material/data_object:", "Widen groups", "domain"),
    Kind.COLUMNS: (":material/view_column:", "Pick columns", "domain"),
    Kind.TOGETHER: (":material/merge:", "Do both", "workload"),
}
_NOT = {
    Kind.EPSILON: f"More budget alone, up to ε {WEAK_EPSILON:g}, would not suffice with this mechanism.",
    Kind.TABLES: "Fewer or smaller tables alone would not suffice.",
    Kind.GROUPS: "Wider groups alone would not suffice.",
}
_NOTHING = (
    f"Nothing that we tried would suffice: neither more budget, up to ε {WEAK_EPSILON:g}, nor fewer or smaller tables, nor wider groups. "
    "There are too few people for this."
)


def outlook(project: Current, plan: Plan) -> Power | None:
    """Return the expected numbers of good tables of the plan, from public facts only.

    Args:
        project: The open project, whose draft states the number of people.
        plan: The plan.

    Returns:
        The numbers; None without a number of people, for a mechanism that publishes no tables, and for
        linked tables unlike our simulated ones.
    """
    known = facts(project, plan)
    return None if known is None else expected_verdict.expected(plan, known)


def facts(project: Current, plan: Plan) -> Facts | None:
    """Return the public facts on which the outlook of a plan rests: the number of people, and mechanisms to suggest.

    Returns:
        The facts; None without a number of people in the draft, for a mechanism that publishes no tables, and
        for linked tables unlike our simulated ones.
    """
    people = document.people(project.draft)
    if not people or not plan.mechanism.card.publishes_tables:
        return None
    if plan.link is not None and alternatives.linked_error(plan, people) is None:
        return None
    return Facts(people, choice_view.among(project.draft))


_TITLE = "What would help?"
_AT_ONCE = 10_000
"""Tables up to which changes that would help are worked out with the page; of more, that takes a second and waits until asked for."""
_BOX = {
    Light.GREEN: (st.success, ":material/check_circle:"),
    Light.AMBER: (st.warning, ":material/error:"),
    Light.RED: (st.error, ":material/block:"),
}


def light(project: Current) -> Plan | None:
    """Draw the light of the draft's plan, and return the plan.

    The light is a green, amber or red box about the expected quality. If the draft does not state
    the number of people, the box says so, with a link to the page Data. A mechanism that publishes no tables has
    no light. For a draft that is not complete nothing is drawn and None is returned.
    """
    try:
        plan = document.plan(project.draft, project.name)
    except InputError:
        return None
    if not shown(project, plan):
        frame.link("data", "State how many")
    return plan


def shown(project: Current, plan: Plan) -> bool:
    """Draw the light of a plan: a green, amber or red box about its expected quality.

    If the quality cannot be expected, a box says why. Nothing is drawn for a mechanism that publishes no
    tables.

    Returns:
        False if the light needs a number of people that the draft does not state; otherwise True.
    """
    people, hope = document.people(project.draft), outlook(project, plan)
    of_people = plan.link is None or plan.link.words.households == "people"
    counted = "people" if of_people else "rows in the first table"
    if hope is not None:
        box, icon = _BOX[hope.light]
        box(f"**{hope.light.capitalize()}:** with about {numbers.count(people or 0)} {counted}, {hope.told}", icon=icon)
        if hope.unknown:
            frame.link("domain", "Learn them first")
    elif plan.mechanism.card.publishes_tables:
        needed = expected_verdict.people_needed(plan.shares, plan.counted, plan.workload.cliques)
        fewest = numbers.count(float(f"{needed:.2g}"))
        known = f" With fewer than about {fewest} {counted}, noise hides whether rows are good." if needed else ""
        asked = "about how many people are in the table?" if of_people else "about how many rows does the first table have?"
        why = f"these{' two' * (not of_people)} tables are unlike all that we tried." if people else asked
        st.info(f"**No light:** {why}{known}", icon=":material/help:")
        return bool(people)
    return True


def before(project: Current, plan: Plan | None) -> None:
    """Draw changes of the plan that would help, before a run, each with a button.

    A button that was clicked changes the stored draft (`take`) and opens the page of the change;
    nothing after the call runs then. Nothing is drawn if the plan is expected to be good enough, if it is
    not complete, or if the draft states no number of people or the plan has no outlook (`outlook`).

    Args:
        project: The open project.
        plan: The plan; None if it is not complete.
    """
    if plan is not None and (people := document.people(project.draft)) and outlook(project, plan) is not None:
        _card(plan, Facts(people, choice_view.among(project.draft), left=_left(project, plan)), "")


def _left(project: Current, plan: Plan) -> float:
    """Return the rho that is left in the ledger account of the plan's population."""
    return balance.spent(plan.spec.population, plan.shares.accountant, document.cap(project.draft)).remaining_rho


def after(verdict: Verdict, headline: Headline, run: Plan) -> None:
    """Draw changes of the plan that would help, below the verdict on a finished run.

    They are drawn only if the verdict withholds the release because of its tables' noise and the draft's plan is
    complete. Nothing is drawn if the release has unread columns or failed criteria, and for two linked tables,
    because such changes do not help there. If the run's errors were larger than expected of its plan, the same
    factor is assumed for the next run. A clicked button changes the stored draft (`take`) and opens the page of the
    change; nothing after the call runs then.

    Args:
        verdict: The verdict on the release.
        headline: The headline of its quality.
        run: The plan that was run.
    """
    project = session.current()
    judged = verdict.private and not verdict.failed and not verdict.unmeasured and verdict.people >= 1
    if verdict.kind != WITHHOLD or UNREAD in verdict.causes or not judged or run.link is not None:
        return
    try:
        plan = document.plan(project.draft, project.name)
    except InputError:
        return  # the banner above says that the plan is not complete
    if plan.link is not None:
        return
    people = round(verdict.people)
    was = expected_verdict.expected(run, Facts(people))
    worse = max(1.0, headline.mean_low / was.error) if headline.certified else 1.0
    shown = verdict.sizes[0].within / verdict.sizes[0].tables if verdict.sizes[0].size == 1 else 0.0
    note = f"For about {float(f'{people:.2g}'):,.0f} people, as the release counts them. Another run is charged in addition."
    _card(plan, Facts(people, choice_view.among(project.draft), worse, _left(project, plan), shown), note)


def _card(plan: Plan, facts: Facts, note: str) -> None:
    """Draw the expected result and the changes that would help; of a plan for very many tables only where they are unfolded."""
    now = expected_verdict.expected(plan, facts)
    if now.enough and not note:
        return
    if len(plan.workload.cliques) <= _AT_ONCE:
        with frame.card(_TITLE, Zone.RELEASED if note else Zone.PUBLIC, HELP):
            _offers(plan, facts, now, note)
    elif (fold := st.expander(_TITLE, icon=":material/lightbulb:", key=f"would_help_{bool(note)}", on_change="rerun")).open:
        with fold:
            _offers(plan, facts, now, note)


def _offers(plan: Plan, facts: Facts, now: Power, note: str) -> None:
    if note:
        told = f"With the present plan and {plan.mechanism.card.title}, {now.hope} should come out good enough."
        st.markdown(literal(f"{told} {now.warning if now.hopeless else ''}".strip(), 500))
    found = _ways(plan, facts)
    for way in found:
        icon, label, page = _LOOK[way.kind]
        told, chosen = st.columns([7, 1], vertical_alignment="center")
        told.markdown(f"{icon} {literal(way.sentence, 500)}")
        if chosen.button(label, key=f"way_{way.kind}", width="stretch"):
            take(way, facts.people)
            frame.go(page)
    if now.enough:
        frame.link("mechanism", "Run it again")
    offered, tried = [way.kind for way in found], _NOT if plan.link is None else {Kind.EPSILON: _NOT[Kind.EPSILON]}
    nothing = [_NOTHING] if plan.link is None else [*tried.values()]
    without = [] if now.enough else [text for kind, text in tried.items() if kind not in offered] if offered else nothing
    if told := " ".join([*without, note]).strip():
        st.caption(told)


def take(way: Way, people: int) -> None:
    """Apply a suggested change to the draft. Fewer columns are not applied: the page Domain lets the curator pick them.

    Args:
        way: The change.
        people: The number of people on which it is based. It is stored if the draft states none.
    """
    if way.kind is Kind.COLUMNS:
        several_view.ask()
        return
    if "domain" in way.changes:
        wider = {one.name: ColumnDraft.of(one) for one in Domain.from_json(way.changes["domain"]) if one.is_number and not one.most}
        draft_rows.save(lambda drafts: [_with_groups(draft, wider) for draft in drafts])
    if "workload" in way.changes:

        def ask(draft: Draft) -> None:
            purposes_view.keep(draft)
            draft["workload"] = way.changes["workload"]

        session.edit(ask)
    if "mechanism" in way.changes:
        plan_view.choose(way.changes["mechanism"]["name"])
    if "budget" in way.changes:
        for name in ("epsilon", "certificate"):
            fields.store(f"budget.{name}", way.changes["budget"][name])
    if not document.people(session.current().draft):
        session.note(people=people)


def _with_groups(draft: ColumnDraft, wider: dict[str, ColumnDraft]) -> ColumnDraft:
    if not draft.use or draft.name not in wider:
        return draft
    return draft.changed(**{name: getattr(wider[draft.name], name) for name in NO_GROUPS})


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs={Plan: lambda plan: plan.spec.model_dump_json()})
def _ways(plan: Plan, facts: Facts) -> tuple[Way, ...]:
    return alternatives.ways(plan, facts)
