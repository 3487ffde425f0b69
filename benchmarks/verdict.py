"""Whether a release says the truth of columns alone: its interval beside real runs of Independent on the same budget; and its verdict.

Makes releases with AIM and as many with Independent, each with fresh noise and the same certificate. Looks at true counts without noise:
for public tables only.

    python -m benchmarks verdict titanic --epsilon 2
    python -m benchmarks verdict titanic --epsilon 0.5
    python -m benchmarks verdict adult --epsilon 1 --workload all-3way --runs 3
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks import record
from benchmarks.table import ADULT_FOLDER, errors, file_section, released, spec, titanic
from dpsynth_core.cli.release_commands import parse_workload
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, Spec
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.vocabulary.codebook import load_domain

TABLES = {"titanic": "titanic.csv", "adult": "adult-binned.csv"}


@dataclass(frozen=True)
class Stated:
    """One release, in shares of people in a wrong cell. error: its true mean error, certified: as measured, with its 95 % limits.
    columns: the yardstick as measured, low, high: for a run of Independent."""

    error: float
    certified: float
    certified_low: float
    certified_high: float
    columns: float
    low: float
    high: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, epsilon=1.0, delta=1e-9, workload="all-2way", mechanism="aim", runs=20)
    parser.add_argument("table", choices=TABLES)
    options = parser.parse_args(arguments)
    ours, independent = (synthesis.plan(_spec(options, mechanism)) for mechanism in (options.mechanism, "independent"))
    truth = synthesis.open_source(ours).counts(ours.workload.cliques)

    def made(plan: synthesis.Plan) -> tuple[Release, float]:
        release = released(plan)
        return release, statistics.fmean(errors(release, truth).values())

    stated, real = [], []
    for number in range(options.runs):
        print(f"run {number + 1}", file=sys.stderr)
        stated.append(_stated(*made(ours)))
        real.append(made(independent)[1])
    _write(options, stated, real)


def _spec(options: argparse.Namespace, mechanism: str) -> Spec:
    domain = load_domain(ADULT_FOLDER / "adult-binned-domain.json") if options.table == "adult" else titanic()
    workload = parse_workload(options.workload, domain).to_json()
    budget = {"epsilon": options.epsilon, "delta": options.delta, "certificate": DEFAULT_CERTIFICATE}
    return spec(file_section(ADULT_FOLDER / TABLES[options.table]), domain, mechanism, budget, domain_origin="public", workload=workload)


def _stated(release: Release, error: float) -> Stated:
    certificate = release.certificate
    assert certificate is not None
    assert certificate.columns is not None
    columns = certificate.columns
    measured = certificate.mean_error, certificate.mean_low95, certificate.mean_bound95
    return Stated(error, *measured, columns.error, columns.low95, columns.high95)


def _write(options: argparse.Namespace, stated: Sequence[Stated], real: Sequence[float]) -> None:
    inside = float(np.mean([[one.low <= error <= one.high for error in real] for one in stated]))
    names = ("table", "workload", "mechanism", "epsilon", "delta", "runs")
    kept = {
        **{name: getattr(options, name) for name in names},
        "independent": {"mean": statistics.fmean(real), "deviation": statistics.pstdev(real), "errors": list(real)},
        "inside": inside,
        "releases": [asdict(one) for one in stated],
        "versions": synthesis.versions(),
    }
    middle = {name: statistics.fmean(getattr(one, name) for one in stated) for name in Stated.__annotations__}
    texts = {name: f"{value:.3f}" for name, value in middle.items()}
    print(
        f"{options.table}, epsilon {options.epsilon:g}: {options.mechanism} errs {texts['error']} (certified {texts['certified']}), "
        f"Independent {statistics.fmean(real):.3f}; stated of it {texts['columns']}, from {texts['low']} to {texts['high']} on average; "
        f"{inside:.1%} of the pairs of a release and a real run lie inside"
    )
    record.write(options.results / f"verdict_{options.table}_{options.workload}_eps{options.epsilon:g}", kept)
