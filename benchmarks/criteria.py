"""How often criteria are decided wrongly, and how close their bounds are: many releases of small tables of which the truth is known.

    python -m benchmarks.criteria --runs 200

Each run invents people, makes a release of them with a criterion of every kind, and compares error, bounds and outcome with the truth. The
limit of a criterion is near its error, where it is hardest to tell. The noise is seeded: nobody's privacy is at stake.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from benchmarks.table import RESULTS
from dpsynth_core.criteria.criterion import Decided
from dpsynth_core.evaluation.comparison import Evidence
from dpsynth_core.evaluation.models import usefulness
from dpsynth_core.evaluation.totals import Total
from dpsynth_core.planning import training_time
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.report import criteria as words
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.demo import demo_domain

_TREES = 10
"""Of boosting: how good a model is does not matter here, only whether it is said rightly."""
_NO_NOISE = 1e8
"""A rho with which noise is not worth mentioning."""
COLUMNS = ("sex", "age", "health", "employment")
YOUNG = {"age": ["0..39"]}
CRITERIA: tuple[dict[str, Any], ...] = (
    {"kind": "tables", "limit": 0.1},
    {"kind": "tables", "tables": [["sex", "age"]], "limit": 0.1},
    {"kind": "subgroup", "where": YOUNG, "limit": 0.1},
    {"kind": "share", "of": {"sex": "female"}, "tolerance": 0.02},
    {"kind": "share", "of": {"employment": "unemployed"}, "among": {"sex": "female"}, "against": {"sex": "male"}, "tolerance": 0.02},
    {"kind": "mean", "column": "age", "tolerance": 1.0},
    {"kind": "mean", "column": "age", "among": {"sex": "female"}, "tolerance": 1.0},
    {"kind": "quantile", "column": "age", "tolerance": 10.0},
    {"kind": "quantile", "column": "age", "p": 0.75, "among": {"sex": "female"}, "tolerance": 10.0},
    {"kind": "model", "column": "sex", "model": "logistic regression", "at_least": 0.5},
    {"kind": "model-gain", "column": "sex", "model": "logistic regression", "above_guess": 0.01},
)


@dataclass(frozen=True)
class Trial:
    """One criterion of one release. error: the true one. at_least, at_most: as the release states it."""

    about: str
    error: float
    at_least: float
    at_most: float

    @property
    def wrong(self) -> tuple[bool, bool]:
        """Whether it would be met with a limit just below its error, and not met with one just above."""
        hardly = 0.001 * abs(self.error)
        return self.at_most <= self.error - hardly, self.at_least > self.error + hardly


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="How often criteria are decided wrongly.")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--people", type=int, default=3_000)
    parser.add_argument("--epsilon", type=float, default=2.0)
    parser.add_argument("--mechanism", default="independent")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    training_time.ROUNDS = _TREES
    trials: list[Trial] = []
    for number in range(options.runs):
        if number % 20 == 0:
            print(f"run {number + 1}", file=sys.stderr)
        trials += _trials(options, number)
    _write(options, trials)
    return 0


def _trials(options: argparse.Namespace, number: int) -> list[Trial]:
    plan = synthesis.plan(_spec(options, number))
    source = CodesSource(plan.domain, _people(plan, options.people, number))
    made = synthesis.synthesize(plan, source, synthesis.noise_for(plan.spec), lambda _: None)
    exact = _exact(plan, source, made)
    return [
        Trial(words.asked(one.criterion, plan.domain), true.interval.error, one.interval.at_least, one.interval.at_most)
        for one, true in zip(made.criteria, exact, strict=True)
        if one.interval and true.interval  # a run that came to its end measured them all
    ]


def _spec(options: argparse.Namespace, number: int) -> Spec:
    return Spec.from_json(
        {
            "population": "benchmark",
            "data": {"kind": "demo"},
            "domain": demo_domain().keep(COLUMNS).to_json(),
            "workload": {"kind": "all", "k": 2},
            "criteria": list(CRITERIA),
            "budget": {"epsilon": options.epsilon, "delta": 1e-9, "criteria": 0.2, "models": 0.1},
            "mechanism": {"name": options.mechanism},
            "output": {"seed": number},
        }
    )


def _people(plan: Plan, count: int, seed: int) -> np.ndarray:
    """Codes, shape (people, columns): each column leans on the one before."""
    rng, codes = np.random.default_rng(10_000 + seed), np.zeros((count, len(plan.domain)), dtype=np.int32)
    for place, size in enumerate(plan.domain.sizes(plan.domain.names)):
        free = np.minimum(size - 1, rng.geometric(1.5 / size, count) - 1)
        codes[:, place] = np.where(rng.random(count) < 0.4, codes[:, place - 1] % size, free)
    return codes


def _exact(plan: Plan, source: CodesSource, made: Release) -> tuple[Decided, ...]:
    """The same criteria decided without noise worth mentioning, beside the true number of people."""
    assert made.codes is not None
    released = Evidence(made.domain, made.codes, made.measurements, made.total)
    people = Total(float(source.counts([()])[()]), 0.0)
    kernel = synthesis.PrivacyKernel(source, Unit(), 3 * _NO_NOISE, synthesis.noise_for(plan.spec))
    models = usefulness.measure(kernel.part(_NO_NOISE), made.domain, made.codes.astype(np.int32), plan.targets, people)
    rich = replace(plan, shares=replace(plan.shares, criteria=_NO_NOISE))
    return synthesis.decided(rich, kernel, people, released, models)


def _write(options: argparse.Namespace, trials: Sequence[Trial]) -> None:
    lines = [_HEAD.format(**vars(options))]
    record: list[dict[str, Any]] = []
    for about in dict.fromkeys(trial.about for trial in trials):
        own = [trial for trial in trials if trial.about == about]
        low, high = sum(t.at_least <= t.error for t in own), sum(t.error <= t.at_most for t in own)
        met, failed = (sum(t.wrong[side] for t in own) for side in (0, 1))
        median = float(np.median([t.at_most / t.error if t.error > 0 else math.inf for t in own]))
        ratio = median if math.isfinite(median) else None
        least = min(binomtest(count, len(own), 0.95, alternative="less").pvalue for count in (low, high))
        counts = {"lower": low, "upper": high, "wrongly met": met, "wrongly not met": failed}
        record.append({"about": about, **counts, "ratio": ratio, "p": least})
        shares = " | ".join(f"{100 * count / len(own):.1f} %" for count in counts.values())
        lines.append(f"| {about} | {shares} | {'–' if ratio is None else f'{ratio:.2f}'} |")
    options.results.mkdir(parents=True, exist_ok=True)
    (options.results / "criteria.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = {name: value for name, value in vars(options).items() if name != "results"}
    (options.results / "criteria.json").write_text(json.dumps({**settings, "criteria": record}, indent=1) + "\n", encoding="utf-8")


_HEAD = """# Criteria: outcomes beside the truth

`python -m benchmarks.criteria --runs {runs} --people {people} --epsilon {epsilon:g} --mechanism {mechanism}`: that many releases of
invented people, a fifth of each budget for its criteria, and a tenth for what models are worth. A bound should hold for 95 % of the
releases or more. "Wrongly met": it would have been met with a limit a thousandth below its true error; "wrongly not met": with one a
thousandth above. Both may happen to 5 % at most. Last: the upper bound over the true error, in the median; where errors are smaller than
noise, it says how small that is; nothing where most releases have an error below 0, as of a model that is right more often than was asked.

| criterion | lower bound held | upper bound held | wrongly met | wrongly not met | bound / error |
|---|---|---|---|---|---|"""


if __name__ == "__main__":
    sys.exit(main())
