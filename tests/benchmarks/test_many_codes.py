"""Releases of a column of 1,000 codes, made and verified by the command line, with a public table for the mechanisms that use one."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import many_codes
from dpsynth_core.mechanisms.registry import MECHANISMS

NEEDS_TWO_VALUES = ("oraclequery", "learn")


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_release_of_many_codes_verifies_or_is_refused_before_a_charge(mechanism: str, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    many_codes.write(tmp_path, 1_000, 300)
    run = many_codes.outcome(tmp_path, tmp_path / "home", mechanism, 1.0, 240)
    assert run["outcome"] == (many_codes.REFUSED if mechanism in NEEDS_TWO_VALUES else many_codes.VERIFIED), run
    if mechanism in NEEDS_TWO_VALUES:
        assert "merge its values into two" in run["said"]
