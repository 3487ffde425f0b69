"""Confidence bounds from draws: the event that tells two tables apart best, and bounds of its rates at a stated error probability.

The first draws of either table choose the event, and its rates are bounded on the others (Clopper and Pearson 1934), so that choosing costs
no confidence: with any choice, an audit calls a kept promise broken with probability `level` at most. An event is "the score is at least t"
or "at most t". The score is a guess at the person's change (`losses`), plus, for answers of a few kinds, the logarithm of the ratio of that
answer's frequencies with and without the person in the first draws.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, ndtr
from scipy.stats import binom

from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.accountant import GDP, ZCDP, Accountant
from dpsynth_core.privacy.events import Event, Thresholded, delta_of

Rates = NDArray[np.float64]

_THRESHOLDS = np.linspace(-3.0, 7.0, 401)


@dataclass(frozen=True)
class Accounted:
    """The promise of a charge in one of the accountants.

    Attributes:
        accountant: The accountant.
        rho: The charged parameter of the accountant.
        slack: The probability with which steps may not keep their promise.
    """

    accountant: Accountant
    rho: float
    slack: float = 0.0

    @property
    def claimed(self) -> float:
        """The rho that is charged."""
        return self.rho

    def least(self, fpr: Rates, tpr: Rates) -> Rates:
        """Return the least rho under which tests with these rates are possible, shape (rates,).

        It is 0 if tpr <= fpr, and it may be infinite.

        Args:
            fpr: False-positive rates, fractions, shape (rates,).
            tpr: True-positive rates at these, shape (rates,).
        """
        return meaning.least_rho(self.accountant, fpr, tpr, self.slack)

    def example(self, parameter: float) -> tuple[Rates, Rates]:
        """Return (false-positive rates, true-positive rates) of threshold tests on Gaussian noise with rho `parameter`.

        Each is an array of fractions, one per threshold. Gaussian noise spends exactly its charge in both
        accountants.
        """
        return ndtr(-_THRESHOLDS), ndtr(math.sqrt(2 * parameter) - _THRESHOLDS)

    def stated(self, parameter: float) -> str:
        """Return a rho in the accountant's words. It has no words for 0 and infinity, which are written as numbers."""
        return meaning.stated(self.accountant, parameter) if 0 < parameter < math.inf else f"rho = {parameter:g}"

    @property
    def name(self) -> str:
        """The name of the accountant, with the slack (a probability) unless that is 0."""
        return self.accountant.name + (f" except for {self.slack:.3g}" if self.slack else "")


@dataclass(frozen=True)
class Bounded:
    """The promise of (epsilon, delta)-differential privacy.

    Attributes:
        epsilon: The epsilon.
        delta: The delta; 0 for pure differential privacy.
    """

    epsilon: float
    delta: float = 0.0

    @property
    def claimed(self) -> float:
        """The epsilon that is promised."""
        return self.epsilon

    def least(self, fpr: Rates, tpr: Rates) -> Rates:
        """Return the least epsilon under which tests with these rates are possible, shape (rates,).

        It follows from tpr <= e^eps fpr + delta, also for the complements (Kairouz, Oh and
        Viswanath 2015, Theorem 2.1); 0 if tpr <= fpr, and it may be infinite.

        Args:
            fpr: False-positive rates, fractions, shape (rates,).
            tpr: True-positive rates at these, shape (rates,).
        """
        with np.errstate(divide="ignore", invalid="ignore"):  # a rate of 0 or 1: infinity, or nothing known
            rising = np.log(np.maximum(tpr - self.delta, 0.0)) - np.log(fpr)
            falling = np.log(np.maximum(1 - fpr - self.delta, 0.0)) - np.log(1 - tpr)
        return np.where(tpr > fpr, np.maximum(0.0, np.fmax(rising, falling)), 0.0)

    def example(self, parameter: float) -> tuple[Rates, Rates]:
        """Return (false-positive rate, true-positive rate) of randomised response with epsilon `parameter`.

        Each is an array of one number, because `Accounted.example` returns many.
        """
        return np.array([expit(-parameter)]), np.array([expit(parameter)])

    def stated(self, parameter: float) -> str:
        """Return an epsilon in words, such as "epsilon = 1"."""
        return f"epsilon = {parameter:.4g}"

    @property
    def name(self) -> str:
        """The kind of promise in words: "pure DP", or DP at the delta."""
        return f"DP at delta {self.delta:.3g}" if self.delta else "pure DP"


