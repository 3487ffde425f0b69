"""Whatever happens to a worker, and whenever: the ledger is right, the state is honest, and what was measured is kept."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dpsynth_core import cli
from dpsynth_core.bundle import unpack, verdicts, verify
from dpsynth_core.planning.spec import Spec
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.release import document
from dpsynth_core.release.release import INTERRUPTED
from dpsynth_core.store import auditing, balance, chain, dispatch, jobs, ledger, ledger_head, projects, runs, spools, verified_books
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.folders import new_id, run_folder
from dpsynth_core.store.ledger import Charge
from tests.bundle import pack
from tests.store.conftest import Driver, measured

ONE_BY_ONE = {"name": "aim"}
"""It asks for one of three tables after the other, so that a run may end between them."""


def check_honest(project: str, run: str, fault: str = "kill") -> str:
    """The invariants after any end; a word for what happened."""
    dispatch.pump()
    run_after = runs.get("ann", run)
    released = (run_folder(project, run) / jobs.RESULT).exists()
    entries = {e.kind for e in chain.entries() if e.run == run}
    charged = balance.spent("people").rho

    assert not auditing.audit().problem
    check_next_charge()
    assert (run_after.state == "done") == released
    assert run_after.state in ("done", "cancelled" if fault == "interrupt" else "lost")
    assert run_after.touched == ("touch" in entries)
    assert ("return" in entries) == (not run_after.touched)
    assert charged == (pytest.approx(run_after.rho) if run_after.touched else 0)

    with reading() as db:
        numbers = [row["number"] for row in db.execute("SELECT number FROM events WHERE job = ? ORDER BY number", (run,))]
    assert numbers == list(range(len(runs.events("ann", run))))
    kept = measured(run)
    assert [m.clique for m in kept] == [("a",), ("b",), ("c",)][: len(kept)]
    assert all(m.values.shape == ({"a": 2, "b": 3, "c": 4}[m.clique[0]],) and np.isfinite(m.values).all() for m in kept)
    if kept:
        assert run_after.touched
    if released:
        release = runs.release("ann", run)
        assert release.rows == len(release.table) > 0
        assert len(release.measurements) == len(kept) == 3
        for stored, published in zip(kept, release.measurements, strict=True):
            np.testing.assert_array_equal(stored.values, published.values)
    elif run_after.state == "lost":
        assert ("stays charged" if run_after.touched else "given back") in run_after.error
    return run_after.state if run_after.touched else "untouched"


def check_what_is_kept(home: Path, run: str, driver: Driver) -> None:
    """What a lost run had measured becomes a release, with rows where it was all, and nothing is charged for it."""
    tables, before = measured(run), chain.entries()
    assert runs.can_keep(runs.get("ann", run)) == (bool(tables) and runs.get("ann", run).state != "done")
    if not runs.can_keep(runs.get("ann", run)):
        return
    runs.keep("ann", run)
    assert driver(home, "worker", run, 0) == 0
    made = runs.release("ann", run)
    assert (made.rows > 0) == (len(tables) == 3) != made.branded(INTERRUPTED)
    assert [m.values.tolist() for m in made.measurements] == [m.values.tolist() for m in tables]
    assert verify.verify(unpack.read_bytes(pack.pack(made))).verdict != verdicts.INCONSISTENT
    assert chain.entries() == before


def check_next_charge() -> None:
    """A mere crash stops nobody: the books take the next charge, of other people."""
    with transaction() as db:
        ledger.reserve(db, "ann", Charge("others", new_id(), "digest", UnitSpec(), 0.01, 1.0, 1e-9, "f"))


def test_a_home_whose_first_charge_is_killed_at_any_step_is_sound_and_what_was_read_is_charged(home: Path, driver: Driver) -> None:
    """Exhaustive, from a directory that is not there: database, key, head and both entries come into being in between."""
    charged: set[int] = set()
    step, status = 0, -signal.SIGKILL
    while status == -signal.SIGKILL:
        step += 1
        assert step < 30
        status = driver(home, "charge", "people", step)
        read = [path.name.split()[1] for path in home.parent.glob("read *")]
        assert not auditing.audit().problem
        touched = [entry.run for entry in chain.entries() if entry.kind == "touch"]
        assert set(read) <= set(touched)
        charged.add(len([entry for entry in chain.entries() if entry.kind == "reserve"]))
        check_next_charge()
        assert not auditing.audit().problem
        shutil.rmtree(home)
    assert status == 0
    assert step > 8
    assert len(read) == 1
    assert charged == {0, 1}


def test_charge_after_charge_killed_at_every_step_loses_none_that_was_acted_on(home: Path, driver: Driver) -> None:
    """The same in one home, where the head on file lags behind the database after some of the crashes."""
    step, status, lags = 0, -signal.SIGKILL, set()
    while status == -signal.SIGKILL:
        step += 1
        before = verified_books.verify().head
        status = driver(home, "charge", "people", step)
        noted = ledger_head.read()
        lags.add(verified_books.verify().head.number - (before if noted is None else noted).number)
        assert not auditing.audit().problem
        assert verified_books.verify().head.number >= before.number
    assert status == 0
    assert lags == {0, 1}
    check_next_charge()
    assert ledger_head.read() == verified_books.verify().head


@pytest.fixture
def worker_meets(
    home: Path, make_spec: Callable[..., Spec], no_workers: list[str], driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """A fault of a worker, exhaustively: before each commit and each file's appearance, from the claim of the run to the worker's last word
    and after it."""

    def everywhere(fault: str) -> None:
        monkeypatch.setattr(jobs, "SILENCE_SECONDS", -1.0)  # a worker that died before its claim is given up at once
        seen: set[str] = set()
        counts: set[int] = set()
        step, steps = 0, 0
        while step <= steps:
            project = projects.create("ann", "census").id
            run = runs.submit("ann", project, make_spec(population="people", mechanism=ONE_BY_ONE))
            assert no_workers[-1] == run
            status = driver(home, "worker", run, step, fault)
            assert status == (-signal.SIGKILL if step and fault == "kill" else status)
            steps = steps or int(home.with_name("steps").read_text())
            seen.add(check_honest(project, run, fault))
            counts.add(len(measured(run)))
            check_what_is_kept(home, run, driver)
            shutil.rmtree(home)  # a ledger cannot be reset, and the next case wants the account at zero
            step += 1
        assert 15 < steps < 60
        assert seen == {"untouched", "done", "cancelled" if fault == "interrupt" else "lost"}
        assert counts == {0, 1, 2, 3}

    return everywhere


@pytest.mark.slow  # two or three processes for each step
def test_killed_at_every_durable_step_the_books_are_right(worker_meets: Callable[[str], None]) -> None:
    worker_meets("kill")


@pytest.mark.slow  # two or three processes for each step
@pytest.mark.parametrize("fault", ["full", "interrupt"])
def test_a_worker_that_meets_another_fault_at_any_durable_step_leaves_the_books_right(
    worker_meets: Callable[[str], None], fault: str
) -> None:
    worker_meets(fault)


def check_people() -> int:
    """The books after any fault of a caller that charged the people: right in themselves, and what was read is charged; how often it is."""
    dispatch.pump()
    assert not auditing.audit().problem
    check_next_charge()
    entries = [entry for entry in chain.entries() if entry.population == "people"]
    reserved, touched, returned = ({entry.run for entry in entries if entry.kind == kind} for kind in ("reserve", "touch", "return"))
    assert touched | returned == reserved
    assert not touched & returned
    assert balance.spent("people").rho == pytest.approx(sum(entry.rho for entry in entries if entry.run in touched))
    assert set(spools.unfinished()) <= touched
    return len(touched)


@pytest.mark.slow  # two or three processes for each step
@pytest.mark.parametrize("fault", ["kill", "full", "interrupt"])
@pytest.mark.parametrize("caller", ["command", "python"])
def test_a_run_that_meets_a_fault_at_any_durable_step_is_charged_once_and_ends_with_its_release(
    home: Path, make_spec: Callable[..., Spec], driver: Driver, caller: str, fault: str
) -> None:
    """Exhaustive, from a home that is not there. The second attempt meets no fault."""
    spec = make_spec(population="people", mechanism=ONE_BY_ONE)
    home.with_name("plan.json").write_text(spec.model_dump_json())
    release, said = home.with_name("out") / "release.zip" if caller == "command" else home.with_name("out.zip"), home.with_name("said")
    counts, ends = set[int](), set[str]()
    step, steps = 0, 0
    while step <= steps:
        status, words = driver(home, caller, "plan.json", step, fault), said.read_text()
        assert "Traceback" not in words, words
        steps = steps or int(home.with_name("steps").read_text())
        charged = check_people()
        assert charged <= 1
        assert status == (-signal.SIGKILL if step and fault == "kill" else status)
        if status == 0:
            assert (charged, release.exists()) == (1, True)
        elif status > 0:  # who can still say something says whether it was charged
            told = status == cli.FAILED or "stays charged" in words
            assert charged == told or "could not be given back" in words, (step, words)  # `check_people` gave it back meanwhile
            assert status in (cli.FAILED, cli.BAD_INPUT) if fault == "full" else status == cli.INTERRUPTED
        kept = [measured(run) for run in spools.unfinished()]
        tables = kept[0] if kept else ()
        counts.add(len(tables))
        is_whole = caller == "command" and release.exists() and not kept
        again = driver(home, caller, "plan.json", 0)
        if is_whole:  # nothing replaces what was paid for
            assert (again, check_people()) == (cli.BAD_INPUT, 1)
            assert "it holds a release that was charged to the population 'people'" in said.read_text()
            assert verify.verify(unpack.read(release)).verdict != verdicts.INCONSISTENT
            ends.add("kept")
        elif again == 0:
            assert check_people() == max(charged, 1) or not kept, (step, words)
            made = unpack.read(release)
            stored = document.from_json(made.document).measurements
            assert [m.values.tolist() for m in stored][: len(tables)] == [m.values.tolist() for m in tables]
            assert verify.verify(made).verdict != verdicts.INCONSISTENT
            assert not spools.unfinished()
            ends.add("went on" if charged and status != 0 else "began")
        else:
            assert (fault, again) == ("full", cli.BAD_INPUT)
            assert "cannot go on; recover it" in said.read_text()
            recovered = cli.main(["recover", "--out", str(home.with_name("recovered"))])
            assert recovered == (0 if tables else cli.BAD_INPUT)
            assert check_people() == charged == 1
            ends.add("recovered")
        for place in (home, home.with_name("out"), home.with_name("recovered")):
            shutil.rmtree(place, ignore_errors=True)
        release.unlink(missing_ok=True)
        step += 1
    assert 15 < steps < 80
    assert counts == {0, 1, 2, 3}
    assert ends == {"began", "went on"} | ({"recovered"} if fault == "full" else set()) | ({"kept"} if caller == "command" else set())


@pytest.mark.usefixtures("no_workers")
def test_an_undisturbed_worker_ends_as_done(home: Path, make_spec: Callable[..., Spec], driver: Driver, project: str) -> None:
    run = runs.submit("ann", project, make_spec())
    assert driver(home, "worker", run, 0) == 0
    assert runs.get("ann", run).state == "done"
    assert check_honest(project, run) == "done"


@pytest.mark.usefixtures("no_workers")
def test_a_worker_that_was_given_up_can_touch_nothing(home: Path, make_spec: Callable[..., Spec], driver: Driver, project: str) -> None:
    """Cancelled between its start and its claim: the run is over, its reservation is back, and the late worker must leave it so."""
    run = runs.submit("ann", project, make_spec())
    runs.cancel("ann", run)
    assert driver(home, "worker", run, 0) == 0
    assert runs.get("ann", run).state == "cancelled"
    assert runs.events("ann", run) == ()
    assert [e.kind for e in chain.entries()] == ["population", "reserve", "return"]


@pytest.mark.usefixtures("no_workers")
def test_a_file_that_changed_after_submission_is_not_read_and_costs_nothing(
    home: Path,
    table: Path,
    make_spec: Callable[..., Spec],
    driver: Driver,
    project: str,
) -> None:
    run = runs.submit("ann", project, make_spec())
    table.write_text(table.read_text() + "1,1,1\n")
    assert driver(home, "worker", run, 0) == 0
    assert (runs.get("ann", run).state, runs.get("ann", run).touched) == ("failed", False)
    assert "changed after the run was submitted" in runs.get("ann", run).error
    assert balance.spent("people").rho == 0
