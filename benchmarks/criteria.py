"""How often criteria are decided wrongly, and how close their bounds are: many releases of small tables of which the truth is known.

    python -m benchmarks criteria --runs 200

Each run invents people, makes a release of them with a criterion of every kind, and compares error, bounds and outcome with the truth. The
limit of a criterion is near its error, where it is hardest to tell. The noise is seeded: these people are invented.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from benchmarks import record
from benchmarks.table import spec
from dpsynth_core.claims.claim import Final
from dpsynth_core.claims.criteria import deciding as words
from dpsynth_core.claims.criteria.criteria import CRITERIA as CLAIM
from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.claims.models import measuring, training_time
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.demo import demo_domain
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.rows import one_table

_TREES = 10
"""Of boosting: how good a model is does not matter here, only whether it is said rightly."""
_NOISE = 1_000_000
"""Seeds of noise start here. With the seed that rows are drawn with, later noise would be made of the bits that chose the rows."""
_NO_NOISE = 1e8
"""A rho with which noise is not worth mentioning."""
COLUMNS = ("sex", "age", "health", "employment", "weekly_hours", "household_size")
YOUNG = {"age": ["0..39"]}
CRITERIA: tuple[dict[str, Any], ...] = (
    {"kind": "tables", "limit": 0.1},
    {"kind": "tables", "tables": [["sex", "age"]], "limit": 0.1},
    {"kind": "subgroup", "where": YOUNG, "limit": 0.1},
    {"kind": "ranges", "column": "age", "limit": 0.02},
    {"kind": "share", "of": {"sex": "female"}, "tolerance": 0.02},
    {"kind": "share", "of": {"employment": "unemployed"}, "among": {"sex": "female"}, "against": {"sex": "male"}, "tolerance": 0.02},
    {"kind": "mean", "column": "age", "tolerance": 1.0},
    {"kind": "mean", "column": "age", "among": {"sex": "female"}, "tolerance": 1.0},
    {"kind": "quantile", "column": "age", "tolerance": 10.0},
    {"kind": "quantile", "column": "age", "p": 0.75, "among": {"sex": "female"}, "tolerance": 10.0},
    {"kind": "regression", "outcome": "weekly_hours", "on": "age", "tolerance": 0.2},
    {"kind": "regression-sign", "outcome": "age", "on": "weekly_hours"},
    {"kind": "regression", "outcome": "weekly_hours", "on": "age", "adjusted_for": ["household_size"], "tolerance": 0.2},
    {"kind": "model", "column": "sex", "model": "logistic regression", "at_least": 0.5},
    {"kind": "model-gain", "column": "sex", "model": "logistic regression", "above_guess": 0.01},
)


@dataclass(frozen=True)
class Trial:
    """One criterion of one release. error: the true one. measured, at_least, at_most: as the release states it."""

    about: str
    error: float
    measured: float
    at_least: float
    at_most: float

    @property
    def wrong(self) -> tuple[bool, bool]:
        """Whether it would be met with a limit just below its error, and not met with one just above."""
        hardly = 0.001 * abs(self.error)
        return self.at_most <= self.error - hardly, self.at_least > self.error + hardly


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, runs=200, people=3_000, epsilon=2.0, mechanism="independent", name="criteria")
    options = parser.parse_args(arguments)
    training_time.ROUNDS = _TREES
    trials: list[Trial] = []
    for number in range(options.runs):
        if number % 20 == 0:
            print(f"run {number + 1}", file=sys.stderr)
        trials += _trials(options, number)
    _write(options, trials)


def _trials(options: argparse.Namespace, number: int) -> list[Trial]:
    budget, more = {"epsilon": options.epsilon, "criteria": 0.2, "models": 0.1}, {"criteria": list(CRITERIA), "output": {"seed": number}}
    plan = synthesis.plan(spec({"kind": "demo"}, demo_domain().keep(COLUMNS), options.mechanism, budget, **more))
    source = CodesSource(plan.domain, _people(plan, options.people, number))
    made = synthesis.synthesize(plan, source, SeededNoise(_NOISE + number), lambda _: None)
    exact = _exact(plan, source, made)
    return [
        Trial(words.asked(one.criterion, plan.domain), true.interval.error, one.interval.error, one.interval.at_least, one.interval.at_most)
        for one, true in zip(made.criteria, exact, strict=True)
        if one.interval and true.interval  # a run that came to its end measured them all
    ]


def _people(plan: Plan, count: int, seed: int) -> np.ndarray:
    """Codes, shape (people, columns): each column leans on the one before."""
    rng, codes = np.random.default_rng(10_000 + seed), np.zeros((count, len(plan.domain)), dtype=np.int32)
    for place, size in enumerate(plan.domain.sizes(plan.domain.names)):
        free = np.minimum(size - 1, rng.geometric(1.5 / size, count) - 1)
        codes[:, place] = np.where(rng.random(count) < 0.4, codes[:, place - 1] % size, free)
    return codes


def _exact(plan: Plan, source: CodesSource, made: Release) -> tuple[Decided, ...]:
    """The same criteria decided without noise worth mentioning, beside the true number of people."""
    codes = one_table(made.codes)
    assert codes is not None
    released = Evidence(made.domain, made.codes, made.measurements, made.total)
    people = Total(float(source.counts([()])[()]), 0.0)
    kernel = synthesis.PrivacyKernel(source, Unit(), 3 * _NO_NOISE, synthesis.noise_for(plan.spec))
    models = measuring.measure(kernel.part(_NO_NOISE), made.domain, codes.astype(np.int32), plan.targets, people)
    rich = replace(plan, shares=replace(plan.shares, aside=(("criteria", _NO_NOISE),)))
    final = Final(rich, released, people, {MODELS.name: models})
    return CLAIM.measure(rich, CLAIM.stage(rich, kernel), final)


def _write(options: argparse.Namespace, trials: Sequence[Trial]) -> None:
    lines = [_HEAD.format(**vars(options))]
    decided: list[dict[str, Any]] = []
    for about in dict.fromkeys(trial.about for trial in trials):
        one = _summary(about, [trial for trial in trials if trial.about == about])
        decided.append(one)
        shares = " | ".join(f"{100 * one[count] / one['releases']:.1f} %" for count in _COUNTS)
        ratios = " | ".join("–" if one[ratio] is None else f"{one[ratio]:.2f}" for ratio in ("ratio", "beside noise"))
        lines.append(f"| {about} | {shares} | {ratios} | {one['meets']} |")
    settings = {name: value for name, value in vars(options).items() if name not in ("results", "name")}
    record.write(options.results / options.name, {**settings, "criteria": decided}, lines)


def _summary(about: str, own: Sequence[Trial]) -> dict[str, Any]:
    """What is said of one criterion."""
    low, high = sum(t.at_least <= t.error for t in own), sum(t.error <= t.at_most for t in own)
    met, failed = (sum(t.wrong[side] for t in own) for side in (0, 1))
    error, bound = np.array([t.error for t in own]), np.array([t.at_most for t in own])
    noise = float(np.quantile(np.abs([t.measured - t.error for t in own]), 0.95))
    signed = float(np.median(error)) <= 0
    ratio = None if signed else float(np.median(bound / np.maximum(error, 1e-300)))
    beside = float(np.median((bound - error) / noise if signed else bound / (error + noise))) if math.isfinite(noise) else None
    least = min(binomtest(count, len(own), 0.95, alternative="less").pvalue for count in (low, high))
    counts = dict(zip(_COUNTS, (low, high, met, failed), strict=True))
    ratios = {"ratio": ratio, "beside noise": beside, "noise / error": None if signed else noise / float(np.median(error))}
    meets = _in_words(ratio, beside, least)
    return {"about": about, "releases": len(own), **counts, **ratios, "p": least, "meets": meets}


def _in_words(ratio: float | None, beside: float | None, least: float) -> str:
    """Which of the two yardsticks the bounds meet, and whether they hold. least: p-value of the worse coverage."""
    holds = "holds" if least > _TOO_RARE else "does not hold"
    if ratio is not None and ratio <= _NEAR:
        return f"{holds}; within {_NEAR:g} times the error"
    if beside is None:
        return f"{holds}; says nothing in more than a twentieth of the releases"
    return f"{holds}; {'within' if beside <= _NEAR else 'not within'} {_NEAR:g} times what its noise needs"


_COUNTS = ("lower", "upper", "wrongly met", "wrongly not met")
_NEAR = 1.3
_TOO_RARE = 0.01
"""Of coverage that a true level of 95 % would give."""
_HEAD = """# Criteria: outcomes beside the truth

`python -m benchmarks criteria --runs {runs} --people {people} --epsilon {epsilon:g} --mechanism {mechanism}`: that many releases of
invented people, a fifth of each budget for its criteria, and a tenth for what models are worth. A bound should hold for 95 % of the
releases or more. "Wrongly met": it would have been met with a limit a thousandth below its true error; "wrongly not met": with one a
thousandth above. Both may happen to 5 % at most. "Bound / error": in the median. Where errors are smaller than noise, that says how small
they are, and nothing of the bound: so beside it the bound over error plus noise, the noise being what 95 % of the measurements are within
in these very releases. No bound that holds in 95 % of releases can do without it. Errors below 0 (a model that is right more often than was
asked, a quantile with people to spare) have no ratio: there it is the distance from error to bound over the noise. The last column says
which is at most 1.3, and whether coverage is compatible with 95 % (p above 0.01).

| criterion | lower bound held | upper bound held | wrongly met | wrongly not met | bound / error | bound / (error + noise) | bound |
|---|---|---|---|---|---|---|---|"""
