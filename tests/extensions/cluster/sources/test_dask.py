"""Counting on a Dask cluster: what is particular to it. That it counts what all engines count is in `test_engines.py`."""

from __future__ import annotations

import gc
import json
import logging
import os
import re
import signal
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
from distributed import Client, Future, LocalCluster
from distributed.diagnostics.plugin import SchedulerPlugin
from pyarrow import csv, parquet

import dpsynth_core
from dpsynth_core.cli import command_line
from dpsynth_core.extensions.cluster import dask_cluster
from dpsynth_core.extensions.cluster.dask_cluster import Cluster, DaskSource
from dpsynth_core.foundation import build, interrupts
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.interrupts import Interrupted
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import opened
from dpsynth_core.sources.parts import WHOLE, Part, Piece, Sizes
from dpsynth_core.sources.persons import Before, nobody
from dpsynth_core.sources.records import Records
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.tally import Tally
from tests.extensions.cluster.clusters import a_cluster
from tests.refusals import refused
from tests.specs import usual

DOMAIN = Domain((Attribute.coded("a", 3), Attribute.coded("b", 4)))
CLIQUES = [("a", "b"), ("a",), ()]
MANY = Sizes(bytes=20_000, divided=0)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, rng = tmp_path_factory.mktemp("table") / "secret-name.csv", np.random.default_rng(0)
    rows = zip(rng.integers(0, 3, 15_000), rng.integers(0, 4, 15_000), rng.integers(0, 900, 15_000), strict=True)
    path.write_text("a,b,who\n" + "".join(f"{a},{b},canary{who}\n" for a, b, who in rows))
    return path


@pytest.fixture(scope="module")
def processes() -> Iterator[LocalCluster]:
    """Two workers that are processes, each with a process that starts it again."""
    with LocalCluster(2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL, memory_limit=0) as cluster:
        yield cluster


def source(table: Path, scheduler: str, person: str | None = "who", sizes: Sizes = MANY) -> DaskSource:
    return DaskSource(DOMAIN, Records(opened(table, TableFormat()), person, 2, sizes), Cluster(scheduler))


def expected(table: Path, person: str | None = "who") -> dict[Any, Any]:
    return ArrowSource(DOMAIN, table, TableFormat(), person, 2).counts(CLIQUES)


def assert_same(counts: dict[Any, Any], other: dict[Any, Any]) -> None:
    assert counts.keys() == other.keys()
    assert all(np.array_equal(counts[clique], other[clique]) for clique in counts)


@dataclass(frozen=True)
class Deadly(Records):
    """Whoever counts a part of them dies in the middle, unless somebody did already."""

    marker: str = ""

    def add_to(self, tally: Tally, part: Part = WHOLE, before: Before = nobody) -> Iterator[None]:
        for step in super().add_to(tally, part, before):
            yield step
            with suppress(FileExistsError), open(self.marker, "x"):
                os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Broken(Records):
    """They cannot be counted, for a reason that quotes them."""

    def add_to(self, tally: Tally, part: Part = WHOLE, before: Before = nobody) -> Iterator[None]:
        next(super().add_to(tally, part, before))
        raise ValueError("canary7")


def test_a_worker_that_is_killed_while_it_counts_changes_nothing(table: Path, processes: LocalCluster, tmp_path: Path) -> None:
    records = Deadly(opened(table, TableFormat()), "who", 2, MANY, marker=str(tmp_path / "killed"))
    counts = DaskSource(DOMAIN, records, Cluster(processes.scheduler_address)).counts(CLIQUES)
    assert (tmp_path / "killed").exists()
    assert_same(counts, expected(table))


def test_where_workers_die_too_often_there_is_a_sentence_and_no_count(
    table: Path, processes: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes.scheduler, "allowed_failures", 0)
    records = Deadly(opened(table, TableFormat()), None, 1, MANY, marker=str(tmp_path / "killed"))
    refused(DaskSource(DOMAIN, records, Cluster(processes.scheduler_address)).counts, CLIQUES, saying="workers died again and again")


