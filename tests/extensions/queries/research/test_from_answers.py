"""Every file of a release whose mechanism measures written queries follows from the kernel's answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dpsynth_core as dps
from tests.bundle.invented_people import COLUMNS, people
from tests.bundle.test_from_answers import differing


def planned(seed: int) -> dps.Plan:
    asked: dict[str, Any] = {"queries": ["all of sex=f, age>=60"], "mechanism": "rap"}
    return dps.plan(people(seed), {name: COLUMNS[name] for name in ("age", "sex")}, epsilon=4, tables=2, **asked)


def test_every_file_follows_from_the_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    assert differing(planned(1).run(progress=False).made, planned(2).sealed) == set()