Claim = Accounted | Bounded
"""A charge's promise: a bound on every test that could tell two neighbouring tables apart. A test is an event of the answer. Its
false-positive rate is the event's probability without the person, its true-positive rate the probability with the person.

claimed is the value of its parameter, rho or epsilon; name the kind of promise in words; least the smallest parameter under which tests
with these rates are possible (0 where tpr <= fpr); example the rates (false positive, true positive) against a mechanism with exactly this
parameter, the most an audit can show; stated a parameter in words.
"""


def of_charges(events: Sequence[Event]) -> Iterator[Claim]:
    """Yield the privacy claims of these charges together.

    They are one per accountant that covers the charges, zCDP first, and (epsilon, delta)-DP if every charge has
    an epsilon and there is a charge.
    """
    slack = float(sum(map(delta_of, events), Fraction(0)))
    thresholds_alone = all(isinstance(event, Thresholded) or not delta_of(event) for event in events)
    for accountant in (ZCDP, GDP) if thresholds_alone else (ZCDP,):
        yield Accounted(accountant, float(sum(map(accountant.cost, events), Fraction(0))), slack)
    epsilons = [event.epsilon for event in events if event.epsilon is not None]
    if events and len(epsilons) == len(events):
        yield Bounded(math.fsum(epsilons), slack)


FALSE_ALARM = 1e-6
"""Probability that an audit, all its tests together, reports a violation although every promise is kept."""
CHOOSING = 0.25
"""Share of the draws that choose the event; bounding two probabilities takes more draws than choosing between thresholds."""
EXACT = 1e-9
"""Rounding allowed for computed probabilities: relative, and absolute where zero is claimed."""
_CANDIDATES = 200
_SURE = 0.95

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Draw:
    """One answer, as an audit sees it.

    Attributes:
        loss: A guess at the privacy loss ln(Pr[answer | with] / Pr[answer | without] the person).
        label: The answer itself, for operations with few possible answers; otherwise None.
    """

    loss: float
    label: Hashable = None


@dataclass(frozen=True)
class Finding:
    """The result of testing a claim.

    Attributes:
        claim: The promise.
        least: The smallest parameter (rho or epsilon) that is compatible with the draws; infinity if no parameter is.
        draws: Number of draws of each table; 0 if every probability was computed.
    """

    claim: Claim
    least: float
    draws: int

    @property
    def broken(self) -> bool:
        """True if the draws, or exact probabilities beyond rounding, contradict the claim."""
        rounding = 0.0 if self.draws else EXACT
        return self.least > self.claim.claimed * (1 + rounding) + rounding


def from_draws(claim: Claim, draws: tuple[Sequence[Draw], Sequence[Draw]], level: float) -> Finding:
    """Test a claim against answers drawn on two neighbouring tables.

    The result has a lower confidence bound for the rho or epsilon (`Finding.least`).

    The first draws choose an event, and the others bound its probabilities. If the claim is true,
    the finding contradicts it with probability `level` at most.

    Args:
        claim: The promise.
        draws: Equally many answers without and with the person, in the order of drawing, at least two of each.
        level: Error probability of the two bounds together.
    """
    count, first = len(draws[0]), _first(draws)
    without, with_person = scores(draws)
    choices = [
        (*_best_threshold(claim, (low[:first], high[:first]), count - first, level), low[first:], high[first:])
        for low, high in ((without, with_person), (-with_person, -without))
    ]
    _, threshold, low, high = max(choices, key=lambda choice: choice[0])
    fpr = _highest(np.array([(low >= threshold).sum()]), len(low), level / 2)
    tpr = _lowest(np.array([(high >= threshold).sum()]), len(high), level / 2)
    return Finding(claim, float(claim.least(fpr, tpr)[0]), count)


def scores(draws: tuple[Sequence[Draw], Sequence[Draw]]) -> tuple[Scores, Scores]:
    """Return the score of every draw: its loss plus the log ratio of its label's frequencies among the first draws of either table.

    The first draws are a quarter. Half a draw is added to each frequency, so that the ratio is finite. A draw
    without a label keeps its loss. The scores of the draws after the first (`held_out`) are independent of
    each other.

    Args:
        draws: Equally many answers without and with the person, in the order of drawing.

    Returns:
        The scores without and with the person, each of shape (draws,).
    """
    first = _first(draws)
    seen = [Counter(draw.label for draw in side[:first] if draw.label is not None) for side in draws]

    def score(draw: Draw) -> float:
        return draw.loss + math.log((seen[1][draw.label] + 0.5) / (seen[0][draw.label] + 0.5))

    without, with_person = (np.array([score(draw) for draw in side]) for side in draws)
    return without, with_person


