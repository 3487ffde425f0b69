"""Runs that depend on an oracle: cancelled in mid-search, a solver that is killed, no proof, refused plans."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import chain, ledger, processes, runs
from tests.foundation.processes import children, workers_of
from tests.refusals import refused
from tests.store.conftest import answered
from tests.store.test_runs import wait_for, worker_of

COLUMNS = [f"c{i}" for i in range(16)]
WIDE = [f"c{i}" for i in range(22)]
Make = Callable[..., Spec]


@pytest.fixture
def coins(tmp_path: Path) -> dict[str, Any]:
    """Columns that have nothing to do with each other: nobody proves the best parity over 15 of them in minutes."""
    path = tmp_path / "coins.csv"
    codes = np.random.default_rng(1).integers(0, 2, (3000, len(WIDE)))
    np.savetxt(path, codes, fmt="%d", delimiter=",", header=",".join(WIDE), comments="")
    return {"data": {"path": str(path)}, "domain": dict.fromkeys(COLUMNS, 2)}


def learning(work: float = 600.0, **settings: Any) -> dict[str, Any]:
    asked = {"rule": "parity", "learner": "laplace", "oracle": "cp-sat", "oracle_work": work}
    return {"mechanism": {"name": "learn", "settings": asked | settings}}


def game() -> dict[str, Any]:
    """FEM with more searches than anyone waits for; its solvers never see a record."""
    settings = {"choice_error": 10.0, "rounds": 500, "records": 1000}
    return {"mechanism": {"name": "fem", "settings": settings}, "workload": {"kind": "all", "k": 3}}


BOTH = pytest.mark.parametrize("fields", [learning(), game()], ids=["learn", "fem"])


def kinds(run: str) -> list[str]:
    return [entry.kind for entry in chain.entries() if entry.run == run]


def solvers_of(run: str) -> list[int]:
    return [solver for starter in children(worker_of(run)) for solver in workers_of(starter)]


def searching(run: str) -> list[int]:
    """The solver processes, once they have something to look for."""
    wait_for(lambda: runs.get("ann", run).touched and len(solvers_of(run)) > 0)
    if runs.get("ann", run).spec.mechanism.name == "fem":
        wait_for(lambda: answered(run) > 0)  # of the number of people, right before the first round
    return solvers_of(run)


@BOTH
def test_a_run_that_is_cancelled_in_the_middle_of_a_search_stops_at_once_and_stays_charged(
    make_spec: Make, project: str, coins: dict[str, Any], fields: dict[str, Any]
) -> None:
    run = runs.submit("ann", project, make_spec(**coins, **fields))
    solvers = searching(run)
    answers = answered(run)
    runs.cancel("ann", run)
    wait_for(lambda: not runs.get("ann", run).active)
    assert runs.get("ann", run).state == "cancelled"
    assert kinds(run) == ["reserve", "touch"]
    assert answered(run) - answers <= 1  # of a round that ended before it was cancelled
    wait_for(lambda: all(processes.birth(solver) is None for solver in solvers))


def test_a_solver_of_released_values_that_is_killed_ends_the_run_with_a_message_and_the_charge(
    make_spec: Make, project: str, coins: dict[str, Any]
) -> None:
    run = runs.submit("ann", project, make_spec(**coins, **game()))
    for solver in searching(run):
        os.kill(solver, signal.SIGKILL)
    wait_for(lambda: not runs.get("ann", run).active)
    finished = runs.get("ann", run)
    assert finished.state == "failed"
    assert "a solver process was ended by signal 9" in finished.error
    assert kinds(run) == ["reserve", "touch"]


@pytest.mark.parametrize("killed", [True, False])
def test_a_search_over_records_without_a_proof_ends_in_a_release_of_no_rule(
    make_spec: Make, project: str, coins: dict[str, Any], killed: bool
) -> None:
    """Whether its work ran out or its process was killed: neither is an error that could tell something about the records."""
    run = runs.submit("ann", project, make_spec(**coins, **learning(600.0 if killed else 0.002)))
    for solver in searching(run) if killed else ():
        os.kill(solver, signal.SIGKILL)
    wait_for(lambda: not runs.get("ann", run).active)
    assert runs.get("ann", run).state == "done"
    assert runs.release("ann", run).details["rule"]["sentence"] == "No rule: the oracle did not prove its answer within its limit."
    assert kinds(run)[:2] == ["reserve", "touch"]


def test_plans_that_cannot_run_are_refused_and_nothing_is_reserved(make_spec: Make, project: str, coins: dict[str, Any]) -> None:
    with pytest.raises(CapacityError, match="it has 4 values, and rules are learnt over columns with two"):
        runs.submit("ann", project, make_spec(**learning()))
    with pytest.raises(CapacityError, match=r"PRSMA would need [\d,]+ oracle calls"):
        runs.submit("ann", project, make_spec(**coins, **learning(learner="prsma"), unit={"relation": "replace"}))
    refused(runs.submit, "ann", project, make_spec(**coins, **learning(learner="prsma")), kind=CapacityError, saying="one replaced record")
    with pytest.raises(CapacityError, match="domain: 21 columns are more than the 20 over which a parity can be learnt; drop columns"):
        runs.submit("ann", project, make_spec(**coins | {"domain": dict.fromkeys(WIDE, 2)}, **learning()))
    with pytest.raises(InputError, match="'decision_tree' is not one of conjunction"):
        runs.submit("ann", project, make_spec(**coins, **learning(rule="decision_tree")))
    lists = {"name": "oraclequery", "settings": {"rule": "decision_list"}}
    with pytest.raises(InputError, match="'decision_list' is not one of conjunction, disjunction, parity, halfspace"):
        runs.submit("ann", project, make_spec(**coins, mechanism=lists))
    assert chain.entries() == ()


def test_a_learner_with_a_delta_of_its_own_reserves_it(make_spec: Make, project: str, coins: dict[str, Any], no_workers: list[str]) -> None:
    run = runs.submit("ann", project, make_spec(**coins, **learning(learner="gaussian", oracle="auto", rule="conjunction")))
    assert no_workers == [run]
    assert ledger.reservation(run).own_delta == 5e-10
