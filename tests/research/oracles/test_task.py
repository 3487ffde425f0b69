"""Learning problems of distinct records: what each rule costs is what its definition says of the rows, one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.research.oracles.rules import rule_oracle
from dpsynth_core.research.oracles.rules.rule_oracle import STEPS, Rivals, Task
from dpsynth_core.research.oracles.rules.rules import DECISION_LIST, KINDS, RuleClass, features
from dpsynth_core.research.oracles.search import Limit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.occupied import row_cells
from tests.research.oracles.test_rules import every

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
