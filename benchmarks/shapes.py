"""Tables of every shape: the error of AIM beside what is simpler, and beside AIM with other settings, or as it was.

    python -m benchmarks shapes --label now --runs 5
    python -m benchmarks shapes --label apart --tables titanic adult --mechanisms aim --set merge_below=0      # without folding
    python -m benchmarks shapes --label whole --tables adult values --mechanisms aim --set groups=0            # without groups of values

Errors are those of the rows, AIM's Definition 2 (L1, halves are shares of people), without a certificate, with seeds that count upwards.
To compare two versions, run this file in both with another label each and the same results folder. True errors are computed: the tables
are public or invented.
"""

from __future__ import annotations

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
from numpy.typing import NDArray

from benchmarks import invented, record
from benchmarks.discovery import adult as adult_by_its_codebook
from benchmarks.table import ADULT_FOLDER, titanic
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.mechanisms.steps import Finished
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources import simulated
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.demo import demo_domain, simulate
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import TableSource, opened
from dpsynth_core.statistics.distances import Marginals, largest_error, scaled, workload_error
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.drawn_marginals import RANDOM, Draw
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import Workload, all_kway, drawn

DELTA, FEW_ROWS = 1e-9, 2_000
_ALONE = Unit()


@dataclass(frozen=True)
class Shape:
    """A table and its workload: all marginals of k columns, or so many of them at random, the same each time. read: the records, from the
    folder of public tables where they are there."""

    about: str
    k: int
    read: Callable[[Path], CodesSource]
    some: int = 0

    def workload(self, domain: Domain) -> Workload:
        return drawn(domain, Draw(RANDOM, self.k, self.some, 0)) if self.some else all_kway(domain, self.k)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, label="now", epsilons=[0.1, 0.5, 1.0, 10.0], mechanisms=["aim", "independent", "mst"], runs=5)
    parser.add_argument("--tables", nargs="+", choices=SHAPES, default=[name for name in SHAPES if "-" not in name])
    parser.add_argument("--set", nargs="*", metavar="NAME=VALUE", default=[], help="of all mechanisms")
    parser.add_argument("--data", type=Path, default=ADULT_FOLDER)
    options = parser.parse_args(arguments)
    place = options.results / "shapes"
    for name in options.tables:
        shape = SHAPES[name]
        try:
            source = shape.read(options.data)
        except (FileNotFoundError, InputError):
            print(f"without {name}: {options.data} does not hold it", file=sys.stderr)
            continue
        workload = shape.workload(source.domain)
        true = source.counts(workload.cliques)
        for epsilon in options.epsilons:
            for mechanism in options.mechanisms:
                run = {"label": options.label, "table": name, "epsilon": epsilon, "mechanism": mechanism}
                chosen = registry.configured(registry.get(mechanism), dict(pair.split("=", 1) for pair in options.set))
                run |= measured(source, workload, true, chosen, epsilon, options.runs)
                print(run, file=sys.stderr, flush=True)
                runs = record.instead(record.earlier(place), run, "label", "table", "epsilon", "mechanism")
                record.write(place, sorted(runs, key=_order))
    record.write(place, record.earlier(place), record.table(_HEAD, _rows(record.earlier(place))))


def measured(source: CodesSource, workload: Workload, true: Marginals, mechanism: Mechanism, epsilon: float, runs: int) -> dict[str, Any]:
    """Errors and processor seconds of each seed."""
    errors, largest, seconds = [], [], []
    people = int(true[workload.cliques[0]].sum())
    for seed in range(runs):
        start = time.process_time()
        codes = rows(source, workload, mechanism, epsilon, seed)
        answers = scaled(row_marginals(source.domain, codes, workload.cliques), people)
        errors.append(round(workload_error(workload, true, answers, people), 5))
        largest.append(round(largest_error(true, answers), 5))
        seconds.append(round(time.process_time() - start, 2))
    return {"errors": errors, "largest": largest, "seconds": seconds}


def rows(
    source: CodesSource, workload: Workload, mechanism: Mechanism, epsilon: float, seed: int, unit: Unit = _ALONE
) -> NDArray[np.int32]:
    """Those of a run, noise and rows with this seed."""
    accountant = mechanism.card.accountant
    kernel = PrivacyKernel(source, unit, accountant.rho_from(epsilon, DELTA), SeededNoise(seed), accountant=accountant)
    *_, finished = mechanism.steps(kernel, workload)
    assert isinstance(finished, Finished)
    made: NDArray[np.int32] = finished.model.rows(round(finished.total), workload.weights, np.random.default_rng(seed))  # type: ignore[attr-defined]
    return made


def _domain(sizes: Sequence[int]) -> Domain:
    return Domain.from_json({f"c{i}": size for i, size in enumerate(sizes)})


