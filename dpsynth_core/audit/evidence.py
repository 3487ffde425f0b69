"""Confidence bounds from draws: the event that tells two tables apart best, and bounds of its rates at a stated error probability.

The event is chosen on the first draws of either table, its rates are bounded on the others (Clopper and Pearson 1934), so that choosing
costs no confidence: whatever the choice, a promise that is kept is called broken with probability `level` at most. An event
is "the score is at least t" or "at most t". The score is what a person is guessed to have changed (`losses`), plus, for answers of
a few kinds, the logarithm of how much more often that answer came with the person than without, in the first draws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv
from scipy.stats import binom

from dpsynth_core.audit.claims import Claim

FALSE_ALARM = 1e-6
"""Chance that an audit, all its tests together, reports a violation although every promise is kept."""
CHOOSING = 0.25
"""Share of the draws that the event is chosen on: bounding two probabilities takes more than choosing between thresholds."""
EXACT = 1e-9
"""Rounding allowed to probabilities that were computed, not drawn: relative, and absolute where zero is claimed."""
_CANDIDATES = 200
_SURE = 0.95

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Draw:
    """One answer. loss: a guess at ln(Pr[answer | with] / Pr[answer | without]). label: the answer itself, of a few kinds; or None."""

    loss: float
    label: Hashable = None


@dataclass(frozen=True)
class Finding:
    """claim: what was promised. least: the smallest parameter that the draws allow. draws: of each table; 0: every probability
    was computed."""

    claim: Claim
    least: float
    draws: int

    @property
    def broken(self) -> bool:
        rounding = 0.0 if self.draws else EXACT
        return self.least > self.claim.claimed * (1 + rounding) + rounding


def from_draws(claim: Claim, draws: tuple[Sequence[Draw], Sequence[Draw]], level: float) -> Finding:
    """What as many draws of either table, in the order in which they were made, say against a claim."""
    count, first = len(draws[0]), math.ceil(CHOOSING * len(draws[0]))
    seen = [Counter(draw.label for draw in side[:first] if draw.label is not None) for side in draws]

    def score(draw: Draw) -> float:
        """With how much more often its label came with the person than without, among the first. Half a draw more keeps it finite."""
        return draw.loss + math.log((seen[1][draw.label] + 0.5) / (seen[0][draw.label] + 0.5))

    without, with_person = (np.array([score(draw) for draw in side]) for side in draws)
    choices = [
        (*_best_threshold(claim, (low[:first], high[:first]), count - first, level), low[first:], high[first:])
        for low, high in ((without, with_person), (-with_person, -without))
    ]
    _, threshold, low, high = max(choices, key=lambda choice: choice[0])
    fpr = _highest(np.array([(low >= threshold).sum()]), len(low), level / 2)
    tpr = _lowest(np.array([(high >= threshold).sum()]), len(high), level / 2)
    return Finding(claim, float(claim.least(fpr, tpr)[0]), count)


def from_probabilities(claim: Claim, without: dict[Hashable, float], with_person: dict[Hashable, float]) -> Finding:
    """The same from every answer's probability: the best event is a set of the answers whose ratios are largest (Neyman and Pearson)."""
    answers = {*without, *with_person}
    p, q = (np.array([side.get(answer, 0.0) for answer in answers]) for side in (with_person, without))
    most = 0.0
    for high, low in ((p, q), (q, p)):
        order = np.lexsort((-high, low / (high + low)))
        tpr, fpr = np.cumsum(high[order])[:-1], np.cumsum(low[order])[:-1]
        exact = (tpr < 1 - EXACT) | (fpr < EXACT)  # of nearly all answers, the complement is summed precisely, the other way round
        tpr, fpr = tpr[exact], fpr[exact]
        most = max(most, float(claim.least(fpr, tpr).max(initial=0.0)))
    return Finding(claim, most, 0)


def smallest_visible(claim: Claim, draws: int, level: float) -> float:
    """The smallest value of the parameter at which an audit finds the claim broken 95 times of 100, if the answers are as telling as in
    `Claim.example` and the guesses at their losses as good as can be. An audit without a finding tells nothing about values below."""
    low, high = claim.claimed, max(1e-3, 2 * claim.claimed)
    while not _visible(claim, high, draws, level):
        low, high = high, 2 * high
        if high > 1e6:
            return math.inf
    while high - low > 0.01 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _visible(claim, middle, draws, level) else (middle, high)
    return high


def _visible(claim: Claim, parameter: float, draws: int, level: float) -> bool:
    """Whether even the unlucky counts of the best event, one in 40 on either side, give the claim away."""
    fpr, tpr = claim.example(parameter)
    held_out, unlucky = draws - math.ceil(CHOOSING * draws), (1 - _SURE) / 2
    above, below = binom.ppf(1 - unlucky, held_out, fpr), binom.ppf(unlucky, held_out, tpr)
    return bool((claim.least(_highest(above, held_out, level / 2), _lowest(below, held_out, level / 2)) > claim.claimed).any())


def _best_threshold(claim: Claim, scores: tuple[Scores, Scores], held_out: int, level: float) -> tuple[float, float]:
    """(the bound on the parameter, threshold) for the event "at least the threshold", if the held-out draws fall as these did."""
    low, high = (np.sort(side) for side in scores)
    candidates = np.unique(np.concatenate([low, high]))
    candidates = candidates[np.unique(np.linspace(0, len(candidates) - 1, _CANDIDATES).astype(int))]
    rates = [(len(side) - np.searchsorted(side, candidates) + 0.5) / (len(side) + 1) for side in (low, high)]
    bounds = claim.least(_highest(rates[0] * held_out, held_out, level / 2), _lowest(rates[1] * held_out, held_out, level / 2))
    apart = (rates[1] - rates[0]) / np.sqrt(rates[0] * (1 - rates[0]) + rates[1] * (1 - rates[1]))
    hoped = np.where(bounds > 0, bounds, 1e-9 * apart)  # without a positive bound: by how many standard deviations the rates differ
    return float(hoped.max()), float(candidates[hoped.argmax()])


def _highest(count: NDArray[np.float64], draws: int, level: float) -> NDArray[np.float64]:
    """Clopper and Pearson's upper limit of a probability."""
    return np.where(count >= draws, 1.0, betaincinv(count + 1, np.maximum(draws - count, 1e-9), 1 - level))


def _lowest(count: NDArray[np.float64], draws: int, level: float) -> NDArray[np.float64]:
    return np.where(count <= 0, 0.0, betaincinv(np.maximum(count, 1e-9), draws - count + 1, level))
