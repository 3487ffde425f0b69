"""The certificate: the error of the published tables, measured against the private table on a share of the budget of its own.

After the synthetic rows are final, the kernel measures ||M_r(D) - T p_r||_1 for all k marginals of the workload at once, p_r being the
rows' marginal as fractions and T the (public or estimated) number of records: k unbiased numbers with one Gaussian noise each, of
sigma = Delta sqrt(k / (2 rho)). Divided by 2 T they are the errors that the certificate states. Their confidence bounds hold for any
mechanism, which has seen none of this noise, and name few tables through luck (Proposition 23). The mean of the k is sqrt(k) times more
precise than each.

Under add-remove the number N of records is secret. T is then the estimate that the measurements give, or, without any, one made with a
tenth of the certificate's budget; the bounds include the effect of T's noise (see `totals`). For mechanisms that give answers and no rows,
p_r is the answer divided by T, as a reader of the answers would compute it.

A tenth of the budget (`CERTIFIED_LARGEST`) measures one more number, the largest error of all cells, max |M_r(D)[y] - T p_r[y]|. One person
moves that by 1, not by 2, and it is one number, not k: it is known many times better than each of the k. Where the workload asks thresholds
("at least t of these columns"), the largest error is the thresholds' largest error. The k errors are the plain marginals' also then: one
person is in many thresholds of a marginal at once, so that the L1 error of a table of thresholds is as many times more sensitive.

Where the k errors would be too noisy to name a single table, half of their budget measures how far off most tables are (`ranks`). Their
bounds then hold for all tables at once, because the luckiest of many noisy numbers means nothing.

Another part (`CERTIFIED_COLUMNS`) measures the same k errors of other answers, the products of single columns, and states their mean alone:
a yardstick (`columns_alone`). A release that is such a product itself needs none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import dropwhile
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from typing_extensions import override

from dpsynth_core.claims import columns_alone, ranks
from dpsynth_core.claims.claim import Asked, BudgetShare, Claim, Final, Received
from dpsynth_core.claims.columns_alone import Columns, ColumnsAlone, Distance
from dpsynth_core.claims.outcome import NEAR, Nothing, Open, Wrong, alike, expect, near, some
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.mechanisms.rounds import distance_sigma
from dpsynth_core.privacy import questions
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.privacy.interface import Kernel, SealedKernel
from dpsynth_core.statistics.distances import IN_WRONG_CELL, possible
from dpsynth_core.statistics.naming import LIMIT, surely_above, surely_below
from dpsynth_core.statistics.quantiles import margin, normal
from dpsynth_core.statistics.shrinking import FEWEST, likely
from dpsynth_core.statistics.totals import Total, measured_total
from dpsynth_core.vocabulary.marginals import at_least
from dpsynth_core.vocabulary.measurement import ROUNDING, Clique

Array = NDArray[np.float64]
Tables = Mapping[Clique, Array]
"""Marginals as fractions."""

CONFIDENCE = 0.95
ROWS, ANSWERS = "rows", "answers"
CERTIFIED_LARGEST = 0.1
"""Share of the certificate that measures the largest error of all cells."""
CERTIFIED_COLUMNS = 0.15
"""Share of the certificate that measures the error of columns alone; the rest measures the error of each marginal. On a thousand people the
mean over all tables and this yardstick are about as uncertain as they differ; on fifty thousand neither share matters.
"""

_GOOD = LIMIT / IN_WRONG_CELL
_FLOOR_SHARE = 0.01
"""Share of the failure probability for the lower bound of the number of records, by which errors are divided."""


@dataclass(frozen=True)
class Certified:
    """The measured error of one marginal, in shares of people in a wrong cell.

    Attributes:
        attributes: The marginal.
        error: Unbiased error, so below 0 now and then if it is smaller than the noise.
        likely: Best estimate, shrunk towards the other errors (`statistics.shrinking`), never below
            0.
        low95: Lower bound of the true error with 95 % confidence, for a marginal that was not
            chosen by its error (`statistics.naming`), not even by the other errors.
        bound95: Upper bound of the true error with 95 % confidence; for tables that are named good
            it allows for that choice.
        simultaneous95: Upper bound for all marginals together; equal to bound95 if
            `Certificate.most` is stated.
    """

    attributes: Clique
    error: Distance
    likely: Distance
    low95: Distance
    bound95: Distance
    simultaneous95: Distance


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """The measured errors of a release.

    Attributes:
        of: ROWS or ANSWERS.
        mean_error: Mean error of all marginals, as a share of people in a wrong cell, unbiased.
        mean_bound95: 95 % upper bound of the true mean error, in the same unit.
        max_error: Largest error of a cell, or of a threshold where the workload asks those, as a fraction of the records, unbiased.
        max_bound95: 95 % upper bound of the true largest error, as a fraction of the records.
        max_sigma: Standard deviation of the noise of the largest error, in records.
        confidence: Confidence of each bound, as a probability.
        sigma: Standard deviation of the noise of each measured L1 distance, in records.
        rho: Cost of the certificate, in rho.
        total: Number of records that errors are fractions of.
        marginals: The errors of the marginals, in the order of the published tables.
        columns: The yardstick; None where the release is one itself or does not publish its columns.
        most: Errors of groups of tables; () where single tables are measured well enough to be named.
        most_sigma: Standard deviation of the noise of the groups' distances, in records; 0 without groups.
    """

    of: str
    mean_error: Distance
    mean_bound95: Distance
    max_error: float
    max_bound95: float
    max_sigma: float
    confidence: float = CONFIDENCE
    sigma: float
    rho: float
    total: Total
    marginals: tuple[Certified, ...]
    columns: ColumnsAlone | None = None
    most: tuple[ranks.Most, ...] = ()
    most_sigma: float = 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of each marginal's error, as a share of people."""
        return IN_WRONG_CELL * self.sigma / self.total.value

    @property
    def noise(self) -> float:
        """The noise of each marginal's error that 5 of 100 errors exceed, as a number of people."""
        return normal(0.975) * IN_WRONG_CELL * self.sigma

    @property
    def says_nothing(self) -> bool:
        """True if the noise of each error may reach the number of people.

        The measured errors are then noise, even those that happen to be small.
        """
        return self.noise >= self.total.at_least(CONFIDENCE)

    @property
    def mean_low95(self) -> float:
        """The lower bound of the mean error with 95 % confidence, as a share of people in a wrong cell.

        It is as far below the measured mean as the upper bound is above it, but at least 0.
        """
        return max(0.0, 2 * self.mean_error - self.mean_bound95)


