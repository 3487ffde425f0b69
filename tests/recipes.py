"""A copy of the project in which the recipes of ARCHITECTURE.md are followed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("dpsynth_core", "pages", "tests", "benchmarks", "assets", ".streamlit", "app.py", "pyproject.toml", ".importlinter")
DOCUMENTS = ("ARCHITECTURE.md", "README.md", "CHANGELOG.md", "requirements.in", "requirements-dev.in")


def copied(to: Path) -> Path:
    """Everything that tests of a new file need, in an empty folder."""
    for name in (*COPIED, *DOCUMENTS):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, to / name)
    return to


def entry(file: Path, *changes: tuple[str, str]) -> None:
    """Put new text in the place of old, of which there is one."""
    text = file.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, (file, old)
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")


def run(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A module of the copy as a program, which ends well. What one program compiles, the next need not compile again."""
    environment = os.environ | {"PYTHONPATH": str(project), "DPSYNTH_HOME": str(project / "home")}
    done = subprocess.run([sys.executable, "-m", *command], cwd=project, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr)
    return done


def check_suite(project: Path, chosen: str, *suite: str) -> None:
    """The tests of these files that are chosen pass in the copy, and each file has some."""
    done = run(project, "pytest", "-q", "-p", "no:cacheprovider", "-rA", "-k", chosen, *suite)
    for module in suite:
        assert f"PASSED {module}" in done.stdout, module
