"""How often do the intervals hold that a release states for how many people its rows name a value?

Makes releases of invented people with two questions about disclosure, at 2 % of the budget, with the operating system's noise, and compares
what they state with the true numbers, which may be counted here: for how many people the rows name a value of theirs rightly, wrongly, and
at all.

    python -m benchmarks disco --people 5000 50000 --runs 200
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks import invented, record
from benchmarks.table import released, spec
from dpsynth_core.extensions.disclosure.claim import DISCLOSURE
from dpsynth_core.planning.plan import Plan
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain

NAME = "disco"
SIZES = (10, 8, 8, 6, 4)
QUESTIONS = ("c004 from c000, c001, c002, c003", "c003 from c000, c001, c002")
SAID = ("rightly", "wrongly", "named")


def main(arguments: Sequence[str] | None = None) -> None:
    defaults: dict[str, Any] = {"people": [5_000, 50_000], "mechanisms": ["aim"], "epsilons": [1.0], "runs": 200}
    options = record.parser(__doc__, {}, **defaults).parse_args(arguments)
    place = options.results / NAME
    for people in options.people:
        source = people_of(people)
        for mechanism in options.mechanisms:
            for epsilon in options.epsilons:
                point = {"people": people, "mechanism": mechanism, "epsilon": epsilon}
                made = [one for one in record.earlier(place) if point.items() <= one.items()]
                for number in range(len(made), options.runs):
                    made.append({**point, "run": number, "questions": measured(source, mechanism, epsilon)})
                    print(point, number, file=sys.stderr, flush=True)
                others = [one for one in record.earlier(place) if not point.items() <= one.items()]
                record.keep(place, [*others, *made], [])
    runs = record.earlier(place)
    record.write(place, runs, record.table(_HEAD, _rows(runs)))


def people_of(people: int) -> CodesSource:
    """Invented people in five columns."""
    table = invented.Invented("disco", people, SIZES)
    return CodesSource(Domain.from_json(dict(zip(table.names, table.sizes, strict=True))), invented.codes(table))


def measured(source: CodesSource, mechanism: str, epsilon: float) -> list[dict[str, Any]]:
    """Make a release; return for each question and each share what it states, [value, low, high], and the true share."""
    budget = {"epsilon": epsilon}
    release = released(
        Plan.of(spec({"kind": "demo"}, source.domain, mechanism, budget, extensions={DISCLOSURE.setting: list(QUESTIONS)})), source
    )
    stated, rows, people = release.claims[DISCLOSURE.name], np.asarray(release.codes), source.sample(10**9)
    found = []
    for one in stated.questions:
        true = counted(source.domain, people, rows, one.keys, one.target)
        shares = {said: getattr(one, said) for said in SAID}
        found.append({said: [*(_short(x) for x in vars(shares[said]).values()), _short(true[said] / len(people))] for said in SAID})
    return found


def counted(domain: Domain, people: Any, rows: Any, keys: Sequence[str], target: str) -> dict[str, int]:
    """Count people by dictionaries, apart from the program's own lookup."""
    places, place = [domain.position(key) for key in keys], domain.position(target)
    said = defaultdict[tuple[int, ...], set[int]](set)
    for row in rows.tolist():
        said[tuple(row[key] for key in places)].add(row[place])
    named = [(one[place], next(iter(values))) for one in people.tolist() if len(values := said.get(tuple(one[k] for k in places), ())) == 1]
    right = sum(own == value for own, value in named)
    return {"rightly": right, "wrongly": len(named) - right, "named": len(named)}


def _short(value: float) -> float:
    return float(f"{value:.6g}")


_HEAD = (
    "people",
    "mechanism",
    "epsilon",
    "releases",
    "question",
    "share",
    "true, mean",
    "half width, mean",
    "held",
    "releases where all held",
)


def _rows(runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    points = defaultdict[tuple[int, str, float], list[Mapping[str, Any]]](list)
    for run in runs:
        points[run["people"], run["mechanism"], run["epsilon"]].append(run)
    for (people, mechanism, epsilon), every in points.items():
        whole = np.mean([all(_held(one[said]) for one in run["questions"] for said in SAID) for run in every])
        for number, question in enumerate(QUESTIONS):
            for said in SAID:
                each = [run["questions"][number][said] for run in every]
                true, half = np.mean([one[3] for one in each]), np.mean([(one[2] - one[1]) / 2 for one in each])
                held = f"{np.mean([_held(one) for one in each]):.1%}"
                yield (
                    f"{people:,}",
                    mechanism,
                    f"{epsilon:g}",
                    len(every),
                    question,
                    said,
                    f"{true:.2%}",
                    f"{half:.2%}",
                    held,
                    f"{whole:.1%}",
                )


def _held(one: Sequence[float]) -> bool:
    _, low, high, true = one
    return low <= true <= high
