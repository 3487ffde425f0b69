"""How far synthetic patients, stays and drugs are from the invented ones they were made of, beside other invented ones, as many.

Each number is the share of units that are in the wrong cell (half of the L1 distance of two tables of shares), the mean over the tables
of a kind and over the runs. Events are drugs of a stay, and all count alike:

    event columns      one column of an event
    event pairs        two columns of an event
    visit x event      a column of a stay and one of its events
    patient x event    a column of a patient and one of an event
    events a visit     how many events a stay has
    visit x number     a column of a stay and how many events it has
    visit pairs        two columns of a stay
    visits a patient   how many stays a patient has
    drugs of a stay    pairs of drugs of different events of one stay, which the model takes for independent given the stay

    python -m benchmarks third --runs 3

Ways: "released" is one release of three tables at the epsilon, "without events" of patients and stays alone, "sample" other patients.
The hospital is invented; a patient has at most 8 stays, and a stay at most 5 drugs.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.table import released
from dpsynth_core.extensions.sequences import hospital, layout
from dpsynth_core.extensions.sequences.events import files as events_files
from dpsynth_core.extensions.sequences.events import layout as events_layout
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.graphical import households
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.release.rows import as_table
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

RELEASED, WITHOUT, SAMPLE = "released", "without events", "sample"
KINDS = (
    *("event columns", "event pairs", "visit x event", "patient x event", "events a visit", "visit x number", "visit pairs"),
    *("visits a patient", "drugs of a stay"),
)
VISIT, MOST, MOST_DRUGS = "visit", 8, 5
DRUGS = ("antibiotic", "anticoagulant", "insulin", "opioid", "sedative", "statin", "steroid", "other")
ROUTES = ("drip", "injection", "tablet")
EVENT = Domain((Attribute.categorical("drug", DRUGS), Attribute.categorical("route", ROUTES), Attribute.integer("doses", 1, 40, bins=5)))
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tables:
    """Codes of three tables: of patients, of stays with the patient of each, and of drugs with the stay of each; both from 0, ascending."""

    patients: Ints
    owners: Ints
    stays: Ints
    of: Ints
    drugs: Ints


def domains() -> tuple[Domain, Domain]:
    columns = hospital.domain()
    mine = [name for name in columns.names if name not in (*hospital.CONSTANT, hospital.GAP)]
    return Domain(tuple(columns[name] for name in hospital.CONSTANT)), columns.keep(mine)


def simulate(patients: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Patients, stays and drugs, which follow diagnosis, ward and age; each stay leans towards one drug for no reason that is seen."""
    stays, rng = hospital.simulate(patients, seed), np.random.default_rng([seed, 1])
    stays = stays.assign(**{VISIT: np.arange(len(stays)) + 1})
    diagnosis = stays["diagnosis"].map({name: code for code, name in enumerate(hospital.DIAGNOSIS)}).to_numpy()
    ward = stays["ward"].map({name: code for code, name in enumerate(hospital.WARD)}).to_numpy()
    usual = np.random.default_rng(5).gamma(0.4, 1.0, (len(hospital.DIAGNOSIS), len(DRUGS))) + 0.05
    weights = usual[diagnosis] * np.where(np.arange(len(DRUGS)) == 3, 1.0 + 2.0 * (ward == 1)[:, None], 1.0)
    weights = weights * np.where(np.arange(len(DRUGS)) == 5, np.clip(stays["age"].to_numpy() / 50, 0.2, 2)[:, None], 1.0)
    weights = weights * np.where(np.arange(len(DRUGS)) == rng.integers(0, len(DRUGS), len(stays))[:, None], 1.5, 1.0)
    number = np.minimum(rng.poisson(0.6 + 0.9 * (ward == 1) + 0.1 * np.minimum(stays["days"].to_numpy(), 15)), MOST_DRUGS)
    of = np.repeat(np.arange(len(stays)), number)
    edges = np.cumsum(weights[of], axis=1)
    drug = (rng.random(len(of))[:, None] * edges[:, -1:] >= edges).sum(axis=1)
    route = np.where(rng.random(len(of)) < 0.75, np.array([0, 1, 1, 1, 2, 2, 2, 2])[drug], rng.integers(0, 3, len(of)))
    doses = np.clip(1 + rng.poisson(0.8 * np.minimum(stays["days"].to_numpy()[of], 25) * np.where(route == 2, 1.0, 0.6)), 1, 40)
    drugs = {hospital.KEY: stays[hospital.KEY].to_numpy()[of], VISIT: stays[VISIT].to_numpy()[of]}
    drugs |= {"drug": np.array(DRUGS)[drug], "route": np.array(ROUTES)[route], "doses": doses}
    first = stays[~stays[hospital.KEY].duplicated()][[hospital.KEY, *hospital.CONSTANT]]
    return first, stays.drop(columns=[*hospital.CONSTANT]), pd.DataFrame(drugs)


