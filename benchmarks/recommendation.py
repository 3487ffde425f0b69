"""The table behind recommendations: every mechanism on simulated tables of many shapes and sizes, and the small model fitted to it.

    python -m benchmarks recommendation measure --scenarios 0 10      # ten of them; any slices, in any order, add up
    python -m benchmarks recommendation measure --scenarios 0 40 --mechanisms mst   # a mechanism that came later
    python -m benchmarks recommendation fit                           # writes dpsynth_core/planning/recommendation.json
    python -m benchmarks recommendation judge                         # how much worse than the best the first choice was, and the usual one

A scenario is drawn from its number: columns and their sizes, rows, dependence, marginals of two or three columns, epsilon. Every sixth is
a part of the demo's columns instead of a stand-in; from 60 on they are of people in hidden classes, so that all columns depend on each
other; from 100 on columns follow one another in a tree, some of hundreds of values, some nearly constant, people are few and workloads
are of every kind; from 220 on those were tried whose tables are few and whose noise is from 0.005 to 0.5. Trials that are expected to take
longer than --longest are left out and say so.

A mechanism that needs a public table gets one drawn from the scenario's number too: 300 to 10,000 people of the same kind, of whom those in
the lower half of the first column's values are preferred, from not at all to exclusively. So its expected error is that of a public table
of which nothing is known but that it is one, and its spread tells how much that leaves open. What publishes no tables, or speaks of a
public table alone, answers another question and is not tried: see TRIED.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import invented
from benchmarks.table import RESULTS
from dpsynth_core.extensions.tradeoffs import trial
from dpsynth_core.extensions.tradeoffs.sweep import PRIVATE, PUBLIC, STANDIN, Sweep
from dpsynth_core.extensions.tradeoffs.trial import Trials
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.graphical.households import Households
from dpsynth_core.mechanisms.mechanism import Forecast, Learner, UsesPublic
from dpsynth_core.mechanisms.registry import MECHANISMS
from dpsynth_core.planning import recommendation
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.recommendation import Situation, recommend
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.sources import demo, simulated
from dpsynth_core.vocabulary.domain import Domain

TABLE, LINKED = RESULTS / "recommendation.jsonl", RESULTS / "linked_forecasts.json"
_CHECK = "mixture"
TRIED = [name for name, one in MECHANISMS.items() if not isinstance(one, Learner) and name != _CHECK]
"""OracleQuery and certified learning are for rules over two-valued columns, and the check is of a public table: no errors to compare."""
DELTA = 1e-9
DEMO_EVERY = 6
DENSE_FROM = 60
"""Scenarios from here on are densely dependent: of people in hidden classes."""
TREES_FROM = 100
"""From here on columns follow one another in a tree, and workloads are of every kind."""
CLASSES, EVENNESS = (5, 100), (0.2, 2.0)
SMALL = 16
"""Values of a column: where some has more, columns are few, and nobody asks for triples."""
DEMO_ROWS = 50_000
Float = NDArray[np.float64]
SIMPLE = ("independent", "mst")
PARTS = 10
"""A scenario is judged by a model of the trials of the other nine parts."""
RIDGE = 1e-2
"""Pulls coefficients towards 0 where the table says little; features are standardised."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    if options.command == "measure":
        measure(range(*options.scenarios), options.mechanisms, options.longest, options.table)
    elif options.command == "fit":
        fit(options.table, options.out)
    else:
        judge(options.table)


