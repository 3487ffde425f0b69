"""The learning oracle against the whole class, for every kind of rule."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dpsynth_core.extensions.research.oracles.rules import hits, lists, rule_oracle
from dpsynth_core.extensions.research.oracles.rules.rule_oracle import AUTO, CP_SAT, STEPS, LearningProblem, Oracle, Rivals, Task
from dpsynth_core.extensions.research.oracles.rules.rules import CONJUNCTION, DECISION_LIST, KINDS, Feature, Rule, RuleClass, features
from dpsynth_core.extensions.research.oracles.search import Limit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.occupied import row_cells
from tests.extensions.research.oracles.test_rules import class_of, every

CASES = [(kind, closed) for kind in KINDS for closed in (False, True) if not (closed and kind == DECISION_LIST)]


def invented(rules: RuleClass, seed: int, rows: int = 30) -> LearningProblem:
    rng = np.random.default_rng(seed)
    return LearningProblem(rules, rng.random((rows, len(rules.features))) < 0.5, rng.integers(-6, 7, rows))


def exhausted(problem: LearningProblem) -> Rule:
    """The cheapest rule without a perturbation."""
    (rule,) = rule_oracle.exhaust(problem, np.zeros((1, len(problem.rules.separators)), dtype=np.int64))
    return rule


@pytest.mark.parametrize(("kind", "closed"), CASES)
@pytest.mark.parametrize("seed", range(4))
def test_cp_sat_and_going_through_the_class_both_find_the_cheapest_rule(kind: str, closed: bool, seed: int) -> None:
    problem = invented(class_of(kind, 4, closed), seed)
    truth = min(problem.value(rule) for rule in every(problem.rules))
    solution = rule_oracle.solve(problem, Limit.of_work(30))
    assert solution is not None
    assert solution.certified
    assert solution.value == problem.value(solution.rule) == truth == solution.bound
    assert problem.value(exhausted(problem)) == truth


@pytest.mark.parametrize(("kind", "closed"), CASES)
def test_values_are_numbered_as_rules_are(kind: str, closed: bool) -> None:
    problem = invented(class_of(kind, 3, closed), 5)
    values = rule_oracle.all_values(problem)
    assert values.tolist() == [problem.value(rule_oracle.numbered(problem.rules, number)) for number in range(len(values))]
    assert {problem.value(rule) for rule in every(problem.rules)} == set(values.tolist())


@pytest.mark.parametrize(("kind", "closed"), CASES)
def test_many_perturbations_have_the_answers_of_one_at_a_time(kind: str, closed: bool) -> None:
    problem = invented(class_of(kind, 3, closed), 8)
    noise = np.random.default_rng(9).integers(-9, 10, (40, len(problem.rules.separators)))
    for rule, row in zip(rule_oracle.exhaust(problem, noise), noise, strict=True):
        perturbed = problem.perturbed(row)
        assert perturbed.value(rule) == min(map(perturbed.value, every(problem.rules)))


@pytest.mark.parametrize("seed", range(3))
def test_the_cheapest_of_all_lists_of_seven_features_is_found_from_sets_of_features(seed: int) -> None:
    problem = invented(class_of(DECISION_LIST, lists.MAX_LISTED), seed, rows=90)
    assert problem.value(exhausted(problem)) == rule_oracle.all_values(problem).min()


def test_no_change_of_place_answer_or_default_makes_the_cheapest_list_of_fourteen_features_cheaper() -> None:
    problem = invented(class_of(DECISION_LIST, 14), 3, rows=400)
    rule = exhausted(problem)
    least = problem.value(rule)
    assert least < 0
    for i, j in product(range(14), repeat=2):
        order, answers = list(rule.chosen), list(rule.answers)
        order.insert(j, order.pop(i))
        answers.insert(j, answers.pop(i) ^ (i == j))
        assert problem.value(replace(rule, chosen=tuple(order), answers=tuple(answers))) >= least
    assert problem.value(replace(rule, otherwise=not rule.otherwise)) >= least


def test_an_oracle_that_goes_through_the_class_cannot_fail_and_says_so() -> None:
    small, large = class_of(CONJUNCTION, 20), class_of(CONJUNCTION, 21)
    assert not Oracle(AUTO, 1).may_fail(small)
    assert Oracle(CP_SAT, 1).may_fail(small)
    assert Oracle(AUTO, 1).may_fail(large)
    assert Oracle(AUTO, 1).may_fail(RuleClass(DECISION_LIST, tuple(Feature(f"c{i}", value) for i in range(11) for value in (1, 0))))


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_that_is_too_large_for_a_model_has_no_answer_and_none_is_made(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As large as allowed, and a feature less: of distinct records alone, however often they come."""
    problem = invented(class_of(kind, 4), 2, rows=60)
    rows = np.unique(problem.seen[problem.weights != 0], axis=0)
    doubled = LearningProblem(problem.rules, np.vstack([rows] * 3), np.ones(3 * len(rows), dtype=np.int64))
    size = int((rows.sum(axis=1) ** 2).sum() if kind == DECISION_LIST else (~rows if kind == CONJUNCTION else rows).sum())
    for most, answers in ((size, True), (size - 1, False)):
        monkeypatch.setattr(lists if kind == DECISION_LIST else hits, "MAX_LITERALS", most)
        assert (rule_oracle.solve(doubled, Limit.of_work(30)) is not None) == answers


