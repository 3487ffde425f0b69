"""Do the intervals that know of the noise hold, and how wide are they?

Draws a new table for each release from an invented population, or from the people of Adult, so that both truths are known: the table's and
the population's. What passes (R2 from 0.99, or from 1 - 50 / people) should hold in 93 to 98 %; what is below 0.5 gets no interval; naive
intervals are those of the rows alone. Widths are divided by 1.96 ordinary standard errors of the table itself.

    python -m benchmarks intervals
    python -m benchmarks intervals --runs 200 --mechanisms aim mst independent --people 5000 50000
    python -m benchmarks intervals --tables first --mechanisms aim --runs 20
    python -m benchmarks intervals --populations shops --runs 50 --sets 0

`sets`: sets of rows of each release, whose results are combined around their mean, as R and Stata do; 0 for none.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import t as student

from benchmarks import record
from benchmarks.table import ADULT_FOLDER, released, spec
from dpsynth_core.extensions.intervals import widths
from dpsynth_core.extensions.intervals.analysing import HOLDS, LEAST, QUANTILE, holds_from, variance
from dpsynth_core.extensions.intervals.estimates import Estimated, Prepared, prepared
from dpsynth_core.extensions.intervals.explained import explained
from dpsynth_core.extensions.intervals.formulas import read
from dpsynth_core.extensions.intervals.named import SETTING
from dpsynth_core.extensions.intervals.noise import Informed, noise_in
from dpsynth_core.extensions.intervals.pooling import POPULATION, TABLE, combined
from dpsynth_core.extensions.intervals.sets import Sets
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

Floats = NDArray[np.float64]
Columns = Mapping[str, NDArray[np.int64]]
FIRST, NAMED, PAIRS = "first", "named", "pairs"
"""The pairs of the analyses, measured before any others; these pairs as a workload; all pairs."""


@dataclass(frozen=True)
class Population:
    """An invented population: sizes of its columns, each column's scores given all others (softmax), in order, and its analyses."""

    sizes: Mapping[str, int]
    scores: Mapping[str, Callable[[Columns, Any], Any]]
    analyses: tuple[str, ...]

    @property
    def domain(self) -> Domain:
        return Domain(tuple(Attribute.coded(name, size) for name, size in self.sizes.items()))

    def cells(self) -> tuple[NDArray[np.int32], Floats]:
        """All cells and their probabilities."""
        grid = np.indices(tuple(self.sizes.values())).reshape(len(self.sizes), -1)
        at = dict(zip(self.sizes, grid, strict=True))
        p = np.ones(grid.shape[1])
        for name, score in self.scores.items():
            scores = np.stack([np.broadcast_to(np.asarray(score(at, v), dtype=np.float64), p.shape) for v in range(self.sizes[name])])
            scores = np.exp(scores - scores.max(axis=0))
            p *= np.take_along_axis(scores / scores.sum(axis=0), at[name][None, :], axis=0)[0]
        return grid.T.astype(np.int32), p / p.sum()


@dataclass(frozen=True)
class FromFile:
    """The people of a public table as a population: names of columns in the file by names here, and its analyses."""

    columns: Mapping[str, str]
    analyses: tuple[str, ...]

    @property
    def domain(self) -> Domain:
        sizes = json.loads((ADULT_FOLDER / "adult-binned-domain.json").read_text(encoding="utf-8"))
        return Domain(tuple(Attribute.coded(name, sizes[stated]) for name, stated in self.columns.items()))

    def cells(self) -> tuple[NDArray[np.int32], Floats]:
        """The cells that have people, and their shares."""
        people = pd.read_csv(ADULT_FOLDER / "adult-binned.csv", usecols=list(self.columns.values()))
        cells, counts = np.unique(people[list(self.columns.values())].to_numpy(np.int32), axis=0, return_counts=True)
        return cells, counts / counts.sum()


def _binary(score: Callable[[Columns], Any]) -> Callable[[Columns, Any], Any]:
    return lambda c, v: score(c) if v else 0.0


