"""What are tables called good where most are just beyond the limit? Draws the certificate's noise around errors that are stated here.

Of each 40 tables of 4 to 60 cells some are off by half of the limit of 10 % and all others by the same multiple of it. There the promise
of Proposition 23 for those that are named ends: how many of them are beyond the limit, and how many above the bound that is printed, is
what this counts. Noise is that of one table's error as a share of the limit; the number of people, 10,000, is known, or estimated with the
same noise.

    python -m benchmarks beyond
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks import record
from dpsynth_core.claims.certificate import ROWS, Largest, Tables, state
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.statistics.naming import LIMIT
from dpsynth_core.statistics.totals import Total

PEOPLE, TABLES = 10_000, 40
SHAPES = tuple((2 + i % 11, 2 + i // 11) for i in range(TABLES))
PUBLISHED: Tables = {(f"a{i}", f"b{i}"): np.full(shape, 1 / math.prod(shape)) for i, shape in enumerate(SHAPES)}
HALF = 0.5
"""Of the limit: the error of the tables that are truly good."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, beyond=[1.01, 1.1, 1.25], good=[0, 4, 20], noise=[0.1, 0.3, 0.5], runs=200, seed=1)
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    settings = [(b, g, n, doubt) for b in options.beyond for g in options.good for n in options.noise for doubt in (False, True)]
    counted = [dict(zip(_SETTING, one, strict=True)) | _counts(rng, *one, options.runs) for one in settings]
    place = options.results / "beyond"
    record.write(place, {"runs": options.runs, "seed": options.seed, "points": counted}, record.table(_HEADS, map(_row, counted)))


_SETTING = ("beyond", "good", "noise", "estimated")
_HEADS = ("others are off by, of the limit", f"good of {TABLES}", "noise, of the limit", "people", "named", "of these wrong", "bound fails")


def _counts(rng: np.random.Generator, beyond: float, good: int, noise: float, estimated: bool, runs: int) -> dict[str, int]:
    """Numbers of tables named, of wrong ones among them, and of bounds there that are below the error, in all runs."""
    errors = np.where(np.arange(TABLES) % TABLES < good, HALF, beyond)[rng.permutation(TABLES)] * LIMIT / IN_WRONG_CELL
    sigma = noise * LIMIT / IN_WRONG_CELL * PEOPLE
    counts = {"named": 0, "wrong": 0, "bound_fails": 0}
    for _ in range(runs):
        off = sigma if estimated else 0.0
        total = Total(PEOPLE + off * rng.standard_normal(), off)
        # a wrong number of people moves all distances by as much at most: here it does
        measured = errors * PEOPLE + (total.value - PEOPLE) + sigma * rng.standard_normal(TABLES)
        stated = state(dict(zip(PUBLISHED, measured.tolist(), strict=True)), PUBLISHED, total, sigma, 1.0, ROWS, Largest(0.0, sigma))
        bounds = np.array([one.bound95 for one in stated.marginals]) / IN_WRONG_CELL
        named = bounds <= LIMIT / IN_WRONG_CELL
        counts["named"] += int(named.sum())
        counts["wrong"] += int((named & (errors > LIMIT / IN_WRONG_CELL)).sum())
        counts["bound_fails"] += int((named & (errors > bounds)).sum())
    return counts


def _row(one: Mapping[str, Any]) -> tuple[Any, ...]:
    people = "estimated" if one["estimated"] else "known"
    parts = (f"{one[name]:,} ({one[name] / one['named']:.0%})" if one["named"] else "none" for name in ("wrong", "bound_fails"))
    return (one["beyond"], one["good"], one["noise"], people, f"{one['named']:,}", *parts)