@dataclass(frozen=True)
class Largest:
    """The measured largest error of all cells.

    Attributes:
        error: The error, in records, unbiased.
        sigma: Standard deviation of its noise, in records.
        threshold: The t of threshold queries; None for cells.
    """

    error: float
    sigma: float
    threshold: int | None = None


def certify(
    kernel: Kernel,
    published: Tables,
    released_total: Total | None,
    of: str,
    threshold: int | None = None,
    columns: Columns | None = None,
) -> Certificate:
    """Measure the errors of published tables with the kernel's remaining budget, and return the certificate.

    All of the remaining budget is charged. The result is noisy and may be released.

    Args:
        kernel: The kernel.
        published: The rows' tables or the answers by clique, as fractions; at least one.
        released_total: Number of records, if it was released before; None lets at most a tenth of the budget
            measure it.
        of: ROWS or ANSWERS, whichever `published` was made from.
        threshold: t if the workload asks "at least t of these columns"; None for plain cells.
        columns: Single columns of the release, whose products are measured for comparison; None for
            no comparison.
    """
    total = released_total or measured_total(kernel)
    rho, yardstick = kernel.rho_left, CERTIFIED_COLUMNS if columns is not None else 0.0
    answers, for_errors = {r: fractions * total.value for r, fractions in published.items()}, (1 - CERTIFIED_LARGEST - yardstick) * rho
    groups, most_sigma = ranks.groups(kernel.unit, for_errors, total.value, published), 0.0
    if groups:
        most_sigma = distance_sigma(kernel.unit, ranks.RANKED * for_errors, len(groups))
        for_errors *= 1 - ranks.RANKED
    sigma = distance_sigma(kernel.unit, for_errors, len(published))
    noisy, most = kernel.measure_errors(answers, sigma), ranks.measure(kernel, answers, groups, most_sigma)
    alone = None
    if columns is not None:
        sigma_alone = distance_sigma(kernel.unit, yardstick * rho, len(published))
        distances = kernel.measure_errors({r: columns.product(r) * total.value for r in published}, sigma_alone)
        alone = columns.stated(math.fsum(distances.values()) / len(distances), sigma_alone, published, total)
    max_sigma = kernel.unit.query_l1 / math.sqrt(2 * kernel.rho_left)
    answers = {r: fractions * total.value for r, fractions in _at_threshold(published, threshold).items()}
    largest = Largest(kernel.measure_largest_error(answers, max_sigma, threshold), max_sigma, threshold)
    stated = state(noisy, published, total, sigma, kernel.rho_spent, of, largest, alone)
    return with_groups(stated, published, most, most_sigma) if groups else stated