def held_out(draws: tuple[Sequence[Draw], Sequence[Draw]]) -> tuple[Scores, Scores]:
    """Return the scores of the draws that did not choose how labels are scored, the last three quarters, without and with the person.

    Args:
        draws: Equally many answers without and with the person, in the order of drawing.
    """
    without, with_person = scores(draws)
    return without[_first(draws) :], with_person[_first(draws) :]


def _first(draws: tuple[Sequence[Draw], Sequence[Draw]]) -> int:
    return math.ceil(CHOOSING * len(draws[0]))


def from_probabilities(claim: Claim, without: dict[Hashable, float], with_person: dict[Hashable, float]) -> Finding:
    """Test a claim against the exact probabilities of all answers on two neighbouring tables.

    The events are the sets of answers with the largest likelihood ratios (Neyman and Pearson), in both
    directions. `least` of the result is the smallest parameter that is compatible with all events.

    Args:
        claim: The claim.
        without: Probability of each answer without the person; an absent answer has probability 0.
        with_person: Probability of each answer with the person.
    """
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
    """Return the smallest true parameter at which an audit finds the claim broken in 95 of 100 cases.

    This assumes answers as informative as in `Claim.example` and the best possible guesses at their
    losses. An audit without a finding says nothing about smaller values.

    Args:
        claim: The promise.
        draws: Number of draws of each table.
        level: Error probability of the audit.

    Returns:
        The parameter, rho or epsilon; infinity if it would be above about a million.
    """
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
    """Return whether an audit refutes the claim if the true parameter is `parameter`.

    It must do so even with unlucky counts of the best event, each as bad as one in 40.

    Args:
        claim: The promise.
        parameter: The true rho or epsilon.
        draws: Number of draws of each table.
        level: Error probability of the audit.
    """
    fpr, tpr = claim.example(parameter)
    held_out, unlucky = draws - math.ceil(CHOOSING * draws), (1 - _SURE) / 2
    above, below = binom.ppf(1 - unlucky, held_out, fpr), binom.ppf(unlucky, held_out, tpr)
    return bool((claim.least(_highest(above, held_out, level / 2), _lowest(below, held_out, level / 2)) > claim.claimed).any())


def _best_threshold(claim: Claim, scores: tuple[Scores, Scores], held_out: int, level: float) -> tuple[float, float]:
    """Return the most telling event of the form "the score is at least t".

    Args:
        claim: The promise.
        scores: Scores of the first draws without and with the person.
        held_out: Number of draws per table that will bound the event's probabilities.
        level: Error probability of the two bounds together.

    Returns:
        The bound on the parameter that is to be expected of the held-out draws, and the threshold
        t. If no bound is positive, the first number is tiny and only ranks the events.
    """
    low, high = (np.sort(side) for side in scores)
    candidates = np.unique(np.concatenate([low, high]))
    candidates = candidates[np.unique(np.linspace(0, len(candidates) - 1, _CANDIDATES).astype(int))]
    rates = [(len(side) - np.searchsorted(side, candidates) + 0.5) / (len(side) + 1) for side in (low, high)]
    bounds = claim.least(_highest(rates[0] * held_out, held_out, level / 2), _lowest(rates[1] * held_out, held_out, level / 2))
    apart = (rates[1] - rates[0]) / np.sqrt(rates[0] * (1 - rates[0]) + rates[1] * (1 - rates[1]))
    hoped = np.where(bounds > 0, bounds, 1e-9 * apart)  # without a positive bound: by how many standard deviations the rates differ
    return float(hoped.max()), float(candidates[hoped.argmax()])


def _highest(count: NDArray[np.float64], draws: int, level: float) -> NDArray[np.float64]:
    """Return Clopper and Pearson's upper limit for the probability of an event.

    Args:
        count: Number of draws with the event, also fractional.
        draws: Number of draws.
        level: Probability that the limit is too low.
    """
    return np.where(count >= draws, 1.0, betaincinv(count + 1, np.maximum(draws - count, 1e-9), 1 - level))


def _lowest(count: NDArray[np.float64], draws: int, level: float) -> NDArray[np.float64]:
    return np.where(count <= 0, 0.0, betaincinv(np.maximum(count, 1e-9), draws - count + 1, level))
