"""`changes` and `dps.changes`: both bundles are checked before they are compared, and the files are those that were asked for."""

from __future__ import annotations

import doctest
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core.cli.command_line import main
from dpsynth_core.extensions.repeated import changes_interface
from tests.patience import SECONDS
from tests.refusals import refused

COLUMNS = {"sex": ["f", "m"], "region": ["north", "south", "east"]}
WAIT = int(SECONDS)
PATIENT = ["--seconds", str(WAIT)]


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Releases of 5,000 invented people, of whom fewer live in the north the second time."""
    folder, rng = tmp_path_factory.mktemp("bundles"), np.random.default_rng(57)
    made = []
    for year, north in (("2025", 0.5), ("2026", 0.4)):
        regions = rng.choice(["north", "south", "east"], 5000, p=[north, 0.8 - north, 0.2])
        people = pd.DataFrame({"sex": rng.choice(["f", "m"], 5000), "region": regions})
        plan = dps.plan(people, COLUMNS, epsilon=1, tables=2, mechanism="independent")
        made.append(plan.run(progress=False).save(folder / f"{year}.zip"))
    return made[0], made[1]


def test_the_command_says_what_changed_and_writes_the_report(
    bundles: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, table = tmp_path / "changed.html", tmp_path / "changed.csv"
    command = ["changes", *map(str, bundles), *PATIENT, "--report", str(page), "--report", str(table), "--sampling", "1"]
    assert main(command) == 0
    said = capsys.readouterr()
    assert "region “north”; Before" in said.out
    assert "What can't be said:" in said.out
    assert "sampling error of simple random samples" in said.out
    assert "both bundles were checked" in said.err
    assert "region “north”" in page.read_text(encoding="utf-8")
    frame = pd.read_csv(table)
    assert set(frame[frame["changed"] == "yes"]["cell"]) >= {"region “north”", "region “south”"}
    assert not [cell for cell in frame[frame["changed"] == "yes"]["cell"] if cell.startswith("sex") and "region" not in cell]


def test_python_gives_the_same_cells(bundles: tuple[Path, Path], tmp_path: Path) -> None:
    found = dps.changes(*bundles, sampling=1, seconds=WAIT)
    as_bytes = dps.changes(bundles[0].read_bytes(), io.BytesIO(bundles[1].read_bytes()), sampling=1, seconds=WAIT)
    as_releases = dps.changes(*map(dps.open, bundles), sampling=1, seconds=WAIT)
    pd.testing.assert_frame_equal(found.cells, as_bytes.cells)
    pd.testing.assert_frame_equal(found.cells, as_releases.cells)
    assert found.changed["change"].abs().is_monotonic_decreasing
    assert set(found.changed["cell"]) <= set(found.cells["cell"])
    assert repr(found).startswith("Of ")
    assert found.unsaid
    assert "region" in found.save(tmp_path / "changed.csv").read_text(encoding="utf-8")
    refused(found.save, tmp_path / "changed.txt", saying="is neither")
    refused(dps.changes, 5, bundles[1], saying="before: 5 is no release")
    refused(dps.changes, *bundles, correction="none", saying="correction: 'none' is unknown")


def test_a_bundle_with_a_mistake_is_refused_by_name(bundles: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forged = tmp_path / "forged.zip"
    with zipfile.ZipFile(bundles[1]) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "release.json":
                stated = json.loads(content)
                stated["total"] = 1
                content = json.dumps(stated).encode()
            new.writestr(name, content)
    assert main(["changes", str(bundles[0]), str(forged), *PATIENT, "--report", str(tmp_path / "c.html")]) == 2
    said = capsys.readouterr()
    assert "the later release: its check failed" in said.err
    assert not said.out
    assert not (tmp_path / "c.html").exists()


def test_what_is_no_release_is_refused_by_name(bundles: tuple[Path, Path], tmp_path: Path) -> None:
    path = tmp_path / "text.zip"
    path.write_bytes(b"no archive")
    refused(dps.changes, path, bundles[1], saying="bundle")


@pytest.mark.parametrize(
    ("more", "saying"),
    [
        (["--report", "changed.txt"], "--report: 'changed.txt' is neither"),
        (["--correction", "none"], "correction: 'none' is unknown"),
        (["--sampling", "half"], "sampling: 'half' is not a number"),
        (["--seconds", "0"], "--seconds: '0' cannot be used"),
    ],
)
def test_a_mistake_is_one_line(more: list[str], saying: str, bundles: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["changes", *map(str, bundles), *more]) == 2
    said = capsys.readouterr().err
    assert saying in said
    assert said.count("\n") == 1


def test_the_example_of_the_docstring_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(changes_interface)
    assert found.attempted
    assert not found.failed
