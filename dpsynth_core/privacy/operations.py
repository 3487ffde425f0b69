"""The operations of the kernel: everything that a mechanism or the code that drives a run can learn about a table. Extensions add theirs.

Most operations are one `measure`: rounded normal noise on a vector of whole numbers, of which one unit of privacy (`unit`) changes at most
l2 in L2 norm. That costs l2^2 / (2 sigma^2) in every accountant (Proposition 1). Records that the domain calls impossible are counted like
any other: an error about them, or their number, would be a fact about a person, and the sensitivities hold for every table. Costs below are
zCDP's; under GDP selections cost pi/2 times as much (Proposition 6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy import events, residuals, thresholds
from dpsynth_core.privacy.events import Gaussian, Selection, Thresholded
from dpsynth_core.privacy.operation import Asked, operation
from dpsynth_core.privacy.scores import COUNT_STEPS, SUM_STEPS, Offered, check_answers, distances, scores, sensitivity, steps
from dpsynth_core.privacy.view import Integers, View
from dpsynth_core.vocabulary import keys
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.marginals import at_least, largest_run
from dpsynth_core.vocabulary.measurement import ROOT_STEPS, ROUNDING, Clique, Measurement, Residual
from dpsynth_core.vocabulary.predictors import Predictor

R = TypeVar("R")
Answer = Callable[[View], R]
Float = NDArray[np.float64]
_Gap = Callable[[Clique, Integers, Integers], int]
"""Returns the distance of a marginal's counts from their public answers, all in steps."""


def measure(vector: Callable[[View], Integers], sigma: float, fineness: int = 1) -> Answer[Float]:
    """Return an answer that measures a private vector with rounded normal noise; a part of operations, which charges nothing.

    Args:
        vector: Returns the vector from a view, in steps; `fineness` steps are one unit.
        sigma: Standard deviation of the noise, in units.
        fineness: Number of steps in a unit, a power of two.

    Returns:
        A function of the view that returns the noisy vector in units, as multiples of 1 / fineness.
    """
    return lambda view: view.noise.gaussian(vector(view), sigma * fineness) / fineness


@operation()
def seed(_asked: Asked) -> Answer[int]:
    """Draw a fresh seed for randomness that protects no person, such as the perturbations of a search. Free, and may be published.

    Callers write `kernel.seed()` and get the number itself.

    Returns:
        A function of the view that returns a whole number from 0 to 2^63 - 1; it reads no counts.
    """
    return lambda view: view.noise.uniform(2**63)


@operation()
def residual_l2(asked: Asked, clique: Clique, sigma: float) -> Answer[float]:
    """Return the L2 sensitivity of a marginal's residual measured at sigma. Free and public.

    Callers write `kernel.residual_l2(clique, sigma)` and get the number itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        clique: The columns of the marginal, each with two values or more; () for the number of rows.
        sigma: Standard deviation of the noise of each cell, in records.

    Returns:
        A function of the view that returns the sensitivity, in rows; it reads no counts.

    Raises:
        ValueError: The clique is not in domain order, a column has one value only, or sigma is out of
            range.
        InputError: A name is not in the domain.
    """
    l2 = residuals.sensitivity(asked.unit, asked.shape(clique) if clique else (), sigma)
    return lambda _: l2


@operation(Gaussian, lambda asked, *given: Gaussian(given[-1], asked.unit.marginals_l2(len(given) - 1)))  # each marginal's columns; sigma
def measure_marginals(asked: Asked, cliques: list[Clique], sigma: float) -> Answer[list[Measurement]]:
    """Measure each of k marginals in one draw. A person's rows are in one cell of each: l2 = sqrt(k) marginal_l2 (Proposition 2).

    Callers write `kernel.measure_marginals(cliques, sigma)`, which is charged rho = l2^2 / (2 sigma^2), and
    get the measurements themselves.

    Args:
        asked: The public facts of the call, which the kernel gives.
        cliques: The columns of each marginal; one marginal or more.
        sigma: Standard deviation of the noise of each cell, in records.

    Returns:
        A function of the view that returns one measurement per clique, in order; its noisy counts may be
        negative.

    Raises:
        ValueError: There are no cliques, one is empty or not in domain order, or sigma is not positive.
        InputError: A name is not in the domain.
    """
    shapes = [asked.shape(clique) for clique in cliques]
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    noisy = measure(lambda view: np.concatenate([counts.ravel() for counts in _counts(view, cliques)]), sigma)

    def answer(view: View) -> list[Measurement]:
        tables = zip(cliques, shapes, np.split(noisy(view), ends[:-1]), strict=True)
        return [Measurement(r, values.reshape(shape), float(sigma), None, ROUNDING, asked.groups_of(r)) for r, shape, values in tables]

    return answer


