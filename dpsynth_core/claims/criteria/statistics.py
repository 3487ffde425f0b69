"""Criteria on one number: a share of people, the mean of a column, or the difference of either between two groups.

Such a number is A / B: B counts the people of a group, A sums up f(y) over them: 1 or 0 for a share, the middle of their cell for a mean.
For a release it is s. The kernel measures the sum of f(y) - s over the group, which is B times the error A / B - s: near 0 where the
release is good, so that the precision of B hardly matters. In units of the largest |f(y) - s| a record's weight is from -1 to 1, and the
kernel's `measure_sum` bounds the influence of one person. Where the group is everybody, B is the number of people, known already; otherwise
a tenth of the budget measures it, `_PEOPLE`. Groups of a difference have equal parts.

For two linked tables, a criterion that names a column of members, and none of another member, is about members, each of whom counts once
(`Link.times`); a household has the weight of as many as count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpsynth_core.claims.criteria.conditions import EVERYBODY, Condition, check_open, known_column, read_condition
from dpsynth_core.claims.criteria.criterion import AMONG, OFF_BY, UNKNOWN, Entries, Entry, Field, MeasuredCriterion, Published, positive
from dpsynth_core.claims.models.targets import is_quantity
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.rounds import sigma_for
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.error_bounds import Ratio, absolute
from dpsynth_core.statistics.intervals import CONFIDENCE, Interval, Noisy
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.inside import middles, one_value_each
from dpsynth_core.vocabulary.link import NUMBER, Link
from dpsynth_core.vocabulary.marginals import expand
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

_GROUPS = (AMONG, Field("against", "Compared with (nobody if empty)", Entry.PEOPLE))
_USUAL_MEMBERS = 2
"""Number of members of a household for expectations before a run."""
_PEOPLE = 0.1
"""Share of a group's budget that measures its number of people."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Statistic(MeasuredCriterion):
    """A criterion on one number of a group, or on its difference between two groups.

    Attributes:
        groups: One group, or two whose difference counts; a group without condition is all people.
        limit: Largest error of the release: a fraction for a share, in the column's unit for a mean.
        link: The link of two tables; None for one table.
    """

    of_members: ClassVar[bool] = True

    groups: tuple[Condition, ...]
    limit: float
    link: Link | None = field(default=None, kw_only=True)

    def _columns(self) -> tuple[str, ...]:
        """Return the columns that determine f."""
        raise NotImplementedError

    def _counts_as(self, domain: Domain, clique: Clique) -> Floats:
        """Return f, the number that a person in each cell counts as; NaN for people without a value."""
        raise NotImplementedError

    def _widest(self, domain: Domain) -> float:
        """Return the largest difference of f between two people."""
        raise NotImplementedError

    @override
    def linked(self, link: Link, domain: Domain, field: str) -> Self:
        """Return the criterion for two linked tables.

        Args:
            link: The link of the tables.
            domain: The domain of the pairs.
            field: Place of the criterion in the spec, for errors.

        Raises:
            InputError: The criterion is about members, and no member can be in a group, or the group decides the
                share by itself.
        """
        one = replace(self, link=link)
        if one.is_of_members:
            one.check_members(link, domain, field)
        return one

    def check_members(self, link: Link, domain: Domain, field: str) -> tuple[Condition, ...]:
        """Return the groups, in order, as conditions on one member, without the cells of absent members.

        Args:
            link: The link of the tables.
            domain: The domain of the pairs.
            field: Place of the criterion in the spec, for errors.

        Raises:
            InputError: No member can be in a group.
        """
        return tuple(_of_somebody(group, link, domain, f"{field}.among") for group in self.groups)

    @property
    def _named(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self._columns(), *(name for group in self.groups for name in group.columns)]))

    @property
    def who(self) -> str:
        """The word for those who count: people, households, members, or pairs of members."""
        if self.link is None:
            return "people"
        words = self.link.words
        return words.pairs if False in self._of_own else words.members if self._of_own else words.households

    @property
    def _of_own(self) -> set[bool]:
        """For the named columns of members, whether they are of one member (True) or of another one as well (False)."""
        link = self.link
        return set() if link is None else {name in link.members for name in self._named if name not in {NUMBER, *link.households.names}}

    @property
    def is_of_members(self) -> bool:
        """Whether the criterion counts members of linked tables."""
        return self._of_own == {True}

    @override
    def clique(self, domain: Domain) -> Clique:
        """Return the columns that the criterion names, in the order of the domain; with the number of members if it is about members."""
        return domain.clique({*self._named, *([NUMBER] if self.is_of_members else [])})

    def _times(self, domain: Domain, clique: Clique) -> NDArray[np.int64]:
        """Return the weight of the records in each cell of a table: 1, or for members the weight as a first member.

        See `Link.times`.
        """
        if self.link is None or not self.is_of_members:
            return np.ones(domain.sizes(clique), np.int64)
        name = next(name for name in self._named if name in self.link.members)
        somebody = np.arange(domain[name].size) < domain[name].size - (name in self.link.with_nobody)
        first = expand(self.link.times, (NUMBER,), clique) * expand(somebody, (name,), clique)
        return np.broadcast_to(first, domain.sizes(clique))

    @override
    def answers(self, workload: Workload) -> int:
        """Return the number of kernel answers that `measure` takes: one per group, and one more to count its people if needed."""
        return sum(2 if self._partial(workload.domain, group) else 1 for group in self.groups)

    @override
    def measure(self, kernel: SealedKernel, published: Published) -> Interval:
        """Measure the error of the release's number with the kernel's whole remaining budget, in equal parts for the groups.

        Returns:
            The absolute error, in the unit of the limit, with its bounds of 95 % confidence each; `UNKNOWN` if the
            release has no rows of a group or does not publish the table. The budget is spent even then.
        """
        clique, rho = self.clique(kernel.domain), kernel.rho_left / len(self.groups)
        counts_as, shares, times = self._counts_as(kernel.domain, clique), published.table(clique), self._times(kernel.domain, clique)
        known, parts = shares is not None, list[Ratio]()
        for sign, group in zip((1, -1), self.groups, strict=False):
            members = times * (group.on(kernel.domain, clique) & ~np.isnan(counts_as))
            counted = np.where(members > 0, counts_as, 0.0)
            stated = None if shares is None else _stated(shares * members, counted)
            known = known and stated is not None
            partial = self._partial(kernel.domain, group)
            ratio = _measured(kernel, rho, clique, counted, members, stated or 0.0, partial)
            difference = Noisy(sign * ratio.difference.value, ratio.difference.sigma)
            parts.append(Ratio(difference, ratio.people if partial else published.people, ratio.scale))
        return absolute(parts) if known else UNKNOWN

    @override
    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:
        """Return by how much the upper bound is expected to exceed the measured error, in the unit of the limit.

        Args:
            unit: The unit of privacy.
            rho: The criterion's part of the budget, in rho.
            workload: The workload, with the domain.
            people: A public or declared number of people in each of the groups, which may be far fewer than all
                people; for two linked tables, of households.
        """
        domain = workload.domain
        each = [(1 - _PEOPLE if self._partial(domain, group) else 1.0) * rho / len(self.groups) for group in self.groups]
        most = 1.0 if self.link is None or not self.is_of_members else int(self.link.times.max()) / _USUAL_MEMBERS
        deviation = most * math.hypot(*(sigma_for(part, unit.sum_l2(0.0, 1.0)) for part in each))
        return normal(CONFIDENCE) * self._widest(domain) * deviation / people

    def _partial(self, domain: Domain, group: Condition) -> bool:  # noqa: ARG002
        """Return whether the number of those who count must be measured.

        It must if someone may be outside the group, or lack a value.
        """
        return bool(group.cells) or self.is_of_members


