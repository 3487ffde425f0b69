"""Attacks on synthetic rows. Each says of every person whether it works.

No attack may depend on who took part, so that chance treats both groups alike: the attacks look at the people of both groups together and
at the rows. "Alone" therefore means alone among all these people. The attacks are published ones: replicated uniques (RepU) and
"disclosive in synthetic, correct in original" (DiSCO) of synthpop (Raab, Nowok and Dibben 2024), singling out of anonymeter (Giomi and
others 2023), and tracing by the likelihood ratio to first order (Dwork and others 2015).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer]
Works = NDArray[np.bool_]
_SEED = 0
"""Fixes which sets of columns are tried. They protect nobody."""
_GUESSES = 60
"""Most sets of columns that singling out tries."""
_TOGETHER = 3
"""Columns of each such set."""
_MOST_ROWS = 5_000
"""Most rows, and known people, whose distances from people are computed."""
_CHUNK = 1_000
"""People whose distances are in memory at once."""


@dataclass(frozen=True)
class Roles:
    """The columns that an attacker is taken to know of a person, and the one that they look for.

    Attributes:
        keys: Places of the columns that the attacker knows.
        target: Place of the column that the attacker wants to know; it is not among the keys.
    """

    keys: tuple[int, ...]
    target: int


@dataclass(frozen=True, eq=False)
class People:
    """Two groups of people and rows, as codes.

    Attributes:
        sizes: Number of cells of each column.
        inside: People of the table, shape (people, columns).
        outside: People who did not take part, in random order, shape (people, columns).
        rows: The rows that are attacked, shape (rows, columns), at least one.
    """

    sizes: tuple[int, ...]
    inside: Codes
    outside: Codes
    rows: Codes


@dataclass(frozen=True, eq=False)
class Tried:
    """The success or failure of an attack, for each person on whom it was tried.

    Attributes:
        inside: Of people of the table, shape (people,).
        outside: Of people who did not take part, shape (people,).
    """

    inside: Works
    outside: Works


def replicated_uniques(people: People, roles: Roles) -> Tried:
    """Try RepU on everybody: it works if no other person has this person's keys, and exactly one row has them."""
    return _split(people, _alone_in_both(people, roles.keys))


def disclosed(people: People, roles: Roles) -> Tried:
    """Try DiSCO on everybody: it works if some row has the person's keys, and all such rows have the person's target value."""
    of_keys, of_both = (_Cells.of(people, columns) for columns in (roles.keys, (*roles.keys, roles.target)))
    found, place = np.unique(of_both.rows, return_index=True)
    values = np.bincount(of_keys.rows[place], minlength=of_keys.number)  # different target values in the rows with these keys
    right = np.isin(of_both.people, found)
    return _split(people, (values[of_keys.people] == 1) & right)


def same_row(people: People, roles: Roles) -> Tried:  # noqa: ARG001
    """Try each person who is alone with their record among all people: some row is the same in all columns.

    The result has only these people, in their order; it is empty if no record is unique. `roles` is not used.
    """
    cells = _Cells.of(people, range(len(people.sizes)))
    alone = cells.among_people[cells.people] == 1
    tried = _split(people, cells.among_rows[cells.people] > 0)
    of = _split(people, alone)
    return Tried(tried.inside[of.inside], tried.outside[of.outside])


def singled_out(people: People, roles: Roles) -> Tried:  # noqa: ARG001
    """Try to single people out: three columns have values together that exactly one row and exactly one person has.

    All sets of three columns are tried, or 60 sets (`_GUESSES`) if there are more; these are the same in each
    call. A table of fewer columns has one set, of all its columns. `roles` is not used.
    """
    columns = len(people.sizes)
    sets = list(combinations(range(columns), min(_TOGETHER, columns)))
    chosen = np.random.default_rng(_SEED).permutation(len(sets))[:_GUESSES]
    works = np.zeros(len(people.inside) + len(people.outside), dtype=bool)
    for place in chosen.tolist():
        works |= _alone_in_both(people, sets[place])
    return _split(people, works)


def traced_by_pairs(people: People, roles: Roles) -> Tried:  # noqa: ARG001
    """Try to trace people: the rows have more of their pairs of values than people who did not take part.

    The score is the sum over pairs of columns of the logarithm of the pair's share in the rows over its share
    among other people. The attack is tried on all people of the table and every second one of the others; it
    knows the records of their other half. It says "took part" (True) of the half of these people with the
    highest scores, whichever group they are of. `roles` is not used.
    """
    known, tried = _world(people)
    columns = len(people.sizes)
    score = np.zeros(len(tried.inside) + len(tried.outside))
    for pair in combinations(range(columns), min(2, columns)):
        cells = _Cells.of(tried, pair, known)
        shares = [(counts + 1) / (len(group) + 1) for counts, group in ((cells.among_rows, people.rows), (cells.among_known, known))]
        score += np.log(shares[0] / shares[1])[cells.people]
    return _traced(tried, score, 0.5)


