"""How often the intervals of answers hold, and whether they are wider than they have to be.

Makes releases of a small invented table, each with fresh noise, and asks each the same questions, drawn beforehand. The true answers are
those of the invented people. An interval of true level 95 % holds for 95 % of the releases; `excess` says how many times wider than that it
is: by so much it could be narrowed around its middle and still hold for 95 % of them.

Questions are broken down by a column too: how often each line's interval holds, and how often all lines of a breakdown hold together, which
they do not promise. Whether the intervals of all worst subgroups hold together, which they do promise, is counted likewise.

    python -m benchmarks questions
    python -m benchmarks questions --mechanism gaussian --relation replace
    python -m benchmarks questions --mechanism independent
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.table import released, spec
from dpsynth_core.evaluation.questions.answer import answer
from dpsynth_core.evaluation.questions.breakdown import breakdown
from dpsynth_core.evaluation.questions.known import Known
from dpsynth_core.evaluation.questions.question import Question
from dpsynth_core.evaluation.questions.worst import worst
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import synthesis
from dpsynth_core.report.explore import knowledge
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

DOMAIN = Domain(
    (
        Attribute.integer("age", 0, 99, bins=5, other=False, missing=False),
        Attribute.categorical("sex", ["f", "m"]),
        Attribute.categorical("work", ["none", "part", "full"]),
        Attribute.categorical("region", ["north", "east", "south", "west"]),
    )
)
PEOPLE = 1000
BREAKDOWNS = (
    (Question("count"), "work"),
    (Question("share", {}, {"sex": (0,)}), "region"),
    (Question("mean", column="age"), "work"),
    (Question("median", column="age"), "sex"),
)
"""Each with the column that it is broken down by."""
_LEVEL = 0.95


@dataclass(frozen=True)
class Outcome:
    """One interval. off: distance of the true answer from its middle; half: half of its width."""

    kind: str
    off: float
    half: float

    @property
    def holds(self) -> bool:
        return self.off <= self.half + 1e-9


def main(arguments: Sequence[str] | None = None) -> None:
    relation = "add-remove"
    parser = record.parser(__doc__, mechanism="aim", relation=relation, epsilon=2.0, certificate=0.05, releases=200, questions=40)
    options = parser.parse_args(arguments)
    together: dict[str, list[bool]] = defaultdict(list)
    print(written(options, list(outcomes(options, together)), together))


def people(seed: int = 1) -> NDArray[np.int32]:
    """Codes of invented people whose columns depend on each other, (PEOPLE, columns)."""
    rng, sizes = np.random.default_rng(seed), DOMAIN.sizes(DOMAIN.names)
    shares = rng.dirichlet(np.full(DOMAIN.cells(DOMAIN.names), 0.5))
    return np.column_stack(np.unravel_index(rng.choice(shares.size, PEOPLE, p=shares), sizes)).astype(np.int32)


def questions(number: int, seed: int = 2) -> list[tuple[str, Question]]:
    """Questions of at most three columns with the name of their kind; groups of two cells at most."""
    rng = np.random.default_rng(seed)

    def cells(names: Sequence[str]) -> dict[str, tuple[int, ...]]:
        return {n: tuple(rng.permutation(DOMAIN[n].size)[: int(rng.integers(1, max(2, DOMAIN[n].size - 1)))].tolist()) for n in names}

    asked: list[tuple[str, Question]] = []
    for i in range(number):
        first, second = (str(name) for name in rng.permutation([n for n in DOMAIN.names if n != "age"])[:2])
        kinds = {
            "count": Question("count", cells([first, second][: 1 + i % 2])),
            "share": Question("share", {}, cells([first])),
            "share in a group": Question("share", cells([first]), cells([second])),
            "mean": Question("mean", cells([first]), column="age"),
            "median": Question("median", cells([first]), column="age"),
            "difference of shares": Question("difference", {first: (0,)}, cells([second]), {first: (1,)}),
            "difference of means": Question("difference", {first: (0,)}, {}, {first: (1,)}, column="age"),
        }
        kind = list(kinds)[i % len(kinds)]
        asked.append((kind, kinds[kind]))
    return asked


def outcomes(options: argparse.Namespace, together: dict[str, list[bool]]) -> Iterator[tuple[str, Outcome]]:
    """The kind of a question with what became of its interval, release by release; guesses have none.

    together: gets, for each release, whether all intervals of a breakdown hold, and all of the worst subgroups."""
    codes, asked = people(), questions(options.questions)
    truth = Known(DOMAIN, codes, (), Total(float(PEOPLE), 0.0), {})
    true = [answer(truth, question).stated.value for _, question in asked]
    budget = {"epsilon": options.epsilon, "certificate": options.certificate}
    more = {"domain_origin": "public", "unit": {"relation": options.relation}}
    plan = Plan.of(spec({"kind": "demo"}, DOMAIN, options.mechanism, budget, **more))
    for number in range(options.releases):
        print(f"release {number + 1}", file=sys.stderr, end="\r")
        known = knowledge(released(plan, CodesSource(DOMAIN, codes)))
        for i, ((_, question), exact) in enumerate(zip(asked, true, strict=True)):
            answered = answer(known, question)
            low, high = answered.stated.low, answered.stated.high
            if low is not None and high is not None and exact is not None:
                yield asked[i][0], Outcome(" and ".join(answered.evidence), abs(exact - (low + high) / 2), (high - low) / 2)
        for question, by in BREAKDOWNS:
            kind = f"{question.statistic} by a column"
            lines = list(_lines(known, truth, question, by))
            together[kind].append(all(line.holds for line in lines))
            yield from ((kind, line) for line in lines)
        together["worst subgroups"].append(_worst_hold(known, truth))


def _lines(known: Known, truth: Known, question: Question, by: str) -> Iterator[Outcome]:
    """What became of the interval of each line of a breakdown."""
    for line, exact in zip(breakdown(known, question, by), breakdown(truth, question, by), strict=True):
        low, high, true = line.answer.stated.low, line.answer.stated.high, exact.answer.stated.value
        if low is not None and high is not None and true is not None:
            yield Outcome(" and ".join(line.answer.evidence), abs(true - (low + high) / 2), (high - low) / 2)


def _worst_hold(known: Known, truth: Known) -> bool:
    """Whether the interval of every subgroup holds that could be called the worst."""
    for one in worst(known, most=DOMAIN.cells(DOMAIN.names) * len(DOMAIN.names)):
        cells = {name: (code,) for name, code in zip(one.table, one.codes, strict=True)}
        true = answer(truth, Question("count", cells)).stated.value
        if true is None or not one.low - 1e-9 <= true <= one.high + 1e-9:
            return False
    return True


def summary(results: Sequence[Outcome]) -> dict[str, float | None]:
    """coverage, and excess: how many times wider than needed for the level; None where no width at all was needed."""
    ratios = [one.off / one.half if one.half > 0 else float(one.off > 1e-9) for one in results]
    needed = float(np.quantile(ratios, _LEVEL))
    coverage = statistics.fmean(one.holds for one in results)
    return {"intervals": len(results), "coverage": coverage, "excess": 1 / needed if needed > 0 else None}


def written(options: argparse.Namespace, results: Sequence[tuple[str, Outcome]], together: Mapping[str, Sequence[bool]]) -> str:
    """Keep the record; returns it as a table."""
    groups: Mapping[str, list[Outcome]] = defaultdict(list)
    for kind, outcome in results:
        groups[f"{kind}, {outcome.kind}"].append(outcome)
    kept: dict[str, Any] = {name: getattr(options, name) for name in ("mechanism", "relation", "epsilon", "certificate", "releases")}
    kept |= {"people": PEOPLE, "kinds": {name: summary(group) for name, group in sorted(groups.items())}}
    kept |= {"together": {kind: statistics.fmean(held) for kind, held in together.items()}}
    kept |= {"all": summary([outcome for _, outcome in results]), "versions": synthesis.versions()}
    name = f"questions_{options.mechanism}_{options.relation}_eps{options.epsilon:g}"
    record.write(options.results / name, kept)
    rows = [
        (kind, f"{one['intervals']:,}", f"{one['coverage']:.1%}", "any" if one["excess"] is None else f"{one['excess']:.2f}")
        for kind, one in [*kept["kinds"].items(), ("all", kept["all"])]
    ]
    lines = record.table(("kind, evidence", "intervals", "hold", "times as wide as needed"), rows)
    at_once = record.table(("all intervals of one release at once", "hold"), [(k, f"{share:.1%}") for k, share in kept["together"].items()])
    return "\n".join([*lines, "", *at_once])
