"""How far synthetic households with their members are from real ones, table by table of every kind.

FOLDER holds households.csv and persons.csv, coded, with a column `household` in both, and households.json and persons.json: how many values
each other column has. Each number is the share of units that are in the wrong cell (half of the L1 distance of two tables of shares), the
mean over the tables of a kind and over the runs; a kind of which there is none is left out:

    households           two columns of the household
    size, by column      how many members it has; that and a column of the household
    members              two columns of a member
    across               a column of the household and one of a member; two of a member
    within               a column of a member and one of another member of the same household, every ordered pair of different ones
    members with a value for each value of each column, how many members of a household have it: none, one, two, three or more

    python -m benchmarks households FOLDER --epsilon 1 10 --runs 5

--half 1 takes one random half of the households and --half 2 the other: what is tuned on one is judged on the other.
"""

from __future__ import annotations

import itertools
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.table import released
from dpsynth_core.inference.households import LinkedCodes
from dpsynth_core.mechanisms.graphical.households import Households, workload
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link

KEY, MOST = "household", 6
WITH_VALUE = "members with a value"
SHOWN = ("households", "size", "size by column", "members", "across", "across, two columns", "within", WITH_VALUE)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, epsilon=[1.0, 10.0], runs=5)
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    parser.add_argument("--half", type=int, choices=(0, 1, 2), default=0)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        some = halved(options.folder, Path(folder), options.half) if options.half else options.folder
        for epsilon in options.epsilon:
            write(options.results, trial(some, epsilon, options.runs), f"_half{options.half}" if options.half else "")


def halved(folder: Path, into: Path, half: int) -> Path:
    """One of two random halves of the households, with their members."""
    import pandas as pd

    tables = {name: pd.read_csv(folder / f"{name}.csv") for name in ("households", "persons")}
    keys = np.random.default_rng(0).permutation(np.unique(tables["households"][KEY]))
    for name, table in tables.items():
        table[table[KEY].isin(keys[half - 1 :: 2])].to_csv(into / f"{name}.csv", index=False)
        shutil.copy(folder / f"{name}.json", into)
    return into


def link(folder: Path, most: int = MOST) -> Link:
    households, members = (Domain.from_json(json.loads((folder / f"{name}.json").read_text())) for name in ("households", "persons"))
    return Link(households, members, most)


def spec(folder: Path, two: Link, epsilon: float, seed: int, certificate: float = 0.0) -> Spec:
    return Spec.from_json(
        {
            "population": "benchmark",
            "data": {"path": str(folder / "households.csv")},
            "members": {"path": str(folder / "persons.csv"), "domain": two.members.to_json()},
            "unit": {"person_column": KEY, "max_rows_per_person": two.most},
            "domain": two.households.to_json(),
            "domain_origin": "public",
            "workload": workload(two).to_json(),
            "budget": {"epsilon": epsilon, "delta": 1e-9, "certificate": certificate},
            "mechanism": {"name": Households.card.name},
            "output": {"seed": seed},
        }
    )


def trial(folder: Path, epsilon: float, runs: int) -> dict[str, float]:
    """The mean distance of each kind, and processor seconds of a run."""
    two, seen, seconds = link(folder), defaultdict[str, list[float]](list), list[float]()
    real = read(folder, two)
    for seed in range(1, runs + 1):
        print(f"epsilon {epsilon:g}, run {seed}", file=sys.stderr, end="\r")
        start = time.process_time()
        plan = synthesis.plan(spec(folder, two, epsilon, seed))
        release = released(plan)
        seconds.append(time.process_time() - start)
        assert release.values is not None
        assert release.members is not None
        households = np.concatenate([_codes(batch, two.households) for batch in release.values.batches()])
        members = np.concatenate([_codes(batch, two.members) for batch in release.members.batches()])
        owners = np.concatenate([batch.column(KEY).to_numpy() for batch in release.members.batches()]) - 1
        for kind, distance in distances(two, real, together(two, households, owners, members)):
            seen[kind].append(distance)
    means = {kind: statistics.fmean(found) for kind, found in seen.items()}
    return {"epsilon": epsilon, "runs": runs, "seconds": statistics.fmean(seconds)} | means


