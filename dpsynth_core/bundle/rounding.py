"""What may differ in a bundle that other libraries or another processor wrote: the last digits of numbers, and how tables are packed.

So release.json must still be laid out as this program writes it and the page of questions must hold the same data, up to rounding; and the
pages for readers must hold every sentence that is made of numbers in release.json alone. What a reader would run has no excuse at all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from dpsynth_core import report
from dpsynth_core.bundle.pack import SCRIPT
from dpsynth_core.bundle.unpack import parsed
from dpsynth_core.foundation.content import Content, held
from dpsynth_core.release import document as releases
from dpsynth_core.release.release import Release
from dpsynth_core.report.explore import EXPLORE, block

NUMBERS = (releases.DOCUMENT, EXPLORE)
"""Files that hold the same if their numbers do."""
PROGRAMS = (SCRIPT, report.NOTEBOOK)
"""Files that a reader would run: no number in them is rounded."""


def contradictions(release: Release, theirs: Mapping[str, Content], ours: Mapping[str, bytes], different: Sequence[str]) -> list[str]:
    """Which of the files that differ say something else. ours: the files as they are written here. Raises InputError for JSON with an
    entry that is there twice."""
    sentences = report.unrounded(release)
    wrong = []
    for name in different:
        if name in NUMBERS:
            same = name in theirs and _same_numbers(name, theirs[name], ours[name])
        elif name in PROGRAMS:
            same = False
        else:
            same = name not in sentences or (name in theirs and all(one in theirs[name].read() for one in sentences[name]))
        if not same:
            wrong.append(name)
    return wrong


def _same_numbers(name: str, theirs: Content, ours: bytes) -> bool:
    if name == releases.DOCUMENT:
        stated = parsed(name, theirs)
        same_layout, written = releases.written(stated) == theirs.read(), json.loads(ours)
    else:
        page = block(theirs.read())
        stated, written = parsed(name, held(page)), json.loads(block(ours))
        same_layout = True  # its frame is looked at where pages are
    return same_layout and alike(stated, written) and alike(written, stated)


def alike(a: Any, b: Any) -> bool:
    """Equal documents, numbers up to rounding; b may have more entries."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() <= b.keys() and all(alike(value, b[key]) for key, value in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
    return bool(a == b)
