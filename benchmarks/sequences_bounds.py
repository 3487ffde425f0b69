"""How often bounds of tables of rows in order hold, and how far above the errors they are, by kind of table.

Invents patients and their stays, makes releases with fresh noise, and compares what the rows err with the certificate's bounds (95 %, of
one table) and with those of the mechanism's own answers. A bound of everybody is none. "All at once" says in how many of the releases with
such bounds none of the kind fails. Tables of one release share their noise, so the doubt beside a share is the standard error over
releases.

    python -m benchmarks sequences_bounds --epsilon 1 --runs 200
"""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import record
from benchmarks.household_bounds import BOUNDS, Bounded, summary
from benchmarks.table import errors, released
from dpsynth_core.extensions.sequences import layout
from dpsynth_core.inference.households import kinds
from dpsynth_core.mechanisms.graphical.households import workload
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, Spec
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

MOST, ORDER, KEY = 3, "time", "patient"
SAME, NEXT = "a column and the same one before", "a column and another one before"
TITLES = {"households": "of persons", "members": "of rows", "across": "person and row"}
"""How kinds of tables are called, but those of a row and the row before, which are two: of the same column, and of two columns."""
PERSONS = Domain((Attribute.categorical("sex", ("f", "m")), Attribute.coded("region", 3)))
ROWS = Domain((Attribute.coded("diagnosis", 4), Attribute.coded("ward", 3), Attribute.coded("home", 2)))


def main(arguments: Sequence[str] | None = None) -> None:
    options = record.parser(__doc__, epsilon=1.0, runs=200, persons=400).parse_args(arguments)
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / "stays.csv"
        invent(options.persons).to_csv(file, index=False)
        runs = [trial(file, options.epsilon, run) for run in range(1, options.runs + 1)]
    named = sorted({kind for run in runs for kind, _ in run})
    said = {(kind, bound): every([run[kind, bound] for run in runs]) for kind in named for bound in BOUNDS}
    said |= {("all kinds", bound): every([[pair for kind in named for pair in run[kind, bound]] for run in runs]) for bound in BOUNDS}
    titles = (f"{options.runs} releases, epsilon {options.epsilon:g}", "bound by", "tables with one", "bounds that hold", "all at once",
              "times the error")  # fmt: skip
    rows = [(*key, f"{one['stated']:.0%}", one["hold"], one["together"], one["times"]) for key, one in said.items()]
    about = {"epsilon": options.epsilon, "runs": options.runs, "persons": options.persons}
    record.write(options.results / "sequences_bounds", about | {", ".join(k): v for k, v in said.items()}, record.table(titles, rows))


def invent(persons: int) -> pd.DataFrame:
    """Stays of invented patients, one to four, of which three count: the diagnosis mostly stays the same, and the ward follows it."""
    rng, rows = np.random.default_rng(0), list[tuple[Any, ...]]()
    for person in range(persons):
        sex, region, diagnosis = "fm"[rng.integers(2)], int(rng.integers(3)), int(rng.integers(4))
        for time in range(rng.integers(1, MOST + 2)):
            ward = diagnosis % 3 if rng.random() < 0.8 else int(rng.integers(3))
            rows.append((person, time, sex, region, diagnosis, ward, int(rng.random() < 0.3 + 0.2 * (sex == "f"))))
            diagnosis = diagnosis if rng.random() < 0.7 else int(rng.integers(4))
    return pd.DataFrame(rows, columns=[KEY, ORDER, *PERSONS.names, *ROWS.names])


def trial(file: Path, epsilon: float, run: int) -> Bounded:
    """Errors and bounds of the tables of one release, by kind of table and of bound."""
    print(f"run {run}", file=sys.stderr, end="\r")
    stated = {"order": [ORDER], "constant": [*PERSONS.names]}
    link = layout.linked(PERSONS, ROWS, MOST, (), stated)
    plan = synthesis.plan(Spec.from_json({
        "population": f"invented {run}", "data": {"path": str(file)}, "domain": PERSONS.to_json(),
        "members": {"path": str(file), "domain": ROWS.to_json(), "rules": []},
        "unit": {"person_column": KEY, "max_rows_per_person": MOST},
        "workload": workload(link).to_json(), "budget": {"epsilon": epsilon, "delta": 1e-9, "certificate": DEFAULT_CERTIFICATE},
        "mechanism": {"name": "sequences"}, "extensions": stated,
    }))  # fmt: skip
    source = synthesis.open_source(plan)
    made = released(plan, source)
    assert made.certificate is not None
    certified = {one.attributes: one for one in made.certificate.marginals}
    named = {link.domain.clique(clique): _title(link, clique, kind) for clique, kind in kinds(link).items()}
    bounded = defaultdict[tuple[str, str], list[tuple[float, float]]](list)
    for clique, error in errors(made, source.counts(list(plan.workload.cliques))).items():
        bounded[named[clique], "certificate"].append((error, certified[clique].bound95))
        bounded[named[clique], "answers"].append((error, made.bounds[clique].tight))
    return bounded


def every(releases: Sequence[Sequence[tuple[float, float]]]) -> dict[str, Any]:
    """What `summary` says of the releases, and `together`: in how many of those with bounds all hold."""
    stated = [[bound >= error for error, bound in one if bound < 1] for one in releases]
    whole = [all(one) for one in stated if one]
    if not whole:
        return {**summary(releases), "together": ""}
    return {**summary(releases), "together": f"{sum(whole)} of {len(whole)}"}


def _title(link: layout.SequenceLink, clique: Clique, kind: str) -> str:
    if kind in TITLES:
        return TITLES[kind]
    return SAME if any(set(clique) == {name, link.other(name)} for name in link.members.names) else NEXT


if __name__ == "__main__":
    main()