def state(
    noisy: Mapping[Clique, float],
    published: Tables,
    total: Total,
    sigma: float,
    rho: float,
    of: str,
    largest: Largest,
    columns: ColumnsAlone | None = None,
) -> Certificate:
    """Return the certificate that follows from the measured distances; the calculation reads no private data.

    Args:
        noisy: Measured L1 distance of each published table, in records.
        published: The published tables, as fractions.
        total: Number of records.
        sigma: Standard deviation of the noise of each distance, in records.
        rho: Cost of the measurements.
        of: ROWS or ANSWERS, whichever `published` was made from.
        largest: The measured largest error.
        columns: The errors of products of single columns, for comparison; None without.
    """
    masses = {r: round(float(np.abs(fractions).sum()), 12) for r, fractions in published.items()}  # 1 for rows, exactly
    k, widest, mean_mass = len(published), max(masses.values()), math.fsum(masses.values()) / len(published)
    mean = math.fsum(noisy.values()) / k

    def bound(distance: float, deviation: float, mass: float, count: int = 1) -> float:
        return IN_WRONG_CELL * _bound(distance, deviation, mass, total, count)

    each = _each(noisy, published, masses, total, sigma)
    mean_error, mean_bound = IN_WRONG_CELL * mean / total.value, bound(mean, sigma / math.sqrt(k), mean_mass)
    # a wrong T can move the largest published share; a share of rows is off by 1 at most
    heaviest = max(float(np.abs(fractions).max()) for fractions in _at_threshold(published, largest.threshold).values())
    max_bound = _bound(largest.error, largest.sigma, heaviest, total, 1)
    return Certificate(
        of=of,
        marginals=tuple(
            Certified(
                attributes=r,
                error=IN_WRONG_CELL * distance / total.value,
                likely=IN_WRONG_CELL * likeliest,
                low95=IN_WRONG_CELL * low,
                bound95=IN_WRONG_CELL * high,
                simultaneous95=max(IN_WRONG_CELL * high, min(IN_WRONG_CELL * (1 + masses[r]), bound(distance, sigma, widest, k))),
            )
            for (r, distance), (likeliest, low, high) in zip(noisy.items(), each, strict=True)
        ),
        mean_error=mean_error,
        mean_bound95=mean_bound,
        total=total,
        sigma=sigma,
        rho=rho,
        max_error=largest.error / total.value,
        max_bound95=min(1.0, max_bound) if of == ROWS else max_bound,
        max_sigma=largest.sigma,
        columns=columns,
    )


