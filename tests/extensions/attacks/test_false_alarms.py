"""Comparisons as a whole: how often they are wrong about sound rows, and what they find. `benchmarks/attacks.py` makes real releases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.table import spec
from dpsynth_core.extensions.attacks.comparing import FEWEST, FIELD, MOST, check, compared, counts
from dpsynth_core.extensions.attacks.measures import ATTACKS, People, Roles
from dpsynth_core.extensions.attacks.outcomes import ABOVE, NOTHING, Count, difference_by_chance, outcome
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import ZoneError, combine, curator_only, publishable, released
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.attacker import gdp_power
from dpsynth_core.release import synthesis
from dpsynth_core.sources import demo
from dpsynth_core.sources.sampling import SampledSource

SIZES = (9, 7, 6, 5, 4, 4, 3)
ROLES = Roles((0, 1, 2), 4)
MU = 0.237
"""Of a release of epsilon 1 and delta 1e-6."""
CEILING = partial(gdp_power, MU)


def world(rng: np.random.Generator, people: int) -> NDArray[np.int64]:
    """Skewed codes of people in three hidden classes, so that columns depend on each other."""
    group = rng.integers(0, 3, people)
    return np.stack([np.minimum(rng.geometric(0.25 + 0.15 * group) - 1, size - 1) for size in SIZES], axis=1)


def noisy(rng: np.random.Generator, inside: NDArray[np.integer], sizes: Sequence[int] = SIZES) -> NDArray[np.int64]:
    """Rows drawn from noisy counts of each column: a release of mu-GDP, with equal noise for each column."""
    columns = []
    for column, size in enumerate(sizes):
        counts = np.bincount(inside[:, column], minlength=size) + rng.normal(0, np.sqrt(len(sizes)) / MU, size)
        shares = np.maximum(counts, 0)
        columns.append(rng.choice(size, len(inside), p=shares / shares.sum()))
    return np.stack(columns, axis=1)


def sound(seed: int, inside: int = 200, outside: int = 100) -> People:
    """People of both groups, and a sound release of the first."""
    rng = np.random.default_rng((seed, 55))
    people = world(rng, inside + outside)
    return People(SIZES, people[:inside], people[inside:], noisy(rng, people[:inside]))


def said(people: People) -> list[str]:
    """The outcome of each attack that can be tried."""
    tried = [counts(found) for _, attack in ATTACKS if len((found := attack(people, ROLES)).inside)]
    return [outcome(inside, outside, CEILING, len(tried)) for inside, outside in tried]


@pytest.mark.parametrize("seeds", [range(50), pytest.param(range(50, 200), marks=pytest.mark.slow)])
def test_sound_releases_are_never_more_than_epsilon_allows(seeds: range) -> None:
    """At the stated level, 1 in 1,000, two or more of 200 have a probability of 2 %, four or more one of 6e-5. None was seen."""
    assert [one for seed in seeds for one in said(sound(seed)) if one == ABOVE] == []


@pytest.mark.parametrize("attack", range(len(ATTACKS)))
def test_chance_is_taken_for_a_difference_no_more_often_than_said(attack: int) -> None:
    """Rows are of other people, so that any difference is chance. At level 5 %, 27 or more of 200 have a probability of 5e-6."""
    _, works = ATTACKS[attack]
    small = 0
    for seed in range(200):
        people = world(np.random.default_rng((seed, 56)), 500)
        tried = works(People(SIZES, people[:200], people[200:300], people[300:]), ROLES)
        small += difference_by_chance(*(Count(int(one.sum()), len(one)) for one in (tried.inside, tried.outside))) <= 0.05
    assert small < 27


@pytest.mark.parametrize("seed", range(3))
def test_a_twentieth_of_real_rows_is_found_with_4000_people_and_12_columns(seed: int) -> None:
    """With the demo's columns nearly everybody is alone with their record. In narrow tables, rows are the same by chance."""
    source = synthesis.open_source(Plan.of(spec({"kind": "demo"}, demo.demo_domain(), "independent", {"epsilon": 1.0})))
    sizes, rng = tuple(attribute.size for attribute in demo.demo_domain()), np.random.default_rng((seed, 57))
    people = rng.permutation(cast(SampledSource, source).sample(6_000))
    rows = noisy(rng, people[:4_000], sizes)
    roles = Roles((0, 1, 2, 4, 9), 10)
    for real, expected in ((0, False), (200, True)):
        rows[:real] = people[:real]
        found = compared(People(sizes, people[:4_000], people[4_000:], rows), roles, CEILING)
        assert (ABOVE in [one.outcome for one in found]) == expected


