"""Compute the verdict on a release from released values: whether it can be published, and for which purposes.

`report.verdict` puts the verdict into words. A table is good enough if at most `LIMIT` of the people are counted in a wrong cell, by a
rule that is seldom wrong about the tables that it names (`naming`). It is not good enough if more are, and otherwise it is not measured
closely enough to tell. The limit of a tenth is about the error of a survey of 1,600 people for a table of a hundred equally full cells
(half of 100 times sqrt(2/pi) sqrt(0.01/1600)), which readers of surveys are used to. A purpose may state a closer limit.

A criterion that was fixed beforehand and must be met decides alone if it is not met or was never measured: such a release is not to be
published unless the curator gives a reason. A criterion that noise leaves undecided, or that has a reason, does not prevent publication;
the verdict then says that the criterion is not shown, for all errors of the tables.

A purpose is a group of tables: all tables of so many columns, or all tables with one column. It holds if `MOSTLY` of its tables are good
enough; the others are named. Where single errors are too noisy, `claims.ranks` measures the error that `MOSTLY` of its tables stay below,
and the purpose holds if that is within the limit. The release can be published if every number of columns in the workload holds, and for
some purposes if others hold. A part of a table that is not in the workload itself is as good as the smallest table that contains it,
because summing cannot increase an error, or as one of most tables of so many columns. A single column that was measured is as good as its
noise allows. Which of these applies does not depend on any error.

A column whose values were not understood has no purpose, and no table with it is good, however small its error (`unread`). The headline
names it, and the advice follows from the `causes`.

Measured means of numeric columns (`claims.means`) are judged as well. A mean that is surely off is always in the headline, because tables
count groups of values and cannot show it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, combinations

from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.claims.criteria.outcomes import MUST, NOT_MET, UNDECIDED, UNMEASURED
from dpsynth_core.claims.means import MeanMeasured, near
from dpsynth_core.claims.ranks import Most, tables_of
from dpsynth_core.evaluation import naming
from dpsynth_core.evaluation.quality import GAUSSIAN, INDEPENDENT, RESIDUALS, Headline, Statements, marginal_limits
from dpsynth_core.evaluation.unread import Unread, says_something
from dpsynth_core.statistics.distances import possible
from dpsynth_core.statistics.evidence import label
from dpsynth_core.statistics.naming import LIMIT as LIMIT
from dpsynth_core.statistics.naming import MOSTLY as MOSTLY
from dpsynth_core.vocabulary.measurement import Clique, subsets
from dpsynth_core.vocabulary.ranges import cut_to

PUBLISH, PARTLY, UNSHOWN, WITHHOLD = "publish", "publish for these purposes", "a must is not shown", "do not publish"
NOISE, UNREAD, MISFIT = "noise", "unread", "misfit"
"""Causes why tables are not good enough. `report.verdict` has a remedy for each."""


@dataclass(frozen=True)
class Purpose:
    """A use of the release, given by the group of tables that it needs.

    The group is all tables of `size` columns, or, if `size` is 0, all tables of several columns with the column
    `name`.

    Attributes:
        tables: Number of tables in the group.
        within: Number of tables in the group that are shown to be good enough, at least.
        size: Number of columns of the tables; 0 for a group by column.
        name: The column of the tables; "" for a group by number of columns.
        error: Measured error that 80 % of the tables (`MOSTLY`) do not exceed, as a share of people; NaN
            where it was not measured.
        at_most: 95 % upper bound of `error`; NaN where it was not measured.
    """

    tables: int
    within: int
    size: int = 0
    name: str = ""
    error: float = math.nan
    at_most: float = math.nan

    @property
    def holds(self) -> bool:
        """True if at least 80 % of the tables (`MOSTLY`) are good enough."""
        return self.within >= MOSTLY * self.tables


@dataclass(frozen=True)
class Simpler:
    """The mean error of a simpler mechanism with the same budget, compared with the release's mean error.

    All errors are shares of people in a wrong cell.

    Attributes:
        series: Name of the simpler mechanism.
        error: Mean error of the simpler mechanism, measured or expected.
        low: 95 % lower bound of `error`; the same as `error` if that is an expected one.
        high: 95 % upper bound of `error`; the same as `error` if that is an expected one.
        ours: The measured mean error of the release.
        better: Whether the simpler mechanism's error is lower.
        surely: Whether the 95 % intervals of the two errors do not overlap.
    """

    series: str
    error: float
    low: float
    high: float
    ours: float
    better: bool
    surely: bool


@dataclass(frozen=True)
class Verdict:
    """The verdict on a release.

    Attributes:
        kind: PUBLISH, PARTLY, UNSHOWN or WITHHOLD.
        tables: Number of tables in the workload.
        within: Number of tables that are good enough.
        bounded: Number of tables with any error bound.
        good: Labels of the tables that are good enough, the best first (`naming.Named`).
        poor: Labels of the tables that are not good enough, the worst first.
        unknown: Labels of the tables that were not measured closely enough to be called good or
            poor.
        sizes: A purpose for each number of columns, ascending.
        columns: A purpose for each column that occurs in tables with others.
        simpler: The simpler mechanisms that were compared.
        private: Whether the noise was private.
        failed: The required criteria that are not met, each as a sentence.
        unmeasured: The required criteria that were never measured, each as a sentence.
        undecided: The required criteria that noise leaves undecided, each as a sentence.
        musts: Number of required criteria.
        means: By column, whether its released mean is near the true one; None where noise leaves it
            open (`claims.means.near`).
        cut: For columns in `means` whose values were cut to their bounds, by column: what to say
            beside their mean (`ranges.cut_to`).
        despite: The curator's reason for publishing although a required criterion fails; "" if
            publishing needs no reason.
        unread: The columns whose values were not understood; a column of two household members is
            listed once.
        causes: Why tables are not good enough (UNREAD, MISFIT, NOISE), the first to mend first.
        apart: Pairs of columns with a stated order that rows may break, because a cell of one of
            them has several values (`Domain.loose_orders`); empty without rows.
        noise, people, says_nothing, who: As in `quality.Headline`.
    """

    kind: str
    tables: int
    within: int
    bounded: int
    good: tuple[str, ...]
    poor: tuple[str, ...]
    unknown: tuple[str, ...]
    sizes: tuple[Purpose, ...]
    columns: tuple[Purpose, ...]
    simpler: tuple[Simpler, ...]
    private: bool
    failed: tuple[str, ...] = ()
    unmeasured: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    musts: int = 0
    means: tuple[tuple[str, bool | None], ...] = ()
    cut: Mapping[str, str] = field(default_factory=dict)
    despite: str = ""
    unread: tuple[Unread, ...] = ()
    causes: tuple[str, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    noise: float = math.nan
    people: float = math.nan
    says_nothing: bool = False
    who: str = "people"

    @property
    def largest(self) -> int:
        """The largest number k of columns such that every purpose of 1 to k columns holds.

        A purpose holds if at least 80 % of its tables are good enough (`MOSTLY`). The number is 0 if the
        purpose of one column fails.
        """
        held = 0
        for purpose in self.sizes:
            if not purpose.holds:
                break
            held = purpose.size
        return held

    @property
    def off(self) -> tuple[str, ...]:
        """The columns whose released mean is surely not near the true one."""
        return tuple(name for name, near in self.means if near is False)


def judge(
    statements: Statements,
    headline: Headline,
    private: bool,
    decided: Sequence[Decided] = (),
    despite: str = "",
    means: Sequence[MeanMeasured] = (),
    misfits: Sequence[str] = (),
) -> Verdict:
    """Return the verdict on a release.

    It is WITHHOLD if the noise was not private, if neither the tables with the fewest columns nor those with
    any one column serve their purpose, or if a required criterion is not met or not measured and `despite` is "".
    Otherwise it is UNSHOWN if a required criterion is not shown to be met. Otherwise it is PARTLY if the purpose
    of some number of columns fails, a column was not read or a mean is surely off, and else PUBLISH.

    Args:
        statements: The statements of the release.
        headline: The headline from `quality.headline`.
        private: Whether the noise was private.
        decided: The criteria of the plan with their outcomes.
        despite: The reason for publishing although a required criterion is not met or not measured.
        means: The measured means.
        misfits: Labels of the measured tables that the model does not fit (`misfit.misfits`).
    """
    domain = statements.evidence.domain
    limits, silent = statements.limits, statements.silent
    named = naming.named(statements.spans, silent, LIMIT)
    open_ones = tuple(clique for clique in named.unknown if says_something(clique, silent))
    sizes, columns = _by_size(statements), _by_column(limits)
    if statements.measured is not None and statements.measured.most:
        sizes, columns = _by_most(statements.measured.most, sizes, tuple(limits), silent)
    needs_reason = any(one.needs_reason for one in decided)
    shown = not any(one.is_must(NOT_MET, UNMEASURED, UNDECIDED) for one in decided)
    judged = tuple((one.column, near(domain[one.column], one)) for one in means)
    kind = WITHHOLD if needs_reason and not despite else _kind(sizes, columns, private, shown)
    noisy = any(says_something(clique, silent) for clique in (*named.poor, *open_ones))
    exceptions = bool(silent) or any(is_near is False for _, is_near in judged)
    return Verdict(
        kind=PARTLY if kind == PUBLISH and exceptions else kind,
        tables=len(limits),
        within=len(named.good),
        bounded=headline.bounded,
        good=tuple(map(label, named.good)),
        poor=tuple(label(clique) for clique in named.poor if says_something(clique, silent)),
        unknown=tuple(map(label, open_ones)),
        sizes=sizes,
        columns=columns,
        simpler=tuple(_simpler(headline)),
        private=private,
        failed=tuple(one.criterion.sentence(domain) for one in decided if one.is_must(NOT_MET)),
        unmeasured=tuple(one.criterion.sentence(domain) for one in decided if one.is_must(UNMEASURED)),
        undecided=tuple(one.criterion.sentence(domain) for one in decided if one.is_must(UNDECIDED)),
        musts=sum(one.criterion.importance == MUST for one in decided),
        means=judged,
        cut={one.column: cut for one in means if (cut := cut_to(domain[one.column]))},
        despite=despite if needs_reason else "",
        unread=statements.unread,
        causes=(*[UNREAD] * bool(silent), *[MISFIT] * bool(misfits), *[NOISE] * noisy),
        apart=() if statements.evidence.codes is None else tuple((rule.first, rule.second) for rule in domain.loose_orders),
        noise=headline.noise,
        people=headline.people,
        says_nothing=headline.says_nothing,
        who=headline.who,
    )


def _kind(sizes: Sequence[Purpose], columns: Sequence[Purpose], private: bool, shown: bool) -> str:
    """Return PUBLISH, PARTLY, UNSHOWN or WITHHOLD.

    Args:
        sizes: The purposes by number of columns, ascending.
        columns: The purposes by column.
        private: Whether the noise was private.
        shown: Whether every required criterion is shown to be met.
    """
    if not private or not (sizes[0].holds or any(purpose.holds for purpose in columns)):
        return WITHHOLD
    if not shown:
        return UNSHOWN
    return PUBLISH if all(purpose.holds for purpose in sizes) else PARTLY


def _by_size(statements: Statements) -> tuple[Purpose, ...]:
    """Return a purpose for each number of columns, ascending.

    Tables outside the workload that are part of its tables count too: with the bound of the
    smallest table that contains them, or, for measured single columns, the bound of their noise.
    """
    known = _with_parts(statements)
    numbers = sorted({len(clique) for clique in known})
    return tuple(_purpose((known[clique] for clique in known if len(clique) == size), size=size) for size in numbers)


def single_columns(statements: Statements) -> dict[str, float]:
    """Return by column what its error by itself is at most (95 %), as a share of people, where the purposes state it.

    It is NaN where nothing bounds it, and for an unread column. Columns of no table are left out.
    """
    return {clique[0]: limit for clique, limit in _with_parts(statements, 1).items() if len(clique) == 1}


def _with_parts(statements: Statements, most: int | None = None) -> dict[Clique, float]:
    """Return the bounds of the tables and of their parts with up to `most` columns, as shares of people; NaN where unknown."""
    known = statements.single_limits | statements.limits
    whole, silent = marginal_limits(statements), statements.silent
    for clique in statements.workload.smallest_first:
        for part in subsets(clique, 1, len(clique) - 1 if most is None else min(most, len(clique) - 1)):
            if part not in known:
                known[part] = whole[clique] if says_something(part, silent) else math.nan
    return known


def _by_most(
    most: Sequence[Most], sizes: Sequence[Purpose], cliques: Sequence[Clique], silent: Collection[str]
) -> tuple[tuple[Purpose, ...], tuple[Purpose, ...]]:
    """Return the purposes where errors of groups of tables were measured instead of single tables.

    Args:
        most: The measured groups.
        sizes: The purposes by number of columns that follow from single tables.
        cliques: The tables of the workload.
        silent: Columns whose values were not understood; their tables never count as good.

    Returns:
        The purposes by number of columns, and the purposes by column.
    """
    stated, empty = [], tables_of([one.group for one in most], [r for r in cliques if not says_something(r, silent)])
    for one in most:  # tables that say nothing may be among those that are near
        within = one.rank - len(empty[one.group]) if one.bound95 <= LIMIT else 0
        stated.append(Purpose(one.tables, max(0, within), one.group.size, one.group.name, possible(one.error), one.bound95))
    measured = {purpose.size: purpose for purpose in stated if purpose.size}
    parts = (replace(one, within=max([one.within, *(_good_parts(cliques, m, one.size) for m in measured.values())])) for one in sizes)
    return tuple(measured.get(one.size, one) for one in parts), tuple(purpose for purpose in stated if not purpose.size)


def _good_parts(cliques: Sequence[Clique], whole: Purpose, size: int) -> int:
    """Return how many tables of `size` columns are part of a good table, at least.

    It is not known which tables of the purpose `whole` are good, so the least number over all
    choices is returned. A part fails if all tables that contain it are bad, and each bad table has
    the same number of parts.

    Args:
        cliques: The tables of the workload.
        whole: A purpose for tables of more columns.
        size: Number of columns of the parts.
    """
    if not whole.within or size >= whole.size:
        return 0
    within = sorted(Counter(part for r in cliques if len(r) == whole.size for part in combinations(r, size)).values())
    bad = (whole.tables - whole.within) * math.comb(whole.size, size)
    return len(within) - sum(needed <= bad for needed in accumulate(within))


def _by_column(limits: Mapping[Clique, float]) -> tuple[Purpose, ...]:
    """Return a purpose for each column, over the tables with that column and at least one other.

    Args:
        limits: The upper bound of each table's error, by clique; NaN for a table with a column that
            was not read.
    """
    by_column: dict[str, list[float]] = {}
    for clique, limit in limits.items():
        for name in clique if len(clique) > 1 else ():
            by_column.setdefault(name, []).append(limit)
    return tuple(_purpose(of_column, name=name) for name, of_column in by_column.items())


def _purpose(limits: Iterable[float], size: int = 0, name: str = "") -> Purpose:
    """Return the purpose for tables with these error bounds, of which those up to `LIMIT` are good."""
    stated = list(limits)
    return Purpose(len(stated), sum(limit <= LIMIT for limit in stated), size, name)


def _simpler(head: Headline) -> Iterable[Simpler]:
    """Yield the comparisons with simpler mechanisms; nothing without a certificate.

    Without one, the release has only upper bounds of its error, which do not say how good it is.
    """
    if not head.certified:
        return
    if (alone := head.columns) is not None:
        yield _compared(head, INDEPENDENT, possible(alone.error), possible(alone.low95), possible(alone.high95))
    for series, error in ((GAUSSIAN, head.gaussian), (RESIDUALS, head.residuals)):
        if not math.isnan(error):
            yield _compared(head, series, error, error, error)


def _compared(head: Headline, series: str, error: float, low: float, high: float) -> Simpler:
    """Return the comparison of the headline's mean error with the mean error of a simpler way.

    Args:
        head: The headline.
        series: Name of the simpler way.
        error: The mean error of that way, as a share of people.
        low: Lower end of its 95 % interval.
        high: Upper end of its 95 % interval.
    """
    better = error < head.mean
    apart = high < head.mean_low if better else low > head.mean_limit
    return Simpler(series, error, low, high, head.mean, better, apart)