def _residual(asked: Asked, clique: Clique, sigma: float) -> events.Residual:
    return events.Residual(sigma, residuals.sensitivity(asked.unit, asked.shape(clique), sigma))


@operation(events.Residual, _residual)
def measure_residual(asked: Asked, clique: Clique, sigma: float) -> Answer[Residual]:
    """Measure the residual of a marginal with noise on a lattice in every cell: l2 = residual_l2 (Proposition 4).

    Callers write `kernel.measure_residual(clique, sigma)`, which is charged rho = l2^2 / (2 sigma^2), and
    get the residual itself.
    Noise is drawn separately from the counts, because the sampler would cut large sums off.

    Args:
        asked: The public facts of the call, which the kernel gives.
        clique: The columns of the marginal, each with two values or more.
        sigma: Standard deviation of the noise of each cell, in records.

    Returns:
        A function of the view that returns the noisy residual, in records, shaped like the marginal.

    Raises:
        ValueError: The clique is empty or not in domain order, a column has one value only, or sigma is
            out of range.
        InputError: A name is not in the domain.
    """
    asked.shape(clique)
    bits = residuals.lattice_bits(sigma)

    def answer(view: View) -> Residual:
        counts = view.tables([clique])[clique]
        noise = view.noise.gaussian(np.zeros_like(counts), math.ldexp(sigma, bits))
        released = residuals.differences((counts << bits) + noise)
        return Residual(clique, residuals.centred(released / 2**bits), float(sigma))

    return answer


@operation(Gaussian, lambda asked, _clique, sigma: Gaussian(sigma, asked.unit.marginal_l2))
def measure_roots(asked: Asked, clique: Clique, sigma: float) -> Answer[Float]:
    """Measure, for each cell of a marginal, the sum of persons' roots.

    A person's root is the square root of the share of the person's records in the cell, times
    `max_rows_per_person`. Callers write `kernel.measure_roots(clique, sigma)`, which is charged rho =
    l2^2 / (2 sigma^2), and get the sums themselves.

    The squares of one person's roots (before that factor) add up to 1: l2 = marginal_l2
    (Proposition 27), exactly, in whole steps of 1/ROOT_STEPS that are rounded down.

    Args:
        asked: The public facts of the call, which the kernel gives.
        clique: The columns of the marginal; names of groups are allowed.
        sigma: Standard deviation of the noise of each cell, in units of the sums.

    Returns:
        A function of the view that returns the noisy sums, shaped like the marginal; they may be negative.

    Raises:
        ValueError: The source cannot answer about persons, the clique is empty or not in domain order, or
            sigma is not positive.
        InputError: A name is not in the domain.
    """
    asked.shape(clique)
    asked.require("roots")
    return measure(lambda view: view.roots(clique, asked.groups), sigma, ROOT_STEPS)


@operation(Gaussian, lambda asked, _clique, sigma: Gaussian(sigma, asked.unit.marginal_l2))
def measure_cells(asked: Asked, clique: Clique, cells: Attribute, sigma: float) -> Answer[Float]:
    """Measure the numbers of records in public cells of a column: l2 = marginal_l2 (Proposition 2).

    The cells need not be cells of the domain. Callers write `kernel.measure_cells(clique, cells, sigma)`,
    which is charged rho = l2^2 / (2 sigma^2), and get the numbers themselves.

    Args:
        asked: The public facts of the call, which the kernel gives.
        clique: The column, as a clique of one name.
        cells: The column with the cells to count in.
        sigma: Standard deviation of the noise of each cell, in records.

    Returns:
        A function of the view that returns the noisy numbers, shape (cells,); they may be negative.

    Raises:
        ValueError: The cells are of another column, the source cannot count in other cells, or sigma is
            not positive.
        InputError: A name is not in the domain.
    """
    asked.shape(clique)
    asked.require("over")
    if (cells.name,) != clique:
        raise ValueError("the cells are of another column")
    return measure(lambda view: view.cells(cells), sigma)


