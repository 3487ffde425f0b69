"""How often does the interval hold that a release states for how many people are alone with values that one row has?

Makes releases of invented people with a question about uniques, at 2 % of the budget, with the operating system's noise, in both
neighbouring relations, and compares what they state with the true number, which may be counted here, by dictionaries.

    python -m benchmarks repu --people 50000 --mechanisms independent mst --runs 200
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks import disco, record
from benchmarks.table import released, spec
from dpsynth_core.extensions.disclosure.uniques import REPLICATED
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.unit import ADD_REMOVE, REPLACE
from dpsynth_core.sources.codes import CodesSource

NAME = "repu"
KEYS = ("c000", "c001", "c002", "c003", "c004")


def main(arguments: Sequence[str] | None = None) -> None:
    defaults: dict[str, Any] = {"people": [50_000], "mechanisms": ["independent"], "epsilons": [1.0], "runs": 200}
    options = record.parser(__doc__, {}, **defaults).parse_args(arguments)
    place = options.results / NAME
    for people in options.people:
        source = disco.people_of(people)
        for mechanism in options.mechanisms:
            for epsilon in options.epsilons:
                for relation in (ADD_REMOVE, REPLACE):
                    point = {"people": people, "mechanism": mechanism, "epsilon": epsilon, "relation": relation}
                    made = [one for one in record.earlier(place) if point.items() <= one.items()]
                    for number in range(len(made), options.runs):
                        made.append({**point, "run": number, "share": measured(source, mechanism, epsilon, relation)})
                        print(point, number, file=sys.stderr, flush=True)
                    record.keep(place, [*(one for one in record.earlier(place) if not point.items() <= one.items()), *made], [])
    runs = record.earlier(place)
    record.write(place, runs, record.table(_HEAD, _rows(runs)))


def measured(source: CodesSource, mechanism: str, epsilon: float, relation: str) -> list[float]:
    """Make a release; return the share that it states, with its interval, and the true share: [value, low, high, true]."""
    more: dict[str, Any] = {"extensions": {REPLICATED.setting: [", ".join(KEYS)]}, "unit": {"relation": relation}}
    release = released(Plan.of(spec({"kind": "demo"}, source.domain, mechanism, {"epsilon": epsilon}, **more)), source)
    (one,) = release.claims[REPLICATED.name].alone
    places = [source.domain.position(name) for name in one.keys]
    in_table, in_rows = (
        Counter(map(tuple, codes[:, places].tolist())) for codes in (np.asarray(source.sample(10**9)), np.asarray(release.codes))
    )
    true = sum(often == 1 == in_rows[cell] for cell, often in in_table.items())
    return [float(f"{x:.6g}") for x in (one.share.value, one.share.low95, one.share.high95, true / in_table.total())]


_HEAD = "people", "mechanism", "epsilon", "relation", "releases", "true, mean", "half width, mean", "held"


def _rows(runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    points = defaultdict[tuple[Any, ...], list[list[float]]](list)
    for run in runs:
        points[run["people"], run["mechanism"], run["epsilon"], run["relation"]].append(run["share"])
    for (people, mechanism, epsilon, relation), every in points.items():
        true, half = np.mean([one[3] for one in every]), np.mean([(one[2] - one[1]) / 2 for one in every])
        held = np.mean([low <= truth <= high for _, low, high, truth in every])
        yield f"{people:,}", mechanism, f"{epsilon:g}", relation, len(every), f"{true:.2%}", f"{half:.2%}", f"{held:.1%}"