def _stand_in(sizes: Sequence[int], rows: int, strength: float, seed: int) -> Callable[[Path], CodesSource]:
    return lambda _: CodesSource(_domain(sizes), simulated.simulate(_domain(sizes), rows, strength, seed))


def _classes(sizes: Sequence[int], rows: int, classes: int, seed: int) -> Callable[[Path], CodesSource]:
    return lambda _: CodesSource(_domain(sizes), invented.of_classes(sizes, rows, classes, 0.5, np.random.default_rng(seed)))


def _adult(folder: Path, rows: int | None = None) -> CodesSource:
    """All of its people, or some, the same each time."""
    domain, table = load_domain(folder / "adult-binned-domain.json"), pd.read_csv(folder / "adult-binned.csv")
    some = table if rows is None else table.sample(rows, random_state=1)
    return CodesSource(domain, some[list(domain.names)].to_numpy(np.int32))


def coded(domain: Domain, table: TableSource, form: TableFormat) -> CodesSource:
    batches = [encode(domain, batch, form.notation) for batch in opened(table, form).batches(domain.names)]
    return CodesSource(domain, np.concatenate([np.stack([batch[name] for name in domain.names], axis=1) for batch in batches]))


def _celled(domain: Domain) -> Domain:
    """With cells for missing and for other values in every column, most of which are empty."""
    return Domain(tuple(attribute.unfolded() for attribute in domain))


def _titanic(folder: Path) -> CodesSource:
    path = folder / "titanic.csv"
    return coded(_celled(titanic(folder)), path, default_format(path))


def _raw_adult(folder: Path) -> CodesSource:
    return coded(adult_by_its_codebook(), folder / "adult.csv", TableFormat("csv", missing_markers=frozenset({"?"})))


_WIDE = [int(size) for size in np.random.default_rng(35).integers(2, 12, 30)] + [24, 48, 96, 120, 180]

SHAPES: dict[str, Shape] = {
    "titanic": Shape("1,306 people, 10 columns", 2, _titanic),
    "demo": Shape("the simulated demo", 2, lambda _: coded(demo_domain(), simulate(), TableFormat())),
    "demo-cells": Shape("the demo with spare cells", 2, lambda _: coded(_celled(demo_domain()), simulate(), TableFormat())),
    "few": Shape("2,000 people of Adult", 2, lambda folder: _adult(folder, FEW_ROWS)),
    "adult": Shape("Adult as the AIM paper bins it", 3, _adult),
    "adult-cells": Shape("Adult by its codebook, with spare cells", 3, _raw_adult),
    "wide": Shape("20,000 people, 35 columns of up to 180 values", 2, _stand_in(_WIDE, 20_000, 0.5, 35)),
    "values": Shape("30,000 people, a column of 500 values", 2, _stand_in([500, 2, 3, 5, 8, 12, 20, 30], 30_000, 0.6, 500)),
    "rows": Shape("200,000 people, 10 columns", 3, _stand_in([2, 2, 3, 4, 5, 6, 8, 10, 12, 16], 200_000, 0.5, 7)),
    "binary": Shape("21,574 people, 16 columns of two values", 3, _stand_in([2] * 16, 21_574, 0.5, 16)),
    "dense": Shape("20,000 people of 40 hidden classes, 12 columns", 2, _classes([4, 5, 6, 8] * 3, 20_000, 40, 12)),
}
_SOME = "titanic-5-2 demo-5-2 demo-15-2 demo-10-3 adult-10-2 adult-5-3 rows-15-2 rows-10-3 binary-15-3 dense-10-2"
for _name, _some, _k in (one.split("-") for one in _SOME.split()):
    _of = SHAPES[_name]
    SHAPES[f"{_name}-{_some}-{_k}"] = Shape(f"{_of.about}: {_some} tables of {_k} columns", int(_k), _of.read, int(_some))


def _order(run: Mapping[str, Any]) -> tuple[int, float, str, str]:
    return list(SHAPES).index(run["table"]), run["epsilon"], run["mechanism"], run["label"]


def _rows(runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    for run in runs:
        errors, seconds = run["errors"], statistics.fmean(run["seconds"])
        spread = statistics.stdev(errors) / math.sqrt(len(errors)) if len(errors) > 1 else math.nan
        about = (run["table"], f"{run['epsilon']:g}", run["mechanism"], run["label"], len(errors))
        largest = f"{statistics.fmean(run['largest']):.4f}" if "largest" in run else ""
        yield (*about, f"{statistics.fmean(errors):.4f} ± {spread:.4f}", largest, f"{seconds:.1f}")


_HEAD = ("table", "epsilon", "mechanism", "version", "runs", "error", "largest error", "processor seconds")
