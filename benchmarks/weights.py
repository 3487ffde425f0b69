"""How often the bounds of weighted tables hold, and whether calibrated weights are worth it.

Invents people whose design weights depend on their region, makes releases of them with fresh noise, and compares the weighted columns of
the rows with the people's. *Begun*: with the weights that rows begin with; *unweighted*: as if all rows weighed the same. The doubt beside
a share is the standard error over releases.

    python -m benchmarks weights --epsilon 1 --runs 200
    python -m benchmarks weights --folder FOLDER --epsilon 1 --runs 5    # two linked tables: a survey (`households`) and its weights.csv
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd

from benchmarks import households, record
from benchmarks.table import file_section, released, spec
from dpsynth_core.claims import weighing
from dpsynth_core.claims.weighted import WEIGHTED
from dpsynth_core.claims.weights import USUAL_SHARE
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.statistics.distances import in_wrong_cell
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link

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
    parser = record.parser(__doc__, epsilon=1.0, runs=200, largest=120.0)
    parser.add_argument("--folder", type=Path, help="with households.csv, persons.csv and weights.csv; --largest is the largest weight")
    options = parser.parse_args(arguments)
    name, columns = "weights", list[str]()
    with tempfile.TemporaryDirectory() as folder:
        if options.folder is not None:
            name, tables = "weights_linked", Survey.of(options.folder, Path(folder), options.largest)
            plan = synthesis.plan(tables.spec(options.epsilon))
            runs, columns = [linked_trial(plan, tables) for _ in range(options.runs)], tables.columns
        else:
            people, columns = invented(), [*DOMAIN.names[:-1]]
            people.to_csv(Path(folder) / "people.csv", index=False)
            budget = {"epsilon": options.epsilon, "certificate": 0.05, "inside": 0.1, "weighted": USUAL_SHARE}
            section = file_section(Path(folder) / "people.csv")
            plan = synthesis.plan(spec(section, DOMAIN, "aim", budget, weight={"column": "weight"}))
            runs = [trial(plan, people) for _ in range(options.runs)]
    rows = []
    for column in columns:
        held = [run[column, "held"] for run in runs]
        share, doubt = statistics.fmean(held), statistics.stdev(held) / len(held) ** 0.5
        errors = (f"{statistics.fmean(run[column, way] for run in runs):.2%}" for way in ("bound", *WAYS))
        rows.append((column, f"{share:.1%} ± {doubt:.1%}", *errors))
    heads = (f"{options.runs} releases, epsilon {options.epsilon:g}", "bound holds", "mean bound", *(f"error, {way}" for way in WAYS))
    kept = {"epsilon": options.epsilon, "runs": options.runs} | record.machine()
    record.write(options.results / name, kept | {"columns": rows}, record.table(heads, rows))


@dataclass(frozen=True)
class Survey:
    """A survey of households with weights: its tables in a folder, and as frames, whose weights are at most `largest`."""

    folder: Path
    largest: float
    households: pd.DataFrame
    members: pd.DataFrame

    @classmethod
    def of(cls, folder: Path, into: Path, largest: float) -> Self:
        own, members, weights = (pd.read_csv(folder / f"{name}.csv") for name in ("households", "persons", "weights"))
        own = own.merge(weights, on=households.KEY)
        for name in ("households", "persons"):
            shutil.copy(folder / f"{name}.json", into)
        own.to_csv(into / "households.csv", index=False)
        members.to_csv(into / "persons.csv", index=False)
        own["members"] = own[households.KEY].map(members.groupby(households.KEY).size()).fillna(0).clip(upper=households.MOST).astype(int)
        members = members[members.groupby(households.KEY).cumcount() < households.MOST]
        members = members.merge(own[[households.KEY, "weight"]], on=households.KEY)
        return cls(into, largest, own, members)

    @property
    def columns(self) -> list[str]:
        return [str(name) for table in (self.households, self.members) for name in table if name not in (households.KEY, "weight")]

    def spec(self, epsilon: float) -> Spec:
        two = households.link(self.folder)
        weight = Attribute.numeric("weight", 0.0, self.largest, bins=12, nearest=True)
        two = Link(Domain((*two.households, weight)), two.members, two.most)
        document = households.spec(self.folder, two, epsilon, 0, 0.05).model_dump(mode="json")
        document["budget"]["weighted"] = USUAL_SHARE
        return Spec.from_json(document | {"weight": {"column": "weight"}, "output": {}})


def linked_trial(plan: Plan, tables: Survey) -> dict[tuple[str, str], float]:
    """As `trial`, of households by their columns and of members by theirs."""
    release, found = released(plan), dict[tuple[str, str], float]()
    stated, codes = release.claims[WEIGHTED.name], release.codes
    assert codes is not None
    assert release.weights is not None
    begun = weighing.calibrated(plan, codes, release.inside, None)
    ways = dict(zip(WAYS, (release.weights, begun, np.ones(len(begun))), strict=True))
    for one, told, people in zip(weighing.counted(plan, codes), stated.parts, (tables.households, tables.members), strict=True):
        bounds = {marginal.attributes[0]: marginal.bound95 for marginal in told.certificate.marginals}
        for column in one.group.singles:
            true = shares(people[column.name], people["weight"].clip(0, tables.largest), column.size)
            for way, weights in ways.items():
                table = one.table((column.name,), weights)
                found[column.name, way] = in_wrong_cell(true, table / table.sum())
            found[column.name, "bound"] = bounds[column.name]
            found[column.name, "held"] = float(found[column.name, "calibrated"] <= bounds[column.name])
    return found


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
    codes, stated = np.asarray(release.codes), release.claims[WEIGHTED.name]
    begun = weighing.calibrated(plan, codes, release.inside, None)
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
