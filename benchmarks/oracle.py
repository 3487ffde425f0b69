"""How fast the data player's problem is solved: CP-SAT on all processors as mechanisms use it, and HiGHS in one process beside it.

    python -m benchmarks.oracle

Adult, 3-way cells and negations, exponential perturbation. Where the queries come from makes the difference, so there are three sorts:

    played     FEM's own game on 64 marginals: each round the exponential mechanism picks what the rows so far get most wrong
    frequent   the cells of random people at random columns, 30 % negated
    random     any cells at any columns, 30 % negated

Looks at true counts: right for a public table, and for nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import figures
from benchmarks.milp import milp
from benchmarks.table import ADULT_FOLDER, RESULTS
from dpsynth_core.research.oracles.answer import Limit, Solution
from dpsynth_core.research.oracles.pool import Pool
from dpsynth_core.research.oracles.records.climb import Climber
from dpsynth_core.research.oracles.records.cpsat import CpSatOracle
from dpsynth_core.research.oracles.records.presolve import reduce
from dpsynth_core.research.oracles.records.problem import Linear, RecordProblem, Records, SignedQueries
from dpsynth_core.research.vocabulary.queries import QueryClass
from dpsynth_core.vocabulary.domain import Domain

SORTS = ("played", "frequent", "random")
SIZES = (100, 1000)
NEGATED = 0.3
PICKS_A_ROUND = 5
DRAWS_A_ROUND = 10
EPS_A_PICK = 0.01
"""Of the game: more than the paper's 0.003 to 0.02 a round altogether, so that a game of 1,000 distinct queries stays short."""

HEAD = ("queries", "distinct", "solver", "limit", "answers", "a second", "median ms", "95 % ms", "CPU ms", "certified", "gap", "worst gap")


@dataclass(frozen=True)
class Measured:
    """Of one solver on one instance. seconds: wall time of all answers together, on `processes` processes; wall and CPU times of one
    answer in milliseconds; gap: mean of (bound - value)/|value|, as a fraction; value: mean."""

    sort: str
    distinct: int
    options: int
    solver: str
    limit_seconds: float
    processes: int
    answers: int
    seconds: float
    answers_a_second: float
    median_ms: float
    slow_ms: float
    cpu_ms: float
    certified: float
    gap: float
    largest_gap: float
    value: float
    load: float


