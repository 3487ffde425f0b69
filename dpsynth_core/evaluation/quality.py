"""Compute the error of each published marginal: its certificate, its bounds, and the errors of baselines.

Every result is marked released, or curator-only if it uses the `truth`. Errors are shares of people in a wrong cell
(`distances.IN_WRONG_CELL`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.certificate import Certificate, mean_bound
from dpsynth_core.claims.columns_alone import ColumnsAlone
from dpsynth_core.evaluation import baselines, naming
from dpsynth_core.evaluation.bounds import SUPPORTED, UNBOUNDED, UNSUPPORTED, Bound
from dpsynth_core.evaluation.bounds import bounds as error_bounds
from dpsynth_core.evaluation.unread import Undeclared, Unread, says_something, undeclared_columns, unread_columns
from dpsynth_core.foundation.zones import Zoned, combine
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import in_wrong_cell, largest_gap, possible
from dpsynth_core.statistics.evidence import Evidence, label
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.statistics.totals import known_total
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

    from dpsynth_core.evaluation.comparison import Truth

MEASURED, INFERRED, GUESS = SUPPORT = ("measured", "inferred", "not bounded")
"""A released noisy table contains it; none does, but the mechanism preferred others to it; no released value bounds it."""

OURS, OURS_BOUND, INDEPENDENT, GAUSSIAN, RESIDUALS, TRUE = (
    "This release",
    "This release, mean of bounds",
    "Columns alone (Independent)",
    "Noisy answers (Gaussian)",
    "Noisy answers (ResidualPlanner)",
    "True error",
)

SUPPORT_WORDS = {SUPPORTED: MEASURED, UNSUPPORTED: INFERRED, UNBOUNDED: GUESS}
"""How a table is known, in words of pages and files, by the support of its bound."""

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Statements:
    """The parts of a release from which its errors are bounded.

    Attributes:
        evidence: The rows (if any) and the measurements that were released.
        workload: The tables that the release answers.
        bounds: By table, its a-priori error bound from `bounds.bounds`.
        certificate: The measured errors, None where nothing was measured.
        mechanism: Name of the mechanism.
        rho: Budget of the mechanism (zCDP).
        unit: The privacy unit: the records of one person, and whether their total number is public.
        swapped: By column of a household member, its counterpart for the other member; a release
            does not distinguish the two members.
        again: By column that a record repeats for another member, the column that it repeats.
        unasked: Columns that a link makes and no table has, but for those of another member that `swapped` has.
        declared: By column of a household member, the declared attribute without the code for a
            missing member; not those of another member.
        made: Names of the columns that a link makes, and no table holds. They are never called unread.
        understood: Names of the columns whose measured parts of cells show that their numbers were read.
    """

    evidence: Evidence
    workload: Workload
    bounds: Mapping[Clique, Bound]
    certificate: Certificate | None
    mechanism: str
    rho: float
    unit: Unit
    swapped: Mapping[str, str] = field(default_factory=dict)
    again: Mapping[str, str] = field(default_factory=dict)
    unasked: frozenset[str] = frozenset()
    declared: Mapping[str, Attribute] = field(default_factory=dict)
    made: frozenset[str] = frozenset()
    understood: frozenset[str] = frozenset()

    @cached_property
    def spans(self) -> dict[Clique, naming.Span]:
        """The lower and upper bound of each table's error; see `naming.spans`."""
        return naming.spans(self.workload.cliques, self.certificate, self.bounds)

    @cached_property
    def limits(self) -> dict[Clique, float]:
        """The 95 % upper bound of each table's error, as a share of people; NaN for a table with an unread column."""
        return {clique: high if says_something(clique, self.silent) else math.nan for clique, (_, high) in self.spans.items()}

    @cached_property
    def single_limits(self) -> dict[Clique, float]:
        """The 95 % error bounds of single columns that follow from their noisy counts, as shares of people; each holds by itself.

        Only columns that the workload's tables contain, that were measured and read, and that are not
        in the workload on their own have one.
        """
        evidence = self.evidence
        total = known_total(evidence.measurements, evidence.total if self.unit.total_is_public else None)
        read = (name for clique in self.workload.cliques for name in clique if name not in self.silent)
        wanted = {(name,): None for name in read if (name,) not in self.workload.weights}
        if total is None or not wanted:
            return {}
        published = self.published(list(wanted))
        bounded = error_bounds(evidence.domain, published, total, evidence.measurements, rows=evidence.codes is not None)
        return {clique: bound.tight for clique, bound in bounded.items() if bound.support == SUPPORTED}

    @cached_property
    def unread(self) -> tuple[Unread, ...]:
        """The columns whose values were surely not understood, or of which nearly no row has a listed value; () for most releases.

        The release says next to nothing about them.
        """
        total = known_total(self.evidence.measurements, self.evidence.total if self.unit.total_is_public else None)
        found = unread_columns(self.evidence, total, marginal_limits(self), self.declared, self.understood)
        return tuple(one for one in found if one.column not in self.made)

    @cached_property
    def undeclared(self) -> tuple[Undeclared, ...]:
        """The measured columns of which many values are "other" or missing (`unread.undeclared_columns`), in the order of the domain.

        Either surely at least 20 % of the people have "other", or at least 5 % of the rows have "other" or a missing
        value, which noise alone may explain.
        """
        return tuple(one for one in undeclared_columns(self.evidence, self.declared) if one.column not in self.made)

    @cached_property
    def silent(self) -> frozenset[str]:
        """Names of the unread columns, and of those that repeat one for another member. A table with such a column cannot be good."""
        unread = {one.column for one in self.unread}
        return frozenset(unread | {name for name, repeated in self.again.items() if repeated in unread})

    @property
    def measured(self) -> Certificate | None:
        """The certificate; None without one, or if its noise is as large as the number of people."""
        return None if self.certificate is None or self.certificate.says_nothing else self.certificate

    def published(self, cliques: Sequence[Clique]) -> dict[Clique, Array]:
        """Return the published marginals by clique, as shares of the people.

        Without rows, cliques that no measurement contains are left out (see `Evidence.published`).
        """
        return self.evidence.published(cliques)


