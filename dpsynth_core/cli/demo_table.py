"""`demo` in place of a file: the simulated people of `sources.demo`, with a domain of their own."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dpsynth_core.cli.table_options import STATED
from dpsynth_core.foundation.errors import InputError

DEMO = "demo"
PEOPLE = f"{DEMO}: 50,000 simulated people with a domain of their own"
SECTION: dict[str, Any] = {"kind": DEMO}
"""The spec's section about the data."""
NAME = "Simulated people"
_ENGINE = ("engine", "scheduler", "workers")


def is_demo(options: argparse.Namespace) -> bool:
    """Whether the simulated people are meant, which are no path (`database_options.place`). InputError for a file of that name beside them,
    and for options that say how a file is read."""
    if options.data != DEMO:
        return False
    if Path(DEMO).exists():
        remedy = f"write ./{DEMO} for what is here, or run this in another folder for the simulated people"
        raise InputError("data", f"{DEMO!r} means the simulated people, and there is a file or folder of that name here", remedy)
    for name in (*STATED, *_ENGINE):
        if getattr(options, name, None) not in (None, "here"):
            raise InputError(f"--{name.replace('_', '-')}", "the simulated people are in no file", "leave it out")
    return True


def demo_domain() -> dict[str, Any]:
    """Their domain, as a document."""
    from dpsynth_core.sources import demo

    return demo.demo_domain().to_json()
