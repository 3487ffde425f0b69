"""How often the bounds of two linked tables hold, for each of the four kinds of tables.

Invents families, makes releases of them with fresh noise, and compares what the rows err with the certificate's bounds (95 %, of one table)
and with those of the mechanism's own answers. Tables of one release share their noise, so the doubt beside a share is the standard error
over releases.

    python -m benchmarks household_bounds --epsilon 1 --runs 200
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import households, record
from benchmarks.table import errors, released
from dpsynth_core.evaluation.bounds import UNBOUNDED
from dpsynth_core.inference.households import KINDS, kinds
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.link import Link

NUMBER, MOST = 400, 3
BOUNDS = ("certificate", "answers")
Held = dict[tuple[str, str], float]
"""By kind of table and of bound, the share of a release's bounds that hold."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, epsilon=1.0, runs=200)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        invent(Path(folder))
        link = households.link(Path(folder), MOST)
        held = [trial(Path(folder), link, options.epsilon, run) for run in range(1, options.runs + 1)]
    rows = [(kind, *(_shown([one[kind, bound] for one in held if (kind, bound) in one]) for bound in BOUNDS)) for kind in KINDS]
    lines = record.table((f"{options.runs} releases, epsilon {options.epsilon:g}", *BOUNDS), rows)
    every = dict.fromkeys(key for one in held for key in one)
    shares = {", ".join(key): statistics.fmean(one[key] for one in held if key in one) for key in every}
    record.write(options.results / "household_bounds", {"epsilon": options.epsilon, "runs": options.runs, **shares}, lines)


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


def trial(folder: Path, link: Link, epsilon: float, run: int) -> Held:
    print(f"run {run}", file=sys.stderr, end="\r")
    plan = synthesis.plan(households.spec(folder, link, epsilon, run, DEFAULT_CERTIFICATE))
    source = synthesis.open_source(plan)
    made = released(plan, source)
    assert made.certificate is not None
    cliques, certified = list(plan.workload.cliques), {one.attributes: one for one in made.certificate.marginals}
    named = {link.domain.clique(clique): kind for clique, kind in kinds(link).items()}
    holds = defaultdict[tuple[str, str], list[bool]](list)
    for clique, error in errors(made, source.counts(cliques)).items():
        holds[named[clique], "certificate"].append(certified[clique].bound95 >= error)
        if made.bounds[clique].support != UNBOUNDED:
            holds[named[clique], "answers"].append(made.bounds[clique].tight >= error)
    return {key: statistics.fmean(some) for key, some in holds.items()}


def _shown(shares: Sequence[float]) -> str:
    """Where all bounds of all releases hold: of how many releases at least they all do, with 95 % confidence."""
    if not shares or min(shares) == 1:
        return f"all (of {0.05 ** (1 / len(shares)):.1%} of releases at least)" if shares else "none stated"
    doubt = statistics.stdev(shares) / len(shares) ** 0.5 if len(shares) > 1 else float("nan")
    return f"{statistics.fmean(shares):.3f} ± {doubt:.3f}"
