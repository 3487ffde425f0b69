"""AIM's confidence bounds: a-priori bounds on the errors of published marginals (AIM, section 5 and appendix B).

They follow from what a mechanism released anyway, without extra budget.

A marginal is *supported* when a measurement contains it. Its error is at most the distance of the published answer to an unbiased
estimate, plus a quantile of that estimate's noise. Otherwise it is *unsupported*: all that is known is that the exponential mechanism
preferred another candidate in some round, whose error was then measured.

Where people were left out by coins (`statistics.coins`), `of_everybody` adds the distance of their table from everybody's, so that bounds
are of errors against everybody.

Both are given as printed (corrected, see `unsupported`) and in a tighter form. Bounds hold for each marginal on its own with the stated
confidence, not for all together. Counts in the lower functions; `bounds` turns them into shares of people (see `totals`). Approximations:
rounding of weights and answers to the kernel's grids (a relative 2^-16), and discrete noise as in `quantiles`. Which marginals were
measured, and how precisely, may depend on earlier noise; the theorems, like the paper's, hold for a choice fixed beforehand. Coverage over
whole runs is tested.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import ndtr

from dpsynth_core.evaluation.combination import Evidence
from dpsynth_core.mechanisms.steps import Candidate, SelectionRecord
from dpsynth_core.statistics.coins import OF_COINS, Coins
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.statistics.quantiles import absolute_sum, largest_positive_parts, normal
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, Measurement

CONFIDENCE = 0.95
SUPPORTED, UNSUPPORTED, UNBOUNDED = "supported", "unsupported", "unbounded"

_TOTAL_SHARE = 0.04
"""Share of the failure probability that is spent on the number of records where it is an estimate."""
_PREFIX_STEP = 1.25

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bound:
    """Two upper bounds of a table's error, as shares of people in a wrong cell.

    Each bound holds on its own with the stated confidence. For tables of rows both are at most 1.

    Attributes:
        support: SUPPORTED if a measurement contains the table, UNSUPPORTED if only selections bound
            it, UNBOUNDED if no released value bounds it; both bounds are then infinite.
        paper: The bound as the AIM paper states it.
        tight: The tighter bound of this module.
    """

    support: str
    paper: float
    tight: float


def bounds(
    domain: Domain,
    published: Mapping[Clique, Array],
    total: Total,
    measurements: Sequence[Measurement],
    selections: Sequence[SelectionRecord] = (),
    considered: Mapping[Clique, tuple[int, Candidate]] | None = None,
    rows: bool = True,
    confidence: float = CONFIDENCE,
) -> dict[Clique, Bound]:
    """Return an error bound for every marginal in `published`, by clique, as shares of people in a wrong cell.

    Args:
        domain: The columns.
        published: The published marginals, as shares of the records.
        total: The number of records, exact or estimated.
        measurements: The released measurements.
        selections: The mechanism's selections, as in `mechanisms.steps.Finished`.
        considered: By clique, the index (from 0) in `selections` of the last round in which it was a
            candidate, and that candidate, as in `mechanisms.steps.Finished`; None for no selections.
        rows: Whether the marginals come from rows, which are never negative and sum to 1.
        confidence: The probability with which each bound holds on its own.
    """
    considered = considered or {}
    alpha = 1 - confidence
    share = _TOTAL_SHARE * alpha if total.sigma else 0.0
    doubt, inner = total.doubt(1 - share), 1 - (alpha - share)
    bounded: dict[Clique, Bound] = {}
    evidence = Evidence(measurements)
    for clique, fractions in published.items():
        answer = fractions * total.value
        pair = supported(domain, evidence, clique, answer, inner, doubt if rows else None)
        support = SUPPORTED
        if pair is None and clique in considered:
            last, candidate = considered[clique]
            pair, support = unsupported(selections[last], candidate, answer, inner), UNSUPPORTED
        if pair is None:
            bounded[clique] = Bound(UNBOUNDED, math.inf, math.inf)
            continue
        mass = float(np.abs(fractions).sum())
        l1 = (min(1 + mass, (bound + doubt * mass) / max(total.value - doubt, 1e-300)) for bound in pair)
        bounded[clique] = Bound(support, *(IN_WRONG_CELL * distance for distance in l1))
    return bounded


def of_everybody(
    bounded: Callable[..., dict[Clique, Bound]], published: Mapping[Clique, Array], total: Total, coins: Coins | None
) -> dict[Clique, Bound]:
    """Return bounds of the errors against everybody's tables, by clique, each with 95 % confidence on its own over noise and coins.

    Args:
        bounded: Returns the bounds of those whom the mechanism counted (`bounds`), at the confidence that it is given by name.
        published: The published marginals, as shares of the records.
        total: The number of records of those whom the mechanism counted.
        coins: The coins that left the others out; None if the mechanism counted everybody.
    """
    if coins is None:
        return bounded(confidence=CONFIDENCE)
    failure = OF_COINS * (1 - CONFIDENCE)
    found = dict[Clique, Bound]()
    for clique, bound in bounded(confidence=CONFIDENCE + failure).items():
        most = IN_WRONG_CELL * (1 + float(np.abs(published[clique]).sum()))
        off = coins.off(published[clique].size, total, failure)
        widened = [one if math.isinf(one) else min(one + off, most) for one in (bound.paper, bound.tight)]
        found[clique] = Bound(bound.support, *widened)
    return found


def supported(
    domain: Domain, evidence: Evidence, clique: Clique, answer: Array, confidence: float, doubt: float | None
) -> tuple[float, float] | None:
    """Bound ||M_r(D) - answer||_1, in records, for a marginal r that some measurement contains.

    The paper's bound is AIM, Corollary 3, with lambda^2 = ln(1 / alpha) (1.73 at 95 %; the paper
    rounds to 1.7). The tight bound has the exact quantile of ||noise||_1 instead of the Chernoff
    constants. For answers of rows it is the smaller of that and of `_one_sided`, which uses that
    counts are never negative, each with half of the failure probability. A marginal that one
    measurement with correlated noise gives finally has the same number for both bounds.

    Args:
        domain: The domain.
        evidence: The noisy tables.
        clique: The columns r of the marginal.
        answer: The published marginal, in records.
        confidence: The confidence of each bound.
        doubt: Largest distance of the number of records from the answer's sum; None for answers
            without rows.

    Returns:
        The paper's bound and the tight bound, or None if no measurement contains the marginal.
    """
    average = evidence.average(clique)
    if average is None:
        return None
    if average.spread is not None:
        bound = _apart(domain, average, answer, confidence)
        return bound, bound
    cells, alpha = answer.size, 1 - confidence
    distance = float(np.abs(answer - average.values).sum())
    paper = distance + average.deviation * (math.sqrt(2 * math.log(2)) * cells + math.sqrt(math.log(1 / alpha) * 2 * cells))
    if doubt is None:
        return paper, _apart(domain, average, answer, confidence)
    two_sided = distance + average.deviation * absolute_sum(cells, 1 - alpha / 2)
    return paper, min(two_sided, _one_sided(evidence, clique, answer, 1 - alpha / 2) + doubt)


def _apart(domain: Domain, seen: Measurement, answer: Array, confidence: float) -> float:
    """Bound ||M_r(D) - answer||_1, in records, by distance plus a quantile of the noise.

    The distance is from `answer` to the unbiased estimate `seen`. In impossible cells (structural
    zeros) the published answer is 0, so that the distance would count noise that was not published.
    There, the bound is instead the sum of the answer and an upper bound of the true counts' sum,
    because counts are never negative, and `seen` estimates their sum better than each cell. That
    sum is not taken to be 0, because records may break the rules. Possible and impossible cells
    each have half of the failure probability.
    """
    impossible = domain.impossible_cells(seen.clique)
    if impossible is None:
        return float(np.abs(answer - seen.values).sum()) + _noise(seen, answer.size, confidence)
    half, number = (1 + confidence) / 2, int(impossible.sum())
    in_impossible = float(seen.values[impossible].sum()) + normal(half) * seen.widest * math.sqrt(number)
    in_possible = float(np.abs(answer - seen.values)[~impossible].sum()) + _noise(seen, answer.size - number, half)
    return in_possible + float(np.abs(answer[impossible]).sum()) + max(0.0, in_impossible)


def _noise(measurement: Measurement, cells: int, confidence: float) -> float:
    """Return the `confidence` quantile of ||noise||_1, in records, over `cells` cells of a measurement.

    It is exact for independent noise. For correlated normal noise it is an upper bound: the mean
    sqrt(2/pi) sigma n plus a deviation. ||noise||_1 is sqrt(n) * spread-Lipschitz in independent
    standard normals, so it exceeds its mean by t with probability at most exp(-t^2 / (2 n
    spread^2)).
    """
    if measurement.spread is None:
        return measurement.deviation * absolute_sum(cells, confidence)
    return HALF_NORMAL * measurement.deviation * cells + measurement.spread * math.sqrt(2 * cells * math.log(1 / (1 - confidence)))


def _one_sided(evidence: Evidence, clique: Clique, answer: Array, confidence: float) -> float:
    """Bound 2 ||(answer - M_r(D))+||_1, in records.

    This is the L1 distance where the two sums are equal; otherwise the L1 distance exceeds it by at
    most the difference of the sums.

    With y = M + Z the least-squares estimate, a cell contributes at most its answer, because M >=
    0, and at most (answer - y)+ + Z+. For any set A of cells the sum is at most  sum over A of
    (answer - y)+  +  the sum of the |A| largest Z+  +  the answers outside A. The code chooses A
    after seeing the answers, to make that small. The middle term depends on the size of A alone,
    and is bounded for each size on a fixed grid by a union bound. Most cells of a large marginal
    are empty, and this bound does not count the noise in them.
    """
    best = evidence.least_squares(clique)
    assert best is not None, "the marginal is supported"
    over = np.maximum(answer - best.values, 0.0).ravel()
    cells = answer.ravel()
    order = np.argsort(over - cells, kind="stable")
    inside = np.concatenate([[0.0], np.cumsum(over[order])])
    outside = cells.sum() - np.concatenate([[0.0], np.cumsum(cells[order])])
    numbers, mean, above = _prefixes(cells.size, confidence)
    noise = best.deviation * mean + best.widest * above
    sizes = np.minimum(numbers, np.count_nonzero(cells)).astype(int)  # empty cells cannot be answered too high
    return 2 * float(min(np.min(inside[sizes] + outside[sizes] + noise), cells.sum()))


@lru_cache(maxsize=1024)  # tables of as many cells have the same
def _prefixes(cells: int, confidence: float) -> tuple[Array, Array, Array]:
    """Return a fixed grid of set sizes and, for each size, a bound on the sum of that many largest Z+.

    Args:
        cells: Number of cells of the marginal.
        confidence: Probability with which all bounds of the grid hold at once.

    Returns:
        The sizes; and two results of `largest_positive_parts`, one multiplied by the noise's
        deviation and one by its spread before they are added up.
    """
    steps = np.ceil(_PREFIX_STEP ** np.arange(math.ceil(math.log(cells) / math.log(_PREFIX_STEP)) + 1))
    numbers = np.unique(np.minimum(steps, cells))
    each = 1 - (1 - confidence) / len(numbers)
    return numbers, largest_positive_parts(cells, numbers, 1.0, 0.0, each), largest_positive_parts(cells, numbers, 0.0, 1.0, each)


def unsupported(selection: SelectionRecord, candidate: Candidate, answer: Array, confidence: float) -> tuple[float, float]:
    """Bound ||M_r(D) - answer||_1, in records, for a marginal r that no measurement contains.

    The bound uses a round in which r was a candidate (AIM, Corollary 5).

    With E_r = ||M_r(D) - p_r||_1, p the model before the round, r_t the marginal chosen and o_r the
    offsets of the scores (sqrt(2/pi) sigma n_r in the paper), the exponential mechanism says w_r
    (E_r - o_r) <= w_rt (E_rt - o_rt) + (2 Delta/eps) x.  Then E_rt is bounded by its measurement,
    and the distance from p_r to the answer is added.

    The paper's: E_rt <= ||p_rt - y||_1 + l1 sigma sqrt(n_rt) and x = ln|C| + l2 with l1^2 = 2
    ln(2/alpha), l2 = ln(2/alpha) (2.7 and 3.7 at 95 %). It prints l1 without the factor w_rt that
    its proof has; without it the bound fails, as tests show, so it stands here. The tight one knows
    how much of ||p_rt - y||_1 is noise (`_denoised`), and takes for x the exact tail for one
    candidate against all others: ln(|C| - 1) + ln((1 - alpha') / alpha').

    Args:
        selection: The round: the last one in which r was a candidate, a choice that does not depend
            on the bound.
        candidate: r as it was in that round.
        answer: The published marginal, in records.
        confidence: The confidence of each bound.

    Returns:
        The paper's bound and the tight bound.
    """
    half = (1 - confidence) / 2
    chosen, taken = selection.chosen, selection.measurement
    seen = float(np.abs(chosen.answer - taken.values).sum())
    slack = 2 * selection.sensitivity / selection.eps
    moved = float(np.abs(answer - candidate.answer).sum())

    def transfer(error: float, surprise: float) -> float:
        """Return the bound on E_r that follows from a bound `error` on E_rt and the tail `surprise` (x above)."""
        return candidate.offset + (chosen.weight * (error - chosen.offset) + slack * surprise) / candidate.weight

    above = math.sqrt(2 * math.log(1 / half)) * taken.deviation * math.sqrt(taken.values.size)
    paper = transfer(seen + above, math.log(selection.candidates) + math.log(1 / half))
    others = max(1, selection.candidates - 1)
    tight = transfer(_denoised(seen, taken.values.size, taken.deviation, 1 - half), math.log(others) + math.log((1 - half) / half))
    return max(0.0, paper) + moved, max(0.0, tight) + moved


@lru_cache(maxsize=1024)  # all candidates of a round transfer the same
def _denoised(seen: float, cells: int, sigma: float, confidence: float) -> float:
    """Return an upper bound of ||d||_1 from seen = ||d + Z||_1, for d fixed before the noise Z was drawn.

    The bound is the smaller of two, each with half of the failure probability. First, ||d + Z||_1
    >= ||d||_1 + sum of sign(d) Z, a normal sum. Second, ||d + Z||_1 is sqrt(n)-Lipschitz in Z and
    so hardly below its mean, sum f(|d_i|) with f(x) = E|x + Z|; f is convex, so that the mean is at
    least n f(||d||_1 / n). Far above the noise the first is better, near it the second.

    Args:
        seen: The measured L1 distance, in records.
        cells: Number n of cells.
        sigma: Standard deviation of the noise of a cell.
        confidence: Probability with which the bound holds.
    """
    tail = (1 - confidence) / 2
    root = sigma * math.sqrt(cells)
    linear = seen - normal(tail) * root
    mean = (seen + root * math.sqrt(2 * math.log(1 / tail))) / (cells * sigma)
    if mean <= HALF_NORMAL:
        return 0.0

    def folded(x: float) -> float:
        """Return E|x + Z| in units of sigma, minus the bound on the mean."""
        return 2 * math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) + x * (1 - 2 * float(ndtr(-x))) - mean

    return min(linear, cells * sigma * float(scipy.optimize.brentq(folded, 0.0, mean + 1.0)))