@operation(Thresholded, lambda asked, _clique, sigma, delta: Thresholded(sigma, asked.unit.marginal_l2, delta))
def discover_values(asked: Asked, clique: Clique, sigma: float, delta: float) -> Answer[dict[str, int]]:
    """Release the texts of one column that reach a threshold, with noisy numbers of records, and always `keys.PUBLIC`.

    Callers write `kernel.discover_values(clique, sigma, delta)`, which is charged rho = l2^2 / (2 sigma^2)
    and delta, and get the numbers themselves. A text is released if its noisy number is at least `thresholds.threshold`, which sigma,
    delta and the rows per person determine. l2 = marginal_l2 (Proposition 5). The order of the texts
    reveals nothing about the table.

    Args:
        asked: The public facts of the call, which the kernel gives.
        clique: The column, as a clique of one name.
        sigma: Standard deviation of the noise of each number, in records.
        delta: Probability with which the guarantee may fail, below 1/2; a smaller delta means a higher
            threshold.

    Returns:
        A function of the view that returns the noisy number of records of each released text, whole
        numbers: first of the two of `keys.PUBLIC` (missing, and other; they may be negative), then of
        the texts in alphabetical order.

    Raises:
        ValueError: The source cannot answer about texts, the clique has not exactly one name, or sigma or
            delta is out of range.
        InputError: A name is not in the domain.
    """
    asked.shape(clique)
    asked.require("values")
    (name,) = clique
    least = thresholds.threshold(sigma, delta, asked.unit.max_rows_per_person)

    def answer(view: View) -> dict[str, int]:
        public, values = dict.fromkeys(keys.PUBLIC, 0), dict[str, int]()
        for counts in view.values(name):
            public = {key: rows + counts.get(key, 0) for key, rows in public.items()}
            texts = [text for text, rows in counts.items() if text not in public and rows > 0]
            noisy = view.noise.gaussian(np.array([counts[text] for text in texts], dtype=np.int64), sigma).tolist()
            values |= {text: rows for text, rows in zip(texts, noisy, strict=True) if rows >= least}
        noisy_public = view.noise.gaussian(np.array(list(public.values()), dtype=np.int64), sigma).tolist()
        return dict(zip(public, noisy_public, strict=True)) | dict(sorted(values.items()))

    return answer


@operation(Gaussian, lambda asked, sigma: None if asked.unit.total_is_public else Gaussian(sigma, float(asked.unit.total_l2)))
def measure_total(asked: Asked, sigma: float) -> Answer[float]:
    """Measure the number of rows: l2 = total_l2 (Proposition 2). Where it is public, the answer is exact and free for any sigma.

    Callers write `kernel.measure_total(sigma)`, which is charged rho = l2^2 / (2 sigma^2) if the number is
    private, and get the number itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        sigma: Standard deviation of the noise, in rows.

    Returns:
        A function of the view that returns the number, a whole one, which noise may make negative.

    Raises:
        ValueError: The number is private, and sigma is not positive.
    """
    if asked.unit.total_is_public:
        rows = float(asked.rows())
        return lambda _: rows
    noisy = measure(lambda view: view.total(), sigma)
    return lambda view: float(noisy(view)[0])


@operation(Gaussian, lambda asked, sigma: Gaussian(sigma, asked.unit.errors_l2(asked.count)), lambda question: len(question["answers"]))
def measure_errors(asked: Asked, answers: Mapping[Clique, Float], sigma: float) -> Answer[dict[Clique, float]]:
    """Measure ||M_r(D) - answers_r||_1, in counts, for each of k marginals. Answers are public counts, shaped like the marginals.

    Callers write `kernel.measure_errors(answers, sigma)`, which is charged rho = l2^2 / (2 sigma^2), and get
    the errors themselves. Each error moves by marginal_l1 at most: l2 = sqrt(k) marginal_l1 (Proposition 3), exactly, on
    the grid of `scores`.

    Args:
        asked: The public facts of the call, which the kernel gives.
        answers: By clique, the counts that the exact marginals are compared with.
        sigma: Standard deviation of the noise of each error, in records.

    Returns:
        A function of the view that returns the noisy error of each clique, in records and in the order
        of `answers`; noise may make it negative.

    Raises:
        ValueError: `answers` is empty, sigma is not positive, or an answer has another shape than its
            marginal, or is not finite or too large.
        InputError: A name is not in the domain.
    """
    tables = tuple(answers.values())
    check_answers(tables, [asked.shape(clique) for clique in answers])
    noisy = measure(lambda view: np.array(distances(_counts(view, answers), tables), dtype=np.int64), sigma, COUNT_STEPS)
    return lambda view: dict(zip(answers, noisy(view).tolist(), strict=True))


