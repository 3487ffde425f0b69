"""Which tables of two linked ones have bounds, how often they hold, and how far above the errors they are, by kind of table.

Invents families, or takes the tables of a folder (as `households` does), makes releases with fresh noise, and compares what the rows err
with the certificate's bounds (95 %, of one table) and with those of the mechanism's own answers. A bound of everybody is none. Tables of
one release share their noise, so the doubt beside a share is the standard error over releases.

    python -m benchmarks household_bounds --epsilon 1 --runs 200
    python -m benchmarks household_bounds --folder FOLDER --epsilon 1 --runs 5
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import households, record
from benchmarks.table import errors, released
from dpsynth_core.inference.households import KINDS, kinds
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.link import Link

NUMBER, MOST = 400, 3
BOUNDS = ("certificate", "answers")
Bounded = dict[tuple[str, str], list[tuple[float, float]]]
"""Of a release, by kind of table and of bound: each table's error and bound."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, epsilon=1.0, runs=200, folder=Path())
    options = parser.parse_args(arguments)
    named = "_".join(["household_bounds", *([options.folder.name, f"eps{options.epsilon:g}"] if options.folder.name else [])])
    with tempfile.TemporaryDirectory() as made:
        folder, most = (options.folder, households.MOST) if options.folder.name else (Path(made), MOST)
        if not options.folder.name:
            invent(folder)
        link = households.link(folder, most)
        runs = [trial(folder, link, options.epsilon, run) for run in range(1, options.runs + 1)]
    about = {"epsilon": options.epsilon, "runs": options.runs}
    said = {(kind, bound): summary([run[kind, bound] for run in runs]) for kind in KINDS for bound in BOUNDS}
    titles = (f"{options.runs} releases, epsilon {options.epsilon:g}", "bound by", "tables with one", "bounds that hold", "times the error")
    lines = record.table(titles, [(*key, f"{one['stated']:.0%}", one["hold"], one["times"]) for key, one in said.items()])
    record.write(options.results / named, about | {", ".join(key): one for key, one in said.items()}, lines)


def invent(folder: Path) -> None:
    """Regions and tenures of households; couples of alike age, and children."""
    rng = np.random.default_rng(0)
    sizes, region, tenure = rng.integers(0, MOST + 1, NUMBER), rng.integers(0, 3, NUMBER), rng.integers(0, 2, NUMBER)
    ages = rng.integers(1, 4, NUMBER)
    placed = [(key, place) for key in range(NUMBER) for place in range(sizes[key])]
    lines = [(key, ages[key] if place < 2 else 0, place % 2, int(place < 2 and rng.random() < 0.7)) for key, place in placed]
    first = ["household,region,tenure", *(f"{key},{region[key]},{tenure[key]}" for key in range(NUMBER))]
    second = ["household,age,sex,work", *(",".join(map(str, line)) for line in lines)]
    for name, rows, domain in (("households", first, {"region": 3, "tenure": 2}), ("persons", second, {"age": 4, "sex": 2, "work": 2})):
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
        (folder / f"{name}.json").write_text(json.dumps(domain))


def trial(folder: Path, link: Link, epsilon: float, run: int) -> Bounded:
    print(f"run {run}", file=sys.stderr, end="\r")
    plan = synthesis.plan(households.spec(folder, link, epsilon, run, DEFAULT_CERTIFICATE))
    source = synthesis.open_source(plan)
    made = released(plan, source)
    assert made.certificate is not None
    cliques, certified = list(plan.workload.cliques), {one.attributes: one for one in made.certificate.marginals}
    named = {link.domain.clique(clique): kind for clique, kind in kinds(link).items()}
    bounded = defaultdict[tuple[str, str], list[tuple[float, float]]](list)
    for clique, error in errors(made, source.counts(cliques)).items():
        bounded[named[clique], "certificate"].append((error, certified[clique].bound95))
        bounded[named[clique], "answers"].append((error, made.bounds[clique].tight))
    return bounded


def summary(releases: Sequence[Sequence[tuple[float, float]]]) -> dict[str, Any]:
    """stated: the share of all tables that have a bound. hold: of the bounds, mean and standard error over releases; where all hold, of how
    many releases at least all do, with 95 % confidence. times: of tables that have one, the mean bound over the mean error."""
    stated = [[(error, bound) for error, bound in one if bound < 1] for one in releases]
    shares = [statistics.fmean(bound >= error for error, bound in one) for one in stated if one]
    every = [pair for one in stated for pair in one]
    if not every:
        return {"stated": 0.0, "hold": "none stated", "times": ""}
    doubt = statistics.stdev(shares) / len(shares) ** 0.5 if len(shares) > 1 else float("nan")
    sure = f"all (of {0.05 ** (1 / len(shares)):.1%} of releases at least)"
    times = statistics.fmean(bound for _, bound in every) / statistics.fmean(error for error, _ in every)
    hold = sure if min(shares) == 1 else f"{statistics.fmean(shares):.3f} ± {doubt:.3f}"
    return {"stated": len(every) / sum(map(len, releases)), "hold": hold, "times": f"{times:.1f}"}