POPULATIONS: dict[str, Population | FromFile] = {
    "survey": Population(
        {"age": 8, "sex": 2, "region": 4, "edu": 4, "income": 8, "urban": 2, "smoker": 2, "sick": 2},
        {
            "age": lambda _, v: np.log([0.16, 0.17, 0.17, 0.15, 0.13, 0.11, 0.07, 0.04])[v],
            "sex": _binary(lambda _: 0.0),
            "region": lambda _, v: np.log([0.4, 0.3, 0.2, 0.1])[v],
            "edu": lambda c, v: 0.5 * v - 0.09 * v * c["age"] + 0.15 * v * (c["region"] == 0),
            "income": lambda c, v: -0.18 * (v - 1.5 - 0.8 * c["edu"] - 0.45 * c["age"] + 0.05 * c["age"] ** 2 + 0.9 * c["sex"]) ** 2,
            "urban": _binary(lambda c: 1.0 - 0.8 * c["region"]),
            "smoker": _binary(lambda c: -1.0 + 0.5 * (1 - c["sex"]) - 0.35 * c["edu"] + 0.5 * c["urban"]),
            "sick": _binary(
                lambda c: -3.2 + 0.42 * c["age"] - 0.12 * c["income"] + 0.3 * c["smoker"] + 0.9 * c["smoker"] * (1 - c["sex"])
            ),
        },
        (
            "mean(income)", "median(income)", "share(sick == 1 | age >= 4)", "difference(sick == 1, smoker == 1)",
            "income ~ age + edu + sex", "sick == 1 ~ age + smoker + sex + income", "correlation(age, income)",
            "odds_ratio(smoker == 1, urban == 1)", "poisson(income ~ age + sex)", "difference(sick == 1, smoker == 1 | sex == 0)",
        ),
    ),
    "ward": Population(
        {"age": 6, "sex": 2, "ward": 5, "severity": 4, "stay": 12, "insured": 2, "back": 2},
        {
            "age": lambda _, v: np.log([0.05, 0.1, 0.15, 0.2, 0.25, 0.25])[v],
            "sex": _binary(lambda c: 0.1 - 0.1 * c["age"]),
            "ward": lambda c, v: 0.25 * v * (c["age"] - 2.5) - 0.3 * v + 0.6 * (v == 2) * c["sex"],
            "severity": lambda c, v: -0.9 * v + 0.3 * v * (c["ward"] >= 3) + 0.1 * v * c["age"],
            "stay": lambda c, v: v * (-0.6 + 0.28 * c["severity"]) - 0.02 * v * (c["ward"] == 1),
            "insured": _binary(lambda c: 0.5 + 0.3 * c["age"]),
            "back": _binary(lambda c: -2.5 + 0.12 * c["stay"] + 0.4 * c["severity"] - 0.3 * c["insured"]),
        },
        (
            "mean(stay)", "quantile(stay, 0.9)", "mean(stay | severity >= 2)", "share(back == 1)", "difference(stay, ward == 3)",
            "stay ~ age + severity + sex", "back == 1 ~ stay + severity + insured", "poisson(stay ~ severity + age)",
            "correlation(age, severity)", "odds_ratio(back == 1, insured == 1)",
        ),
    ),
    "shops": Population(  # held out: it was not run before the rules and limits stood
        {"month": 12, "store": 6, "basket": 10, "card": 2, "kids": 4, "online": 2, "returns": 3},
        {
            "month": lambda _, v: 0.15 * np.cos(v / 2.0),
            "store": lambda _, v: -0.35 * v,
            "kids": lambda _, v: np.log([0.5, 0.2, 0.2, 0.1])[v],
            "basket": lambda c, v: -0.25 * (v - 2 - 1.1 * c["kids"] - 1.2 * (c["month"] >= 10)) ** 2,
            "card": _binary(lambda c: -0.8 + 0.25 * c["basket"] - 0.1 * c["store"]),
            "online": _binary(lambda c: 0.4 - 0.5 * c["store"] + 0.3 * c["card"]),
            "returns": lambda c, v: v * (-1.9 + 0.9 * c["online"] + 0.05 * c["basket"]),
        },
        (
            "mean(basket)", "median(basket)", "mean(basket | month >= 10)", "share(returns >= 1 | online == 1)",
            "difference(basket, card == 1)", "basket ~ kids + card + online", "card == 1 ~ basket + store",
            "poisson(returns ~ online + basket)", "correlation(kids, basket)", "odds_ratio(card == 1, online == 1)",
        ),
    ),
    "adult": FromFile(  # held out as well
        {"age": "age", "sex": "sex", "school": "education-num", "hours": "hours-per-week", "married": "marital-status", "race": "race",
         "work": "workclass", "rich": "income>50K"},
        (
            "mean(age)", "median(hours)", "share(rich == 1 | sex == 1)", "difference(hours, sex == 1)", "mean(age | rich == 1)",
            "hours ~ age + sex", "rich == 1 ~ school + sex + hours", "correlation(age, school)", "odds_ratio(rich == 1, sex == 1)",
        ),
    ),
}