@operation(Gaussian, lambda asked, _rank, sigma: Gaussian(sigma, float(asked.unit.marginal_l1)))
def measure_ranked_error(asked: Asked, answers: Mapping[Clique, Float], rank: int, sigma: float) -> Answer[float]:
    """Measure the rank-th smallest of all ||M_r(D) - answers_r||_1, in counts.

    Callers write `kernel.measure_ranked_error(answers, rank, sigma)`, which is charged rho =
    l2^2 / (2 sigma^2), and get the number itself. Each error moves by marginal_l1 at most, and so does the
    rank-th smallest: l2 = marginal_l1 (Proposition 3), exactly, on the grid of `scores`. The answer does not
    tell which marginal has this error.

    Args:
        asked: The public facts of the call, which the kernel gives.
        answers: By clique, the public counts that the exact marginals are compared with.
        rank: Rank of the error to measure, 1 for the smallest, len(answers) for the largest.
        sigma: Standard deviation of the noise, in records.

    Returns:
        A function of the view that returns the noisy error, in records; noise may make it negative.

    Raises:
        ValueError: The rank is not in 1..len(answers), sigma is not positive, or an answer has another shape
            than its marginal, or is not finite or too large.
        InputError: A name is not in the domain.
    """
    if not 1 <= rank <= len(answers):
        raise ValueError("a rank is from 1 to the number of marginals")
    tables = tuple(answers.values())
    check_answers(tables, [asked.shape(clique) for clique in answers])
    noisy = measure(lambda view: np.array(sorted(distances(_counts(view, answers), tables))[rank - 1 : rank]), sigma, COUNT_STEPS)
    return lambda view: float(noisy(view)[0])


@operation(Gaussian, lambda asked, sigma, *_threshold: Gaussian(sigma, float(asked.unit.query_l1)))
def measure_largest_error(asked: Asked, answers: Mapping[Clique, Float], sigma: float, threshold: int | None = None) -> Answer[float]:
    """Measure the largest |q(D) - answer_q| over all cells of all marginals, in counts.

    Callers write `kernel.measure_largest_error(answers, sigma, threshold)`, which is charged rho =
    l2^2 / (2 sigma^2), and get the number itself. Each difference moves by query_l1 at most, and so does the largest: l2 = query_l1
    (Proposition 3), exactly, on the grid of `scores`.

    Args:
        asked: The public facts of the call, which the kernel gives.
        answers: By clique, the counts that the exact answers are compared with, shaped like the
            marginal.
        sigma: Standard deviation of the noise, in records.
        threshold: None to compare cells. Otherwise the answer in a cell is to the query "how many
            records agree with the cell in at least `threshold` of the columns".

    Returns:
        A function of the view that returns the noisy difference, in records; noise may make it negative.

    Raises:
        ValueError: The threshold is not in 1..(columns of the smallest clique), `answers` is empty, sigma is
            not positive, or an answer has another shape, or is not finite or too large.
        InputError: A name is not in the domain.
    """
    if threshold is not None and not 1 <= threshold <= min(map(len, answers), default=0):
        raise ValueError("a threshold is from 1 to the number of columns")
    return _largest(asked, answers, sigma, lambda r, counts, stated: np.abs(at_least(counts, threshold or len(r)) - stated).max())


