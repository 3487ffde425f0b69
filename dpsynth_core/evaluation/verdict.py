"""May this be published, and for what? The answer in numbers, from released values alone; `report.verdict` has the words.

A table is good enough if at most `LIMIT` of the people are counted in a wrong cell, by a rule that is seldom wrong about those that are
named (`naming`), not good enough if more are, and else not measured closely enough to tell. A tenth is about
what a survey of 1,600 people gives for a table of a hundred cells that are equally full (half of 100 times sqrt(2/pi) sqrt(0.01/1600)):
readers of surveys are used to reading tables with such an error. Closer limits are for a purpose to state.

A criterion that was fixed beforehand, must be met and is not, decides alone: such a release is not to be published, unless somebody says
why. So does one that was never measured, for ending a run early must not hide what the criterion would have said. One that
noise leaves undecided, or that somebody gave a reason for, does not hold the release back; but then the verdict is that it is not shown,
however good the tables are.

A purpose is a group of tables: all of so many columns, or all with one column in them. It holds if `MOSTLY` of its tables are good enough,
and those that are not are named. Where single errors are too noisy for that, it was measured how far off `MOSTLY` of its tables are
(`claims.ranks`), and it holds if that is within the limit. The release can be published where every number of columns holds that was
asked for; for some purposes, where others do; and otherwise not. A part of a table that was not asked for itself is as good as the smallest
table that contains it, for summing up cannot raise an error, or as one of most tables of so many columns; and a single column that was
measured is as good as its noise allows: which of these is taken does not depend on any error.

A column of which nothing was understood is no purpose, nor is a table with it good, however small its error is (`unread`). It is in the
headline, and its remedy is another than that of noise: a verdict's advice follows from its `causes`.

The means of columns of numbers, where they were measured (`claims.means`), are judged beside the tables. One that is surely off is in the
headline, whatever the tables are: these count groups of values, and cannot see it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations

from dpsynth_core.claims.criteria.criterion import MUST, NOT_MET, UNDECIDED, UNMEASURED, Decided
from dpsynth_core.claims.means import MeanMeasured, near
from dpsynth_core.claims.ranks import Most, tables_of
from dpsynth_core.evaluation import naming
from dpsynth_core.evaluation.bounds import SUPPORTED, bounds
from dpsynth_core.evaluation.quality import GAUSSIAN, INDEPENDENT, RESIDUALS, Headline, Statements, marginal_limits
from dpsynth_core.evaluation.unread import Unread, distinct, says_something
from dpsynth_core.statistics.distances import possible
from dpsynth_core.statistics.evidence import label
from dpsynth_core.statistics.naming import LIMIT as LIMIT
from dpsynth_core.statistics.naming import MOSTLY as MOSTLY
from dpsynth_core.statistics.totals import known_total
from dpsynth_core.vocabulary.measurement import Clique, subsets

PUBLISH, PARTLY, UNSHOWN, WITHHOLD = "publish", "publish for these purposes", "a must is not shown", "do not publish"
NOISE, UNREAD = "noise", "unread"
"""Causes why tables are not good enough. `report.verdict` has a remedy for each."""


@dataclass(frozen=True)
class Purpose:
    """A group of tables: of `size` columns, or of those asked for the ones with the column `name`. within: how many are good enough, at
    least. error, at_most: where it was measured of `MOSTLY` of them, how far off these are, and at most (95 %); NaN elsewhere."""

    tables: int
    within: int
    size: int = 0
    name: str = ""
    error: float = math.nan
    at_most: float = math.nan

    @property
    def holds(self) -> bool:
        return self.within >= MOSTLY * self.tables


@dataclass(frozen=True)
class Simpler:
    """A simpler way on the same budget: its mean error, and where it lies with 95 % confidence. ours: the release's, as measured.
    better: whether it is lower; surely: whether the two do not overlap."""

    series: str
    error: float
    low: float
    high: float
    ours: float
    better: bool
    surely: bool


@dataclass(frozen=True)
class Verdict:
    """kind: PUBLISH, PARTLY, UNSHOWN or WITHHOLD. tables: of the workload; within: how many of them are good enough; `good`, `poor` and
    `unknown` by their labels, the best and the worst first (`naming.Named`). bounded: of how many anything is known. sizes: a purpose for
    each number of columns, ascending; columns: for each column, as far as tables have others in them. simpler: the ways that were
    compared. private: whether the noise was. failed, unmeasured, undecided: the criteria that must be met and are not, were never measured,
    or may not be met; of so many `musts`. means: by column whether its mean is near, as far as that is known (`claims.means.near`).
    despite: why the release is published all the same. unread: the columns of which nothing was understood, once for two members. causes:
    why tables are not good enough, the one to mend first first.
    apart: pairs of columns in an order whose distance the rows do not keep. noise, people, says_nothing, who: as in `quality.Headline`."""

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
        """Up to how many columns tables are good enough; 0 for not even single ones."""
        held = 0
        for purpose in self.sizes:
            if not purpose.holds:
                break
            held = purpose.size
        return held

    @property
    def off(self) -> tuple[str, ...]:
        """The columns of which the mean is surely not near."""
        return tuple(name for name, near in self.means if near is False)


def judge(
    statements: Statements,
    headline: Headline,
    private: bool,
    decided: Sequence[Decided] = (),
    despite: str = "",
    means: Sequence[MeanMeasured] = (),
) -> Verdict:
    """The verdict on a release. headline: as `quality.headline` makes it. private: whether its noise was. decided: the plan's criteria.
    despite: why it is published although a criterion that must be met is not, or was not measured. means: as measured."""
    domain = statements.evidence.domain
    known = naming.spans(statements.workload.cliques, statements.certificate, statements.bounds)
    silent = statements.silent
    named = naming.named(known, silent, LIMIT)
    open_ones = tuple(clique for clique in named.unknown if says_something(clique, silent))
    limits = {clique: high if says_something(clique, silent) else math.nan for clique, (_, high) in known.items()}
    sizes, columns = _by_size(statements, limits), _by_column(limits)
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
        despite=despite if needs_reason else "",
        unread=distinct(statements.unread, statements.swapped),
        causes=(*[UNREAD] * bool(silent), *[NOISE] * noisy),
        apart=() if statements.evidence.codes is None else tuple((rule.first, rule.second) for rule in domain.loose_orders),
        noise=headline.noise,
        people=headline.people,
        says_nothing=headline.says_nothing,
        who=headline.who,
    )


def _kind(sizes: Sequence[Purpose], columns: Sequence[Purpose], private: bool, shown: bool) -> str:
    if not private or not (sizes[0].holds or any(purpose.holds for purpose in columns)):
        return WITHHOLD
    if not shown:
        return UNSHOWN
    return PUBLISH if all(purpose.holds for purpose in sizes) else PARTLY


def _by_size(statements: Statements, limits: Mapping[Clique, float]) -> tuple[Purpose, ...]:
    known = _of_single_columns(statements, limits) | dict(limits)
    whole = marginal_limits(statements)
    for clique in sorted(limits, key=statements.evidence.domain.cells):
        for part in subsets(clique, 1, len(clique) - 1):
            known.setdefault(part, whole[clique] if says_something(part, statements.silent) else math.nan)
    numbers = sorted({len(clique) for clique in known})
    return tuple(_purpose((known[clique] for clique in known if len(clique) == size), size=size) for size in numbers)


def _of_single_columns(statements: Statements, limits: Mapping[Clique, float]) -> dict[Clique, float]:
    """Of those that were measured and not asked for by themselves: what their noise bounds."""
    evidence = statements.evidence
    total = known_total(evidence.measurements, evidence.total if statements.unit.total_is_public else None)
    learnt = (name for clique in limits for name in clique if name not in statements.silent)
    wanted = {(name,): None for name in learnt if (name,) not in limits}
    if total is None or not wanted:
        return {}
    published = statements.published(list(wanted))
    bounded = bounds(evidence.domain, published, total, evidence.measurements, rows=evidence.codes is not None)
    return {clique: bound.tight for clique, bound in bounded.items() if bound.support == SUPPORTED}


def _by_most(
    most: Sequence[Most], sizes: Sequence[Purpose], cliques: Sequence[Clique], silent: Collection[str]
) -> tuple[tuple[Purpose, ...], tuple[Purpose, ...]]:
    """The purposes by number of columns and by column where groups of tables were measured. sizes: by what is known of single ones."""
    stated, empty = [], tables_of([one.group for one in most], [r for r in cliques if not says_something(r, silent)])
    for one in most:  # tables that say nothing may be among those that are near
        within = one.rank - len(empty[one.group]) if one.bound95 <= LIMIT else 0
        stated.append(Purpose(one.tables, max(0, within), one.group.size, one.group.name, possible(one.error), one.bound95))
    measured = {purpose.size: purpose for purpose in stated if purpose.size}
    parts = (replace(one, within=max([one.within, *(_good_parts(cliques, m, one.size) for m in measured.values())])) for one in sizes)
    return tuple(measured.get(one.size, one) for one in parts), tuple(purpose for purpose in stated if not purpose.size)


def _good_parts(cliques: Sequence[Clique], whole: Purpose, size: int) -> int:
    """How many tables of `size` columns at least are parts of good ones, whichever of the whole ones are good: a part is not where all that
    contain it are bad, and each bad one has so many parts."""
    if not whole.within or size >= whole.size:
        return 0
    within = sorted(Counter(part for r in cliques if len(r) == whole.size for part in combinations(r, size)).values())
    bad = (whole.tables - whole.within) * math.comb(whole.size, size)
    return len(within) - sum(needed <= bad for needed in accumulate(within))


def _by_column(limits: Mapping[Clique, float]) -> tuple[Purpose, ...]:
    by_column: dict[str, list[float]] = {}
    for clique, limit in limits.items():
        for name in clique if len(clique) > 1 else ():
            by_column.setdefault(name, []).append(limit)
    return tuple(_purpose(of_column, name=name) for name, of_column in by_column.items())


def _purpose(limits: Iterable[float], size: int = 0, name: str = "") -> Purpose:
    stated = list(limits)
    return Purpose(len(stated), sum(limit <= LIMIT for limit in stated), size, name)


def _simpler(head: Headline) -> Iterable[Simpler]:
    """Nothing is compared without a certificate: bounds of a release say how bad it can be, not how good it is."""
    if not head.certified:
        return
    if (alone := head.columns) is not None:
        yield _compared(head, INDEPENDENT, possible(alone.error), possible(alone.low95), possible(alone.high95))
    for series, error in ((GAUSSIAN, head.gaussian), (RESIDUALS, head.residuals)):
        if not math.isnan(error):
            yield _compared(head, series, error, error, error)


def _compared(head: Headline, series: str, error: float, low: float, high: float) -> Simpler:
    better = error < head.mean
    apart = high < head.mean_low if better else low > head.mean_limit
    return Simpler(series, error, low, high, head.mean, better, apart)
