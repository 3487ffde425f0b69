"""Changes between two releases of one table: each cell's share, with an interval that knows the noise of both.

**Measured tables.** A table that both releases measured has an unbiased noisy estimate in each (`questions.known`), with Gaussian noise
whose variance is known. The noise of two releases is independent, so variances add. Under no change both shares are one share t, and with
Y = a - t b for the noisy count a of the cell and b of all people, the variance of the difference is the sum of Var(Y) / b^2 of both; t is
estimated from both releases together. The two-sided p-value is that of a normal number. The interval is MOVER's (`questions.evidence`).

**Bounded tables.** Otherwise, where each release has rows and a certificate that bounds its table: at most b of the people are in a wrong
cell, so the share of each cell is off by at most b. Such bounds are no deviations of independent noise, so they are added, and not their
squares.

**Many cells.** Among thousands of cells some differ by chance, so the p-values of the measured cells are corrected. By Holm (1979) the
probability that any unchanged cell is listed is at most the level, however cells depend on each other. By Benjamini and Hochberg (1995) at
most that share of the listed cells is expected to be unchanged, if cells are independent or depend positively. Bounded tables have a level
of their own, `BOUNDED`, divided equally by the tables and the two releases (Bonferroni). The measured cells have the rest of `LEVEL`.

**Sampling.** Noise is not the only chance: where each table is a random sample of the people one asks about, the share t of n of them
varies with t (1 - t) / n, times the design effect. It adds to the variances. Two samples with some people in common vary together, which
makes these intervals too wide, and not too narrow, if people keep their values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.certificate import ROWS, table_bounds
from dpsynth_core.evaluation.change import comparable, different
from dpsynth_core.evaluation.questions.evidence import Estimated, Noisy, within
from dpsynth_core.evaluation.questions.known import Known, known
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.release.release import Release
from dpsynth_core.report.facts import learnt
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.statistics.totals import known_total
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

LEVEL, BOUNDED = 0.05, 0.01
"""Level of all that is listed, and the part of it that bounded tables have where there are any."""
CONFIDENCE = 0.95
"""Of each interval by itself."""
HOLM, BH = "holm", "bh"
CORRECTIONS = {HOLM: "Holm", BH: "Benjamini-Hochberg"}
NOISE, BOUNDS = "noise", "bounds"
"""What the interval of a cell rests on."""
POWER = 0.8
MOST_CELLS = 20_000
"""That are compared, of the smallest tables."""
MOST_EFFECT = 100.0

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """The change of a cell's share of the people.

    Attributes:
        codes: The cell, one code for each column of its table.
        before, after: Its share in each release as estimated without bias, which noise can move below 0 or above 1.
        low, high: Interval of after - before with 95 % confidence by itself; for a bounded table, of all its cells together.
        p: p-value of no change; NaN for a bounded table.
        adjusted: The p-value corrected for the number of cells; NaN for a bounded table.
        changed: Whether it changed beyond noise and bounds, after the correction.
    """

    codes: tuple[int, ...]
    before: float
    after: float
    low: float
    high: float
    p: float
    adjusted: float
    changed: bool

    @property
    def change(self) -> float:
        """The later share minus the earlier one."""
        return self.after - self.before


@dataclass(frozen=True)
class Table:
    """The changes of the cells of one table.

    Attributes:
        columns: The table.
        basis: `NOISE` if both releases measured it, `BOUNDS` if the errors of both are bounded.
        cells: Its possible cells.
        found: The change of the share of any one of its cells that would be listed in at least 80 % of such comparisons, as a share of
            the people; 1 if no change is listed so often.
    """

    columns: Clique
    basis: str
    cells: tuple[Cell, ...]
    found: float


@dataclass(frozen=True)
class Compared:
    """The changes between two releases.

    Attributes:
        tables: The tables that were compared.
        silent: Tables of which nothing can be said: not measured by both releases, and not bounded by both.
        left: Tables that were left out because 20,000 cells (`MOST_CELLS`) are compared already.
        columns: Columns that only one release has, or that have other values.
        correction: One of `CORRECTIONS`.
        level: Level of the measured tables: `LEVEL`, without the part that bounded tables have if there were any to compare.
        sampling: Design effect of the samples; None if sampling was left out.
    """

    tables: tuple[Table, ...]
    silent: tuple[Clique, ...]
    left: tuple[Clique, ...]
    columns: tuple[str, ...]
    correction: str
    level: float
    sampling: float | None

    @property
    def cells(self) -> int:
        """Number of compared cells."""
        return sum(len(table.cells) for table in self.tables)

    @property
    def changed(self) -> list[tuple[Table, Cell]]:
        """The cells that changed, each with its table, by the size of the change, largest first; [] without any.

        Cells with equal changes are in the order of their columns and codes.
        """
        found = [(table, cell) for table in self.tables for cell in table.cells if cell.changed]
        return sorted(found, key=lambda pair: (-round(abs(pair[1].change), 9), pair[0].columns, pair[1].codes))


def check(correction: str, sampling: float | None) -> None:
    """Check the choices of a comparison, and return nothing.

    Raises:
        InputError: The correction is unknown, or the design effect is not from 1 to 100 (`MOST_EFFECT`).
    """
    if correction not in CORRECTIONS:
        raise InputError("correction", f"{shown(correction)} is unknown", f"use one of {', '.join(CORRECTIONS)}")
    if sampling is not None and not (isinstance(sampling, int | float) and 1 <= sampling <= MOST_EFFECT):
        remedy = "give 1 for a simple random sample, or the design effect of the survey"
        raise InputError("sampling", f"{shown(sampling)} is not a number from 1 to {MOST_EFFECT:g}", remedy)


def compare(before: Release, after: Release, correction: str = HOLM, sampling: float | None = None) -> Compared:
    """Compare two releases cell by cell, in all single columns and in the tables of both workloads. The level is 5 %.

    At most 20,000 cells (`MOST_CELLS`) are compared, from the smallest tables on. The result also names the
    tables beyond this number, the tables that the releases neither both measured nor both bounded, and the
    columns whose values differ; these are not compared.

    Args:
        before: The earlier release.
        after: The later release.
        correction: How many cells are corrected for, one of `CORRECTIONS`.
        sampling: The design effect of the samples (1 for simple random samples), which adds the sampling error; None to leave it out.

    Raises:
        InputError: The correction is unknown; the design effect is not from 1 to 100; a release is a learnt rule;
            the releases have no column with the same values in common; or sampling is asked for and a
            release does not state its number of people.
    """
    check(correction, sampling)
    if learnt(before) or learnt(after):
        raise InputError("release", "it is a rule, and holds no table that could be compared", "choose releases of tables")
    first, second = _known(before), _known(after)
    apart = different(before.domain, after.domain)
    if len(apart) == len({*before.domain.names, *after.domain.names}):
        raise InputError("release", "the two have no column with the same values in common", "choose releases of the same columns")
    sizes = None if sampling is None else _sizes(first, second, sampling)
    asked = [*((name,) for name in before.domain.names), *before.plan.workload.cliques, *after.plan.workload.cliques]
    wanted = comparable(before.domain, after.domain, asked)
    measured = [table for table in wanted if first.estimate(table) and second.estimate(table)]
    bounded = [table for table in wanted if table not in measured and table in _certified(before) and table in _certified(after)]
    kept, left = _smallest(first, [*measured, *bounded])
    measured, bounded = ([table for table in kept if table in part] for part in (measured, bounded))
    by_bounds = _bounded(before, after, bounded, sizes)
    level = LEVEL - BOUNDED if bounded else LEVEL  # not by `by_bounds`: whether bounds say nothing depends on the noise
    found = _measured(first, second, measured, correction, level, sizes)
    said = {table.columns for table in (*found, *by_bounds)}
    silent = tuple(table for table in wanted if table not in said and table not in left)
    return Compared((*found, *by_bounds), silent, left, apart, correction, level, sampling)


def holm(p: Float) -> Float:
    """Return p-values adjusted by Holm's step-down procedure, in their order; empty for none."""
    order, number = np.argsort(p, kind="stable"), len(p)
    stepped = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(number, 0, -1))) if number else p
    adjusted = np.empty(number)
    adjusted[order] = stepped
    return adjusted


