"""Part of the Budget page: criteria that the rows must meet, fixed before the run, as a list and a panel for the chosen criterion."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.claims.criteria import deciding as words
from dpsynth_core.claims.criteria.criteria import CRITERIA
from dpsynth_core.claims.criteria.criterion import Entry as Holds
from dpsynth_core.claims.criteria.criterion import Field
from dpsynth_core.claims.criteria.models import ModelCriterion
from dpsynth_core.claims.criteria.outcomes import MUST, SHOULD
from dpsynth_core.claims.criteria.registry import KINDS, AnyCriterion, need_models
from dpsynth_core.claims.criteria.tables import TablesWithin
from dpsynth_core.claims.models import targets as models
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning.plan import Shares
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.evidence import label
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.predictors import LINEAR
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.web.shell import document, fields, frame, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal, one_line

SHARE = "budget.criteria"
_SHARES = (0.02, 0.05, 0.1, 0.2)
_HELP = (
    "Criteria are sealed with the plan. When the rows are final, each is measured with an equal part of this share of the budget, and "
    "published as met, not met or undecided. If a “must” is not met, the verdict is “do not publish”."
)


def criteria(project: Current, workload: Workload, unit: Unit, shares: Shares) -> None:
    """Draw the list of criteria, the form of the chosen one, and buttons to add and remove one.

    Criteria and their share of the budget are stored in the draft; which one is chosen, in the
    session. Without criteria a sentence says so.

    Args:
        project: The open project.
        workload: The workload.
        unit: The unit of privacy.
        shares: The division of the budget.
    """
    entries = listed(project.draft)
    with frame.card("What must the rows be good enough for?", Zone.PUBLIC, _HELP):
        if entries:
            if shares.of("criteria"):
                fields.share("Share of the budget for criteria", SHARE, _SHARES, CRITERIA.share.default, _HELP)
            chosen = _chosen(project, entries)
            _panel(workload, entries[chosen], chosen)
            _precision(project, workload, unit, shares, chosen)
            entry = entries[chosen]
            button = f"{project.id}:criterion_remove"

            def take_away() -> None:
                session.edit(partial(remove, number=chosen, entry=entry))
                st.session_state[f"{project.id}:criterion"] = max(0, chosen - 1)

            st.button("Remove this criterion", icon=":material/delete:", key=button, on_click=take_away)
        else:
            st.caption("You have set no criteria. After the run you will judge the rows by their errors.")

        def add() -> None:
            if len(listed(session.current().draft)) == len(entries):  # a second click adds no second one
                session.edit(lambda draft: draft.update(criteria=[*listed(draft), new(TablesWithin.kind)]))
            st.session_state[f"{project.id}:criterion"] = len(entries)

        st.button("Add a criterion", icon=":material/add:", key=f"{project.id}:criterion_add", on_click=add)


def _chosen(project: Current, entries: list[Entry]) -> int:
    """Draw the list of criteria, and return the position of the chosen one, from 0.

    The widget's key contains the titles: with a fixed key, a list whose titles change would show no
    criterion as chosen.
    """
    titles = [title(number, entry) for number, entry in enumerate(entries)]
    chosen = min(st.session_state.get(f"{project.id}:criterion", 0), len(entries) - 1)
    key = f"{project.id}:criteria:{titles}"

    def changed() -> None:
        st.session_state[f"{project.id}:criterion"] = st.session_state[key]

    numbers = list(range(len(entries)))
    return int(st.radio("Criteria", numbers, chosen, format_func=lambda one: literal(titles[one]), key=key, on_change=changed))


def _panel(workload: Workload, entry: Entry, number: int) -> None:
    known, key = entry["kind"] if entry.get("kind") in KINDS else TablesWithin.kind, f"criterion:{number}:kind"

    def take(kind: str) -> None:
        _edit(number, partial(new, kind))

    kind = str(fields.linked(key, known, take, st.selectbox, "It is about", list(KINDS), format_func=lambda one: KINDS[one].title))
    ask, form = partial(_ask, workload, entry, number), KINDS[kind].form
    left, right = st.columns(2)
    with left:
        for field in form:
            if field.usual is not None:
                ask(field)
    with right:
        choices: dict[str, Any] = {"options": [MUST, SHOULD], "required": True}
        _field(number, "importance", st.segmented_control, "Importance", entry.get("importance", MUST), **choices)
    for field in form:
        if field.usual is None:
            ask(field)
    _field(number, "name", st.text_input, "Its name (optional, published)", entry.get("name", ""), max_chars=200)


def _ask(workload: Workload, entry: Entry, number: int, field: Field) -> None:
    """Draw a field of a criterion's form; nothing if the field is a choice without options.

    Args:
        workload: The workload.
        entry: The criterion, as in the draft.
        number: The position of the criterion, from 0.
        field: The field of the form.
    """
    if field.holds is Holds.PEOPLE:
        _condition(workload, entry, number, field)
    elif field.holds in _AMOUNTS:
        percent, of_limit = field.holds is not Holds.AMOUNT, field.holds is not Holds.QUANTILE
        factor, usual, least = 100 if percent else 1, 0.0 if of_limit else 0.5, field.least if of_limit else 0.001
        most = (99.0 if of_limit else 99.9) if percent else None
        look: dict[str, Any] = {"min_value": factor * least, "max_value": most, "step": 1.0, "format": "%g"}
        stated = factor * float(entry.get(field.name, usual))
        _field(number, field.name, st.number_input, field.label, stated, lambda entered: round(entered / factor, 9), **look)
    elif field.holds is Holds.TABLES:
        by_label = {one_line(label(clique)): list(clique) for clique in workload.cliques}
        stated_tables = [sorted(table) for table in entry.get(field.name, [])]
        chosen = [name for name, clique in by_label.items() if sorted(clique) in stated_tables]
        look = {"options": list(by_label), "placeholder": "every table of the workload"}
        _field(number, field.name, st.multiselect, field.label, chosen, lambda names: [by_label[name] for name in names], **look)
    else:
        _choice(workload.domain, entry, number, field)


_AMOUNTS = (Holds.PERCENT, Holds.AMOUNT, Holds.QUANTILE)


def _choice(domain: Domain, entry: Entry, number: int, field: Field) -> None:
    """Draw a field for a column, several columns, a model, or the tolerance of a model's guesses.

    Nothing is drawn if there are no options. The arguments are as in `_ask`.
    """
    column, value = entry.get("column"), entry.get(field.name)
    known = models.models_of(domain[str(column)]) if column in domain else ()  # models of the column that is guessed, once there is one
    numbers = [a.name for a in domain if models.is_quantity(a) and not a.most]
    widget: Any = st.selectbox
    look: dict[str, Any] = {"options": numbers, "format_func": one_line}
    if field.holds is Holds.NUMBERS:
        taken = [entry.get(one.name) for one in KINDS[entry["kind"]].form if one.holds is Holds.NUMBER]
        free = [name for name in numbers if name not in taken]
        widget, value = st.multiselect, [name for name in entry.get(field.name, []) if name in free]
        look |= {"options": free, "max_selections": field.most, "placeholder": "nothing"}
    elif field.holds is Holds.PREDICTED:
        look["options"] = models.predictable(domain)
    elif field.holds is Holds.MODEL and known:
        model = entry.get(field.name, known[0])
        value, look = model if model in known else None, {"options": known}
    elif field.holds is Holds.NEAR and LINEAR in known:
        widget, look = st.number_input, {"min_value": 1e-9, "format": "%g", "placeholder": "as under “Columns to predict”"}
    elif field.holds is not Holds.NUMBER or not numbers:
        return
    _field(number, field.name, widget, field.label, value, **look)


def _condition(workload: Workload, entry: Entry, number: int, field: Field) -> None:
    domain, stated = workload.domain, entry.get(field.name, {})
    names = [a.name for a in domain if not a.most]

    def take(change: Callable[[Entry], Entry]) -> None:
        _edit(number, lambda now: stated_anew(now, {field.name: change(now.get(field.name, {}))}))

    def picked(columns: list[str]) -> None:
        take(lambda now: {column: now.get(column, []) for column in columns})

    def said(column: str, cells: list[Any]) -> None:
        take(lambda now: now | {column: cells})

    look: dict[str, Any] = {"options": names, "format_func": one_line, "placeholder": "columns"}
    key, meant = f"criterion:{number}:{field.name}", [column for column in stated if column in names]
    for column in fields.linked(key, meant, picked, st.multiselect, field.label, **look):
        labels, given = list(domain[column].cell_labels()), stated[column]
        values = given if isinstance(given, list) else [given]  # a range, say, is shown as it is until it is changed
        look = {"options": labels + [value for value in values if value not in labels], "format_func": one_line}
        fields.linked(f"{key}:{column}", values, partial(said, column), st.multiselect, one_line(column), **look)


def _field(number: int, name: str, widget: Any, title: str, value: Any, kept: Callable[[Any], Any] = lambda one: one, **look: Any) -> None:
    """Draw a widget for an entry of a criterion, which is saved in the draft when it changes.

    Args:
        number: The position of the criterion, from 0.
        name: The name of the entry.
        widget: The Streamlit function that draws the widget.
        title: The label.
        value: The value to show.
        kept: Converts the entered value to the stored value.
        **look: Further arguments of the widget.
    """
    if value is None:
        look["index" if "options" in look else "value"] = None

    def take(entered: Any) -> None:
        _edit(number, lambda now: stated_anew(now, {name: kept(entered)}))

    fields.linked(f"criterion:{number}:{name}", value, take, widget, title, **look)


@session.edits
def _edit(draft: Draft, number: int, change: Callable[[Entry], Entry]) -> None:
    """Change the criterion at position `number` of the draft; do nothing if it was removed meanwhile."""
    if number < len(entries := listed(draft)):
        draft["criteria"] = [*entries[:number], change(entries[number]), *entries[number + 1 :]]


@fields.minded()
def _precision(project: Current, workload: Workload, unit: Unit, shares: Shares, number: int) -> None:
    alone = {**project.draft, "criteria": project.draft["criteria"][number : number + 1]}
    (criterion,) = document.criteria(alone)
    document.targets(alone)
    st.markdown(literal(words.asked(criterion, workload.domain), 600))
    rho = part(shares, project.draft, criterion)
    partial = is_partial(project.draft["criteria"][number])
    st.caption(literal(precision(criterion, unit, rho, workload, document.people(project.draft), partial), 600))


Entry = dict[str, Any]

_SMALL = 10
"""The precision is also given for a group of one person in this many."""
EXAMPLE_PEOPLE = 1000
"""The number of people for which precision is given if the curator stated no number."""


def new(kind: str, entry: Mapping[str, Any] | None = None) -> Entry:
    """Return a new criterion of a kind, as in the draft, with the defaults of the kind's form.

    Args:
        kind: The name of the kind; an unknown one raises KeyError.
        entry: A criterion whose importance and name are taken over; None for importance "must" and no name.
    """
    kept = {name: entry[name] for name in ("importance", "name") if name in entry} if entry else {"importance": MUST}
    return {"kind": kind, **kept} | {field.name: field.usual for field in KINDS[kind].form if field.usual is not None}


def listed(draft: Mapping[str, Any]) -> list[Entry]:
    """Return copies of the draft's criteria, in order; [] if it has none."""
    return [dict(entry) for entry in draft.get("criteria", ())]