def marginal_table(statements: Zoned[Statements], truth: Truth | None = None) -> Zoned[pd.DataFrame]:
    """Return one row per marginal of the workload, the largest error first and unbounded ones last.

    Rows are sorted by `true` if there is one, else by `error` if there is a certificate, else by
    `limit`.

    Args:
        statements: The release's statements.
        truth: The exact counts by clique; the result is then curator-only.

    Returns:
        A frame with these columns. All errors are shares of people in a wrong cell, NaN where
        unknown.

        - rank: position in the frame, from 0.
        - marginal: label of the table.
        - columns, cells: number of its columns and of its cells.
        - says: whether the table can be good, i.e. has no unread column (`unread.says_something`).
        - support: one of SUPPORT.
        - sigma: standard deviation of the noise of a cell, in people.
        - error: the certificate's best estimate (`Certified.likely`); low: its 95 % lower bound;
          together: the 95 % upper bound that holds for all tables at once.
        - bound, paper: the tight a-priori bound and the paper's, 95 %.
        - limit: the certificate's 95 % upper bound, or else `bound`.
        - gaussian, residuals: expected errors of these mechanisms with the same budget.
        - independent: the error of the product of the table's single columns, if the rows are right
          (`_products`).
        - true: the exact error, only with `truth`.
    """
    if truth is None:
        return combine(lambda s: _marginal_table(s, None), statements)
    return combine(_marginal_table, statements, truth)


def of_kinds(table: Zoned[pd.DataFrame], kinds: Mapping[Clique, str]) -> Zoned[pd.DataFrame]:
    """Return the frame of `marginal_table` with a further column "kind", NaN for tables without an entry in `kinds`.

    Args:
        table: The frame.
        kinds: By clique, the name of its kind.
    """
    named = {label(clique): kind for clique, kind in kinds.items()}
    return combine(lambda frame: frame.assign(kind=frame["marginal"].map(named)), table)