def traced_by_distance(people: People, roles: Roles) -> Tried:  # noqa: ARG001
    """Try to trace people: some row is nearer to their record than the record of any other person whom the attacker knows.

    Distances count the columns that differ. The attack is tried on all people of the table and every second one
    of the others; it knows the records of their other half. It says "took part" (True) of the tenth of these
    people for whom this holds most clearly, whichever group they are of. Only the first 5,000 rows and the
    first 5,000 known people are looked at. `roles` is not used.
    """
    known, tried = _world(people)
    of = np.concatenate([tried.inside, tried.outside])
    most = [_most_in_common(of, among, people.sizes) for among in (people.rows[:_MOST_ROWS], known[:_MOST_ROWS])]
    return _traced(tried, most[0] - most[1], 0.1)


def _world(people: People) -> tuple[Codes, People]:
    """Return the people whom a tracing attack knows, which are half of those who did not take part, and those on whom it is tried."""
    return people.outside[0::2], People(people.sizes, people.inside, people.outside[1::2], people.rows)


def _traced(tried: People, score: NDArray[np.float64], share: float) -> Tried:
    """Say "took part" of this share of the people: those with the highest scores. Chance decides among equal ones."""
    order = np.lexsort((np.random.default_rng(_SEED).random(len(score)), score))
    works = np.zeros(len(score), dtype=bool)
    works[order[len(score) - int(share * len(score)) :]] = True
    return _split(tried, works)


def _most_in_common(of: Codes, among: Codes, sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Return, for each record, the largest number of columns in which it is equal to one of other records."""
    ones = [np.concatenate([np.eye(n, dtype=np.float32)[each[:, c]] for c, n in enumerate(sizes)], axis=1) for each in (of, among)]
    parts = [ones[0][start : start + _CHUNK] @ ones[1].T for start in range(0, len(of), _CHUNK)]
    return np.concatenate([part.max(axis=1) for part in parts]).astype(np.float64)


Attack = Callable[[People, Roles], Tried]
ATTACKS: tuple[tuple[str, Attack], ...] = (
    ("Alone with their keys, among people and in the rows", replicated_uniques),
    ("Target named by the rows with their keys, rightly", disclosed),
    ("A row like theirs in all columns, of people alone with it", same_row),
    ("Singled out by three columns", singled_out),
    ("Told from others by the nearest row (of a tenth)", traced_by_distance),
    ("Told from others by pairs of values (of half)", traced_by_pairs),
)
"""Each attack with its description, which completes "share of people who are ..."."""


def _split(people: People, works: Works) -> Tried:
    return Tried(works[: len(people.inside)], works[len(people.inside) :])


def _alone_in_both(people: People, columns: Sequence[int]) -> Works:
    cells = _Cells.of(people, columns)
    return np.asarray((cells.among_people == 1) & (cells.among_rows == 1))[cells.people]


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells of some columns that occur, numbered from 0.

    Attributes:
        number: How many there are.
        people: The cell of each person, first those of the table.
        rows: The cell of each row.
        known: The cell of each of some other people.
    """

    number: int
    people: NDArray[np.int64]
    rows: NDArray[np.int64]
    known: NDArray[np.int64]

    @classmethod
    def of(cls, people: People, columns: Sequence[int], known: Codes | None = None) -> _Cells:
        others = people.outside[:0] if known is None else known
        every = np.concatenate([people.inside, people.outside, people.rows, others])
        found, number = np.zeros(len(every), dtype=np.int64), 1
        for column in columns:  # numbered anew after each column, so that no number of cells overflows
            _, found = np.unique(found * people.sizes[column] + every[:, column], return_inverse=True)
        number = int(found.max()) + 1
        ends = np.cumsum([len(people.inside) + len(people.outside), len(people.rows)])
        of_people, of_rows, of_known = np.split(found, ends)
        return cls(number, of_people, of_rows, of_known)

    @property
    def among_people(self) -> NDArray[np.int64]:
        """Number of people in each cell."""
        return np.bincount(self.people, minlength=self.number)

    @property
    def among_rows(self) -> NDArray[np.int64]:
        """Number of rows in each cell."""
        return np.bincount(self.rows, minlength=self.number)

    @property
    def among_known(self) -> NDArray[np.int64]:
        """Number of the other people in each cell."""
        return np.bincount(self.known, minlength=self.number)