def benjamini_hochberg(p: Float) -> Float:
    """Return p-values adjusted by Benjamini and Hochberg's step-up procedure, in their order; empty for none."""
    order, number = np.argsort(p, kind="stable"), len(p)
    raised = p[order] * number / np.arange(1, number + 1)
    adjusted = np.empty(number)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(raised[::-1])[::-1])
    return adjusted


_ADJUST: Mapping[str, Callable[[Float], Float]] = {HOLM: holm, BH: benjamini_hochberg}


def _known(release: Release) -> Known:
    """Return the noisy tables of a release and its number of people."""
    total = known_total(release.tables_of_columns, release.total if release.plan.unit.total_is_public else None)
    return known(release.domain, None, release.tables_of_columns, total, {}, None)


def _sizes(first: Known, second: Known, effect: float) -> tuple[float, float]:
    """Return the effective number of people in each sample.

    Raises:
        InputError: A release does not state its number of people.
    """
    if first.total is None or second.total is None:
        raise InputError("sampling", "a release does not state its number of people", "leave the sampling error out")
    return max(1.0, first.total.value) / effect, max(1.0, second.total.value) / effect


def _certified(release: Release) -> frozenset[Clique]:
    """Return the tables of the rows whose errors a certificate bounds; none for two linked tables, whose rows are pairs."""
    certificate = release.certificate
    if certificate is None or certificate.of != ROWS or certificate.says_nothing or release.codes is None or release.plan.link is not None:
        return frozenset()
    return frozenset(one.attributes for one in certificate.marginals)


