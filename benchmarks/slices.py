"""Points that are measured several times, in slices: what a record has is not measured again, and every run is written at once."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.programs import OURS, versions

Point = Mapping[str, Any]


def opened(place: Path) -> dict[str, Any]:
    """The record beside this place, with its "runs", as of this machine; an empty one where there is none."""
    file = place.with_suffix(".json")
    record = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"runs": []}
    return record | {"cores": os.cpu_count(), "versions": versions(OURS)}


def fill(
    record: Mapping[str, Any],
    points: Iterable[Point],
    times: int,
    measure: Callable[[Point], Point],
    write: Callable[[Mapping[str, Any], Path], None],
    place: Path,
) -> None:
    """Measure every point until the record has it so many times, all of them once before any twice, and print the table.

    After each run and at the end the record is kept, and `write` draws its table (`place`.md) and charts.
    """
    wanted, runs = list(points), record["runs"]
    for number in range(times):
        for point in wanted:
            if sum(point.items() <= run.items() for run in runs) <= number:
                runs.append({**point, **measure(point)})
                print(runs[-1], file=sys.stderr, flush=True)
                _keep(record, write, place)
    _keep(record, write, place)
    print(place.with_suffix(".md").read_text(encoding="utf-8"))


def _keep(record: Mapping[str, Any], write: Callable[[Mapping[str, Any], Path], None], place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    write(record, place)
