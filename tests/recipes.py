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


def run(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """A module of the copy as a program. What one program compiles, the next need not compile again."""
    environment = os.environ | {"PYTHONPATH": str(project), "DPSYNTH_HOME": str(project / "home")}
    return subprocess.run([sys.executable, "-m", *command], cwd=project, env=environment, capture_output=True, text=True, timeout=600)
