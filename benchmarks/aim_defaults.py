"""AIM's defaults against the paper's: mean workload error of the rows on several tables, eps 1 and 10.

    python -m benchmarks.aim_defaults [--runs 3] [--data ../shared/data]

Tables: Adult as the AIM paper bins it, Titanic with the kinds that `sources.guess` proposes (both if present), and the simulated demo;
all three-way marginals, delta 1e-9. True errors are computed: the tables are public or invented.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dpsynth_core.evaluation.distances import scaled, workload_error
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.steps import Finished
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.demo import demo_domain, simulate
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.guess import propose
from dpsynth_core.sources.sniff import sniff
from dpsynth_core.vocabulary.domain import Domain, load_domain
from dpsynth_core.vocabulary.tally import row_marginals
from dpsynth_core.vocabulary.workload import all_kway

PAPER = {"rounds_per_attribute": 16, "max_size_mb": 80.0, "reserve_rounds": 1}


def tables(folder: Path) -> Iterator[tuple[str, ArrowSource]]:
    """Name and counting source of every table there is."""
    adult, titanic = folder / "adult-binned.csv", folder / "titanic.csv"
    if adult.exists():
        yield "adult-binned", ArrowSource(load_domain(folder / "adult-binned-domain.json"), adult, sniff(adult))
    if titanic.exists():
        guesses = propose(titanic, sniff(titanic), is_public=True).value
        domain = Domain(tuple(g.attribute for g in guesses if g.attribute is not None))
        yield "titanic", ArrowSource(domain, titanic, sniff(titanic))
    yield "demo", ArrowSource(demo_domain(), simulate(), TableFormat("csv"))


def error(source: ArrowSource, epsilon: float, given: dict[str, float]) -> float:
    """Workload error of one run's rows."""
    workload = all_kway(source.domain, 3)
    kernel = PrivacyKernel(source, Unit(), GDP.rho_from(epsilon, 1e-9), OpenDPNoise(), accountant=GDP)
    aim = registry.get("aim")
    *_, finished = registry.configured(aim, given).steps(kernel, workload)
    assert isinstance(finished, Finished)
    codes = finished.model.rows(round(finished.total), workload.weights, np.random.default_rng())  # type: ignore[attr-defined]
    true = source.counts(workload.cliques)
    n = int(true[workload.cliques[0]].sum())
    return workload_error(workload, true, scaled(row_marginals(source.domain, codes, workload.cliques), n / len(codes)), n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    given = parser.parse_args()
    print("| table | eps | paper's defaults | ours |\n|---|---|---|---|")
    for name, source in tables(given.data):
        for epsilon in (1, 10):
            means = [statistics.mean(error(source, epsilon, settings) for _ in range(given.runs)) for settings in (PAPER, {})]
            print(f"| {name} | {epsilon} | {means[0]:.4f} | {means[1]:.4f} |", flush=True)


if __name__ == "__main__":
    main()