def stated_anew(entry: Entry, changes: Mapping[str, Any]) -> Entry:
    """Return a copy of a criterion with changed entries. Entries that are None, [] or {} are left out."""
    return {name: value for name, value in (entry | dict(changes)).items() if value not in (None, [], {})}


def remove(draft: Draft, number: int, entry: Entry) -> None:
    """Remove the criterion at position `number`, from 0, of the draft if it still equals `entry`.

    Otherwise nothing changes: a second click on the button does not remove the next criterion of the list.
    """
    entries = listed(draft)
    if entries[number : number + 1] == [entry]:
        draft["criteria"] = entries[:number] + entries[number + 1 :]


def title(number: int, entry: Mapping[str, Any]) -> str:
    """Return the title of a criterion in the list, as "1. NAME (must)". A name in it is hostile text.

    Args:
        number: The position of the criterion, from 0; the title counts from 1.
        entry: The criterion, as in the draft. Without a name, the title of its kind is shown.
    """
    kind = KINDS.get(str(entry.get("kind")))
    return f"{number + 1}. {entry.get('name') or ('Unknown' if kind is None else kind.title)} ({entry.get('importance', MUST)})"


def part(shares: Shares, draft: Mapping[str, Any], criterion: AnyCriterion) -> float:
    """Return the rho that measures whether a criterion of the draft is met.

    The criteria's share of the budget is divided equally between the criteria that are not about models. A criterion
    about models has a part of the models' share, which is divided equally between the predicted columns.

    Args:
        shares: The division of the budget, in rho.
        draft: The draft.
        criterion: The criterion, one of the draft's.
    """
    entries = listed(draft)
    by_models = need_models(entries)
    if not isinstance(criterion, ModelCriterion):
        return shares.of("criteria") / max(1, by_models.count(False))
    asked = [*draft.get("models", ()), *(entry for entry, by_model in zip(entries, by_models, strict=True) if by_model)]
    return shares.of("models") / len({one.get("column") for one in asked})


