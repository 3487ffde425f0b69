"""`queries`: answers of a bundle to written queries, from the bundle alone."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpsynth_core.cli.options import Commands, add_command, whole
from dpsynth_core.cli.terminal import print_result
from dpsynth_core.foundation.confined import Ended, Work
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.documents import read_document
from dpsynth_core.foundation.errors import CapacityError, InputError, shown

WORK = "dpsynth_core.extensions.queries.work:answered"
_WAIT = 10
"""Factor from the seconds of work to the wait for the answer, for a busy machine."""


def add(commands: Commands) -> None:
    """Declare the command `queries`."""
    about = "answer queries such as “at least 2 of smoker=yes, bmi>=30, age>=60” from a bundle, with an interval where one is known"
    parser = add_command(commands, "queries", _queries, about)
    parser.add_argument("bundle", metavar="BUNDLE", type=Path, help="release.zip, or the folder it was unpacked into")
    form = "a query: all of, any of or at least N of conditions, weighted as W*CONDITION; may be repeated"
    parser.add_argument("--query", metavar="TEXT", action="append", default=[], help=form)
    lines = "a text file with a query on each line; lines that begin with # are left out"
    parser.add_argument("--file", metavar="FILE", type=Path, help=lines)
    counts = "print numbers of people, and not their shares of everybody"
    parser.add_argument("--count", action="store_const", dest="statistic", const="count", default="share", help=counts)
    parser.add_argument("--memory", metavar="MB", default="1024", help="that it may take (default: %(default)s)")
    parser.add_argument("--seconds", metavar="N", default="30", help="of work that it may take (default: %(default)s)")


def _queries(options: argparse.Namespace) -> None:
    texts = list(options.query)
    if options.file is not None:
        lines = (line.strip() for line in read_document(options.file, "--file").splitlines())
        texts += [line for line in lines if line and not line.startswith("#")]
    limits = Limits(megabytes=_whole(options.memory, "--memory"), seconds=_whole(options.seconds, "--seconds"))
    place = str(options.bundle.absolute())
    try:
        with Work(WORK, place, texts, options.statistic, limits=limits, files=[place], patience=_WAIT * limits.seconds) as said:
            for line in said:
                print_result(str(line))
    except Ended as ended:
        problem = f"asking it {ended.problem}"
        if ended.beyond:
            raise CapacityError("bundle", problem, "if you trust whoever made it, allow more with --memory and --seconds") from None
        raise InputError("bundle", problem, "check the bundle with `verify` first") from None


def _whole(text: str, option: str) -> int:
    value = whole(text)
    if not value or value > 10**6:
        raise InputError(option, f"{shown(text)} cannot be used", "give a whole number from 1 to 1000000")
    return value