def with_groups(stated: Certificate, published: Tables, noisy: Mapping[ranks.Group, float], sigma: float) -> Certificate:
    """Return the certificate with the errors of groups of tables added.

    The groups' bounds follow the CLs rule, and are not below the best estimates of single errors,
    because groups are called good by them. The bounds of single tables then hold for all at once.

    Args:
        stated: The certificate without groups.
        published: The published tables, as fractions.
        noisy: Measured L1 distance of each group (`ranks.measure`), in records.
        sigma: Standard deviation of the noise of each of these distances, in records.
    """
    share, fewest = floor_of(stated.total, CONFIDENCE)
    mass = max(round(float(np.abs(fractions).sum()), 12) for fractions in published.values())
    distances, likeliest = np.array(list(noisy.values())), {one.attributes: one.likely / IN_WRONG_CELL for one in stated.marginals}
    tables = ranks.tables_of(noisy, published)

    def bounds(part: float) -> Array:
        return surely_below(distances, sigma, mass * stated.total.sigma, (1 - CONFIDENCE - share) * part) / fewest

    highs, most = np.full(len(noisy), math.inf), []
    if fewest > 0:
        highs = bounds(1.0)
        if len(likeliest) >= FEWEST:
            highs = np.maximum(highs, list(ranks.at_ranks(noisy, likeliest).values()))
        highs = _of_chosen(highs, bounds)
    for (group, distance), high in zip(noisy.items(), np.minimum(1 + mass, highs).tolist(), strict=True):
        number = len(tables[group])
        error, bound95 = IN_WRONG_CELL * distance / stated.total.value, IN_WRONG_CELL * high
        most.append(ranks.Most(group, number, ranks.rank_of(number), error, bound95))
    marginals = tuple(replace(one, bound95=one.simultaneous95) for one in stated.marginals)
    return replace(stated, marginals=marginals, most=tuple(most), most_sigma=sigma)


def mean_bound(certificate: Certificate, published: Tables) -> float:
    """Return the 95 % upper bound on the mean error of the marginals in `published`.

    The error is the share of people in a wrong cell. The bound is below the mean of the marginals'
    own bounds, because noise averages out. For all marginals it is `Certificate.mean_bound95`.

    Args:
        certificate: The certificate.
        published: Some of its marginals, at least one, as fractions.
    """
    distances = [one.error / IN_WRONG_CELL * certificate.total.value for one in certificate.marginals if one.attributes in published]
    k = len(distances)
    mass = math.fsum(round(float(np.abs(fractions).sum()), 12) for fractions in published.values()) / k
    return IN_WRONG_CELL * _bound(math.fsum(distances) / k, certificate.sigma / math.sqrt(k), mass, certificate.total, 1)


def _at_threshold(published: Tables, threshold: int | None) -> Tables:
    return {r: at_least(fractions, threshold or len(r)) for r, fractions in published.items()}


def table_bounds(certificate: Certificate, confidence: float) -> dict[Clique, float]:
    """Return by marginal an upper bound of the share of people in a wrong cell, from 0 to 1.

    Each bound holds with probability `confidence` by itself; they need not hold all at once. All are 1 if there
    could be no people, because their number is mostly noise.

    Args:
        certificate: The certificate of released rows; for noisy tables the bounds would be wrong.
        confidence: The probability, from 0 to 1.
    """
    total, distances = certificate.total, [one.error / IN_WRONG_CELL * certificate.total.value for one in certificate.marginals]
    share, fewest = floor_of(total, confidence)
    highs = surely_below(np.array(distances), certificate.sigma, total.sigma, 1 - confidence - share) / fewest if fewest > 0 else math.inf
    capped = np.broadcast_to(np.minimum(1.0, IN_WRONG_CELL * highs), len(distances)).tolist()
    return dict(zip((one.attributes for one in certificate.marginals), capped, strict=True))


def _each(
    noisy: Mapping[Clique, float], published: Tables, masses: Mapping[Clique, float], total: Total, sigma: float
) -> list[tuple[float, float, float]]:
    """Return the best estimate and two bounds of each true L1 distance, as a fraction (Proposition 23).

    If there are enough distances, estimates and bounds use the other distances as well.

    Args:
        noisy: Measured L1 distance of each table, in records.
        published: The published tables, as fractions.
        masses: Sum of each published table's absolute fractions.
        total: Number of records.
        sigma: Standard deviation of the noise of each distance, in records.

    Returns:
        For each table: the estimate, the lower bound and the upper bound, each bound with
        `CONFIDENCE`.
    """
    share, fewest = floor_of(total, CONFIDENCE)
    most, failure = 2 * total.value - fewest, 1 - CONFIDENCE - share
    distances, mass = np.array(list(noisy.values())), np.array([masses[r] for r in noisy])
    folded, worst = mass * total.sigma, 1 + mass
    low = surely_above(distances, sigma, folded, failure, worst * total.value) / most
    high = surely_below(distances, sigma, folded, failure) / fewest if fewest > 0 else worst
    best, cells = distances / total.value, np.array([published[r].size for r in noisy], dtype=float)
    if others := likely(distances, np.hypot(sigma, folded), cells):
        low, best = np.minimum(low, others.quantiles(1 - CONFIDENCE) / most), others.means / total.value
        high = np.maximum(high, others.quantiles(CONFIDENCE) / fewest) if fewest > 0 else worst
    high = _of_chosen(high, lambda part: surely_below(distances, sigma, folded, failure * part) / fewest)
    best, low, high = (np.clip(numbers, 0.0, worst).tolist() for numbers in (best, low, high))
    return list(zip(best, low, high, strict=True))