@dataclass(frozen=True)
class Share(Statistic):
    """The share of people in the cells `of`, e.g. {"kind": "share", "of": {"sick": "yes"}, "among": {"sex": "f"}, "tolerance": 0.02}.

    Attributes:
        of: The condition whose share counts.
    """

    kind: ClassVar[str] = "share"
    title: ClassVar[str] = "A share of people"
    form: ClassVar[tuple[Field, ...]] = (
        Field("tolerance", OFF_BY, Entry.PERCENT, 0.02),
        Field("of", "People with", Entry.PEOPLE),
        *_GROUPS,
    )

    of: Condition = EVERYBODY

    @classmethod
    @override
    def read(cls, entries: Entries, workload: Workload, field: str) -> Self:
        """Return the criterion that JSON states.

        "of" and "tolerance" must be stated. Without "among" the criterion is about everybody; with "against" it is
        about the difference between the groups "among" and "against".

        Args:
            entries: The JSON object.
            workload: The workload, with the domain.
            field: Place of the criterion in the spec, with which the fields of errors begin.

        Raises:
            InputError: A condition is missing or not valid, all or none of a group are in `of` by its own condition,
                "against" stands without "among" or is the same group, the tolerance is missing or not above 0 and
                below 1, importance or name cannot be used, or an entry is unknown.
        """
        importance, name = cls.common(entries, field)
        of = read_condition(entries.get("of"), workload.domain, f"{field}.of")
        groups = _groups(entries, workload.domain, field)
        for group in groups:
            check_open(of, group, f"{field}.of")
        return cls(importance, name, groups, positive(entries, "tolerance", field, 1.0), of)

    @property
    @override
    def unit_of_error(self) -> str:
        """The words that follow an error in per cent: "of the people", or of households, members or pairs."""
        return f"of the {self.who}"

    @override
    def check_members(self, link: Link, domain: Domain, field: str) -> tuple[Condition, ...]:
        """Return the groups, in order, as conditions on one member, without the cells of absent members.

        Args:
            link: The link of the tables.
            domain: The domain of the pairs.
            field: Place of the criterion in the spec, for errors.

        Raises:
            InputError: No member can be in a group or have the values, or the group decides the share by itself.
        """
        groups, of = super().check_members(link, domain, field), _of_somebody(self.of, link, domain, f"{field}.of")
        for group in groups:
            check_open(of, group, f"{field}.of")
        return groups

    @override
    def sentence(self, domain: Domain) -> str:
        """Return the words "the share of people with ...", with the groups; names and values are unescaped.

        Of more than four values of a column, four are quoted and the others are counted.
        """
        return _compared(f"the share of {self.who} with {self.of.sentence(domain)}", self.groups, domain)

    def _columns(self) -> tuple[str, ...]:
        return self.of.columns

    def _counts_as(self, domain: Domain, clique: Clique) -> Floats:
        return self.of.on(domain, clique).astype(np.float64)

    def _widest(self, domain: Domain) -> float:  # noqa: ARG002
        return 1.0