def test_a_copy_is_found_in_each_comparison() -> None:
    for seed in range(20):
        people = sound(seed)
        assert ABOVE in said(replace(people, rows=people.inside))


def test_each_share_stands_beside_its_control_and_its_limit() -> None:
    for one in compared(sound(3, 400, 200), ROLES, CEILING):
        assert one.low <= one.inside.share - one.outside.share <= one.high
        assert one.allowed == pytest.approx(float(CEILING(np.array([one.outside.share]))[0]))
        assert one.outside.people >= 1
        assert one.copy.people == one.inside.people


def test_people_who_are_unlike_those_of_the_table_are_no_defect_when_attacks_work_better_on_them() -> None:
    rng = np.random.default_rng(0)
    inside, outside = world(rng, 400), np.zeros((200, len(SIZES)), dtype=np.int64)
    outside[:, 0] = np.arange(200) % 3
    found = {one.attack: one for one in compared(People(SIZES, inside, outside, outside), ROLES, CEILING)}
    (named,) = (one for title, one in found.items() if title.startswith("Target named"))
    assert named.outcome not in (NOTHING, ABOVE)
    assert named.high < 0


def test_too_few_people_and_the_table_itself_are_refused() -> None:
    people = world(np.random.default_rng(0), 200)
    for inside, outside in ((people[: FEWEST - 1], people), (people, people[: FEWEST - 1]), (people, people.copy())):
        with pytest.raises(InputError):
            compared(People(SIZES, inside, outside, people), ROLES, CEILING)


def wide(rng: np.random.Generator, people: int) -> NDArray[np.int64]:
    """Records of which nearly each is unique."""
    return rng.integers(0, 9, (people, 8))


def few_cells(rng: np.random.Generator, people: int) -> NDArray[np.int64]:
    """Records of which nearly everybody's is somebody else's too."""
    return rng.integers(0, (3, 2, 2), (people, 3))


def is_refused(inside: NDArray[np.int64], outside: NDArray[np.int64]) -> bool:
    try:
        check(inside, outside)
    except InputError as error:
        return str(error) == f"{FIELD}: records of the table itself are among them; give a file of people who did not take part"
    return False


@pytest.mark.parametrize("records", [wide, world, few_cells])
def test_the_table_in_another_order_is_refused(records: Callable[[np.random.Generator, int], NDArray[np.int64]]) -> None:
    rng = np.random.default_rng(1)
    people = records(rng, 400)
    assert is_refused(people, rng.permutation(people))


def test_parts_and_samples_of_the_table_are_refused() -> None:
    rng = np.random.default_rng(2)
    for draw in (wide, world):
        people, others = draw(rng, 2_000), draw(rng, 2_000)
        assert is_refused(people, rng.permutation(people)[1:])
        assert is_refused(people, rng.permutation(people)[:200])
        assert is_refused(people, rng.permutation(np.concatenate([people, others])))
    people = wide(rng, 150_000)
    assert is_refused(*(people[rng.choice(len(people), MOST, replace=False)] for _ in range(2)))


@pytest.mark.parametrize("records", [wide, world, few_cells])
def test_people_who_have_the_same_records_by_chance_are_not(records: Callable[[np.random.Generator, int], NDArray[np.int64]]) -> None:
    """Also if the table has everybody's record, and if half of its people have a twin."""
    rng = np.random.default_rng(3)
    for inside, outside in ((500, 500), (2_000, 300), (300, 2_000)) * 60:
        people = records(rng, inside + outside)
        twins = rng.permutation(np.concatenate([people, people]))[: inside + outside]
        assert not is_refused(people[:inside], people[inside:])
        assert not is_refused(twins[:inside], twins[inside:])
    everybody = np.concatenate([few_cells(rng, 5_000), few_cells(rng, 400)])
    assert not is_refused(everybody[:5_000], everybody[5_000:])


def test_a_few_people_who_took_part_are_not_told() -> None:
    rng = np.random.default_rng(4)
    people = wide(rng, 1_000)
    assert not is_refused(people[:600], people[580:])


def test_what_is_found_cannot_be_published() -> None:
    people = world(np.random.default_rng(0), 300)
    groups = curator_only(people[:200]), curator_only(people[200:]), released(people[:100])
    found = combine(lambda *of: compared(People(SIZES, *of), ROLES, CEILING), *groups)
    with pytest.raises(ZoneError):
        publishable(found, "attacks")
    assert repr(found) == "Curator-only()"