def _of_chosen(high: Array, at: Callable[[float], Array]) -> Array:
    """Return bounds that allow for the choice of the tables that are named good by them (Proposition 23).

    Args:
        high: Upper bounds, as fractions (L1), without that allowance.
        at: Returns the bounds at a part of their failure probability.
    """
    good = high <= _GOOD
    return np.where(good, np.clip(at(float(good.mean())), high, _GOOD), high) if good.any() else high


def _bound(error: float, sigma: float, mass: float, total: Total, count: int) -> float:
    """Return an upper bound, with `CONFIDENCE`, of a true L1 distance as a fraction; 1 + mass at most.

    In records: N e <= error + noise + |T - N| mass. The bound is divided by a lower bound of N.

    Args:
        error: Measured distance, in records.
        sigma: Standard deviation of its noise, in records.
        mass: Sum of the published table's absolute fractions.
        total: Number of records.
        count: Number of distances for which the bound is to hold at once.
    """
    share, fewest = floor_of(total, CONFIDENCE)
    records = error + margin(sigma, mass * total.sigma, count, CONFIDENCE + share)
    return min(1 + mass, max(0.0, records) / fewest) if fewest > 0 else 1 + mass


def floor_of(total: Total, confidence: float) -> tuple[float, float]:
    """Return the probability that a lower bound of the number of records fails, and this bound.

    Args:
        total: The number of records, exact or measured.
        confidence: Confidence of the whole statement, of whose failure probability this is a part.

    Returns:
        The failure probability (0 for an exact number) and the lower bound, in this order.
    """
    share = _FLOOR_SHARE * (1 - confidence) if total.sigma else 0.0
    return share, total.at_least(1 - share)


