"""Household rules: the number of violations, and changes to drawn households until all rules hold. Knows codes and public rules only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, islice, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.members import Ints, Limit, Target
from dpsynth_core.vocabulary.link import NUMBER, Link

TRIES = 200
"""Number of times that a member of a household that breaks a rule is replaced by another household's."""
INFEASIBLE = 2
"""Status of `milp` for an infeasible problem."""
SECONDS, MOST_LIMITS = 5.0, 100_000
"""Limits of the check that rules can hold together: seconds, and number of conditions, beyond which it is skipped."""
NEVER = 1e9
"""Weight of an impossible cell in refinement: more than all else together."""


_Limit = tuple[int, int, list[tuple[tuple[int, str], Sequence[int]]]]
"""Least and largest number of some values. Each value's column is of a member, by place, or of the household: 0."""


@dataclass(frozen=True)
class _Rule:
    """The impossible cells of one table of columns of a household, a member and another member.

    Attributes:
        household: Indices of the household's columns in the table; the column after the last is its
            size.
        member: Indices of the member's columns in the table.
        other: Indices of the other member's columns in the table.
        impossible: True in impossible cells, axes in this order.
    """

    household: tuple[int, ...]
    member: tuple[int, ...]
    other: tuple[int, ...]
    impossible: NDArray[np.bool_]


