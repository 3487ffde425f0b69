"""Marginal counts of a table by the workers of a Dask cluster: each counts parts where it is, and tables of counts travel.

A worker opens the table itself, so its path or URI has to mean the same on every worker. Its answers are tables of counts (or the cells of
one that are not empty), which are added up in a tree, and, with a person column, numbers of rows by keyed hashes of persons, which workers
exchange (`persons`). The integers are the same however the work is divided; a task is a function of its arguments, so one that runs again
because its worker died gives the same.

Nothing of a record is in the name of a task, in a log or in an error: tasks never raise, because Dask would log their arguments, but
return what went wrong (`_Failed`). Every task makes sure that it runs the same program as we do.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from operator import getitem
from typing import Any, cast

import dask.config
import numpy as np
from distributed import Client, Future, KilledWorker, LocalCluster, Security
from numpy.typing import NDArray

from dpsynth_core.foundation import build, interrupts, processors
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.sources import persons
from dpsynth_core.sources.files import FileTable
from dpsynth_core.sources.parts import Part
from dpsynth_core.sources.persons import Keys, Turnout
from dpsynth_core.sources.records import Counting, Counts, RecordCounts, Records
from dpsynth_core.vocabulary.domain import Domain

TASKS_PER_WORKER = 16
"""Parts are put together until there are as many tasks: enough that no worker waits long for the last one."""
FAN_IN = 8
"""Tables that one task adds up."""
MEETING_PLACES = 16
"""Tasks at most in which the numbers of rows of persons meet."""
PATIENCE = 20
"""Seconds to wait for a cluster that does not answer."""
_LOOK_SECONDS = 0.2
_ONLY_HERE = "127.0.0.1:0"
_GIVING_BACK = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"
"""The setting by which workers return their memory to the system after each batch, which took a sixth of their time."""
_SOONER = 10
"""Priority of tasks that make results smaller."""

Tables = tuple[NDArray[np.int64], ...]
New = Callable[[], Counting]
"""Makes something empty that counts records: a function of public values, which workers get."""


class _Connected(Client):
    """A client that closes itself if it cannot connect.

    It would otherwise be closed at garbage collection, perhaps while another client is being made,
    which would then wait for itself for ever.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        try:
            super().__init__(*arguments, **options)
        except BaseException:
            self.close()
            raise


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster, either a running one or processes on this machine for a single count.

    Attributes:
        scheduler: The address of the scheduler of a running cluster; None for processes on this
            machine.
        workers: The number of processes on this machine; None for one per processor.
    """

    scheduler: str | None = None
    workers: int | None = None

    @contextmanager
    def connected(self) -> Iterator[Client]:
        """Yield a client that is connected to the cluster, whose workers run the same program.

        The connection, and processes on this machine that were started for it, end with the context. Dask's
        log messages below "critical" are switched off for the whole process, and stay off. A cluster that
        does not answer is given up after some 20 seconds.

        Raises:
            InputError: The cluster cannot be reached, no worker answers, or a worker runs another
                program.
        """
        for name in ("distributed", "distributed.client", "distributed.core", "distributed.scheduler", "distributed.nanny"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # of broken connections; the user gets an error of ours
        with ExitStack() as stack:
            try:
                address = self.scheduler if self.scheduler is not None else stack.enter_context(self._local())
                client = stack.enter_context(_Connected(address, timeout=PATIENCE, set_as_default=False))
                programs = _programs(client)
            except (OSError, TimeoutError, ValueError, RuntimeError, TypeError):  # TypeError: tls:// without certificates
                remedy = "check its address, and that scheduler and workers run; tls:// needs Dask's own settings"
                raise InputError("data.scheduler", "the Dask cluster cannot be reached", remedy) from None
            _check(programs)
            yield client

    def _local(self) -> LocalCluster:
        """Start a cluster on this machine that is closed to other users and writes nothing to disk."""
        with dask.config.set({_GIVING_BACK: None}):
            return LocalCluster(
                n_workers=self.workers or processors.available(),
                threads_per_worker=1,
                security=Security.temporary(),
                dashboard_address=_ONLY_HERE,
                worker_dashboard_address=_ONLY_HERE,
                scheduler_kwargs={"dashboard": False},
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )


def check(section: Mapping[str, Any]) -> None:
    """Check that the cluster that a data section names can be reached, and return nothing.

    Processes on this machine are started and ended for it if no scheduler is named.

    Raises:
        InputError: The cluster cannot be reached, no worker answers, or a worker runs another program.
    """
    with _named(section).connected():
        pass


def source(domain: Domain, records: Records, section: Mapping[str, Any]) -> DaskSource:
    """Return the counting source of records by the cluster that a data section names; it connects when it counts.

    Args:
        domain: The domain.
        records: The table with the rule for which records are counted.
        section: The section `data`, with "scheduler" (an address, or None) and "workers" (a number, or None).

    Raises:
        ValueError: The table is not in files.
        InputError: The table lacks a column of the domain or the person column.
    """
    return DaskSource(domain, records, _named(section))


def _named(section: Mapping[str, Any]) -> Cluster:
    return Cluster(section["scheduler"], section["workers"])


_OTHER_PROGRAM = (
    "data.scheduler",
    "its workers run another program than this, or another version of it",
    f"install dpsynth_core {build.identity()} where the workers run",
)


def _programs(client: Client) -> list[str | Exception]:
    """Return the identity of each worker's program, or the exception that asking it raised.

    A worker that does not answer has died and is replaced by the scheduler. If all workers fail to
    answer, they are asked again until `PATIENCE` seconds have passed.
    """
    until = time.monotonic() + PATIENCE
    while True:
        client.wait_for_workers(1, timeout=PATIENCE)
        said = client.run(build.identity, on_error="return").values()
        programs = [program for program in said if not isinstance(program, OSError)]
        if programs or time.monotonic() > until:
            return programs
        time.sleep(_LOOK_SECONDS)


def _check(programs: Sequence[str | Exception]) -> None:
    """Raise InputError unless there are workers and all run this program.

    Each task checks again, because workers may join later.

    Args:
        programs: The identity of each worker's program, or the exception that asking it raised.
    """
    if not programs:
        raise InputError("data.scheduler", "no worker of the Dask cluster answers", "see whether they still run, or have too little memory")
    if any(program != build.identity() for program in programs):
        raise InputError(*_OTHER_PROGRAM)


class DaskSource(RecordCounts):
    """A counting source over files, whose parts are counted by the workers of a Dask cluster.

    Raises:
        ValueError: The table is not in files.
        InputError: The table lacks a column of the domain or the person column.
    """

    def __init__(self, domain: Domain, records: Records, cluster: Cluster) -> None:
        if not isinstance(records.table, FileTable):
            raise ValueError("workers cannot open what is in this process")
        super().__init__(domain, records)
        self._cluster = cluster

    def _counted(self, new: Callable[[], Counts]) -> Counts:
        total, parts = new(), self._records.parts()
        with self._cluster.connected() as client:
            workers = sum(client.nthreads().values())
            size = -(-len(parts) // max(TASKS_PER_WORKER * workers, 1))
            together = [tuple(piece for part in parts[i : i + size] for piece in part) for i in range(0, len(parts), size)]
            total.absorb(_Work(client).counted(self._records, new, together, workers))
        return total


class _Work:
    """The tasks of one count on a cluster, with unique names that reveal nothing else."""

    def __init__(self, client: Client) -> None:
        self._client, self._name, self._number = client, uuid.uuid4().hex, 0

    def counted(self, records: Records, new: New, parts: Sequence[Part], workers: int) -> Tables:
        """Return the arrays of a counter of all parts, as a sum over the parts.

        Args:
            records: The table with the rule for which records are counted.
            new: Makes an empty counter.
            parts: The parts of the table, in file order.
            workers: The number of threads of the cluster.

        Raises:
            InputError: A part cannot be counted, or the cluster is lost.
        """
        job = self._submit(_Job, records, new)
        befores: Sequence[list[Future]] = [[] for _ in parts]
        keys = persons.new_keys()
        if records.person_column is not None and len(parts) > 1:
            befores = self._before(job, parts, keys, min(workers, MEETING_PLACES), records.max_rows_per_person)
        sums = [self._submit(_count, job, part, keys, before) for part, before in zip(parts, befores, strict=True)]
        while len(sums) > 1:
            sums = [self._submit(_sum, job, sums[i : i + FAN_IN], priority=_SOONER) for i in range(0, len(sums), FAN_IN)]
        (total,) = sums
        del sums, befores, job  # a result without a future is forgotten as soon as it was used
        return self._awaited(total)

    def _before(self, job: Future, parts: Sequence[Part], keys: Keys, places: int, limit: int) -> list[list[Future]]:
        """Return for each part futures of the rows that its persons have in the earlier parts.

        Persons are divided among `places` tasks by their hash. Each of these tasks adds up the rows
        of its persons, and gives one future for each part.

        Args:
            job: The future of the `_Job`.
            parts: The parts of the table, in file order.
            keys: The keys of the hash.
            places: The number of tasks among which persons are divided.
            limit: The number of rows of each person that are counted.

        Returns:
            By part, a list of `places` futures of a `Turnout`.
        """
        turnouts = [self._submit(_turnout, job, part, keys) for part in parts]
        buckets = [[self._submit(Turnout.bucket, one, place, places, priority=_SOONER) for one in turnouts] for place in range(places)]
        met = [self._submit(_met, bucket, limit, priority=_SOONER) for bucket in buckets]
        return [[self._submit(getitem, place, i, priority=_SOONER) for place in met] for i in range(len(parts))]

    def _submit(self, task: Callable[..., Any], *arguments: Any, priority: int = 0) -> Future:
        """Submit a task and return its future; `task` is a function that workers can import."""
        self._number += 1
        key = f"dpsynth_{task.__name__.lower().strip('_')}-{self._name}-{self._number}"
        return self._client.submit(_run, build.identity(), task, *arguments, key=key, pure=False, priority=priority)

    def _awaited(self, future: Future) -> Tables:
        """Wait for a task and return its arrays.

        Raises:
            InputError: The task failed, or the cluster or all its workers are lost.
            RuntimeError: The task failed with an unexpected exception, of which only the type is
                known.
        """
        finished, seen = threading.Event(), time.monotonic()
        try:
            future.add_done_callback(lambda _: finished.set())
            interrupts.check()  # also of a count that is quicker than the first look
            while not finished.wait(_LOOK_SECONDS):
                interrupts.check()
                if self._client.scheduler_info()["workers"]:
                    seen = time.monotonic()
                elif time.monotonic() > seen + PATIENCE:
                    raise InputError("data.scheduler", "all workers of the Dask cluster are gone", "start them again, with more memory")
            answer = future.result()
        except KilledWorker:
            raise InputError("data.engine", "workers died again and again while they counted", "give them more memory") from None
        except (CancelledError, OSError):
            raise InputError("data.scheduler", "the Dask cluster was lost while it counted", "see whether its scheduler runs") from None
        finally:
            self._client.cancel([future], force=True)
        if isinstance(answer, _Failed):
            raise answer.error()
        return cast("Tables", answer)


@dataclass(frozen=True)
class _Failed:
    """A failure that a task returns, because Dask would log the arguments of an exception.

    Attributes:
        kind: The type name of the exception.
        parts: The field, problem and remedy of an `InputError`; empty for other exceptions.
    """

    kind: str
    parts: tuple[str, ...] = ()

    def error(self) -> Exception:
        """Return the exception that this failure stands for."""
        if not self.parts:
            return RuntimeError(f"counting a part failed with {self.kind}")
        return (CapacityError if self.kind == CapacityError.__name__ else InputError)(*self.parts)


def _run(program: str, task: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task on a worker and return its result, or a `_Failed` in place of any exception.

    Args:
        program: The identity of the program that submitted the task. The worker has to run the same
            one.
        task: The function to run.
        *arguments: The arguments of the function. If one is a `_Failed`, it is returned and nothing
            is run.
    """
    if program != build.identity():
        return _Failed(InputError.__name__, _OTHER_PROGRAM)
    flat = [one for argument in arguments for one in (argument if isinstance(argument, list) else [argument])]
    if (failed := next((one for one in flat if isinstance(one, _Failed)), None)) is not None:
        return failed
    try:
        return task(*arguments)
    except InputError as error:
        return _Failed(type(error).__name__, (error.field, error.problem, error.remedy))
    except Exception as error:  # noqa: BLE001 (its text could quote a record)
        return _Failed(type(error).__name__)


