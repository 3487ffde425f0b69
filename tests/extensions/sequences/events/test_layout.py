"""Codes of three tables as records, and back."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.sequences.events.layout import EVENTS
from tests.extensions.sequences.events.tables import link


@pytest.mark.parametrize("everybody", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_records_hold_each_person_row_and_event_once_and_keep_every_rule(seed: int, everybody: bool) -> None:
    rng = np.random.default_rng(seed)
    three, people = link(4, 3, everybody=everybody), 60
    persons, sizes = rng.integers(0, 2, (people, 1)).astype(np.int32), rng.integers(int(everybody), 5, people)
    parts = [rng.integers(0, 2, (people, 4, 1)), rng.integers(0, 4, (people, 4, 1)), rng.integers(0, 2, (people, 4, 6))]
    rows = np.concatenate(parts, axis=2).astype(np.int32)
    made = three.repeated(persons, sizes, rows)
    assert len(made) == people * three.records_each
    for names, impossible in three.domain.zeros.items():
        assert not impossible[tuple(made.codes[:, three.domain.position(name)] for name in names)].any()
    households, owners, members = three.split(made.codes)
    order = np.argsort(sizes, kind="stable")
    assert (households == np.column_stack([persons, sizes])[order]).all()
    expected, events, before = list[int](), list[list[int]](), 0
    for size in range(5):
        some = np.flatnonzero(sizes == size)
        for place in range(max(1, size)):
            for index, person in enumerate(some):
                row = before + place * len(some) + index
                own = rows[person, place] if size else np.zeros(8, np.int32)
                expected += [row] * int(own[1])
                events += [list(own[2 + 2 * i : 4 + 2 * i]) for i in range(own[1])]
        before += max(1, size) * len(some)
    found, codes = three.events_of(made.codes)
    assert (found == expected).all()
    assert codes.tolist() == [[int(code) for code in one] for one in events]
    assert len(members) == len(owners) == sizes.sum()


def test_the_same_records_are_counted_whichever_way_they_come() -> None:
    rng, three = np.random.default_rng(1), link(3, 2)
    persons, sizes = rng.integers(0, 2, (9, 1)).astype(np.int32), rng.integers(0, 4, 9)
    rows = np.concatenate([rng.integers(0, 2, (9, 3, 1)), rng.integers(0, 3, (9, 3, 1)), rng.integers(0, 2, (9, 3, 4))], axis=2)
    made = three.repeated(persons, sizes, rows.astype(np.int32))
    mine = np.repeat(made.codes, made.times, axis=0)
    theirs = np.concatenate([np.repeat(codes, each, axis=0) for each, codes in three.records(persons, sizes, rows.astype(np.int32))])
    assert sorted(map(tuple, mine.tolist())) == sorted(map(tuple, theirs.tolist()))
    assert EVENTS in three.domain.names
