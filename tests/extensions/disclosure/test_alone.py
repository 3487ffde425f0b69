"""How many cells have one record: the number is what its definition says, and a person moves it by what is charged, and by no more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, combinations_with_replacement, product
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsynth_core.extensions.disclosure.operations import measure_alone
from dpsynth_core.extensions.disclosure.uniques import single
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from tests.privacy.tables import GlassNoise, table
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 2, "b": 2})
CELLS = tuple(product(range(2), repeat=2))
PAIR: Clique = ("a", "b")
UNITS = pytest.mark.parametrize("unit", [Unit(relation, rows) for relation in ("add-remove", REPLACE) for rows in (1, 2)], ids=str)
Owned = tuple[int, ...]
"""Numbers of the cells of one person's records."""
ROWS = st.lists(st.sampled_from(CELLS), max_size=8)
CHOSEN = st.lists(st.booleans(), min_size=4, max_size=4)


def asked(rows: Any, unit: Unit, cells: dict[Clique, np.ndarray]) -> tuple[np.ndarray, float]:
    """What noise is added to, and the sensitivity that is charged."""
    glass = GlassNoise()
    kernel = PrivacyKernel(table(DOMAIN, rows), unit, 1e9, glass)
    measure_alone(cast(Any, kernel), cells, 1.0)
    (event,) = kernel.events
    assert isinstance(event, Gaussian)
    return glass.seen[0][0], event.l2


def by_definition(rows: Any, chosen: Any) -> int:
    """The number of chosen cells that exactly one record is in, counted one by one."""
    return sum(rows_in == 1 and bool(np.reshape(chosen, (2, 2))[cell]) for cell, rows_in in Counter(rows).items())


@settings(max_examples=200, deadline=None)
@given(ROWS, CHOSEN, st.lists(st.booleans(), min_size=2, max_size=2))
def test_cells_with_exactly_one_record_are_counted(rows: Any, chosen: Any, some: Any) -> None:
    cells = {PAIR: np.array(chosen).reshape(2, 2), ("b",): np.array(some)}
    of_b = Counter(b for _, b in rows)
    assert asked(rows, Unit(), cells)[0].tolist() == [by_definition(rows, chosen), sum(some[b] and of_b[b] == 1 for b in range(2))]


def belongings(unit: Unit) -> list[Owned]:
    return list(chain.from_iterable(combinations_with_replacement(range(4), size) for size in range(1, unit.max_rows_per_person + 1)))


def neighbours(people: tuple[Owned, ...], unit: Unit) -> Iterator[tuple[Owned, ...]]:
    """All tables that differ in one person of `people`. Whoever is added to a table is removed from the other one."""
    for place in range(len(people)):
        others = people[:place] + people[place + 1 :]
        yield from ((*others, owned) for owned in belongings(unit)) if unit.relation == REPLACE else (others,)


@UNITS
def test_by_brute_force_one_person_moves_the_number_by_what_is_charged(unit: Unit) -> None:
    """All tables of up to three people over four cells, all their neighbours, and all 16 sets of chosen cells."""
    sets = np.array(list(product([0, 1], repeat=4)))

    def numbers(people: tuple[Owned, ...]) -> np.ndarray:
        counts = np.bincount(np.array(list(chain.from_iterable(people)), dtype=np.int64), minlength=4)
        return np.asarray(sets @ (counts == 1))

    most = 0
    for size in range(1, 4):
        for people in combinations_with_replacement(belongings(unit), size):
            here = numbers(people)
            most = max(most, *(int(np.abs(here - numbers(other)).max()) for other in neighbours(people, unit)))
    assert most == unit.marginal_l1 == asked([], unit, {PAIR: np.ones((2, 2), dtype=np.bool_)})[1]


@UNITS
def test_some_person_moves_several_numbers_by_what_is_charged_together(unit: Unit) -> None:
    """The same cells under two names of columns: a person changes both numbers alike, and all of it is charged."""
    domain = Domain.from_json({"a": 4, "b": 4})
    both = {("a",): np.ones(4, dtype=np.bool_), ("b",): np.ones(4, dtype=np.bool_)}
    mine = range(unit.max_rows_per_person)
    before = [*mine, *(mine if unit.relation == REPLACE else ())]
    after = [*mine, *(2 + cell for cell in mine)]
    found = []
    for rows in (before, after):
        glass = GlassNoise()
        kernel = PrivacyKernel(table(domain, [(cell, cell) for cell in rows]), unit, 1e9, glass)
        measure_alone(cast(Any, kernel), both, 1.0)
        found.append(glass.seen[0][0])
    assert np.linalg.norm(found[0] - found[1]) == pytest.approx(unit.errors_l2(2))
    assert kernel.events[0].l2 == unit.errors_l2(2)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "cells",
    [{}, {PAIR: np.ones(4, dtype=np.bool_)}, {PAIR: np.ones((2, 2))}, {("b", "a"): np.ones((2, 2), dtype=np.bool_)}],
    ids=["none", "another shape", "numbers", "another order"],
)
def test_what_is_no_question_is_refused_before_the_charge(cells: Any) -> None:
    kernel = PrivacyKernel(table(DOMAIN, [(0, 0)]), Unit(), 1.0, GlassNoise())
    refused(lambda: measure_alone(cast(Any, kernel), cells, 1.0), kind=ValueError)
    assert kernel.events == ()


def test_combinations_that_one_row_has_are_in_the_order_of_the_domain() -> None:
    rows = np.array([[0, 1], [1, 1], [1, 1]], dtype=np.int32)
    assert single(DOMAIN, rows, ("b", "a")).tolist() == single(DOMAIN, rows, PAIR).tolist() == [[False, True], [False, False]]
    assert single(DOMAIN, rows, ("a",)).tolist() == [True, False]