@dataclass(frozen=True)
class Rules:
    """The impossible combinations and limits on numbers of members that a link states.

    Attributes:
        link: The link of the two tables.
    """

    link: Link

    @cached_property
    def tables(self) -> Sequence[_Rule]:
        """The tables of impossible cells.

        Two rules that become each other by exchanging the two members have one table.
        """
        houses, mine = (*self.link.households.names, NUMBER), self.link.members.names
        others, tables, seen = tuple(map(self.link.other, mine)), list[_Rule](), set[frozenset[str]]()
        for clique, impossible in self.link.domain.zeros.items():
            if frozenset(self.link.mirrored(clique)) in seen:
                continue
            seen.add(frozenset(clique))
            house, one, other = (tuple(names.index(name) for name in clique if name in names) for names in (houses, mine, others))
            tables.append(_Rule(house, one or other, other if one else (), impossible))  # what is of another member is of a member
        return tables

    def can_hold(self, size: int) -> bool:
        """Return whether a household with `size` members can satisfy all rules together.

        A case that is undecided after 5 seconds (`SECONDS`) counts as possible, and conditions beyond the first 100,000
        (`MOST_LIMITS`) are left out.
        """
        return int(self._solved(size)[1].status) != INFEASIBLE

    def example(self, size: int) -> dict[tuple[int, str], int]:
        """Return a household with `size` members that keeps all rules, but for conditions beyond the first 100,000.

        Returns:
            The code of each column, by place (0 for the household, else the member's number from 1)
            and name; {} if none was found within 5 seconds (`SECONDS`).
        """
        cells, solved = self._solved(size)
        if solved.x is None:
            return {}
        ends = list(accumulate(cells.values()))
        return {column: int(np.argmax(solved.x[end - many : end])) for (column, many), end in zip(cells.items(), ends, strict=True)}

    def _solved(self, size: int) -> tuple[dict[tuple[int, str], int], Any]:
        """Solve the rules for a household of `size` members.

        An integer program chooses one value in each column of the household and of each member, and
        at least one side of each forbidden combination must not be chosen.

        Returns:
            The number of values of each column, by place and name, and SciPy's result, whose `x` is 1
            for the chosen values of one column after the other.
        """
        from scipy.optimize import LinearConstraint, milp  # a quarter of a second, which one table need not wait for
        from scipy.sparse import csr_array

        cells = {(0, one.name): one.size for one in self.link.households} | {(0, NUMBER): self.link.most + 1}
        cells |= {(place, one.name): one.size for place in range(1, size + 1) for one in self.link.members}
        first = dict(zip(cells, accumulate(cells.values(), initial=0), strict=False))
        limits: list[_Limit] = [(1, 1, [(column, range(many))]) for column, many in cells.items()]
        limits += [(1, 1, [((0, NUMBER), (size,))]), *islice(self._limits(size), MOST_LIMITS)]
        chosen = [[first[column] + code for column, codes in sides for code in codes] for _, _, sides in limits]
        ends = [*accumulate(map(len, chosen), initial=0)]
        table = csr_array((np.ones(ends[-1]), [*chain(*chosen)], ends), shape=(len(limits), sum(cells.values())))
        held = LinearConstraint(table, *np.array([(least, most) for least, most, _ in limits]).T)
        anything = np.zeros(table.shape[1])
        return cells, milp(anything, constraints=held, integrality=anything + 1, options={"time_limit": SECONDS})

    def _limits(self, size: int) -> Iterator[_Limit]:
        members = range(1, size + 1)
        for number in self.link.numbers:
            least, most = map(int, number.bounds(np.array(size)))
            yield least, most, [((place, number.column), number.codes) for place in members]
        mine = set(self.link.members.names)
        for names, box in ((rule.attributes, box) for rule in self.link.rules for box in rule.boxes):
            named = names if mine & set(names) else self.link.mirrored(names)  # what is of another member is of a member
            other = mine & set(self.link.mirrored(named))
            for one, another in permutations(members, 2) if other else product(members, (0,)) if mine & set(named) else ((0, 0),):
                whose = (one if name in mine else another if name in self.link.swapped else 0 for name in named)
                own = (self.link.swapped[name] if name in self.link.swapped and name not in mine else name for name in named)
                yield 0, len(box) - 1, list(zip(zip(whose, own, strict=True), box, strict=True))

    def targets(self) -> list[Target]:
        """Return targets by which refinement moves no member into an impossible cell: 0 with a very large weight.

        There is one for each table of impossible cells that has a column of a member; [] without such tables.
        """
        ruled = [rule for rule in self.tables if rule.member]
        return [Target(r.household, r.member, r.other, np.zeros(r.impossible.shape), np.where(r.impossible, NEVER, 0.0)) for r in ruled]

    def limits(self, sizes: Ints) -> list[Limit]:
        """Return a limit for each rule on the number of members with certain values, in the order of `link.numbers`.

        Impossible combinations give no limit, so the result is [] for a link that has only these. A limit has the
        least and the largest number for each household.

        Args:
            sizes: Number of members of each household, shape (n,).
        """
        columns = {attribute.name: (place, attribute.size) for place, attribute in enumerate(self.link.members)}
        each = ((number, *columns[number.column]) for number in self.link.numbers)
        return [Limit(place, np.isin(np.arange(size), number.codes), *number.bounds(sizes)) for number, place, size in each]

    def broken(self, households: Ints, sizes: Ints, members: Ints) -> Ints:
        """Return the number of violations of rules in each household, shape (n,); 0 for a household that keeps them.

        Args:
            households: Codes, shape (n, columns).
            sizes: Numbers of members, shape (n,).
            members: Codes, shape (n, most, columns); those beyond a household's size are ignored.
        """
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
        """Change the households that break a rule, in place, until no household does.

        All three arrays are changed. Members are replaced at random by members of households of the same size, where that
        breaks no more rules. A household that still breaks a rule after 200 attempts (`TRIES`) becomes a copy of one that
        breaks none. If all break one, the first becomes an example of the rules, and the others its copies.

        Args:
            households: Codes, shape (n, columns).
            sizes: Numbers of members, shape (n,).
            members: Codes, shape (n, most, columns).
            rng: Source of randomness.

        Raises:
            InputError: No household that keeps all rules was found.
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
            if not self._put_example(households, sizes, members):
                problem = "no household was found that keeps to all of them; the budget is spent"
                raise InputError("members.rules", problem, "check that they can hold together")
            good = np.array([0])
        chosen = rng.choice(good, len(rows)) if len(rows) else rows
        for codes in (households, sizes, members):
            codes[rows] = codes[chosen]

    def _put_example(self, households: Ints, sizes: Ints, members: Ints) -> bool:
        """Put an example of the rules in the place of the first household, and return whether one was found.

        It has members: as many as most households, if that many can keep the rules.
        """
        by_frequency = np.argsort(-np.bincount(sizes, minlength=self.link.most + 1), kind="stable")
        for size in (int(size) for size in by_frequency if size):
            if found := self.example(size):
                sizes[0] = size
                households[0] = [found[0, name] for name in self.link.households.names]
                members[0, :size] = [[found[place, name] for name in self.link.members.names] for place in range(1, size + 1)]
                if not self.broken(households[:1], sizes[:1], members[:1]).any():
                    return True
        return False


def _below(numbers: Ints, rng: np.random.Generator) -> Ints:
    """Return, for each number, a uniform random integer from 0 to the number minus 1."""
    return (rng.random(len(numbers)) * numbers).astype(np.int64)
