"""Rounds of MWEM and PMW^Pub, the share of a round that measures, and what the average should skip: found on simulated people alone.

    python -m benchmarks.pmwpub_defaults --mechanism pmwpub --rounds 10 30 100 --shares 0.5 --epsilons 0.1 1

The private table is the demo's 50,000 people. The public ones have 5,000 of another seed: drawn like them, with women less likely,
and of one region. MWEM runs on five of the columns. Largest error of a cell and mean workload error of the model, delta = 1e-9.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd

from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Mechanism, UsesPublic
from dpsynth_core.mechanisms.steps import Finished
from dpsynth_core.privacy.conversions import rho_from
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.demo import demo_domain, simulate
from dpsynth_core.sources.files import opened
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.tally import row_marginals
from dpsynth_core.vocabulary.workload import all_kway

Codes = np.ndarray[tuple[int, int], np.dtype[np.int32]]
SMALL = ("sex", "region", "education", "employment", "income")
PUBLIC_ROWS = 5_000


def coded(domain: Domain, table: pd.DataFrame) -> Codes:
    batches = [encode(domain, batch, TableFormat().notation) for batch in opened(table, TableFormat()).batches(domain.names)]
    return np.concatenate([np.stack([batch[name] for name in domain.names], axis=1) for batch in batches])


def public_tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Name and rows of tables that resemble the demo's people, less and less."""
    others = simulate(rows=40_000, seed=8)
    rng = np.random.default_rng(0)
    yield "alike", others.iloc[:PUBLIC_ROWS]
    few_women = np.where(others["sex"] == others["sex"].iloc[0], 0.2, 1.0)
    yield "few of one sex", others.iloc[np.flatnonzero(rng.random(len(others)) < few_women)[:PUBLIC_ROWS]]
    yield "one region", others[others["region"] == others["region"].iloc[0]].iloc[:PUBLIC_ROWS]


def candidates(name: str) -> Iterator[tuple[str, Mechanism, Domain, Codes]]:
    """What to try the mechanism on: title, the mechanism itself, domain, private codes."""
    mechanism, whole = registry.get(name), demo_domain()
    domain = whole if isinstance(mechanism, UsesPublic) else whole.keep(SMALL)
    private = coded(domain, simulate())
    if not isinstance(mechanism, UsesPublic):
        yield "five columns", mechanism, domain, private
        return
    for title, rows in public_tables():
        yield title, mechanism.informed_by(PublicTable(domain, coded(domain, rows), title, "")), domain, private


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mechanism", choices=["mwem", "pmwpub"], default="pmwpub")
    parser.add_argument("--rounds", type=int, nargs="+", default=[10, 30, 100])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.5])
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--skips", type=float, nargs="+", default=[0.9])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--tables", nargs="+", default=["alike", "few of one sex", "one region", "five columns"])
    parser.add_argument("--k", type=int, default=3)
    given = parser.parse_args()
    print("| table | epsilon | rounds | measured | skipped | largest error | workload error | seconds |\n|---|---|---|---|---|---|---|---|")
    for title, mechanism, domain, private in candidates(given.mechanism):
        if title not in given.tables:
            continue
        workload, source = all_kway(domain, given.k), CodesSource(domain, private)
        true = {r: counts / len(private) for r, counts in row_marginals(domain, private, workload.cliques).items()}
        for epsilon in given.epsilons:
            for rounds, share, skip in product(given.rounds, given.shares, given.skips):
                configured = registry.configured(mechanism, {"rounds": rounds, "measure_share": share, "skip": skip})
                largest, mean, began = [], [], time.perf_counter()
                for seed in range(given.runs):
                    kernel = PrivacyKernel(source, Unit(), rho_from(epsilon, 1e-9), SeededNoise(seed))
                    *_, finished = configured.steps(kernel, workload)
                    assert isinstance(finished, Finished)
                    gaps = [np.abs(true[r] - finished.model.marginal(r) / finished.total) for r in workload.cliques]
                    largest.append(max(float(gap.max()) for gap in gaps))
                    mean.append(statistics.mean(float(gap.sum()) for gap in gaps))
                seconds = (time.perf_counter() - began) / given.runs
                errors = f"{statistics.mean(largest):.4f} | {statistics.mean(mean):.4f}"
                print(f"| {title} | {epsilon:g} | {rounds} | {share:g} | {skip:g} | {errors} | {seconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
