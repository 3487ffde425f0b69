"""Rules across two linked tables: those that the guide prints can be stated, and numbers of members that cannot be are known."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from dpsynth_core.vocabulary.across import Number, can_hold
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "linked-tables.md"


def domain(**columns: list[str]) -> Domain:
    listed = [{"name": name, "kind": "categorical", "categories": values} for name, values in columns.items()]
    return Domain.from_json({"version": 1, "attributes": [one | {"other": False, "missing": False} for one in listed]})


def test_the_rules_of_the_guide_can_be_stated() -> None:
    """One of them says what a column of members must be, which holds of another member too."""
    text = GUIDE.read_text(encoding="utf-8")
    rules = json.loads(re.search(r"^    (\[\{.*?\}\])$", text, flags=re.MULTILINE | re.DOTALL)[1])  # type: ignore[index]
    ages = {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 100, "other": False, "missing": False}
    roles = domain(role=["head", "mother", "child"]).to_json()["attributes"]
    members = Domain.from_json({"version": 1, "attributes": [*roles, ages]})
    link = Link.ruled(domain(tenure=["owner", "student hall"]), members, 3, rules)
    assert {rule.target for rule in link.domain.impossible} >= {"role", "role of another"}
    assert [number.column for number in link.numbers] == ["role", "role"]


@pytest.mark.parametrize("seed", range(30))
def test_numbers_can_hold_where_some_household_has_them(seed: int) -> None:
    rng, members = np.random.default_rng(seed), domain(role=["a", "b", "c"])
    numbers = []
    for _ in range(3):
        codes = tuple(int(code) for code in np.flatnonzero(rng.random(3) < 0.5)) or (0,)
        numbers.append(Number("role", codes, int(rng.integers(0, 3)), bool(rng.random() < 0.5)))
    for size in range(4):
        every = np.array(list(product(range(3), repeat=size)), dtype=np.int64).reshape(3**size, size)
        sizes = np.full(len(every), size)
        kept = (sum(number.broken(sizes, every) for number in numbers) == 0).any()
        assert can_hold(numbers, members, size) == kept, f"{numbers}, {size} members, seed {seed}"