Timed = tuple[Solution, float]
"""An answer and the processor seconds it took."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    setting = figures.adult(3, folder=options.data)
    timings: list[Measured] = []
    for sort in options.sorts:
        for distinct in options.distinct:
            queries = instance(sort, setting, distinct, options.eta)
            draws = perturbations(setting.domain, options.eta, options.draws)
            for measured in measure(sort, queries, draws, options):
                timings.append(measured)
                print(_line(measured), file=sys.stderr)
                _write(timings, options)
    return 0


def measure(sort: str, queries: SignedQueries, draws: Sequence[Linear], options: argparse.Namespace) -> list[Measured]:
    """CP-SAT within the short limit and until the proof, HiGHS until the proof; fewer draws where each takes long."""
    small = len(queries.net.weights) <= 200
    few, fewer = (len(draws), max(len(draws) // 10, 1)) if small else (max(len(draws) // 20, 2), max(len(draws) // 60, 1))
    plans: list[tuple[str, float, int]] = [("CP-SAT", options.patience, few), ("HiGHS", options.patience, fewer)]
    if not small:
        plans.insert(0, ("CP-SAT", options.seconds, max(len(draws) // 4, 2)))
    return [_measure(sort, queries, draws[:count], solver, Limit(seconds)) for solver, seconds, count in plans]


def _measure(sort: str, queries: SignedQueries, draws: Sequence[Linear], solver: str, limit: Limit) -> Measured:
    load = os.getloadavg()[0]
    if solver == "HiGHS":
        processes, began = 1, time.perf_counter()
        highs = _highs((queries, limit))
        timed = [highs(linear) for linear in draws]
        taken = time.perf_counter() - began
    else:
        with Pool() as pool:
            pool.map(_cpsat, (queries, limit), draws[: 2 * pool.processes], limit.seconds)  # the processes have started
            processes, began = pool.processes, time.perf_counter()
            answers = pool.map(_cpsat, (queries, limit), draws, limit.seconds)
            timed = [(Solution.from_json(answer), seconds) for answer, seconds in answers]
            taken = time.perf_counter() - began
    return _summary(sort, queries, solver, limit, processes, timed, taken, max(load, os.getloadavg()[0]))


def _summary(
    sort: str, queries: SignedQueries, solver: str, limit: Limit, processes: int, timed: Sequence[Timed], taken: float, load: float
) -> Measured:
    answers = [answer for answer, _ in timed]
    wall = np.array([answer.seconds for answer in answers]) * 1e3
    gaps = np.array([answer.gap / max(abs(answer.value), 1e-9) for answer in answers])
    return Measured(
        sort=sort,
        distinct=len(queries.net.weights),
        options=reduce(queries).size,
        solver=solver,
        limit_seconds=limit.seconds,
        processes=processes,
        answers=len(answers),
        seconds=round(taken, 3),
        answers_a_second=round(len(answers) / taken, 2),
        median_ms=round(float(np.median(wall)), 2),
        slow_ms=round(float(np.quantile(wall, 0.95)), 2),
        cpu_ms=round(float(np.mean([cpu for _, cpu in timed])) * 1e3, 2),
        certified=float(np.mean([answer.certified for answer in answers])),
        gap=float(gaps.mean()) if gaps.mean() > 1e-7 else 0.0,  # what is left of a proof is rounding
        largest_gap=float(gaps.max()) if gaps.max() > 1e-7 else 0.0,
        value=round(float(np.mean([answer.value for answer in answers])), 4),
        load=round(load, 2),
    )


def _cpsat(shared: tuple[SignedQueries, Limit]) -> Callable[[Linear], tuple[dict[str, Any], float]]:
    oracle = CpSatOracle(shared[0])

    def timed(linear: Linear) -> tuple[dict[str, Any], float]:
        answer, seconds = _timed(lambda: oracle.answer(linear, shared[1]))
        return answer.to_json(), seconds

    return timed


def _highs(shared: tuple[SignedQueries, Limit]) -> Callable[[Linear], Timed]:
    return lambda linear: _timed(lambda: milp(RecordProblem(shared[0], linear), shared[1]))


def _timed(ask: Callable[[], Solution]) -> Timed:
    began = time.process_time()
    answer = ask()
    return answer, time.process_time() - began


# Instances


def instance(sort: str, setting: figures.Setting, distinct: int, eta: float, seed: int = 1) -> SignedQueries:
    """`distinct` different queries of one of the SORTS; those that are played have multiplicities."""
    rng = np.random.default_rng(seed)
    if sort == "played":
        return _played(setting, distinct, eta, rng)
    cells: dict[tuple[tuple[int, ...], tuple[int, ...]], None] = {}
    while len(cells) < distinct:
        columns = np.sort(rng.choice(len(setting.domain), size=3, replace=False))
        person = setting.codes[rng.integers(setting.rows)]
        values = person[columns] if sort == "frequent" else [rng.integers(setting.domain.attributes[c].size) for c in columns]
        cells[tuple(map(int, columns)), tuple(map(int, values))] = None
    places, codes = (np.array(part, dtype=np.int32) for part in zip(*cells, strict=True))
    signs = np.where(rng.random(distinct) < NEGATED, -1, 1).astype(np.int8)
    return SignedQueries(Records.of(setting.domain), places, codes, np.full(distinct, 3, np.int32), signs, np.ones(distinct))


def _played(setting: figures.Setting, distinct: int, eta: float, rng: np.random.Generator) -> SignedQueries:
    """The queries of a game in which the rows are found by climbing, several picks a round."""
    queries = QueryClass.of(setting.workload)
    truth = _counts(queries, setting.codes, 1.0)
    numbers, signs = np.array([rng.integers(queries.size)]), np.ones(1, dtype=np.int8)
    while True:
        chosen = SignedQueries.of(queries, numbers, signs)
        if len(chosen.net.weights) >= distinct:
            return chosen
        rows = _climbed(chosen, perturbations(setting.domain, eta, DRAWS_A_ROUND, int(rng.integers(2**31))))
        worse = truth - _counts(queries, rows, setting.rows / len(rows))
        scores = np.concatenate([worse, -worse]) * EPS_A_PICK / 2 + rng.gumbel(size=2 * queries.size)
        picks = np.argpartition(-scores, PICKS_A_ROUND)[:PICKS_A_ROUND]
        numbers = np.concatenate([numbers, picks % queries.size])
        signs = np.concatenate([signs, np.where(picks < queries.size, 1, -1).astype(np.int8)])


def _counts(queries: QueryClass, codes: NDArray[np.int32], weight: float) -> NDArray[np.float64]:
    numbers, times = queries.hits(codes)
    counts = np.zeros(queries.size)
    counts[numbers] = times * weight
    return counts


def _climbed(queries: SignedQueries, draws: Sequence[Linear]) -> NDArray[np.int32]:
    reduced, rng = reduce(queries), np.random.default_rng(0)
    climber, rows = Climber(reduced), []
    for linear in draws:
        costs, values = reduced.costs(linear)
        options = climber.climb(costs, rng)
        if options is not None:  # Adult has no impossible combinations
            rows.append(values[options])
    return np.array(rows, dtype=np.int32)


def perturbations(domain: Domain, eta: float, count: int, seed: int = 0) -> list[Linear]:
    """FEM's: an exponential variable with mean eta for each value of each column."""
    rng = np.random.default_rng(seed)
    return [tuple(rng.exponential(eta, attribute.size) for attribute in domain) for _ in range(count)]


