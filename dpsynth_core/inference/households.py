"""Rows of two linked tables from two models (`vocabulary.link`): households with their sizes first, then members, then refinement.

One model describes a household and a random member, the other two members. Households with their number of members and the first of these
are rows of the first; further members are second ones of pairs, rows of the other, whose first is like a member that is there. Then they
are changed until they keep to all rules (`household_rules`), and until the tables of members, of households with members and of pairs
within households are what the models say (`members`). Knows released values only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.household_rules import Rules
from dpsynth_core.inference.members import Ints, Numbers, Target, refine_members
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.link import NUMBER, Link, places
from dpsynth_core.vocabulary.measurement import Clique

CLASSES = (2, 3)
"""Sizes of households at which classes for tables of pairs begin: one, two, three and more."""
MANY = 3
"""Number of members with a value from which on numbers are not distinguished."""
MOST_TABLES, MOST_CELLS = 400, 2_000_000
"""Largest number of tables that members are refined to, and of cells of them together; smallest tables first."""
HEAVY = 5.0
"""Weight of the number of members relative to other tables when households are drawn."""


class Model(Protocol):
    """A model of records of a link's domain."""

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the model's marginal over `clique`, as estimated counts of records with one axis per attribute."""

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return codes of n synthetic rows, shape (n, attributes).

        Args:
            n: Number of rows.
            marginals: The marginals that rows are refined towards, with their weights c_r.
            rng: Source of randomness.
        """


PARENTS, CHILDREN, ACROSS, WITHIN = "households", "members", "across", "within"
KINDS = (PARENTS, CHILDREN, ACROSS, WITHIN)
NUMBERS = "number"


def kinds(link: Link) -> dict[Clique, str]:
    """Return all tables of two columns of linked tables, each with its kind.

    Returns:
        By clique, `PARENTS` (both columns are the household's, its size included), `CHILDREN` (both
        are a member's), `ACROSS` (one of each), or `WITHIN` (columns of two members of one
        household).
    """
    columns, mine = (*link.households.names, NUMBER), link.own_names
    every = {PARENTS: combinations(columns, 2), CHILDREN: combinations(mine, 2), ACROSS: product(columns, mine), WITHIN: link.pairs}
    return {clique: kind for kind, tables in every.items() for clique in tables}


def told_kinds(link: Link) -> dict[Clique, str]:
    """Return all tables of two columns, each with its kind as pages name it.

    Tables with the number of members have a kind of their own, `NUMBERS`, if the link's words name it; all else is as in `kinds`.
    """
    return {clique: NUMBERS if link.words.number and NUMBER in clique else kind for clique, kind in kinds(link).items()}


def told_titles(link: Link) -> dict[str, tuple[str, ...]]:
    """Return title and description of each kind of table of `told_kinds`, in the order of pages."""
    number = {NUMBERS: link.words.number} if link.words.number else {}
    return dict(zip(KINDS, link.words.kinds, strict=True)) | number


def classes(link: Link, starts: Sequence[int] = CLASSES) -> Groups:
    """Return classes of household sizes, as groups of the column of sizes; classes are numbered from 0.

    Args:
        link: The link, whose households have 0 to link.most members.
        starts: Sizes at which a new class begins. Sizes below the first, 0 included, are the first
            class; by default the classes are 0 or 1, 2, and 3 or more members. A start above link.most
            makes no class.
    """
    return Groups(f"{NUMBER} (classes)", NUMBER, tuple(sum(size >= start for start in starts) for size in range(link.most + 1)))


@dataclass(frozen=True, eq=False)
class LinkedCodes:
    """Rows of two linked tables.

    Attributes:
        households: Codes of the households, shape (n, columns).
        sizes: Number of members of each household, shape (n,).
        members: Codes of the members, shape (n, most, columns); those beyond a household's size
            mean nothing.
    """

    households: Ints
    sizes: Ints
    members: Ints

    def reordered(self, order: Ints) -> LinkedCodes:
        """Return the households with the indices `order` (from 0), in that order, each with its members."""
        return LinkedCodes(self.households[order], self.sizes[order], self.members[order])

    def listed(self) -> tuple[Ints, Ints]:
        """Return the members as a flat table.

        Returns:
            The index of each member's household, ascending, and the members' codes, shape (members,
            columns).
        """
        owners = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return owners, self.members[owners, places(self.sizes)]


def draw(one: Model, two: Model, alike: Mapping[str, Model], link: Link, n: int, rng: np.random.Generator) -> LinkedCodes:
    """Draw n synthetic households with their members, at random; the same state of `rng` gives the same ones.

    Args:
        one: Model of a household and one of its members.
        two: Model of two members of one household.
        alike: By column of members, a model of the number of members and of the number that
            share a member's value in the column.
        link: The link of the tables.
        n: Number of households.
        rng: Source of randomness.

    Raises:
        InputError: No household was found that satisfies all rules.
    """
    asked = {clique: kind for clique, kind in kinds(link).items() if kind != WITHIN}
    many = Counter(asked.values())
    weights = {clique: (HEAVY if kind == PARENTS else 1.0) / many[kind] for clique, kind in asked.items()} | {(NUMBER,): HEAVY}
    rows = one.rows(n, weights, rng).astype(np.int64)
    columns, own = len(link.households), len(link.members)
    households, sizes = rows[:, :columns], rows[:, columns]
    members = np.zeros((n, link.most, own), dtype=np.int64)
    members[:, 0] = _somebody(link, households, sizes, rows[:, columns + 1 :], rng)
    _further(link, two.rows(n, _of_two(link), rng).astype(np.int64), sizes, members, rng)
    rules = Rules(link)
    rules.keep(households, sizes, members, rng)
    house = np.column_stack([households, sizes, np.array(classes(link).places)[sizes]])
    tables, numbers = _few(list(_targets(one, two, link, sizes, columns))), _numbers(alike, link, sizes)
    targets: list[Target | Numbers] = [*tables, *numbers, *rules.targets()]
    values = [attribute.size for attribute in link.members]
    return LinkedCodes(households, sizes, refine_members(house, sizes, members, values, targets, rng, limits=rules.limits(sizes)))


def _of_two(link: Link) -> dict[Clique, float]:
    return {clique: 1.0 for clique, kind in kinds(link).items() if kind == WITHIN} | {(NUMBER,): HEAVY}


def _present(link: Link, members: Ints) -> NDArray[np.bool_]:
    """Return whether each member is present, from codes of shape (..., columns): no code means "absent"."""
    return np.asarray((members != np.array([attribute.size for attribute in link.members])).all(axis=-1))


def _somebody(link: Link, households: Ints, sizes: Ints, members: Ints, rng: np.random.Generator) -> Ints:
    """Return the first member of each household, shape (n, columns); 0 for a household without members.

    A household with members whose drawn row has an absent member gets the member of a similar
    household, of the same size if possible.

    Args:
        link: The link of the tables.
        households: Codes, shape (n, columns).
        sizes: Numbers of members, shape (n,).
        members: The member in the drawn row of each household, shape (n, columns); it may be
            absent.
        rng: Source of randomness.
    """
    members, there = members.copy(), _present(link, members)
    for size in range(1, link.most + 1):
        here = sizes == size
        rows, others = np.flatnonzero(here & ~there), np.flatnonzero(here & there)
        others = others if len(others) else np.flatnonzero(there)
        members[rows] = members[others[_alike(households[rows], households[others], rng)]] if len(others) else 0
    return np.where((sizes > 0)[:, None], members, 0)


def _further(link: Link, pairs: Ints, sizes: Ints, members: Ints, rng: np.random.Generator) -> None:
    """Fill in the second and all later members of each household, in place.

    Each is the partner, in a drawn pair, of a member similar to the household's first or second
    one; pairs come from households of the same size if possible.

    Args:
        link: The link of the tables.
        pairs: Drawn records: the number of members, and the codes of a member and another one.
        sizes: Numbers of members, shape (n,).
        members: Codes, shape (n, most, columns), whose first member is filled in.
        rng: Source of randomness.
    """
    own = members.shape[2]
    two = pairs[:, 1:].reshape(len(pairs), 2, own)
    there = _present(link, two).all(axis=1)
    for size in range(2, link.most + 1):
        rows = np.flatnonzero(sizes == size)
        some = there & (pairs[:, 0] == size)
        chosen = two[some if some.any() else there]
        first, second = np.concatenate([chosen, chosen[:, ::-1]]).transpose(1, 0, 2)
        for place in range(1, size):
            if len(chosen):
                members[rows, place] = second[_alike(members[rows, (place - 1) % 2], first, rng)]
            else:
                members[rows, place] = members[rows, 0]


def _alike(wanted: Ints, codes: Ints, rng: np.random.Generator) -> Ints:
    """Return, for each row of `wanted`, the index of a similar row of `codes`.

    Both are sorted by their codes and matched by rank, so that each row of `codes` is used about
    equally often.
    """
    mine, others = (np.lexsort((rng.random(len(rows)), *rows.T[::-1])) for rows in (wanted, codes))
    found = np.empty(len(wanted), dtype=np.int64)
    found[mine] = others[(np.arange(len(wanted)) * len(codes)) // max(1, len(wanted))]
    return found


def _targets(one: Model, two: Model, link: Link, sizes: Ints, columns: int) -> Iterator[Target]:
    """Yield the tables that members are refined towards, as the models predict them for these sizes.

    These are tables of two columns of a member; of one or two columns of a member with a column of
    the household; and of a column of a member, one of another member, and the class of the
    household's size.

    Args:
        one: Model of a household and one of its members.
        two: Model of two members of one household.
        link: The link of the tables.
        sizes: Number of members of each household.
        columns: Number of columns of a household.
    """
    mine = link.members.names
    place = {name: number for number, name in enumerate((*link.households.names, NUMBER))}
    number = {name: i for i, name in enumerate(mine)}
    numbers = np.bincount(sizes, minlength=link.most + 1)
    read, within = _Reading(one, link, numbers), _Reading(two, link, numbers)
    asked: list[tuple[str, Clique, Clique, Clique]] = [(CHILDREN, (), pair, ()) for pair in combinations(mine, 2)]
    asked += [(ACROSS, (a,), (b,), ()) for a, b in product(place, mine)]
    asked += [("across two", (a,), pair, ()) for a, pair in product(link.households.names, combinations(mine, 2))]
    many = Counter(kind for kind, *_ in asked)
    for kind, house, member, _ in asked:
        values = read.members(house, member)
        yield Target(tuple(map(place.__getitem__, house)), tuple(map(number.__getitem__, member)), (), values, _weight(values, many[kind]))
    pairs = list(combinations_with_replacement(mine, 2))
    for a, b in pairs:
        values = within.pairs(a, b)
        yield Target((columns + 1,), (number[a],), (number[b],), values, _weight(values, len(pairs)))


def _numbers(alike: Mapping[str, Model], link: Link, sizes: Ints) -> Iterator[Numbers]:
    """Yield, by column of members, the wanted numbers of households with 0, 1, 2, ... members with each value.

    Args:
        alike: By column, a model of the number of members and of how many share a member's value.
        link: The link of the tables.
        sizes: Number of members of each household.
    """
    numbers, many = np.bincount(sizes, minlength=link.most + 1), sum(link.members[name].size for name in alike)
    for name, model in alike.items():
        values = _Reading(model, link, numbers).alike(name)
        yield Numbers(link.members.position(name), values, _weight(values[:1], many))


def _weight(values: NDArray[np.float64], tables: int) -> float:
    """Return the weight of a table in refinement: 1e5 / (tables * max(1, sum of values)).

    Weight times sum is 1e5 / tables for every table with a sum of 1 or more. So all kinds of tables
    count the same, and so do all tables of one kind.

    Args:
        values: Counts of the table.
        tables: Number of tables of its kind.
    """
    return 1e5 / (tables * max(1.0, float(values.sum())))


def _few(targets: list[Target]) -> list[Target]:
    smallest = sorted(targets, key=lambda target: target.values.size)[:MOST_TABLES]
    fitting = np.cumsum([target.values.size for target in smallest]) <= MOST_CELLS
    return [target for target, fits in zip(smallest, fitting, strict=True) if fits]


@dataclass(frozen=True, eq=False)
class _Reading:
    """Counts of members and of pairs of members that a model of records predicts for given household sizes.

    Attributes:
        model: The model.
        link: The link of the tables.
        numbers: Number of households with 0, 1, 2, ... members.
    """

    model: Model
    link: Link
    numbers: Ints

    def members(self, house: Clique, member: Clique) -> NDArray[np.float64]:
        """Return the predicted number of members in each cell of a table of household and member columns.

        Args:
            house: Columns of the household, possibly with its number of members as the first axis.
            member: Columns of a member.
        """
        shares = self._by_size((*(name for name in house if name != NUMBER), *member))
        whole = shares * _along(self.numbers * np.arange(len(self.numbers)), shares)
        return whole if NUMBER in house else whole.sum(axis=0)

    def pairs(self, mine: str, another: str) -> NDArray[np.float64]:
        """Return the predicted number of ordered pairs of members of one household with each pair of values.

        Args:
            mine: Column of the first member.
            another: Column of the second member.

        Returns:
            Shape (classes of household size, values of `mine`, values of `another`).
        """
        shares, sizes = self._by_size((mine, self.link.other(another))), np.arange(len(self.numbers))
        counts = shares * _along(self.numbers * sizes * (sizes - 1), shares)
        return np.moveaxis(classes(self.link).summed(counts, 0), -1, 0)

    def alike(self, name: str) -> NDArray[np.float64]:
        """Return the predicted number of households in which a value occurs 0, 1, 2, ... times.

        Args:
            name: The column of members.

        Returns:
            Shape (values, cells); the last cell counts households with `MANY` or more such members.
        """
        shares, sizes = self._by_size((name, self.link.alike(name))), np.arange(len(self.numbers))
        members = shares * _along(self.numbers * sizes, shares)
        held = members.sum(axis=0) / np.arange(1, len(sizes))
        some = np.concatenate([held[:, : MANY - 1], held[:, MANY - 1 :].sum(axis=1, keepdims=True)], axis=1)
        return np.column_stack([np.maximum(self.numbers.sum() - some.sum(axis=1), 0.0), some])

    def _by_size(self, names: Clique) -> NDArray[np.float64]:
        """Return, for each number of members, the model's shares of the cells of columns of present members.

        Args:
            names: Columns of the household, of one member, or of two.

        Returns:
            One axis for the number of members, then one per column without the cell for absent
            members; shares add up to 1 for each number of members.
        """
        clique = self.link.domain.clique((*names, NUMBER))
        table = np.maximum(self.model.marginal(clique), 0.0).transpose([clique.index(name) for name in (NUMBER, *names)])
        table = table[(slice(None), *(slice(-1) if name in self.link.with_nobody else slice(None) for name in names))]
        return table / np.maximum(table.sum(axis=tuple(range(1, table.ndim)), keepdims=True), 1e-9)


def _along(numbers: NDArray[np.int64], table: NDArray[np.float64]) -> NDArray[np.int64]:
    return numbers.reshape(-1, *[1] * (table.ndim - 1))