@dataclass(frozen=True)
class Scenario:
    """A plan, and the people it is tried on. strength: of a stand-in's dependence. classes, evenness: of a densely dependent table. tree:
    parents, chance, skew and others of `invented.of_tree`."""

    number: int
    domain: Domain
    workload: dict[str, Any]
    epsilon: float
    rows: int
    strength: float | None = None
    classes: int | None = None
    evenness: float | None = None
    tree: tuple[list[int], float, float, float] | None = None

    @staticmethod
    def drawn(number: int) -> Scenario:
        """From its number; from `DENSE_FROM` on, columns all depend on each other, from `TREES_FROM` on in a tree."""
        rng = np.random.default_rng(number)
        if number >= TREES_FROM:
            return _of_tree(number, rng)
        k, epsilon = int(rng.integers(2, 4)), float(np.exp(rng.uniform(np.log(0.1), np.log(10))))
        every = {"kind": "all", "k": k}
        if number % DEMO_EVERY == DEMO_EVERY - 1 and number < DENSE_FROM:
            names = rng.choice(demo.demo_domain().names, size=int(rng.integers(4, 13)), replace=False)
            return Scenario(number, demo.demo_domain().keep(names.tolist()), every, epsilon, DEMO_ROWS)
        columns = int(rng.integers(4, 15))
        largest = int(rng.choice([4, 8, 16, 32]))
        sizes = np.exp(rng.uniform(np.log(2), np.log(largest + 1), columns)).astype(int).clip(2)
        domain = Domain.from_json({f"c{i}": int(size) for i, size in enumerate(sizes)})
        rows, share = int(np.exp(rng.uniform(np.log(500), np.log(100_000)))), float(rng.uniform(0.2, 0.9))
        if number < DENSE_FROM:
            return Scenario(number, domain, every, epsilon, rows, strength=share)
        classes, evenness = (float(np.exp(rng.uniform(np.log(least), np.log(most)))) for least, most in (CLASSES, EVENNESS))
        return Scenario(number, domain, every, epsilon, rows, classes=round(classes), evenness=round(evenness, 3))

    def people(self, rows: int) -> pd.DataFrame:
        """So many of them, as codes or values; the same each time, also where other things are drawn."""
        names = list(self.domain.names)
        if self.classes is not None and self.evenness is not None:
            rng = np.random.default_rng([self.number, 2])
            return pd.DataFrame(invented.of_classes(self.domain.sizes(names), rows, self.classes, self.evenness, rng), columns=names)
        if self.tree is not None:
            codes = invented.of_tree(self.domain.sizes(names), rows, *self.tree, np.random.default_rng([self.number, 2]))
            return pd.DataFrame(codes, columns=names)
        if self.strength is not None:
            return pd.DataFrame(simulated.simulate(self.domain, rows, self.strength, self.number), columns=names)
        return demo.simulate(rows, seed=self.number).loc[:, names]

    def alone(self, place: Path) -> tuple[Spec, str]:
        """The plan over a table of its own, and which kind of table a sweep takes it for."""
        if self.classes is not None or self.tree is not None:
            return self._spec({"path": str(_written(self.people(self.rows), place / "private.csv"))}), PRIVATE
        if self.strength is not None:
            shape = {"rows": self.rows, "strength": self.strength, "seed": self.number}
            return self._spec({"kind": "standin", "standin": shape}), STANDIN
        return self._spec({"kind": "demo"}), PUBLIC

    def beside_public(self, place: Path) -> tuple[Spec, dict[str, Any]]:
        """The plan over two tables, written to `place`: its people, and fewer, more or less alike, that are public."""
        rng = np.random.default_rng([self.number, 1])
        public_rows, bias = int(np.exp(rng.uniform(np.log(300), np.log(10_000)))), float(rng.uniform(0, 1))
        people = self.people(self.rows + 4 * public_rows)
        private, others = people.iloc[: self.rows], people.iloc[self.rows :]
        first = pd.factorize(others.iloc[:, 0], sort=True)[0]
        public = others[(first <= np.median(first)) | (rng.random(len(others)) >= bias)].head(public_rows)
        paths = [str(_written(table, place / f"{name}.csv")) for name, table in (("private", private), ("public", public))]
        spec = self._spec({"path": paths[0]}, public={"path": paths[1]})
        return spec, {"public_rows": len(public), "public_bias": round(bias, 3)}

    def _spec(self, data: dict[str, Any], **more: Any) -> Spec:
        spec = {
            "population": "invented",
            "data": data,
            "domain": self.domain.to_json(),
            "workload": self.workload,
            "budget": {"epsilon": self.epsilon, "delta": DELTA},
        }
        return Spec.from_json(spec | more)


