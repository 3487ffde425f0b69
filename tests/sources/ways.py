"""Ways in which values are written, in each kind of table that can hold them: `python -m tests.sources.ways` prints how each is read.

Nothing is stated but the column. Then a way is understood, or it is said before the charge: by a refusal, or to the curator by
`plan.survey()`. A column that is read as something else, or not at all, without a word, is the fault that this table looks for.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

import dpsynth_core as dps
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.release import synthesis
from tests.additions import added
from tests.sources.written import WRITERS

UNDERSTOOD, REFUSED, SURVEYED, SILENT = "understood", "refused", "said by the survey", "silent"
ROWS = 120


@dataclass(frozen=True)
class Way:
    """One way of writing a column.

    Attributes:
        column: What is said of it, as `dps.plan` takes it.
        cells: Some values as they are written, text or typed.
        means: The label of the cell that each of them means, or how it begins.
    """

    column: Any
    cells: Sequence[Any]
    means: Sequence[str]


WHOLE = {"kind": "integer", "lower": 0, "upper": 99}
LARGE = {"kind": "integer", "lower": 0, "upper": 9999, "edges": [0, 1000, 2000, 5000, 9999]}
HALF = {"kind": "numeric", "lower": 0, "upper": 4, "width": 1}
BELOW = {"kind": "integer", "lower": -9, "upper": 9}
DAYS = {"kind": "date", "lower": "2024-01-01", "upper": "2024-12-31", "width": "month"}
MOMENTS = {"kind": "timestamp", "lower": "2024-01-01 00:00:00", "upper": "2024-12-31 23:59:59", "width": "month"}
CLOCK = {"kind": "time", "lower": "00:00:00", "upper": "23:59:59", "width": "hour"}
LASTING = {"kind": "duration", "lower": "00:00:00", "upper": "10:00:00", "bins": 10}
TRUTH = [False, True]
THREE = ["3", "12", "45"]
THOUSANDS = ["1000 to 1999", "2000 to 4999", "5000 to 9999"]
HALVES = ["[0, 1)", "[2, 3)", "[3, 4]"]
MONTHS = ["2024-01", "2024-03", "2024-12"]
HOURS = ["09:", "17:", "23:"]
NO_YES = ["false", "true"]


def _days(form: str) -> list[str]:
    return [day.strftime(form) for day in (date(2024, 1, 15), date(2024, 3, 2), date(2024, 12, 31))]


def _moments(form: str) -> list[str]:
    return [at.strftime(form) for at in (datetime(2024, 1, 15, 9, 30), datetime(2024, 3, 2, 17, 5), datetime(2024, 12, 31, 23, 0))]


DATES = [date(2024, 1, 15), date(2024, 3, 2), date(2024, 12, 31)]
SECONDS = [1705311000, 1709399100, 1735686000]
IN_TEXT: Mapping[str, Way] = {
    "whole numbers": Way(WHOLE, THREE, THREE),
    "whole numbers 3.0": Way(WHOLE, ["3.0", "12.0", "45.0"], THREE),
    "whole numbers 003": Way(WHOLE, ["003", "012", "045"], THREE),
    "whole numbers +3": Way(WHOLE, ["+3", "+12", "+45"], THREE),
    "whole numbers with spaces": Way(WHOLE, [" 3 ", "12 ", " 45"], THREE),
    "whole numbers 3e0": Way(WHOLE, ["3e0", "1.2e1", "4.5E1"], THREE),
    "thousands 1,234": Way(LARGE, ["1,234", "2,500", "5,075"], THOUSANDS),
    "thousands 1 234": Way(LARGE, ["1 234", "2 500", "5 075"], THOUSANDS),
    "thousands 1'234": Way(LARGE, ["1'234", "2'500", "5'075"], THOUSANDS),
    "dollars": Way(LARGE, ["$1234", "$2500", "$5075"], THOUSANDS),
    "euros": Way(LARGE, ["1234 €", "2500 €", "5075 €"], THOUSANDS),
    "percent": Way(WHOLE, ["3%", "12%", "45%"], THREE),
    "percent with a space": Way(WHOLE, ["3 %", "12 %", "45 %"], THREE),
    "digits of Arabic": Way(WHOLE, ["٣", "١٢", "٤٥"], THREE),
    "digits in full width": Way(WHOLE, ["３", "１２", "４５"], THREE),
    "below zero -3": Way(BELOW, ["-3", "-5", "-9"], ["-3", "-5", "-9"]),
    "below zero in parentheses": Way(BELOW, ["(3)", "(5)", "(9)"], ["-3", "-5", "-9"]),
    "below zero 3-": Way(BELOW, ["3-", "5-", "9-"], ["-3", "-5", "-9"]),
    "below zero with a minus sign": Way(BELOW, ["−3", "−5", "−9"], ["-3", "-5", "-9"]),
    "decimal point": Way(HALF, ["0.5", "2.25", "3.75"], HALVES),
    "decimal comma": Way(HALF, ["0,5", "2,25", "3,75"], HALVES),
    "decimals .5": Way(HALF, [".5", "2.25", "3.75"], HALVES),
    "days": Way(DAYS, _days("%Y-%m-%d"), MONTHS),
    "days with midnight": Way(DAYS, _days("%Y-%m-%d 00:00:00"), MONTHS),
    "days 15.01.2024": Way(DAYS, _days("%d.%m.%Y"), MONTHS),
    "days 15/01/2024": Way(DAYS, _days("%d/%m/%Y"), MONTHS),
    "days 01/15/2024": Way(DAYS, _days("%m/%d/%Y"), MONTHS),
    "days 15.01.24": Way(DAYS, _days("%d.%m.%y"), MONTHS),
    "days 20240115": Way(DAYS, _days("%Y%m%d"), MONTHS),
    "days 15Jan2024": Way(DAYS, _days("%d%b%Y"), MONTHS),
    "days 15 January 2024": Way(DAYS, _days("%d %B %Y"), MONTHS),
    "days January 15, 2024": Way(DAYS, _days("%B %d, %Y"), MONTHS),
    "days 2024-1-15": Way(DAYS, ["2024-1-15", "2024-3-2", "2024-12-31"], MONTHS),
    "days 2024-01-15Z": Way(DAYS, _days("%Y-%m-%dZ"), MONTHS),
    "moments": Way(MOMENTS, _moments("%Y-%m-%d %H:%M:%S"), MONTHS),
    "moments with T": Way(MOMENTS, _moments("%Y-%m-%dT%H:%M"), MONTHS),
    "moments with Z": Way(MOMENTS, _moments("%Y-%m-%dT%H:%M:%SZ"), MONTHS),
    "moments +00": Way(MOMENTS, _moments("%Y-%m-%d %H:%M:%S+00"), MONTHS),
    "moments UTC": Way(MOMENTS, _moments("%Y-%m-%d %H:%M:%S UTC"), MONTHS),
    "moments in basic form": Way(MOMENTS, _moments("%Y%m%dT%H%M%SZ"), MONTHS),
    "moments of a place": Way(MOMENTS, _moments("%Y-%m-%dT%H:%M:%S+01:00[Europe/Berlin]"), MONTHS),
    "moments 15.01.2024 09:30": Way(MOMENTS, _moments("%d.%m.%Y %H:%M"), MONTHS),
    "moments in seconds": Way(MOMENTS, [str(one) for one in SECONDS], MONTHS),
    "times": Way(CLOCK, ["09:30", "17:05", "23:00"], HOURS),
    "times 0930": Way(CLOCK, ["0930", "1705", "2300"], HOURS),
    "times 9:30 AM": Way(CLOCK, ["9:30 AM", "5:05 PM", "11:00 PM"], HOURS),
    "times 9h30": Way(CLOCK, ["9h30", "17h05", "23h"], HOURS),
    "truths": Way(TRUTH, NO_YES, NO_YES),
    "truths True": Way(TRUTH, ["False", "True"], NO_YES),
    "truths 1": Way(TRUTH, ["0", "1"], NO_YES),
    "truths Y": Way(TRUTH, ["N", "Y"], NO_YES),
    "truths ja": Way(TRUTH, ["nein", "ja"], NO_YES),
    "truths said as texts": Way(["false", "true"], ["False", "True"], NO_YES),
    "codes 1.0": Way([3, 12, 45], ["3.0", "12.0", "45.0"], THREE),
    "codes 003": Way([3, 12, 45], ["003", "012", "045"], THREE),
    "codes said as texts 3.0": Way(THREE, ["3.0", "12.0", "45.0"], THREE),
    "texts": Way(["North", "Île"], ["North", "Île"], ["North", "Île"]),
    "texts in capitals": Way(["North", "Île"], ["NORTH", "ÎLE"], ["North", "Île"]),
    "texts with combining accents": Way(["é", "à"], ["e\u0301", "a\u0300"], ["é", "à"]),
    "texts with other spaces": Way(["New York", "St. Gall"], ["New\u00a0York", "St.\u00a0Gall"], ["New York", "St. Gall"]),
    "texts in quotes": Way(["North", "South"], ["'North'", "'South'"], ["North", "South"]),
    "texts with other dashes": Way(["0-9", "10-19"], ["0–9", "10–19"], ["0-9", "10-19"]),
}
TYPED: Mapping[str, Way] = {
    "typed whole numbers": Way(WHOLE, [3, 12, 45], THREE),
    "typed doubles": Way(WHOLE, [3.0, 12.0, 45.0], THREE),
    "typed decimals": Way(WHOLE, [Decimal("3.00"), Decimal("12.00"), Decimal("45.00")], THREE),
    "typed codes of a list": Way([3, 12, 45], [3.0, 12.0, 45.0], THREE),
    "typed codes said as texts": Way(THREE, [3.0, 12.0, 45.0], THREE),
    "typed codes said as 003": Way(["003", "012", "045"], [3, 12, 45], ["003", "012", "045"]),
    "typed truths": Way(TRUTH, [False, True], NO_YES),
    "typed truths said as Yes": Way(["No", "Yes"], [False, True], ["No", "Yes"]),
    "typed days": Way(DAYS, DATES, MONTHS),
    "typed days as numbers": Way(DAYS, [20240115, 20240302, 20241231], MONTHS),
    "typed days as years": Way({"kind": "integer", "lower": 2000, "upper": 2030}, DATES, ["2024", "2024", "2024"]),
    "typed days of a list": Way([str(day) for day in DATES], DATES, [str(day) for day in DATES]),
    "typed moments": Way(MOMENTS, [datetime(2024, 1, 15, 9, 30), datetime(2024, 3, 2), datetime(2024, 12, 31, 23)], MONTHS),
    "typed midnights of a list": Way(
        [str(day) for day in DATES], [datetime(2024, 1, 15), datetime(2024, 3, 2), datetime(2024, 12, 31)], [str(day) for day in DATES]
    ),
    "typed moments in seconds": Way(MOMENTS, [float(one) for one in SECONDS], MONTHS),
    "typed times": Way(CLOCK, [time(9, 30), time(17, 5), time(23)], HOURS),
    "typed times as numbers": Way(CLOCK, [930, 1705, 2300], HOURS),
    "typed seconds": Way(LASTING, [3600, 7200, 30_000], ["01:", "02:", "08:"]),
    "typed lists": Way(["a", "b"], [["a"], ["b"]], ["a", "b"]),
}
WAYS: dict[str, Way] = {**IN_TEXT, **TYPED}

Store = Callable[[pa.Table, Path], tuple[Any, dict[str, Any]]]
"""Writes a table into a folder; returns what `dps.plan` reads, and its form."""


def file(suffix: str, write: Callable[[pa.Table, Path], object]) -> Store:
    """A function that stores a table in a file with this ending."""

    def store(table: pa.Table, folder: Path) -> tuple[Any, dict[str, Any]]:
        path = folder / f"table{suffix}"
        write(table, path)
        return path, {}

    return store


STORES: dict[str, Store] = {
    "CSV": file(".csv", lambda table, path: table.to_pandas(date_as_object=True).to_csv(path, index=False)),
    "JSON lines": file(".jsonl", WRITERS[".jsonl"]),
    "Parquet": file(".parquet", pq.write_table),
    "Feather": file(".feather", feather.write_feather),
    "pandas": lambda table, _: (table.to_pandas(), {}),
    "Polars": lambda table, _: (polars.from_arrow(table), {}),
    "Arrow": lambda table, _: (table, {}),
}
for module in added("sources.ways"):
    STORES |= module.STORES


def outcome(way: str, store: str, folder: Path) -> str | None:
    """Return how a way is read in a kind of table; None where that kind cannot hold it."""
    written = WAYS[way]
    at = [row % len(written.cells) for row in range(ROWS)]
    table = pa.table({"id": pa.array(range(1, ROWS + 1), pa.int64()), "x": [written.cells[place] for place in at]})
    try:
        data, form = STORES[store](table, folder)
    except Exception:  # noqa: BLE001  # each library has its own way to say that it has no such type
        return None
    try:
        options = {"form": form} if form else {}
        plan = dps.plan(data, {"x": written.column}, epsilon=1, tables=1, mechanism="independent", **options)
    except InputError:
        return REFUSED
    if any("column 'x'" in line for line in plan.survey().value):
        return SURVEYED
    (attribute,) = plan.sealed.domain
    counted = synthesis.open_source(plan.sealed).counts([("x",)])[("x",)]
    wanted = np.bincount([_cell(attribute.cell_labels(), written.means[place]) for place in at], minlength=attribute.size)
    return UNDERSTOOD if np.array_equal(counted, wanted) else SILENT


def _cell(labels: Sequence[str], meant: str) -> int:
    if meant in labels:
        return labels.index(meant)
    (cell,) = (place for place, label in enumerate(labels) if label.startswith(meant))
    return cell


def outcomes(ways: Sequence[str], stores: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the outcome of each way in each kind of table that can hold it."""
    for way in ways:
        for store in stores:
            with tempfile.TemporaryDirectory() as folder:
                if (found := outcome(way, store, Path(folder))) is not None:
                    yield way, store, found


def main() -> None:
    """Print each way with its outcome by kind of table, then how many cells of the table have which outcome."""
    signs = {UNDERSTOOD: "+", REFUSED: "r", SURVEYED: "s", SILENT: "SILENT"}
    stores, found = list(STORES), Counter[str]()
    print("way;" + ";".join(stores))
    for way in sys.argv[1:] or WAYS:
        row = {store: one for _, store, one in outcomes([way], stores)}
        found.update(row.values())
        print(";".join([way, *(signs[row[store]] if store in row else "" for store in stores)]), flush=True)
    print(
        f"{sum(found.values()):,} cells, {len(sys.argv[1:] or WAYS)} ways: "
        + ", ".join(f"{count:,} {name}" for name, count in found.most_common())
    )
    sys.exit(found[SILENT] > 0)


if __name__ == "__main__":
    main()