def _marginal_table(statements: Statements, truth: Mapping[Clique, NDArray[np.int64]] | None) -> pd.DataFrame:
    import pandas as pd

    cliques, evidence, certified = statements.workload.cliques, statements.evidence, _certified(statements.measured)
    published = statements.published(cliques)
    measured = [evidence.measured(clique) for clique in cliques]
    error, low, limit, together = zip(*(certified.get(clique, (math.nan,) * 4) for clique in cliques), strict=True)
    support, bound, paper = zip(*(_bounded(statements, clique) for clique in cliques), strict=True)
    frame = pd.DataFrame(
        {
            "marginal": [label(clique) for clique in cliques],
            "columns": statements.workload.widths,
            "cells": statements.workload.table_cells,
            "says": [says_something(clique, statements.silent) for clique in cliques],
            "sigma": [math.nan if one is None else one.deviation for one in measured],
            "error": error,
            "low": low,
            "together": together,
            "support": support,
            "bound": bound,
            "paper": paper,
            "limit": np.where(np.isnan(limit), bound, limit),
        }
    )
    for name, stated in _yardsticks(statements, published).items():
        frame[name] = np.minimum(1.0, [stated.get(clique, math.nan) for clique in cliques])
    if truth is not None:
        exact = {r: truth[r] / max(1, truth[r].sum()) for r in published}
        frame["true"] = [min(1.0, in_wrong_cell(exact[r], published[r])) if r in published else math.nan for r in cliques]
    by = "true" if truth is not None else "error" if certified else "limit"
    frame = frame.sort_values([by, "cells"], ascending=False, na_position="last", kind="stable", ignore_index=True)
    frame.insert(0, "rank", np.arange(len(frame)))
    return frame


def _certified(certificate: Certificate | None) -> dict[Clique, tuple[float, float, float, float]]:
    """Return the measured errors by table: (best estimate, lower bound, upper bound, joint upper bound).

    An error is the share of people in a wrong cell. Lower and upper bound hold with 95 % confidence
    for each table by itself, the joint bound for all tables at once. The dict is empty without a
    certificate.
    """
    if certificate is None:
        return {}
    return {
        one.attributes: (_share(one.likely), _share(one.low95), _share(one.bound95), _share(one.simultaneous95))
        for one in certificate.marginals
    }


def _bounded(statements: Statements, clique: Clique) -> tuple[str, float, float]:
    """Return (support, tight bound, paper's bound) of a table; bounds are shares of people, NaN where infinite."""
    bound = statements.bounds.get(clique)
    if bound is None:
        return MEASURED if statements.evidence.measured(clique) else GUESS, math.nan, math.nan
    tight, paper = (math.nan if math.isinf(limit) else _share(limit) for limit in (bound.tight, bound.paper))
    return SUPPORT_WORDS[bound.support], tight, paper


def _yardsticks(statements: Statements, published: Mapping[Clique, Array]) -> dict[str, Mapping[Clique, float]]:
    """Return by baseline ("independent", "gaussian", "residuals") the error of each table, as a share of people.

    The dict of a baseline is empty where it is the release's own mechanism, and "independent" is
    empty without rows.
    """
    rho, unit, total = statements.rho, statements.unit, max(1.0, statements.evidence.total)
    workload = statements.workload
    told = statements.mechanism != "independent" and statements.evidence.codes is not None
    return {
        "independent": _products(published) if told else {},
        "gaussian": baselines.gaussian(workload, rho, unit.marginal_l2, total) if statements.mechanism != "gaussian" else {},
        "residuals": baselines.residual_planner(workload, rho, unit, total) if statements.mechanism != "residual_planner" else {},
    }


def _products(published: Mapping[Clique, Array]) -> dict[Clique, float]:
    """Return, for each table of two or more columns, the error of the product of its one-way marginals.

    Errors are shares of people in a wrong cell. If the published table is right, they are the
    errors of Independent without noise. Callers pass tables of rows only, because the noise of
    answers would count as error.
    """
    errors = {}
    for clique, table in published.items():
        if len(clique) > 1:
            alone = reduce(np.multiply.outer, (project(table, clique, (name,)) for name in clique))
            errors[clique] = in_wrong_cell(table, alone)
    return errors


