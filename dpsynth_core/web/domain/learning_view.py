"""Learning values as a step of its own on the Domain page: a run that only learns, what it found, and what to mend before anything else.

What is drawn of a finished run is released: its noisy counts. Values that a run learnt are taken into the plan once, when it has ended, for
columns that are still open; what the curator changes afterwards stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from dpsynth_core import report
from dpsynth_core.evaluation.learnt_columns import NOTABLE, LearntColumn, learnt_columns
from dpsynth_core.foundation.zones import Zone, Zoned, released
from dpsynth_core.planning import learning_plan
from dpsynth_core.store import balance, runs
from dpsynth_core.store.runs import Run
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import LEARNT
from dpsynth_core.web.domain import domain_table, draft_rows, list_view, origin_view
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.run import launch, watch
from dpsynth_core.web.shell import document, fields, frame, numbers, refusals, session
from dpsynth_core.web.shell.numbers import short
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code, literal, names

EPSILON = "wizard.learning_epsilon"
_LEARN = "learning"
_ASKED = "_learning_asked"
_TAKEN = "learnt_by"
"""Key of the draft's wizard, and of the session: the newest run whose values were taken into the plan."""
_FOUND_HELP = (
    "These shares are noisy counts of the run that learnt the values. ± is half a 95% interval. To find rarer values, learn the column "
    "again with a larger ε."
)
_IN_WORDS = {"categorical": "categories", "numeric": "numbers"}
"""The kinds as which a column may be learnt again, in words of the page."""
_SHOWN = 12
"""Number of columns that are described in full; the others are named."""
_EPSILON_HELP = (
    "This is charged by itself, before the release. Afterwards you see what was found and how many people it covers, and every forecast "
    "rests on it."
)


def offered(project: Current) -> bool:
    """Return whether values can be learnt now: one table is chosen (not two), and the step Data is complete."""
    return "data" in project.draft and not document.is_linked(project.draft) and document.problem(project.draft, "data") is None


def begins(project: Current, rows: Sequence[ColumnDraft]) -> bool:
    """Return whether the page proposes learning first of all.

    It does if learning is possible (`offered`), a column is open, all complete columns were filled in from their
    names, the file has no labels, and no run of the project has learnt.
    """
    used = [row for row in rows if row.use and not row.is_filled]
    unknown = [row for row in used if row.problem() is not None]
    described = any(row.origin != origin_view.USUAL for row in used if row.problem() is None)
    if not unknown or described or draft_rows.labelled(project.draft) or not offered(project):
        return False
    return not any(run.only_learns for run in runs.list(project.owner, project.id))


def form(project: Current, rows: Sequence[ColumnDraft], kinds: Mapping[str, str], priced: bool) -> None:
    """Draw epsilon of a run that learns the open columns now, what it costs, and the button that spends it.

    The button starts the run, charges its epsilon, and stores the kinds in the draft. If no epsilon is entered, a
    usual one is stored.

    Args:
        project: The open project.
        rows: The columns.
        kinds: The kind of each open column, by name, as chosen on the page.
        priced: Whether the form is open, so that its price is worked out and the button drawn.
    """
    planned = project.draft["budget"].get("epsilon")
    if fields.value(EPSILON) is None and EPSILON not in project.draft["wizard"].get("typed", {}):
        fields.store(EPSILON, float(short(learning_plan.usual_epsilon(planned or 1.0))))
    read = partial(numbers.positive, field="epsilon of the learning", example="0.3")
    epsilon = fields.number("ε for learning", EPSILON, read, short, help=_EPSILON_HELP, width=120)
    if priced and epsilon is not None:
        with refusals.explained():
            _price(project, rows, kinds, epsilon, [run.id for run in runs.list(project.owner, project.id)])


@refusals.dialog("Spend this on learning?", width="medium")
def _confirm(project: Current, rows: Sequence[ColumnDraft], kinds: Mapping[str, str], epsilon: float, seen: Collection[str]) -> None:
    if _price(project, rows, kinds, epsilon, seen):
        st.rerun()


