"""The defaults of FEM, sepFEM, DualQuery and DQRS: a search on invented people and on a public table, never on what is measured later.

    python -m benchmarks.fem_defaults --mechanisms fem dualquery --epsilons 0.1 1 --runs 2

Tables: the demo's 50,000 simulated people; 50,000 invented rows over Adult's columns, whose shares and dependence have nothing to do with
Adult's (`sources.standin`), and again with a few very common values; and Titanic with the kinds that `sources.guess` proposes. All but the
first need ../shared/data. Of each, 64 random three-way marginals, delta = 1/N^2. One knob at a time is turned, the others stay at their
defaults; what is written down is the largest error of any cell. A point that is in the record is not measured again: interrupt it, and go
on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from benchmarks import figures, slices
from benchmarks.figures import Setting
from benchmarks.table import ADULT_FOLDER, RESULTS
from dpsynth_core.mechanisms import registry
from dpsynth_core.sources import demo, standin
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.files import TableSource, opened
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.guess import propose
from dpsynth_core.sources.sniff import sniff
from dpsynth_core.vocabulary.domain import Domain, load_domain
from dpsynth_core.vocabulary.workload import Workload

NAME = "fem_defaults"
INVENTED = {"stand-in": standin.SKEW, "skewed": 2.5}
"""How fast the shares of a column's values fall, from the most common one on."""
DEMO, TITANIC = "demo", "titanic"
TABLES = (DEMO, *INVENTED, TITANIC)
PRIMAL: Mapping[str, Sequence[float]] = {
    "choice_error": (0.06, 0.12, 0.24),
    "rounds": (50, 100, 200),
    "records": (10, 30, 60, 120),
    "eta": (0.06, 0.12, 0.25, 0.5),
    "skip": (0.0, 0.25, 0.5),
}
DUAL: Mapping[str, Sequence[float]] = {"eta": (0.1, 0.5, 1, 2, 4), "samples": (1, 3, 5, 10, 30), "skip": (0.0, 0.25, 0.5)}
BASES: tuple[Mapping[str, float], ...] = ({}, {"skip": 0.0})
"""Around which knobs were turned one at a time: the defaults, and those of before a share of the rounds was left out."""
KNOBS = {"fem": PRIMAL, "sepfem": PRIMAL, "dualquery": DUAL, "dqrs": DUAL}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    place = options.results / NAME
    by_name = dict(tables(options.tables))
    points = [
        {"table": table, "mechanism": mechanism, "epsilon": epsilon, "settings": settings}
        for table, mechanism, epsilon in product(by_name, options.mechanisms, options.epsilons)
        for settings in candidates(mechanism, options.knobs)
    ]
    slices.fill(slices.opened(place), points, options.runs, lambda point: measure(by_name[point["table"]], point), write, place)
    return 0


def measure(setting: Setting, point: Mapping[str, Any]) -> dict[str, Any]:
    """One run: the largest error of a cell, what it took, and how many rounds it came to."""
    outcome = figures.run(point["mechanism"], setting, point["epsilon"], point["settings"])
    error = setting.model_error(outcome.finished.model, outcome.finished.total)
    rounds = outcome.finished.details.get("choices", outcome.finished.details.get("rounds"))
    return {"error": round(error, 5), "rounds": rounds, "seconds": round(outcome.seconds, 1), "cpu_seconds": round(outcome.cpu_seconds, 1)}