def _smallest(first: Known, tables: Iterable[Clique]) -> tuple[list[Clique], tuple[Clique, ...]]:
    """Return the tables with the fewest cells, of `MOST_CELLS` together, and the others."""
    ordered = sorted(tables, key=lambda table: (first.domain.cells(table), table))
    sums = np.cumsum([first.domain.cells(table) for table in ordered])
    number = int(np.searchsorted(sums, MOST_CELLS, side="right"))
    return ordered[:number], tuple(ordered[number:])


def _measured(
    first: Known, second: Known, tables: Sequence[Clique], correction: str, level: float, sizes: tuple[float, float] | None
) -> list[Table]:
    """Return the tables that both releases measured, with p-values that are corrected over all their cells together."""
    reach = normal((1 + CONFIDENCE) / 2)
    pairs: list[tuple[Clique, tuple[int, ...], Estimated, Estimated]] = []
    for table in tables:
        one_table, other_table = (_shares(release, table) for release in (first, second))
        pairs += [(table, codes, one_table[place], other_table[place]) for place, codes in _possible(first.domain, table)]
    spread = [_deviation(one, other, sizes) for _, _, one, other in pairs]
    p = np.array([_p_value(one, other, deviation) for (_, _, one, other), deviation in zip(pairs, spread, strict=True)])
    adjusted = _ADJUST[correction](p).tolist()
    cells: dict[Clique, list[Cell]] = {table: [] for table in tables}
    for (table, codes, one, other), alone, corrected in zip(pairs, p.tolist(), adjusted, strict=True):
        before, after = (0.0 if math.isnan(share.value) else share.value for share in (one, other))
        cells[table].append(Cell(codes, before, after, *_interval(one, other, reach, sizes), alone, corrected, corrected <= level))
    first_step = normal(1 - level / (2 * max(1, len(pairs)))) + normal(POWER)
    largest = dict.fromkeys(tables, 0.0)
    for (table, _, one, other), deviation in zip(pairs, spread, strict=True):
        # A change moves the share, and the deviation depends on the share.
        moved = (_deviation(one, other, sizes, way * first_step * deviation) for way in (-1, 1)) if math.isfinite(deviation) else ()
        largest[table] = max([largest[table], *moved])
    return [Table(r, NOISE, tuple(cells[r]), min(1.0, first_step * largest[r] or 1.0)) for r in tables if cells[r]]


def _shares(release: Known, table: Clique) -> list[Estimated]:
    """Return each cell's share of all people, in C order, from the best noisy estimate of the table."""
    estimate = release.estimate(table)
    assert estimate is not None, "the release measured it"
    return Noisy(release.domain, estimate).cells({}, table)


def _possible(domain: Domain, table: Clique) -> list[tuple[int, tuple[int, ...]]]:
    """Return the possible cells of a table: the place in C order, and the codes."""
    impossible = domain.impossible_cells(table)
    every = enumerate(tuple(map(int, codes)) for codes in np.ndindex(*domain.sizes(table)))
    return [(place, codes) for place, codes in every if impossible is None or not impossible[codes]]


def _deviation(one: Estimated, other: Estimated, sizes: tuple[float, float] | None, moved: float = 0.0) -> float:
    """Return the standard deviation of the difference of two shares if nothing changed; infinite where a number of people may be 0.

    Args:
        one: The earlier share.
        other: The later share.
        sizes: Effective number of people in each sample, or None.
        moved: Amount by which the share of both together is taken to be larger than estimated.
    """
    if one.below <= 0 or other.below <= 0:
        return math.inf
    share = min(1.0, max(0.0, (one.above + other.above) / (one.below + other.below) + moved))
    variance = math.fsum(max(0.0, e.above_above - 2 * share * e.above_below + share**2 * e.below_below) / e.below**2 for e in (one, other))
    if sizes is not None:
        smoothed = (share * sum(sizes) + 1) / (sum(sizes) + 2)  # that of a cell with nobody in it varies too
        variance += smoothed * (1 - smoothed) * math.fsum(1 / size for size in sizes)
    return math.sqrt(variance)


