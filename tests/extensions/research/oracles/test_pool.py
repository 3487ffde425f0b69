"""Solver processes: same answers as in this process, and no way of dying that leaves one behind or the caller without a message."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dpsynth_core.extensions.research.oracles.pool import Pool
from dpsynth_core.extensions.research.oracles.records.problem import RecordProblem
from dpsynth_core.extensions.research.oracles.search import Limit
from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.errors import InputError, OracleError
from dpsynth_core.foundation.interrupts import Interrupted
from tests.extensions.research.oracles.brute_force import brute_force
from tests.extensions.research.oracles.problems import random_domain, random_problem, random_queries
from tests.foundation.processes import lives, workers
from tests.patience import wait_until
from tests.refusals import refused

LIMIT = Limit(seconds=20.0)


def slow(_: Any) -> Callable[[float], float]:
    return _sleep


def _sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def suicidal(_: Any) -> Callable[[Any], Any]:
    return lambda _: os.kill(os.getpid(), signal.SIGKILL)


def unable(text: str) -> Callable[[Any], Any]:
    raise LookupError(text)


def started(pool: Pool) -> list[int]:
    """The processes of a pool, once there are so many."""
    wait_until(lambda: len(workers()) == pool.processes)
    return workers()


def wait_until_gone(numbers: list[int]) -> None:
    wait_until(lambda: not any(map(lives, numbers)))


@pytest.fixture
def pool() -> Iterator[Pool]:
    with Pool(2) as running:
        yield running


def test_draws_of_a_round_are_answered_in_order(pool: Pool) -> None:
    rng = np.random.default_rng(1)
    queries = random_queries(rng, random_domain(rng, zeros=True), 15)
    problems = [RecordProblem(queries, tuple(rng.exponential(1.0, n) for n in queries.records.sizes)) for _ in range(7)]
    answers = pool.solve_many(problems, LIMIT)
    assert all(answer.certified for answer in answers)
    assert [answer.value for answer in answers] == pytest.approx([brute_force(problem).value for problem in problems], abs=1e-8)


def test_rounds_with_different_queries_may_be_mixed(pool: Pool) -> None:
    rng = np.random.default_rng(2)
    one, two = random_problem(rng), random_problem(rng)
    problems = [one, two, one]
    answers = pool.solve_many(problems, LIMIT)
    assert [answer.value for answer in answers] == pytest.approx([brute_force(problem).value for problem in problems], abs=1e-8)


def test_nothing_to_solve_is_no_problem(pool: Pool) -> None:
    assert pool.solve_many([], LIMIT) == []


def test_a_failure_says_its_type_and_never_its_text() -> None:
    with Pool(1) as pool, pytest.raises(OracleError) as caught:
        pool.map(unable, "Alice, 42, HIV positive", [1, 2], 5.0)
    assert "LookupError" in str(caught.value)
    assert "Alice" not in str(caught.value)


class Unreadable:
    """Can be sent, and not be received."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (unable, ("Alice",))


def test_a_message_that_cannot_be_read_is_no_hang() -> None:
    with Pool(1) as pool, pytest.raises(OracleError, match="failed with LookupError"):
        pool.map(slow, None, [Unreadable()], 30.0)


def test_a_function_that_no_process_can_import_is_refused(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow, "__module__", "__main__")
    refused(pool.map, slow, None, [0.0], 5.0, kind=ValueError, saying="main module")


def test_a_process_that_dies_is_reported_and_ends_the_pool() -> None:
    with Pool(2) as pool:
        running = started(pool)
        refused(pool.map, suicidal, None, [1, 2, 3], 5.0, kind=OracleError, saying="signal 9")
        wait_until_gone(running)
        refused(pool.map, slow, None, [0.0], 5.0, kind=OracleError, saying="not running")


def test_a_process_killed_between_rounds_is_reported() -> None:
    with Pool(1) as pool:
        pool.map(slow, None, [0.0], 5.0)
        os.kill(started(pool)[0], signal.SIGKILL)
        refused(pool.map, slow, None, [0.0], 5.0, kind=OracleError, saying="ended by signal 9")


def test_a_process_that_hangs_is_reported_and_killed() -> None:
    with Pool(1, patience=1.5) as pool:
        running = started(pool)
        refused(pool.map, slow, None, [60.0], 0.5, kind=OracleError, saying="time limit")
        wait_until_gone(running)


def test_what_the_pool_raises_is_shown_like_other_errors_of_ours() -> None:
    assert issubclass(OracleError, InputError)


@pytest.mark.parametrize("to_the_solver", [False, True])
def test_a_signal_that_was_noted_ends_a_search_of_any_length(monkeypatch: pytest.MonkeyPatch, to_the_solver: bool) -> None:
    """Also where the signal went to the whole group, so that the solver's end is not a failure of its own."""

    def note(_number: int, _frame: Any) -> None:
        monkeypatch.setattr(interrupts, "_requested", True)
        if to_the_solver:
            os.kill(solver, signal.SIGTERM)

    old = signal.signal(signal.SIGALRM, note)
    try:
        with Pool(1) as pool:
            (solver,) = started(pool)
            signal.setitimer(signal.ITIMER_REAL, 1.0)
            with pytest.raises(Interrupted):
                pool.map(slow, None, [60.0], math.inf)
            wait_until_gone([solver])
    finally:
        signal.signal(signal.SIGALRM, old)


class Cancelled(BaseException):
    """As a run is cancelled: raised by a signal handler, anywhere."""


def test_a_cancel_in_the_middle_of_a_search_kills_the_processes() -> None:
    def stop(_number: int, _frame: Any) -> None:
        raise Cancelled

    before = signal.signal(signal.SIGUSR1, stop)
    try:
        with Pool(2) as pool:
            running = started(pool)
            threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            with pytest.raises(Cancelled):
                pool.map(slow, None, [60.0, 60.0, 60.0], 60.0)
            wait_until_gone(running)
    finally:
        signal.signal(signal.SIGUSR1, before)


PARENT = """
import sys
import numpy as np
from dpsynth_core.extensions.research.oracles.search import Limit
from dpsynth_core.extensions.research.oracles.pool import Pool
from dpsynth_core.extensions.research.oracles.records.problem import RecordProblem, Records, SignedQueries
from tests.foundation.processes import workers
from tests.patience import wait_until

rng = np.random.default_rng(0)
columns = np.sort(rng.random((3000, 20)).argsort(axis=1)[:, :4].astype(np.int32), axis=1)
values = rng.integers(0, 3, columns.shape).astype(np.int32)
signs = rng.choice(np.array([1, -1], dtype=np.int8), 3000)
hard = SignedQueries(Records((3,) * 20), columns, values, np.full(3000, 4, dtype=np.int32), signs, np.ones(3000))
with Pool(2) as pool:
    wait_until(lambda: len(workers()) == 2)
    print(*workers(), flush=True)
    pool.solve_many([RecordProblem.unperturbed(hard)] * 4, Limit(seconds=60.0))
    print("solved")
"""


def test_processes_do_not_outlive_a_parent_that_is_killed_during_a_search() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    children = [int(pid) for pid in parent.stdout.readline().split()]
    time.sleep(4.0)  # long enough to be in CP-SAT, where a thread of Python's own has to notice
    assert all(map(lives, children))
    parent.kill()
    assert parent.wait() == -signal.SIGKILL
    wait_until_gone(children)
    assert "solved" not in parent.stdout.read()
    parent.stdout.close()
