"""A home of its own for every test, and a small table to run against."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import transcript
from dpsynth_core.release.spool import parsed
from dpsynth_core.store import dispatch, projects, roles, runs, spools
from dpsynth_core.vocabulary.measurement import Measurement
from tests import postgres
from tests.patience import SECONDS
from tests.specs import usual

BOTH = ("test_chain", "test_ledger", "test_charging", "test_recorded_views", "test_projects", "test_queue", "test_rules", "test_runs",
    "test_sharing", "test_signing", "test_sweeps", "test_verified_books", "test_worker",
    "test_charge_after_charge_killed_at_every_step_loses_none_that_was_acted_on")  # fmt: skip
"""Files and tests that run on SQLite and on PostgreSQL, but for those that are marked `sqlite`: they open its file."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    names = {metafunc.module.__name__.rpartition(".")[2], metafunc.function.__name__}
    if names & {*BOTH} and metafunc.definition.get_closest_marker("sqlite") is None:
        metafunc.parametrize("home", ["sqlite", "postgres"], indirect=True)


class Driver(Protocol):
    """Be a caller in this home, and meet a fault right before the given step; the exit status (see `crash_driver`)."""

    def __call__(self, home: Path, caller: str, name: str, step: int, fault: str = "kill") -> int: ...



@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    command = [sys.executable, str(Path(__file__).with_name("crash_driver.py"))]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def work(home: Path, caller: str, name: str, step: int, fault: str = "kill") -> int:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{home} {os.environ.get('DPSYNTH_DATABASE', '-')} {caller} {name} {step} {fault}\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    yield work
    process.communicate(timeout=SECONDS)


@pytest.fixture(autouse=True)
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of a test; in files of `BOTH` with SQLite and with PostgreSQL."""
    place = tmp_path / "home"
    monkeypatch.setenv("DPSYNTH_HOME", str(place))
    if getattr(request, "param", "") == "postgres":
        monkeypatch.setenv("DPSYNTH_DATABASE", postgres.new_database())
    monkeypatch.delenv("DPSYNTH_CONCURRENT_RUNS", raising=False)
    return place


@pytest.fixture(autouse=True)
def everybody_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """The people of these tests have every role; what each role may do, tests/store/test_roles.py asks."""
    monkeypatch.setattr(roles, "of", lambda *_: roles.EVERY)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    codes = np.random.default_rng(0).integers(0, [2, 3, 4], size=(500, 3))
    path = tmp_path / "people.csv"
    np.savetxt(path, codes, fmt="%d", delimiter=",", header="a,b,c", comments="")
    return path


@pytest.fixture
def make_spec(table: Path) -> Callable[..., Spec]:
    """A spec over `table`; keyword arguments replace whole fields."""

    def make(**fields: Any) -> Spec:
        return Spec.from_json(
            usual({"path": str(table)}, {"a": 2, "b": 3, "c": 4}, k=1, mechanism="independent", name="test")
            | fields
        )

    return make


def answered(run: str) -> int:
    """How many answers of the kernel are in the spool of a run that goes on."""
    path = spools.spool_file(run)
    return len(path.read_bytes().split(b"\n")[1:-1]) if path.exists() else 0


def measured(run: str) -> tuple[Measurement, ...]:
    """The noisy tables in the spool of a run, or in its release."""
    if spools.spool_file(run).exists():
        lines = spools.spool_file(run).read_bytes().split(b"\n")[1:-1]
        answers = transcript.from_json([parsed(line)["answer"] for line in lines], ())
        return tuple(table for answer in answers for table in answer.tables if isinstance(table, Measurement))
    job = runs.get("ann", run)
    return runs.release("ann", run).measurements if job.state == "done" else ()


@pytest.fixture
def project() -> str:
    return projects.create("ann", "census").id


@pytest.fixture
def no_workers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Workers are marked as started but no process is; the list says of which jobs."""
    started: list[str] = []
    monkeypatch.setattr(dispatch, "launch_worker", lambda job: started.append(job))
    return started
