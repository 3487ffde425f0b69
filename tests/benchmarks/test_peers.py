"""Other programs are measured as they are: in their own environments, with their failures written down and missing ones named."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import peers

PEOPLE = "sex,smokes\n" + "f,no\nm,yes\n" * 100
DOMAIN = {
    "version": 1,
    "attributes": [
        {"name": name, "kind": "categorical", "categories": values, "other": False, "missing": False}
        for name, values in (("sex", ["f", "m"]), ("smokes", ["no", "yes"]))
    ],
}
ECHO = """
import json, sys
from pathlib import Path
if "--versions" in sys.argv:
    print(json.dumps({"python": "0.0"}))
    sys.exit()
assert json.loads(Path(sys.argv[4]).read_text()) == {"sex": 2, "smokes": 2}
assert sys.argv[sys.argv.index("--epsilon") + 1] == "1.0"
Path(sys.argv[sys.argv.index("--out") + 1]).write_bytes(Path(sys.argv[3]).read_bytes())
"""
"""Writes back the table that it was given: rows without any error, if they are read as what they are."""
SPINNING = ECHO.replace("assert json", "while True: pass\nassert json")
FAILING = ECHO.replace("assert json", "raise ValueError('out of words')\nassert json")


def stand_in(place: Path, name: str, script: str) -> None:
    """An environment whose Python runs a script whatever it is told to run."""
    (folder := place / name / "bin").mkdir(parents=True)
    (folder / "script.py").write_text(script, encoding="utf-8")
    (folder / "python").write_text(f'#!/bin/sh\nexec {sys.executable} {folder / "script.py"} "$@"\n', encoding="utf-8")
    (folder / "python").chmod(0o755)


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "domain.json").write_text(json.dumps(DOMAIN), encoding="utf-8")
    table = ["--data", str(tmp_path / "people.csv"), "--domain", str(tmp_path / "domain.json"), "--workload", "all-2way"]
    return [*table, "--results", str(tmp_path), "--place", str(tmp_path / "peers"), "--runs", "1", "--longest", "2"]


def test_rows_of_a_peer_are_compared_and_a_missing_peer_is_named(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in(tmp_path / "peers", "smartnoise", ECHO)
    peers.main([*options, "--peers", "smartnoise-mst", "mostlyai"])
    (run,) = json.loads((tmp_path / "peers.json").read_text(encoding="utf-8"))["runs"]
    assert (run["peer"], run["error"], run["versions"]) == ("smartnoise-mst", 0, {"python": "0.0"})
    assert "mostlyai is left out" in capsys.readouterr().err
    table = (tmp_path / "peers.md").read_text(encoding="utf-8")
    assert "| MST (SmartNoise) | 1 | 1 | 0.0000 |" in table
    assert "- MST (SmartNoise): `pip install" in table


@pytest.mark.parametrize(("script", "words"), [(SPINNING, "stopped after 2 processor seconds"), (FAILING, "out of words")])
def test_a_run_that_does_not_end_or_fails_is_written_down(script: str, words: str, options: list[str], tmp_path: Path) -> None:
    stand_in(tmp_path / "peers", "dpsynth", script)
    peers.main([*options, "--peers", "dpsynth-mst"])
    (run,) = json.loads((tmp_path / "peers.json").read_text(encoding="utf-8"))["runs"]
    assert "error" not in run
    assert words in run["failed"]
