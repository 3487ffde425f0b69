"""What the guide's page on rows in order prints can be typed, and does what it says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from dpsynth_core import cli
from dpsynth_core.extensions.sequences import hospital, layout
from dpsynth_core.vocabulary.domain import Domain

TEXT = (Path(__file__).parents[3] / "docs" / "guide" / "rows-in-order.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    python -m dpsynth_core (.*)$", TEXT, flags=re.MULTILINE)


def test_the_commands_make_a_release_that_looks_like_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As printed, of fewer patients."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "books"))
    for command in COMMANDS:
        fewer = ["--patients", "400"] if command.startswith("hospital") else []
        assert cli.main([*shlex.split(command), *fewer]) == 0
    rows = pd.read_csv("release/rows-in-order.csv")
    printed = re.findall(r'^    ("patient".*)$', TEXT, flags=re.MULTILINE)
    assert Path("release/rows-in-order.csv").read_text().splitlines()[0] == printed[0]
    assert rows[hospital.KEY].is_monotonic_increasing
    assert rows.groupby(hospital.KEY).size().max() <= 8
    assert (rows.groupby(hospital.KEY)[[*hospital.CONSTANT]].nunique() == 1).all(axis=None)


def test_the_rules_of_the_guide_can_be_stated() -> None:
    printed = re.findall(r"^    (\[\{.*?\}\])$", TEXT, flags=re.MULTILINE)
    assert len(printed) == 2
    rules = [rule for text in printed for rule in json.loads(text)]
    columns = hospital.domain()
    persons = Domain(tuple(columns[name] for name in hospital.CONSTANT))
    rows = columns.keep([name for name in columns.names if name not in hospital.CONSTANT])
    two = layout.linked(persons, rows, 8, rules, {"order": [hospital.ORDER], "gap": [hospital.GAP], "constant": [*hospital.CONSTANT]})
    rule = next(rule for rule in two.domain.impossible if set(rule.attributes) == {layout.LAST, "discharge"})
    impossible = rule.cells([two.domain[name].size for name in rule.attributes])
    died = (0, hospital.DIED) if rule.attributes[0] == layout.LAST else (hospital.DIED, 0)
    assert impossible[died]
    assert impossible.sum() == 1
    gap = two.domain[hospital.GAP]
    timed = next(one for one in two.stated if set(one.attributes) == {layout.START, hospital.GAP})
    lacking = timed.cells([two.domain[name].size for name in timed.attributes])
    lacking = lacking if timed.attributes[0] == layout.START else lacking.T
    assert lacking[1:3, gap.missing_code].all()  # second and later rows
    assert lacking.sum() == 2