def _p_value(one: Estimated, other: Estimated, deviation: float) -> float:
    """Return the two-sided p-value of no change; 1 where nothing is known, or where no share can differ."""
    if math.isinf(deviation) or deviation == 0:
        return 1.0
    return math.erfc(abs(other.value - one.value) / deviation / math.sqrt(2))


def _interval(one: Estimated, other: Estimated, reach: float, sizes: tuple[float, float] | None) -> tuple[float, float]:
    """Return the interval of the difference of two shares (MOVER), with the sampling error of both if sizes are given.

    Args:
        one: The earlier share.
        other: The later share.
        reach: Two-sided normal quantile.
        sizes: Effective number of people in each sample, or None.
    """
    (low1, high1), (low2, high2) = one.interval(reach), other.interval(reach)
    if one.below <= 0 or other.below <= 0 or math.isinf(low1) or math.isinf(low2):
        return -1.0, 1.0
    sampled = 0.0 if sizes is None else (reach * _sampling(one.value, other.value, sizes)) ** 2
    change = other.value - one.value
    down = math.sqrt((other.value - low2) ** 2 + (high1 - one.value) ** 2 + sampled)
    up = math.sqrt((high2 - other.value) ** 2 + (one.value - low1) ** 2 + sampled)
    return within((change - down, change + up), -1.0, 1.0)


def _sampling(one: float, other: float, sizes: tuple[float, float]) -> float:
    """Return the standard deviation that sampling adds to the difference of two shares."""
    smoothed = [(min(1.0, max(0.0, share)) * size + 1) / (size + 2) for share, size in zip((one, other), sizes, strict=True)]
    return math.sqrt(math.fsum(share * (1 - share) / size for share, size in zip(smoothed, sizes, strict=True)))


def _bounded(before: Release, after: Release, tables: Sequence[Clique], sizes: tuple[float, float] | None) -> list[Table]:
    """Return the tables whose errors both releases bound, without those of which the bounds say nothing.

    The bounds of a table say nothing if together they reach 1.
    """
    if not tables:
        return []
    parts = 2 if sizes is None else 3
    each, alone = BOUNDED / parts / len(tables), (1 - CONFIDENCE) / parts
    limits, singly = ([_limits(one, level) for one in (before, after)] for level in (each, alone))
    shares = [one.statements.published(tables) for one in (before, after)]
    number = sum(before.domain.possible_cells(table) for table in tables)
    found = []
    for table in tables:
        bound, by_itself = (sum(one[table] for one in pair) for pair in (limits, singly))
        if by_itself >= 1:
            continue
        cells, pairs = [], []
        quantile = normal(1 - BOUNDED / parts / (2 * number))
        for _, codes in _possible(before.domain, table):
            one, other = (float(part[table][codes]) for part in shares)
            sampled = 0.0 if sizes is None else _sampling(one, other, sizes)
            wide = by_itself + normal(1 - alone / 2) * sampled
            sure = bound + quantile * sampled
            pairs.append((one, other))
            low, high = within((other - one - wide, other - one + wide), -1.0, 1.0)
            cells.append(Cell(codes, one, other, low, high, math.nan, math.nan, abs(other - one) > sure))
        size = 2 * bound  # the bounds may hide a change as well as feign one
        if sizes is not None:
            for _ in range(2):  # once more, because a change moves the shares
                most = max(_sampling(_toward_half(one, size), _toward_half(other, size), sizes) for one, other in pairs)
                size = 2 * bound + (quantile + normal(POWER + BOUNDED)) * most
        found.append(Table(table, BOUNDS, tuple(cells), min(1.0, size)))
    return found


def _toward_half(share: float, most: float) -> float:
    """Return the share nearest to 1/2, where samples vary most, among those that differ by `most` at most."""
    return min(0.5, share + most) if share < 0.5 else max(0.5, share - most)


def _limits(release: Release, level: float) -> Mapping[Clique, float]:
    """Return by table the bound of the share of people in a wrong cell, each exceeded with probability `level` at most."""
    assert release.certificate is not None, "its tables are certified"
    return table_bounds(release.certificate, 1 - level)
