"""The search for OracleQuery's defaults on invented people with ten two-valued columns: rounds, perturbation, and rounds left out.

    python -m benchmarks.oraclequery_defaults

Writes results/oraclequery_defaults.json and .md: the largest error of any cell of all three-way tables, as a share of the people, and the
mean share of people in a wrong cell, for each learner and budget. One seed a setting; what is chosen is the region, not the best line.
A setting that is in the record is not measured again: interrupt it, and go on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.steps import Finished
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import Workload, all_kway

PEOPLE, COLUMNS = 10_000, 10
RHOS = (0.015, 0.15)
LEARNERS = ("exponential", "laplace")
ROUNDS, PERTURBATIONS, SKIPS = (40, 80, 120, 160), (0.1, 0.25, 0.5), (0.0, 0.25, 0.5)
RESULTS = Path(__file__).with_name("results") / "oraclequery_defaults.json"


def invented(seed: int = 50) -> CodesSource:
    """The last column is the first and the second, wrong for one in ten; others are rare, or follow the one before."""
    rng = np.random.default_rng(seed)
    codes = (rng.random((PEOPLE, COLUMNS)) < np.linspace(0.7, 0.2, COLUMNS)).astype(np.int32)
    follows = rng.random((PEOPLE, COLUMNS)) < 0.5
    for i in range(3, COLUMNS - 1):
        codes[:, i] = np.where(follows[:, i], codes[:, i - 1], codes[:, i])
    codes[:, -1] = (codes[:, 0] & codes[:, 1]) ^ (rng.random(PEOPLE) < 0.1)
    return CodesSource(Domain.from_json({f"c{i}": 2 for i in range(COLUMNS)}), codes)


def errors(people: CodesSource, workload: Workload, rho: float, **settings: Any) -> tuple[float, float]:
    """(largest error of a cell, mean share of people in a wrong cell)."""
    mechanism = registry.get("oraclequery")
    kernel = PrivacyKernel(people, Unit(), rho, SeededNoise(1))
    *_, last = registry.configured(mechanism, settings).steps(kernel, workload)
    assert isinstance(last, Finished)
    true = people.counts(workload.cliques)
    gaps = [np.abs(last.model.marginal(r) - true[r]) for r in workload.cliques]
    return max(float(gap.max()) for gap in gaps) / PEOPLE, float(np.mean([gap.sum() for gap in gaps])) / PEOPLE / 2


def main(rounds: Sequence[int] = ROUNDS) -> None:
    people = invented()
    workload = all_kway(people.domain, 3)
    trials: list[dict[str, Any]] = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else []
    for rho, learner, t, perturbation, skip in product(RHOS, LEARNERS, rounds, PERTURBATIONS, SKIPS):
        setting = {"learner": learner, "rounds": t, "perturbation": perturbation, "skip": skip}
        if any(run.items() >= (setting | {"rho": rho}).items() for run in trials):
            continue
        largest, mean = errors(people, workload, rho, **setting)
        trials.append({"rho": rho, **setting, "largest": round(largest, 4), "mean": round(mean, 4)})
        print(trials[-1], flush=True)
        RESULTS.write_text(json.dumps(trials, indent=1) + "\n", encoding="utf-8")
    RESULTS.with_suffix(".md").write_text("\n".join(table(trials)) + "\n", encoding="utf-8")


def table(trials: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each rounds, perturbation and skip: the largest error of each budget and learner, and the mean over those columns."""
    asked = list(product(RHOS, LEARNERS))
    yield f"| rounds | perturbation | skip | {' | '.join(f'{learner}, rho {rho:g}' for rho, learner in asked)} | mean |"
    yield "|---" * (4 + len(asked)) + "|"
    largest = {tuple(run[name] for name in ("rounds", "perturbation", "skip", "rho", "learner")): run["largest"] for run in trials}
    for t, perturbation, skip in sorted({key[:3] for key in largest}):
        those = [largest.get((t, perturbation, skip, rho, learner), math.nan) for rho, learner in asked]
        columns = " | ".join(f"{error:.4f}" for error in [*those, sum(those) / len(those)])
        yield f"| {t} | {perturbation:g} | {skip:g} | {columns} |"


if __name__ == "__main__":
    main()