DOMAIN = Domain.from_json({"a": 2, "b": 2, "other": 3, "c": 2, "y": 2})


@pytest.mark.parametrize("played", [False, True])
@pytest.mark.parametrize("target", [None, "y"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_cheapest_rule_of_distinct_records_is_that_of_all_rows_and_cells(kind: str, target: str | None, played: bool) -> None:
    """40 rows in 16 cells, so that most come several times; noise of all sizes, and none, where ties are many."""
    rng = np.random.default_rng(7)
    codes = rng.integers(0, DOMAIN.sizes(DOMAIN.names), (40, 5)).astype(np.int32)
    rules = RuleClass(kind, features(DOMAIN, ("a", "b", "c")), closed=kind != DECISION_LIST)
    rivals = Rivals(rng.integers(0, 2, (6, 3 + (target is not None))).astype(np.int32), 30.0) if played else None
    task = Task.of(DOMAIN, rules, target, rivals)
    mine = codes[:, [DOMAIN.position(name) for name in task.columns]]
    table = np.zeros((2,) * len(task.columns), dtype=np.int64)
    np.add.at(table, tuple(mine.T), 1)
    people = row_cells(DOMAIN, codes, task.columns)
    for scale in (0, 3, 100):
        noise = rng.integers(-scale, scale + 1, len(rules.separators))
        costs = []
        for rule in every(rules):
            wrong = rule.holds(rules.seen(mine, task.columns)) != (mine[:, -1] if target else 0)
            cost = STEPS * (wrong.sum() - (mine[:, -1].sum() if target else 0)) + noise @ rule.holds(rules.separators)
            costs.append(cost - (5 * STEPS * rule.holds(rules.seen(rivals.codes, task.columns)).sum() if rivals else 0))
            in_cells = rule.holds(rules.seen(np.argwhere(table >= 0), task.columns)) != (np.argwhere(table >= 0)[:, -1] if target else 0)
            assert task.costs([rule], people).tolist() == [wrong.sum()] == [table.ravel()[in_cells].sum()]
        problem = task.problem(people).perturbed(noise)
        assert [problem.value(rule) for rule in every(rules)] == costs
        learned = rule_oracle.solve(problem, Limit.of_work(30))
        assert learned is not None
        assert learned.certified
        assert learned.value == problem.value(learned.rule) == min(costs)
        (rule,) = rule_oracle.exhaust(task.problem(people), noise[None])
        assert problem.value(rule) == min(costs)
