"""Part of the Domain page: combinations that cannot occur, stated as sentences or ticked in a grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import streamlit as st

from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.kinds.dates import Days
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.zeros import edges_at_ranges
from dpsynth_core.web.domain import domain_table, draft_rows, zeros_table
from dpsynth_core.web.domain.column_draft import NO_GROUPS, ColumnDraft
from dpsynth_core.web.domain.zeros_table import Cell
from dpsynth_core.web.shell import document, frame, kept_rules, session
from dpsynth_core.web.shell.fields import editor_key
from dpsynth_core.web.shell.fields import problem as quiet_problem
from dpsynth_core.web.shell.kept_rules import Rule
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal, names, one_line

WAYS = {"sentence": "Say it in a sentence", "order": "Put columns in order", "grid": "Tick it in a grid"}
OF_LINKED = {"sentence": WAYS["sentence"], "number": "Say how many members", "older": "Compare two members", "grid": WAYS["grid"]}
OF_LAYOUT = {"sentence": WAYS["sentence"], "grid": WAYS["grid"]}
_OF_HOUSEHOLDS = (
    "State what everybody knows without looking at the tables: a household has one head, and a child is younger than its mother."
)
_OF_LAYOUT = (
    "State what is impossible by nature or by law, from public knowledge, of a row, its place among the rows of its person, and the row "
    "before: if “last row” is “no”, nobody has died."
)
EXACTLY, AT_MOST = "exactly", "at most"
ORDERS = {"at_most": "is at most, or not after", "below": "is always below, or before"}
MUST, NEVER = "must be", "is never"
ANY = "(two columns only)"
HELP = (
    "Synthetic rows never show them, and learning them costs no budget. A record of your table that breaks a rule changes nothing and is "
    "not reported: that would be a fact about a person."
)
CUT_HELP = "Groups of the column then begin and end where the range of this rule does. State rules again that name a group that is cut."
_ZEROS = "zeros"
_LISTED = 8
"""Numbers with at most this many values are picked from a list, like categories; more are picked as a range."""


def section(project: Current, rows: Sequence[ColumnDraft]) -> None:
    """Draw the rules about impossible combinations, and the ways to add one to the draft.

    The ways are replaced by a sentence while fewer than two columns are complete; for two linked
    tables, while any column is not.

    Args:
        project: The open project.
        rows: The columns.
    """
    attributes = [attribute for attribute in domain_table.measured(rows) if not attribute.most]
    rules = kept_rules.of(project.draft)
    if document.is_linked(project.draft):
        _of_linked(project, rules)
        return
    days = [one.name for one in attributes if one.is_number and one.scale.axis == Days.axis]
    if len(days) > 1 and not any(ORDERS.keys() & rule.keys() for rule in rules):
        st.caption(f":orange[:material/help:] Must {names(days, 3)} come in an order? State it below: rows may break it otherwise.")
    title = "Combinations that cannot occur" + (f" ({len(rules)})" if rules else "")
    with st.expander(title, expanded=bool(rules), icon=":material/block:", key=_key(project, "section")):
        st.caption("State what is impossible by nature or by law, from public knowledge: infants are not married.", help=HELP)
        _rule_list(rules, attributes)
        if len(attributes) < 2:
            st.caption(":material/edit: Complete two columns first.")
        else:
            _ways(project, WAYS, rules, attributes)


def _of_linked(project: Current, rules: Sequence[Rule]) -> None:
    """Draw the rules of two linked tables, and the ways to add one to the draft.

    Rules may be about both tables or two members of a household. Neither is drawn, but a sentence,
    while a column of either table is not complete.

    Args:
        project: The open project.
        rules: The rules.
    """
    plain = extension.layout(document.stated(project.draft)) is None
    title = ("Rules that hold in every household" if plain else "Combinations that cannot occur") + (f" ({len(rules)})" if rules else "")
    with st.expander(title, expanded=bool(rules), icon=":material/block:", key=_key(project, "section")):
        st.caption(_OF_HOUSEHOLDS if plain else _OF_LAYOUT, help=HELP)
        try:
            link = document.link(project.draft, rules=())
        except InputError:
            st.caption(":material/edit: Complete all columns first.")
            return
        _rule_list(rules, link.columns, link)
        _ways(project, OF_LINKED if plain else OF_LAYOUT, rules, link.columns, link)


def _ways(
    project: Current, ways: Mapping[str, str], rules: Sequence[Rule], attributes: Sequence[Attribute], link: Link | None = None
) -> None:
    way = st.segmented_control("How", list(ways), format_func=ways.get, default="sentence", required=True, key=_key(project, "way"))
    if way == "grid":
        _grid(project, rules, attributes)
    elif way == "order":
        _order(project, attributes)
    elif link is not None and way == "number":
        _number(project, link)
    elif link is not None and way == "older":
        _older(project, link)
    else:
        _sentence(project, attributes, link)
    frame.refused_at(_ZEROS)


def _key(project: Current, *parts: str) -> str:
    return ":".join((project.id, "zeros", *parts))


def _change(change: Callable[[list[Rule]], list[Rule]]) -> bool:
    """Store changed rules, and return whether they were accepted."""
    return session.edit(lambda draft: kept_rules.keep(draft, change(kept_rules.of(draft))), _ZEROS)


def _rule_list(rules: Sequence[Rule], attributes: Sequence[Attribute], link: Link | None = None) -> None:
    for i, (rule, error) in enumerate(zip(rules, zeros_table.problems(rules, attributes, link), strict=True)):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key=f"zeros_rule_{i}"):
            with st.container():
                note = f"**{literal(rule['note'])}** " if rule.get("note") else ""
                words = literal(zeros_table.in_words(rule, attributes)) if error is None else "This rule no longer fits the columns."
                st.markdown(note + words)
                if error is not None:
                    quiet_problem(error)
                if error is not None and (edges := edges_at_ranges(rule, attributes)):
                    take = {"on_click": _cut_groups, "args": (edges,), "help": CUT_HELP}
                    st.button("Cut the groups there", icon=":material/content_cut:", key=f"zeros_cut_{i}", **take)
            look = {"icon": ":material/delete:", "type": "tertiary", "key": f"zeros_delete_{i}", "help": f"Delete rule {i + 1}"}
            st.button("Delete", on_click=_change, args=(lambda stored, gone=rule: [one for one in stored if one != gone],), **look)


def _cut_groups(edges: Mapping[str, list[Any]]) -> None:
    """Replace the bins of columns by bins with these edges."""
    draft_rows.save(lambda drafts: [one.changed(**{**NO_GROUPS, "edges": edges[one.name]}) if one.name in edges else one for one in drafts])


def _sentence(project: Current, attributes: Sequence[Attribute], link: Link | None = None) -> None:
    by_name = {a.name: a for a in attributes}
    left, right = st.columns(2, gap="medium")
    with left:
        given = by_name[_choose("If", list(by_name), _key(project, "if"))]
        values = _values(project, "if", given, "is")
    with right:
        target = by_name[_choose("then", [name for name in by_name if name != given.name], _key(project, "then"))]
        key = _key(project, "verb")
        verb = st.segmented_control("then it", [NEVER, MUST], default=NEVER, required=True, key=key, label_visibility="collapsed")
        others = _values(project, "then", target, verb, "collapsed")
    st.text_input("In your words (optional)", key=_key(project, "note"), max_chars=200, placeholder="Infants are not married.")

    def add() -> None:  # what the fields say now: the last text typed is not in those that were drawn
        left, right = {given.name: _chosen(project, "if", given)}, {target.name: _chosen(project, "then", target)}
        rule: Rule = {"if": left, "then": right} if st.session_state[_key(project, "verb")] == MUST else {"never": left | right}
        note = st.session_state[_key(project, "note")].strip()
        _add(project, rule | ({"note": note} if note else {}), attributes, link)

    st.button("Add rule", icon=":material/add:", key="zeros_add", disabled=not (values and others), on_click=add)


def _order(project: Current, attributes: Sequence[Attribute]) -> None:
    names = [attribute.name for attribute in attributes if attribute.is_number]
    if len(names) < 2:
        st.caption(":material/edit: Complete two columns of numbers, dates or times first.")
        return
    left, middle, right = st.columns(3, gap="medium")
    with left:
        first = _pick("Column", names, _key(project, "first"))
    with middle:
        relation = _choose("Order", list(ORDERS), _key(project, "relation"), ORDERS)
    with right:
        second = _pick("Other column", [name for name in names if name != first], _key(project, "second"))
    st.caption(
        "The order holds in every synthetic row in which both columns have a value. Groups tell only roughly how far apart the values "
        "are: where that matters, declare the difference as a column in place of the second."
    )
    rule: Rule = {"column": first, relation: second}
    add, incomplete = partial(_add, project, rule, attributes), first is None or second is None
    st.button("Add order", icon=":material/add:", key="zeros_order", disabled=incomplete, on_click=add)


def _number(project: Current, link: Link) -> None:
    by_name, (left, middle, right) = {one.name: one for one in link.members}, st.columns(3, gap="medium")
    with left:
        how = st.segmented_control("Of each household,", [EXACTLY, AT_MOST], default=EXACTLY, required=True, key=_key(project, "how"))
        most = st.number_input("members", 0, link.most, 1, key=_key(project, "number"))
    with middle:
        column = by_name[_choose("have, as", list(by_name), _key(project, "of"))]
    with right:
        values = _values(project, "of", column, "one of these")
    if how == EXACTLY:
        st.caption("In a smaller household, the rule is about all members.")
    rule: Rule = {"members_with": {column.name: values}, how.replace(" ", "_"): most}
    st.button("Add rule", icon=":material/add:", key="zeros_number", disabled=not values, on_click=_add, args=(project, rule, (), link))


def _older(project: Current, link: Link) -> None:
    ordered = [one.name for one in link.members if one.is_number]
    if not ordered or len(link.members) < 2 or link.most < 2:
        st.caption(":material/edit: Complete a column of numbers of the members, such as their age, and one that says who is who.")
        return
    left, middle, right = st.columns(3, gap="medium")
    with left:
        number = _choose("Compare", ordered, _key(project, "ordered"))
        who = _choose("between members by", [name for name in link.members.names if name != number], _key(project, "who"))
    with middle:
        low = _values(project, "less", link.members[who], "Those with")
    with right:
        high = _values(project, "more", link.members[who], "never have more than those with")
    rule = zeros_table.never_more(link, number, who, low, high) if low and high else {}
    cells, told = len(rule.get("cells", ())), "The rule compares groups: of two members in the same group, either may have more."
    if both := sorted(set(low) & set(high)):
        told = f"Of two members with {', '.join(both[:3])} neither could have more: choose other values on one side."
    elif cells > zeros_table.MOST_COMPARED:
        told = f"{cells:,} combinations are more than the {zeros_table.MOST_COMPARED:,} of a rule: give {one_line(number)} wider groups."
    st.caption(literal(told, 400))
    wrong = not rule or bool(both) or cells > zeros_table.MOST_COMPARED
    st.button("Add rule", icon=":material/add:", key="zeros_older", disabled=wrong, on_click=_add, args=(project, rule, (), link))


def _add(project: Current, rule: Rule, attributes: Sequence[Attribute], link: Link | None = None) -> None:
    if _change(lambda stored: zeros_table.added(stored, rule, attributes, link)):
        st.session_state[_key(project, "note")] = ""


def _values(project: Current, side: str, attribute: Attribute, label: str, label_visibility: Any = "visible") -> list[str]:
    """Draw a choice of cells of a column, and return the labels of the chosen cells.

    Numbers with many values are chosen as a range of bins, other columns from a list.

    Args:
        project: The open project.
        side: Distinguishes the choices of one form.
        attribute: The column.
        label: The label.
        label_visibility: Streamlit's setting for the label.
    """
    labels, key = list(attribute.cell_labels()), _values_key(project, side, attribute)
    if len(labels) == 1:
        st.markdown(f"{label} **{literal(labels[0])}**, its only value")
    elif not _is_range(attribute):
        st.multiselect(label, labels, key=key, placeholder="Choose values", label_visibility=label_visibility)
    else:
        bins = labels[: attribute.values]
        st.select_slider(label, bins, value=(bins[0], bins[0]), key=key, label_visibility=label_visibility)
        if attribute.missing:
            st.checkbox("or missing", key=f"{key}:missing")
    return _chosen(project, side, attribute)


def _chosen(project: Current, side: str, attribute: Attribute) -> list[str]:
    """Return the labels of the cells that are chosen at present in the widgets of `_values`."""
    labels, key = list(attribute.cell_labels()), _values_key(project, side, attribute)
    if len(labels) == 1:
        return labels
    picked = st.session_state[key]
    if not _is_range(attribute):
        return list(picked)
    first, last = picked
    missing = attribute.missing and st.session_state[f"{key}:missing"]
    return labels[labels.index(first) : labels.index(last) + 1] + (labels[-1:] if missing else [])


def _is_range(attribute: Attribute) -> bool:
    return attribute.is_number and attribute.values > _LISTED


def _values_key(project: Current, side: str, attribute: Attribute) -> str:
    return _key(project, side, attribute.name, str(hash(attribute.cell_labels())))


def _choose(label: str, options: Sequence[str], key: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Draw a select box and return the chosen option; the first option if the chosen one is gone.

    Args:
        label: The label.
        options: The options.
        key: The session key.
        names: The label of an option, if it differs.
    """
    if st.session_state.get(key) not in options:
        st.session_state[key] = options[0]
    return st.selectbox(label, options, key=key, format_func=lambda option: names.get(option, option))