def _price(project: Current, rows: Sequence[ColumnDraft], kinds: Mapping[str, str], epsilon: float, seen: Collection[str]) -> bool:
    """Draw what learning costs and the button that spends it; return whether it was pressed."""
    spec = launch.learning_spec(project, _unknown(rows, kinds), epsilon)
    plan = document.plan_of(spec.model_dump_json())
    account = balance.spent(spec.population, plan.shares.accountant, document.cap(project.draft))
    have, cost = st.columns(2)
    have.metric("You have", f"ε {account.remaining_epsilon:.3g}")
    cost.metric("Learning spends", f"ε {short(epsilon)}")
    for price in origin_view.prices_of(plan.portions, plan.unit.max_rows_per_person):
        st.caption(f":material/query_stats: {literal(price)}")
    st.markdown(
        f"The release comes later, and is charged on top. Population {code(spec.population)}. Once the run opens the records, the charge "
        "is final. What it finds is noisy, and may be published."
    )
    learn = partial(refusals.attempt, _LEARN, partial(_start, project, rows, kinds, epsilon, seen))
    return st.button(f"Spend ε {short(epsilon)} and learn", type="primary", icon=":material/play_arrow:", width="stretch", on_click=learn)


def _start(project: Current, rows: Sequence[ColumnDraft], kinds: Mapping[str, str], epsilon: float, seen: Collection[str]) -> None:
    launch.submit_learning(project, _unknown(rows, kinds), epsilon, seen)
    draft_rows.load(partial(domain_table.of_kinds, kinds=kinds), "")


def _unknown(rows: Sequence[ColumnDraft], kinds: Mapping[str, str]) -> list[Attribute]:
    """Return the used columns without values, as columns to be learnt."""
    return [one for one in domain_table.measured(domain_table.to_learn(rows, kinds)) if one.most]


def taken(project: Current) -> Current:
    """Take what the newest run that only learnt has found into the draft, once, and return the changed project.

    Only open columns get values. If the draft states no number of people and each person has one row, the noisy
    number of records is stored as theirs. Nothing changes without such a run about the present table.
    """
    done = _done(project, runs.list(project.owner, project.id))
    if done and offered(project) and project.draft["wizard"].get(_TAKEN) != done[0].id:
        session.note(**{_TAKEN: done[0].id})
        st.session_state[_TAKEN] = done[0].id
        _use(list(_latest(project, done).values()), _found(project.owner, done[0].id).value.records)
    return session.current()


def _done(project: Current, listed: Sequence[Run]) -> list[Run]:
    """Return the finished runs that learnt from the project's present table, the newest first."""
    return [run for run in listed if run.only_learns and run.state == "done" and _same_table(run, project)]


def _latest(project: Current, done: Sequence[Run]) -> dict[str, LearntColumn]:
    """Return what these runs learnt by column, of a column that was learnt twice the newest."""
    return {one.attribute.name: one for run in reversed(done) for one in _found(project.owner, run.id).value.columns}


def section(project: Current, rows: Sequence[ColumnDraft]) -> None:
    """Draw the run that learns values while it is under way, what such runs found, and why one was refused.

    Of a column that was learnt twice, the newest result counts. Buttons beside the columns change them in the
    draft, or open a dialog that starts another run. Nothing is drawn for a project that has learnt nothing of
    its table.
    """
    if (error := refusals.taken(_LEARN)) is not None:
        frame.refused(error)
        st.caption("Learning was not started, and nothing was spent.")
    listed = runs.list(project.owner, project.id)
    if (kinds := st.session_state.pop(_ASKED, None)) is not None:
        _confirm(project, rows, kinds, float(fields.value(EPSILON)), [run.id for run in listed])
    own = [run for run in listed if run.only_learns and _same_table(run, project)]
    if own and own[0].state != "done":
        with frame.card("Learning the values", Zone.RELEASED):
            refusals.polled(watch.state, watch.POLL_SECONDS if own[0].active else None)(own[0])
    done = _done(project, listed)
    latest = _latest(project, done)
    found = [latest[row.name] for row in rows if row.use and row.name in latest]
    if not found:
        return
    used = {row.name: row for row in rows if row.use}
    open_ones = [one for one in found if domain_table.awaits(used[one.attribute.name], one)]
    waiting = [one.attribute.name for one in open_ones if one.is_learnt]
    title = f"Learnt for ε {short(done[0].spec.budget.epsilon)}" if len(done) == 1 else f"Learnt in {len(done)} runs"
    is_new, icon = st.session_state.get(_TAKEN) == done[0].id, ":material/query_stats:"
    with frame.card(title, Zone.RELEASED, _FOUND_HELP) if open_ones else st.expander(title, is_new, icon=icon):
        _lines(project, used, found)
        _proposals(used, [one for one in open_ones if not one.is_learnt], [_found(project.owner, run.id).value for run in done])
        if waiting:
            label = f"Use the values of {len(waiting)} columns" if len(waiting) > 1 else f"Use the values of {code(waiting[0])}"
            use, icon = partial(_use, found, _found(project.owner, done[0].id).value.records), ":material/check:"
            st.button(label, key="use_learnt", type="primary", icon=icon, on_click=use)


