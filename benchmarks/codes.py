"""A column of thousands of codes beside small ones: are the codes as good as Independent's, and is a strong relation of others kept?

    python -m benchmarks codes --label now --runs 3
    python -m benchmarks codes --label two --columns 2 --widths 500 1000 2000 --runs 2      # two such columns

The codes are as frequent as a power law says, two small columns follow each other, all others stand alone. Errors are the shares of the
people in a wrong cell, of the rows of all pairs' workload, with seeds that count upwards; that of several columns of codes is their mean.
A run takes processor seconds.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.shapes import rows
from dpsynth_core.mechanisms.registry import get
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.released import of_codes
from dpsynth_core.vocabulary.workload import all_kway

CODE, PAIR = "code", ("a", "b")
PEOPLE = {500: 3_000, 1_000: 3_000, 2_000: 5_000}
"""How many people have so many codes; 20,000 others."""
_HEAD = ("codes", "columns", "people", "mechanism", "error of the codes", "error of the pair", "seconds")


def table(codes: int, people: int, seed: int, columns: int = 1) -> CodesSource:
    """Return invented people, the same for each seed: a follows b, and no other column follows another one.

    Args:
        codes: Number of codes of a column.
        people: Number of people.
        seed: Seed of the people.
        columns: Number of columns of codes.
    """
    names = [CODE, *(f"{CODE}{number}" for number in range(2, columns + 1))]
    rng, domain = np.random.default_rng(seed), Domain.from_json({**dict.fromkeys(names, codes), "a": 4, "b": 4, "c": 2})
    shares = 1 / np.arange(1, codes + 1) ** 1.1
    b = rng.integers(0, 4, people)
    a = np.where(rng.random(people) < 0.8, b, rng.integers(0, 4, people))
    drawn = [rng.choice(codes, people, p=shares / shares.sum()) for _ in names]
    return CodesSource(domain, np.stack([*drawn, a, b, rng.random(people) < 0.1], axis=1).astype(np.int32))


def main(arguments: Sequence[str] | None = None) -> None:
    widths = [500, 1_000, 2_000, 5_000, 10_000, 20_000]
    parser = record.parser(__doc__, label="now", epsilons=[1.0], mechanisms=["aim", "independent", "mst"], widths=widths, runs=3, columns=1)
    options = parser.parse_args(arguments)
    place = options.results / "codes"
    for codes in options.widths:
        source = table(codes, PEOPLE.get(codes, 20_000), codes, options.columns)
        for epsilon in options.epsilons:
            for mechanism in options.mechanisms:
                run = {"label": options.label, "codes": codes, "columns": options.columns, "epsilon": epsilon, "mechanism": mechanism}
                run |= measured(source, mechanism, epsilon, options.runs)
                print(run, file=sys.stderr, flush=True)
                record.write(place, record.instead(record.earlier(place), run, "label", "codes", "columns", "epsilon", "mechanism"))
    made = sorted(record.earlier(place), key=lambda run: (run["columns"], run["codes"], run["epsilon"], run["mechanism"], run["label"]))
    record.write(place, made, record.table(_HEAD, map(_row, made)))


def measured(source: CodesSource, mechanism: str, epsilon: float, runs: int) -> dict[str, Any]:
    """Return errors and processor seconds of each seed."""
    codes, pair, seconds = list[float](), list[float](), list[float]()
    for seed in range(runs):
        start = time.process_time()
        made = rows(source, all_kway(source.domain, 2), get(mechanism), epsilon, seed)
        seconds.append(round(time.process_time() - start, 2))
        codes.append(round(statistics.fmean(error(source, made, (name,)) for name in source.domain.names if name.startswith(CODE)), 4))
        pair.append(round(error(source, made, PAIR), 4))
    people = int(source.counts([PAIR])[PAIR].sum())
    return {"people": people, "of_codes": codes, "of_pair": pair, "seconds": seconds}


def error(source: CodesSource, made: np.ndarray, clique: Clique) -> float:
    """Return the share of the people in a wrong cell of a table of the rows."""
    true, ours = source.counts([clique])[clique], of_codes(source.domain, made, clique)
    return float(np.abs(true / true.sum() - ours / ours.sum()).sum()) / 2


def _row(run: Mapping[str, Any]) -> tuple[str, ...]:
    errors = [_with_error(run[name]) for name in ("of_codes", "of_pair")]
    seconds = f"{statistics.fmean(run['seconds']):.1f}"
    return (f"{run['codes']:,}", run["columns"], f"{run['people']:,}", run["mechanism"], *errors, seconds)


def _with_error(values: Sequence[float]) -> str:
    """Return the mean, with its standard error where there are several values."""
    error = f" ± {statistics.stdev(values) / math.sqrt(len(values)):.4f}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.4f}{error}"
