"""Whether models are right as often as releases say: stated intervals beside the exact shares of the people, over many releases.

Each release has fresh noise and names a column to predict; the same models are trained again, and every person is asked. Beside it stands
what models reach that were trained on one half of the real people and asked about the other. Looks at records without noise: for invented
people and public tables only.

    python -m benchmarks usefulness invented --runs 200
    python -m benchmarks usefulness invented --runs 200 --relation replace
    python -m benchmarks usefulness adult --runs 5
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.table import ADULT_FOLDER, released, spec
from dpsynth_core.claims.models import training
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.cli.release_commands import parse_workload
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, Spec, StandinSpec
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.sources import simulated
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import one_table, right_counts

INVENTED = StandinSpec(rows=1000, strength=0.8, seed=3)
SMALL = {"a": 2, "b": 3, "c": 4, "d": 5}


@dataclass(frozen=True)
class Asked:
    """A table, its column to predict, and how its releases are made."""

    data: dict[str, Any]
    domain: Domain
    column: str
    workload: str
    mechanism: str

    def people(self) -> NDArray[np.int32]:
        """All records, as codes of the domain."""
        if self.data["kind"] == "standin":
            return simulated.simulate(self.domain, INVENTED.rows, INVENTED.strength, INVENTED.seed)
        return pd.read_csv(self.data["path"])[list(self.domain.names)].to_numpy(np.int32)


@dataclass(frozen=True)
class Stated:
    """What a release says of a model, and the truth. rows: its synthetic ones."""

    model: str
    value: float
    low95: float
    high95: float
    exact: float
    rows: int

    @property
    def holds(self) -> bool:
        return self.low95 <= self.exact <= self.high95


def asked_of(table: str) -> Asked:
    if table == "invented":
        return Asked({"kind": "standin", "standin": INVENTED.model_dump()}, Domain.from_json(SMALL), "a", "all-2way", "independent")
    data = {"kind": "csv", "path": str(ADULT_FOLDER / "adult-binned.csv")}
    return Asked(data, load_domain(ADULT_FOLDER / "adult-binned-domain.json"), "income>50K", "target:income>50K:3", "aim")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, epsilon=1.0, delta=1e-9, relation="add-remove", share=MODELS.share.default, runs=5)
    parser.add_argument("table", choices=("invented", "adult"))
    options = parser.parse_args(arguments)
    asked = asked_of(options.table)
    plan = synthesis.plan(_spec(options, asked))
    people = asked.people()
    stated: list[Stated] = []
    seconds = []
    for number in range(options.runs):
        print(f"run {number + 1}", file=sys.stderr)
        began = time.process_time()
        release = released(plan)
        seconds.append(time.process_time() - began)
        stated.extend(compared(release, people))
    _write(options, asked, stated, seconds, real(plan, people))


def compared(release: Release, people: NDArray[np.int32]) -> Iterator[Stated]:
    """What a release says of its models and of the guess, beside the exact shares."""
    rows = one_table(release.codes)
    assert rows is not None
    (target,) = release.plan.targets
    codes = rows.astype(np.int32)
    models = (*training.trained(release.domain, codes, target), training.majority(release.domain, codes, target))
    exact = (right_counts(release.domain, people, [one.predictor for one in models]) / len(people)).tolist()
    told = [one.of_model for one in release.usefulness] + [release.usefulness[0].of_guess]
    for model, share, true in zip(models, told, exact, strict=True):
        yield Stated(model.name, share.value, share.low95, share.high95, true, len(rows))


def real(plan: Plan, people: NDArray[np.int32]) -> dict[str, float]:
    """How often models are right about one half of the people that were trained on the other half."""
    shuffled = np.random.default_rng(0).permutation(people)
    first, second = shuffled[: len(people) // 2], shuffled[len(people) // 2 :]
    (target,) = plan.targets
    models = training.trained(plan.domain, first, target)
    right = right_counts(plan.domain, second, [one.predictor for one in models]) / len(second)
    return {model.name: float(share) for model, share in zip(models, right, strict=True)}


def _spec(options: argparse.Namespace, asked: Asked) -> Spec:
    budget = {"epsilon": options.epsilon, "delta": options.delta, "certificate": DEFAULT_CERTIFICATE, "models": options.share}
    workload, models = parse_workload(asked.workload, asked.domain).to_json(), [{"column": asked.column}]
    more = {"unit": {"relation": options.relation}, "domain_origin": "public", "workload": workload, "models": models}
    return spec(asked.data, asked.domain, asked.mechanism, budget, **more)


def _write(
    options: argparse.Namespace, asked: Asked, stated: Sequence[Stated], seconds: Sequence[float], trained: dict[str, float]
) -> None:
    names = dict.fromkeys(one.model for one in stated)
    covered = {name: statistics.fmean(one.holds for one in stated if one.model == name) for name in names}
    kept = {
        **{name: getattr(options, name) for name in ("table", "epsilon", "delta", "relation", "share", "runs")},
        "column": asked.column,
        "workload": asked.workload,
        "mechanism": asked.mechanism,
        "coverage": statistics.fmean(one.holds for one in stated),
        "coverage_by_model": covered,
        "cpu_seconds": statistics.fmean(seconds),
        "trained_on_real": trained,
        "stated": [asdict(one) for one in stated],
        "versions": synthesis.versions(MODELS.libraries),
    }
    for name in covered:
        of_one = [one for one in stated if one.model == name]
        value, exact = (statistics.fmean(getattr(one, field) for one in of_one) for field in ("value", "exact"))
        half = statistics.fmean((one.high95 - one.low95) / 2 for one in of_one)
        beside = f"; trained on real rows {trained[name]:.4f}" if name in trained else ""
        print(f"{name}: stated {value:.4f} ± {half:.4f}, exact {exact:.4f}, {covered[name]:.1%} of the intervals hold{beside}")
    print(f"{options.table}, epsilon {options.epsilon:g}, {options.runs} releases, {kept['cpu_seconds']:.2f} processor seconds each")
    record.write(options.results / f"usefulness_{options.table}_{options.relation}_eps{options.epsilon:g}", kept)
