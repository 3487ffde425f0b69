"""What the games share: records are possible ones, a search that fails costs accuracy only, and none possible is said before spending."""

from __future__ import annotations

import json
import math
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

from dpsynth_core.extensions.research.mechanisms.games import query_game
from dpsynth_core.extensions.research.mechanisms.games.query_game import Searches, Signed, together
from dpsynth_core.extensions.research.oracles.records import problem
from dpsynth_core.extensions.research.oracles.records.problem import Exhaustion, RecordProblem, Records
from dpsynth_core.extensions.research.oracles.search import Limit, Solution
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass
from dpsynth_core.foundation.errors import OracleError
from dpsynth_core.mechanisms.registry import configured, get
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.foundation.processes import workers
from tests.mechanisms.runs import DOMAIN, people
from tests.patience import wait_until
from tests.privacy.tables import ArraySource
from tests.refusals import refused

GAMES = pytest.mark.parametrize("name", ["fem", "sepfem", "dualquery", "dqrs"])
RULES = (StructuralZeros(("a", "b"), (((0, 1), (0, 1)),)), StructuralZeros(("b", "c", "d"), (((2,), (0, 1, 2), (0,)),)))
LIMITED = Domain(DOMAIN.attributes, RULES)
IMPOSSIBLE = ArraySource(LIMITED, np.zeros((500, 4), dtype=np.int32))


def kernel_of(source: ArraySource, rho: float = 0.05) -> PrivacyKernel:
    return PrivacyKernel(source, Unit(), rho, SeededNoise(3))


@GAMES
@pytest.mark.parametrize("largest", [0, problem.MAX_RECORDS], ids=["solver", "all records"])
def test_no_record_is_impossible_however_many_people_are(name: str, largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "MAX_RECORDS", largest)
    few = {"records": 3, "rounds": 6} if name.endswith("fem") else {"samples": 5, "rounds": 8}
    *_, finished = configured(get(name), few).steps(kernel_of(IMPOSSIBLE), all_kway(LIMITED, 2))
    assert Records.of(LIMITED).possible(finished.model.codes).all()
    rows = finished.model.rows(300, {}, np.random.default_rng(1))
    assert rows.shape == (300, 4)
    assert Records.of(LIMITED).possible(rows).all()


class Failing:
    """Finds the first record, and from the given search on nothing."""

    def __init__(self, searches: int) -> None:
        self.left, self.whole = searches, Exhaustion.of(Records.of(DOMAIN))

    def solve_many(self, problems: Sequence[RecordProblem], limit: Limit) -> list[Solution]:
        answers = self.whole.solve_many(problems, limit)
        self.left, before = self.left - len(answers), self.left
        return [answer if i < before else Solution.failed(math.inf) for i, answer in enumerate(answers)]


def failing(searches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def oracle(_domain: Domain, _draws: int) -> Iterator[Failing]:
        yield Failing(searches)

    monkeypatch.setattr(query_game, "_oracle", oracle)


@GAMES
def test_searches_that_find_nothing_cost_accuracy_only(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(3, monkeypatch)
    kernel = kernel_of(people())
    *_, finished = configured(get(name), {}).steps(kernel, all_kway(DOMAIN, 2))
    assert len(finished.model.codes) <= 3
    assert kernel.rho_spent == pytest.approx(0.05, rel=1e-8)
    assert finished.details["certified"] < finished.details["searches"]
    json.dumps(finished.details, allow_nan=False)


@GAMES
def test_that_no_record_is_found_is_said_before_anything_is_spent(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    failing(0, monkeypatch)
    source = people()
    kernel = kernel_of(source)
    with pytest.raises(OracleError, match="no row was found that the impossible combinations allow; allow a search more time"):
        next(configured(get(name), {}).steps(kernel, all_kway(DOMAIN, 2)))
    assert (kernel.rho_spent, source.passes) == (0, [])


def test_a_solver_that_dies_ends_the_run_with_a_message_and_what_was_spent_stays_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "MAX_RECORDS", 0)
    kernel = kernel_of(people())
    steps = configured(get("dualquery"), {}).steps(kernel, all_kway(DOMAIN, 2))
    next(steps), next(steps)
    spent = kernel.rho_spent
    for solver in workers():
        os.kill(solver, signal.SIGKILL)
    wait_until(lambda: not workers())
    refused(list, steps, kind=OracleError, saying="solver process")
    assert spent <= kernel.rho_spent < 0.05


def test_the_output_leaves_out_the_first_rounds_it_was_asked_to() -> None:
    rounds = [np.full((2, 4), code, dtype=np.int32) for code in (0, 1, 1, 1)]
    whole, rest = together(DOMAIN, rounds, 0.0, 80.0), together(DOMAIN, rounds, 0.3, 80.0)
    assert whole.weights.tolist() == [20.0, 60.0]
    assert rest.codes.tolist() == [[1, 1, 1, 1]]
    assert rest.weights.tolist() == [80.0]


def test_uniform_choices_cover_the_class_and_its_negations() -> None:
    queries = QueryClass.of(all_kway(DOMAIN, 1))
    drawn = Signed.uniform(queries, 2000, np.random.default_rng(5))
    assert set(zip(drawn.numbers.tolist(), drawn.signs.tolist(), strict=True)) == {(i, s) for i in range(queries.size) for s in (-1, 1)}


def test_searches_are_told_in_numbers() -> None:
    searches = Searches()
    codes = np.zeros(4, dtype=np.int32)
    searches.add([Solution(codes, 1.0, 1.0, "optimal"), Solution(codes, 1.0, 3.5, "feasible"), Solution.failed(math.inf)])
    assert searches.to_json() == {"searches": 3, "certified": 1, "largest_gap": 2.5}
    assert str(searches) == "3 records, 33% proved best, largest gap 2.5"
