"""How good the rule of each private learner is, by records and columns: what an oracle that may fail costs.

    python -m benchmarks.learners

Invented people: the last column is all of the first half of the others, wrong for one in ten. Written is how often the best rule is wrong,
the mean over all rules, and the mean of the rule that RSPM and PRSMA learn at epsilon 2, delta 5e-4, of those that there were.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dpsynth_core.privacy.noise import SeededNoise
from dpsynth_core.research.oracles.rules.rule_oracle import AUTO, Oracle, all_values, exhaust
from dpsynth_core.research.oracles.rules.rules import CONJUNCTION, Rule, RuleClass, features
from dpsynth_core.research.oracles.rules.task import STEPS, Task
from dpsynth_core.research.privacy import rspm
from dpsynth_core.research.privacy.prsma import Prsma
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.occupied import Occupied, row_cells

EPS, DELTA, CHANGE, RUNS = 2.0, 5e-4, 2, 10
COLUMNS, RECORDS = (1, 2, 4), (2_000, 20_000, 200_000, 2_000_000)
ORACLE = Oracle(AUTO, 10.0)
RESULTS = Path(__file__).with_name("results") / "learners.md"


def people(domain: Domain, records: int) -> Occupied:
    """Records over the columns and the target, the last column."""
    rng, columns = np.random.default_rng(50), len(domain) - 1
    codes = rng.random((records, columns)) < 0.6
    target = codes[:, : max(1, columns // 2)].all(axis=1) ^ (rng.random(records) < 0.1)
    return row_cells(domain, np.column_stack([codes, target]).astype(np.int32), domain.names)


def lines() -> Iterator[str]:
    """The table, a line for each number of columns and records."""
    yield "| columns | records | best rule | mean rule | RSPM | PRSMA |"
    yield "|---" * 6 + "|"
    for columns in COLUMNS:
        domain = Domain.from_json({f"c{i}": 2 for i in range(columns + 1)})
        task = Task.of(domain, RuleClass(CONJUNCTION, features(domain, domain.names[:-1])), domain.names[-1])
        for records in RECORDS:
            yield f"| {columns} | {records:,} | {' | '.join(_errors(task, people(domain, records)))} |"


def _errors(task: Task, table: Occupied) -> Iterator[str]:
    """How often rules are wrong: the best, the mean of all, and what is learnt."""
    records, noise, problem = int(table.records.sum()), SeededNoise(1), task.problem(table)
    yield _wrong(task, table, [exhaust(problem).rule])
    yield f"{(all_values(problem).mean() / STEPS + table.records[table.codes[:, -1] == 1].sum()) / records:.3f}"
    scale = rspm.perturbation(len(task.rules.separators), CHANGE, EPS).scale
    yield _wrong(task, table, [rspm.minimum(problem, row, ORACLE) for row in rspm.laplace_noise(task.rules, scale, noise, RUNS)])
    yield _wrong(task, table, [rspm.robust_minimum(task, table, Prsma(EPS, DELTA), CHANGE, ORACLE, noise) for _ in range(RUNS)])


def _wrong(task: Task, table: Occupied, rules: list[Rule | None]) -> str:
    learnt = [rule for rule in rules if rule is not None]
    return f"{task.costs(learnt, table).mean() / table.records.sum():.3f} ({len(learnt)})"


if __name__ == "__main__":
    text = "\n".join(lines()) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    print(text)
