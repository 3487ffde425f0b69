"""How often the bounds of weighted tables hold, and whether calibrated weights are worth it.

Invents people whose design weights depend on their region, makes releases of them with fresh noise, and compares the weighted columns of
the rows with the people's. *Begun*: with the weights that rows begin with; *unweighted*: as if all rows weighed the same. The doubt beside
a share is the standard error over releases.

    python -m benchmarks weights --epsilon 1 --runs 200
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import record
from benchmarks.table import file_section, released, spec
from dpsynth_core.claims import weighted
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import synthesis
from dpsynth_core.statistics.distances import in_wrong_cell
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

PEOPLE, LARGEST = 5000, 8.0
DOMAIN = Domain(
    (
        Attribute.coded("region", 4),
        Attribute.coded("status", 3),
        Attribute.coded("age", 12),
        Attribute.numeric("weight", 0.0, LARGEST, bins=16, nearest=True),
    )
)
WAYS = ("calibrated", "begun", "unweighted")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, epsilon=1.0, runs=200)
    options = parser.parse_args(arguments)
    people = invented()
    with tempfile.TemporaryDirectory() as folder:
        people.to_csv(Path(folder) / "people.csv", index=False)
        budget = {"epsilon": options.epsilon, "certificate": 0.05, "inside": 0.1, "weighted": weighted.USUAL_SHARE}
        section = file_section(Path(folder) / "people.csv")
        plan = synthesis.plan(spec(section, DOMAIN, "aim", budget, weight={"column": "weight"}))
        runs = [trial(plan, people) for _ in range(options.runs)]
    rows = []
    for name in DOMAIN.names[:-1]:
        held = [run[name, "held"] for run in runs]
        share, doubt = statistics.fmean(held), statistics.stdev(held) / len(held) ** 0.5
        errors = (f"{statistics.fmean(run[name, way] for run in runs):.2%}" for way in ("bound", *WAYS))
        rows.append((name, f"{share:.1%} ± {doubt:.1%}", *errors))
    heads = (f"{options.runs} releases, epsilon {options.epsilon:g}", "bound holds", "mean bound", *(f"error, {way}" for way in WAYS))
    kept = {"epsilon": options.epsilon, "runs": options.runs} | record.machine()
    record.write(options.results / "weights", kept | {"columns": rows}, record.table(heads, rows))


def invented() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    region = rng.choice(4, PEOPLE, p=[0.4, 0.3, 0.2, 0.1])
    status = (rng.random(PEOPLE) * 3 * (0.5 + region / 6)).astype(int).clip(0, 2)
    age = np.clip(rng.normal(4 + status, 2.5, PEOPLE), 0, 11).astype(int)
    weight = np.round(np.array([0.6, 1.0, 1.8, 4.0])[region] * rng.gamma(20.0, 1 / 20, PEOPLE), 3)
    return pd.DataFrame({"region": region, "status": status, "age": age, "weight": weight})


def trial(plan: Plan, people: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Of each column, whether its bound held and what it was, and the error with each way to weigh the rows."""
    release, found = released(plan), dict[tuple[str, str], float]()
    codes, stated = np.asarray(release.codes), release.claims[weighted.WEIGHTED.name]
    begun = weighted.calibrated(plan, codes, release.inside, None)
    ways = dict(zip(WAYS, (release.weights, begun, np.ones(len(codes))), strict=True))
    for one in stated.certificate.marginals:
        (name,) = one.attributes
        true = shares(people[name], people["weight"].clip(0, LARGEST), DOMAIN[name].size)
        for way, weights in ways.items():
            found[name, way] = in_wrong_cell(true, shares(codes[:, DOMAIN.position(name)], weights, len(true)))
        found[name, "bound"], found[name, "held"] = one.bound95, float(found[name, "calibrated"] <= one.bound95)
    return found


def shares(cells: Any, weights: Any, size: int) -> Any:
    sums = np.bincount(cells, weights, size)
    return sums / sums.sum()
