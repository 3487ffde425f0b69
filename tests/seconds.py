"""Write `seconds.json` anew, on a machine with nothing else to do, after `make test` and `make test-rest`:

python -m tests.seconds test-artifacts/test.xml test-artifacts/rest.xml
"""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean

LEAST = 0.005
"""Shorter ones are left out."""


def seconds_of_a_case(reports: Iterable[Path]) -> dict[str, float]:
    """The mean over the cases of each test in the first report that has it, by its name."""
    means: dict[str, float] = {}
    for report in reports:
        cases: dict[str, list[float]] = {}
        for case in ElementTree.parse(report).iter("testcase"):
            cases.setdefault(str(case.get("name")).partition("[")[0], []).append(float(case.get("time", 0)))
        means = {name: fmean(times) for name, times in cases.items()} | means
    return {name: round(mean, 3) for name, mean in sorted(means.items()) if mean >= LEAST}


if __name__ == "__main__":
    written = json.dumps(seconds_of_a_case(map(Path, sys.argv[1:])), indent=0)
    Path(__file__).with_name("seconds.json").write_text(f"{written}\n", encoding="utf-8")
