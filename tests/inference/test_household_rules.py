"""Rules of two linked tables: every drawn and refined household keeps to them, judged member by member."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.household_rules import Rules
from dpsynth_core.inference.households import LinkedCodes, draw
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.measurement import Clique
from tests.refusals import refused

HOUSEHOLDS, MEMBERS = Domain.from_json({"workers": 3, "region": 2}), Domain.from_json({"role": 3, "age": 4})
HEAD, CHILD = 0, 2
RULES = [
    {"members_with": {"role": ["0"]}, "exactly": 1},
    {"members_with": {"age": ["3"]}, "at_most": 2},
    {"if": {"members": ["1"]}, "then": {"workers": ["0", "1"]}},
    {"never": {"region": ["1"], "age": ["3"]}},
    {"never": {"role": ["2"], "age": ["2", "3"], "role of another": ["0"], "age of another": ["0", "1"]}},
    {"never": {"region": ["0"], "age": ["0"], "age of another": ["3"]}},
    {"never": {"role": ["0"], "age": ["0"]}},
]
LINK = Link.ruled(HOUSEHOLDS, MEMBERS, 4, RULES)


def kept(household: tuple[int, ...], members: list[tuple[int, ...]]) -> bool:
    """RULES, written out."""
    workers, region = household
    roles, ages = [role for role, _ in members], [age for _, age in members]
    pairs = [(one, other) for place, one in enumerate(members) for another, other in enumerate(members) if place != another]
    return (
        roles.count(HEAD) == min(1, len(members))
        and ages.count(3) <= 2
        and not (len(members) == 1 and workers == 2)
        and not (region == 1 and 3 in ages)
        and not any(a == CHILD and x >= 2 and b == HEAD and y <= 1 for (a, x), (b, y) in pairs)
        and not any(region == 0 and x == 0 and y == 3 for (_, x), (_, y) in pairs)
        and (HEAD, 0) not in members
    )


def every(most: int) -> LinkedCodes:
    """All households of up to so many members."""
    one = [*product(range(3), range(4))]
    made = [(h, m) for h in product(range(3), range(2)) for size in range(most + 1) for m in product(one, repeat=size)]
    members = np.zeros((len(made), most, 2), dtype=np.int64)
    for place, (_, owned) in enumerate(made):
        members[place, : len(owned)] = np.array(owned).reshape(-1, 2)
    return LinkedCodes(np.array([h for h, _ in made]), np.array([len(m) for _, m in made]), members)


def judged(codes: LinkedCodes) -> NDArray[np.bool_]:
    rows = zip(codes.households, codes.sizes, codes.members, strict=True)
    return np.array([kept(tuple(h), [tuple(one) for one in members[:size].tolist()]) for h, size, members in rows])


@pytest.mark.parametrize("most", [1, 2, 3])
def test_what_breaks_a_rule_is_found_in_every_household(most: int) -> None:
    codes = every(most)
    broken = Rules(Link.ruled(HOUSEHOLDS, MEMBERS, most, [rule for rule in RULES if most > 1 or "of another" not in str(rule)])).broken(
        codes.households, codes.sizes, codes.members
    )
    expected = judged(codes)
    assert ((broken == 0) == expected).all()
    assert 0 < expected.sum() < len(expected)


class Careless:
    """Random tables and rows that keep to none of the rules."""

    def __init__(self, domain: Domain) -> None:
        self.domain, self.rng = domain, np.random.default_rng(1)

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        return self.rng.exponential(1.0, self.domain.sizes(clique))

    def rows(self, n: int, _: object, rng: np.random.Generator) -> NDArray[np.int32]:
        return np.column_stack([rng.integers(size, size=n) for size in self.domain.sizes(self.domain.names)]).astype(np.int32)


@pytest.mark.parametrize("seed", range(3))
def test_drawn_and_refined_households_keep_to_every_rule(seed: int) -> None:
    two = tuple(name for name in LINK.domain.names if name not in HOUSEHOLDS and "alike" not in name)
    one = tuple(name for name in LINK.domain.names if not name.endswith(" of another") and "alike" not in name)
    alike = {name: Careless(LINK.domain) for name in LINK.members.names}
    made = draw(Careless(LINK.domain.keep(one)), Careless(LINK.domain.keep(two)), alike, LINK, 400, np.random.default_rng(seed))
    assert judged(made).all()
    assert (made.sizes > 1).sum() > 40


@pytest.mark.parametrize("seed", range(12))
def test_rules_can_hold_where_some_household_keeps_to_them(seed: int) -> None:
    """Of every household of up to two members. Random rules: seed."""
    rng, codes = np.random.default_rng(seed), every(2)
    sizes = {"workers": 3, "region": 2, "members": 3, "role": 3, "age": 4, "role of another": 3, "age of another": 4}
    rules: list[dict[str, object]] = [{"members_with": {"role": ["0"]}, "exactly": int(rng.integers(0, 2))}]
    while len(rules) < 14:
        columns = rng.choice([*sizes], 2, replace=False)
        some = {str(one): [*map(str, rng.permutation(sizes[one])[: rng.integers(1, sizes[one])])] for one in columns}
        rules.append({"never": some})
    link = Rules(Link.ruled(HOUSEHOLDS, MEMBERS, 2, rules))
    broken = link.broken(codes.households, codes.sizes, codes.members)
    for size in range(3):
        assert link.can_hold(size) == (broken[codes.sizes == size] == 0).any(), f"{rules}, {size} members, seed {seed}"


@pytest.mark.parametrize("most", [1, 2, 3])
def test_where_every_drawn_household_breaks_a_rule_they_become_copies_of_one_that_keeps_all(most: int) -> None:
    rules = [{"members_with": {"role": ["0"]}, "exactly": 1}, {"never": {"role": ["0"], "age": ["1", "2"]}}]
    link = Rules(Link.ruled(HOUSEHOLDS, MEMBERS, most, rules))
    households, sizes, members = np.zeros((5, 2), int), np.ones(5, int), np.ones((5, most, 2), int)
    assert link.broken(households, sizes, members).all()
    link.keep(households, sizes, members, np.random.default_rng(0))
    assert not link.broken(households, sizes, members).any()
    for size in range(most + 1):
        found = link.example(size)
        assert len(found) == len(HOUSEHOLDS.names) + 1 + size * len(MEMBERS.names)
        assert found[0, "members"] == size


def test_rules_that_no_household_can_keep_are_refused() -> None:
    rules = [{"members_with": {"role": ["0"]}, "exactly": 1}, {"never": {"members": ["0", "1", "2"], "role": ["0"]}}]
    link = Link.ruled(HOUSEHOLDS, MEMBERS, 2, rules)
    with pytest.raises(InputError, match="the budget is spent"):
        Rules(link).keep(np.zeros((5, 2), int), np.ones(5, int), np.ones((5, 2, 2), int), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({"members_with": {"role": ["0"]}}, "how many"),
        ({"members_with": {"role": ["0"]}, "exactly": -1}, "how many"),
        ({"members_with": {"role": ["0"], "age": ["1"]}, "at_most": 1}, "more than one column"),
        ({"members_with": {"region": ["0"]}, "at_most": 1}, "region"),
        ({"never": {"role": ["9"]}}, "role"),
        ("one head", "not a rule"),
    ],
)
def test_a_rule_that_says_nothing_is_refused(rule: object, problem: str) -> None:
    refused(Link.ruled, HOUSEHOLDS, MEMBERS, 2, [rule], saying=problem)