@cache
def _of(name: str) -> tuple[Population | FromFile, Domain, NDArray[np.int32], Floats, tuple[Prepared, ...], tuple[Estimated, ...]]:
    """A population with its domain, cells, probabilities, analyses and their true values."""
    population = POPULATIONS[name]
    domain, (cells, p) = population.domain, population.cells()
    asked = tuple(prepared(domain, read(text)) for text in population.analyses)
    return population, domain, cells, p, asked, tuple(one.estimate(cells, weights=p) for one in asked)


def _workload(kind: str, asked: tuple[Prepared, ...]) -> dict[str, Any]:
    """All pairs, or the pairs of each analysis' columns."""
    if kind in (FIRST, PAIRS):
        return {"kind": "all", "k": 2}
    pairs = {(a, b) for one in asked for i, a in enumerate(one.columns) for b in one.columns[i + 1 :]}
    return {"kind": "marginals", "marginals": [{"attributes": list(pair), "weight": 1.0} for pair in sorted(pairs)]}


REFUSED: dict[str, Any] = {"r2": -1.0, "holds": [False] * 2, "naive": [False] * 2, "width": [0.0] * 2, "off": 0.0}


def measure(point: record.Point) -> record.Point:
    """One release of a new table: what was stated of each result, and the truths."""
    population, domain, cells, p, asked, truths = _of(point["population"])
    rng = np.random.default_rng()
    codes = cells[rng.choice(len(p), point["people"], p=p)]
    stated = {"workload": _workload(point["tables"], asked), "domain_origin": "public"}
    if point["tables"] == FIRST:
        stated["extensions"] = {SETTING: list(population.analyses)}
    plan = Plan.of(spec({"kind": "demo"}, domain, point["mechanism"], {"epsilon": point["epsilon"]}, **stated))
    began = time.perf_counter()
    made = released(plan, CodesSource(domain, codes))
    ran = time.perf_counter()
    informed = Informed.of(made)
    sets = Sets.of(made) if point["sets"] else None
    model = time.perf_counter()
    drawn = [one.codes for one in sets.first(point["sets"])] if sets else []
    done, analysing = time.perf_counter(), 0.0
    results = []
    for analysis, truth in zip(asked, truths, strict=True):
        exact = analysis.estimate(codes, influence=True)
        try:
            values = [analysis.estimate(one).values for one in drawn]
            started = time.perf_counter()
            own = analysis.estimate(informed.codes, influence=True)
        except InputError:  # the noise is as large as a group: the analysis is refused
            results += [{"name": name, **REFUSED} for name in analysis.names]
            continue
        held = explained(own.influence, domain, informed.codes, informed.tables, analysis.columns)
        noise = noise_in(own.influence, analysis.columns, informed)
        each = len(informed.codes) / informed.people
        half = {who: QUANTILE * np.sqrt(variance(noise, own.variances, held.r2, who, each)) for who in (TABLE, POPULATION)}
        analysing += time.perf_counter() - started
        of_sets = {who: combined(np.mean(values, axis=0), np.array(values), own.variances, who) for who in half} if values else {}
        usual = 1.96 * np.sqrt(exact.variances)
        for k, name in enumerate(analysis.names):
            true = {TABLE: exact.values[k], POPULATION: truth.values[k]}
            one = {
                "name": name,
                "r2": round(float(held.r2[k]), 4),
                "holds": [bool(abs(own.values[k] - true[who]) <= half[who][k]) for who in true],
                "naive": [bool(abs(own.values[k] - true[who]) <= 1.96 * np.sqrt(own.variances[k])) for who in true],
                "width": [round(float(half[who][k] / usual[k]), 3) for who in true],
                "off": round(float(abs(own.values[k] - exact.values[k]) / max(noise.errors[k], 1e-300)), 2),
            }
            if of_sets:
                one["plain"] = [bool(of_sets[who].low[k] <= true[who] <= of_sets[who].high[k]) for who in true]
                one["wide"] = [round(float((of_sets[who].high[k] - of_sets[who].low[k]) / 2 / usual[k]), 3) for who in true]
            results.append(one)
    seconds = {"run": ran - began, "analyses": analysing, "model": model - ran, "drawing": done - model}
    seconds = {name: round(one, 2) for name, one in seconds.items()}
    return {"results": results, "seconds": seconds}