def is_partial(entry: Mapping[str, Any]) -> bool:
    """Return whether a criterion is about a group of people, and is measured less precisely for a smaller group.

    Args:
        entry: The criterion, as in the draft; an unknown kind raises KeyError.
    """
    kind = KINDS[str(entry.get("kind"))]
    groups = (field.name for field in kind.form if field.holds is Holds.PEOPLE and field.name != "of")
    return kind.by_size and any(entry.get(name) for name in groups)


def precision(criterion: AnyCriterion, unit: Unit, rho: float, workload: Workload, people: int | None, partial: bool) -> str:
    """Return a sentence on the margin of the measurement that decides a criterion, before the run.

    If the margin is too large to decide, the sentence says so and what to do.

    Args:
        criterion: The criterion.
        unit: The unit of privacy.
        rho: The criterion's part of the budget, in rho.
        workload: The workload.
        people: The number of all people; None for 1,000 (`EXAMPLE_PEOPLE`).
        partial: Whether the criterion is about a group (see `is_partial`). The size of the group is secret, so
            the sentence gives margins for a group of nearly all people and for one of a tenth.
    """
    count = people or EXAMPLE_PEOPLE
    margin = criterion.margin(unit, rho, workload, count)
    hopeless = not math.isfinite(margin) or criterion.hopeless(margin)
    if not math.isfinite(margin):
        more = (10 ** (step / 10) * count for step in range(1, 41))
        needed = next((people for people in more if math.isfinite(criterion.margin(unit, rho, workload, people))), 0.0)
        from_where = f" About {float(format(needed, '.2g')):,.0f} people would be needed." if needed else ""
        return f"With {count:,} people, noise always leaves it undecided.{from_where} {_ADVICE}"
    if partial:
        few = _told(criterion, criterion.margin(unit, rho, workload, count / _SMALL))
        group = f"The size of the group is secret. If it has nearly all {count:,} people, the measurement is uncertain by about "
        return f"{group}{_told(criterion, margin)}; if it has one in {_SMALL}, by {few}." + (f" {_ADVICE}" if hopeless else "")
    known = f"With {count:,} people, the measurement is uncertain by"
    if hopeless:
        return f"{known} {_told(criterion, margin)}, however good the rows are. {_ADVICE}"
    return f"{known} about {_told(criterion, margin)}. {criterion.rule(margin)}"


def _told(criterion: AnyCriterion, margin: float) -> str:
    hopeless = not math.isfinite(margin) or criterion.hopeless(margin)
    return f"± {criterion.uncertainty(margin)}" + (", so much that it can hardly come out as met" if hopeless else "")


_ADVICE = "Give it a larger share of the budget, set fewer criteria, or ask for less."
