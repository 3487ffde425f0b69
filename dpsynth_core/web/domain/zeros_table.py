"""Impossible combinations on the Domain page: a list of rules in JSON (see `zeros`, and `across` for two linked tables), right or wrong.

A rule that no longer fits a changed domain stays in the list, with a sentence on the misfit. All ticks in the grid of some columns form
one rule {"columns": [...], "cells": [...]}. Plain functions; no records are seen here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import ruled
from dpsynth_core.vocabulary.across import MEMBERS_WITH
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.zeros import MAX_NOTE, cells_named, from_json, numbered, sentence
from dpsynth_core.web.shell.kept_rules import Rule

Cell = tuple[str, ...]
"""Labels, one per column."""

MOST_LINES, MOST_ACROSS = 300, 50
MOST_COMPARED = 2000
"""The most cells of a rule that compares two members: the rule is stored, read and published cell by cell."""
LABEL = "label"


def added(rules: Sequence[Rule], rule: Rule, attributes: Sequence[Attribute], link: Link | None = None) -> list[Rule]:
    """Return the rules with one more at the end, after a check that it is consistent with the valid ones.

    Args:
        rules: The present rules.
        rule: The new rule.
        attributes: The columns of the domain.
        link: For two linked tables, their link without rules; None for one table.

    Raises:
        InputError: The rule is not valid, forbids everything, or contradicts other rules.
    """
    fine = [one for one, error in zip(rules, problems(rules, attributes, link), strict=True) if error is None]
    _check([*fine, rule], attributes, link)
    return [*rules, rule]


def problems(rules: Sequence[Rule], attributes: Sequence[Attribute], link: Link | None = None) -> list[InputError | None]:
    """Return the error of each rule by itself, in order; None for a valid rule.

    Rules that contradict each other are not found. Errors number the rules from 1.

    Args:
        rules: The rules.
        attributes: The columns of the domain.
        link: For two linked tables, their link without rules; None for one table.
    """

    def problem(rule: Rule, position: int) -> InputError | None:
        try:
            _check([rule], attributes, link)
        except InputError as error:
            return InputError(numbered(position), error.problem, error.remedy)
        return None

    return [problem(rule, i) for i, rule in enumerate(rules)]


def _check(rules: Sequence[Rule], attributes: Sequence[Attribute], link: Link | None) -> None:
    if link is None:
        Domain(tuple(attributes), tuple(from_json(rule, attributes, place) for place, rule in enumerate(rules))).check_rules(list(rules))
    else:
        ruled(link, rules).check_rules(rules)


def never_more(link: Link, column: str, who: str, less: Sequence[str], more: Sequence[str]) -> Rule:
    """Return the rule that some members never have more of a quantity than other members.

    The rule compares bins: two members in the same bin satisfy it, and so do members without a number. Its note, a
    sentence, is cut if it is too long. The rule is not checked.

    Args:
        link: The link of the two tables.
        column: The numeric column of members that is compared.
        who: The column that distinguishes the members.
        less: The values of `who` of the members with less.
        more: The values of `who` of the members with more.
    """
    labels = link.members[column].cell_labels()[: link.members[column].values]
    pairs = [(one, other) for place, one in enumerate(labels) for other in labels[:place]]
    cells = [[young, one, old, other] for young in less for old in more for one, other in pairs]
    words = f"{' or '.join(less)}: never more {column} than {' or '.join(more)}"
    return {"columns": [who, column, link.other(who), link.other(column)], "cells": cells, "note": words[:MAX_NOTE]}


def in_words(rule: Rule, attributes: Sequence[Attribute]) -> str:
    """Return a valid rule in plain words, with labels of cells, which are hostile text.

    Args:
        rule: The rule; one that is not valid raises InputError.
        attributes: The columns of the domain.
    """
    if MEMBERS_WITH in rule:
        ((name, codes),) = cells_named(attributes, rule[MEMBERS_WITH], MEMBERS_WITH).items()
        labels = next(one for one in attributes if one.name == name).cell_labels()
        number, what = (rule.get(kind) for kind in ("exactly", "at_most")), " or ".join(f"“{labels[code]}”" for code in codes)
        exactly, most = number
        if not (exactly or most):
            return f"No member of any household has {name} {what}."
        many = f"at most {most}" if exactly is None else f"exactly {exactly}, or all where there are fewer,"
        return f"Of the members of each household, {many} have {name} {what}."
    return sentence(from_json(rule, attributes), {a.name: a for a in attributes})


def fits_grid(line: Attribute, across: Attribute) -> bool:
    """Return whether a grid of these two columns is small enough to draw.

    That is at most 300 cells down (`MOST_LINES`) and 50 across (`MOST_ACROSS`).
    """
    return line.size <= MOST_LINES and across.size <= MOST_ACROSS


def grid(line: Attribute, across: Attribute, ticked: Iterable[Cell]) -> pd.DataFrame:
    """Return a frame for the grid of two columns, with a line for each cell of `line`.

    Its columns are the label of the cell and, for each cell of `across` by its code, whether it is
    ticked.
    """
    marked = set(ticked)
    frame = pd.DataFrame({LABEL: line.cell_labels()})
    for code, label in enumerate(across.cell_labels()):
        frame[str(code)] = [(own, label) in marked for own in line.cell_labels()]
    return frame


def ticks(rules: Sequence[Rule], columns: Sequence[str]) -> set[Cell]:
    """Return the ticked cells of the grid of these columns, as labels in the order of `columns`; an empty set if none is."""
    place = _grid_rule(rules, columns)
    if place is None:
        return set()
    order = [rules[place]["columns"].index(name) for name in columns]
    return {tuple(cell[i] for i in order) for cell in rules[place]["cells"]}


def ticked(rules: Sequence[Rule], columns: Sequence[str], changes: Mapping[Cell, bool]) -> list[Rule]:
    """Return the rules after cells of the grid of these columns were ticked or unticked.

    All ticks of a grid are one rule, which is removed with its last tick and keeps its place and note.

    Args:
        rules: The present rules.
        columns: The columns of the grid.
        changes: Whether each changed cell, as labels in the order of `columns`, is ticked now.
    """
    marked = (ticks(rules, columns) | {cell for cell, on in changes.items() if on}) - {cell for cell, on in changes.items() if not on}
    place = _grid_rule(rules, columns)
    before, after = (rules, []) if place is None else (rules[:place], rules[place + 1 :])
    note = {} if place is None or "note" not in rules[place] else {"note": rules[place]["note"]}
    rule = {"columns": list(columns), "cells": sorted(map(list, marked))} | note
    return [*before, *([rule] if marked else []), *after]


def changes(line: Attribute, across: Attribute, edits: Mapping[int, Mapping[str, Any]], rest: Cell = ()) -> dict[Cell, bool]:
    """Return for each cell that was changed in `grid`, as labels, whether it is ticked now.

    Args:
        line: The column of the grid's lines.
        across: The column of the grid's columns.
        edits: The editor's record of changes, by line from 0; entries outside the grid are ignored.
        rest: Labels of further columns, the same for all cells and put at their end.
    """
    labels = across.cell_labels()
    return {
        (line.cell_labels()[int(position)], labels[int(code)], *rest): bool(on)
        for position, values in edits.items()
        for code, on in values.items()
        if int(position) < line.size and code.isdigit() and int(code) < across.size
    }


def _grid_rule(rules: Sequence[Rule], columns: Sequence[str]) -> int | None:
    return next((i for i, rule in enumerate(rules) if sorted(rule.get("columns", ())) == sorted(columns)), None)