@dataclass(frozen=True)
class Headline:
    """The summary of a release's errors over all tables, in shares of people in a wrong cell.

    Attributes:
        tables: Number of tables in the workload.
        bounded: Number of tables with a limit.
        measured: Number of tables that a released noisy table contains.
        certified: Whether mean and worst are measured by a certificate.
        noise: Noise of the certificate, in people, if it is as large as the whole table
            (`Certificate.noise`); NaN elsewhere.
        has_rows: Whether the release has rows, and not only noisy answers.
        mean, mean_low, mean_limit: The mean error and its 95 % bounds. Without a certificate,
            `mean_limit` is the mean of the tables' own 95 % bounds, which is no 95 % bound of the
            mean error (`quality.mean_limit`), and the others are NaN.
        worst: The 95 % limit of the `worst_table`; NaN if no table has a limit.
        worst_table: Label of the bounded table that comes first in `marginal_table`.
        people: Number of records, or of households after `per`.
        columns: The measured error of Independent, if the certificate has one.
        gaussian, residuals: Mean expected errors of the baselines; NaN without one.
        largest: The largest error of a cell, as a share of all people; NaN without a certificate.
            With a `threshold` t, it is the largest error of one query "at least t of these columns"
            instead.
        largest_limit: 95 % upper bound of `largest`.
        threshold: The workload's threshold t, None if it asks for cells.
        who: The name of the units that are counted, "people" or "households".
    """

    tables: int
    bounded: int
    measured: int
    certified: bool
    noise: float
    has_rows: bool
    mean: float
    mean_low: float
    mean_limit: float
    worst: float
    worst_table: str
    people: float
    columns: ColumnsAlone | None
    gaussian: float
    residuals: float
    largest: float
    largest_limit: float
    threshold: int | None
    who: str = "people"

    def per(self, each: int, who: str) -> Headline:
        """Return the headline with numbers of units of `each` records, such as households, and their word `who`."""
        return replace(self, people=self.people / each, noise=self.noise / each, who=who)

    @property
    def says_nothing(self) -> bool:
        """True if nothing was measured and the bounds allow that all people are in a wrong cell of every table."""
        return not self.certified and (not self.bounded or self.mean_limit >= 1)


def mean_limit(statements: Zoned[Statements], labels: Collection[str]) -> Zoned[float]:
    """Return the limit of the mean error over some tables, as a share of people in a wrong cell.

    With a certificate it is a 95 % upper bound of the mean error. Else it is the mean of the
    tables' own 95 % bounds, which bounds the mean error only where every table's bound holds. For k
    tables that has a probability of at least 1 - 0.05 k; the exact probability is unknown, because
    it depends on how the failures of the bounds are related. The limit is NaN where no table is
    bounded, and for all tables of the workload it is the headline's `mean_limit`.

    Args:
        statements: The release's statements.
        labels: Labels of the tables.
    """
    return combine(lambda s: _mean_limit(s, [r for r in s.workload.cliques if label(r) in labels]), statements)


def _mean_limit(statements: Statements, cliques: Sequence[Clique]) -> float:
    """Return the limit of the mean error over `cliques` as a share; see `mean_limit`."""
    if statements.measured and cliques:
        return min(1.0, mean_bound(statements.measured, statements.published(cliques)))
    limits = [limit for r, limit in marginal_limits(statements).items() if r in cliques and not math.isnan(limit)]
    return math.fsum(limits) / len(limits) if limits else math.nan


def headline(statements: Zoned[Statements], table: Zoned[pd.DataFrame]) -> Zoned[Headline]:
    """Return the summary of the release's errors that is shown above the results.

    Args:
        statements: The release's statements.
        table: The result of `marginal_table` without truth.
    """
    return combine(_headline, statements, table)


def _headline(statements: Statements, table: pd.DataFrame) -> Headline:
    certificate, bounded = statements.measured, table[table["limit"].notna()]
    return Headline(
        tables=len(table),
        bounded=len(bounded),
        measured=int((table["support"] == MEASURED).sum()),
        certified=certificate is not None,
        has_rows=statements.evidence.codes is not None,
        noise=math.nan if certificate or not statements.certificate else statements.certificate.noise,
        mean=_share(certificate.mean_error if certificate else None),
        mean_low=_share(certificate.mean_low95 if certificate else None),
        mean_limit=_share(certificate.mean_bound95) if certificate else float(bounded["limit"].mean()),
        worst=float(bounded["limit"].iloc[0]) if len(bounded) else math.nan,
        worst_table=str(bounded["marginal"].iloc[0]) if len(bounded) else "",
        people=statements.evidence.total,
        columns=certificate.columns if certificate else None,
        gaussian=float(table["gaussian"].mean()),
        residuals=float(table["residuals"].mean()),
        largest=_share(certificate.max_error if certificate else None),
        largest_limit=_share(certificate.max_bound95 if certificate else None),
        threshold=statements.workload.threshold,
    )


