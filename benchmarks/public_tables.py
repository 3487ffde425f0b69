"""Whether a public table ever does harm: AIM that starts from one beside AIM without, on tables of every shape.

    python -m benchmarks public_tables --tables titanic few --kinds same invented --epsilons 0.1 --runs 8

A tenth of the people of each table are the public ones, the others the private ones. They are published as they are (same); or those in
the lower half of the first column's values alone (half); or with the values of each column shuffled among them, so that single columns are
right and nothing else is (shuffled); or with each column sorted, which invents dependence (sorted); or a stand-in of the same domain, of
which nothing is right (invented). Errors of the rows by AIM's Definition 2 and the largest error of any count; no certificate; seeds that
count upwards. True errors are computed: the tables are public or invented.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.shapes import SHAPES, measured
from benchmarks.table import ADULT_FOLDER
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.graphical.aim_public import AimPublic
from dpsynth_core.sources import simulated
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable

Codes = NDArray[np.int32]
MOST = 1_000_000
"""People of a table."""


def main(arguments: Sequence[str] | None = None) -> None:
    tables, epsilons = ["titanic", "demo", "few", "values", "dense"], [0.1, 1.0]
    parser = record.parser(__doc__, {"tables": SHAPES, "kinds": KINDS}, tables=tables, epsilons=epsilons, kinds=list(KINDS), runs=4)
    options = parser.parse_args(arguments)
    place = options.results / "public_tables"
    for name in options.tables:
        everyone = SHAPES[name].read(ADULT_FOLDER)
        domain, codes = everyone.domain, everyone.sample(MOST)  # in random order
        private, public = CodesSource(domain, codes[len(codes) // 10 :]), codes[: len(codes) // 10]
        workload = SHAPES[name].workload(domain)
        true = private.counts(workload.cliques)
        for epsilon in options.epsilons:
            without = measured(private, workload, true, registry.get("aim"), epsilon, options.runs)
            for kind in options.kinds:
                given = AimPublic().informed_by(PublicTable(domain, KINDS[kind](domain, public), kind, ""))
                run = {"table": name, "epsilon": epsilon, "kind": kind, **record.machine(), "without": without}
                run["with"] = measured(private, workload, true, given, epsilon, options.runs)
                print(run, file=sys.stderr, flush=True)
                runs = record.instead(record.earlier(place), run, "table", "epsilon", "kind")
                record.keep(place, sorted(runs, key=_order), record.table(_HEAD, _rows(runs)))
    record.write(place, record.earlier(place), record.table(_HEAD, _rows(record.earlier(place))))


def _lower_half(domain: Domain, codes: Codes) -> Codes:
    """Those with one of the first column's values in the lower half, or all where nobody has one."""
    chosen = codes[codes[:, 0] < domain.sizes(domain.names)[0] / 2]
    return chosen if len(chosen) else codes


KINDS: Mapping[str, Callable[[Domain, Codes], Codes]] = {
    "same": lambda _, codes: codes,
    "half": _lower_half,
    "shuffled": lambda _, codes: np.random.default_rng(1).permuted(codes, axis=0),
    "sorted": lambda _, codes: np.sort(codes, axis=0),
    "invented": lambda domain, codes: simulated.simulate(domain, len(codes), 0.8, 99),
}


def _order(run: Mapping[str, Any]) -> tuple[int, float, int]:
    return list(SHAPES).index(run["table"]), run["epsilon"], list(KINDS).index(run["kind"])


def _rows(runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    for run in runs:
        cells = [run["table"], f"{run['epsilon']:g}", run["kind"], len(run["with"]["errors"])]
        for measure in ("errors", "largest"):
            without, given = (fmean(run[side][measure]) for side in ("without", "with"))
            cells += [f"{without:.4f}", f"{given:.4f}", f"{given / without:.2f}"]
        yield tuple(cells)


_HEAD = ("table", "epsilon", "public table", "runs", "error without", "with", "ratio", "largest error without", "with", "ratio")
