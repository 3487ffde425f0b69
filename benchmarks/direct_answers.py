"""How much larger is the noise of an analysis that was named with others than that of a release for it alone?

Draws people from the populations of `intervals`. One release names all analyses; further ones have the whole budget for the columns of one
analysis and their pairs. Both are by AIM, or by Independent for one column. Compared is the standard deviation of the noise of each result
that passes in both, as intervals state it.

    python -m benchmarks direct_answers --runs 5
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.intervals import FIRST, NAMED, POPULATIONS, _of, _workload
from benchmarks.table import released, spec
from dpsynth_core.extensions.intervals.analysing import holds_from
from dpsynth_core.extensions.intervals.estimates import Prepared, prepared
from dpsynth_core.extensions.intervals.explained import explained
from dpsynth_core.extensions.intervals.formulas import read
from dpsynth_core.extensions.intervals.named import SETTING
from dpsynth_core.extensions.intervals.noise import Informed, noise_in
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain


def measure(point: record.Point) -> record.Point:
    """The noise of each result by itself, and of the same result where all analyses were named."""
    population, domain, cells, p, asked, _ = _of(point["population"])
    codes = cells[np.random.default_rng().choice(len(p), point["people"], p=p)]
    together = _noise(domain, codes, point["epsilon"], _workload(point["tables"], asked), list(population.analyses), asked)
    results = []
    for text, analysis, named in zip(population.analyses, asked, together, strict=True):
        own = domain.keep(analysis.columns)
        alone = prepared(own, read(text))
        kept = codes[:, [domain.names.index(name) for name in own.names]]
        whole = {"kind": "all", "k": min(2, len(own))}
        (direct,) = _noise(own, kept, point["epsilon"], whole, [text], (alone,))
        results += [[name, a, b] for name, a, b in zip(analysis.names, named, direct, strict=True) if a > 0 and b > 0]
    return {"results": results}


def _noise(
    domain: Domain, codes: NDArray[np.int32], epsilon: float, workload: dict[str, Any], texts: list[str], asked: tuple[Prepared, ...]
) -> list[list[float]]:
    """The standard deviation of the noise of each result of the analyses; 0 of what does not pass."""
    stated: dict[str, Any] = {"workload": workload, "domain_origin": "public"}
    if len(domain) > 1:
        stated["extensions"] = {SETTING: texts}
    mechanism = "aim" if len(domain) > 1 else "independent"
    informed = Informed.of(
        released(Plan.of(spec({"kind": "demo"}, domain, mechanism, {"epsilon": epsilon}, **stated)), CodesSource(domain, codes))
    )
    found = []
    for analysis in asked:
        try:
            own = analysis.estimate(informed.codes, influence=True)
        except InputError:  # the noise is as large as a group: the analysis is refused
            found.append([0.0] * len(analysis.names))
            continue
        held = explained(own.influence, domain, informed.codes, informed.tables, analysis.columns)
        noise = noise_in(own.influence, analysis.columns, informed)
        found.append([float(error) if r2 >= holds_from(informed.people) else 0.0 for error, r2 in zip(noise.errors, held.r2, strict=True)])
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