def _share(stated: float | None) -> float:
    """Clip an estimate of a share to 0..1; NaN for None."""
    return math.nan if stated is None else possible(stated)


def true_largest(statements: Zoned[Statements], truth: Truth) -> Zoned[dict[int | None, float]]:
    """Return the exact largest errors of single queries, as shares of all people.

    Returns:
        Under None, the largest error of one cell over the workload's tables. Under each t below the
        number of columns of the smallest table, the largest error of one query whether a person has
        at least t of the asked values. Empty if not all tables are published.
    """
    return combine(_true_largest, statements, truth)


def _true_largest(statements: Statements, truth: Mapping[Clique, NDArray[np.int64]]) -> dict[int | None, float]:
    cliques = statements.workload.cliques
    published = statements.published(cliques)
    if len(published) < len(cliques):
        return {}
    exact = {r: truth[r] / max(1, truth[r].sum()) for r in cliques}
    return {t: largest_gap(exact, published, t) for t in (None, *range(1, min(map(len, cliques))))}


def largest_table(statements: Zoned[Statements], truth: Truth | None = None) -> Zoned[pd.DataFrame]:
    """Return the largest error of single queries (cells or the workload's thresholds), as shares of all people.

    Args:
        statements: The release's statements.
        truth: The exact counts by clique; the result is then curator-only.

    Returns:
        A frame with the columns marginal, error, low and limit as in `marginal_table`, which
        `side_by_side.side_by_side` reads. A release states one error for all its tables together,
        in one row labelled by `all_tables`; its numbers are NaN without a certificate. With truth there
        is one row per table and a column true, with the exact largest error of one query of that table;
        error, low and limit are NaN, and the frame is empty where not all tables are published.
    """
    if truth is None:
        return combine(_largest_stated, statements)
    return combine(_largest_true, statements, truth)


def all_tables(threshold: int | None) -> str:
    """Return the label of the row for the largest error over all tables.

    Args:
        threshold: t where the workload asks "at least t of these columns", None where it asks for
            cells.
    """
    return "any cell of any table" if threshold is None else f"any “at least {threshold}” of any table"


def _largest_stated(statements: Statements) -> pd.DataFrame:
    """Return the row of `largest_table` with the error that the certificate states; NaN without a certificate."""
    import pandas as pd

    certificate = statements.measured
    error = low = limit = math.nan
    if certificate is not None:
        below = normal(0.95) * certificate.max_sigma / certificate.total.value
        error, low, limit = _share(certificate.max_error), _share(certificate.max_error - below), _share(certificate.max_bound95)
    row = {"marginal": all_tables(statements.workload.threshold), "error": error, "low": low, "limit": limit}
    return pd.DataFrame([row])


def _largest_true(statements: Statements, truth: Mapping[Clique, NDArray[np.int64]]) -> pd.DataFrame:
    """Return the rows of `largest_table` with the exact largest error of each table.

    Args:
        statements: The statements of the release, with its published tables.
        truth: The exact counts of each table, by clique.

    Returns:
        One row per table with the columns "marginal" and "true" (a share of the records), and NaN
        in "error", "low" and "limit"; no rows if a table of the workload is not published.
    """
    import pandas as pd

    cliques, threshold = statements.workload.cliques, statements.workload.threshold
    published = statements.published(cliques)
    exact = {r: truth[r] / max(1, truth[r].sum()) for r in cliques} if len(published) == len(cliques) else {}
    rows = [{"marginal": label(r), "true": largest_gap({r: shares}, published, threshold)} for r, shares in exact.items()]
    return pd.DataFrame(rows, columns=["marginal", "true"]).assign(error=math.nan, low=math.nan, limit=math.nan)


