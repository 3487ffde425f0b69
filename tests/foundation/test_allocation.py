"""A process that computes asks the system for the pages of a table once."""

from __future__ import annotations

import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
import numpy as np
from dpsynth_core.foundation import allocation
if sys.argv[1] == "kept":
    allocation.keep_freed_memory()
for _ in range(50):
    tables = [np.ones(125_000) for _ in range(20)]
    del tables
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
"""


def faults(how: str) -> int:
    return int(subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, check=True, text=True).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's setting")
def test_tables_that_are_made_again_and_again_take_their_pages_once() -> None:
    """Twenty tables of 1 MB have 4,900 pages of 4 KiB, which is 240,000 in all if they begin anew fifty times; some systems have larger
    pages."""
    assert faults("kept") < faults("given back") / 2
