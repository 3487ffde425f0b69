"""`changes`: what changed between two releases of a table, beyond the noise of both."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpsynth_core.cli.options import Commands, add_command, number, whole
from dpsynth_core.cli.terminal import print_message, print_result
from dpsynth_core.foundation.errors import InputError, shown

_SHOWN = 30
"""Changed cells that are printed."""


def add(commands: Commands) -> None:
    """Declare the command `changes`."""
    about = "check two releases of a table, and say what changed between them beyond the noise of both"
    parser = add_command(commands, "changes", _changes, about)
    for name, which in (("before", "the earlier release"), ("after", "the later one")):
        parser.add_argument(
            name, metavar=f"{name.upper()}.zip", type=Path, help=f"{which}: release.zip, or the folder it was unpacked into"
        )
    parser.add_argument(
        "--report", metavar="FILE", type=Path, action="append", default=[], help="report to write: .html or .csv; may be repeated"
    )
    how = "how many cells are corrected for: holm (no false change) or bh (few false changes) (default: %(default)s)"
    parser.add_argument("--correction", metavar="NAME", default="holm", help=how)
    sampled = "count the sampling error too: 1 for simple random samples, or the design effect of the survey"
    parser.add_argument("--sampling", metavar="EFFECT", help=sampled)
    parser.add_argument("--memory", metavar="MB", default="1024", help="memory of each check, in megabytes (default: %(default)s)")
    parser.add_argument("--seconds", metavar="N", default="30", help="processor seconds of each check (default: %(default)s)")


def _changes(options: argparse.Namespace) -> None:
    from dpsynth_core.extensions.repeated.changes_report import TITLES
    from dpsynth_core.extensions.repeated.changes_work import NAMES, found
    from dpsynth_core.foundation.asked_files import asked_file
    from dpsynth_core.foundation.confinement import Limits

    for place in options.report:
        if place.suffix.lower() not in (".html", ".csv"):
            raise InputError("--report", f"{shown(place.name)} is neither", "name a file that ends in .html or .csv")
    sampling = None if options.sampling is None else number(options.sampling)
    limits = Limits(megabytes=_whole(options.memory, "--memory"), seconds=_whole(options.seconds, "--seconds"))
    made = found(options.before, options.after, options.correction, sampling, limits)
    for place in options.report:
        with asked_file(place, "--report") as stream:
            stream.write(made.html if place.suffix.lower() == ".html" else made.csv)
    for line in made.summary:
        print_result(line)
    for cells in made.changed[:_SHOWN]:
        print_result(
            "; ".join(f"{title} {cell}" if title != TITLES[0] else cell for title, cell in zip(TITLES, cells, strict=True) if cell)
        )
    if len(made.changed) > _SHOWN:
        print_result(f"... and {len(made.changed) - _SHOWN:,} more, which --report writes")
    print_result("What can't be said:")
    for line in made.unsaid:
        print_result(f"- {line}")
    for name, questions in zip(NAMES, made.open, strict=True):
        for question in questions:
            print_message(f"note: {name}: not checked: {question}")
    print_message(f"done: both bundles were checked{''.join(f'; written to {place}' for place in options.report)}")


def _whole(text: str, option: str) -> int:
    value = whole(text)
    if not value or value > 10**6:
        raise InputError(option, f"{shown(text)} cannot be used", "give a whole number from 1 to 1000000")
    return value
