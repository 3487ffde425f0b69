"""Write `seconds.json` anew: python -m tests.seconds test-artifacts/all.xml, after `make test-all` on a machine with nothing else to do."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

LEAST = 0.08
"""Shorter ones are left out."""


def slowest(report: Path) -> dict[str, float]:
    """Seconds of the slowest case of each test, by its name."""
    longest: dict[str, float] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = str(case.get("name")).partition("[")[0]
        longest[name] = max(longest.get(name, 0.0), float(case.get("time", 0)))
    return {name: round(seconds, 2) for name, seconds in sorted(longest.items()) if seconds >= LEAST}


if __name__ == "__main__":
    written = json.dumps(slowest(Path(sys.argv[1])), indent=0)
    Path(__file__).with_name("seconds.json").write_text(f"{written}\n", encoding="utf-8")
