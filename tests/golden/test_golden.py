"""A change of structure moves no number, no hash and no byte of a release. After a change that means to: see `goldens`."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from dpsynth_core.planning.spec import load_spec
from tests.golden import goldens

NAMES = tuple(goldens.specs())
TOLERANCE = 1e-7
"""Relative difference of two numbers that were worked out on different processors, where sums are added in another order."""


def assert_same(got: Any, expected: Any, where: str) -> None:
    """Equal to the letter but for the last digits of fractions."""
    if isinstance(expected, float) and isinstance(got, int | float):
        assert math.isclose(got, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE), f"{where}: {got} instead of {expected}"
    elif isinstance(expected, dict) and isinstance(got, dict):
        assert list(got) == list(expected), where
        for key, value in expected.items():
            assert_same(got[key], value, f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(got, list):
        assert len(got) == len(expected), where
        for number, (a, b) in enumerate(zip(got, expected, strict=True)):
            assert_same(a, b, f"{where}[{number}]")
    else:
        assert got == expected, where


@pytest.mark.parametrize("name", NAMES)
def test_a_seeded_spec_still_makes_the_same_release(name: str) -> None:
    made, kept = goldens.run(name), goldens.kept(name)
    assert_same(goldens.document(made), goldens.document(kept), name)
    if kept.codes is None:
        assert made.codes is None
    else:
        assert np.array_equal(made.codes, kept.codes)
        assert made.table.equals(kept.table)


@pytest.mark.parametrize("name", NAMES)
def test_digest_ledger_entry_and_bundle_keep_their_bytes(name: str) -> None:
    pinned = json.loads((goldens.FOLDER / name / "pins.json").read_text(encoding="utf-8"))
    assert goldens.pins(load_spec(goldens.FOLDER / name / "spec.json"), goldens.kept(name)) == pinned


@pytest.mark.parametrize("name", NAMES)
def test_the_goldens_are_the_specs_that_are_listed(name: str) -> None:
    written = json.loads((goldens.FOLDER / name / "spec.json").read_text(encoding="utf-8"))
    assert {**goldens.specs()[name], "data": {"path": f"../{goldens.PEOPLE}"}} == written
