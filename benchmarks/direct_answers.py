"""How much larger is the noise of an analysis that was named with others than that of a release for it alone?

Draws people from the populations of `intervals`. One release names all analyses; further ones have the whole budget for the columns of one
analysis and their pairs. Both are by AIM, or by Independent for one column. Compared is the standard deviation of the noise of each result
that passes in both, as intervals state it.

    python -m benchmarks direct_answers --runs 5
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.intervals import FIRST, NAMED, POPULATIONS, _of, _workload
from benchmarks.table import released, spec
from dpsynth_core.extensions.intervals.analysing import Result, analyse
from dpsynth_core.extensions.intervals.named import SETTING
from dpsynth_core.extensions.intervals.noise import Informed
from dpsynth_core.extensions.intervals.pooling import TABLE
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain


def measure(point: record.Point) -> record.Point:
    """The noise of each result by itself, and of the same result where all analyses were named."""
    population, domain, cells, p, asked, _ = _of(point["population"])
    codes = cells[np.random.default_rng().choice(len(p), point["people"], p=p)]
    together = _noise(domain, codes, point["epsilon"], _workload(point["tables"], asked), population.analyses)
    results = []
    for text, analysis, named in zip(population.analyses, asked, together, strict=True):
        own = domain.keep(analysis.columns)
        kept = codes[:, [domain.names.index(name) for name in own.names]]
        (direct,) = _noise(own, kept, point["epsilon"], {"kind": "all", "k": min(2, len(own))}, [text])
        results += [[name, named[name], direct[name]] for name in named if direct.get(name, 0) > 0 and named[name] > 0]
    return {"results": results}


def _noise(
    domain: Domain, codes: NDArray[np.int32], epsilon: float, workload: dict[str, Any], texts: Sequence[str]
) -> list[dict[str, float]]:
    """For each analysis the standard deviation of the noise of each result that passes, by name."""
    stated: dict[str, Any] = {"workload": workload, "domain_origin": "public"}
    if len(domain) > 1:
        stated["extensions"] = {SETTING: list(texts)}
    mechanism = "aim" if len(domain) > 1 else "independent"
    plan = Plan.of(spec({"kind": "demo"}, domain, mechanism, {"epsilon": epsilon}, **stated))
    informed, found = Informed.of(released(plan, CodesSource(domain, codes))), list[dict[str, float]]()
    for text in texts:
        results: tuple[Result, ...] = ()
        with suppress(InputError):  # the noise is as large as a group: the analysis is refused
            results = analyse(informed, text, TABLE).results
        found.append({one.name: one.noise for one in results if one.state == "holds"})
    return found


def points(options: argparse.Namespace) -> Iterator[record.Point]:
    for epsilon in options.epsilons:
        for population in options.populations:
            for tables in options.tables:
                yield {"population": population, "tables": tables, "epsilon": epsilon, "people": options.people}


def lines(kept: Mapping[str, Any]) -> Iterator[str]:
    """For each setting the median of the ratio, and its quarters."""
    settings = list(dict.fromkeys((run["population"], run["tables"], run["epsilon"], run["people"]) for run in kept["runs"]))
    rows = []
    for setting in [*settings, *dict.fromkeys(("all", *setting[1:]) for setting in settings)]:
        some = [run for run in kept["runs"] if setting in ((run["population"], *_of_run(run)), ("all", *_of_run(run)))]
        ratios = [a / b for run in some for _, a, b in run["results"]]
        quarters = np.quantile(ratios, [0.25, 0.5, 0.75]) if ratios else [np.nan] * 3
        rows.append([*setting, len(some), len(ratios), *(f"{one:.2f}" for one in quarters)])
    heads = ("population", "tables", "epsilon", "people", "releases", "results", "a quarter is below", "median", "a quarter is above")
    yield from record.table(heads, rows)


def _of_run(run: Mapping[str, Any]) -> tuple[Any, ...]:
    return run["tables"], run["epsilon"], run["people"]


PROGRAM = record.Program(
    name="direct_answers",
    about=__doc__,
    points=points,
    measure=measure,
    lines=lines,
    defaults={
        "populations": ["survey", "ward", "shops", "adult"],
        "tables": [NAMED, FIRST],
        "epsilons": [0.2, 1.0, 4.0],
        "people": 5000,
        "runs": 5,
    },
    among={"populations": list(POPULATIONS), "tables": [NAMED, FIRST]},
)
main = PROGRAM.main