def _use(found: Sequence[LearntColumn], records: float) -> None:
    """Store the learnt values in the draft and, if it is needed, the noisy number of people.

    The number is stored, to two significant digits, if the draft states none and each person has
    one row.

    Args:
        found: The learnt columns.
        records: The noisy number of records.
    """
    draft_rows.save(partial(domain_table.with_learnt, columns=found), LEARNT)
    draft = session.current().draft
    if document.people(draft) is None and draft["unit"]["max_rows_per_person"] == 1 and records >= 1:
        fields.store("wizard.people", round(float(f"{records:.2g}")))


def _same_table(run: Run, project: Current) -> bool:
    """Return whether a run learnt from the project's present table, for the same population."""
    data = project.draft.get("data") or {}
    return run.population == project.draft.get("population") and run.spec.data.path == data.get("path")


@dataclass(frozen=True)
class _Found:
    """The learnt columns of a run, and the number of records that it measured.

    Attributes:
        columns: Its columns.
        records: The noisy number of records.
    """

    columns: tuple[LearntColumn, ...]
    records: float


@st.cache_resource(max_entries=16, show_spinner="Reading what was learnt …")
def _found(owner: str, run: str) -> Zoned[_Found]:
    """Return what a finished run learnt, cached by visitor and run."""
    evidence = report.evidence(runs.release(owner, run)).value
    return released(_Found(learnt_columns(evidence), evidence.total))


def _lines(project: Current, used: Mapping[str, ColumnDraft], found: Sequence[LearntColumn]) -> None:
    """Draw the learnt columns: those that need attention first, each with its remedy, and the others by name."""
    lost = [one for one in found if not one.is_learnt and domain_table.awaits(used[one.attribute.name], one)]
    doubtful = [one for one in found if one.is_doubtful and used[one.attribute.name].kind == one.attribute.kind]
    with st.container(gap=None):
        _remarks(project, used, lost, doubtful)
    if more := [one.attribute.name for one in (*lost[_SHOWN:], *doubtful[_SHOWN:])]:
        st.markdown(f":orange[:material/help:] Look also at {names(more)}.")
    if well := [f"{code(one.attribute.name, 40)} {one.attribute.values:,}" for one in found if one.is_learnt and not one.is_doubtful]:
        shown = ", ".join(well[:_SHOWN]) + (f" and {len(well) - _SHOWN:,} more" if len(well) > _SHOWN else "")
        st.markdown(f":green[:material/check:] The noisy counts allow that at most {NOTABLE:.0%} of the people have other values: {shown}.")


def _remarks(project: Current, used: Mapping[str, ColumnDraft], lost: Sequence[LearntColumn], doubtful: Sequence[LearntColumn]) -> None:
    """Draw a line for each column that was not learnt or leaves many people out, with buttons that mend it."""
    for one in lost[:_SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":red[:material/close:] **{literal(one.attribute.name, 40)}**: {unlearnt_sentence(one)}", width="stretch")
            _other_kind(one)
            _button("Leave out", one, {"use": False})
    for one in doubtful[:_SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":orange[:material/help:] **{literal(one.attribute.name, 40)}**: {doubtful_sentence(one)}", width="stretch")
            key, go = f"open_{one.attribute.name}", partial(list_view.go_to, project, one.attribute.name)
            if domain_table.awaits(used[one.attribute.name], one):
                _other_kind(one)
            else:
                st.button("Change it", key=key, type="tertiary", on_click=go)


