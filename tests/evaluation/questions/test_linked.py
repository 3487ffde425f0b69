"""Questions to two linked tables: each household and each member is found once, noisy counts of members have the noise that is stated, and
what a limit of households says of members holds."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.evaluation.questions import linked
from dpsynth_core.evaluation.questions.answer import answer
from dpsynth_core.evaluation.questions.question import COUNT, SHARE, Question
from dpsynth_core.release.linked import pairs
from dpsynth_core.statistics.distances import in_wrong_cell
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER, Link
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.ranges import Chosen
from dpsynth_core.vocabulary.rows import Repeated, row_marginals

MOST = 4
LINK = Link(Domain.from_json({"region": 3}), Domain.from_json({"age": 4, "sex": 2}), MOST)


def drawn(number: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, Repeated]:
    """Households, owners, members; and their pairs. Larger households are younger, so that who counts once matters."""
    rng = np.random.default_rng(seed)
    households, sizes = rng.integers(0, 3, (number, 1)), rng.integers(0, MOST + 1, number)
    owners = np.repeat(np.arange(number), sizes)
    ages = np.minimum(rng.integers(0, 4, len(owners)), 4 - (sizes[owners] > 2) * 2 - 1)
    members = np.column_stack([ages, rng.integers(0, 2, len(owners))])
    return households, owners, members, pairs(LINK, households, owners, members)


@pytest.mark.parametrize("most", [1, 2, 4])
def test_each_household_and_each_member_is_found_once(most: int) -> None:
    link = Link(LINK.households, LINK.members, most)
    households, owners, members, _ = drawn(50, 1)
    kept = np.arange(len(owners)) - np.searchsorted(owners, owners) < most
    owners, members = owners[kept], members[kept]
    first, _, second = link.split(pairs(link, households, owners, members).codes)
    sizes = np.bincount(owners, minlength=50)
    assert sorted(map(tuple, first)) == sorted(map(tuple, np.column_stack([households, sizes])))
    assert sorted(map(tuple, second)) == sorted(map(tuple, np.column_stack([households[owners], members])))


def measured(codes: Repeated, sigma: float, rng: np.random.Generator) -> list[Measurement]:
    cliques = [LINK.domain.clique(r) for r in ((NUMBER,), ("region", NUMBER), (NUMBER, "age"))]
    counts = row_marginals(LINK.domain, codes, cliques)
    return [Measurement(r, counts[r] + rng.normal(0, sigma, counts[r].shape), sigma) for r in cliques]


def test_intervals_of_members_and_households_hold_as_often_as_they_say() -> None:
    """Seed 5. Of 600 intervals 95 % hold: fewer than 541 or more than 594 would be so far off with a chance below 1e-6 (binomial)."""
    households, owners, members, codes = drawn(2_000, 2)
    rng, held = np.random.default_rng(5), 0
    old, north = np.mean(members[:, 0] >= 2), np.sum(households[:, 0] == 1)
    for _ in range(200):
        noisy = measured(codes, 40.0 * LINK.records_each, rng)
        mine, theirs = (view(LINK, None, noisy, None) for view in (linked.of_members, linked.of_households))
        share = answer(mine, Question(SHARE, cells={"age": (2, 3)})).stated
        people, homes = (answer(known, Question(COUNT, among={"region": (1,)})).stated for known in (mine, theirs))
        true = (share, old), (people, np.sum(households[owners, 0] == 1)), (homes, north)
        held += sum(one.low <= value <= one.high for one, value in true)
    assert 541 <= held <= 594, held


def test_a_limit_of_households_is_one_of_members() -> None:
    """Of pairs of tables by number of members and age, near each other and far (seed 3)."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        p, q = (rng.dirichlet(np.full((MOST + 1) * 4, rng.uniform(0.05, 2))).reshape(MOST + 1, 4) for _ in range(2))
        w = np.array([0.0, 2.0, 2.0, 3.0, 4.0])
        mixed = rng.uniform(0, 0.3)
        p = (1 - mixed) * q + mixed * p
        members = [w @ table / (w @ table).sum() for table in (p, q)]
        stated = linked._share_of_members(in_wrong_cell(p, q), MOST, float((w @ q).sum()))
        assert in_wrong_cell(*members) <= stated + 1e-12


def test_a_household_has_a_member_that_meets_a_condition_where_one_does() -> None:
    link = Link(Domain.from_json({"region": 2}), Domain.from_json({"age": 12}), 2)
    rng = np.random.default_rng(4)
    sizes = rng.integers(0, 3, 300)
    codes = pairs(link, rng.integers(0, 2, (300, 1)), np.repeat(np.arange(300), sizes), rng.integers(0, 12, (sizes.sum(), 1)))
    wanted = {"one": [{"age": Chosen((0, 1))}], "other": [{"age": Chosen((2,))}]}
    known = linked.with_members(linked.of_households(link, codes, (), None), link, codes, wanted)
    assert known.codes is not None
    first, _, second = link.split(codes.codes)
    assert len(known.codes) == len(first)
    assert known.codes[:, -2:].sum() <= np.isin(second[:, -1], (0, 1, 2)).sum()
    assert (known.codes[first[:, 1] == 0, -2:] == 0).all()
    alone = first[:, 1] == 1
    assert known.codes[alone, -2].sum() == np.isin(second[: alone.sum(), -1], (0, 1)).sum()


def test_a_later_member_is_one_behind_the_first_in_the_order_of_the_rows() -> None:
    link = Link(Domain.from_json({"region": 2}), Domain.from_json({"age": 3}), 4)
    rng = np.random.default_rng(5)
    sizes = rng.integers(0, 5, 300)
    owners, ages = np.repeat(np.arange(300), sizes), rng.integers(0, 3, sizes.sum())
    codes = pairs(link, rng.integers(0, 2, (300, 1)), owners, ages[:, None])
    wanted = {"then": [{"age": Chosen((0,))}, {"age": Chosen((1,))}], "twice": [{"age": Chosen((2,))}, {"age": Chosen((2,))}]}
    known = linked.with_members(linked.of_households(link, codes, (), None), link, codes, wanted)
    assert known.codes is not None
    listed = ["".join(map(str, ages[owners == one])) for one in np.argsort(sizes, kind="stable")]
    assert [bool(flag) for flag in known.codes[:, -2]] == ["0" in text and "1" in text[text.index("0") :] for text in listed]
    assert [bool(flag) for flag in known.codes[:, -1]] == [text.count("2") > 1 for text in listed]
