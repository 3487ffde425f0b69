"""A worker charges before it reads, stores as it goes, and lets no text of an exception out."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dpsynth_core.bundle import unpack, verdicts, verify
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.graphical.households import workload
from dpsynth_core.planning import machine
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import INTERRUPTED
from dpsynth_core.sources import csv_file, readers
from dpsynth_core.store import balance, chain, database, dispatch, jobs, postgres, processes, projects, runs, spools, worker
from dpsynth_core.store.database import transaction
from dpsynth_core.store.faults import StoreFault
from dpsynth_core.store.folders import run_folder
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link
from tests.bundle import pack
from tests.homes import MOST, PEOPLE, tables
from tests.refusals import refused
from tests.store.conftest import measured


@pytest.fixture
def started(project: str, make_spec: Callable[..., Spec], no_workers: list[str]) -> str:
    """A run that waits for its worker."""
    run = runs.submit("ann", project, make_spec(mechanism={"name": "aim"}))
    assert no_workers == [run]
    return run


def test_the_charge_is_final_before_the_source_is_opened(started: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[list[str]] = []
    real = synthesis.open_source

    def spying(plan: Plan) -> Any:
        opened.append([e.kind for e in chain.entries() if e.run == started])
        assert runs.get("ann", started).touched
        return real(plan)

    monkeypatch.setattr(synthesis, "open_source", spying)
    worker.work(dispatch.claim(started))
    assert opened == [["reserve", "touch"]]
    assert runs.get("ann", started).state == "done"


@pytest.mark.usefixtures("no_workers")
@pytest.mark.parametrize("changed", [None, "homes.csv", "people.csv"])
def test_either_of_two_tables_that_changed_after_submission_is_not_read_and_costs_nothing(
    changed: str | None, project: str, make_spec: Callable[..., Spec], tmp_path: Path
) -> None:
    homes, people = tables(tmp_path, 100)
    link = Link(Domain.from_json({"region": 2}), Domain.from_json(PEOPLE), MOST)
    spec = make_spec(
        data={"path": str(homes)}, domain=link.households.to_json(), members={"path": str(people), "domain": PEOPLE},
        unit={"person_column": "id", "max_rows_per_person": MOST}, workload=workload(link).to_json(), mechanism={"name": "households"},
    )  # fmt: skip
    run = runs.submit("ann", project, spec)
    if changed:
        with (tmp_path / changed).open("a") as file:
            file.write("200,0\n" if changed == "homes.csv" else "0,0,0\n")
    worker.work(dispatch.claim(run))
    assert runs.get("ann", run).state == ("failed" if changed else "done")
    assert ("changed after the run was submitted" in runs.get("ann", run).error) == bool(changed)
    assert (balance.spent("people").rho == 0) == bool(changed)


def test_each_measurement_is_readable_before_the_next_one_is_taken(started: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    real = worker._record

    def spying(run: str, progress: Any) -> None:
        real(run, progress)
        if progress.kind == "measured":
            last = measured(started)[-1]
            assert (last.clique, last.sigma) == (progress.attributes, progress.sigma)
            kept.append(len(measured(started)))

    monkeypatch.setattr(worker, "_record", spying)
    worker.work(dispatch.claim(started))
    assert kept == [1, 2, 3]


def test_events_tell_what_was_measured_at_what_cost(started: str) -> None:
    worker.work(dispatch.claim(started))
    steps = runs.events("ann", started)
    measured = [s for s in steps if s.kind == "measured"]
    assert [s.attributes for s in measured] == [("a",), ("b",), ("c",)]
    assert all(s.sigma > 0 for s in measured)
    assert [s.rho_spent for s in measured] == sorted({s.rho_spent for s in measured})
    assert measured[-1].rho_spent == pytest.approx(runs.get("ann", started).rho)


@pytest.mark.parametrize("where", ["synthesize", "open_source"])
def test_no_text_of_an_exception_leaves_the_worker(started: str, where: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise ValueError("could not convert 'canary: Ms Smith, HIV positive'")

    monkeypatch.setattr(synthesis, where, failing)
    worker.work(dispatch.claim(started))
    ended = runs.get("ann", started)
    assert ended.state == "failed"
    assert "ValueError in release/making.py, line" in ended.error
    assert all(b"canary" not in p.read_bytes() for p in home.rglob("*") if p.is_file())
    assert balance.spent("people").rho > 0


def test_our_own_messages_do(started: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*_: object) -> None:
        raise InputError("data", "it is unusable", "give another")

    monkeypatch.setattr(synthesis, "plan", refusing)
    worker.work(dispatch.claim(started))
    assert (runs.get("ann", started).state, runs.get("ann", started).error) == ("failed", "data: it is unusable; give another")
    assert balance.spent("people").rho == 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to a limit on memory")
def test_a_run_that_takes_far_more_memory_than_was_forecast_says_so_and_stays_charged(
    started: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def greedy(*_: object) -> None:
        held = [bytearray(100 << 20) for _ in range(50)]
        pytest.fail(f"it has {len(held)} times 100 MB")

    monkeypatch.setattr(machine, "LEAST_MB", 500)
    monkeypatch.setattr(synthesis, "synthesize", greedy)
    worker.work(dispatch.claim(started))
    ended = runs.get("ann", started)
    assert (ended.state, ended.touched) == ("failed", True)
    assert ended.error.startswith("It needed more memory than a run may take here")
    assert balance.spent("people").rho > 0


def test_a_disk_that_is_full_when_the_release_is_kept_is_named_and_nothing_is_lost(started: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object, folder: Path) -> None:
        (folder / "release.json").write_text("half of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(worker.releases, "save", full)
        worker.work(dispatch.claim(started))
    run = runs.get("ann", started)
    assert (run.state, run.touched) == ("failed", True)
    assert run.error == "DPSYNTH_HOME: the disk that it is on is full; free some space and try again"
    assert list(run_folder(run.project, started).iterdir()) == []
    assert runs.can_keep(run)


@pytest.mark.usefixtures("no_workers")
def test_a_home_that_takes_nothing_more_from_any_moment_on_loses_nothing_that_was_charged(
    project: str, make_spec: Callable[..., Spec], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written any more by the n-th connection to the database and all after it; then there is room again."""
    place, name = (postgres, "_opened") if os.environ.get("DPSYNTH_DATABASE") else (database, "_open")
    opened, states = getattr(place, name), set()
    for before in count():
        run, connections = runs.submit("ann", project, make_spec(population=f"people {before}")), []
        row = dispatch.claim(run)

        def failing(*path: Path, before: int = before, connections: list[Any] = connections) -> Any:
            connections.append(path)
            if len(connections) > before and place is postgres:
                raise psycopg.OperationalError
            connection = opened(*path)
            if len(connections) > before:
                connection.execute("PRAGMA query_only = ON")
            return connection

        with monkeypatch.context() as patch, suppress(StoreFault):
            patch.setattr(place, name, failing)
            worker.work(row)
        with monkeypatch.context() as patch:  # the process is gone
            patch.setattr(jobs, "_lives", lambda _: False)
            dispatch.pump()
        ended = runs.get("ann", run)
        states.add((ended.state, ended.touched))
        assert ended.state == "done" or (ended.state in ("failed", "lost") and ended.error)
        assert ended.touched == (balance.spent(ended.population).rho > 0)
        if runs.can_keep(ended):
            runs.keep("ann", run)
            worker.work(dispatch.claim(run))
            assert runs.release("ann", run).measurements
        elif ended.touched and ended.state != "done":
            assert not spools.holds_answers(run)
        if len(connections) <= before:
            break
    assert states >= {("lost", False), ("lost", True), ("done", True)}


