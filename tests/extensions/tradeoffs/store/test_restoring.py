"""A sweep in a home that was put back from a copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dpsynth_core.extensions.tradeoffs import sweeps
from dpsynth_core.extensions.tradeoffs.sweep import Sweep
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import dispatch, jobs
from dpsynth_core.store.restoring import restore
from tests.extensions.tradeoffs.store.test_sweeps import die
from tests.store.test_ledger import reserve
from tests.store.test_restoring import REASON, RHO, copy, put_back


def test_a_private_sweep_of_a_copy_does_not_go_on(home: Path, make_spec: Callable[..., Spec], project: str, no_workers: list[str]) -> None:
    sweep = sweeps.submit("ann", project, Sweep(make_spec(), "private", ("independent", "gaussian"), (1.0,), (3,), 1))
    dispatch.claim(sweep)
    dispatch.take(sweep)
    jobs.touch(sweep)
    die(sweep)
    dispatch.stop(sweep)
    old = copy(home)
    reserve("r1", RHO)
    put_back(home, old)
    restore("local", REASON)
    sweeps.resume("ann", sweep)
    dispatch.pump()
    assert {point.state for point in sweeps.points("ann", sweep)} == {"lost"}
    assert len(no_workers) == 2, "those of before"
