"""Solver processes, started once and used for many rounds: the draws of a round are spread over them.

Each is a fresh Python of its own (no fork of a program with threads, no second import of its main module), joined to us by a socket.
They end with the `with` block, and when this process dies in any way: the socket closes, and they watch it. A process that dies, hangs or
fails ends the whole pool with an OracleError; the pool cannot be used again.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.errors import OracleError
from dpsynth_core.foundation.processors import available
from dpsynth_core.foundation.threads import ONE_THREAD
from dpsynth_core.oracles.answer import Limit, Solution
from dpsynth_core.oracles.records.cpsat import CpSatOracle
from dpsynth_core.oracles.records.problem import Linear, RecordProblem, SignedQueries
from dpsynth_core.oracles.solver_process import Failed, Setup, SolverJob

PATIENCE_SECONDS = 60.0
"""How much longer than its limit a job may take before its process counts as hung: a busy machine, a large presolve."""

_GLANCE_SECONDS = 0.2
"""How often a wait for solvers checks whether a signal asked the program to stop."""

_PROGRAM = "import sys; from dpsynth_core.oracles.solver_process import main; main(int(sys.argv[1]))"
_PACKAGE = Path(__file__).resolve().parents[2]


class Pool:
    """`processes` solver processes, by default one for each processor we may use. A context manager; not for several threads."""

    def __init__(self, processes: int | None = None, patience: float = PATIENCE_SECONDS) -> None:
        if processes is not None and processes < 1:
            raise ValueError("a pool needs at least one process")
        self.processes = processes or available()
        self._patience = patience
        self._solvers: list[_Solver] = []

    def __enter__(self) -> Self:
        try:
            for _ in range(self.processes):
                self._solvers.append(_Solver())
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Kill the processes, in the middle of a search or not, and wait until they are gone."""
        for solver in self._solvers:
            solver.process.kill()
        for solver in self._solvers:
            solver.process.wait()
            solver.connection.close()
        self._solvers = []

    def solve_many(self, problems: Sequence[RecordProblem], limit: Limit) -> list[Solution]:
        """The best record of each problem, in order, by CP-SAT. Problems that share their SignedQueries object share one model.

        Raises OracleError, after which the pool is closed.
        """
        answers: dict[int, Solution] = {}
        for queries in {id(problem.queries): problem.queries for problem in problems}.values():
            places = [i for i, problem in enumerate(problems) if problem.queries is queries]
            arguments = [(problems[i].linear, limit) for i in places]
            answers |= zip(places, self.map(_record_oracle, queries, arguments, limit.seconds), strict=True)
        return [answers[i] for i in range(len(problems))]

    def map(
        self, prepare: Callable[[Any], Callable[[Any], Any]], shared: Any, arguments: Sequence[Any], seconds: float
    ) -> list[Any]:
        """prepare(shared)(argument) for each argument, in order; `prepare` runs once in each process that takes part.

        prepare: a function at the top of a module, other than the main one, which nobody else can import. seconds: what one argument
        should take at most, or infinity; that and the patience of the pool later its process counts as hung. Raises OracleError, after
        which the pool is closed.
        """
        if prepare.__module__ == "__main__":
            raise ValueError("a solver process cannot import a function of the main module")
        if not self._solvers:
            raise OracleError("its processes are not running", "start the run again")
        try:
            return self._map(Setup(prepare, shared), arguments, seconds + self._patience)
        except BaseException:
            self.close()
            raise

    def _map(self, setup: Setup, arguments: Sequence[Any], seconds: float) -> list[Any]:
        left = [SolverJob(i, argument) for i, argument in reversed(list(enumerate(arguments)))]
        results: dict[int, Any] = {}
        busy: dict[Connection, _Solver] = {}
        for solver in self._solvers[: len(left)]:
            solver.send(setup)
            solver.begin(left.pop(), seconds)
            busy[solver.connection] = solver
        while busy:
            for connection in _ready(busy):
                solver = busy[connection]
                number, result = solver.receive()
                results[number] = result
                if left:
                    solver.begin(left.pop(), seconds)
                else:
                    del busy[connection]
        return [results[i] for i in range(len(arguments))]


class _Solver:
    """One process and our end of its socket."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=_environment(),
            )
        self.connection = Connection(ours.detach())
        self.deadline = 0.0

    def begin(self, job: SolverJob, seconds: float) -> None:
        self.send(job)
        self.deadline = time.monotonic() + seconds

    def send(self, message: Setup | SolverJob) -> None:
        try:
            self.connection.send(message)
        except OSError:
            raise self._died() from None

    def receive(self) -> tuple[int, Any]:
        """(number of the job, result)."""
        try:
            number, result = self.connection.recv()
        except (EOFError, OSError):
            raise self._died() from None
        if isinstance(result, Failed):
            raise OracleError(f"a solver process failed with {result.kind}", "report this; with other settings it may work")
        return number, result

    def _died(self) -> OracleError:
        self.process.kill()  # it closed its socket, so it is on its way out or of no more use
        code = self.process.wait()
        interrupts.check()  # a signal to the whole group has ended it as well
        ending = f"by signal {-code}" if code < 0 else f"with code {code}"
        return OracleError(f"a solver process ended {ending}", "if memory was short, use fewer rounds or a smaller workload")


def _ready(busy: dict[Connection, _Solver]) -> list[Connection]:
    """The connections on which something arrived, or the other side is gone. OracleError once a job is past its deadline."""
    first = min(solver.deadline for solver in busy.values())
    while True:
        interrupts.check()
        left = first - time.monotonic()
        if ready := [one for one in wait(list(busy), min(max(left, 0.0), _GLANCE_SECONDS)) if isinstance(one, Connection)]:
            return ready
        if left <= 0:
            raise OracleError("a solver process went far beyond its time limit", "try again when the machine is less busy")


def _environment() -> dict[str, str]:
    """One thread for each process, and the path of this package."""
    path = os.pathsep.join([str(_PACKAGE), *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | ONE_THREAD | {"PYTHONPATH": path}


def _record_oracle(queries: SignedQueries) -> Callable[[tuple[Linear, Limit]], Solution]:
    """What a solver process does for the draws of a round."""
    oracle = CpSatOracle(queries)
    return lambda draw: oracle.answer(*draw)