@operation(Gaussian, lambda asked, _columns, sigma: Gaussian(sigma, float(asked.unit.query_l1)))
def measure_largest_range(asked: Asked, answers: Mapping[Clique, Float], columns: Clique, sigma: float) -> Answer[float]:
    """Measure the largest |q(D) - answer_q| over all ranges of these columns, in counts.

    A range is a run of neighbouring ordered cells of one of the columns, within one cell of a
    marginal's other columns. Callers write `kernel.measure_largest_range(answers, columns, sigma)`, which
    is charged rho = l2^2 / (2 sigma^2), and get the number itself. Each range is a counting query, so the
    largest difference moves by query_l1 at most: l2 = query_l1 (Proposition 3), exactly, on the grid of
    `scores`.

    Args:
        asked: The public facts of the call, which the kernel gives.
        answers: By clique, the counts that the exact marginals are compared with, shaped like the
            marginal.
        columns: Ordered columns, of which each clique has one or more.
        sigma: Standard deviation of the noise, in records.

    Returns:
        A function of the view that returns the noisy difference, in records; noise may make it negative.

    Raises:
        ValueError: A clique has none of the columns, a column has no ordered cells, `answers` is empty, sigma
            is not positive, or an answer has another shape, or is not finite or too large.
        InputError: A name is not in the domain.
    """
    along = {r: [(r.index(name), range(asked.domain[name].ordered)) for name in columns if name in r] for r in answers}
    if not all(axes and all(cells for _, cells in axes) for axes in along.values()):
        raise ValueError("each marginal has one of the columns, and these have an order")
    return _largest(asked, answers, sigma, lambda r, counts, stated: max(largest_run(counts - stated, *axis) for axis in along[r]))


def _largest(asked: Asked, answers: Mapping[Clique, Float], sigma: float, gap: _Gap) -> Answer[float]:
    """Measure the largest gap between a marginal and its public answer, over all marginals.

    Args:
        asked: The public facts of the call.
        answers: By clique, public counts shaped like the marginal.
        sigma: Standard deviation of the noise, in records.
        gap: Returns a marginal's gap in steps from its clique, its counts and its answers, both in
            steps; one person moves it by at most query_l1.

    Raises:
        ValueError: The answers are empty, or an answer has another shape.
    """
    if not answers:
        raise ValueError("there is at least one marginal")
    check_answers(tuple(answers.values()), [asked.shape(clique) for clique in answers])

    def largest(view: View) -> Integers:
        tables = zip(answers.items(), _counts(view, answers), strict=True)
        return np.array([max(int(gap(r, counts * COUNT_STEPS, steps(stated))) for (r, stated), counts in tables)])

    noisy = measure(largest, sigma, COUNT_STEPS)
    return lambda view: float(noisy(view)[0])


def _hashes(predictors: Sequence[Predictor], sigma: float) -> tuple[str, ...]:  # noqa: ARG001
    return tuple(predictor.sha256 for predictor in predictors)


@operation(
    Gaussian,
    lambda asked, sigma, *_hashes: Gaussian(sigma, asked.unit.queries_l2(asked.count)),
    lambda question: len(question["predictors"]),
    _hashes,
)
def measure_right(asked: Asked, predictors: Sequence[Predictor], sigma: float) -> Answer[Float]:
    """Measure how many records each of k predictors is right about.

    Callers write `kernel.measure_right(predictors, sigma)`, which is charged rho = l2^2 / (2 sigma^2), and
    get the numbers themselves. Predictors are made from released values alone. Each number is a counting query and moves
    by query_l1 at most: l2 = sqrt(k) query_l1 (Proposition 3).

    Args:
        asked: The public facts of the call, which the kernel gives.
        predictors: The predictors.
        sigma: Standard deviation of the noise of each number, in records.

    Returns:
        A function of the view that returns the noisy numbers, shape (predictors,); they may be negative.

    Raises:
        ValueError: `predictors` is empty, one is about a column outside the domain, sigma is not positive,
            or the source cannot apply predictors.
    """
    if not predictors or any(name not in asked.domain for one in predictors for name in one.columns):
        raise ValueError("predictors are about columns of the domain, and there is at least one")
    asked.require("right")
    return measure(lambda view: view.right(predictors), sigma)


def _weights_hash(_clique: Clique, weights: Float, _low: float, _high: float, _sigma: float) -> tuple[str, ...]:
    """Return the SHA-256 of a sum's weights, after the rounding that `measure_sum` does, as a tuple of one text."""
    return (sha256(np.rint(weights * SUM_STEPS).astype("<i8").tobytes()).hexdigest(),)


