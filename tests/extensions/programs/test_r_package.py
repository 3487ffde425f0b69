"""The R package in `r/` builds without a network, and does with a release of simulated people what its pages say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extensions.programs.rscript import program
from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "r"


def run(place: Path, *command: str, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=place, env=os.environ | environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


@pytest.mark.slow
def test_the_r_package_makes_checks_reads_and_asks_a_release(tmp_path: Path) -> None:
    program("Rscript")
    run(tmp_path, "R", "CMD", "build", str(PACKAGE))
    (tmp_path / "lib").mkdir()
    (built,) = tmp_path.glob("dpsynthstudio_*.tar.gz")
    run(tmp_path, "R", "CMD", "INSTALL", "--no-test-load", "-l", "lib", built.name)
    settings = {"R_LIBS": str(tmp_path / "lib"), "DPSYNTH_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    said = run(tmp_path, "Rscript", str(PACKAGE / "tests" / "release.R"), DPSYNTH_COMMAND=f"{sys.executable} -m dpsynth_core", **settings)
    assert said.splitlines()[-1] == "everything holds"


def test_every_function_of_the_r_package_has_a_page() -> None:
    names = (PACKAGE / "NAMESPACE").read_text(encoding="utf-8").partition("export(")[2].partition(")")[0].split(", ")
    assert sorted(names) == sorted(page.stem for page in (PACKAGE / "man").glob("*.Rd"))
