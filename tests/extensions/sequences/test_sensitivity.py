"""What one person changes in tables of persons' rows in order: never more than the kernel charges for (Proposition 24)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.layout import LAST, START, SequenceLink
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.vocabulary.measurement import ROOT_STEPS, Clique
from tests.extensions.sequences.tables import link, source

Row = tuple[str, str, str]
TIMES = ("", "soon", "1", "1", "2", "2", "10", "-3", "1970-01-03", "2020-02-30", "1969-12-31 23:59", "12:30", "1e999", "1,5")
"""Missing, unreadable, tied, before 1970, no day of the calendar, of mixed kinds."""
WARDS = ("a", "b", "c", "")
TABLES = 110
Counts = dict[Clique, NDArray[np.int64]]


def rows_of(key: str, rng: np.random.Generator, most: int = 8) -> list[Row]:
    return [(key, str(rng.choice(WARDS)), str(rng.choice(TIMES))) for _ in range(rng.integers(0, most + 1))]


def mixed(rows: list[Row], rng: np.random.Generator) -> list[Row]:
    """The rows in an order in which a file may have them."""
    return [rows[place] for place in rng.permutation(len(rows))]


def tables_of(two: SequenceLink, rng: np.random.Generator) -> list[Clique]:
    """All tables of one or two columns, and some wider ones."""
    names = two.domain.names
    wide = {two.domain.clique(rng.choice(names, size, replace=False).tolist()) for size in (3, 4) for _ in range(5)}
    return [*(one for size in range(3) for one in combinations(names, size)), *sorted(wide)]


def neighbours(two: SequenceLink, relation: str, rng: np.random.Generator) -> Iterator[tuple[Counts, Counts]]:
    """Counts of two neighbouring tables: one person's lines added and removed, or replaced by any others, anywhere in the file.

    Lines that name nobody are the person's as well, and so are lines of the table of persons.
    """
    cliques = tables_of(two, rng)
    keys = [f"p{number}" for number in range(rng.integers(0, 4))]
    persons = [(key, str(rng.integers(0, 2))) for key in keys]
    others = [row for key in keys for row in rows_of(key, rng)]

    def one(of_key: str | None) -> Counts:
        own = [] if of_key is None else [*rows_of(of_key, rng), *rows_of("", rng, 2)]
        of_person = [] if of_key is None else [(of_key, str(rng.integers(0, 2))) for _ in range(rng.integers(0, 3))]
        merged = list(others)
        for row in own:  # the others keep their order among themselves: it is part of what they say
            merged.insert(int(rng.integers(0, len(merged) + 1)), row)
        first = list(persons)
        for line in of_person:
            first.insert(int(rng.integers(0, len(first) + 1)), line)
        return source(two, first, merged).counts(cliques)

    if relation == "replace":
        yield one("mine"), one(str(rng.choice(["mine", "another"])))
    else:
        yield one("mine"), one(None)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("everybody", [False, True])
def test_no_neighbour_moves_a_table_further_than_it_is_charged_for(relation: str, everybody: bool) -> None:
    furthest = 0.0
    for seed in range(TABLES):
        rng = np.random.default_rng([seed, everybody])
        order = None if seed % 5 == 0 else "time"
        two = link(int(rng.integers(1, 11)), gap=order is not None and seed % 2 == 0, order=order, everybody=everybody)
        unit = Unit(relation, two.records_each, rows_may_not_count=True)
        for counts, beside in neighbours(two, relation, rng):
            for clique, table in counts.items():
                change = (table - beside[clique]).ravel()
                norm = float((change**2).sum()) ** 0.5
                assert norm <= (unit.marginal_l2 if clique else unit.total_l2) * (1 + 1e-15)
                assert int(np.abs(change).sum()) <= unit.marginal_l1
                furthest = max(furthest, norm / unit.marginal_l2)
    assert furthest == pytest.approx(1)  # some are as far


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_no_neighbour_is_further_in_sums_of_roots_than_is_charged_for(relation: str) -> None:
    two = link(4, gap=True)
    groups = {"few": Groups("few", NUMBER, (0, 0, 1, 1, 1)), "some": Groups("some", "ward", (0, 1, 1))}
    charged = ROOT_STEPS * Unit(relation, two.records_each, rows_may_not_count=True).marginal_l2
    asked = [*((name,) for name in two.domain.names), ("few",), ("some",), ("few", "some"), ("region", "ward"), ("ward", "ward before")]
    stays = [[], *([one] for one in "ab"), *product("ab", repeat=2), *product("ab", repeat=4), list("aabab")]
    tables = [[("1", ward, str(place**2)) for place, ward in enumerate(one)] for one in stays]
    for clique in asked:
        others = [("2", "a", "1"), ("2", "b", "3")]
        with_one = [source(two, [("2", "0"), ("1", "1")], [*others, *rows]).roots(clique, groups).ravel() for rows in tables]
        without = source(two, [("2", "0")], others).roots(clique, groups).ravel()
        pairs = product(with_one, repeat=2) if relation == "replace" else ((one, without) for one in with_one)
        assert max(float(np.linalg.norm(one - other)) for one, other in pairs) <= charged * (1 + 1e-15)


def test_a_person_has_one_weight_in_every_table() -> None:
    for most in range(1, 11):
        two = link(most, gap=True)
        for size in range(most + 2):
            rows = [("1", "a", str(place)) for place in range(size)]
            counts = source(two, [("1", "0")], rows).counts([(), (NUMBER,), (START, LAST)])
            assert counts[()] == counts[START, LAST].sum() == counts[(NUMBER,)][min(size, most)] == two.records_each


def test_the_order_of_persons_in_the_file_changes_no_table() -> None:
    """Neither that of their lines, as long as each one's own lines keep their order, which ties follow."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        two = link(int(rng.integers(1, 6)), gap=True)
        by_person = {key: rows_of(key, rng) for key in ("p0", "p1", "p2", "")}
        persons = [("p0", "0"), ("p1", "1"), ("p2", "0")]
        cliques = tables_of(two, rng)
        expected = source(two, persons, [row for rows in by_person.values() for row in rows]).counts(cliques)
        for _ in range(3):
            left = {key: list(rows) for key, rows in by_person.items()}
            turns = rng.permutation([key for key, rows in by_person.items() for _ in rows]).tolist()
            found = source(two, mixed(persons, rng), [left[key].pop(0) for key in turns]).counts(cliques)  # type: ignore[arg-type]
            assert all((found[clique] == expected[clique]).all() for clique in cliques)
