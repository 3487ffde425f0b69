"""Run many hostile cases and say what broke, and the figures by group."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.hostile.attempts import Case
from tests.hostile.groups import GROUPS
from tests.hostile.trial import judge


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="of all groups together (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--group", choices=sorted(GROUPS), action="append", help="default: all")
    parser.add_argument("--only", type=int, help="this case of the group alone, with its output")
    options = parser.parse_args()
    chosen = options.group or list(GROUPS)
    broken: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    numbers = [options.only] if options.only is not None else range(-(-options.cases // len(chosen)))
    print("| group | cases | broken promises | seconds |\n|---|---|---|---|", flush=True)
    for group in chosen:
        start = time.process_time()
        for number in numbers:
            case = Case(group, options.seed, number)
            outcome = judge(case)
            taken[group] += 1
            if outcome.wrong or options.only is not None:
                broken[group] += bool(outcome.wrong)
                print(f"{case}: {'; '.join(outcome.wrong) or 'all is well'}", file=sys.stderr)
                print(f"  exit {outcome.code}: {outcome.stderr.strip()[-600:]}", file=sys.stderr)
        print(f"| {group} | {taken[group]:,} | {broken[group]:,} | {time.process_time() - start:,.0f} |", flush=True)
    print(f"| **all** | {taken.total():,} | {broken.total():,} | |")
    return 1 if broken.total() else 0


if __name__ == "__main__":
    sys.exit(main())
