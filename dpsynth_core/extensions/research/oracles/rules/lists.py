"""Decision lists: the list that holds for the least weight of records, and the costs of all lists.

The first feature of the list that a record has answers it. So a list's cost is a sum over its entries: an entry that says yes costs the
weight of the records that have its feature and none of the earlier ones. The set of earlier features matters, their order does not, so the
cheapest list of every set of features follows from the sets with one feature less (`cheapest`, dynamic programming).

Beyond MAX_FEATURES CP-SAT orders the features (`solve`). Its model has one Boolean for each pair of features (which comes first, a total
order), one for each feature's answer, one for the default, and for each distinct record which of its features comes first. Its size is the
square of the number of features over all records.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate, combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsynth_core.extensions.research.oracles.rules import hits
from dpsynth_core.extensions.research.oracles.rules.hits import ANY, Flags, Hits, Integers
from dpsynth_core.extensions.research.oracles.rules.rules import DECISION_LIST, Rule, RuleClass
from dpsynth_core.extensions.research.oracles.search import MAX_LITERALS, Limit, search

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

MAX_FEATURES = hits.MAX_EXHAUSTIVE[ANY]
"""Largest number of features for which `cheapest` enumerates all sets of features."""
MAX_LISTED = 7
"""Largest number of features for which all lists are enumerated: 189,172 lists."""

Order = dict[tuple[int, int], Any]


def cheapest(rules: RuleClass, seen: Flags, weights: Integers) -> Rule:
    """Return a decision list of least cost, which is the total weight of the records for which it holds.

    Args:
        rules: The class of decision lists.
        seen: Features of the records, shape (records, features).
        weights: Weights of the records, of either sign, shape (records,).

    Raises:
        ValueError: There are more than 20 features.
    """
    p, met = len(rules.features), _met(seen, weights)
    least = _least(met, p)
    entries: list[tuple[int, bool]] = []
    left = len(met) - 1
    while left:
        before = [(left ^ 1 << i, i) for i in range(p) if left >> i & 1]
        rest, last = min(before, key=lambda one: int(least[one[0]] + min(0, met[left] - met[one[0]])))
        entries.append((last, bool(met[left] < met[rest])))
        left = rest
    unmet = int(weights.sum()) - int(met[-1])
    chosen, answers = zip(*reversed(entries), strict=True)
    return Rule(DECISION_LIST, rules.features, chosen, answers, unmet < 0)


def _met(seen: Flags, weights: Integers) -> Integers:
    """Return, for each set of features by number, the weight of the records that have a feature of the set."""
    return hits.all_values(Hits(ANY, seen, weights, np.zeros(seen.shape[1], dtype=np.int64)))


def _least(met: Integers, p: int) -> Integers:
    """Return, for each set of features by number, the least cost of a list of exactly these features.

    The default is left out: only records with at least one of the features count.

    Args:
        met: Result of `_met`.
        p: Number of features.
    """
    least = np.zeros(len(met), dtype=np.int64)
    by_size = np.argsort(np.bitwise_count(np.arange(len(met))), kind="stable")
    for sets in np.split(by_size, np.cumsum([math.comb(p, size) for size in range(p)]))[1:]:
        best = np.full(len(sets), np.iinfo(np.int64).max)
        for i in range(p):
            mine = np.flatnonzero(sets >> i & 1)
            whole, rest = sets[mine], sets[mine] ^ 1 << i
            best[mine] = np.minimum(best[mine], least[rest] + np.minimum(0, met[whole] - met[rest]))
        least[sets] = best
    return least


def every(rules: RuleClass) -> Iterator[Rule]:
    """Yield every decision list of the class once, in a fixed order and in canonical form (`RuleClass.identified`).

    Lists that hold for the same records count as one. The number of lists grows fast (MAX_LISTED).
    """
    for runs in _sequences(tuple(range(len(rules.features)))):
        for otherwise in (False, True):
            answers = tuple(otherwise ^ bool((len(runs) - place) % 2) for place, run in enumerate(runs) for _ in run)
            yield Rule(DECISION_LIST, rules.features, tuple(i for run in runs for i in run), answers, otherwise)


def all_costs(rules: RuleClass, seen: Flags, weights: Integers) -> Integers:
    """Return the cost of each decision list, in the order of `every`: the total weight of the records for which it holds.

    Args:
        rules: The class of decision lists.
        seen: Features of the records, shape (records, features).
        weights: Weights of the records, of either sign, shape (records,).

    Raises:
        ValueError: There are more than 7 features.
    """
    if len(rules.features) > MAX_LISTED:
        raise ValueError("too many decision lists to go through")
    met, total, costs = _met(seen, weights).tolist(), int(weights.sum()), list[int]()
    for runs in _sequences(tuple(range(len(rules.features)))):
        reached = [0, *accumulate(sum(1 << i for i in run) for run in runs)]
        gained = [met[after] - met[before] for before, after in pairwise(reached)]
        costs += [sum(gained[::-1][::2]), sum(gained[::-1][1::2]) + total - met[reached[-1]]]
    return np.array(costs, dtype=np.int64)


def _sequences(left: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield every way to put some of these features, or none, into an ordered sequence of runs.

    A run is a set of features, in their given order.
    """
    yield ()
    for size in range(1, len(left) + 1):
        for run in combinations(left, size):
            for rest in _sequences(tuple(i for i in left if i not in run)):
                yield (run, *rest)