@dataclass(frozen=True)
class Mean(Statistic):
    """The mean of a column of numbers, e.g. {"kind": "mean", "column": "age", "tolerance": 0.5}.

    Each person counts as the middle of their cell; people without a value are left out.
    """

    kind: ClassVar[str] = "mean"
    title: ClassVar[str] = "The mean of a column of numbers"
    form: ClassVar[tuple[Field, ...]] = (Field.amount(1.0), Field("column", "Column", Entry.NUMBER), *_GROUPS)
    is_share: ClassVar[bool] = False

    column: str = ""

    @classmethod
    @override
    def read(cls, entries: Entries, workload: Workload, field: str) -> Self:
        """Return the criterion that JSON states.

        Args:
            entries: The JSON object.
            workload: The workload, with the domain.
            field: Place of the criterion in the spec, with which the fields of errors begin.

        Raises:
            InputError: The column is not one of numbers, a group is not valid, both groups are the same, there is
                "against" without "among", the tolerance is not above 0, importance or name cannot be used, or
                another entry is stated.
        """
        importance, name = cls.common(entries, field)
        column = number_column(entries.get("column"), workload.domain, f"{field}.column")
        return cls(importance, name, _groups(entries, workload.domain, field), positive(entries, "tolerance", field), column)

    @property
    @override
    def unit_of_error(self) -> str:
        """The words that follow an error: "in units of" the column, unescaped."""
        return f"in units of “{self.column}”"

    @override
    def sentence(self, domain: Domain) -> str:
        """Return the words "the mean of COLUMN", with the groups; names and values are unescaped."""
        counted = "" if one_value_each(domain[self.column]) else " (by the middles of its bins)"
        return _compared(f"the mean of {self.column}{counted}", self.groups, domain)

    def _columns(self) -> tuple[str, ...]:
        return (self.column,)

    def _counts_as(self, domain: Domain, clique: Clique) -> Floats:
        values = middles(domain[self.column])
        return np.broadcast_to(expand(values, (self.column,), clique), domain.sizes(clique))

    def _widest(self, domain: Domain) -> float:
        values = middles(domain[self.column])
        return float(np.nanmax(values) - np.nanmin(values))

    def _partial(self, domain: Domain, group: Condition) -> bool:
        return super()._partial(domain, group) or domain[self.column].size > domain[self.column].values


