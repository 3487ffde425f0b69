"""Each attack beside brute force on small tables, and what holds of all: chance treats both groups alike, and a copy is found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dpsynth_core.extensions.attacks import measures
from dpsynth_core.extensions.attacks.measures import ATTACKS, People, Roles

SIZES = (4, 3, 2, 5)
ROLES = Roles((0, 1), 3)
Record = tuple[int, ...]


def people(seed: int, inside: int = 30, outside: int = 20, rows: int = 25, sizes: Sequence[int] = SIZES) -> People:
    """Skewed codes, so that some people are alone and some have much company."""
    rng = np.random.default_rng(seed)
    drawn = (np.stack([np.minimum(rng.geometric(0.4, n) - 1, size - 1) for size in sizes], axis=1) for n in (inside, outside, rows))
    return People(tuple(sizes), *drawn)


def records(codes: np.ndarray) -> list[Record]:
    return [tuple(record) for record in codes.tolist()]


def of(record: Record, columns: Sequence[int]) -> Record:
    return tuple(record[column] for column in columns)


def both(of_people: People) -> list[Record]:
    return records(of_people.inside) + records(of_people.outside)


def only_one(record: Record, columns: Sequence[int], among: list[Record]) -> bool:
    return sum(of(other, columns) == of(record, columns) for other in among) == 1


def alone(person: Record, columns: Sequence[int], of_people: People) -> bool:
    return only_one(person, columns, both(of_people)) and only_one(person, columns, records(of_people.rows))


def expected_replicated(of_people: People) -> list[bool]:
    return [alone(person, ROLES.keys, of_people) for person in both(of_people)]


def expected_disclosed(of_people: People) -> list[bool]:
    rows = records(of_people.rows)
    named = [{row[ROLES.target] for row in rows if of(row, ROLES.keys) == of(person, ROLES.keys)} for person in both(of_people)]
    return [values == {person[ROLES.target]} for values, person in zip(named, both(of_people), strict=True)]


def expected_singled_out(of_people: People) -> list[bool]:
    sets = list(combinations(range(len(of_people.sizes)), 3))
    return [any(alone(person, columns, of_people) for columns in sets) for person in both(of_people)]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(
    ("attack", "expected"),
    [
        (measures.replicated_uniques, expected_replicated),
        (measures.disclosed, expected_disclosed),
        (measures.singled_out, expected_singled_out),
    ],
)
def test_attacks_on_everybody_are_those_of_brute_force(attack, expected, seed: int) -> None:  # type: ignore[no-untyped-def]
    for inside, rows in ((30, 25), (3, 60), (40, 1)):
        tried = people(seed, inside=inside, rows=rows)
        found = attack(tried, ROLES)
        assert [*found.inside.tolist(), *found.outside.tolist()] == expected(tried)
        assert len(found.inside) == inside


@pytest.mark.parametrize("seed", range(40))
def test_the_same_row_is_looked_for_of_people_alone_with_their_record(seed: int) -> None:
    tried = people(seed)
    rows = records(tried.rows)

    def expected(group: np.ndarray) -> list[bool]:
        return [person in rows for person in records(group) if both(tried).count(person) == 1]

    found = measures.same_row(tried, ROLES)
    assert found.inside.tolist() == expected(tried.inside)
    assert found.outside.tolist() == expected(tried.outside)


def chosen(scores: list[float], share: float, found: list[bool]) -> Iterator[bool]:
    """Whether each choice is that of the people with the highest scores, where equal scores may be chosen either way."""
    number = int(share * len(scores))
    limit = sorted(scores, reverse=True)[number - 1]
    yield sum(found) == number
    yield all(one for one, score in zip(found, scores, strict=True) if score > limit + 1e-9)
    yield not any(one for one, score in zip(found, scores, strict=True) if score < limit - 1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_tracing_takes_the_highest_scores(seed: int) -> None:
    tried = people(seed)
    known, control, rows = records(tried.outside[0::2]), records(tried.outside[1::2]), records(tried.rows)
    persons = records(tried.inside) + control

    def by_pairs(person: Record) -> float:
        def share(pair: Sequence[int], among: list[Record]) -> float:
            return (sum(of(one, pair) == of(person, pair) for one in among) + 1) / (len(among) + 1)

        return sum(math.log(share(pair, rows) / share(pair, known)) for pair in combinations(range(len(SIZES)), 2))

    def by_distance(person: Record) -> float:
        def nearest(among: list[Record]) -> int:
            return min(sum(a != b for a, b in zip(person, one, strict=True)) for one in among)

        return nearest(known) - nearest(rows)

    for attack, score, share in ((measures.traced_by_pairs, by_pairs, 0.5), (measures.traced_by_distance, by_distance, 0.1)):
        found = attack(tried, ROLES)
        assert len(found.outside) == len(control)
        assert all(chosen([score(person) for person in persons], share, [*found.inside.tolist(), *found.outside.tolist()]))


@pytest.mark.parametrize("attack", [attack for _, attack in ATTACKS])
def test_no_attack_depends_on_who_took_part(attack: measures.Attack) -> None:
    """People of both groups change places: each has the outcome of before. Tracing is tried on people whom it does not know."""
    tried = people(5, inside=40, outside=40)
    changed = replace(tried, inside=np.concatenate([tried.outside[1::2], tried.inside[20:]]), outside=tried.outside.copy())
    changed.outside[1::2] = tried.inside[:20]
    before, after = attack(tried, ROLES), attack(changed, ROLES)
    assert before.inside.sum() + before.outside.sum() == after.inside.sum() + after.outside.sum()
    assert len(before.inside) + len(before.outside) == len(after.inside) + len(after.outside)


def test_many_columns_of_many_values_have_cells_of_their_own() -> None:
    """1,000 to the power of 12 cells are more than any whole number of the machine has."""
    sizes = (1000,) * 12
    rng = np.random.default_rng(0)
    first, second = (rng.integers(0, 1000, (50, 12)) for _ in range(2))
    second[:10] = first[:10]
    tried = People(sizes, first, rng.integers(0, 1000, (50, 12)), second)
    assert measures.same_row(tried, ROLES).inside.tolist() == [True] * 10 + [False] * 40


def test_one_column_besides_the_target_is_enough() -> None:
    tried = people(3, sizes=(5, 4))
    for _, attack in ATTACKS:
        attack(tried, Roles((0,), 1))