@dataclass(frozen=True)
class _Job:
    """The inputs that all tasks of a count share.

    Attributes:
        records: The table with the rule for which records are counted.
        new: Makes an empty counter.
    """

    records: Records
    new: New


def _turnout(job: _Job, part: Part, keys: Keys) -> Turnout:
    """Return the number of rows of each person in a part."""
    return job.records.turnout(part, keys)


def _met(turnouts: list[Turnout], limit: int) -> tuple[Turnout, ...]:
    """Return per part its persons' rows in earlier parts, from all parts' turnouts in order."""
    return tuple(persons.earlier(turnouts, limit))


def _count(job: _Job, part: Part, keys: Keys, before: list[Turnout]) -> Tables:
    """Return the arrays of a counter of one part.

    Args:
        job: The inputs that all tasks share.
        part: The part.
        keys: The keys of the hash of persons.
        before: The rows of the part's persons in the earlier parts; empty without a person column.
    """
    counts = job.new()
    rows_before = persons.together(before, job.records.max_rows_per_person).before(keys) if before else persons.nobody
    for _ in job.records.add_to(counts, part, rows_before):
        pass
    return counts.tables


def _sum(job: _Job, tables: list[Tables]) -> Tables:
    """Return the sum of the arrays of several counters of different records."""
    counts = job.new()
    for some in tables:
        counts.absorb(some)
    return counts.tables
