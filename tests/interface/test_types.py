"""What a user's program looks like to a strict type checker."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "docs/guide/python.md", "docs/tutorials/first-release-in-python.md")


@pytest.mark.slow  # reads the types of all that the program is made of
def test_the_printed_programs_pass_a_strict_type_checker(tmp_path: Path) -> None:
    """And a wrong one does not: an option that there is not, a statistic that nobody knows, an answer taken for several."""
    for page in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
        assert blocks
        (tmp_path / f"{Path(page).stem.replace('-', '_').lower()}.py").write_text("\n".join(blocks), encoding="utf-8")
    wrong = ('dps.plan(0, {}, epsilon=1, sead=3)', 'release.ask("mode")', 'release.ask("mean", "age").frame', "dps.synthesise")
    lines = ["import dpsynth_core as dps", 'release = dps.open("release.zip")', *wrong]
    (tmp_path / "wrong.py").write_text("\n".join(lines), encoding="utf-8")
    options = ("--strict", "--follow-imports=silent", "--config-file=", "--cache-dir", str(tmp_path / "cache"))
    checked = (sys.executable, "-m", "mypy", *options, ".")
    done = subprocess.run(checked, cwd=tmp_path, env={"MYPYPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True, check=False)
    found = re.findall(r"^(\w+)\.py:(\d+): error", done.stdout, flags=re.MULTILINE)
    assert set(found) == {("wrong", str(number)) for number in (3, 4, 5, 6)}, done.stdout + done.stderr
