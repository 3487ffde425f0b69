"""Decision lists: the one that holds for the least weight of records. CP-SAT orders the features; small classes are enumerated.

A model has one Boolean for each pair of features (which comes first, a total order), one for each feature's answer, one for the default,
and for each distinct record which of its features comes first of all. The size of the model is the number of features over all records.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsynth_core.oracles.answer import Limit
from dpsynth_core.oracles.hits import Flags, Integers
from dpsynth_core.oracles.rules import DECISION_LIST, Rule, RuleClass
from dpsynth_core.oracles.search import search

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

MAX_ENUMERATED = 5
"""Features up to which all lists are gone through: 5! 2^6 = 7,680."""

Order = dict[tuple[int, int], Any]


def solve(rules: RuleClass, seen: Flags, weights: Integers, limit: Limit) -> tuple[Rule, float, bool, float] | None:
    """(rule, bound, certified, seconds) for the least sum of weights at which the rule holds, or None if CP-SAT found nothing."""
    from ortools.sat.python import cp_model

    model, p = cp_model.CpModel(), len(rules.features)
    before = _total_order(model, p)
    answers, otherwise = [model.new_bool_var(f"answer{i}") for i in range(p)], model.new_bool_var("otherwise")
    costs = [
        weight * _answer(model, np.flatnonzero(row).tolist(), before, answers, otherwise)
        for row, weight in zip(seen, weights.tolist(), strict=True)
    ]
    model.minimize(sum(costs))

    found = search(model, limit, linearization_level=0)
    if found.status == "failed":
        return None

    def value(variable: Any) -> bool:
        taken = bool(found.solution[variable.index if variable.index >= 0 else -variable.index - 1])
        return taken if variable.index >= 0 else not taken

    order = sorted(range(p), key=lambda i: sum(value(before[j, i]) for j in range(p) if j != i))
    rule = Rule(DECISION_LIST, rules.features, tuple(order), tuple(value(answers[i]) for i in order), value(otherwise))
    return shortened(rule), found.bound, found.status == "optimal", found.seconds


def _total_order(model: cp_model.CpModel, p: int) -> Order:
    before: Order = {}
    for i, j in combinations(range(p), 2):
        before[i, j] = model.new_bool_var(f"{i}<{j}")
        before[j, i] = before[i, j].negated()
    for i, j, k in combinations(range(p), 3):  # no circle, in either direction
        model.add_bool_or([before[j, i], before[k, j], before[i, k]])
        model.add_bool_or([before[i, j], before[j, k], before[k, i]])
    return before


def _answer(model: cp_model.CpModel, there: list[int], before: Order, answers: list[Any], otherwise: Any) -> Any:
    """The literal that is the list's answer for a record with these features."""
    if not there:
        return otherwise
    if len(there) == 1:
        return answers[there[0]]
    found, first = model.new_bool_var(""), [model.new_bool_var("") for _ in there]
    model.add_exactly_one(first)
    for i, leads in zip(there, first, strict=True):
        for j in there:
            if j != i:
                model.add_implication(leads, before[i, j])
        model.add_bool_or([leads.negated(), answers[i].negated(), found])
        model.add_bool_or([leads.negated(), answers[i], found.negated()])
    return found


def every(rules: RuleClass) -> Iterator[Rule]:
    """All lists of all features; a function may come more than once. ValueError for more features than MAX_ENUMERATED."""
    p = len(rules.features)
    if p > MAX_ENUMERATED:
        raise ValueError("too many decision lists to go through")
    for order, answers, otherwise in product(permutations(range(p)), product((False, True), repeat=p), (False, True)):
        yield Rule(DECISION_LIST, rules.features, order, answers, otherwise)


def shortened(rule: Rule) -> Rule:
    """The same list without the entries at its end that answer what the default does."""
    end = len(rule.chosen)
    while end and rule.answers[end - 1] == rule.otherwise:
        end -= 1
    return Rule(rule.kind, rule.features, rule.chosen[:end], rule.answers[:end], rule.otherwise)