def _pick(label: str, options: Sequence[str], key: str) -> str | None:
    """Draw a choice of a column without a default, and return the column or None.

    A default would be a guess: the order of two columns does not follow from their positions.
    """
    if st.session_state.get(key) not in options:
        st.session_state[key] = None
    return st.selectbox(label, options, key=key, placeholder="Choose a column")


def _grid(project: Current, rules: Sequence[Rule], attributes: Sequence[Attribute]) -> None:
    by_name = {a.name: a for a in attributes}
    down, over, third = st.columns(3, gap="medium")
    with down:
        line = by_name[_choose("Down", list(by_name), _key(project, "down"))]
    with over:
        across = by_name[_choose("Across", [n for n in by_name if n != line.name], _key(project, "across"))]
    rest: Cell = ()
    columns = [line.name, across.name]
    with third:
        left = [n for n in by_name if n not in columns]
        fixed = _choose("And where (optional)", [ANY, *left], _key(project, "where"))
        if fixed in left:
            rest = (_choose("is", by_name[fixed].cell_labels(), _key(project, "is", fixed)),)
            columns.append(fixed)
    if not zeros_table.fits_grid(line, across):
        most = f"{zeros_table.MOST_LINES} values down and {zeros_table.MOST_ACROSS} across"
        st.caption(f":material/grid_off: Too large for a grid, which has at most {most}. Swap the columns, or say it in a sentence.")
        return
    marked = {cell[:2] for cell in zeros_table.ticks(rules, columns) if cell[2:] == rest}

    def is_changed(edits: Mapping[int, Mapping[str, Any]]) -> bool:
        return any((cell[:2] in marked) != on for cell, on in zeros_table.changes(line, across, edits, rest).items())

    key = editor_key(_key(project, "grid", *columns, *rest), is_changed)

    def take() -> None:
        changes = zeros_table.changes(line, across, st.session_state[key]["edited_rows"], rest)
        _change(lambda stored: zeros_table.ticked(stored, columns, changes))

    cells = {str(code): st.column_config.CheckboxColumn(label) for code, label in enumerate(across.cell_labels())}
    config = {zeros_table.LABEL: st.column_config.TextColumn(line.name, pinned=True, disabled=True)} | cells
    look = {"height": 35 * min(line.size, 10) + 40, "alt": "Impossible combinations: a tick in each cell that cannot occur"}
    st.data_editor(zeros_table.grid(line, across, marked), key=key, column_config=config, hide_index=True, on_change=take, **look)
    st.caption("Tick what cannot occur. Rules stated as sentences are not shown here.")