def points(options: argparse.Namespace) -> Iterator[record.Point]:
    for people in options.people:
        for epsilon in options.epsilons:
            for mechanism in options.mechanisms:
                for population in options.populations:
                    for tables in options.tables if mechanism == "aim" else [PAIRS]:
                        yield {"population": population, "mechanism": mechanism, "tables": tables, "epsilon": epsilon, "people": people,
                               "sets": options.sets}


def lines(kept: Mapping[str, Any]) -> Iterator[str]:
    """The table of settings, and all of them by R2."""
    settings = list(dict.fromkeys(tuple(run[key] for key in KEYS) for run in kept["runs"]))
    rows = [[*setting, *_figures([run for run in kept["runs"] if tuple(run[key] for key in KEYS) == setting])] for setting in settings]
    titles = ("releases", "pass, %", "intervals", "table, %", "population, %", "width: table, population", "off by more than 3, %",
              "mean of sets: table, population, %", "its width", "naive: table, population, %", "seconds: run, analyses, model, sets")
    yield from record.table([*KEYS, *titles], rows)
    yield ""
    pooled = list(dict.fromkeys(setting[1:] for setting in settings))
    of = [[run for run in kept["runs"] if tuple(run[key] for key in KEYS[1:]) == setting] for setting in pooled]
    yield from record.table([*KEYS[1:], *titles], [[*setting, *_figures(runs)] for setting, runs in zip(pooled, of, strict=True)])
    yield ""
    every = [one for run in kept["runs"] for one in run["results"]]
    by_r2 = []
    for low, high in ((0.999, 2.0), (HOLDS, 0.999), (0.95, HOLDS), (0.9, 0.95), (LEAST, 0.9), (-1.0, LEAST)):
        some = [one for one in every if low <= one["r2"] < high]
        by_r2.append([f"{max(low, 0):g} to {min(high, 1):g}", len(some), *(_percent([one["holds"][k] for one in some]) for k in (0, 1))])
    yield from record.table(("R2", "results", "table, %", "population, %"), by_r2)
    if forecasts := list(_forecasts(kept["runs"])):
        yield ""
        near = f"width within a factor of {widths.WITHIN:g} of its forecast, %"
        yield from record.table(("population", "kind", "results", near, "width by forecast, median"), forecasts)


