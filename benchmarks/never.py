"""Is AIM, or the mechanism that is recommended, ever worse than the better of Independent and MST?

    python -m benchmarks never --label now --runs 3
    python -m benchmarks never --label now --runs 12 --cases tree-1000/pairs twos-200/few --epsilons 0.1

A case is a table and a workload, `--cases` names them; all mechanisms of a case have the same seeds. What counts is how much more AIM errs
than the better one, as times that one's error. Beyond doubt is what is above that in a one-sided test of the differences of the same seeds
with 95 % (Student): of cases that are just at what is allowed, one in twenty is beyond doubt by chance. Ranges are judged by their largest
errors, in the mean over columns alone and within the cells of others; other workloads as in `shapes`. A dozen of the cases were looked at
when what AIM asks of dependence was chosen (docs/accuracy.md names them).
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from benchmarks import invented, ranges, record, shapes
from benchmarks.record import Point, Program
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.recommendation import USUAL, Situation, recommend
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.unit import ADD_REMOVE, REPLACE, Unit
from dpsynth_core.sources import simulated
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.statistics.distances import scaled, workload_error
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.drawn_marginals import RANDOM, Draw
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import Workload

SIMPLE = ("independent", "mst")
ALLOWED, FAR, CHANCE = 1.02, 1.2, 0.05
"""How many times as much as the better of `SIMPLE` is allowed, what is much more, and how often doubt may be wrong."""
Codes = NDArray[np.int64]


def _coded(*columns: Codes) -> CodesSource:
    """Of columns of codes, each from 0 to its largest."""
    domain = Domain.from_json({f"c{i}": int(column.max()) + 1 for i, column in enumerate(columns)})
    return CodesSource(domain, np.stack(columns, axis=1).astype(np.int32))


def _standing_in(sizes: list[int], rows: int, strength: float) -> CodesSource:
    domain = Domain.from_json({f"c{i}": size for i, size in enumerate(sizes)})
    return CodesSource(domain, simulated.simulate(domain, rows, strength, rows))


def _noised(column: Codes, size: int, share: float, rng: np.random.Generator) -> Codes:
    """The codes taken modulo size, of which a share is replaced by chance."""
    return np.where(rng.random(len(column)) < share, rng.integers(size, size=len(column)), column % size)


def _chain(sizes: list[int], rows: int, share: float) -> CodesSource:
    """Each column follows the one before."""
    rng = np.random.default_rng(rows)
    columns = [rng.integers(sizes[0], size=rows)]
    for size in sizes[1:]:
        columns.append(_noised(columns[-1], size, share, rng))
    return _coded(*columns)


def _tree(rows: int) -> CodesSource:
    """Nine columns follow the first."""
    rng = np.random.default_rng(rows)
    root = np.minimum(rng.geometric(0.2, rows) - 1, 11)
    return _coded(root, *(_noised(rng.permutation(12)[root], size, 0.3, rng) for size in (2, 3, 4, 4, 5, 6, 8, 10, 12)))


def _block(rows: int) -> CodesSource:
    """Five columns of which every combination has a share of its own, and six that are independent."""
    rng = np.random.default_rng(rows)
    shape = (2, 3, 4, 3, 2)
    block = np.unravel_index(rng.choice(144, rows, p=rng.dirichlet(np.full(144, 0.3))), shape)
    return _coded(*block, *(rng.choice(size, rows, p=rng.dirichlet(np.full(size, 1.0))) for size in (2, 3, 4, 6, 8, 10)))


def _near_constant(rows: int) -> CodesSource:
    rng = np.random.default_rng(rows)
    return _coded(*((rng.random(rows) < 0.005) * rng.integers(1, size, size=rows) for size in (2, 3, 4, 5) * 4))


def _determined(rows: int) -> CodesSource:
    """A column that follows from another, and four that are independent."""
    rng = np.random.default_rng(rows)
    first = np.minimum(rng.geometric(0.1, rows) - 1, 29)
    return _coded(first, first // 3, *(rng.choice(size, rows, p=rng.dirichlet(np.full(size, 1.0))) for size in (2, 4, 5, 7)))


def _impossible(rows: int) -> CodesSource:
    """Two rules bind three of seven columns."""
    sizes = {"a": 8, "b": 8, "c": 6, "d": 2, "e": 3, "f": 4, "g": 5}
    rules = [{"never": {"a": list("0123"), "b": list("4567")}}, {"never": {"b": list("01"), "c": list("345")}}]
    attributes = Domain.from_json(sizes).to_json()["attributes"]
    domain = Domain.from_json({"version": 1, "attributes": attributes, "impossible": rules})
    return CodesSource(domain, simulated.simulate(domain, rows, 0.6, rows))


def _numbers(rows: int) -> CodesSource:
    """Five numbers in 50 bins each, of two groups of people; the last two are mostly 0."""
    rng = np.random.default_rng(rows)
    group, common = rng.random(rows) < 0.3, rng.normal(size=rows)
    wide = [np.where(group, 35, 18) + 6 * (0.7 * common + 0.7 * rng.normal(size=rows)) for _ in range(3)]
    rare = [(rng.random(rows) < 0.1) * rng.exponential(15, rows) for _ in range(2)]
    codes = np.stack([column.clip(0, 49) for column in (*wide, *rare)], axis=1).astype(np.int32)
    return CodesSource(Domain(tuple(Attribute.integer(f"n{i}", 0, 49) for i in range(5))), codes)


def _hundreds(rows: int) -> CodesSource:
    """Two columns of 100 skewed values, the second half of the time like the first."""
    rng = np.random.default_rng(rows)
    first, second = (np.minimum(rng.zipf(1.5, rows) - 1, 99) for _ in range(2))
    return _coded(first, np.where(rng.random(rows) < 0.5, first, second))


def _skewed(rows: int) -> CodesSource:
    """Six columns of 40 values of which the first few hold nearly everybody, and three of two; all a little dependent."""
    rng = np.random.default_rng(rows)
    many = [np.minimum(rng.zipf(2.0, rows) - 1, 39) for _ in range(6)]
    mixed = [np.where(rng.random(rows) < 0.25, many[0], column) for column in many]
    return _coded(*mixed, *((mixed[i] > 0).astype(np.int64) ^ (rng.random(rows) < 0.1) for i in range(3)))


def _two_valued(rows: int, columns: int, classes: int) -> CodesSource:
    rng = np.random.default_rng(rows)
    return _coded(*invented.of_classes([2] * columns, rows, classes, 0.4, rng).T)


TABLES: Mapping[str, Callable[[], CodesSource]] = {
    "twos-200": lambda: _two_valued(200, 8, 3),
    "chain-200": lambda: _chain([3, 4, 2, 5, 3, 2], 200, 0.1),
    "chain-1000": lambda: _chain([2, 3, 4, 6, 4, 3, 2, 5, 4, 3], 1_000, 0.15),
    "chain-20000": lambda: _chain([4, 5, 8, 6, 4, 12, 6, 5, 10, 4], 20_000, 0.4),
    "tree-1000": lambda: _tree(1_000),
    "tree-10000": lambda: _tree(10_000),
    "hundreds-1000": lambda: _hundreds(1_000),
    "hundreds-100000": lambda: _hundreds(100_000),
    "apart-5000": lambda: _standing_in([2, 2, 3, 4, 5, 6, 7, 9, 12, 20], 5_000, 0.0),
    "apart-100000": lambda: _standing_in([2, 3, 3, 4, 5, 8, 10, 15], 100_000, 0.0),
    "block-5000": lambda: _block(5_000),
    "near-3000": lambda: _near_constant(3_000),
    "determined-2000": lambda: _determined(2_000),
    "impossible-3000": lambda: _impossible(3_000),
    "numbers-1000": lambda: _numbers(1_000),
    "numbers-20000": lambda: _numbers(20_000),
    "skewed-1000": lambda: _skewed(1_000),
    "skewed-30000": lambda: _skewed(30_000),
    "many-100000": lambda: _standing_in([3, 4, 4, 5, 6, 8, 9, 10], 100_000, 0.4),
    "forty-1000": lambda: _two_valued(1_000, 40, 6),
    "forty-20000": lambda: _standing_in([2, 3, 4, 5] * 10, 20_000, 0.5),
}
"""By name, with the number of records."""

WORKLOADS: Mapping[str, Callable[[Domain], Workload]] = {
    "single": lambda domain: workloads.all_kway(domain, 1),
    "pairs": lambda domain: workloads.all_kway(domain, 2),
    "few": lambda domain: workloads.drawn(domain, Draw(RANDOM, 2, min(4, math.comb(len(domain), 2)), 5)),
    "target": lambda domain: workloads.target(domain, domain.names[0], 2),
    "triples": lambda domain: workloads.all_kway(domain, 3),
    "ranges": workloads.ranges,
}
BOTH = ("twos-200", "chain-1000", "tree-1000", "block-5000", "skewed-1000")
"""Tables that are tried with both relations of neighbours."""


def _cases() -> Iterator[str]:
    """The tables that are small enough for triples have them, those of numbers ranges."""
    for workload in WORKLOADS:
        for table in TABLES:
            if workload == "ranges" and not table.startswith("numbers"):
                continue
            if workload in ("pairs", "triples") and table == "forty-20000":
                continue
            if workload == "triples" and table.startswith(("forty", "hundreds", "numbers", "skewed", "apart-1", "many")):
                continue
            yield f"{table}/{workload}"


CASES = tuple(_cases())


@cache
def _of(case: str) -> tuple[CodesSource, Workload, Mapping[Any, NDArray[Any]]]:
    """The table, the workload and its true counts."""
    table, workload = case.split("/")
    source = TABLES[table]()
    asked = WORKLOADS[workload](source.domain)
    return source, asked, source.counts(asked.cliques)


def points(options: argparse.Namespace) -> Iterator[Point]:
    for seed in range(options.runs):
        for case in options.cases:
            for epsilon in options.epsilons:
                for relation in (ADD_REMOVE, REPLACE)[: 1 + (case.split("/")[0] in BOTH)]:
                    yield {"label": options.label, "case": case, "epsilon": epsilon, "relation": relation, "seed": seed}


def measure(point: Point) -> dict[str, Any]:
    """The error of each mechanism, the one that is recommended, and the seconds of the usual one."""
    source, asked, true = _of(point["case"])
    people, unit = int(true[asked.cliques[0]].sum()), Unit(point["relation"])
    first = recommended(asked, unit, point["epsilon"], people)
    errors, seconds = {}, 0.0
    for name in dict.fromkeys((USUAL, *SIMPLE, first)):
        start = time.process_time()
        codes = shapes.rows(source, asked, registry.get(name), point["epsilon"], point["seed"], unit)
        seconds = seconds or time.process_time() - start
        errors[name] = round(_error(asked, true, row_marginals(source.domain, codes, asked.cliques), people), 6)
    return {"recommended": first, "errors": errors, "seconds": round(seconds, 2)}


def recommended(asked: Workload, unit: Unit, epsilon: float, people: int) -> str:
    """The first choice for this plan, as the app has it."""
    rho = ZCDP.rho_from(epsilon, shapes.DELTA)
    fits = {name: registry.forecast(one, asked, rho, people / unit.marginal_l2) for name, one in registry.MECHANISMS.items()}
    return recommend(Situation.of(asked, rho, unit, people), fits).value[0].name


def _error(asked: Workload, true: Mapping[Any, NDArray[Any]], made: Mapping[Any, NDArray[Any]], people: int) -> float:
    if not asked.ranges:
        return workload_error(asked, true, scaled(made, people), people)
    of_ranges = ranges.errors(asked, true, made)
    return (of_ranges["mean"] + of_ranges["within"]) / 2


def ratio(runs: list[Point], name: str) -> tuple[float, float]:
    """How many times the error of the better of `SIMPLE` this mechanism has, and how much more that is than is beyond doubt."""
    least, best = min((statistics.fmean(run["errors"][one] for run in runs), one) for one in SIMPLE)
    gaps = [run["errors"][name] - run["errors"][best] for run in runs]
    spread = statistics.stdev(gaps) / math.sqrt(len(gaps)) if len(gaps) > 1 else math.inf
    doubt = spread * float(student.ppf(1 - CHANCE, max(1, len(gaps) - 1)))
    return 1 + statistics.fmean(gaps) / max(least, 1e-12), doubt / max(least, 1e-12)


def lines(kept: Mapping[str, Any]) -> list[str]:
    """How many cases are above, and each case whose error is above what is allowed, the worst first."""
    groups: dict[tuple[str, str, float, str], list[Point]] = {}
    for run in kept["runs"]:
        groups.setdefault((run["label"], run["case"], run["epsilon"], run["relation"]), []).append(run)
    every = [row for group, runs in groups.items() for row in _rows(group, runs)]
    summary = []
    for label, who in sorted({(row[0], row[1]) for row in every}):
        times = [row[-2:] for row in every if row[:2] == (label, who)]
        most, some = (sum(one > limit for one, _ in times) for limit in (FAR, ALLOWED))
        surely, chance = sum(one - doubt > ALLOWED for one, doubt in times), CHANCE * sum(math.isfinite(doubt) for _, doubt in times)
        mean = statistics.geometric_mean(one for one, _ in times)
        summary.append((label, who, len(times), some, most, surely, f"{chance:.0f}", f"{mean:.2f}", f"{max(times)[0]:.2f}"))
    above = sorted((row for row in every if row[-2] > ALLOWED), key=lambda row: (row[0], -row[-2]))
    worst = [(*row[:-2], f"{row[-2]:.3f} ± {row[-1]:.3f}", "beyond doubt" * (row[-2] - row[-1] > ALLOWED)) for row in above]
    return [*record.table(_SUMMARY, summary), "", *record.table(_WORST, worst)]


def _rows(group: tuple[str, str, float, str], runs: list[Point]) -> Iterator[tuple[Any, ...]]:
    """Of the usual mechanism and the recommended one, how many times the better one's error they have, and the doubt."""
    label, case, epsilon, relation = group
    chosen = runs[0]["recommended"]
    for who, name in ((USUAL, USUAL), ("recommended", chosen)):
        yield label, who, name, case, f"{epsilon:g}", relation, len(runs), *ratio(runs, name)


_SUMMARY = (
    "version", "mechanism", "cases", f"above {ALLOWED}", f"above {FAR}", "beyond doubt", "by chance at most", "mean", "worst",
)
_WORST = ("version", "mechanism", "which is", "case", "epsilon", "neighbours", "runs", "times", "")
_NEVER = Program(
    "never", __doc__, points, measure, lines,
    {"label": "now", "cases": list(CASES), "epsilons": [0.05, 0.1, 1.0, 10.0], "runs": 3}, {"cases": CASES},
)


def main() -> None:
    options = record.parser(__doc__, _NEVER.among, **_NEVER.defaults).parse_args()
    _NEVER.fill(list(points(options)), 1, options.results)