class ErrorsMeasured(Claim[Certificate]):
    """The certificate: the distance of the published tables from the private ones."""

    name = part = noun = "certificate"
    of_everybody = True
    share = BudgetShare(default=0.0, least=0.001, most=0.5, otherwise="0 for no certificate")
    purpose = "measuring the errors of the result"
    announced = "measuring the errors of what is published"
    unmeasured = (
        "The run was interrupted before its errors were measured: there is no certificate, although a share of the budget was for it."
    )
    question = "Does the certificate add up?"
    form = TypeAdapter(Certificate | None)

    @override
    def wanted(self, document: Mapping[str, Any], mechanism: Mechanism) -> bool:
        """Return whether the mechanism publishes tables, so that a release can have a certificate.

        Args:
            document: The parts of the spec; not used.
            mechanism: The mechanism of the spec.
        """
        return mechanism.card.publishes_tables

    @override
    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> Certificate:
        """Measure the certificate of the published tables with the kernel's whole remaining budget, and return it.

        Args:
            plan: The plan.
            kernel: The kernel with the certificate's share.
            final: The released tables and rows.
        """
        columns = None if plan.columns_sigma is None else columns_alone.of(final.released, plan.columns_sigma, final.tables)
        of = ANSWERS if final.released.codes is None else ROWS
        return certify(kernel, final.tables, final.of_everybody, of, plan.workload.threshold, columns)

    @override
    def follows(self, received: Received, stated: Certificate | None) -> str:
        """Return a clause if the certificate follows from stored noisy answers; else raise.

        All numbers are computed again from the measured errors, whose noise must have been paid
        for. Digests beside the answers show that errors of the published tables were measured.

        Raises:
            Wrong: A number does not follow or was not paid for, or the certificate is missing
                though the plan has one.
            Open: The tables may differ because other versions made them.
            Nothing: No certificate was asked for, or the run ended before it.
        """
        plan, final = received.plan, received.final
        share = plan.shares.of(self.name)
        if stated is None:
            if received.interrupted or received.branded(self.brand):
                raise Nothing("the run was interrupted before it was measured")
            expect(share == 0, "the plan has a certificate, the release has none")
            raise Nothing("no certificate was made")
        l2 = plan.unit.errors_l2(len(stated.marginals))
        paid = [e for e in received.charges if type(e) is Gaussian and near(e.sigma, stated.sigma) and near(e.l2, l2)]
        expect(paid, "its noise is not what was paid for")
        expect(stated.rho <= share * (1 + NEAR), "it cost more than its share")
        if final.of_everybody is not None:
            expect(near(stated.total.value, final.of_everybody.value), "it counts errors in fractions of another number of records")
        else:
            _check_counted(received, stated)
        expect(stated.of == (ANSWERS if final.released.codes is None else ROWS), "it is about something else than what is published")
        expect({one.attributes for one in stated.marginals} == set(final.tables), "it is about other tables than the workload's")
        noisy = {one.attributes: one.error / IN_WRONG_CELL * stated.total.value for one in stated.marginals}
        released = {clique: final.tables[clique] for clique in noisy}
        alone, most = _recomputed_columns(received, stated, released), _ranked(received, stated, released)
        recomputed = state(noisy, released, stated.total, stated.sigma, stated.rho, stated.of, _largest(received, stated), alone)
        recomputed = with_groups(recomputed, released, most, stated.most_sigma) if most else recomputed
        numbers = asdict(stated)
        different = sorted(name for name, value in asdict(recomputed).items() if not alike(value, numbers[name]))
        expect(not different, f"its numbers do not follow from its errors: {some(different)}")
        _check_measured_of(received, stated, "measure_errors", released, stated.sigma)
        tables = ranks.tables_of([one.group for one in stated.most], released)
        for one in stated.most:
            of_group = {r: released[r] for r in tables[one.group]}
            _check_measured_of(received, stated, "measure_ranked_error", of_group, one.rank, stated.most_sigma)
        return f"{len(noisy):,} measured errors, their bounds and their mean follow from each other"

    @override
    def sentences(self, plan: Asked, stated: Certificate | None, final: Final) -> list[str]:
        """Return one sentence with the mean error and its bound; [] if `stated` is None.

        If noise may hide every error, the sentence says only that.
        """
        return [] if stated is None else [_sentence(stated, plan.shares.of(self.name) / plan.shares.rho, plan.records_each, plan.who)]


CERTIFICATE = ErrorsMeasured()


def _check_counted(received: Received, certificate: Certificate) -> None:
    """Check that the number of records and its noise are what was measured before the errors; raise Wrong if not."""
    counted = [answer for answer in received.answers if answer.operation == "measure_total"]
    totals = [(max(1.0, float(answer.value)), math.sqrt(float(answer.arguments[0]) ** 2 + ROUNDING)) for answer in counted]
    total = certificate.total
    expect(any(near(value, total.value) and near(sigma, total.sigma) for value, sigma in totals), "it counts records that nobody measured")


def _check_measured_of(received: Received, certificate: Certificate, operation: str, released: Tables, *numbers: float) -> None:
    """Check by the digest beside the kernel's answer that the published tables were measured.

    Tables of rows are the same on every machine; tables from noisy answers may be rounded
    differently.

    Args:
        received: The release.
        certificate: The certificate.
        operation: Name of the kernel operation that measured the errors.
        released: The published tables, as fractions.
        *numbers: The operation's first arguments, before the digests.

    Raises:
        Wrong: No such answer is about these tables.
        Open: Likewise, but other versions made the release, so that the tables may differ.
    """
    wanted = questions.digests(({clique: fractions * certificate.total.value for clique, fractions in released.items()},))
    for answer in (one for one in received.answers if one.operation == operation):
        stated, about = answer.arguments[: len(numbers)], answer.arguments[len(numbers) :]
        if all(map(near, stated, numbers)) and about == wanted:
            return
    if received.other_program or (received.other_versions and received.final.released.codes is None):
        raise Open("whether its errors were measured of what is published is seen where the versions are those that it names")
    raise Wrong("its errors were measured of something else than what is published")


