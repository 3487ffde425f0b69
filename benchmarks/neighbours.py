"""Compare random neighbouring text files: ``python -m benchmarks.neighbours [--pairs N] [--seed N] [--first N]``.

Two tables that differ in one person's lines must differ in that person's records alone. The tables are those of
`tests.sources.neighbouring`: CSV in every quoting and JSON lines, in many encodings, packed or not, in one file or several, with a person
column in first place or without one, read in tiny blocks. Prints as Markdown what was tried and what was found. Exit code 1 if there is a
finding, which says its family: `--pairs 1 --first FAMILY` tries it again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from itertools import count

from tests.sources.neighbouring import family


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.neighbours", description=__doc__)
    parser.add_argument("--pairs", type=int, default=20_000, help="at least so many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first family (default: %(default)s)")
    options = parser.parse_args()
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
    print("| | | pairs |\n|---|---|---|")
    for (what, value), n in sorted(tried.items()):
        print(f"| {what} | {value} | {n:,} |")
    print(f"| **all** | {time.process_time() - start:,.0f} s of processor time | {pairs:,} |\n| **wrong** | | {found:,} |")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
