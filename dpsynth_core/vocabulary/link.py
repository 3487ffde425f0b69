"""Households and their members as one table: each household divided evenly among the ordered pairs of its members.

A household of any size is n = `records_each` records of that table: the household's columns, its number of members, one member and another
member. With k members each of the k (k - 1) ordered pairs is as many equal records; a single member is first in half of its records and
second in the other half, beside a missing member; a household without members is as many records of two missing members. So members are
exchangeable, a household has one weight in every table, and what one household changes is what one person with n rows changes
(Proposition 24). Of each member a record also says how many of the household have the same value in a column: pairs do not say how many
members have a value.

Public: domains, rules (`across`) and a limit. It says how codes of two tables become records, and knows no table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, permutations

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary import across
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.link_words import HOUSEHOLDS, LinkWords
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.rows import Repeated
from dpsynth_core.vocabulary.zeros import StructuralZeros, as_shown, check_ranges, shown_codes

NUMBER = "members"
"""The column of the number of members of a household."""
NOBODY = "nobody"
MOST = 10
"""Largest number of members that may count: a household is lcm(k (k - 1)) records, 2,520 for ten."""

Codes = NDArray[np.int32]


def records_each(most: int) -> int:
    """Return the number of records that a household is divided into: lcm(2, k (k - 1) for all k up to `most`).

    Args:
        most: Largest number of members that count.

    Raises:
        InputError: `most` is not from 1 to MOST.
    """
    if not 1 <= most <= MOST:
        raise InputError("unit.max_rows_per_person", f"{most} is out of range", f"give the most members that count, from 1 to {MOST}")
    return math.lcm(2, *(k * (k - 1) for k in range(2, most + 1)))


@dataclass(frozen=True)
class Link:
    """The link of two tables, of households and of their members.

    Attributes:
        households: Columns of the first table, without the key.
        members: Columns of the second table, without the key.
        most: Largest number of members of a household that count, from 1 to 10.
        rules: Combinations that no household has.
        numbers: Rules about the number of members with some value.

    Raises:
        InputError: `most` is out of range, both tables have a column, or the tables have features
            that linked tables do not support (rules of their own, values to be learnt, filled columns).
    """

    households: Domain
    members: Domain
    most: int
    rules: tuple[StructuralZeros, ...] = ()
    numbers: tuple[across.Number, ...] = ()

    @classmethod
    def ruled(cls, households: Domain, members: Domain, most: int, rules: Sequence[object]) -> Link:
        """Return a link with these rules.

        A rule that at most one member has some value also excludes that two members have it.

        Args:
            households: Columns of the first table.
            members: Columns of the second table.
            most: Largest number of members of a household that count, from 1 to 10.
            rules: The rules as JSON (`across`); without any, the link has no rules.

        Raises:
            InputError: A rule is invalid, `most` is out of range, or the tables cannot be linked (`Link`).
            CapacityError: The table of a rule has too many cells.
        """
        read, counted = across.read(rules, cls(households, members, most).columns, members)
        shown = {one.name: one for one in households} | {name: one for one in members for name in (one.name, cls.other(one.name))}
        zeros = [as_shown(rule, shown) for rule in read]
        numbers = tuple(replace(one, codes=shown_codes(shown[one.column], one.codes)) for one in counted)
        alone = [StructuralZeros((n.column, cls.other(n.column)), ((n.codes, n.codes),)) for n in numbers if n.most == 1 < most]
        return cls(households, members, most, (*zeros, *alone), numbers)

    def with_rules(self, rules: Sequence[object]) -> Link:
        """Return the link with these rules, as JSON, in place of its own. Raises what `ruled` raises."""
        return Link.ruled(self.households, self.members, self.most, rules)

    def __post_init__(self) -> None:
        records_each(self.most)
        for domain in (self.households, self.members):
            for wrong, what in ((domain.impossible, "combinations that cannot occur"), (domain.unknown, "values that are to be learnt")):
                if wrong:
                    raise InputError("domain", f"of two linked tables, one has {what}", "list all values, and state rules across")
            if domain.filled:
                raise InputError(column_field(domain.filled[0].name), "it is filled in, which linked tables have not", "leave it out")
        for name in (*self.households.names, *self.members.names):
            if name in self.made_names or (name in self.households and name in self.members.names):
                raise InputError(column_field(name), "both tables have it, or the link itself has", "rename it in one of the tables")

    @property
    def words(self) -> LinkWords:
        """The words of pages, files and errors for households and members."""
        return HOUSEHOLDS

    @property
    def made_names(self) -> set[str]:
        """The names of columns that the link makes, which no column of a table may have."""
        mine = self.members.names
        return {NUMBER, *(made for name in mine for made in (self.other(name), self.alike(name), self.other(self.alike(name))))}

    @property
    def read_names(self) -> frozenset[str]:
        """The names of the columns that are read of the tables; the link makes all others of a record."""
        return frozenset((*self.households.names, *self.members.names))

    def check_rules(self, rules: Sequence[object]) -> None:
        """Check that no range in these rules covers only a part of a cell; rules of an unknown form are skipped.

        Args:
            rules: The rules as JSON.

        Raises:
            InputError: A range covers only a part of a cell. The error names the rule and the nearest valid ranges.
        """
        for place, rule in enumerate(rules):
            check_ranges(rule, self.columns, f"members.rules {place + 1}")

    @staticmethod
    def other(name: str) -> str:
        """Return the name of the column that holds a member's column for another member of the same household."""
        return f"{name} of another"

    @staticmethod
    def alike(name: str) -> str:
        """Return the name of a member's column with the number of household members that have its value in `name`.

        The member itself is counted, so the number is at least 1.

        Args:
            name: The name of a column of the members.
        """
        return f"members alike in {name}"

    @cached_property
    def member_columns(self) -> tuple[Attribute, ...]:
        """The columns of a member in a record, without a cell for absent members.

        These are the member's own columns and, for each, the number of members alike (`alike`).
        """
        labels = [str(number) for number in range(1, self.most + 1)]
        return (*self.members, *(Attribute.categorical(self.alike(name), labels) for name in self.members.names))

    @property
    def own_names(self) -> tuple[str, ...]:
        """The columns of one member whose tables are measured, beside the household's columns and its number of members."""
        return self.members.names

    @property
    def carried(self) -> Domain:
        """The columns of the codes of members that `records` takes: a member's columns, and perhaps more behind them."""
        return self.members

    @property
    def further_keys(self) -> tuple[str, ...]:
        """The names of keys of members that the second table is written with, beside the household's key."""
        return ()

    @property
    def pairs(self) -> Iterator[Clique]:
        """The tables of a column of one member and a column of another, each pair of columns once; none if a household has one member."""
        return ((a, self.other(b)) for a, b in (combinations_with_replacement(self.members.names, 2) if self.most > 1 else ()))

    @property
    def member_names(self) -> frozenset[str]:
        """The columns of a record that are of one member or of another."""
        return frozenset(self.swapped)

    @property
    def described(self) -> tuple[Attribute, ...]:
        """The columns of a member that questions may name, in the order of `domain`."""
        return self.members.attributes

    def each(self, records: NDArray[np.integer]) -> Codes:
        """Return the codes of each member that `records` made: columns of its household first, then the columns `described`."""
        return self.split(records)[2]

    @property
    def with_nobody(self) -> frozenset[str]:
        """The columns whose last cell is for an absent member."""
        return self.member_names

    @property
    def columns(self) -> tuple[Attribute, ...]:
        """The columns that rules may name: of the household, its number of members, of a member, and of another member."""
        others = (replace(one, name=self.other(one.name)) for one in self.members)
        return (*self.households, Attribute.coded(NUMBER, self.most + 1), *self.members, *others)

    @cached_property
    def domain(self) -> Domain:
        """The domain of the records: columns of the household, its number of members, and columns of two members.

        The last cell of each column of a member is for an absent member. Rules hold for the two
        members in both orders.

        Raises:
            InputError: The rules leave no possible record.
            CapacityError: There are too many columns, or the tables of the rules have too many cells.
        """
        one = [with_absent(attribute, attribute.name) for attribute in self.member_columns]
        another = [with_absent(attribute, self.other(attribute.name)) for attribute in self.member_columns]
        mirror, name = self.mirrored, self.swapped
        swapped = [replace(rule, attributes=mirror(rule.attributes), target=name.get(rule.target, rule.target)) for rule in self.rules]
        rules = dict.fromkeys((*self.rules, *(rule for rule in swapped if self.most > 1)))
        return Domain((*self.households.attributes, Attribute.coded(NUMBER, self.most + 1), *one, *another), tuple(rules))

    @cached_property
    def narrow(self) -> np.dtype[np.integer]:
        """The narrowest integer type for the codes of `domain`."""
        return np.min_scalar_type(max(attribute.size for attribute in self.domain))

    @property
    def records_each(self) -> int:
        """The number of records that each household is divided into, the same for every size: `records_each(most)`."""
        return records_each(self.most)

    @property
    def times(self) -> NDArray[np.int64]:
        """Weights of a record by number of members, shape (most + 1,), that let a member count as much as a household.

        The weight is 0 for no members, 2 for one, and k for k > 1. A household has `records_each` records, whatever its
        size. With k > 1 members, each member is first in 1/k of them; a single member is first in half of them.
        """
        return np.array([0, *(max(2, size) for size in range(1, self.most + 1))])

    @cached_property
    def swapped(self) -> dict[str, str]:
        """By name of a column of a member, the name of the same column of the other member in the record."""
        pairs = [(attribute.name, self.other(attribute.name)) for attribute in self.member_columns]
        return dict(pairs) | {other: name for name, other in pairs}

    @property
    def stated(self) -> tuple[StructuralZeros, ...]:
        """The rules of `domain` that somebody stated, in both orders of two members."""
        return self.domain.impossible

    @property
    def again(self) -> Mapping[str, str]:
        """By name of a column that a record has again for another member, the name of the column that it repeats."""
        return self.swapped

    def mirrored(self, clique: Clique) -> Clique:
        """Return the columns of a marginal with the two members of the record exchanged, in the same places.

        Columns of the household stay. The result need not be in domain order.
        """
        return tuple(self.swapped.get(name, name) for name in clique)

    def slots(self, households: int, owners: NDArray[np.int64], members: NDArray[np.integer]) -> tuple[NDArray[np.int64], Codes]:
        """Arrange members by household, as `records` takes them.

        Args:
            households: Number of households.
            owners: Household of each member, from 0, ascending; at most `most` members have the
                same.
            members: Codes of the members, shape (members, columns).

        Returns:
            The number of members of each household, shape (households,), and the codes of its members, int32 of shape
            (households, most, columns), with zeros behind the last member.
        """
        sizes = np.bincount(owners, minlength=households)
        slots = np.zeros((households, self.most, members.shape[1]), dtype=np.int32)
        slots[owners, places(sizes)] = members
        return sizes, slots

    def records(self, households: Codes, sizes: NDArray[np.int64], members: Codes) -> Iterator[tuple[int, NDArray[np.integer]]]:
        """Yield, for each size of household, the pairs of members as codes of `domain`.

        Args:
            households: Codes of the households, shape (n, columns).
            sizes: Numbers of members from 0 to `most`, shape (n,).
            members: Codes of the members, shape (n, most, columns); codes beyond a household's size
                are ignored.

        Yields:
            The number of equal records that each pair stands for, and the codes of the pairs, shape (pairs, columns
            of `domain`). Sizes rise from 0; a size that no household has is left out.
        """
        nobody = np.array([attribute.size for attribute in self.member_columns], dtype=np.int32)
        for size in range(self.most + 1):
            chosen = np.flatnonzero(sizes == size)
            absent = np.broadcast_to(nobody, (len(chosen), len(nobody)))
            own = np.column_stack([households[chosen], np.full(len(chosen), size, dtype=np.int32)])
            there = members[chosen, :size]
            alike = sum((there == there[:, place, None] for place in range(size)), np.full(there.shape, -1))
            places = [np.column_stack([there[:, place], alike[:, place]]) for place in range(size)]
            pairs = list(permutations(places, 2)) if size > 1 else [(*places, absent), (absent, *places)] if size else [(absent, absent)]
            if len(chosen):
                yield self.records_each // len(pairs), np.concatenate([np.column_stack([own, *pair]) for pair in pairs]).astype(self.narrow)

    def repeated(self, households: Codes, sizes: NDArray[np.int64], members: Codes) -> Repeated:
        """Return the records of `records`, each once with the number of equal ones."""
        codes, times = [np.empty((0, len(self.domain)), self.narrow)], [np.empty(0, np.min_scalar_type(max(256, self.records_each)))]
        for each, records in self.records(households, sizes, members):
            codes.append(records)
            times.append(np.full(len(records), each, times[0].dtype))
        return Repeated(np.concatenate(codes), np.concatenate(times))

    def split(self, records: NDArray[np.integer]) -> tuple[Codes, NDArray[np.int64], Codes]:
        """Split the records that `records` made into households and members, sorted by number of members.

        Args:
            records: Codes of the records, each once and in the order of `records`, shape (records, columns of `domain`).

        Returns:
            The codes of each household with its number of members as the last column; the household of
            each member, from 0; and the codes of each member behind the codes of its household.
        """
        own, mine = len(self.households), [self.domain.position(name) for name in self.members.names]
        households, owners = [np.empty((0, own + 1), np.int32)], [np.empty(0, np.int64)]
        members, before = [np.empty((0, own + len(mine)), np.int32)], 0
        for size in range(self.most + 1):
            some = records[records[:, own] == size].astype(np.int32)
            each, step = self.blocks(size)
            blocks = some.reshape(each, -1, some.shape[1])
            households.append(blocks[0, :, : own + 1])
            for one in blocks[: size * step : step]:
                owners.append(np.arange(before, before + len(one)))
                members.append(one[:, [*range(own), *mine]])
            before += blocks.shape[1]
        return np.concatenate(households), np.concatenate(owners), np.concatenate(members)

    @staticmethod
    def blocks(size: int) -> tuple[int, int]:
        """Return how `records` arranges households with `size` members.

        Returns:
            How many records each household has there, the n-th ones of all households one after the other; and how many of them
            each member is first in, one after the other.
        """
        return (max(2, size * (size - 1)) if size else 1), max(1, size - 1)


def places(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each member in its household, counted from 0, shape (members,).

    Args:
        sizes: Number of members of each household; members follow each other household by
            household.
    """
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def with_absent(attribute: Attribute, name: str, absent: str = NOBODY) -> Attribute:
    """Return a column with a further cell, the last, for an absent member; its cells are listed values.

    Args:
        attribute: The column.
        name: The name of the result.
        absent: The label of that cell; stars are added while the column has it.
    """
    labels = attribute.cell_labels()
    while absent in labels:
        absent += "*"
    return Attribute.categorical(name, (*labels, absent))
