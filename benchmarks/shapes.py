"""Tables of every shape: the error of AIM beside what is simpler, and beside AIM as it was.

    python -m benchmarks.shapes --label now --runs 5
    python -m benchmarks.shapes --label now --tables titanic few --epsilons 0.5 --mechanisms aim

Errors are those of the rows, AIM's Definition 2 (L1, halves are shares of people), without a certificate, with seeds that count upwards.
To compare two versions, run this file in both with another label each and the same results folder.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import compression, invented
from benchmarks.table import ADULT_FOLDER, RESULTS
from dpsynth_core.mechanisms import registry
from dpsynth_core.sources import standin
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.statistics.distances import Marginals
from dpsynth_core.vocabulary.domain import Domain, load_domain
from dpsynth_core.vocabulary.workload import Workload, all_kway

FEW_ROWS = 2_000


@dataclass(frozen=True)
class Shape:
    """A table and its workload: all marginals of k columns. read: the records, from the folder of public tables where they are there."""

    about: str
    k: int
    read: Callable[[Path], CodesSource]


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    for name in options.tables:
        shape = SHAPES[name]
        try:
            source = shape.read(options.data)
        except FileNotFoundError:
            print(f"without {name}: {options.data} does not hold it", file=sys.stderr)
            continue
        workload = all_kway(source.domain, shape.k)
        true = source.counts(workload.cliques)
        for epsilon in options.epsilons:
            for mechanism in options.mechanisms:
                run = {"label": options.label, "table": name, "epsilon": epsilon, "mechanism": mechanism}
                run |= _measured(source, workload, true, mechanism, epsilon, options.runs)
                print(run, file=sys.stderr, flush=True)
                keep(run, options.results / "shapes.json", ("label", "table", "epsilon", "mechanism"), _order)
    (options.results / "shapes.md").write_text("\n".join(_lines(options.results)) + "\n", encoding="utf-8")
    print("\n".join(_lines(options.results)))
    return 0


def _measured(source: CodesSource, workload: Workload, true: Marginals, mechanism: str, epsilon: float, runs: int) -> dict[str, Any]:
    """Errors and processor seconds of each seed."""
    errors, seconds = [], []
    for seed in range(runs):
        start = time.process_time()
        errors.append(round(compression.error(source, workload, true, registry.get(mechanism), epsilon, seed), 5))
        seconds.append(round(time.process_time() - start, 2))
    return {"errors": errors, "seconds": seconds}


def _stand_in(sizes: Sequence[int], rows: int, strength: float, seed: int) -> Callable[[Path], CodesSource]:
    def read(_folder: Path) -> CodesSource:
        domain = Domain.from_json({f"c{i}": size for i, size in enumerate(sizes)})
        return CodesSource(domain, standin.simulate(domain, rows, strength, seed))

    return read


def _adult(folder: Path) -> CodesSource:
    domain = load_domain(folder / "adult-binned-domain.json")
    table = pd.read_csv(folder / "adult-binned.csv")
    return CodesSource(domain, table[list(domain.names)].to_numpy(np.int32))


def _few(folder: Path) -> CodesSource:
    """Some of Adult's people, the same each time."""
    domain = load_domain(folder / "adult-binned-domain.json")
    some = pd.read_csv(folder / "adult-binned.csv").sample(FEW_ROWS, random_state=1)
    return CodesSource(domain, some[list(domain.names)].to_numpy(np.int32))


def _classes(sizes: Sequence[int], rows: int, classes: int, seed: int) -> Callable[[Path], CodesSource]:
    def read(_folder: Path) -> CodesSource:
        domain = Domain.from_json({f"c{i}": size for i, size in enumerate(sizes)})
        return CodesSource(domain, invented.of_classes(sizes, rows, classes, 0.5, np.random.default_rng(seed)))

    return read


_WIDE = [int(size) for size in np.random.default_rng(35).integers(2, 12, 30)] + [24, 48, 96, 120, 180]

SHAPES: Mapping[str, Shape] = {
    "titanic": Shape("1,306 people, 10 columns", 2, lambda folder: compression.TABLES["titanic"].read(folder / "titanic.csv")),
    "demo": Shape("the simulated demo", 2, lambda folder: compression.TABLES["demo"].read(folder)),
    "few": Shape("2,000 people of Adult", 2, _few),
    "adult": Shape("Adult as the AIM paper bins it", 3, _adult),
    "wide": Shape("20,000 people, 35 columns of up to 180 values", 2, _stand_in(_WIDE, 20_000, 0.5, 35)),
    "values": Shape("30,000 people, a column of 500 values", 2, _stand_in([500, 2, 3, 5, 8, 12, 20, 30], 30_000, 0.6, 500)),
    "rows": Shape("200,000 people, 10 columns", 3, _stand_in([2, 2, 3, 4, 5, 6, 8, 10, 12, 16], 200_000, 0.5, 7)),
    "binary": Shape("21,574 people, 16 columns of two values", 3, _stand_in([2] * 16, 21_574, 0.5, 16)),
    "dense": Shape("20,000 people of 40 hidden classes, 12 columns", 2, _classes([4, 5, 6, 8] * 3, 20_000, 40, 12)),
}


def keep(run: Mapping[str, Any], path: Path, question: Sequence[str], order: Callable[[Mapping[str, Any]], Any]) -> None:
    """Add a run to those of a file, in place of one of the same question. question: keys of a run. order: of what is written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    runs = [one for one in before if any(one[key] != run[key] for key in question)] + [dict(run)]
    path.write_text(json.dumps(sorted(runs, key=order), indent=1) + "\n", encoding="utf-8")


def _order(run: Mapping[str, Any]) -> tuple[int, float, str, str]:
    return list(SHAPES).index(run["table"]), run["epsilon"], run["mechanism"], run["label"]


def _lines(results: Path) -> Iterator[str]:
    yield "| table | epsilon | mechanism | version | runs | error | processor seconds |"
    yield "|---|---|---|---|---|---|---|"
    for run in json.loads((results / "shapes.json").read_text(encoding="utf-8")):
        errors, seconds = run["errors"], statistics.fmean(run["seconds"])
        spread = statistics.stdev(errors) / math.sqrt(len(errors)) if len(errors) > 1 else math.nan
        about = f"| {run['table']} | {run['epsilon']:g} | {run['mechanism']} | {run['label']} | {len(errors)} "
        yield about + f"| {statistics.fmean(errors):.4f} ± {spread:.4f} | {seconds:.1f} |"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--label", required=True, help="of this version of the program")
    parser.add_argument("--tables", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 0.5, 1.0, 10.0])
    parser.add_argument("--mechanisms", nargs="+", default=["aim", "independent", "mst"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--data", type=Path, default=ADULT_FOLDER)
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
