"""Households that keep to the rules of their link: how far one is from that, and how drawn ones are changed until all do.

Knows codes and public rules only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.members import Ints, Limit, Target
from dpsynth_core.vocabulary.link import NUMBER, Link

TRIES = 200
"""How often a member of a household that breaks a rule is replaced by one of another household."""
NEVER = 1e9
"""What a cell that cannot occur weighs in refinement: more than all else together."""


@dataclass(frozen=True)
class _Rule:
    """The cells that cannot occur, by numbers of columns of the household, of a member and of another one."""

    household: tuple[int, ...]
    member: tuple[int, ...]
    other: tuple[int, ...]
    impossible: NDArray[np.bool_]


@dataclass(frozen=True)
class Rules:
    link: Link

    @cached_property
    def tables(self) -> Sequence[_Rule]:
        """One for each pair of rules that are each other's with the two members exchanged."""
        houses, mine = (*self.link.households.names, NUMBER), self.link.members.names
        others, tables, seen = tuple(map(self.link.other, mine)), list[_Rule](), set[frozenset[str]]()
        for clique, impossible in self.link.domain.zeros.items():
            if frozenset(self.link.mirrored(clique)) in seen:
                continue
            seen.add(frozenset(clique))
            house, one, other = (tuple(names.index(name) for name in clique if name in names) for names in (houses, mine, others))
            tables.append(_Rule(house, one or other, other if one else (), impossible))  # what is of another member is of a member
        return tables

    def targets(self) -> list[Target]:
        """Tables that refinement brings no member into."""
        ruled = [rule for rule in self.tables if rule.member]
        return [Target(r.household, r.member, r.other, np.zeros(r.impossible.shape), np.where(r.impossible, NEVER, 0.0)) for r in ruled]

    def limits(self, sizes: Ints) -> list[Limit]:
        """How many members of each household may have a value."""
        columns = {attribute.name: (place, attribute.size) for place, attribute in enumerate(self.link.members)}
        each = ((number, *columns[number.column]) for number in self.link.numbers)
        return [Limit(place, np.isin(np.arange(size), number.codes), *number.bounds(sizes)) for number, place, size in each]

    def broken(self, households: Ints, sizes: Ints, members: Ints) -> Ints:
        """How often each household breaks a rule. households: codes, shape (n, columns). members: shape (n, most, columns)."""
        houses, wrong = np.column_stack([households, sizes]), np.zeros(len(sizes), dtype=np.int64)
        for rule in self.tables:
            own = tuple(houses[:, column] for column in rule.household)
            for place in range(members.shape[1]) if rule.member else ():
                first = (*own, *(members[:, place, column] for column in rule.member))
                for another in set(range(members.shape[1])) - {place} if rule.other else {place}:
                    cells = (*first, *(members[:, another, column] for column in rule.other))
                    wrong += rule.impossible[cells] & (sizes > max(place, another))
            if not rule.member:
                wrong += rule.impossible[own]
        for number in self.link.numbers:
            wrong += number.broken(sizes, members[:, :, self.link.members.names.index(number.column)])
        return wrong

    def keep(self, households: Ints, sizes: Ints, members: Ints, rng: np.random.Generator) -> None:
        """Change the households that break a rule, in place: some of their members by those of others, and at last all of the household.

        Raises InputError where no household keeps to the rules.
        """
        wrong = self.broken(households, sizes, members)
        by_size, many = np.argsort(sizes, kind="stable"), np.bincount(sizes)
        first = np.cumsum(many) - many
        for _ in range(TRIES):
            rows = np.flatnonzero((wrong > 0) & (sizes > 0))
            if not len(rows):
                break
            changed, each = members[rows], np.arange(len(rows))
            others = by_size[first[sizes[rows]] + _below(many[sizes[rows]], rng)]
            place, theirs = _below(sizes[rows], rng), _below(sizes[rows], rng)
            changed[each, place] = members[others, theirs]
            now = self.broken(households[rows], sizes[rows], changed)
            better = now <= wrong[rows]
            members[rows[better]], wrong[rows[better]] = changed[better], now[better]
        rows, good = np.flatnonzero(wrong > 0), np.flatnonzero(wrong == 0)
        if len(rows) and not len(good):
            problem = "no household was found that keeps to all of them; the budget is spent"
            raise InputError("members.rules", problem, "check that they can hold together")
        chosen = rng.choice(good, len(rows)) if len(rows) else rows
        for codes in (households, sizes, members):
            codes[rows] = codes[chosen]


def _below(numbers: Ints, rng: np.random.Generator) -> Ints:
    """For each number, one of 0 to below it."""
    return (rng.random(len(numbers)) * numbers).astype(np.int64)
