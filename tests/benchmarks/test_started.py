"""Plans that are drawn at random: what is accepted runs to a bundle that verifies."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.started import outcome


@pytest.mark.slow  # each plan makes a release and verifies it
@pytest.mark.parametrize("number", range(8))
def test_an_accepted_plan_never_fails_after_its_charge(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    what, why = outcome(3, number)
    assert what != "FAILED", why