def _of_somebody(condition: Condition, link: Link, domain: Domain, field: str) -> Condition:
    """Return the condition on a member that exists.

    Cells of absent members and of empty households are left out, and so are columns of which then
    every cell is meant.

    Raises:
        InputError: No member can satisfy the condition.
    """
    somebody = {NUMBER: range(1, domain[NUMBER].size)} | {name: range(link.members[name].size) for name in link.members.names}
    left = [(name, tuple(code for code in codes if code in somebody.get(name, codes))) for name, codes in condition.cells]
    if not all(codes for _, codes in left):
        raise InputError(field, f"no {link.words.member} can be in it", "name other values")
    return Condition(tuple((name, codes) for name, codes in left if len(codes) < len(somebody.get(name, range(domain[name].size)))))


def _stated(shares: Floats, counts_as: Floats) -> float | None:
    """Return the release's number: the mean of f over the group, or None for a group without rows.

    Args:
        shares: Share of people in each cell of the group, 0 outside it.
        counts_as: f in each cell.
    """
    group = float(shares.sum())
    return float((shares * counts_as).sum()) / group if group > 0 else None


def _measured(
    kernel: SealedKernel, rho: float, clique: Clique, counts_as: Floats, members: NDArray[np.int64], stated: float, partial: bool
) -> Ratio:
    """Measure the sum of f(y) - s over a group, and if needed the number of its people.

    Args:
        kernel: The kernel.
        rho: Budget of the group.
        clique: The columns of the table.
        counts_as: f in each cell.
        members: Weight of the records in each cell, 0 outside the group.
        stated: The release's number s.
        partial: Whether the number of people in the group is measured.

    Returns:
        The sum and the number of people; 0 people if their number is not measured.
    """
    parts = members * (counts_as - stated)
    difference, scale = measured_sum(kernel, clique, parts, (1 - _PEOPLE if partial else 1.0) * rho)
    if not partial:
        return Ratio(difference, Noisy(0.0, 0.0), scale)
    people, most = measured_sum(kernel, clique, members.astype(np.float64), _PEOPLE * rho)
    return Ratio(difference, Noisy(most * people.value, most * people.sigma), scale)


def measured_sum(kernel: SealedKernel, clique: Clique, parts: Floats, rho: float) -> tuple[Noisy, float]:
    """Measure, for rho, the sum over all records of the number of their cell, and charge it.

    Args:
        kernel: The kernel.
        clique: The columns of the table.
        parts: The number of each cell, with one axis per column.
        rho: Budget of the sum, in rho.

    Returns:
        The noisy sum in units of the largest absolute number, and that unit (1 if all numbers are 0).
    """
    scale = float(np.abs(parts).max()) or 1.0
    weights = parts / scale
    low, high = min(0.0, float(weights.min())), max(0.0, float(weights.max()))
    if low == high:
        high = 1.0  # everybody counts as 0
    sigma = sigma_for(rho, kernel.unit.sum_l2(low, high))
    return Noisy(kernel.measure_sum(clique, weights, low, high, sigma), sigma), scale


def _groups(entries: Entries, domain: Domain, field: str) -> tuple[Condition, ...]:
    if "against" in entries and "among" not in entries:
        raise InputError(f"{field}.against", "it needs a group that is compared", "add “among”, or leave it out")
    groups = tuple(read_condition(entries[name], domain, f"{field}.{name}") for name in ("among", "against") if name in entries)
    if len(set(groups)) < len(groups):
        raise InputError(f"{field}.against", "both groups are the same", "name another group")
    return groups or (EVERYBODY,)


def _compared(what: str, groups: tuple[Condition, ...], domain: Domain) -> str:
    if len(groups) == 1:
        return f"{what}{groups[0].among(domain)}"
    one, other = (group.sentence(domain) for group in groups)
    return f"the difference of {what} between those with {one} and those with {other}"


def number_column(name: object, domain: Domain, field: str) -> str:
    """Return `name` if it is a column of numbers. Dates and times do not count as numbers.

    Args:
        name: The name that a criterion states.
        domain: The domain.
        field: Name of the entry in errors.

    Raises:
        InputError: It is missing, unknown, or not a column of numbers with known values.
    """
    if name is None:
        raise InputError(field, "no column is named", "name a column of numbers")
    known = known_column(name, domain, field, "name a column of numbers")
    if not is_quantity(domain[known]):
        raise InputError(field, f"{column_field(known)} is not a column of numbers", "name a column of numbers")
    return known