def _of_tree(number: int, rng: np.random.Generator) -> Scenario:
    """A chain, a star or a tree by chance; of a few columns where values are many, nearly constant ones in each fourth."""
    epsilon, rows = (float(np.exp(rng.uniform(np.log(least), np.log(most)))) for least, most in ((0.1, 10), (200, 50_000)))
    largest = int(rng.choice([2, 4, 8, 16, 40, 120, 300]))
    columns = int(rng.integers(2, 6 if largest > SMALL else 13))
    sizes = np.exp(rng.uniform(np.log(max(2, largest / 8)), np.log(largest + 1), columns)).astype(int).clip(2)
    parents = [[child - 1, 0, int(rng.integers(child))][number % 3] for child in range(1, columns)]
    chance, skew, others = float(rng.uniform(0.05, 1)), float(rng.uniform(0, 2.5)), float(np.exp(rng.uniform(np.log(0.002), np.log(0.05))))
    tree = (parents, round(chance, 3), round(skew, 3), round(others, 4) if rng.random() < 1 / 4 else 1.0)
    few = {"kind": "random", "k": 2, "count": min(int(rng.integers(2, 9)), math.comb(columns, 2)), "seed": number}
    asked = [{"kind": "all", "k": 1}, few, {"kind": "target", "column": "c0", "k": 2}, {"kind": "all", "k": 2}]
    if columns > 2 and largest <= SMALL:
        asked.append({"kind": "all", "k": 3})
    domain = Domain.from_json({f"c{i}": int(size) for i, size in enumerate(sizes)})
    return Scenario(number, domain, asked[int(rng.integers(len(asked)))], epsilon, round(rows), tree=tree)


def _written(table: pd.DataFrame, path: Path) -> Path:
    table.to_csv(path, index=False)
    return path