def means(head: Zoned[Headline], table: Zoned[pd.DataFrame]) -> Zoned[pd.DataFrame]:
    """Return the mean error of this release and of each baseline over the tables, as shares of people.

    Args:
        head: The headline.
        table: The frame from `marginal_table`; if it has a column true, the mean true error is a
            series too.

    Returns:
        A frame with the columns series, error, low, high: one row per series with a known mean. low
        and high are 95 % bounds, NaN where the error was not measured. For Independent they are the
        bounds for its run with the same budget.
    """
    return combine(_means, head, table)


def _means(head: Headline, table: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    certain = math.nan, math.nan
    rows = [(OURS, head.mean, head.mean_low, head.mean_limit) if head.certified else (OURS_BOUND, head.mean_limit, *certain)]
    if head.columns is not None:
        alone = head.columns
        rows.append((INDEPENDENT, _share(alone.error), _share(alone.low95), _share(alone.high95)))
    rows += [(GAUSSIAN, head.gaussian, *certain), (RESIDUALS, head.residuals, *certain)]
    if "true" in table:
        rows.append((TRUE, float(table["true"].mean()), *certain))
    return pd.DataFrame([row for row in rows if not math.isnan(row[1])], columns=["series", "error", "low", "high"])


def within(table: pd.DataFrame, threshold: float, together: bool = False) -> pd.Series:
    """Return by row whether a table can be good and its error is at most `threshold` with 95 % confidence; False where unknown.

    Args:
        table: The frame from `marginal_table`.
        threshold: The largest error, as a share of people in a wrong cell.
        together: Whether the bound must hold for all tables at once.
    """
    return table["says"] & (table["together" if together else "limit"] <= threshold)


def against_limit(table: Zoned[pd.DataFrame], threshold: float, together: bool = False) -> Zoned[pd.DataFrame]:
    """Return the frame of `marginal_table` with a column `good`, true for the tables that are `within` the threshold.

    Args:
        table: The frame.
        threshold: The threshold, as a share of people.
        together: Whether to use the bounds that hold for all tables at once; `limit` then becomes
            that bound.
    """
    limit = "together" if together else "limit"
    return combine(lambda frame: frame.assign(good=within(frame, threshold, together), limit=frame[limit]), table)


def pair_map(statements: Zoned[Statements]) -> Zoned[pd.DataFrame]:
    """Return the error bound of every pair of columns, and of each single column on the diagonal.

    A pair outside the workload takes the bound of the smallest table that contains it, because
    summing a table cannot increase its error. The choice of that table does not depend on any
    error. Columns of a second household member are included only if a table of the workload
    contains them and not their counterparts.

    Returns:
        A frame with one row per ordered pair: row and column (names), limit (95 % bound as a share
        of people; NaN where no table contains the pair, or one of its columns is unread), and basis
        (how the limit is known, in words).
    """
    return combine(_pair_map, statements)


def _pair_map(statements: Statements) -> pd.DataFrame:
    import pandas as pd

    domain = statements.evidence.domain
    cliques = statements.workload.smallest_first
    table = marginal_limits(statements)
    smallest: dict[Clique, Clique] = {}
    for clique in cliques:
        for part in (*((name,) for name in clique), *combinations(clique, 2)):
            smallest.setdefault(part, clique)
    rows, swapped = [], statements.swapped
    asked = [name for name in domain.names if name not in statements.unasked]
    names = [name for name in asked if name not in swapped or {(name,), (swapped[name],)} & set(smallest)]
    for a in names:
        for b in names:
            part = domain.clique({a, b})
            if part not in smallest:
                part = domain.clique(swapped.get(name, name) for name in part)
            source = part if part in table else smallest.get(part)
            limit = math.nan if source is None else table[source]
            basis = "not asked for" if source is None else "asked for" if part == source else f"inside {label(source)}"
            if not says_something(part, statements.silent):  # its error may be small, and it says nothing
                limit, basis = math.nan, "not read"
            rows.append({"row": a, "column": b, "limit": limit, "basis": basis})
    return pd.DataFrame(rows)


def marginal_limits(statements: Statements) -> dict[Clique, float]:
    """Return by table of the workload the 95 % upper bound of its error, as a share of people.

    It is the certificate's bound, or else the a-priori bound; NaN where neither bounds the table.
    Each bound holds by itself.
    """
    return {clique: high for clique, (_, high) in statements.spans.items()}