def _proposals(used: Mapping[str, ColumnDraft], lost: Sequence[LearntColumn], runs_found: Sequence[_Found]) -> None:
    """Draw what is proposed for all columns that were not learnt, and one button that does it; nothing without such columns.

    A column is to be learnt again as another kind, if one is likely and no run learnt it as that kind; else it is to be left out.

    Args:
        used: The used columns by name.
        lost: The columns that were not learnt and are still open.
        runs_found: What each run found.
    """
    if not lost:
        return
    tried = {(one.attribute.name, one.attribute.kind) for found in runs_found for one in found.columns}
    again = {one.attribute.name: kind for one in lost if (kind := _likely_kind(one)) and (one.attribute.name, kind) not in tried}
    out = [one.attribute.name for one in lost if one.attribute.name not in again]
    parts = {kind: [name for name, likely in again.items() if likely == kind] for kind in _IN_WORDS}
    said = [f"learn {names(some)} again as {_IN_WORDS[kind]}" for kind, some in parts.items() if some]
    said += [f"leave out {names(out)}"] * bool(out)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**Proposed:** {'; '.join(said)}.", width="stretch")
        open_ones = {name: row.kind for name, row in used.items() if domain_table.is_open(row) and name not in out}
        take = partial(_take_proposals, out, open_ones | again, bool(again))
        st.button("Do this…" if again else "Do this", key="take_proposals", type="primary", on_click=take)


def _take_proposals(out: Collection[str], kinds: Mapping[str, str], again: bool) -> None:
    """Leave columns out, give the others their kinds, and let `section` ask whether to learn these now."""

    def change(rows: Sequence[ColumnDraft]) -> list[ColumnDraft]:
        return [row.changed(use=False) if row.name in out else row for row in domain_table.of_kinds(rows, kinds)]

    draft_rows.save(change)
    if again:
        st.session_state[_ASKED] = kinds


def _likely_kind(column: LearntColumn) -> str:
    """Return another kind as which a column can likely be learnt: "categorical", "numeric", or "" if no other kind is likely."""
    if not column.attribute.is_listed:
        return "categorical"
    return "numeric" if column.may_be_numbers else ""


def _other_kind(column: LearntColumn) -> None:
    """Draw a button that sets a column to be learnt again as another kind; nothing if no other kind is likely."""
    if kind := _likely_kind(column):
        _button(f"Learn as {_IN_WORDS[kind]}", column, {"kind": kind})


def _button(label: str, column: LearntColumn, changes: Mapping[str, object]) -> None:
    name = column.attribute.name
    change = partial(draft_rows.change_one, name, lambda draft: draft.changed(**changes))
    st.button(label, key=f"{label}_{name}", type="tertiary", on_click=change)


def unlearnt_sentence(column: LearntColumn) -> str:
    """Return a sentence on why a column counts as not learnt, with noisy shares of the people (released)."""
    found = column.attribute.values
    if column.attribute.is_number:
        return f"{column.found.words} of the people are within the bounds that were found. That is too few, or too uncertain."
    if found == 0:
        return "no value is frequent enough to be found."
    empty = f", {column.missing.words} have none" if column.missing is not None else ""
    values, have = ("1 value was", "it") if found == 1 else (f"{found:,} values were", "one of them")
    return f"{values} found. {column.found.words} of the people have {have}{empty}, and the others another value."


def doubtful_sentence(column: LearntColumn) -> str:
    """Return a sentence on the noisy share of the people outside the learnt values (released).

    Args:
        column: A learnt column whose `outside` is known.
    """
    assert column.outside is not None
    if column.attribute.is_number:
        low, high = column.attribute.scale.stated(column.attribute.lower), column.attribute.scale.stated(column.attribute.upper)
        return f"{column.outside.words} of the people have no number from {literal(low)} to {literal(high)}: one beyond, or a text."
    return f"{column.outside.words} of the people have none of the {column.attribute.values:,} values that were found: “other”."
