"""What the certificate is worth and what it costs, on a table whose answers are known.

Makes releases with a certificate and without one, each with fresh noise. Of the first it asks: how far above the true errors are the
bounds, and how often are they below; of both: how much larger is the error when a share of the budget goes elsewhere. Looks at true
counts without noise: for public tables only.

    python -m benchmarks certificate --data ../shared/data/adult-binned.csv --domain ../shared/data/adult-binned-domain.json
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.table import add_table_options, errors, file_section, load_table, spec
from dpsynth_core.evaluation.bounds import UNBOUNDED
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.release.times import Stopwatch
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.vocabulary.measurement import Clique


@dataclass(frozen=True)
class Certified:
    """One release with a certificate; errors and bounds as L1 on fractions, ratios are medians over the marginals.

    coverage: share of the marginals whose bound holds. simultaneous: whether all simultaneous bounds hold. off: mean absolute difference of
    measured and true errors. prior_ratio: the a-priori bounds' median ratio, and the paper's.
    """

    error: float
    mean_error: float
    mean_bound: float
    mean_holds: bool
    ratio: float
    coverage: float
    simultaneous_ratio: float
    simultaneous: bool
    off: float
    prior_ratio: float
    paper_ratio: float
    prior_coverage: float
    seconds: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(
        __doc__, mechanism="aim", relation="add-remove", epsilon=1.0, delta=1e-9, certificate=DEFAULT_CERTIFICATE, runs=6
    )
    add_table_options(parser)
    options = parser.parse_args(arguments)
    table = load_table(parser, options)
    asked = {"name": table.data.stem, "unit": {"relation": options.relation}, "workload": table.workload.to_json()}
    plans = {}
    for share in (options.certificate, 0.0):
        budget = {"epsilon": options.epsilon, "delta": options.delta, "certificate": share}
        plans[share] = synthesis.plan(spec(file_section(table.data), table.domain, options.mechanism, budget, **asked))
    true = {r: table.true[r] for r in table.workload.cliques}
    carrying, without = [], []
    for number in range(options.runs):
        for share, plan in plans.items():
            print(f"run {number + 1}, certificate {share:g}", file=sys.stderr)
            stopwatch, source, noise = Stopwatch(), synthesis.open_source(plan), synthesis.noise_for(plan.spec)
            made = synthesis.synthesize(plan, source, noise, lambda _: None, stopwatch=stopwatch)
            if share:
                carrying.append(_judge(made, true, stopwatch.times().value["phases"]))
            else:
                without.append(statistics.fmean(errors(made, true).values()) / IN_WRONG_CELL)
    print(_table(carrying, without))
    _write(options, carrying, without)


def _judge(made: Release, true: Mapping[Clique, NDArray[np.int64]], phases: Mapping[str, float]) -> Certified:
    assert made.certificate is not None
    off, certificate = errors(made, true), made.certificate
    stated = {one.attributes: one for one in certificate.marginals}
    prior = {clique: bound for clique, bound in made.bounds.items() if bound.support != UNBOUNDED}
    mean = statistics.fmean(off.values())
    return Certified(
        error=mean / IN_WRONG_CELL,  # this and the next three as L1
        mean_error=certificate.mean_error / IN_WRONG_CELL,
        mean_bound=certificate.mean_bound95 / IN_WRONG_CELL,
        off=statistics.fmean(abs(stated[r].error - off[r]) for r in off) / IN_WRONG_CELL,
        mean_holds=certificate.mean_bound95 >= mean,
        ratio=statistics.median(_ratio(stated[r].bound95, off[r]) for r in off),
        coverage=statistics.fmean(stated[r].bound95 >= off[r] for r in off),
        simultaneous_ratio=statistics.median(_ratio(stated[r].simultaneous95, off[r]) for r in off),
        simultaneous=all(stated[r].simultaneous95 >= off[r] for r in off),
        prior_ratio=statistics.median(_ratio(one.tight, off[r]) for r, one in prior.items()),
        paper_ratio=statistics.median(_ratio(one.paper, off[r]) for r, one in prior.items()),
        prior_coverage=statistics.fmean(one.tight >= off[r] for r, one in prior.items()),
        seconds=phases["bounds"] + phases["certificate"],
    )


def _ratio(bound: float, error: float) -> float:
    """How many times the error a bound is; a table that came out exactly right, as small ones can, is infinitely far below it."""
    return bound / error if error else math.inf


def _table(carrying: Sequence[Certified], without: Sequence[float]) -> str:
    """One line per release with a certificate, then medians, then the cost."""
    names = ("error", "mean_error", "mean_bound", "ratio", "coverage", "simultaneous_ratio", "prior_ratio", "paper_ratio", "seconds")
    rows = [[i, *(f"{getattr(one, name):.4g}" for name in names)] for i, one in enumerate(carrying, 1)]
    medians = [f"{statistics.median(getattr(one, name) for one in carrying):.4g}" for name in names]
    lines = record.table(["run", *names], [*rows, ["median", *medians]])
    coverage = statistics.fmean(one.coverage for one in carrying)
    together, means = sum(one.simultaneous for one in carrying), sum(one.mean_holds for one in carrying)
    cost = statistics.fmean(one.error for one in carrying) / statistics.fmean(without) - 1
    held = f"bounds of single marginals hold in {coverage:.2%}; all simultaneous ones in {together}, the mean's in {means}"
    price = f"error without a certificate: {statistics.fmean(without):.4f} on average; carrying it costs {cost:+.2%}"
    return "\n".join([*lines, f"{held} of {len(carrying)} runs", price])


def _write(options: argparse.Namespace, carrying: Sequence[Certified], without: Sequence[float]) -> None:
    names = ("workload", "mechanism", "relation", "epsilon", "delta", "certificate")
    kept = {
        "table": options.data.name,
        **{name: getattr(options, name) for name in names},
        **record.machine(),
        "with_certificate": [asdict(one) for one in carrying],
        "errors_without": list(without),
    }
    workload = options.workload.replace(":", "-").replace("/", "-")
    plan = f"{workload}_{options.mechanism}_{options.relation}_eps{options.epsilon:g}"
    record.write(options.results / f"certificate_{options.data.stem}_{plan}", kept)