def read(folder: Path, two: Link) -> LinkedCodes:
    """The tables of the folder, whose keys may be any numbers."""
    import pandas as pd

    households, members = pd.read_csv(folder / "households.csv"), pd.read_csv(folder / "persons.csv")
    place = pd.Series(np.arange(len(households)), index=households[KEY])
    codes = (table[[*domain.names]].to_numpy() for table, domain in ((households, two.households), (members, two.members)))
    return together(two, next(codes), place[members[KEY]].to_numpy(), next(codes))


def together(two: Link, households: NDArray[np.int64], owners: NDArray[np.int64], members: NDArray[np.int64]) -> LinkedCodes:
    """owners: the household of each member, by its place among the households. Members beyond the most that count are left out."""
    order = np.argsort(owners, kind="stable")
    owners = owners[order]
    places = np.arange(len(owners)) - np.searchsorted(owners, owners)
    counted = places < two.most
    slots = np.zeros((len(households), two.most, len(two.members)), dtype=np.int64)
    slots[owners[counted], places[counted]] = members[order][counted]
    return LinkedCodes(households, np.bincount(owners[counted], minlength=len(households)), slots)


def distances(two: Link, real: LinkedCodes, made: LinkedCodes) -> Iterator[tuple[str, float]]:
    for (kind, one), (_, other) in zip(tables(two, real), tables(two, made), strict=True):
        if kind != WITH_VALUE or one[1:].any() or other[1:].any():  # of values that occur
            yield kind, float(np.abs(one / max(1, one.sum()) - other / max(1, other.sum())).sum() / 2)


def tables(two: Link, codes: LinkedCodes) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Every table of every kind, by its kind."""
    households, sizes = codes.households, codes.sizes
    many, each = [a.size for a in two.households], [a.size for a in two.members]
    owners, members = codes.listed()
    for a, b in itertools.combinations(range(len(many)), 2):
        yield "households", _counts((households[:, a], households[:, b]), (many[a], many[b]))
    yield "size", _counts((sizes,), (two.most + 1,))
    for a in range(len(many)):
        yield "size by column", _counts((households[:, a], sizes), (many[a], two.most + 1))
    for c, d in itertools.combinations(range(len(each)), 2):
        yield "members", _counts((members[:, c], members[:, d]), (each[c], each[d]))
    for a, c in itertools.product(range(len(many)), range(len(each))):
        yield "across", _counts((households[owners, a], members[:, c]), (many[a], each[c]))
        for d in range(c + 1, len(each)):
            yield "across, two columns", _counts((households[owners, a], members[:, c], members[:, d]), (many[a], each[c], each[d]))
    one, another = _pairs(codes)
    for c, d in itertools.product(range(len(each)), repeat=2):
        yield "within", _counts((one[:, c], another[:, d]), (each[c], each[d]))
    for c in range(len(each)):
        held = _counts((owners, members[:, c]), (len(sizes), each[c])).reshape(len(sizes), each[c])
        for value in range(each[c]):
            yield WITH_VALUE, np.bincount(np.minimum(held[:, value], 3), minlength=4)


def _pairs(codes: LinkedCodes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The codes of every ordered pair of different members of a household."""
    places = list(itertools.permutations(range(codes.members.shape[1]), 2))
    there = [codes.sizes > max(pair) for pair in places]
    one = [codes.members[some, pair[0]] for pair, some in zip(places, there, strict=True)]
    another = [codes.members[some, pair[1]] for pair, some in zip(places, there, strict=True)]
    return np.concatenate(one), np.concatenate(another)


def _counts(columns: Sequence[NDArray[np.int64]], sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.bincount(np.ravel_multi_index(tuple(columns), tuple(sizes)), minlength=int(np.prod(sizes)))


def _codes(batch: object, domain: Domain) -> NDArray[np.int64]:
    return np.column_stack([np.asarray(batch.column(name)) for name in domain.names]).astype(np.int64)  # type: ignore[attr-defined]


def write(results: Path, point: dict[str, float], of: str = "") -> None:
    """Keep the record, and show it as a table."""
    rows = [(kind, f"{point[kind]:.3f}") for kind in SHOWN if kind in point] + [("processor seconds", f"{point['seconds']:.0f}")]
    lines = record.table(("", f"epsilon {point['epsilon']:g}, {point['runs']:.0f} runs"), rows)
    record.write(results / f"households{of}_eps{point['epsilon']:g}", point | {"versions": synthesis.versions()}, lines)
