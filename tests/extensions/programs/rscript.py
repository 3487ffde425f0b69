"""Rscript, as tests run programs of R with it: where it is absent they are skipped, and fail under CI."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.patience import SECONDS


def run_r(code: str, folder: Path, *arguments: str, **environment: str) -> str:
    """What a program of R prints. It ends well and says nothing on the error stream."""
    return _run([program("Rscript"), "--vanilla", "-e", code, *arguments], folder, environment)


def run_pspp(syntax: str, folder: Path) -> str:
    """What PSPP, which reads the syntax of SPSS, prints of a program."""
    (folder / "run.sps").write_text(syntax, encoding="utf-8")
    return _run([program("pspp"), "--batch", "run.sps"], folder, {})


def program(name: str) -> str:
    """The path of a program of Debian's packages. Skips, or fails under CI, where it is absent."""
    if (path := shutil.which(name)) is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"there is no {name}: install what .ci/r names")
    return path


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    settings = os.environ | {"LC_ALL": "C.UTF-8"} | environment
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
    assert done.stderr == ""
    return done.stdout