def _forecasts(runs: list[dict[str, Any]]) -> Iterator[list[object]]:
    """For each population and kind of analysis: results of tables that were measured first, how many of their widths were forecast within
    `widths.WITHIN`, and the median of width by forecast."""
    found: dict[tuple[str, str], list[float]] = {}
    planned = cache(_planned)
    for run in (run for run in runs if run["tables"] == FIRST):
        plan = planned(run["population"], run["mechanism"], run["epsilon"])
        stated, noise = widths.forecast(plan, run["people"]), widths.noise(plan)
        left = iter(run["results"])
        for analysis, one in zip(_of(run["population"])[4], stated, strict=True):
            kind, _ = widths.kind_and_size(plan, one.analysis, run["people"], *noise)
            some = [result for result in islice(left, len(analysis.names)) if result["r2"] >= holds_from(run["people"])]
            found.setdefault((run["population"], kind), []).extend(result["width"][1] / one.width for result in some)
    for (population, kind), ratios in sorted(found.items()):
        near = [max(one, 1 / one) <= widths.WITHIN for one in ratios]
        yield [population, kind, len(ratios), _percent(near), f"{np.median(ratios):.2f}" if ratios else "-"]


def _planned(name: str, mechanism: str, epsilon: float) -> Plan:
    """The plan of a release whose analyses are measured first."""
    population, domain, _, _, asked, _ = _of(name)
    stated = {"workload": _workload(FIRST, asked), "domain_origin": "public", "extensions": {SETTING: list(population.analyses)}}
    return Plan.of(spec({"kind": "demo"}, domain, mechanism, {"epsilon": epsilon}, **stated))


def _passing(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The results of a release whose intervals are said to hold."""
    return [one for one in run["results"] if one["r2"] >= holds_from(run["people"])]


def _figures(runs: list[dict[str, Any]]) -> list[object]:
    every, some = [one for run in runs for one in run["results"]], [one for run in runs for one in _passing(run)]
    pair: Callable[[str], str] = lambda key: ", ".join(_percent([one[key][k] for one in some]) for k in (0, 1))  # noqa: E731
    wide: Callable[[str], str] = lambda key: ", ".join(f"{np.median([one[key][k] for one in some]):.2f}" for k in (0, 1)) if some else "-"  # noqa: E731
    seconds = ", ".join(f"{np.median([run['seconds'][key] for run in runs]):.1f}" for key in ("run", "analyses", "model", "drawing"))
    off = _percent([one["off"] > 3 for one in some])
    with_sets = bool(some) and all("plain" in one for one in some)
    of_sets = [", ".join(_held(runs, k, "plain") for k in (0, 1)), wide("wide")] if with_sets else ["-", "-"]
    return [len(runs), f"{100 * len(some) / len(every):.1f}", len(some), *(_held(runs, k) for k in (0, 1)), wide("width"), off,
            *of_sets, pair("naive"), seconds]


def _held(runs: list[dict[str, Any]], k: int, key: str = "holds") -> str:
    """The share of intervals that held, ± half its own 95 % interval. Releases are independent, results within one are not."""
    counts = [[bool(one[key][k]) for one in _passing(run)] for run in runs]
    held, of = (np.array([part(one) for one in counts], dtype=np.float64) for part in (sum, len))
    if len(runs) < 2 or of.sum() == 0:
        return _percent([one for run in counts for one in run])
    share = held.sum() / of.sum()
    error = np.sqrt(((held - share * of) ** 2).sum() * len(runs) / (len(runs) - 1)) / of.sum()
    return f"{100 * share:.1f} ± {100 * float(student.ppf(0.975, len(runs) - 1)) * error:.1f}"


def _percent(held: list[bool]) -> str:
    return f"{100 * sum(held) / len(held):.1f}" if held else "-"


KEYS = ("population", "mechanism", "tables", "epsilon", "people", "sets")
PROGRAM = record.Program(
    name="intervals",
    about=__doc__,
    points=points,
    measure=measure,
    lines=lines,
    defaults={
        "populations": ["survey", "ward"], "mechanisms": ["aim", "mst", "independent"], "tables": [NAMED, PAIRS],
        "epsilons": [0.2, 1.0, 4.0], "people": [5000], "sets": 20, "runs": 20,
    },
    among={"populations": list(POPULATIONS), "mechanisms": ["aim", "mst", "independent"], "tables": [FIRST, NAMED, PAIRS]},
)
main = PROGRAM.main

if __name__ == "__main__":
    sys.exit(main())
