"""How often does a report of changes list a cell that did not change, and does it find what changed?

Makes pairs of releases of invented people, each with noise of its own seed, and compares them as `changes` does. True shares are computed:
the people are invented.

same: the same table both times, so every listed cell is false. moved: in the second table some of the people have another value of the
first column; all cells over other columns stay as they are. drawn: each table is a sample of one large population, and the sampling error
is counted (design effect 1), so every listed cell is false.

    python -m benchmarks changes
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import invented, record
from benchmarks.table import released, spec
from dpsynth_core.extensions.repeated.changes import BH, BOUNDS, HOLM, NOISE, Compared, compare
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release.release import Release
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

NAME = "changes"
SAME, MOVED, DRAWN = WORLDS = ("same", "moved", "drawn")
_PEOPLE, _POPULATION = 4_000, 200_000
_TABLE = invented.Invented("changes", _POPULATION, (4, 3, 6, 2))
_SHARE_MOVED = 0.05
"""Share of the people who have another value in the second table."""
_CLEAR = 0.02
"""Change of a share, of all people, that is counted as found or missed."""

Codes = NDArray[np.int32]


def main(arguments: Sequence[str] | None = None) -> None:
    defaults: dict[str, Any] = {"worlds": [*WORLDS], "mechanisms": ["independent", "mst", "aim"], "epsilons": [1.0], "runs": 200}
    options = record.parser(__doc__, {"worlds": WORLDS}, **defaults).parse_args(arguments)
    place = options.results / NAME
    for world in options.worlds:
        for mechanism in options.mechanisms:
            for epsilon in options.epsilons:
                point = {"world": world, "mechanism": mechanism, "epsilon": epsilon}
                before = next((one for one in record.earlier(place) if point.items() <= one.items()), point | {"pairs": 0})
                for seed in range(before["pairs"], options.runs):
                    before = _added(before, measured(world, mechanism, epsilon, seed))
                    print(before, file=sys.stderr, flush=True)
                record.keep(place, record.instead(record.earlier(place), before, *point), [])
    points = record.earlier(place)
    record.write(place, points, record.table(_HEAD, map(_row, points)))


def _added(sums: Mapping[str, Any], one: Mapping[str, float]) -> dict[str, Any]:
    """Sums over pairs, with one more pair."""
    return {**sums, "pairs": sums["pairs"] + 1, **{name: round(sums.get(name, 0) + number, 6) for name, number in one.items()}}


def measured(world: str, mechanism: str, epsilon: float, seed: int) -> dict[str, float]:
    """Compare a pair of releases with these seeds: what was listed wrongly and rightly, and how many 95 % intervals held."""
    first, second, sampling = _pair(world, seed)
    made = pair_of_releases(world, mechanism, epsilon, seed)
    true = {r: 0.0 * table for r, table in _shares(first).items()} if world == DRAWN else _change(first, second)
    holm, bh = (compare(made[0], made[1], correction, sampling) for correction in (HOLM, BH))
    every = [(true[table.columns][cell.codes].item(), table.basis, cell) for table in holm.tables for cell in table.cells]
    clear = [cell.changed for change, basis, cell in every if abs(change) >= _CLEAR and basis == NOISE]
    wrong = _false(bh, true)
    numbers: dict[str, float] = {"any_false_holm": min(1, _false(holm, true)), "any_false_bh": min(1, wrong)}
    numbers |= {"false_share_bh": wrong / max(1, len(bh.changed)), "clear": len(clear), "found": sum(clear)}
    for kind in (NOISE, BOUNDS):
        holds = [cell.low <= change <= cell.high for change, basis, cell in every if basis == kind]
        numbers |= {f"intervals_{kind}": len(holds), f"held_{kind}": sum(holds)}
    return numbers


def pair_of_releases(world: str, mechanism: str, epsilon: float, seed: int, certificate: float = 0.05) -> tuple[Release, Release]:
    """The releases of a pair of tables, each with noise of its own seed."""
    domain = Domain.from_json(dict(zip(_TABLE.names, _TABLE.sizes, strict=True)))
    first, second, _ = _pair(world, seed)

    def release(codes: Codes, number: int) -> Release:
        budget = {"epsilon": epsilon, "certificate": certificate}
        stated = spec({"kind": "demo"}, domain, mechanism, budget, output={"seed": 2 * seed + number})
        return released(Plan.of(stated), CodesSource(domain, codes))

    return release(first, 0), release(second, 1)


def _false(found: Compared, true: Mapping[Clique, NDArray[np.float64]]) -> int:
    """Number of listed cells that did not change."""
    return sum(bool(true[table.columns][cell.codes] == 0) for table, cell in found.changed)


def _pair(world: str, seed: int) -> tuple[Codes, Codes, float | None]:
    people, chance = _people(), np.random.default_rng((seed, 57))
    if world == DRAWN:
        one, other = (people[chance.choice(len(people), _PEOPLE, replace=False)] for _ in range(2))
        return one, other, 1.0
    first = people[:_PEOPLE]
    second = first.copy()
    if world == MOVED:
        largest = int(np.bincount(first[:, 0]).argmax())
        moving = np.flatnonzero(first[:, 0] == largest)[: int(_SHARE_MOVED * _PEOPLE)]
        second[moving, 0] = (largest + 1) % _TABLE.sizes[0]
    return first, second, None


@lru_cache(maxsize=1)
def _people() -> Codes:
    return invented.codes(_TABLE)


def _shares(codes: Codes) -> dict[Clique, NDArray[np.float64]]:
    """True shares of all single columns and pairs."""
    found = {}
    for columns in [*((one,) for one in range(len(_TABLE.sizes))), *combinations(range(len(_TABLE.sizes)), 2)]:
        table = np.zeros([_TABLE.sizes[one] for one in columns])
        np.add.at(table, tuple(codes[:, one] for one in columns), 1 / len(codes))
        found[tuple(_TABLE.names[one] for one in columns)] = table
    return found


def _change(first: Codes, second: Codes) -> dict[Clique, NDArray[np.float64]]:
    before, after = _shares(first), _shares(second)
    return {r: np.round(after[r] - before[r], 12) for r in before}


_HEAD = (
    *(
        "pairs",
        "mechanism",
        "epsilon",
        "number",
        "a false cell listed, Holm",
        "Benjamini-Hochberg",
        "false among listed, Benjamini-Hochberg",
    ),
    *("changes of 2 points found, Holm", "95 % intervals held, noise", "bounds"),
)


def _row(point: Mapping[str, Any]) -> tuple[object, ...]:
    shares = [f"{point[name] / point['pairs']:.1%}" for name in ("any_false_holm", "any_false_bh", "false_share_bh")]
    of = [("found", "clear"), ("held_noise", "intervals_noise"), ("held_bounds", "intervals_bounds")]
    return point["world"], point["mechanism"], f"{point['epsilon']:g}", point["pairs"], *shares, *(_share(point, *pair) for pair in of)


def _share(point: Mapping[str, Any], part: str, whole: str) -> str:
    return f"{point[part] / point[whole]:.1%} of {point[whole]:,}" if point[whole] else ""
