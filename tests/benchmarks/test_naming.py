"""What reports say of trials is what `benchmarks.naming` counted."""

from __future__ import annotations

import re
from pathlib import Path

from dpsynth_core.report.facts import PICKED
from dpsynth_core.report.verdict import ENOUGH

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "naming.md"


def test_reports_state_the_trials_that_were_made() -> None:
    tables = RESULTS.read_text(encoding="utf-8").split("\n\n")
    heads, _, *lines = next(table for table in tables if table.startswith("| table | mechanism | epsilon | releases |")).splitlines()
    columns, at_1 = [name.strip() for name in heads.strip("|").split("|")], [line for line in lines if line.split("|")[3].strip() == "1.0"]

    def counted(name: str) -> int:
        place = columns.index(name)
        found = (re.match(r"(\d+) of ", line.strip("|").split("|")[place].strip()) for line in at_1)
        return sum(int(one[1]) for one in found if one)

    named, wrong, failed = map(counted, ("named good", "of these wrong", "bound fails there"))
    assert f"{wrong} of {named} tables called so were not" in ENOUGH
    assert f"of {named} tables that were called good enough in trials at epsilon 1, {failed} were above theirs" in PICKED