def candidates(mechanism: str, knobs: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The defaults, then every other value of each knob by itself; all settings that have knobs are written out."""
    defaults = registry.settings(registry.get(mechanism), {})
    at = {name: defaults[name] for name in KNOBS[mechanism]}
    yield at
    for knob, values in KNOBS[mechanism].items():
        if knob in knobs or not knobs:
            yield from (at | {knob: value} for value in values if value != at[knob])


def tables(names: Sequence[str]) -> Iterator[tuple[str, Setting]]:
    """Those of the named tables that are there."""
    if DEMO in names:
        yield DEMO, _setting(demo.demo_domain(), demo.simulate(), TableFormat("csv"))
    declared = ADULT_FOLDER / "adult-binned-domain.json"
    for name in (name for name in INVENTED if name in names and declared.exists()):
        domain = load_domain(declared)
        codes = standin.simulate(domain, 50_000, 0.5, skew=INVENTED[name])
        yield name, Setting(CodesSource(domain, codes), codes, _workload(domain))
    titanic = ADULT_FOLDER / "titanic.csv"
    if TITANIC in names and titanic.exists():
        guesses = propose(titanic, sniff(titanic), is_public=True).value
        yield TITANIC, _setting(Domain(tuple(g.attribute for g in guesses if g.attribute is not None)), titanic, sniff(titanic))


def _setting(domain: Domain, table: TableSource, form: TableFormat) -> Setting:
    columns = [encode(domain, batch, form.notation) for batch in opened(table, form).batches(domain.names)]
    codes = np.concatenate([np.stack([batch[name] for name in domain.names], axis=1) for batch in columns])
    return Setting(ArrowSource(domain, table, form), codes, _workload(domain))


def _workload(domain: Domain) -> Workload:
    return Workload(domain, dict.fromkeys(figures.random_marginals(domain, 3, figures.MARGINALS, seed=0), 1.0))


def write(record: Mapping[str, Any], place: Path) -> None:
    """The means of all runs as a table, and the curves: error against each knob."""
    points = record["runs"]
    frame = pd.DataFrame([_flat(point) for point in points])
    columns = ["table", "mechanism", "epsilon", "turned"]
    groups = frame.groupby(columns, sort=False)
    means = groups.agg(runs=("error", "size"), error=("error", "mean"), rounds=("rounds", "mean"), cpu=("cpu_seconds", "mean"))
    lines = ["| table | mechanism | epsilon | turned | runs | largest error | rounds | processor seconds |", "|---" * 8 + "|"]
    for key, row in means.iterrows():
        numbers = f"{row['runs']:.0f} | {row['error']:.4f} | {row['rounds']:.0f} | {row['cpu']:.0f}"
        lines.append(f"| {' | '.join(map(str, key if isinstance(key, tuple) else (key,)))} | {numbers} |")
    place.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    curve = (
        alt.Chart(pd.DataFrame([row for point in points for row in _on_curves(point)]))
        .mark_line(point=True)
        .encode(
            x=alt.X("value:Q", title=None, scale=alt.Scale(type="symlog", constant=0.1)),
            y=alt.Y("mean(error):Q", title="Largest error, mean over runs", scale=alt.Scale(zero=False)),
            color=alt.Color("line:N", title=None),
            row=alt.Row("epsilon:N", title="epsilon"),
            column=alt.Column("knob:N", title=None),
        )
    )
    curve.properties(width=150, height=120).resolve_scale(x="independent").save(place.with_suffix(".vl.json"), format="json")


def _flat(point: Mapping[str, Any]) -> dict[str, Any]:
    """A run with what was turned away from today's defaults, in words."""
    turned = _turned(point, {})
    return {**point, "turned": ", ".join(f"{name} {value:g}" for name, value in turned.items()) or "nothing"}


def _turned(point: Mapping[str, Any], base: Mapping[str, float]) -> dict[str, Any]:
    """Settings that differ from the defaults, or from the base where that says otherwise."""
    usual = {**registry.settings(registry.get(point["mechanism"]), {}), **base}
    return {name: value for name, value in point["settings"].items() if value != usual[name]}


def _on_curves(point: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A run as a point of the curves that it is on: of the knob that was turned, or of every knob where none was."""
    for base in BASES:
        turned = _turned(point, base)
        if base and turned == _turned(point, {}):
            continue  # this mechanism has the base as its default
        line = ", ".join([point["table"], point["mechanism"], *(f"{name} {value:g}" for name, value in base.items())])
        for knob, value in (turned or point["settings"]).items() if len(turned) < 2 else ():
            yield {"line": line, "epsilon": point["epsilon"], "error": point["error"], "knob": knob, "value": value}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"benchmarks.{NAME}", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mechanisms", nargs="+", choices=list(KNOBS), default=list(KNOBS))
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--knobs", nargs="*", default=[], help="to turn (default: all)")
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
