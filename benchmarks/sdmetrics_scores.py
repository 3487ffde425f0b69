"""Do our scores equal those of SDMetrics on the same cells? Releases of public and invented people, whose true errors are known.

    python -m venv .venv-sdmetrics && .venv-sdmetrics/bin/python -m pip install sdmetrics==0.32.0
    python -m benchmarks sdmetrics_scores --python .venv-sdmetrics/bin/python

SDMetrics asks for pandas below 3, so it gets an environment of its own, and two files of cells as texts. Compared are 1 minus the total
variation distance of each table as certificates and yardsticks compute it, without the certificate's noise, and SDMetrics' number.
Of single columns these differ by a millionth of a person, which SDMetrics adds to each value that the private table lacks.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import record
from benchmarks.programs import ROOT
from benchmarks.table import released, spec
from benchmarks.yardsticks import WORLDS
from dpsynth_core.planning.plan import Plan
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.statistics.distances import marginal_errors
from dpsynth_core.vocabulary.rows import one_table, row_marginals

NAME = "sdmetrics_scores"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, {"worlds": WORLDS}, worlds=["titanic", "few", "demo-4000", "demo"])
    parser.add_argument("--python", metavar="PATH", required=True, help="the Python of an environment with sdmetrics")
    options = parser.parse_args(arguments)
    runs = [{"world": world, **compared(WORLDS[world](), options.python)} for world in options.worlds]
    lines = [
        [run["world"], run["people"], run["tables"], run["mean"], *(f"{far:.1e}" for far in run["farthest"]), run["version"]]
        for run in runs
    ]
    titles = ("people of", "people", "tables", "mean score", "largest difference of columns", "of pairs", "SDMetrics")
    record.write(options.results / NAME, runs, record.table(titles, lines))


def compared(source: CodesSource, python: str) -> dict[str, Any]:
    """Return the largest differences between our scores and those of SDMetrics, of columns and pairs of a release by AIM at epsilon 1."""
    release = released(Plan.of(spec({"kind": "demo"}, source.domain, "aim", {"epsilon": 1.0}, output={"seed": 0})), source)
    names, codes = source.domain.names, one_table(release.codes)
    assert codes is not None, "AIM makes rows"
    cliques = tuple((one,) for one in names) + tuple((a, b) for place, a in enumerate(names) for b in names[place + 1 :])
    people = int(source.counts([(names[0],)])[(names[0],)].sum())
    errors = marginal_errors(source.counts(list(cliques)), row_marginals(source.domain, codes, cliques))
    theirs = _of_sdmetrics(source.sample(people), codes, names, python)
    off = {clique: abs(1 - error - theirs["scores"][",".join(clique)]) for clique, error in errors.items()}
    farthest = [max(far for clique, far in off.items() if len(clique) == size) for size in (1, 2)]
    mean = round(float(np.mean([1 - error for error in errors.values()])), 4)
    return {"people": people, "tables": len(cliques), "mean": mean, "farthest": farthest, "version": theirs["version"]}


def _of_sdmetrics(private: Any, rows: Any, names: Sequence[str], python: str) -> Mapping[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        paths = [Path(place) / name for name in ("private.csv", "rows.csv")]
        for path, codes in zip(paths, (private, rows), strict=True):
            pd.DataFrame(np.asarray(codes), columns=[*names]).to_csv(path, index=False)
        asked = [python, str(ROOT / "benchmarks" / "sdmetrics_run.py"), *map(str, paths)]
        found: Mapping[str, Any] = json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        return found
