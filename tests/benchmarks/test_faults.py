"""The programs that let calls fail and cut the power: they reach what they say, and a fault that loses something would be seen."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.power_cuts import SECTOR, disk
from benchmarks.traces import Step
from tests.patience import SECONDS
from tests.test_cli import ROOT

pytestmark = pytest.mark.skipif(not (shutil.which("cc") or shutil.which("gcc")), reason="there is no compiler of C")


@pytest.mark.slow  # each makes releases
@pytest.mark.parametrize("program", ["failing_calls", "power_cuts", "kills"])
def test_the_program_finds_nothing_and_reaches_writes_and_syncs(program: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks", program, "--times", "8", "--results", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=10 * SECONDS)
    assert done.returncode == 0, done.stderr
    assert "**all**" in (tmp_path / f"{program}.md").read_text()
    if program == "failing_calls":
        calls = json.loads((tmp_path / f"{program}.json").read_text())[0]["calls"]
        assert calls["run"] > 250, "names alone are 80: writes or syncs are not counted"


@pytest.mark.slow
def test_locks_are_counted_and_refused_alone_as_on_a_file_system_of_another_machine(tmp_path: Path) -> None:
    """SQLite's and our own."""
    fault = "locks refused from then on"
    command = [sys.executable, "-m", "benchmarks", "failing_calls", "--times", "8", "--results", str(tmp_path), "--faults", fault]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=10 * SECONDS)
    assert done.returncode == 0, done.stderr
    kept = json.loads((tmp_path / "failing_calls.json").read_text())[0]
    assert {name for _, name, _, _ in kept["tally"]} == {fault}
    tried, went_on = (sum(number for _, _, what, number in kept["tally"] if what == end) for end in ("tried", "went on"))
    assert tried == 8
    assert went_on < tried, "where nothing can be locked, nothing is charged"


def states(tmp_path: Path, *steps: Step, kind: str = "ext4", name: str = "a") -> set[bytes | None]:
    """What a file of a new disk of this kind may hold after these steps; None where it is not there."""
    (tmp_path / "before").mkdir(exist_ok=True)
    found: set[bytes | None] = set()
    for seed in range(200):
        disk(tmp_path / "before", steps, random.Random(seed), tmp_path / "after", kind)
        place = tmp_path / "after" / name
        found.add(place.read_bytes() if place.exists() else None)
    return found


def test_what_was_synced_stays_and_what_was_not_may_be_lost(tmp_path: Path) -> None:
    here = str(tmp_path / "after")
    made, named = Step("c", 1, 0, b"", f"{here}/a", ""), Step("s", 9, 0, b"", here, "")
    one, other, synced = Step("w", 1, 0, b"one", "", ""), Step("w", 1, 3, b"two", "", ""), Step("s", 1, 0, b"", f"{here}/a", "")
    assert states(tmp_path, made, one, synced) == {None, b"one"}
    assert states(tmp_path, made, one, synced, named) == {b"one"}
    assert states(tmp_path, made, one, other, named) == {b"", b"one", b"onetwo", b"\0\0\0two"}
    assert states(tmp_path, made, one, synced, other, named) == {b"one", b"onetwo"}
    moved = Step("r", 1, 0, b"", f"{here}/a", f"{here}/b")
    assert states(tmp_path, made, one, synced, named, moved) == {None, b"one"}
    torn = states(tmp_path, made, Step("w", 1, 0, b"x" * 2 * SECTOR, "", ""), named)
    assert torn == {b"", b"x" * SECTOR, bytes(SECTOR) + b"x" * SECTOR, b"x" * 2 * SECTOR}
    beside = states(tmp_path, made, Step("w", 1, 500, b"x" * 24, "", ""), named)  # of two sectors
    assert beside == {b"", bytes(500) + b"x" * 12, bytes(512) + b"x" * 12, bytes(500) + b"x" * 24}


def test_a_sync_makes_all_earlier_names_last_on_ext4_and_those_of_its_folder_alone_on_posix(tmp_path: Path) -> None:
    here = str(tmp_path / "after")
    folder, made = Step("m", 2, 0, b"", f"{here}/b", ""), Step("c", 1, 0, b"", f"{here}/b/a", "")
    inner, outer = Step("s", 2, 0, b"", f"{here}/b", ""), Step("s", 9, 0, b"", here, "")
    assert states(tmp_path, folder, made, inner, name="b/a") == {b""}
    assert states(tmp_path, folder, made, inner, kind="POSIX", name="b/a") == {None, b""}
    assert states(tmp_path, folder, made, inner, outer, kind="POSIX", name="b/a") == {b""}
    other, gone = Step("c", 3, 0, b"", f"{here}/a", ""), Step("u", 1, 0, b"", f"{here}/b/a", "")
    assert states(tmp_path, folder, made, inner, outer, gone, other, outer, name="b/a") == {None}
    assert states(tmp_path, folder, made, inner, outer, gone, other, outer, kind="POSIX", name="b/a") == {None, b""}
    written = [Step("c", 3, 0, b"", f"{here}/b/c", ""), Step("r", 3, 0, b"", f"{here}/b/c", f"{here}/b/a")]
    assert states(tmp_path, folder, outer, *written, name="b/a", kind="POSIX") == {None, b""}


CARELESS = {
    "a ledger that does not wait for the disk": """
from dpsynth_core.store import database
opened = database._open
def careless(*arguments):
    connection = opened(*arguments)
    connection.execute("PRAGMA synchronous = OFF")
    return connection
database._open = careless
""",
    "a spool that does not wait for the disk": """
import os, types
from dpsynth_core.release import spool
spool.os = types.SimpleNamespace(**{**vars(os), "fsync": lambda _: None})
""",
    "recover gives back the first answer only": """
from dataclasses import replace
from dpsynth_core.release import spool
content, recovered = spool._content, failing_calls._recovered
def first(*arguments):
    kept, rest = content(*arguments)
    return replace(kept, answers=kept.answers[:1], paid=kept.paid[:1]), rest
def careless(*arguments):
    spool._content = first
    return recovered(*arguments)
failing_calls._recovered = careless
""",
}


NAMELESS = """
from dpsynth_core.cli import options
from dpsynth_core.foundation import private_files
def careless(path, mode=0o777):
    path.mkdir(mode, parents=True, exist_ok=True)
    return path
private_files.lasting_directory = options.lasting_directory = careless
"""


@pytest.mark.slow  # makes releases
@pytest.mark.parametrize(("what", "kind"), [*((one, "ext4") for one in CARELESS), ("new folders whose names are not synced", "POSIX")])
def test_a_program_that_may_lose_something_is_found_out(what: str, kind: str, tmp_path: Path) -> None:
    """With a charge or answers lost on most disks of the late steps, none found in 120 cuts is as good as impossible."""
    program = f"import sys\nfrom benchmarks import failing_calls, power_cuts\n{CARELESS.get(what, NAMELESS)}\nsys.exit(power_cuts.main())\n"
    command = [sys.executable, "-c", program, "--times", "120", "--disk", kind, "--results", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=10 * SECONDS)
    assert done.returncode == 1, done.stderr
    assert "lost" in done.stderr or "undercharged" in done.stderr or "synced 0 answers" in done.stderr
