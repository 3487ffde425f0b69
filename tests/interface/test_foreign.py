"""A mechanism of another package, installed for the test: found by its entry point, and shown as foreign wherever it is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsynth_core as dps
from dpsynth_core import cli
from dpsynth_core.bundle import unpack, verify
from dpsynth_core.bundle.verdicts import INCONSISTENT
from dpsynth_core.mechanisms import registry
from tests.mechanisms.test_recipe import CODE
from tests.patience import SECONDS
from tests.refusals import refused
from tests.test_cli import ROOT

NAME = "other-people:repeated"
OURS = CODE.replace("    card: ClassVar[Card] = Card(", "    card: Card = Card(").replace("from typing import ClassVar\n", "")
PLAIN = "from __future__ import annotations\n"
BAD = {
    "imports dpsynth_core.sources.arrow": OURS.replace(PLAIN, f"{PLAIN}import dpsynth_core.sources.arrow\n"),
    "asked for something else": OURS.replace("* self.times\n", "* (time.time_ns() % 7 + 2)\n").replace(PLAIN, f"{PLAIN}import time\n"),
    "shares of its split": OURS.replace("((SINGLE, 1.0),)", "((SINGLE, 0.9),)"),
    "cannot run this plan": OURS.replace("fits=True", "fits=False"),
    "not a dataclass with a card among its fields": CODE,
    "cannot be loaded (ZeroDivisionError)": OURS.replace(PLAIN, f"{PLAIN}1 / 0\n"),
}
"""What is wrong with each, as the suite or the registry says it."""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A distribution of one module in a folder of its own that Python looks for packages in."""
    site = tmp_path / "site"
    about = site / "other_people-1.2.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other-people\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text("[dpsynth_studio.mechanisms]\nrepeated = other_people:MINE\n")
    (site / "other_people.py").write_text(f"{OURS}\n\nMINE = Repeated()\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.chdir(tmp_path)
    yield site
    sys.modules.pop("other_people", None)


def planned() -> dps.Plan:
    return dps.plan("demo", {"age": (16, 95), "sex": ["female", "male"]}, epsilon=1, tables=2, mechanism=NAME, settings={"times": 3})


def test_it_makes_releases_that_say_whose_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = planned()
    title = "Repeated columns (of the package other-people)"
    assert title in repr(plan)
    release = plan.run(progress=False)
    assert len(release.rows) > 0
    assert any("other-people, which is not part of this program" in warning for warning in release.warnings)
    assert release.made.versions["other-people"] == "1.2"
    assert any(title in text for _, text in release.facts)
    assert "By the word of the package other-people" in registry.get(NAME).card.privacy
    path = release.save(tmp_path / "release.zip")
    assert verify.verify(unpack.read(path)).verdict != INCONSISTENT  # here: what the process with limits knows of packages may be old
    refused(dps.open, path, saying="code of the package 'other-people', which would run in this process")
    assert dps.open(path, package="other-people").made.table == release.made.table
    assert cli.main(["mechanisms"]) == 0
    (described,) = [entry for entry in json.loads(capsys.readouterr().out) if entry["name"] == NAME]
    assert (described["package"], described["purpose"]) == ("other-people", "foreign")
    dps.testing.check_mechanism(NAME)


def test_without_the_package_its_releases_cannot_be_checked_and_that_is_said(installed: Path, tmp_path: Path) -> None:
    path = planned().run(progress=False).save(tmp_path / "release.zip")
    (installed / "other_people-1.2.dist-info" / "entry_points.txt").unlink()
    refused(dps.open, path, package="other-people", saying="package 'other-people', which is not installed here")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-m", "dpsynth_core", "verify", str(path)], env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.returncode == cli.BAD_INPUT
    assert "without it nothing of this kind can be made, fitted again or checked" in done.stderr


@pytest.mark.parametrize("problem", BAD)
def test_what_is_wrong_with_it_is_found(installed: Path, problem: str) -> None:
    (installed / "other_people.py").write_text(f"{BAD[problem]}\n\nMINE = Repeated()\n")
    caught = refused(dps.testing.check_mechanism, NAME)
    assert problem in str(caught)


def test_it_is_not_loaded_before_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither by its package, nor because a bundle that somebody sent names it."""
    assert registry.get("independent").card.package == ""
    assert "other_people" not in sys.modules
    path = planned().run(progress=False).save(tmp_path / "release.zip")
    sys.modules.pop("other_people")
    for package in ("", "another"):
        refused(dps.open, path, package=package, saying="would run in this process")
    assert cli.main(["next", str(path), "demo", "--out", "spec.json"]) == cli.BAD_INPUT
    told = capsys.readouterr().err
    assert "would run in this process" in told
    assert "spec.json" not in told
    assert "other_people" not in sys.modules


@pytest.mark.parametrize("broken", ["1 / 0", "MINE = 1", "MINE.card = 1"])
def test_one_that_is_broken_is_named_and_the_others_are_listed(
    installed: Path, capsys: pytest.CaptureFixture[str], broken: str
) -> None:
    (installed / "other_people.py").write_text(f"{OURS.replace('(frozen=True)', '')}\n\nMINE = Repeated()\n{broken}\n")
    assert cli.main(["mechanisms"]) == 0
    listed = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert listed.keys() == registry.MECHANISMS.keys() | {NAME}
    assert "problem" in listed[NAME]
    assert not [entry for entry in listed.values() if entry["name"] != NAME and "problem" in entry]
