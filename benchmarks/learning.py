"""Theorems 5, 9 and 10 of Neel, Roth, Wu 2019 by simulation: how much worse than the best rule are those that RSPM and PRSMA learn, beside
the bound of Theorem 5, on invented records of two-valued columns of which the last is wrong about "all of the first two" one time in ten.

    python -m benchmarks learning --columns 2 4 8 --records 2000 200000 --runs 20

One of the records is replaced in the paper's relation, so it is here. Theorem 10 is OracleQuery's: the largest error of any rule over all
columns, by the number of records. True costs are looked at: the records are invented.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import figures, record
from dpsynth_core.extensions.research.oracles.rules.rule_oracle import EXHAUSTIVE, Oracle, Task, all_values
from dpsynth_core.extensions.research.oracles.rules.rules import CONJUNCTION, RuleClass, features
from dpsynth_core.extensions.research.privacy import rspm
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.steps import Finished
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway

BETA, DELTA = 0.05, 1e-4
LEARNERS = {"rspm": "RSPM", "gaussian": "Gaussian RSPM", "prsma": "PRSMA", "oraclequery": "OracleQuery"}
_WRONG = 0.1


@dataclass(frozen=True)
class Point:
    """columns: besides the one that is predicted."""

    learner: str
    columns: int
    records: int
    epsilon: float = 1.0


def points(options: argparse.Namespace) -> Iterator[record.Point]:
    asked = product(options.learners, options.columns, options.records, options.epsilons)
    yield from (asdict(Point(*one)) for one in asked)


def measure(point: Point) -> dict[str, Any]:
    """error: of a learner, by how many of the people its rule is wrong more often than the best one; of OracleQuery, the largest of a rule.
    bound: Theorem 5's, which holds but for a share BETA of the runs."""
    source, clock, begun = _people(point.columns, point.records), time.monotonic(), time.process_time()
    error = _game(source, point) if point.learner == "oraclequery" else _excess(source, point)
    separators = point.columns
    bound = 4 * separators**2 * math.log(separators / BETA) / (point.epsilon * point.records)
    costs = {"cpu_seconds": round(time.process_time() - begun, 2), "seconds": round(time.monotonic() - clock, 2)}
    return {"error": round(error, 6)} | ({"bound": round(bound, 6)} if point.learner == "rspm" else {}) | costs


def _people(columns: int, count: int) -> CodesSource:
    rng = np.random.default_rng(columns)
    codes = (rng.random((count, columns + 1)) < 0.6).astype(np.int32)
    codes[:, -1] = codes[:, :2].all(axis=1) ^ (rng.random(count) < _WRONG)
    two = {"kind": "categorical", "categories": ["no", "yes"], "other": False, "missing": False}
    names = [*(f"c{i}" for i in range(columns)), "y"]
    return CodesSource(Domain.from_json({"version": 1, "attributes": [{"name": name, **two} for name in names]}), codes)


def _excess(source: CodesSource, point: Point) -> float:
    """Shares of the people. A learner that names no rule errs as much as the worst one."""
    domain, noise, oracle = source.domain, OpenDPNoise(), Oracle(EXHAUSTIVE, 10)
    task = Task.of(domain, RuleClass(CONJUNCTION, features(domain, domain.names[:-1])), "y")
    table, change = source.occupied(task.columns), Unit(REPLACE).marginal_l1
    if point.learner == "prsma":
        rule = rspm.robust_minimum(task, table, rspm.Prsma(point.epsilon, DELTA), change, oracle, noise)
    elif point.learner == "gaussian":
        sigma = rspm.gaussian_sigma(task.rules, change, point.epsilon, DELTA)
        rule = _read(task, rspm.minimum(task, table, rspm.gaussian_noise(task.rules, sigma, noise), oracle))
    else:
        scale = rspm.perturbation(len(task.rules.separators), change, point.epsilon).scale
        rule = _read(task, rspm.minimum(task, table, rspm.laplace_noise(task.rules, scale, noise), oracle))
    problem = task.problem(table)
    every = all_values(problem)
    cost = int(every.max()) if rule is None else problem.value(rule)
    return (cost - int(every.min())) / (rspm.STEPS * point.records)


def _read(task: Task, written: rspm.Integers) -> Any:
    return task.rules.read(written) if len(written) else None


def _game(source: CodesSource, point: Point) -> float:
    """Over all conjunctions of any number of columns, negated values left aside."""
    mechanism = registry.configured(registry.get("oraclequery"), {})
    accountant = mechanism.card.accountant
    rho = accountant.rho_from(point.epsilon, DELTA)
    kernel = PrivacyKernel(source, Unit(REPLACE), rho, OpenDPNoise(), accountant=accountant)
    *_, finished = mechanism.steps(kernel, all_kway(source.domain, 1))
    assert isinstance(finished, Finished)
    names = source.domain.names
    true, made = source.counts([names])[names] / point.records, finished.model.marginal(names) / finished.total
    every: Any = product((slice(None), 1), repeat=len(names))
    return max(abs(float(true[rule].sum() - made[rule].sum())) for rule in every)


def lines(kept: Mapping[str, Any]) -> list[str]:
    """The means as a table."""
    frame = pd.DataFrame(kept["runs"])
    rows = []
    for (learner, columns, records), part in frame.groupby(["learner", "columns", "records"], sort=False):
        bound = f"{part['bound'].mean():.3g}" if part["bound"].notna().any() else ""
        rows.append([LEARNERS[str(learner)], columns, f"{records:,}", f"{part['error'].mean():.4f} ({len(part)})", bound])
    about = f"Epsilon 1, delta {DELTA:g}, {figures.days(kept)}: mean excess over the best rule (runs); of OracleQuery a rule's largest."
    heads = ("learner", "columns", "records", "error", f"bound of Theorem 5 at {BETA:g}")
    return [about, "", *record.table(heads, rows)]


_DEFAULTS = {"learners": list(LEARNERS), "columns": [2, 4, 8], "records": [2_000, 20_000, 200_000], "epsilons": [1.0], "runs": 3}
PROGRAM = record.Program(
    "learning", __doc__, points, lambda point: measure(Point(**point)), lines, _DEFAULTS, {"learners": LEARNERS}
)
main = PROGRAM.main
