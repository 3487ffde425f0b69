"""Recipients read a release where Python has none of what only Linux and macOS have, and without the packages of the app or of solvers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = Path(__file__).parent / "elsewhere"
BLOCKED = """
import os, signal, sys
for module in ("fcntl", "resource", "streamlit", "ortools"):
    try:
        __import__(module)
    except ModuleNotFoundError:
        continue
    raise AssertionError(module)
assert not hasattr(os, "fork") and not hasattr(signal, "SIGALRM")
"""
MADE = """
import dpsynth_core as dps
columns = {"sex": ["female", "male"], "age": (0, 99)}
dps.plan("demo", columns, epsilon=1, tables=2, mechanism="independent").run(progress=False).save("release.zip")
"""
OPENED = """
import sys, dpsynth_core as dps
release = dps.open(sys.argv[1])
print(release.rows.to_csv(index=False), release.ask("share", of={"sex": "female"}), dps.verify(sys.argv[1], seconds=300).verdict, sep="|")
"""
WORK = """
import sys, time
from dpsynth_core.foundation.confined import Ended, Work
HERE = "tests.bundle.elsewhere_work:"
with Work(HERE + "echo", {"a": [1]}, b"bytes", "z" * (1 << 20)) as work:
    assert list(work) == [{"a": [1]}, b"bytes", "z" * (1 << 20)]
with Work(HERE + "double") as work:
    for number in range(5):
        work.send(number)
        assert next(work) == 2 * number
for function, words in (("endless", "has not come to an end"), ("leave", "failed with exit code 7"), ("fail", "failed with LookupError")):
    try:
        with Work(HERE + function, patience=3 if function == "endless" else None) as work:
            list(work)
    except Ended as ended:
        assert words in str(ended) and "Alice" not in str(ended), str(ended)
    else:
        raise AssertionError(function)
with Work(HERE + "endless_with_its_number") as work:
    number = next(work)
    work.kill()
print(number, "ended")
"""


def run(*arguments: str | Path, path: list[Path], cwd: Path) -> subprocess.CompletedProcess[str]:
    there = {"PYTHONPATH": os.pathsep.join(map(str, path)), "DPSYNTH_HOME": str(cwd / "home"), "HOME": str(cwd)}
    command = [sys.executable, *map(str, arguments)]
    environment = {**os.environ, **there}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)


def elsewhere(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run(*arguments, path=[ELSEWHERE, ROOT], cwd=cwd)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    done = run("-c", MADE, path=[ROOT], cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "release.zip"


def test_the_stand_in_lacks_what_it_says(tmp_path: Path) -> None:
    assert elsewhere("-c", BLOCKED, cwd=tmp_path).stderr == ""


@pytest.mark.parametrize(
    "command",
    [("verify",), ("ask", "share", "--of", "sex=female"), ("ask", "mean", "--of", "age"), ("reproduce", "--out", "again")],
    ids=["verify", "ask", "ask-mean", "reproduce"],
)
def test_commands_of_recipients_say_the_same_as_on_linux(command: tuple[str, ...], bundle: Path, tmp_path: Path) -> None:
    asked = ("-m", "dpsynth_core", command[0], bundle, *command[1:])
    here, there = run(*asked, path=[ROOT], cwd=tmp_path), elsewhere(*asked, cwd=tmp_path)
    assert (there.stdout, there.returncode) == (here.stdout, 0), there.stderr


def test_python_programs_open_ask_and_verify(bundle: Path, tmp_path: Path) -> None:
    here, there = (run("-c", OPENED, bundle, path=path, cwd=tmp_path) for path in ([ROOT], [ELSEWHERE, ROOT]))
    assert there.stdout == here.stdout, there.stderr
    assert there.stdout.endswith("|consistent\n")


def test_a_changed_bundle_is_refused(bundle: Path, tmp_path: Path) -> None:
    (changed := tmp_path / "changed.zip").write_bytes(bundle.read_bytes()[:-2000])
    there = elsewhere("-m", "dpsynth_core", "verify", changed, cwd=tmp_path)
    assert there.returncode != 0
    assert "Traceback" not in there.stderr


def test_work_in_a_process_that_was_not_forked_answers_and_ends_as_any_other(tmp_path: Path) -> None:
    done = elsewhere("-c", WORK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    number = int(done.stdout.split()[0])
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_what_needs_locks_is_refused_with_a_remedy_before_anything_is_charged(tmp_path: Path) -> None:
    asked = ("--mechanism", "independent", "--workload", "all-1way", "--epsilon", "1", "--population", "people", "--out", "out")
    done = elsewhere("-m", "dpsynth_core", "synthesize", "demo", *asked, cwd=tmp_path)
    assert done.returncode == 2
    assert "it has no locks of files, which a release needs; make releases on Linux or macOS" in done.stderr
    assert not (tmp_path / "home" / "dpsynth.sqlite").exists()