def test_a_release_that_is_whole_is_done_though_what_was_kept_for_it_cannot_be_deleted(
    started: str, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.unlink

    def unlink(path: Path, *arguments: Any, **options: Any) -> None:
        if path.suffix == ".jsonl":
            raise OSError(errno.EIO, "Input/output error")
        real(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        worker.work(dispatch.claim(started))
    assert spools.spool_file(started).exists()
    assert runs.get("ann", started).state == "done"
    assert runs.release("ann", started).codes is not None
    assert not runs.can_keep(runs.get("ann", started))
    projects.delete("ann", project)
    assert not spools.spool_file(started).exists()


def test_a_table_that_cannot_be_read_to_its_end_costs_nothing(started: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*_: object) -> None:
        raise InputError("data", "it unpacks to more than 200 times its size", "unpack it first")

    monkeypatch.setattr(readers, "batches", refusing)  # of all readers: `check` looks at the first lines alone
    monkeypatch.setattr(csv_file, "blocks", refusing)
    worker.work(dispatch.claim(started))
    run = runs.get("ann", started)
    assert (run.state, run.touched) == ("failed", False)
    assert "unpacks to more" in run.error
    assert [entry.kind for entry in chain.entries() if entry.run == started] == ["reserve", "return"]
    assert balance.spent("people").rho == 0


def test_a_cancel_whose_signal_was_lost_is_seen_at_the_next_event(started: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "signal_group", lambda *_: None)
    real = worker._record

    def cancelling(run: str, progress: Any) -> None:
        if progress.kind == "measured":
            dispatch.ask_to_stop(started)
        real(run, progress)

    monkeypatch.setattr(worker, "_record", cancelling)
    worker.work(dispatch.claim(started))
    assert runs.get("ann", started).state == "cancelled"
    assert len(measured(started)) == 1


def test_a_second_worker_for_the_same_run_gives_way(started: str) -> None:
    dispatch.claim(started)
    refused(dispatch.claim, started, kind=jobs.NotMine)


def test_a_lost_run_accepts_no_further_word(started: str) -> None:
    dispatch.claim(started)
    with transaction() as db:
        db.execute("UPDATE workers SET birth = 'another'")
        jobs.reconcile(db)
    for act in (
        lambda: jobs.touch(started),
        lambda: jobs.beat(started),
        lambda: dispatch.record(started, {}),
        lambda: jobs.give(started, 0, "done"),
    ):
        refused(act, kind=jobs.NotMine)
    assert runs.get("ann", started).state == "lost"
    assert balance.spent("people").rho == 0


def test_the_release_cites_its_ledger_entry(started: str) -> None:
    worker.work(dispatch.claim(started))
    cited = runs.release("ann", started).ledger
    entry = chain.entries()[cited["entry"] - 1]
    assert (entry.run, entry.hash) == (started, cited["hash"])
    assert cited["cap"] == {"epsilon": 10.0, "delta": 1e-9}


def test_a_plan_that_is_not_the_charged_one_reads_nothing(started: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "open_source", lambda _: pytest.fail("a record was read"))
    with transaction() as db:
        db.execute("UPDATE jobs SET document = replace(document, '\"epsilon\":1.0', '\"epsilon\":8.0') WHERE id = ?", (started,))
    worker.work(dispatch.claim(started))
    run = runs.get("ann", started)
    assert (run.state, run.touched) == ("failed", False)
    assert "another one than entry 2 of the ledger was charged for" in run.error
    assert balance.spent("people").rho == 0


def all_answered(started: str) -> list[list[float]]:
    """End a run after its last answer and before its release is stored; its noisy tables."""

    def fail(*_: object) -> None:
        raise OSError("the disk failed")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "_keep", fail)
        worker.work(dispatch.claim(started))
    assert runs.get("ann", started).state == "failed"
    return [table.values.tolist() for table in measured(started)]


def test_a_run_whose_answers_are_all_on_disk_becomes_the_whole_release_for_nothing(started: str) -> None:
    tables, before = all_answered(started), chain.entries()
    runs.keep("ann", started)
    worker.work(dispatch.claim(started))
    made = runs.release("ann", started)
    assert made.rows == len(made.table) > 0
    assert not made.branded(INTERRUPTED)
    assert [table.values.tolist() for table in made.measurements] == tables
    assert chain.entries() == before
    assert not spools.spool_file(started).exists()
    assert verify.verify(unpack.read_bytes(pack.pack(made))).verdict != verdicts.INCONSISTENT


def test_where_rows_fail_once_the_noisy_tables_are_made_the_next_time(started: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the model needs more memory than there is."""
    tables = all_answered(started)

    def full(*_: object, **__: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(synthesis, "carry_out", full)
        runs.keep("ann", started)
        worker.work(dispatch.claim(started))
    run = runs.get("ann", started)
    assert (run.state, runs.can_keep(run)) == ("failed", True)
    runs.keep("ann", started)
    worker.work(dispatch.claim(started))
    made = runs.release("ann", started)
    assert made.branded(INTERRUPTED)
    assert (made.rows, [table.values.tolist() for table in made.measurements]) == (0, tables)


def test_what_is_kept_of_a_run_is_of_the_plan_that_was_charged(started: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A spool with another plan makes no release."""

    def fail(*_: object) -> None:
        raise OSError("the disk failed")

    with monkeypatch.context() as patch:
        patch.setattr(worker, "_keep", fail)
        worker.work(dispatch.claim(started))
    spool = spools.spool_file(started)
    by_hand = [line.partition("\t")[0] for line in spool.read_text(encoding="utf-8").splitlines()]
    spool.write_text("\n".join([*by_hand, ""]).replace('"name": "test"', '"name": "fake"'), encoding="utf-8")
    assert '"fake"' in spool.read_text(encoding="utf-8")
    runs.keep("ann", started)
    worker.work(dispatch.claim(started))
    run = runs.get("ann", started)
    assert run.state == "failed"
    assert "another one than entry 2" in run.error
    assert spool.exists()
