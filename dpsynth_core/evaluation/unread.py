"""Find the columns whose values were not understood, and those with a large share of values that were not.

If the spelling of a column's values differs from its declared list, all rows become "other", and "other" is right for every person. Its
tables then have small errors and no information. Noisy counts of each column are released in any case, so this check costs no budget.

If a column has no cell for values outside its list, these values share a cell with a listed value. That cell then shows nothing: people in
it may have the listed value or any other. Only the cells of the other listed values count as read.

A column is unread if its released counts put at most `NEARLY_NONE` of the people into cells of listed values alone, and surely at most
`SURELY`; a column with more listed values is called unread with a probability of at most `FAILURE`. Where noise is too large for that,
or the column was not measured, it is unread if at most `NEARLY_NONE` of the rows have a listed value. The share in the table is then
known from the error bound of the smallest table with the column, with 95 % confidence, or not at all.

With S the sum of the column's cells of listed values alone and U the sum of its other cells, the share is at most L where
(1-L) S <= L U. The noise of that difference is normal, with at most the measurement's standard deviation in any direction times the length
of its weights.
Where the number of records T is known better than S, (1-L) T <= U says the same. The choice between the two depends on the noise levels
alone, which are public. Limits are tried in steps of a percent, each as its own test; the smallest limit that passes bounds the share.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement

NEARLY_NONE = 0.05
"""Estimated share of listed values up to which a column can be unread."""
SURELY = 0.2
"""A column is surely unread only if the share of listed values is at most this."""
FAILURE = 1e-5
"""Probability that a column with a larger share than `SURELY` is called unread."""
_NOISE_EXPLAINS = 0.95
"""Noise explains a count that it exceeds in 5 of 100 tables without such people."""
_LIMITS = tuple(percent / 100 for percent in range(1, 21))


@dataclass(frozen=True)
class Unread:
    """A column whose values were not understood: the release says next to nothing about them.

    Attributes:
        column: Name of the column, hostile text.
        share: Estimated share of the people with a listed value, 0 to 1.
        at_most: Upper bound of `share`; NaN where noise leaves it open.
        shared_with: Label of the listed value in whose cell values outside the list are counted,
            hostile text. Nearly all people are then in that cell, and `share` is the share with
            another listed value. "" where values outside the list have a cell of their own.
    """

    column: str
    share: float
    at_most: float
    shared_with: str = ""

    @property
    def is_sure(self) -> bool:
        """True if the upper bound shows that nearly all values were not understood: at most 20 % are listed (`SURELY`)."""
        return self.at_most <= SURELY


@dataclass(frozen=True)
class Undeclared:
    """A column of which many values are outside its list ("other") or missing (`undeclared_columns`).

    Attributes:
        column: Name of the column, hostile text.
        share: If `is_shown`, the estimated share of the people with "other"; else the share of the
            rows with "other" or a missing value.
        is_shown: Whether the released counts show the share; else noise alone may explain it.
    """

    column: str
    share: float
    is_shown: bool


def unread_columns(
    evidence: Evidence,
    total: Total | None,
    limits: Mapping[Clique, float],
    declared: Mapping[str, Attribute],
    understood: Collection[str] = (),
) -> tuple[Unread, ...]:
    """Return the unread columns, in the order of the domain.

    A column is unread if nearly all its values were not understood: at most 5 % of the people (`NEARLY_NONE`), by
    noisy counts or the published table, have a listed value. Columns of codes are never unread.

    Args:
        evidence: The released rows and measurements.
        total: Number of records, None where it is unknown.
        limits: By table, the upper bound of its error as a share of people; NaN where it is
            unbounded.
        declared: By column of a household member, its declared attribute. The domain's attribute
            has one more cell, for a missing member.
        understood: Names of the columns whose values are known from other released values to have
            been read. They are not judged if values outside the list count as a listed value.
    """
    columns = _with_labels(evidence.domain, declared)
    judged = {name: own for name, own in columns.items() if own.size > own.values or name not in understood}
    open_ones = {name: own for name, own in judged.items() if len(_listed(own)) < own.size}
    published = evidence.published([(name,) for name in open_ones])
    found = []
    for name, own in open_ones.items():
        shared_with = own.cell_labels()[own.code_for_unlisted] if len(_listed(own)) < own.values else ""
        plain = None if own.size < evidence.domain[name].size else total
        seen = evidence.measured((name,))
        share, at_most = _measured(own, seen, plain)
        if seen is not None and _is_sparse(own, seen):
            continue
        if share <= NEARLY_NONE and at_most <= SURELY:
            found.append(Unread(name, share, at_most, shared_with))
        elif (table := published.get((name,))) is not None and (share := _read(own, table)) <= NEARLY_NONE:
            bound = at_most if at_most <= SURELY else _bounded(evidence.domain, name, share, limits)
            found.append(Unread(name, share, bound, shared_with))
    return tuple(found)


def _listed(own: Attribute) -> NDArray[np.intp]:
    """Return the codes of the listed values' cells that count no value outside the list.

    A column of a single listed value keeps its only code.
    """
    codes = np.arange(own.values)
    return codes if own.values == 1 else codes[codes != own.code_for_unlisted]


def _with_labels(domain: Domain, declared: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Return by column its declared attribute, or else the domain's, for columns whose values have labels.

    In a column of bare codes no value can be unread.
    """
    columns = [(one.name, declared.get(one.name, one)) for one in domain]
    return {name: own for name, own in columns if not own.is_coded}