def _ranked(received: Received, certificate: Certificate, released: Tables) -> dict[ranks.Group, float]:
    """Return the measured errors of groups of tables, in records; {} if no groups were measured.

    Raises:
        Wrong: The groups are not those that follow from the budget, the tables and the number of
            records, or an error is not what the kernel answered.
    """
    unit, stated = received.plan.unit, {one.group: one.error / IN_WRONG_CELL * certificate.total.value for one in certificate.most}
    for_errors = unit.errors_l2(len(released)) ** 2 / (2 * certificate.sigma**2) / (1 - ranks.RANKED if stated else 1)
    groups = ranks.groups(unit, for_errors, certificate.total.value, released)
    expect(tuple(stated) == groups, "it is about other groups of tables than follow from its noise")
    own = received.answers[: len(received.answers) - received.behind(CERTIFICATE.name)]  # weighted tables have groups of their own
    answers = [answer.value for answer in own if answer.operation == "measure_ranked_error"]
    expect(len(answers) == len(groups) and all(map(near, answers, stated.values())), "of groups of tables it states what was not measured")
    return stated


def _largest(received: Received, certificate: Certificate) -> Largest:
    """Return the largest error in records. Raises Wrong if its noise was not paid for."""
    paid = any(type(e) is Gaussian and near(e.sigma, certificate.max_sigma) for e in received.charges)
    expect(paid, "its noise is not what was paid for")
    return Largest(certificate.max_error * certificate.total.value, certificate.max_sigma, received.plan.workload.threshold)


def _recomputed_columns(received: Received, certificate: Certificate, released: Tables) -> ColumnsAlone | None:
    """Return the yardstick of columns alone, computed again from stored noisy answers.

    Returns:
        The yardstick; None if such a release cannot have one.

    Raises:
        Wrong: The certificate has a yardstick and cannot have one, lacks one, or has one whose
            noise was not paid for.
    """
    stated, sigma = certificate.columns, received.plan.columns_sigma
    operations = [answer.operation for answer in received.answers]
    ended = operations.index("measure_largest_error")  # with that a certificate ends; criteria follow
    asked = [answer for answer in received.answers[:ended] if answer.operation == "measure_errors"]
    answers = list(dropwhile(lambda answer: not near(answer.arguments[0], certificate.sigma), asked))  # a mechanism may have asked before
    columns = None if sigma is None else columns_alone.of(received.final.released, sigma, released)
    if columns is None:
        expect(stated is None and len(answers) == 1, "it has a yardstick that cannot be measured in such a release")
        return None
    if stated is None:
        raise Wrong("its yardstick is missing")
    expect(len(answers) == 2 and near(answers[1].arguments[0], stated.sigma), "its yardstick is not what was paid for")
    noisy = answers[1].value
    return columns.stated(math.fsum(noisy.values()) / len(noisy), stated.sigma, released, certificate.total)


def _sentence(certificate: Certificate, share: float, each: int, who: str) -> str:
    """Return the certificate in words.

    Args:
        certificate: The certificate.
        share: Share of the budget that measured it.
        each: Records per person, or per household.
        who: The word for those who count once.
    """
    if certificate.says_nothing:
        people, noise = certificate.total.value / each, certificate.noise / each
        return f"it says nothing: about {people:,.0f} {who}, and noise of ± {noise:,.0f} in each error"
    what = "answers" if certificate.of == ANSWERS else "synthetic rows"
    mean, most = possible(certificate.mean_error), possible(certificate.mean_bound95)
    return (
        f"{share:.0%} of the budget measured how far the {what} are from the private table: on average over the "
        f"{len(certificate.marginals):,} tables, {mean:.1%} of {who} are in the wrong group; with 95% confidence, {most:.1%} at most."
    )
