"""What is it worth to name queries in a plan, so that RAP measures them and is fitted to them?

Makes releases of Adult by RAP with all pairs of columns, with and without ten thresholds and halfspaces over three to five columns in the
plan, and by AIM, which cannot be asked for them, with the operating system's noise. Compares the share of rows that meet each query with
the true one, which may be counted here, and the pairs with theirs.

    python -m benchmarks queries_written --epsilons 1 --runs 3
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from statistics import mean
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.table import ADULT_FOLDER, errors, file_section, released, spec
from dpsynth_core.extensions.queries import SETTING
from dpsynth_core.extensions.queries.written import queries
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.domain import Domain

NAME = "queries_written"
QUERIES = (
    "at least 2 of sex=0, age>=10, hours-per-week>=14",
    "at least 2 of income>50K=1, education-num>=12, hours-per-week>=13, marital-status=2",
    "at least 3 of income>50K=1, education-num>=12, hours-per-week>=13, marital-status=2",
    "at least 3 of sex=1, age>=12, education-num>=9, income>50K=0",
    "all of sex=0, income>50K=1, education-num>=12, not marital-status=2",
    "any of capital-gain>=1, capital-loss>=1, income>50K=1",
    "at least 4 of 3*income>50K=1, 2*education-num>=12, age>=12, hours-per-week>=13",
    "at least 2 of 2*sex=0, age<6, -1*marital-status=2, hours-per-week<12",
    "at least 3 of age<10, not race=4, sex=0, not relationship=0, income>50K=0",
    "at least 5 of 2*education-num>=9, 2*relationship=0, sex=1, age>=8, -2*income>50K=1",
)


def main(arguments: Sequence[str] | None = None) -> None:
    options = record.parser(__doc__, {}, mechanisms=["rap", "aim"], epsilons=[1.0], runs=3).parse_args(arguments)
    place = options.results / NAME
    kept = list(record.earlier(place))
    for epsilon in options.epsilons:
        for mechanism, named in [(one, named) for one in options.mechanisms for named in ([False, True] if one == "rap" else [False])]:
            point = {"mechanism": mechanism, "epsilon": epsilon, "named": named}
            for _ in range(record.times_measured(kept, point), options.runs):
                kept.append({**point, **measured(mechanism, epsilon, named)})
                print(kept[-1], file=sys.stderr, flush=True)
                record.keep(place, kept, [])
    record.write(place, kept, record.table(_HEAD, _rows(kept)))


def numbered() -> Domain:
    """The columns of Adult, whose codes are whole numbers here, so that queries may have ranges of them."""
    coded = load_domain(ADULT_FOLDER / "adult-binned-domain.json")
    whole = {"kind": "integer", "lower": 0, "other": False, "missing": False}
    return Domain.from_json({
        "version": 1, "attributes": [{"name": one.name, **whole, "upper": one.size - 1, "bins": one.size} for one in coded],
    })  # fmt: skip


def measured(mechanism: str, epsilon: float, named: bool) -> dict[str, Any]:
    """Make a release; return how far each query is off in its rows, as a share of everybody, the mean error of pairs, and the seconds."""
    data, domain = ADULT_FOLDER / "adult-binned.csv", numbered()
    asked: dict[str, Any] = {"extensions": {SETTING: [*QUERIES]}} if named else {}
    plan = Plan.stated(spec(file_section(data), domain, mechanism, {"epsilon": epsilon}, **asked))
    source, begun = synthesis.open_source(plan), time.process_time()
    made = released(plan, source)
    taken = time.process_time() - begun
    written = queries(plan.domain, QUERIES)
    true = source.counts([*plan.workload.cliques, *(one.columns for one in written), ()])
    people, codes = int(true[()]), np.asarray(made.codes)
    shares = [float(one.met(plan.domain, codes).mean()) for one in written]
    off = [abs(share - int(true[one.columns][one.table].sum()) / people) for share, one in zip(shares, written, strict=True)]
    pairs = errors(made, {pair: true[pair] for pair in plan.workload.cliques})
    return {"off": off, "pairs": mean(pairs.values()), "seconds": round(taken, 1)}


_HEAD = ("mechanism", "epsilon", "queries in the plan", "runs", "mean error, points", "largest", "pairs, mean L1", "processor seconds")


def _rows(runs: Sequence[dict[str, Any]]) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for mechanism, epsilon, named in sorted({(one["mechanism"], one["epsilon"], one["named"]) for one in runs}):
        these = [one for one in runs if (one["mechanism"], one["epsilon"], one["named"]) == (mechanism, epsilon, named)]
        off = (100 * mean(of(one["off"]) for one in these) for of in (mean, max))
        pairs, seconds = (mean(one[name] for one in these) for name in ("pairs", "seconds"))
        in_plan = "yes" if named else "no"
        rows.append((mechanism, epsilon, in_plan, len(these), *(f"{value:.3f}" for value in off), f"{pairs:.3f}", f"{seconds:.0f}"))
    return rows
