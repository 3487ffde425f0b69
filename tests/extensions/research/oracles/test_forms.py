"""The form of a rule: a function of its values on the separators, one for each function of a class, and the same function again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.extensions.research.oracles.rules import lists
from dpsynth_core.extensions.research.oracles.rules.rule_oracle import numbered
from dpsynth_core.extensions.research.oracles.rules.rules import DECISION_LIST, KINDS, Rule, RuleClass
from tests.extensions.research.oracles.test_rules import class_of
from tests.tiers import examples

CLASSES = [class_of(kind, p) for kind in KINDS for p in (1, 2, 3, 4)]
CLASSES += [class_of(kind, p, closed=True) for kind in KINDS if kind != DECISION_LIST for p in (1, 2, 3, 4)]


def form(rules: RuleClass, rule: Rule) -> Rule:
    return rules.identified(rule.holds(rules.separators))


def written_in_every_way(rules: RuleClass) -> Iterator[Rule]:
    """Every rule, a decision list in every order of all features."""
    p = len(rules.features)
    if rules.kind != DECISION_LIST:
        yield from (numbered(rules, number) for number in range(2 ** (p + rules.closed)))
        return
    for order, answers, otherwise in product(permutations(range(p)), product((False, True), repeat=p), (False, True)):
        yield Rule(DECISION_LIST, rules.features, order, answers, otherwise)


@pytest.mark.parametrize("rules", CLASSES, ids=lambda r: f"{r.kind}-{len(r.features)}-{r.closed}")
def test_every_function_of_a_class_has_exactly_one_form_which_is_that_function(rules: RuleClass) -> None:
    records = np.array(list(product((False, True), repeat=len(rules.features))))
    of_function: dict[bytes, set[Rule]] = {}
    for rule in written_in_every_way(rules):
        of_function.setdefault(rule.holds(records).tobytes(), set()).add(form(rules, rule))
    assert all(len(forms) == 1 for forms in of_function.values())
    for function, (only,) in of_function.items():
        assert only.holds(records).tobytes() == function
        assert form(rules, only) == only
        np.testing.assert_array_equal(rules.read(only.written()).holds(records), only.holds(records))


def test_decision_lists_are_gone_through_one_function_at_a_time_in_its_form() -> None:
    """Four times the number of ordered partitions of the features (Fubini numbers), counted by hand: which runs, and the last answer."""
    for p, partitions in ((1, 1), (2, 3), (3, 13), (4, 75)):
        rules = class_of(DECISION_LIST, p)
        forms = {form(rules, rule) for rule in written_in_every_way(rules)}
        assert len(forms) == 4 * partitions
        assert sorted(map(repr, forms)) == sorted(map(repr, lists.every(rules)))


@st.composite
def listed(draw: st.DrawFn) -> tuple[RuleClass, Rule]:
    rules = class_of(DECISION_LIST, draw(st.integers(5, 14)))
    order = draw(st.permutations(range(len(rules.features))))
    answers = draw(st.lists(st.booleans(), min_size=len(order), max_size=len(order)))
    return rules, Rule(DECISION_LIST, rules.features, tuple(order), tuple(answers), draw(st.booleans()))


@examples(200)
@given(listed(), st.randoms(use_true_random=False))
def test_longer_lists_keep_their_function_and_have_one_form_however_they_are_written(
    made: tuple[RuleClass, Rule], random: Random
) -> None:
    """In another way: neighbours with equal answers change places, and the end that answers the default is cut off or drawn out."""
    rules, rule = made
    entries = list(zip(rule.chosen, rule.answers, strict=True))
    for _ in range(50):
        i = random.randrange(len(entries) - 1)
        if entries[i][1] == entries[i + 1][1]:
            entries[i], entries[i + 1] = entries[i + 1], entries[i]
    while entries and entries[-1][1] == rule.otherwise and random.random() < 0.8:
        entries.pop()
    again = Rule(rule.kind, rule.features, tuple(i for i, _ in entries), tuple(a for _, a in entries), rule.otherwise)
    assert form(rules, again) == form(rules, rule)
    seen = np.random.default_rng(1).random((500, len(rules.features))) < 0.3
    np.testing.assert_array_equal(form(rules, rule).holds(seen), rule.holds(seen))