def solve(rules: RuleClass, seen: Flags, weights: Integers, limit: Limit) -> tuple[Rule, float, bool] | None:
    """Find the decision list of least cost, the weight of the records for which it holds, by CP-SAT.

    Args:
        rules: The class of decision lists.
        seen: Features of the records, shape (records, features).
        weights: Weights of the records, of either sign.
        limit: The limit of the search.

    Returns:
        The list, a lower bound of the cost of every list, and whether the list is proved to be a minimum.
        None if CP-SAT found no list, or the squares of the records' numbers of features add up to more than
        2,097,152 (MAX_LITERALS).
    """
    from ortools.sat.python import cp_model

    if (seen.sum(axis=1) ** 2).sum() > MAX_LITERALS:
        return None
    model, p = cp_model.CpModel(), len(rules.features)
    before = _total_order(model, p)
    answers, otherwise = [model.new_bool_var(f"answer{i}") for i in range(p)], model.new_bool_var("otherwise")
    costs = [
        weight * _answer(model, np.flatnonzero(row).tolist(), before, answers, otherwise)
        for row, weight in zip(seen, weights.tolist(), strict=True)
    ]
    model.minimize(sum(costs))

    result = search(model, limit, linearization_level=0)
    if result.status == "failed":
        return None

    def value(variable: Any) -> bool:
        is_true = bool(result.solution[variable.index if variable.index >= 0 else -variable.index - 1])
        return is_true if variable.index >= 0 else not is_true

    order = sorted(range(p), key=lambda i: sum(value(before[j, i]) for j in range(p) if j != i))
    rule = Rule(DECISION_LIST, rules.features, tuple(order), tuple(value(answers[i]) for i in order), value(otherwise))
    return rule, result.bound, result.status == "optimal"


def _total_order(model: cp_model.CpModel, p: int) -> Order:
    before: Order = {}
    for i, j in combinations(range(p), 2):
        before[i, j] = model.new_bool_var(f"{i}<{j}")
        before[j, i] = before[i, j].negated()
    for i, j, k in combinations(range(p), 3):  # no circle, in either direction
        model.add_bool_or([before[j, i], before[k, j], before[i, k]])
        model.add_bool_or([before[i, j], before[j, k], before[k, i]])
    return before


def _answer(model: cp_model.CpModel, present: list[int], before: Order, answers: list[Any], otherwise: Any) -> Any:
    """Return the literal of the model that is the list's answer for a record.

    Args:
        model: The model, to which constraints are added.
        present: The features that the record has.
        before: For each pair (i, j), the literal that feature i comes before j.
        answers: The literal of each feature's answer.
        otherwise: The literal of the default.
    """
    if not present:
        return otherwise
    if len(present) == 1:
        return answers[present[0]]
    literal, first = model.new_bool_var(""), [model.new_bool_var("") for _ in present]
    model.add_exactly_one(first)
    for i, leads in zip(present, first, strict=True):
        for j in present:
            if j != i:
                model.add_implication(leads, before[i, j])
        model.add_bool_or([leads.negated(), answers[i].negated(), literal])
        model.add_bool_or([leads.negated(), answers[i], literal.negated()])
    return literal