@operation(Gaussian, lambda asked, _clique, low, high, sigma, *_hash: Gaussian(sigma, asked.unit.sum_l2(low, high)), digests=_weights_hash)
def measure_sum(asked: Asked, clique: Clique, weights: Float, low: float, high: float, sigma: float) -> Answer[float]:
    """Measure the sum over records of the weight of each record's cell of a marginal.

    Callers write `kernel.measure_sum(clique, weights, low, high, sigma)`, which is charged rho =
    l2^2 / (2 sigma^2), and get the sum itself. l2 = sum_l2 (Proposition 3), exactly: weights are rounded to whole multiples of 1/SUM_STEPS
    within their bounds, and all else is in integers.

    Args:
        asked: The public facts of the call, which the kernel gives.
        clique: The columns of the marginal.
        weights: Public weight of each cell, shaped like the marginal, from `low` to `high`.
        low: Smallest weight, from -1 to 0.
        high: Largest weight, from 0 to 1.
        sigma: Standard deviation of the noise, in units of the sum.

    Returns:
        A function of the view that returns the noisy sum, in units of the weights.

    Raises:
        ValueError: The bounds or a weight are out of range, both bounds are 0, sigma is not positive, or the
            weights have another shape.
        InputError: A name is not in the domain.
    """
    if not -1 <= low <= 0 <= high <= 1 or low == high:
        raise ValueError("weights are from -1 to 1, and their bounds have 0 between them")
    if weights.shape != asked.shape(clique) or not ((low <= weights) & (weights <= high)).all():
        raise ValueError("weights have the shape of the marginal and lie within their bounds")
    rounded = np.clip(np.rint(weights * SUM_STEPS), math.ceil(low * SUM_STEPS), math.floor(high * SUM_STEPS)).astype(np.int64)
    noisy = measure(lambda view: (view.tables([clique])[clique] * rounded).sum().reshape(1), sigma, SUM_STEPS)
    return lambda view: float(noisy(view)[0])


@operation(Selection, lambda _, eps: Selection(eps))
def select_offered_marginal(asked: Asked, offered: Offered, eps: float, among: NDArray[np.bool_]) -> Answer[Clique]:
    """Select one of the offered marginals by the exponential mechanism. It costs rho = eps^2 / 8.

    Callers write `kernel.select_offered_marginal(offered, eps, among)`, which is charged, and get the clique
    itself. The marginal r has the score w_r * (||M_r(D) - answers_r||_1 - offset_r), so one whose answers are
    far off is likely.

    One unit of privacy changes a score by max w_r * marginal_l1 at most (Proposition 7). This holds exactly,
    because answers, offsets and weights are rounded to fixed grids first. The largest score + Gumbel noise of
    scale 2 * sensitivity / eps is the exponential mechanism; a scale rounded up only hides more. An offer is
    checked, compared and digested once, and the scores of the last offer are cached, because a round draws from
    it many times.

    Args:
        asked: The public facts of the call, which the kernel gives.
        offered: The marginals with their answers, weights and offsets.
        eps: Privacy parameter of the exponential mechanism.
        among: Which of the offered marginals may be selected, shape (marginals,).

    Returns:
        A function of the view that returns the selected clique.

    Raises:
        ValueError: `among` has another shape or selects none, eps is not positive, or an answer has another
            shape, or is not finite or too large.
        InputError: A name is not in the domain.
    """
    if offered not in asked.offered:
        check_answers(offered.tables, [asked.shape(clique) for clique in offered.cliques])
        asked.offered[:] = [offered]
    places = np.flatnonzero(among)
    if among.shape != (len(offered.cliques),) or not len(places):
        raise ValueError("a selection is among one or more of the marginals that are offered")

    def ranked(view: View) -> Integers:
        gaps = np.array(distances(_counts(view, offered.cliques), offered.tables), dtype=np.int64)
        return scores(offered.weights, gaps, offered.offsets)

    def drawn(view: View) -> Clique:
        scale = math.nextafter(2 * sensitivity(offered.weights[places], asked.unit.marginal_l1) / eps, math.inf)
        ranks: Integers = view.remembered("scores", offered, lambda: ranked(view))
        return offered.cliques[places[view.noise.noisy_max(ranks[places], scale)]]

    return drawn


def _counts(view: View, cliques: Collection[Clique]) -> list[Integers]:
    tables = view.tables(cliques)
    return [tables[clique] for clique in cliques]