def coded(first: pd.DataFrame, stays: pd.DataFrame, drugs: pd.DataFrame) -> Tables:
    """Of each patient the first stays count."""
    persons, rows = domains()
    first = first.sort_values(hospital.KEY)
    order = [hospital.KEY, *([hospital.ORDER] if hospital.ORDER in stays else [])]
    stays = stays.sort_values(order, kind="stable")
    stays = stays[stays.groupby(hospital.KEY).cumcount() < MOST]
    drugs = drugs[drugs[VISIT].isin(stays[VISIT])]
    place = {visit: number for number, visit in enumerate(stays[VISIT])}
    of = drugs[VISIT].map(place).to_numpy(dtype=np.int64)
    by_stay = np.argsort(of, kind="stable")
    owners = np.searchsorted(first[hospital.KEY].to_numpy(), stays[hospital.KEY].to_numpy())
    return Tables(_codes(persons, first), owners, _codes(rows, stays), of[by_stay], _codes(EVENT, drugs.iloc[by_stay]))


def _codes(domain: Domain, frame: pd.DataFrame) -> Ints:
    import pyarrow as pa

    if not len(frame):
        return np.empty((0, len(domain)), np.int64)
    batch = pa.Table.from_pandas(frame[[*domain.names]], preserve_index=False).combine_chunks().to_batches()[0]
    codes = encode(domain, batch, Notation())
    return np.column_stack([codes[name] for name in domain.names]).astype(np.int64)


