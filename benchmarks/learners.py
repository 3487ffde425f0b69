"""How good the rule of each private learner is, by records and columns: what an oracle that may fail costs.

    python -m benchmarks.learners

Invented people: the last column is all of the first half of the others, wrong for one in ten. Written is how often the best rule is wrong,
the mean over all rules, and the mean of the rule that RSPM and PRSMA learn at epsilon 2, delta 5e-4, of those that there were.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.oracles.rules.rule_oracle import AUTO, Oracle, all_values, exhaust
from dpsynth_core.oracles.rules.rules import CONJUNCTION, Rule, RuleClass, features
from dpsynth_core.oracles.rules.task import STEPS, Task
from dpsynth_core.privacy.learning import rspm
from dpsynth_core.privacy.learning.prsma import Prsma
from dpsynth_core.privacy.noise import SeededNoise
from dpsynth_core.vocabulary.domain import Domain

EPS, DELTA, CHANGE, RUNS = 2.0, 5e-4, 2, 10
COLUMNS, RECORDS = (1, 2, 4), (2_000, 20_000, 200_000, 2_000_000)
ORACLE = Oracle(AUTO, 10.0)
RESULTS = Path(__file__).with_name("results") / "learners.md"


def people(records: int, columns: int) -> NDArray[np.int64]:
    """Counts of the columns and the target."""
    rng = np.random.default_rng(50)
    codes = rng.random((records, columns)) < 0.6
    target = codes[:, : max(1, columns // 2)].all(axis=1) ^ (rng.random(records) < 0.1)
    counts = np.zeros((2,) * (columns + 1), dtype=np.int64)
    np.add.at(counts, (*codes.T.astype(int), target.astype(int)), 1)
    return counts


def lines() -> Iterator[str]:
    """The table, a line for each number of columns and records."""
    yield "| columns | records | best rule | mean rule | RSPM | PRSMA |"
    yield "|---" * 6 + "|"
    for columns in COLUMNS:
        domain = Domain.from_json({f"c{i}": 2 for i in range(columns + 1)})
        task = Task.of(domain, RuleClass(CONJUNCTION, features(domain, domain.names[:-1])), domain.names[-1])
        for records in RECORDS:
            yield f"| {columns} | {records:,} | {' | '.join(_errors(task, people(records, columns)))} |"


def _errors(task: Task, counts: NDArray[np.int64]) -> Iterator[str]:
    """How often rules are wrong: the best, the mean of all, and what is learnt."""
    records, noise, problem = int(counts.sum()), SeededNoise(1), task.problem(counts)
    yield _wrong(task, counts, [exhaust(problem).rule])
    yield f"{(all_values(problem).mean() / STEPS + counts[..., 1].sum()) / records:.3f}"
    scale = rspm.perturbation(task.rules, CHANGE, EPS).scale
    yield _wrong(task, counts, [rspm.minimum(problem, row, ORACLE) for row in rspm.laplace_noise(task.rules, scale, noise, RUNS)])
    yield _wrong(task, counts, [rspm.robust_minimum(task, counts, Prsma(EPS, DELTA), CHANGE, ORACLE, noise) for _ in range(RUNS)])


def _wrong(task: Task, counts: NDArray[np.int64], rules: list[Rule | None]) -> str:
    learnt = [rule for rule in rules if rule is not None]
    return f"{task.costs(learnt, counts).mean() / counts.sum():.3f} ({len(learnt)})"


if __name__ == "__main__":
    text = "\n".join(lines()) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    print(text)
