"""Compare random neighbouring files: ``python -m benchmarks neighbours [--pairs N] [--unstated N] [--seed N] [--first N]``.

Two tables that differ in one person's lines must differ in that person's records alone. Two sets are tried.

Stated: the tables of `tests.sources.neighbouring`, CSV in every quoting and JSON lines, in many encodings, packed or not, in one file or
several, with a person column in first place or without one, read in tiny blocks, as their form says: so many pairs or more.

Unstated: the tables of `tests.sources.default_road`, CSV, JSON lines, Parquet, Feather and workbooks, in files, folders of like or mixed
files and as two linked tables, opened by their path alone: so many pairs or more. A table that is refused is in no pair; it counts as
right where SECURITY.md lists the refusal.

Both begin with the family of number `--first`. Prints as Markdown what was tried and what was found. Exit code 1 if there is a finding,
which says its family: `--pairs 1 --unstated 1 --first FAMILY` tries it again.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import count

from benchmarks import record
from tests.sources import default_road
from tests.sources.neighbouring import family


def main() -> int:
    options = record.options(__doc__, pairs=20_000, unstated=20_000, seed=0, first=0).parse_args()
    found = _stated(options.seed, options.first, options.pairs)
    print()
    found += _by_default(options.seed, options.first, options.unstated)
    return 1 if found else 0


def _stated(seed: int, first: int, wanted: int) -> int:
    tried: Counter[tuple[str, str]] = Counter()
    found, start = 0, time.process_time()
    for number in count(first):
        one = family(seed, number)
        form, layout = one.layout.form, one.layout
        for what, value in (
            ("records", form.quoting if form.kind == "csv" else form.kind),
            ("encoding", form.encoding),
            ("first line", "header" if layout.headed else "record"),
            ("line end", repr(layout.end)),
            ("packed", layout.packing or "no"),
            ("rows per person", str(layout.limit or "no person column")),
        ):
            tried[what, value] += one.pairs
        found += _said(seed, number, one.wrong)
        if (pairs := sum(n for (what, _), n in tried.items() if what == "records")) >= wanted:
            break
    rows = [(what, value, f"{n:,}") for (what, value), n in sorted(tried.items())]
    rows += [("**all**", f"{time.process_time() - start:,.0f} s of processor time", f"{pairs:,}"), ("**wrong**", "", f"{found:,}")]
    print("\n".join(record.table(("stated", "", "pairs"), rows)))
    return found


def _by_default(seed: int, first: int, wanted: int) -> int:
    tried: Counter[tuple[str, str, str]] = Counter()
    found, start = 0, time.process_time()
    for number in count(first):
        one = default_road.family(seed, number)
        for what, much in (("tables", one.tables), ("refused", one.refused), ("pairs", one.pairs)):
            tried[one.layout.kind, one.layout.name, what] += much
        found += _said(seed, number, one.wrong)
        if sum(n for (_, _, what), n in tried.items() if what == "pairs") >= wanted:
            break
    kinds = sorted({(kind, where) for kind, where, _ in tried})
    rows = [(kind, where, *(f"{tried[kind, where, what]:,}" for what in ("tables", "refused", "pairs"))) for kind, where in kinds]
    totals = (f"{sum(n for (_, _, what), n in tried.items() if what == asked):,}" for asked in ("tables", "refused", "pairs"))
    rows += [("**all**", f"{time.process_time() - start:,.0f} s of processor time", *totals), ("**wrong**", "", f"{found:,}", "", "")]
    print("\n".join(record.table(("unstated", "", "tables", "refused", "pairs"), rows)))
    return found


def _said(seed: int, number: int, wrong: Sequence[str]) -> int:
    for one in wrong:
        print(f"seed {seed}, family {number}: {one}", file=sys.stderr, flush=True)
    return len(wrong)
