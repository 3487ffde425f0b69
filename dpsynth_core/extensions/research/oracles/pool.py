"""Solver processes, started once and used for many rounds: the draws of a round are spread over them.

They end with the `with` block, and when this process dies in any way (`foundation.confined`). Questions are pickled; answers are JSON
values. A process that dies, hangs or fails ends the whole pool with an OracleError; the pool cannot be used again.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any, Self

from dpsynth_core.extensions.research.oracles.records.cpsat import CpSatOracle
from dpsynth_core.extensions.research.oracles.records.problem import Linear, RecordProblem, SignedQueries
from dpsynth_core.extensions.research.oracles.search import Limit, Solution
from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.confined import NEXT, Ended, Work
from dpsynth_core.foundation.errors import InputError, OracleError
from dpsynth_core.foundation.processors import available

PATIENCE_SECONDS = 60.0
"""Seconds beyond its limit after which a job's process counts as hung: a busy machine, a large presolve."""

_GLANCE_SECONDS = 0.2
"""Seconds between checks for a signal while waiting for solvers."""

_SOLVE, _LOAD = f"{__name__}:solve", ("ortools.sat.python.cp_model",)
"""The function that solver processes run, and its modules that take long to load; they are loaded once, before the processes are made."""

Prepare = Callable[[Any], Callable[[Any], Any]]


@dataclass(frozen=True, eq=False)
class Setup:
    """The first message to a solver process: how to answer the arguments that follow.

    Attributes:
        prepare: A function, pickled by its name, that is called once in the process with `shared`
            and returns the function that answers each argument.
        shared: The common part of all questions.
    """

    prepare: Prepare
    shared: Any


class Pool:
    """Solver processes that answer questions in parallel. A context manager, not for several threads.

    Args:
        processes: Number of processes; None for one per processor that this program may use.
        patience: Seconds beyond a question's time limit after which its process counts as hung.

    Raises:
        ValueError: The number of processes is below 1.
    """

    def __init__(self, processes: int | None = None, patience: float = PATIENCE_SECONDS) -> None:
        if processes is not None and processes < 1:
            raise ValueError("a pool needs at least one process")
        self.processes = processes or available()
        self._patience = patience
        self._solvers: list[Work] = []

    def __enter__(self) -> Self:
        try:
            for _ in range(self.processes):
                self._solvers.append(Work(_SOLVE, load=_LOAD))
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Kill the processes, even during a search, and wait until they have ended. A second call does nothing."""
        for solver in self._solvers:
            solver.kill()
        self._solvers = []

    def solve_many(self, problems: Sequence[RecordProblem], limit: Limit) -> list[Solution]:
        """Find the best record of each problem by CP-SAT, and return the solutions in order; [] without problems.

        Problems with the same SignedQueries object share one model. A solution may lack a proof, or
        be a failed one (`Solution.status`).

        Args:
            problems: The problems.
            limit: The limit of each search.

        Raises:
            OracleError: A process failed or hung, which closes the pool, or the pool is not open (outside
                its `with` block).
        """
        answers: dict[int, Solution] = {}
        for queries in {id(problem.queries): problem.queries for problem in problems}.values():
            places = [i for i, problem in enumerate(problems) if problem.queries is queries]
            arguments = [(problems[i].linear, limit) for i in places]
            found = self.map(_record_oracle, queries, arguments, limit.seconds)
            answers |= zip(places, map(Solution.from_json, found), strict=True)
        return [answers[i] for i in range(len(problems))]

    def map(self, prepare: Prepare, shared: Any, arguments: Sequence[Any], seconds: float) -> list[Any]:
        """Return prepare(shared)(argument) for each argument, in order, computed in the solver processes.

        Args:
            prepare: A function at the top level of a module other than the main one, which no other
                process can import. It runs once in each process that takes part, and returns the
                function that answers arguments with JSON values.
            shared: The common part of all questions, which is pickled.
            arguments: The arguments; without any, the result is [].
            seconds: Longest expected duration of one argument, or infinity. A process that takes
                longer than this plus the pool's patience counts as hung.

        Raises:
            ValueError: `prepare` is defined in the main module.
            OracleError: A process failed or hung, which closes the pool, or the pool is not open (outside
                its `with` block).
        """
        if prepare.__module__ == "__main__":
            raise ValueError("a solver process cannot import a function of the main module")
        if not self._solvers:
            raise OracleError("its processes are not running", "start the run again")
        try:
            return self._map(pickle.dumps(Setup(prepare, shared)), arguments, seconds + self._patience)
        except BaseException:
            self.close()
            raise

    def _map(self, setup: bytes, arguments: Sequence[Any], seconds: float) -> list[Any]:
        left = list(reversed(list(enumerate(arguments))))
        results: dict[int, Any] = {}
        busy: dict[Work, tuple[int, float]] = {}

        def begin(solver: Work) -> None:
            number, argument = left.pop()
            solver.send(pickle.dumps(argument))
            busy[solver] = number, time.monotonic() + seconds

        for solver in self._solvers[: len(left)]:
            solver.send(setup)
            begin(solver)
        while busy:
            for solver in _ready(list(busy), min(deadline for _, deadline in busy.values())):
                number, _ = busy.pop(solver)
                results[number] = _answer(solver)
                if left:
                    begin(solver)
        return [results[i] for i in range(len(arguments))]


def _answer(solver: Work) -> Any:
    """Return the answer of a solver process that is ready.

    Every failure becomes an OracleError, because a failure on a question about private records is
    an answer about them as well.

    Raises:
        OracleError: The process ended or its question failed.
    """
    try:
        return next(solver)
    except Ended as ended:
        interrupts.check()  # a signal to the whole group has ended it as well
        remedy = "if memory was short, use fewer rounds or a smaller workload"
        raise OracleError(f"a solver process {ended.problem}", remedy) from None
    except InputError as error:
        raise OracleError(f"a solver process failed: {error.problem}", error.remedy) from None


def _ready(busy: Sequence[Work], deadline: float) -> list[Work]:
    """Wait until solvers have answered or ended, and return these.

    Args:
        busy: The solvers that have a question.
        deadline: Time (`time.monotonic`) at which the oldest question counts as hung.

    Raises:
        OracleError: The deadline has passed.
    """
    while True:
        interrupts.check()
        left = deadline - time.monotonic()
        if ready := wait([solver.fileno() for solver in busy], min(max(left, 0.0), _GLANCE_SECONDS)):
            return [solver for solver in busy if solver.fileno() in ready]
        if left <= 0:
            raise OracleError("a solver process went far beyond its time limit", "try again when the machine is less busy")


def solve() -> Generator[Any, Any, None]:
    """Run a solver process: receive pickles of a `Setup` and then of arguments, and yield the answer to each argument."""
    answer: Callable[[Any], Any] | None = None
    while True:
        message = pickle.loads((yield NEXT))
        if isinstance(message, Setup):
            answer = message.prepare(message.shared)
        elif answer is not None:
            yield answer(message)


def _record_oracle(queries: SignedQueries) -> Callable[[tuple[Linear, Limit]], dict[str, Any]]:
    """Return the function that answers (perturbation, limit) with a `Solution` as JSON, in a solver process."""
    oracle = CpSatOracle(queries)
    return lambda draw: oracle.answer(*draw).to_json()
