"""Keys and target as names of columns suggest them."""

from __future__ import annotations

import pytest

from dpsynth_core.extensions.attacks.roles import MOST_KEYS, proposed
from dpsynth_core.sources import demo
from dpsynth_core.vocabulary.domain import Domain


def roles(*names: str) -> tuple[tuple[str, ...], str]:
    return proposed(Domain.from_json(dict.fromkeys(names, 3)))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("diagnosis", "age", "sex", "lab_1"), (("age", "sex"), "diagnosis")),
        (("AgeGroup", "monthlyIncome", "ZIP-code"), (("AgeGroup", "ZIP-code"), "monthlyIncome")),
        (("geschlecht", "alter", "krankheit"), (("geschlecht", "alter"), "krankheit")),
        (("a", "b", "c"), (("a", "b"), "c")),
        (("age", "sex"), (("age",), "sex")),
        (("x", "age"), (("age",), "x")),
        (("health", "income"), (("income",), "health")),
    ],
)
def test_roles_follow_from_names(names: tuple[str, ...], expected: tuple[tuple[str, ...], str]) -> None:
    assert roles(*names) == expected


def test_roles_of_the_demo() -> None:
    keys, target = proposed(demo.demo_domain())
    assert keys == ("age", "sex", "region", "marital_status", "household_size")
    assert target == "health"


def test_a_target_is_never_a_key_and_keys_are_few() -> None:
    for names in (("age", "sex", "region", "country", "city", "town", "zip"), tuple("abcdefghij"), ("age", "age_2")):
        keys, target = roles(*names)
        assert target in names
        assert target not in keys
        assert 1 <= len(keys) <= MOST_KEYS
