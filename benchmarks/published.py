"""What published tables of the same people are worth: AIM and simpler mechanisms that know some, beside themselves without.

    python -m benchmarks published --tables adult titanic --k 2 3 --epsilons 0.1 1 --mechanisms aim mst --runs 5

Published are single columns (columns), or the first two of them crossed and the others alone (crossed); their counts are the true ones.
Errors of the rows by AIM's Definition 2, over all tables, over those that no published one holds, and over those without any published
column; no certificate; seeds that count upwards. True errors are computed: the tables are public.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.shapes import SHAPES, rows
from benchmarks.table import ADULT_FOLDER
from dpsynth_core.inference.publishing import rows_off
from dpsynth_core.mechanisms import registry
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.statistics.distances import scaled, workload_error
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.published import PublishedTable
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import Workload, all_kway

KNOWN = {"adult": ("age", "sex", "race"), "titanic": ("Sex", "Age", "Pclass"), "few": ("age", "sex", "race")}
"""The columns of each table that are published."""
KINDS = ("none", "columns", "crossed")


def main(arguments: Sequence[str] | None = None) -> None:
    among = {"tables": KNOWN, "kinds": KINDS, "mechanisms": registry.MECHANISMS}
    shapes, ours = ["adult", "titanic"], ["aim", "mst", "independent"]
    parser = record.parser(__doc__, among, tables=shapes, k=[2, 3], epsilons=[0.1, 1.0], kinds=list(KINDS), mechanisms=ours, runs=5)
    options = parser.parse_args(arguments)
    place = options.results / "published"
    for name in options.tables:
        source = SHAPES[name].read(ADULT_FOLDER)
        domain, codes = source.domain, source.sample(10**9)
        for k in options.k:
            for epsilon in options.epsilons:
                for mechanism in options.mechanisms:
                    for kind in options.kinds:
                        known = replace(domain, published=tuple(_published(domain, codes, KNOWN[name], kind)))
                        point = {"table": name, "k": k, "epsilon": epsilon, "mechanism": mechanism, "kind": kind}
                        people, workload = CodesSource(known, codes), all_kway(known, k)
                        run = point | _measured(people, KNOWN[name], workload, mechanism, epsilon, options.runs)
                        print(run, file=sys.stderr, flush=True)
                        runs = record.instead(record.earlier(place), run, *point)
                        record.keep(place, runs, record.table(_HEAD, _lines(runs)))
    record.write(place, record.earlier(place), record.table(_HEAD, _lines(record.earlier(place))))


def _published(domain: Domain, codes: NDArray[np.int32], names: Sequence[str], kind: str) -> Iterator[PublishedTable]:
    cliques: list[tuple[str, ...]] = [(name,) for name in names]
    if kind == "crossed":
        cliques = [names[:2], *((name,) for name in names[2:])]  # type: ignore[list-item]
    for clique in map(domain.clique, cliques if kind != "none" else ()):
        yield PublishedTable(clique, row_marginals(domain, codes, [clique])[clique] / len(codes), "the table itself")


def _measured(
    source: CodesSource, published: Sequence[str], workload: Workload, mechanism: str, epsilon: float, runs: int
) -> dict[str, Any]:
    """Errors over all tables, over those left open, and over those apart from published columns; how far rows are from what was
    published; processor seconds; of each seed."""
    domain, people = source.domain, source.counts([()])[()].item()
    true = source.counts(workload.cliques)
    parts: dict[str, Sequence[Clique]] = {
        "all": workload.cliques,
        "left": [r for r in workload.cliques if not set(r) <= set(published)],
        "apart": [r for r in workload.cliques if not set(r) & set(published)],
    }
    found: dict[str, list[float]] = {name: [] for name in (*parts, "off", "seconds")}
    for seed in range(runs):
        start = time.process_time()
        made = rows(source, workload, registry.get(mechanism), epsilon, seed)
        found["seconds"].append(round(time.process_time() - start, 2))
        found["off"].append(round(max(rows_off(domain, made), default=0.0), 3))
        answers = scaled(row_marginals(domain, made, workload.cliques), people)
        for name, tables in parts.items():
            some = Workload(domain, {r: workload.weights[r] for r in tables})
            found[name].append(round(workload_error(some, true, answers, people), 5))
    return found


def _lines(runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    for run in runs:
        cells = [f"{fmean(run[part]):.4f} ± {stdev(run[part]) / len(run[part]) ** 0.5 if len(run[part]) > 1 else 0:.4f}" for part in _PARTS]
        about = (run["table"], run["k"], f"{run['epsilon']:g}", run["mechanism"], run["kind"], len(run["all"]))
        yield (*about, *cells, f"{max(run['off']):.2f}", f"{fmean(run['seconds']):.1f}")


_PARTS = ("all", "left", "apart")
_HEAD = ("table", "columns", "epsilon", "mechanism", "published", "runs", "error, all tables", "left open", "apart", "rows off", "seconds")


if __name__ == "__main__":
    main()