# The record


def _line(m: Measured) -> str:
    numbers = (f"{m.answers_a_second:.1f}", f"{m.median_ms:.1f}", f"{m.slow_ms:.1f}", f"{m.cpu_ms:.1f}")
    share = (f"{m.certified:.0%}", f"{m.gap:.2%}", f"{m.largest_gap:.2%}")
    solver = f"{m.solver}, {m.processes} process{'es' if m.processes > 1 else ''}"
    return _row((m.sort, str(m.distinct), solver, f"{m.limit_seconds:g} s", str(m.answers), *numbers, *share))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def verdicts(timings: Sequence[Measured]) -> list[str]:
    """For each instance, which solver needs less processor time until its proof or the limit, and how many times less."""
    lines = []
    for sort, distinct in dict.fromkeys((m.sort, m.distinct) for m in timings):
        last = {m.solver: m for m in timings if (m.sort, m.distinct) == (sort, distinct)}
        if {"CP-SAT", "HiGHS"} <= set(last):
            fast, slow = sorted(("CP-SAT", "HiGHS"), key=lambda solver: last[solver].cpu_ms)
            ratio = last[slow].cpu_ms / last[fast].cpu_ms
            at_least = "" if last[slow].certified == 1 else "at least "
            lines.append(f"- {distinct:,} {sort} queries: {fast} is {at_least}{ratio:.1f} times as fast as {slow}.")
    return lines


def _write(timings: Sequence[Measured], options: argparse.Namespace) -> None:
    options.results.mkdir(parents=True, exist_ok=True)
    versions = {name: version(name) for name in ("ortools", "scipy", "numpy")}
    about: dict[str, Any] = {"began": datetime.now(UTC).isoformat(timespec="seconds"), "cores": os.cpu_count(), "versions": versions}
    record = {**about, "eta": options.eta, "runs": [asdict(m) for m in timings]}
    (options.results / "oracle.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    head = (
        f"Adult, 3-way queries, exponential perturbation of mean {options.eta:g}; on {os.cpu_count()} cores, load {timings[-1].load:g}, "
        f"{about['began'][:10]}, OR-Tools {versions['ortools']}, SciPy {versions['scipy']}. CPU: of one answer, on one core."
    )
    table = [_row(HEAD), "|---" * len(HEAD) + "|", *map(_line, timings)]
    text = "\n".join([head, "", *table, "", *verdicts(timings)])
    (options.results / "oracle.md").write_text(text + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="benchmarks.oracle", description=__doc__, formatter_class=form)
    parser.add_argument("--sorts", nargs="+", choices=SORTS, default=list(SORTS))
    parser.add_argument("--distinct", nargs="+", type=int, default=list(SIZES), help="numbers of distinct queries (default: %(default)s)")
    parser.add_argument("--draws", type=int, default=200, help="perturbations of an instance; fewer where answers take long")
    parser.add_argument("--eta", type=float, default=2.0, help="mean of the perturbation, in units of one query (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.3, help="short limit for more than 200 queries (default: %(default)s)")
    parser.add_argument("--patience", type=float, default=10.0, help="limit of a proof (default: %(default)s)")
    parser.add_argument("--data", type=Path, default=ADULT_FOLDER, help="folder of Adult")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    from benchmarks import oracle  # the solver processes import our functions by this name

    sys.exit(oracle.main())