def test_workers_with_another_program_are_refused(table: Path, processes: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dpsynth_core, "__version__", "0.0.0")
    build.identity.cache_clear()
    try:
        refused(source(table, processes.scheduler_address).counts, CLIQUES, saying="another program")
    finally:
        monkeypatch.undo()
        build.identity.cache_clear()
    failed = dask_cluster._run("another program", dask_cluster._sum, [])  # of a worker that came later
    with pytest.raises(InputError, match="another program"):
        raise failed.error()


def test_a_worker_that_died_runs_no_other_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left to the scheduler, which replaces it."""
    dead, other = OSError("Timed out trying to connect"), ModuleNotFoundError("No module named 'dpsynth_core'")
    monkeypatch.setattr(dask_cluster, "PATIENCE", 0.3)
    for said, match in (([build.identity(), dead], ""), ([dead], "no worker of the Dask cluster"), ([dead, other], "another program")):
        client = Mock(spec=Client)
        client.run.return_value = dict(enumerate(said))
        with pytest.raises(InputError, match=match) if match else nullcontext():
            dask_cluster._check(dask_cluster._programs(client))


def test_a_killed_worker_is_survived_when_the_count_begins(table: Path, processes: LocalCluster) -> None:
    with Client(processes.scheduler_address, set_as_default=False) as client:
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    assert_same(source(table, processes.scheduler_address).counts(CLIQUES), expected(table))


def test_a_cluster_that_loses_all_its_workers_ends_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of waiting for others, who may never come."""
    monkeypatch.setattr(dask_cluster, "PATIENCE", 0.3)
    client, never = Mock(spec=Client), Mock(spec=Future)
    client.scheduler_info.return_value = {"workers": {}}
    refused(dask_cluster._Work(client)._awaited, never, saying="all workers of the Dask cluster are gone")
    client.cancel.assert_called_once()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_goes_in_the_middle_of_a_count_is_an_error_of_ours(kind: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.{kind}" for number in (1, 2)]
    for file in files:
        write = csv.write_csv if kind == "csv" else parquet.write_table
        write(pa.table({"a": [0, 1], "b": [0, 1]}), file)
    records = Records(opened(tmp_path, TableFormat(kind=kind)), None, 1, MANY)
    files[1].unlink()
    refused(list, records.add_to(Tally(DOMAIN, CLIQUES), (Piece(str(files[1])),)))


def test_names_of_tasks_and_logs_say_nothing_of_records(
    table: Path, processes: LocalCluster, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    keys: set[str] = set()

    class Keys(SchedulerPlugin):
        def transition(self, key: Any, *_: Any, **__: Any) -> None:
            keys.add(str(key))

    processes.scheduler.add_plugin(Keys(), name="keys")
    address = processes.scheduler_address
    source(table, address).counts(CLIQUES)
    with pytest.raises(RuntimeError, match=r"^counting a part failed with ValueError$"):
        DaskSource(DOMAIN, Broken(opened(table, TableFormat()), "who", 2, MANY), Cluster(address)).counts(CLIQUES)
    processes.scheduler.remove_plugin("keys")
    assert len(keys) > 20
    assert all(re.fullmatch(r"dpsynth_[a-z_]+-[0-9a-f]{32}-[0-9]+", key) for key in keys)
    with Client(address, set_as_default=False) as client:
        logs = str(client.get_worker_logs()) + str(client.get_scheduler_logs())
    written = capfd.readouterr()
    for text in (logs, caplog.text, written.out, written.err):
        assert "canary" not in text


def test_a_signal_ends_the_count_and_its_tasks(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "_requested", True)
    with pytest.raises(Interrupted):
        source(table, a_cluster()).counts(CLIQUES)
    monkeypatch.setattr(interrupts, "_requested", False)
    assert_same(source(table, a_cluster()).counts(CLIQUES), expected(table))


def test_a_cluster_that_is_not_there_is_a_sentence(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "PATIENCE", 0.3)
    left: list[str] = []
    real = Client.__del__
    monkeypatch.setattr(Client, "__del__", lambda self: left.append(self.status) or real(self))
    for address in ("tcp://127.0.0.1:9", "tls://127.0.0.1:1"):  # the other without certificates, which TLS cannot do
        refused(source(table, address).counts, CLIQUES, saying="the Dask cluster cannot be reached")
    gc.collect()
    assert set(left) <= {"closed"}  # one that is closed only when it is collected may stop everything


def test_a_cluster_of_our_own_talks_over_tls_on_this_machine_alone(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[LocalCluster] = []
    real = Cluster._local
    monkeypatch.setattr(Cluster, "_local", lambda self: made.append(real(self)) or made[0])
    own = DaskSource(DOMAIN, Records(opened(table, TableFormat()), None, 1, MANY), Cluster(None, 1))
    assert_same(own.counts(CLIQUES), expected(table, None))
    assert made[0].scheduler_address.startswith("tls://127.0.0.1:")
    assert made[0].status.name == "closed"


def spec_of(table: Path, **data: Any) -> Spec:
    return Spec.from_json(
        usual(
            {"path": str(table), "engine": "dask", **data}, DOMAIN.to_json(), epsilon=2.0, delta=1e-6, mechanism="independent",
            unit={"person_column": "who"},
        )
    )


def test_a_spec_says_who_counts_and_nobody_else_learns_it(table: Path) -> None:
    spec = spec_of(table, scheduler=a_cluster())
    opened = synthesis.open_source(synthesis.plan(spec))
    assert isinstance(opened, DaskSource)
    assert spec.published() == spec_of(table, engine=None).published()
    assert a_cluster() not in str(spec.published())


@pytest.mark.parametrize(
    ("field", "data"),
    [
        ("data.scheduler", {"scheduler": "tcp://127.0.0.1:8786", "engine": None}),
        ("data.workers", {"workers": 2, "engine": None}),
        ("data.workers", {"workers": 2, "scheduler": "tcp://127.0.0.1:8786"}),
        ("data.scheduler", {"scheduler": "tcp://me:password@host:8786"}),
        ("data.engine", {"engine": "abacus"}),
        ("data.engine", {"kind": "demo"}),
    ],
)
def test_an_engine_that_cannot_be_meant_is_refused(table: Path, field: str, data: dict[str, Any]) -> None:
    error = refused(lambda: Plan.of(spec_of(table, **data)))
    assert error.field == field
    assert "password" not in str(error)


def test_values_are_not_learnt_on_a_cluster_and_that_is_said_before_the_charge(table: Path) -> None:
    columns = [{"name": "a", "kind": "categorical", "discover": True}, {"name": "b", "kind": "coded", "size": 4}]
    learnt = {"version": 1, "attributes": columns}
    spec = Spec.from_json(spec_of(table).model_dump(mode="json") | {"domain": learnt})
    refused(Plan.of, spec, saying="do not leave the workers")


def test_the_command_line_counts_on_a_cluster(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide = {"name": "a", "kind": "integer", "lower": 0, "upper": 2, "bins": 1}  # what is in its cell and its mean are measured
    (tmp_path / "domain.json").write_text(json.dumps({"version": 1, "attributes": [wide, {"name": "b", "kind": "coded", "size": 4}]}))
    wanted = ["synthesize", str(table), "--domain", str(tmp_path / "domain.json"), "--workload", "all-2way", "--mechanism", "independent"]
    wanted += ["--epsilon", "1", "--seed", "1", "--rows", "10"]
    for out, further in (("here", []), ("there", ["--engine", "dask", "--scheduler", a_cluster()])):
        assert command_line.main([*wanted, *further, "--out", str(tmp_path / out)]) == 0, capsys.readouterr().err
    here, there = ((tmp_path / out / "release.json").read_bytes() for out in ("here", "there"))
    assert here == there
    assert all(json.loads(there)[part] for part in ("inside", "means"))
