"""A short list of mechanisms for a plan, with reasons, from public facts alone, before anything is spent.

The expected errors come from a small model, least squares on a table of our own trials on simulated tables (`benchmarks/recommendation.py`
measures and fits; the result is the JSON beside this file). It knows the plan's shape and nothing of the private table, so an error may be
off by the factor stated with it: the order of the list says more than its numbers. Trials on a stand-in are better.

There are two measures of error, and mechanisms that are good at one need not be at the other. Mechanisms that learn rules (OracleQuery,
certified learning) answer other questions than tables of counts, and are on no list.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dpsynth_core.foundation.zones import Zoned, public
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Forecast, UsesPublic
from dpsynth_core.planning.spec import MechanismSpec
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.workload import Workload

MODEL = Path(__file__).with_suffix(".json")
FEATURES = ("noise", "noise squared", "columns", "cells", "columns per table")
MEAN, LARGEST = MEASURES = ("error", "largest")
"""Share of people in a wrong cell, mean over the tables; the largest error of any count of any table, as a share of the people."""
LISTED = 3
"""Number of mechanisms on the list."""
BASELINE = "independent"
Model = Mapping[str, Any]
"""The fitted model of the trials, from `benchmarks/recommendation.py`."""
CLOSE = 1.3
"""Expected errors within this factor of the best count as equal: the model misses by more (docs/accuracy.md)."""
USUAL, FIXED = MechanismSpec().name, "hdmm_pgm"
"""The mechanisms that come first unless they take longer than others (`PATIENCE`) or their expected error is `FAR` above the others': the
adaptive one or, where noise is at most `SMALL_NOISE` (`FEW_NOISE` for few tables), the one with a fixed plan, if that can be fitted.
Expected errors know nothing of the table; choosing by them alone chooses worse (docs/accuracy.md).
"""
SMALL_NOISE, FEW_NOISE = 0.02, 0.1
"""Noise at which selections are not worth their cost (docs/accuracy.md)."""
FAR = 3.0
_WHY_FIRST = {USUAL: "the usual choice", FIXED: "with so little noise, or so few tables, it need not spend on choosing what to measure"}
PATIENCE = 600.0
"""Seconds that people who decide about a release wait anyway, so that a shorter time does not favour a mechanism."""


@dataclass(frozen=True)
class Situation:
    """The public facts about a plan that an expected error depends on.

    Attributes:
        noise: Share of people that noise alone puts in a wrong cell of a typical table, if every
            column were measured twice, with the noise's standard deviation in place of its mean
            absolute value (`feasibility`); may exceed 1.
        columns: Number of columns.
        cells: Cells of the median table.
        width: Mean number of columns of a table.
        few: Whether there are at most as many tables as columns.
    """

    noise: float
    columns: int
    cells: float
    width: float
    few: bool = False

    @staticmethod
    def of(workload: Workload, rho: float, unit: Unit, people: int) -> Situation:
        """Return the situation of a workload under a budget.

        Args:
            workload: The workload.
            rho: The mechanism's budget, in rho.
            unit: The unit of privacy.
            people: A public or declared number of people.
        """
        domain, sizes = workload.domain, workload.table_cells
        sigma = unit.marginal_l2 * math.sqrt(len(domain) / rho)
        cells = float(np.median(sizes))
        width, few = float(workload.widths.mean()), len(sizes) <= len(domain)
        return Situation(sigma * cells / (2 * people), len(domain), cells, width, few)

    @property
    def usual(self) -> str:
        """Name of the mechanism that comes first if both `USUAL` and `FIXED` fit.

        It is `FIXED` if tables have several columns and the noise is at most 0.02, or 0.1 with few tables; else
        `USUAL`.
        """
        return FIXED if self.width > 1 and self.noise <= (FEW_NOISE if self.few else SMALL_NOISE) else USUAL

    def features(self) -> list[float]:
        """Return the inputs of the fitted model, in the order of `FEATURES`.

        They are the natural logarithm of the noise, the square of that logarithm, the logarithms of
        the number of columns and of the cells of the median table, and the mean number of columns
        per table, untransformed.
        """
        noise = math.log(self.noise)
        return [noise, noise**2, math.log(self.columns), math.log(self.cells), self.width]


@dataclass(frozen=True)
class Expected:
    """An expected error with its uncertainty, as shares of people, at most 1.

    Attributes:
        error: The expected error in the requested measure (MEAN or LARGEST).
        low: The error if it is one standard deviation of the model's misses below `error`.
        high: The error if it is one standard deviation of the model's misses above `error`.
        beyond: Whether the plan lies outside of this mechanism's trials, so that the error is
            extrapolated.
    """

    error: float
    low: float
    high: float
    beyond: bool


@dataclass(frozen=True)
class Recommendation:
    """A mechanism with its expected error, its forecast and the reasons for its place on the list, in our own words.

    Attributes:
        name: Name of the mechanism in the registry.
        title: Its title for people.
        expected: Its expected error.
        forecast: Its expected time and memory.
        reasons: The reasons, as clauses.
    """

    name: str
    title: str
    expected: Expected
    forecast: Forecast
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Basis:
    """The trials behind the expected errors.

    Attributes:
        made: The model's own statement of when it was made.
        scenarios: Number of simulated scenarios.
        trials: Number of trials of all registered mechanisms together.
    """

    made: str
    scenarios: int
    trials: int


def basis() -> Basis:
    """Return the trials behind the model in use."""
    model = _model()
    return Basis(model["made"], model["scenarios"], sum(map(trials, registry.MECHANISMS)))


def trials(name: str) -> int:
    """Return the number of trials of the mechanism `name`; 0 if it was not tried."""
    tried: int = _model()["mechanisms"].get(name, {"trials": 0})["trials"]
    return tried


def expected(name: str, situation: Situation, measure: str = MEAN, model: Model | None = None) -> Expected | None:
    """Return the expected error of a mechanism, as shares of people; None if the mechanism was not part of the trials.

    A situation outside of the trials is moved to their border before the model is applied.

    Args:
        name: Name of the mechanism.
        situation: The situation.
        measure: MEAN (mean error of the tables) or LARGEST (largest error of any count).
        model: Fitted model; the one beside this file by default.
    """
    model = _model() if model is None else model
    own = model["mechanisms"].get(name)
    if own is None:
        return None
    features, low, high = (np.array(values) for values in (situation.features(), own["low"], own["high"]))
    inside = np.clip(features, low, high)
    inside[1] = inside[0] ** 2
    standard = (inside - model["centre"]) / model["scale"]
    log_error = own[measure]["weights"][0] + float(np.dot(own[measure]["weights"][1:], standard))
    beyond = bool((np.abs(features - inside) > 1e-4).any())
    error, least, most = (min(1.0, math.exp(log_error + shift * own[measure]["spread"])) for shift in (0, -1, 1))
    return Expected(error, least, most, beyond)


def recommend(
    situation: Situation, forecasts: Mapping[str, Forecast], measure: str = MEAN, model: Model | None = None
) -> Zoned[tuple[Recommendation, ...]]:
    """Return all mechanisms that make rows, were tried and fit by their forecasts, best first. Public.

    The tuple is empty if no mechanism does. Mechanisms whose expected errors are about equal are ordered by
    time, the usual one first. Mechanisms that were tried in other situations only come last.

    Args:
        situation: The situation.
        forecasts: By name of the mechanism, its forecast.
        measure: The measure of error to judge by, MEAN or LARGEST.
        model: Fitted model; the one beside this file by default.
    """
    candidates = {}
    for name, forecast in forecasts.items():
        error = expected(name, situation, measure, model)
        if forecast.fits and error is not None and registry.get(name).card.makes_rows:
            candidates[name] = (error, forecast)
    tried = {name: error.error for name, (error, _) in candidates.items() if not error.beyond}
    least, usual = min(tried.values(), default=1.0), situation.usual if situation.usual in tried else USUAL

    def rank(name: str) -> tuple[float, ...]:
        """Return the sort key of a mechanism.

        Mechanisms are sorted by steps of a factor `CLOSE` above the best error (for the usual
        mechanism only beyond `FAR`), then by waiting time beyond `PATIENCE`, then the usual
        mechanism first, then the faster one.

        Outside of the trials expected errors mislead: such a mechanism comes after all that were
        tried there, and no step counts.
        """
        error, forecast = candidates[name]
        near = error.beyond or (name == usual and error.error <= FAR * least)
        step = 0 if near else math.floor(math.log(error.error / least) / math.log(CLOSE))
        return error.beyond, step, max(forecast.seconds, PATIENCE), name != usual, forecast.seconds

    ranked = sorted(candidates, key=rank)
    best = ranked[:LISTED]
    return public(
        tuple(Recommendation(n, registry.get(n).card.title, *candidates[n], _reasons(n, usual, best, candidates)) for n in ranked)
    )


def _reasons(name: str, usual: str, ranked: Sequence[str], candidates: Mapping[str, tuple[Expected, Forecast]]) -> tuple[str, ...]:
    """Return the reasons for a mechanism's place on the list, as clauses.

    Args:
        name: The mechanism.
        usual: The mechanism that comes first among equals.
        ranked: The listed mechanisms, best first.
        candidates: By mechanism, its expected error and its forecast.
    """
    error, forecast = candidates[name]
    best = ranked[0]
    reasons = []
    if len(candidates) == 1:
        reasons.append("the only one that was tried and fits")
    elif name == best and error.error <= min(e.error for e, _ in candidates.values()):
        reasons.append("the smallest error expected")
    elif name == best:
        why = _WHY_FIRST[usual] if name == usual else "faster"
        reasons.append(f"as accurate as any, as far as we can tell, and {why}")
    elif error.error <= candidates[best][0].error * CLOSE:
        reasons.append(f"about as accurate as {registry.get(best).card.title}")
    else:
        reasons.append(f"about {_ratio(error.error / candidates[best][0].error)} times the error of {registry.get(best).card.title}")
    fastest = min(ranked, key=lambda n: candidates[n][1].seconds)
    if name == fastest and name != best and forecast.seconds * 2 < candidates[best][1].seconds:
        reasons.append(f"{_ratio(candidates[best][1].seconds / forecast.seconds)} times as fast")
    if name == BASELINE:
        reasons.append("on a budget this small, dependence between columns would drown in noise")
    elif BASELINE in candidates and error.error < candidates[BASELINE][0].error / CLOSE:
        reasons.append(f"{_ratio(candidates[BASELINE][0].error / error.error)} times as accurate as columns alone")
    if isinstance(registry.get(name), UsesPublic):
        reasons.append("as good as your public people resemble the private ones: the range is that of likenesses that were tried")
    if error.beyond:
        reasons.append("this plan lies outside of what was tried: take the number with caution")
    return tuple(reasons)


def _ratio(times: float) -> str:
    """Return a ratio with two digits: 1.4, 140."""
    return f"{float(f'{times:.2g}'):,g}"


@cache
def _model() -> Model:
    model: Model = json.loads(MODEL.read_text(encoding="utf-8"))
    return model