def says_something(clique: Clique, unread: Collection[str]) -> bool:
    """Return whether all columns of the table `clique` were read: none is among the names `unread`."""
    return not unread or not any(name in unread for name in clique)


def _is_sparse(own: Attribute, seen: Measurement) -> bool:
    """Return whether people with a listed value surely outnumber people with "other".

    Then the column was read, and most of its values are only missing. The result is False if
    unlisted values count as missing, because "other" then does not count all people with unlisted
    values.

    Args:
        own: The column as declared.
        seen: The noisy counts of the column.
    """
    listed = _listed(own)
    if own.code_for_unlisted == own.missing_code or not len(listed):
        return False
    others = [] if own.other_code is None else [own.other_code]
    more = float(seen.values[listed].sum() - seen.values[others].sum())
    return more >= normal(1 - FAILURE) * seen.widest * math.sqrt(len(listed) + len(others))


def _read(own: Attribute, table: NDArray[np.float64]) -> float:
    """Return the share of people with a listed value in a column's published table; 1 for an empty table."""
    read, all_people = float(table[_listed(own)].sum()), float(table[: own.size].sum())
    return read / all_people if all_people > 0 else 1.0


def _outside(own: Attribute, table: NDArray[np.float64]) -> float:
    """Return the share of people in the cells for "other" and missing values of a column's published table; 0 for an empty table."""
    outside, all_people = float(table[own.values : own.size].sum()), float(table[: own.size].sum())
    return outside / all_people if all_people > 0 else 0.0


def _measured(own: Attribute, seen: Measurement | None, total: Total | None) -> tuple[float, float]:
    """Return the estimated share of people with a listed value, and its upper bound, from noisy counts.

    Both are NaN without usable counts; the bound is NaN where it is above a fifth.

    Args:
        own: The column as declared.
        seen: The noisy counts of the column, None if it was not measured.
        total: The number of records, where it may be better known than the sum of the counts.
    """
    listed = _listed(own)
    if not len(listed):
        return 0.0, 0.0
    if seen is None:
        return math.nan, math.nan
    read, noise = float(seen.values[listed].sum()), seen.widest
    others, unlisted = float(seen.values[: own.size].sum()) - read, math.sqrt(own.size - len(listed))

    def from_table(limit: float) -> float:
        """Return the standard deviation of the noise of (1-L) S - L U."""
        return noise * math.hypot((1 - limit) * math.sqrt(len(listed)), limit * unlisted)

    def from_total(limit: float) -> float:
        """Return the standard deviation of the noise of (1-L) T - U, at most: T and U rise together where both are of this table."""
        return math.inf if total is None else math.hypot((1 - limit) * total.sigma, noise * unlisted)

    deviation = from_table
    if total is not None and from_total(SURELY) < from_table(SURELY):
        read, deviation = total.value - others, from_total
    people, doubt = read + others, normal(1 - FAILURE)
    if people <= 0:
        return math.nan, math.nan
    passed = (limit for limit in _LIMITS if (1 - limit) * read - limit * others <= -doubt * deviation(limit))
    return max(0.0, read / people), next(passed, math.nan)


def _bounded(domain: Domain, name: str, share: float, limits: Mapping[Clique, float]) -> float:
    """Return a 95 % upper bound of the share of people with a listed value in column `name`.

    It is the published `share` plus the error bound of the smallest table with the column; NaN
    where that is unbounded.

    Args:
        domain: The domain.
        name: The column.
        share: The published share of listed values.
        limits: By table, the upper bound of its error as a share of people.
    """
    smallest = min((clique for clique in limits if name in clique), key=domain.cells, default=())
    return min(1.0, share + limits.get(smallest, math.nan))


def undeclared_columns(evidence: Evidence, declared: Mapping[str, Attribute]) -> tuple[Undeclared, ...]:
    """Return the measured columns of which many values are outside the list ("other") or missing, in the order of the domain.

    A column is returned in one of two cases:

    1. With error probability 1e-5 (`FAILURE`), at least 20 % of the people (`SURELY`) have "other". Then
       `is_shown` is True.
    2. At least 5 % of the rows (`NEARLY_NONE`) are in the cells for "other" and missing values, and
       the noisy count of these cells is not significantly above zero (one-sided, 5 %). These rows may
       come from noise alone; `is_shown` is False.

    Columns of codes, and columns without a cell for "other" or missing values, are left out.

    Args:
        evidence: The released rows and measurements.
        declared: By column of a household member, its declared attribute, as for `unread_columns`.
    """
    open_ones = {name: own for name, own in _with_labels(evidence.domain, declared).items() if 0 < own.values < own.size}
    published = evidence.published([(name,) for name in open_ones])
    found = []
    for name, own in open_ones.items():
        if (seen := evidence.measured((name,))) is None:
            continue
        everyone, noise = float(seen.values[: own.size].sum()), seen.widest
        strange = 0.0 if own.other_code is None else float(seen.values[own.other_code])
        doubt = normal(1 - FAILURE) * noise * math.hypot(1 - SURELY, SURELY * math.sqrt(own.size - 1))
        outside, spread = float(seen.values[own.values : own.size].sum()), noise * math.sqrt(own.size - own.values)
        lost = _outside(own, published[(name,)]) if (name,) in published else 0.0
        if everyone > 0 and strange - SURELY * everyone >= doubt:
            found.append(Undeclared(name, strange / everyone, True))
        elif lost >= NEARLY_NONE and outside <= normal(_NOISE_EXPLAINS) * spread:
            found.append(Undeclared(name, lost, False))
    return tuple(found)
