"""Compare random neighbouring text files: ``python -m benchmarks neighbours [--pairs N] [--seed N] [--first N]``.

Two tables that differ in one person's lines must differ in that person's records alone. The tables are those of
`tests.sources.neighbouring`: CSV in every quoting and JSON lines, in many encodings, packed or not, in one file or several, with a person
column in first place or without one, read in tiny blocks: so many pairs or more, from the family of number `--first` on. Prints as Markdown
what was tried and what was found. Exit code 1 if there is a finding, which says its family: `--pairs 1 --first FAMILY` tries it again.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from itertools import count

from benchmarks import record
from tests.sources.neighbouring import family


def main() -> int:
    options = record.options(__doc__, pairs=20_000, seed=0, first=0).parse_args()
    tried: Counter[tuple[str, str]] = Counter()
    found, start = 0, time.process_time()
    for number in count(options.first):
        one = family(options.seed, number)
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
        for wrong in one.wrong:
            found += 1
            print(f"seed {options.seed}, family {number}: {wrong}", file=sys.stderr, flush=True)
        if (pairs := sum(n for (what, _), n in tried.items() if what == "records")) >= options.pairs:
            break
    rows = [(what, value, f"{n:,}") for (what, value), n in sorted(tried.items())]
    rows += [("**all**", f"{time.process_time() - start:,.0f} s of processor time", f"{pairs:,}"), ("**wrong**", "", f"{found:,}")]
    print("\n".join(record.table(("", "", "pairs"), rows)))
    return 1 if found else 0
