"""What one person changes in tables of persons, rows and events: never more than the kernel charges for (Proposition 24)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.events.layout import EventsLink
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.measurement import Clique
from tests.extensions.sequences.events.tables import link, source

TABLES = 30
VISITS = ("v1", "v2", "v2.0", "3", "3.0", "")
"""Keys of rows that people share, of which some are written in two ways and one is missing."""
Lines = list[tuple[str, ...]]
Counts = dict[Clique, NDArray[np.int64]]


def lines_of(key: str, rng: np.random.Generator) -> tuple[Lines, Lines, Lines]:
    """Lines of one person in the three tables, of which any number may be missing, double or of no row."""
    persons = [(key, str(rng.integers(0, 2))) for _ in range(rng.integers(0, 3))]
    rows = [(key, str(rng.choice(VISITS)), str(rng.choice(["a", "b", ""])), str(rng.integers(0, 5))) for _ in range(rng.integers(0, 6))]
    events = [(key, str(rng.choice(VISITS)), str(rng.choice(["x", "y", "?"])), "low") for _ in range(rng.integers(0, 12))]
    return persons, rows, events


def among(lines: Lines, own: Lines, rng: np.random.Generator) -> Lines:
    """The lines with others in between; all keep their order, which is a part of what their person's lines say."""
    merged, place = list(lines), 0
    for line in own:
        place = int(rng.integers(place, len(merged) + 1))
        merged.insert(place, line)
        place += 1
    return merged


def neighbours(three: EventsLink, relation: str, rng: np.random.Generator) -> Iterator[tuple[Counts, Counts]]:
    """Counts of two neighbouring databases: one person's lines in all tables added and removed, or replaced by any others."""
    names = three.domain.names
    wide = {three.domain.clique(rng.choice(names, size, replace=False).tolist()) for size in (3, 4) for _ in range(5)}
    cliques = [*(one for size in range(3) for one in combinations(names, size)), *sorted(wide)]
    others: tuple[Lines, Lines, Lines] = ([], [], [])
    for key in [f"p{number}" for number in range(rng.integers(0, 4))]:
        for lines, more in zip(others, lines_of(key, rng), strict=True):
            lines += more

    def one(of_key: str | None) -> Counts:
        own: tuple[Lines, Lines, Lines] = ([], [], []) if of_key is None else lines_of(of_key, rng)
        return source(three, *(among(lines, mine, rng) for lines, mine in zip(others, own, strict=True))).counts(cliques)

    yield one("mine"), one(str(rng.choice(["mine", "another"])) if relation == "replace" else None)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("everybody", [False, True])
def test_no_neighbour_moves_a_table_further_than_it_is_charged_for(relation: str, everybody: bool) -> None:
    furthest = 0.0
    for seed in range(TABLES):
        rng = np.random.default_rng([seed, everybody])
        order = None if seed % 3 == 0 else "time"
        three = link(int(rng.integers(1, 11)), int(rng.integers(1, 7)), order=order, everybody=everybody)
        unit = Unit(relation, three.records_each, rows_may_not_count=True)
        for counts, beside in neighbours(three, relation, rng):
            for clique, table in counts.items():
                change = (table - beside[clique]).ravel().astype(np.float64)
                norm = float((change**2).sum()) ** 0.5
                assert norm <= (unit.marginal_l2 if clique else unit.total_l2) * (1 + 1e-15)
                assert int(np.abs(change).sum()) <= unit.marginal_l1
                furthest = max(furthest, norm / unit.marginal_l2)
    assert furthest == pytest.approx(1)  # some are as far


def histories() -> Iterator[tuple[Lines, Lines]]:
    """All ways to have up to two rows of two keys, with up to two events each of two drugs."""
    some_events = [drugs for number in range(3) for drugs in product("xy", repeat=number)]
    for number in range(3):
        for wards in product("ab", repeat=number):
            for each in product(some_events, repeat=number):
                rows = [("1", f"v{place}", ward, str(place)) for place, ward in enumerate(wards)]
                events = [("1", f"v{place}", drug, "low") for place, drugs in enumerate(each) for drug in drugs]
                yield rows, events


def test_every_neighbour_of_small_databases_is_within_the_charge() -> None:
    """All histories of one person beside another one who has the same keys of rows, in all tables of one and two columns."""
    three = link(2, 2)
    others = ([("2", "0")], [("2", "v0", "a", "1"), ("2", "v1", "b", "2")], [("2", "v0", "y", "high"), ("2", "v1", "x", "low")])
    cliques = [*combinations(three.domain.names, 1), *combinations(three.domain.names, 2)]
    without = source(three, *others).counts(cliques)
    every = [
        source(three, [*others[0], ("1", "1")], [*rows, *others[1]], [*others[2], *events]).counts(cliques) for rows, events in histories()
    ]
    for relation in ("add-remove", "replace"):
        unit = Unit(relation, three.records_each, rows_may_not_count=True)
        for clique in cliques:
            own = np.stack([one[clique].ravel() for one in every]).astype(np.float64) - without[clique].ravel()
            assert (own >= 0).all()  # nobody else's records move
            assert (own.sum(axis=1) == three.records_each).all()
            square = (own**2).sum(axis=1)
            apart = square[:, None] + square[None, :] - 2 * own @ own.T if relation == "replace" else square
            assert np.sqrt(apart.max()) <= unit.marginal_l2 * (1 + 1e-12)


def test_a_persons_lines_say_the_same_wherever_others_stand() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        three = link(3, 3, order="time")
        mine, others = lines_of("mine", rng), [lines_of(f"p{number}", rng) for number in range(3)]
        found = []
        for _ in range(3):
            tables: list[Lines] = [list(lines) for lines in mine]
            for other in others:
                tables = [among(lines, own, rng) for lines, own in zip(tables, other, strict=True)]
            found.append(source(three, *tables).counts([three.domain.clique(("region", "ward", "events", "drug"))]))
        (clique,) = found[0]
        assert all((one[clique] == found[0][clique]).all() for one in found)