def measure(numbers: Sequence[int], mechanisms: Sequence[str], longest: float, path: Path) -> None:
    """Append one line per trial to the table; those that it has are not repeated."""
    there = {(row["scenario"], row["mechanism"]) for row in _rows(path)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as out:
        for number in numbers:
            wanted = [name for name in mechanisms if (number, name) not in there]
            for row in _tried(number, wanted, longest):
                out.write(json.dumps(row) + "\n")
                out.flush()
                print(row, file=sys.stderr)


def _tried(number: int, mechanisms: Sequence[str], longest: float) -> Iterator[dict[str, Any]]:
    informed = [name for name in mechanisms if isinstance(registry.get(name), UsesPublic)]
    alone = [name for name in mechanisms if name not in informed]
    one = Scenario.drawn(number)
    with tempfile.TemporaryDirectory() as place:
        if alone:
            spec, table = one.alone(Path(place))
            yield from _measured(one, spec, table, {}, alone, longest)
        if informed:
            spec, about = one.beside_public(Path(place))
            yield from _measured(one, spec, PRIVATE, about, informed, longest)


def _measured(
    one: Scenario, spec: Spec, table: str, about: dict[str, Any], mechanisms: Sequence[str], longest: float
) -> Iterator[dict[str, Any]]:
    """One row per mechanism; what cannot be made, or would take too long, is a row that says so."""
    whole = Plan.of(spec)
    sweep = Sweep(spec, table, tuple(mechanisms), (spec.budget.epsilon,), (len(whole.workload.cliques),), 1)
    refused, trials = trial.expected(sweep).refusals, Trials(sweep)
    facts: dict[str, Any] = {"scenario": one.number, "rows": one.rows, "epsilon": one.epsilon, "delta": DELTA} | about
    facts |= {"strength": one.strength, "classes": one.classes, "evenness": one.evenness, "tree": one.tree}
    facts |= {"columns": len(whole.domain), "tables": len(whole.workload.cliques), "cells": whole.workload.cells}
    rho = ZCDP.rho_from(spec.budget.epsilon, spec.budget.delta)  # of every trial alike, with any accountant
    situation = Situation.of(whole.workload, rho, whole.unit, one.rows)
    facts |= {"features": [round(f, 5) for f in situation.features()], "day": datetime.now(UTC).date().isoformat()}
    for point in sweep.points:
        row = facts | {"mechanism": point.mechanism}
        if point.mechanism in refused:
            yield row | {"refused": str(refused[point.mechanism])}
            continue
        forecast = _forecast(sweep, point.number)
        if forecast > longest:
            yield row | {"skipped": f"expected to take {forecast:.0f} s"}
            continue
        trial_run = trials.run(point.number)
        yield row | {
            "error": float(np.mean(trial_run.errors)),
            "largest": trial_run.largest,
            "seconds": trial_run.seconds,
            "cpu_seconds": trial_run.cpu_seconds,
        }


def _forecast(sweep: Sweep, number: int) -> float:
    from dpsynth_core.release import synthesis

    return synthesis.plan(sweep.spec(sweep.points[number])).forecast.seconds


def fit(path: Path, out: Path) -> None:
    """Write the model, and say how well it knows each mechanism."""
    model = fitted(_rows(path))
    linked = [run for run in json.loads(LINKED.read_text(encoding="utf-8")) if run["tables"] == "fitted"]
    model["mechanisms"][Households.card.name] = _known(linked, (recommendation.MEAN,), model["centre"], model["scale"])
    for name, own in model["mechanisms"].items():
        for measure in set(recommendation.MEASURES).intersection(own):
            known = f"{measure} known up to a factor of {np.exp(own[measure]['spread']):.2f}"
            print(f"{name}: {own['trials']} trials, {known} (leave one out)", file=sys.stderr)
    out.write_text(json.dumps(model, indent=1) + "\n", encoding="utf-8")


def fitted(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Least squares of the logarithm of each error on the features of `Situation`, one model a mechanism and measure. Mechanisms of few
    trials are left out, and what no size foretells as it does others: tables of nearly constant columns, and single columns alone, which
    err by their noise. rows: of the table."""
    rows = [row for row in rows if "error" in row and row["mechanism"] in MECHANISMS and not _apart(row)]
    features = np.array([row["features"] for row in rows])
    centre, scale = features.mean(axis=0), features.std(axis=0)
    models: dict[str, dict[str, Any]] = {}
    for name in MECHANISMS:
        own = [row for row in rows if row["mechanism"] == name]
        if len(own) < 3 * features.shape[1]:
            continue
        models[name] = _known(own, recommendation.MEASURES, centre, scale)
    return {
        "made": max(row["day"] for row in rows),
        "scenarios": len({row["scenario"] for row in rows}),
        "features": list(recommendation.FEATURES),
        "centre": _rounded(centre),
        "scale": _rounded(scale),
        "mechanisms": models,
    }


def _apart(row: dict[str, Any]) -> bool:
    return row["features"][-1] == 1 or (bool(row.get("tree")) and row["tree"][-1] < 1)


def _known(rows: Sequence[dict[str, Any]], measures: Sequence[str], centre: Any, scale: Any) -> dict[str, Any]:
    """One mechanism's part of the model. centre, scale: of the features of all trials of one table."""
    tried = np.array([row["features"] for row in rows])
    model: dict[str, Any] = {"trials": len(rows), "low": _rounded(tried.min(axis=0)), "high": _rounded(tried.max(axis=0))}
    standard = (tried - np.asarray(centre)) / np.asarray(scale)
    return model | {measure: _fitted(standard, np.log([_of(row, measure) for row in rows])) for measure in measures}


def _of(row: dict[str, Any], measure: str) -> float:
    """The error of a trial, at least that of half a person: no chance made it smaller."""
    return max(float(row[measure]), 0.5 / row["rows"])


def judge(path: Path) -> None:
    """By how much the first choice of each scenario erred more than the best of its trials, and than the better of `SIMPLE`, beside what is
    usual; public tables aside. The model is fitted without the scenario, and a tenth of the others."""
    rows = _rows(path)
    excess: dict[str, list[tuple[float, float]]] = {"first choice": [], recommendation.USUAL: []}
    for part in range(PARTS):
        model = fitted([row for row in rows if row["scenario"] % PARTS != part])
        for trials in _comparable(row for row in rows if row["scenario"] % PARTS == part):
            first, errors = _first(trials, model), {name: _of(row, recommendation.MEAN) for name, row in trials.items()}
            best, simple = min(errors.values()), min(errors[name] for name in SIMPLE)
            for title, name in zip(excess, (first, recommendation.USUAL), strict=True):
                excess[title].append((errors[name] / best, errors[name] / simple))
    for title, ratios in excess.items():
        of_best, of_simple = map(np.array, zip(*ratios, strict=True))
        mean, middle, most = np.exp(np.mean(np.log(of_best))), np.median(of_best), max(of_best)
        above = ", ".join(f"{np.mean(of_simple > limit):.0%} above {limit}" for limit in (1.02, 1.2))
        print(f"{title}: {mean:.3f} times the best of {len(ratios)} scenarios, {middle:.2f} in the middle, {most:.2f} at most")
        print(f"{title}: {above} times the better of {' and '.join(SIMPLE)}")


def _first(trials: Mapping[str, dict[str, Any]], model: dict[str, Any]) -> str:
    """What is recommended for a scenario. trials: its own, by mechanism."""
    known = next(iter(trials.values()))
    noise, _, _, cells, width = known["features"]
    situation = Situation(float(np.exp(noise)), known["columns"], float(np.exp(cells)), width, known["tables"] <= known["columns"])
    forecasts = {name: Forecast(fits=True, seconds=row["seconds"], memory_mb=0) for name, row in trials.items()}
    return recommend(situation, forecasts, model=model).value[0].name


def _comparable(rows: Iterable[dict[str, Any]]) -> Iterable[dict[str, dict[str, Any]]]:
    """For each scenario, the trials of what makes rows of the private table alone, by mechanism."""
    scenarios: dict[int, dict[str, dict[str, Any]]] = {}
    for row in rows:
        if "error" in row and not isinstance(one := registry.get(row["mechanism"]), UsesPublic) and one.card.makes_rows:
            scenarios.setdefault(row["scenario"], {})[row["mechanism"]] = row
    return scenarios.values()


def _fitted(features: Float, errors: Float) -> dict[str, Any]:
    """Weights of a constant and of each standardised feature, and the standard deviation of the misses of trials that were left out."""
    design = np.column_stack([np.ones(len(errors)), features])
    gram = design.T @ design + RIDGE * len(errors) * np.diag([0.0, *np.ones(features.shape[1])])
    weights = np.linalg.solve(gram, design.T @ errors)
    leverage = np.einsum("ij,jk,ik->i", design, np.linalg.inv(gram), design)
    left_out = (errors - design @ weights) / (1 - leverage)
    return {"weights": _rounded(weights), "spread": round(float(np.sqrt(np.mean(left_out**2))), 4)}


def _rounded(values: NDArray[np.floating[Any]]) -> list[float]:
    return [round(float(value), 5) for value in values]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="try mechanisms on scenarios")
    measuring.add_argument("--scenarios", nargs=2, type=int, metavar=("FROM", "TO"), default=[0, 220])
    measuring.add_argument("--mechanisms", nargs="+", choices=TRIED, default=TRIED, metavar="NAME")
    measuring.add_argument("--longest", type=float, default=60.0, help="leave out trials that are expected to take longer, in seconds")
    fitting = commands.add_parser("fit", help="fit the model and write it into the package")
    fitting.add_argument("--out", type=Path, default=recommendation.MODEL)
    judging = commands.add_parser("judge", help="compare first choices with the best of the trials")
    for command in (measuring, fitting, judging):
        command.add_argument("--table", type=Path, default=TABLE)
    return parser