def tables(codes: Tables) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Shares of each table, by its kind."""
    persons, rows = domains()
    a, b, c = [one.size for one in persons], [one.size for one in rows], [one.size for one in EVENT]
    number = np.bincount(codes.of, minlength=len(codes.stays))
    beside, above = codes.stays[codes.of], codes.patients[codes.owners[codes.of]]
    yield "visits a patient", _shares((np.bincount(codes.owners, minlength=len(codes.patients)),), (MOST + 1,))
    for i, j in combinations(range(len(b)), 2):
        yield "visit pairs", _shares((codes.stays[:, i], codes.stays[:, j]), (b[i], b[j]))
    if not len(codes.of):
        return
    yield "events a visit", _shares((number,), (MOST_DRUGS + 1,))
    for i in range(len(b)):
        yield "visit x number", _shares((codes.stays[:, i], number), (b[i], MOST_DRUGS + 1))
    for i in range(len(c)):
        yield "event columns", _shares((codes.drugs[:, i],), (c[i],))
    for i, j in combinations(range(len(c)), 2):
        yield "event pairs", _shares((codes.drugs[:, i], codes.drugs[:, j]), (c[i], c[j]))
    for i, j in product(range(len(b)), range(len(c))):
        yield "visit x event", _shares((beside[:, i], codes.drugs[:, j]), (b[i], c[j]))
    for i, j in product(range(len(a)), range(len(c))):
        yield "patient x event", _shares((above[:, i], codes.drugs[:, j]), (a[i], c[j]))
    held = np.zeros((len(codes.stays), c[0]), dtype=np.int64)
    np.add.at(held, (codes.of, codes.drugs[:, 0]), 1)
    pairs = held.T @ held - np.diag(held.sum(axis=0))
    yield "drugs of a stay", pairs / max(1, pairs.sum())


def _shares(columns: Sequence[Ints], sizes: Sequence[int]) -> NDArray[np.float64]:
    counts = np.bincount(np.ravel_multi_index(tuple(columns), tuple(sizes)), minlength=int(np.prod(sizes)))
    return counts / max(1, counts.sum())


def distances(truth: Tables, made: Tables) -> dict[str, float]:
    off: dict[str, list[float]] = {}
    for (kind, ours), (_, theirs) in zip(tables(truth), tables(made), strict=len(made.of) > 0):
        off.setdefault(kind, []).append(float(np.abs(ours - theirs).sum()) / 2)
    return {kind: statistics.fmean(values) for kind, values in off.items()}


def synthetic(given: tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame], epsilon: float, folder: Path, events: bool) -> Tables:
    persons, rows = domains()
    for name, table in zip(("patients", "stays", "drugs"), given, strict=True):
        table.to_csv(folder / f"{name}.csv", index=False)
    stated: dict[str, Any] = {"order": [hospital.ORDER]}
    members = rows
    if events:
        stated |= {"events": ["drugs.csv"], "event_key": [VISIT], "event_column": [*EVENT.names], "most_events": MOST_DRUGS}
        members = Domain((*rows, *EVENT))
    link = (events_layout if events else layout).linked(persons, members, MOST, [], stated)
    spec = {
        "population": "benchmark", "domain_origin": "public", "data": {"path": str(folder / "patients.csv")}, "domain": persons.to_json(),
        "members": {"path": str(folder / "stays.csv"), "domain": members.to_json()}, "extensions": stated,
        "unit": {"person_column": hospital.KEY, "max_rows_per_person": MOST}, "workload": households.workload(link).to_json(),
        "mechanism": {"name": "events" if events else "sequences"}, "budget": {"epsilon": epsilon, "delta": 1e-9, "certificate": 0.0},
    }  # fmt: skip
    made = released(synthesis.plan(Spec.from_json(spec)))
    assert made.values is not None
    assert made.members is not None
    drawn = events_files.event_rows(made)
    first, stays = (as_table(one).to_pandas() for one in (made.values, made.members))
    if drawn is None:
        return coded(first, stays.assign(**{VISIT: np.arange(len(stays))}), pd.DataFrame(columns=[VISIT, *EVENT.names]))
    return coded(first, stays, as_table(drawn).to_pandas())


def measured(way: str, epsilon: float, patients: int) -> dict[str, float]:
    """One run, in a process of its own."""
    given = simulate(patients, 7)
    truth = coded(*given)
    start = time.process_time()
    if way == SAMPLE:
        made = coded(*simulate(patients, time.time_ns() % 2**32))
    else:
        with tempfile.TemporaryDirectory() as folder:
            try:
                made = synthetic(given, epsilon, Path(folder), way == RELEASED)
            except InputError as problem:  # which cannot be sent to another process
                raise RuntimeError(str(problem)) from None
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return {**distances(truth, made), "processor seconds": seconds, "GB": peak}


def points(options: argparse.Namespace) -> Iterator[record.Point]:
    for way in options.ways:
        yield {"way": way, "patients": options.patients, **({} if way == SAMPLE else {"epsilon": options.epsilon})}


def lines(kept: Mapping[str, Any]) -> Iterator[str]:
    groups: dict[tuple[str, float], list[Mapping[str, Any]]] = {}
    for run in kept["runs"]:
        groups.setdefault((run["way"], run.get("epsilon", 0.0)), []).append(run)
    heads = [f"{way}, epsilon {e:g}, {len(some)} runs" if e else f"{way}, {len(some)} runs" for (way, e), some in groups.items()]
    cells = [[kind, *(_mean(some, kind) for some in groups.values())] for kind in (*KINDS, "processor seconds", "GB")]
    yield from record.table(("kind of table", *heads), cells)


def _mean(runs: Sequence[Mapping[str, Any]], kind: str) -> str:
    if any(kind not in run for run in runs):
        return ""
    return f"{statistics.fmean(run[kind] for run in runs):.{ {'processor seconds': 0, 'GB': 2}.get(kind, 4)}f}"


def main(arguments: Sequence[str] | None = None) -> None:
    ways = (RELEASED, WITHOUT, SAMPLE)
    parser = record.parser(__doc__, {"ways": ways}, ways=[*ways], epsilon=1.0, runs=3, patients=100_000)
    options = parser.parse_args(arguments)

    def measure(point: record.Point) -> record.Point:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return dict(pool.apply(measured, (point["way"], point.get("epsilon", 0.0), options.patients)))

    place = options.results / "third"
    record.fill(record.opened(place), points(options), options.runs, measure, lines, place)


if __name__ == "__main__":
    main()
