"""`verify`, `reproduce`, `ask`, `sample` and `compare`: what a recipient does with a release bundle, from the bundle alone."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpsynth_core.cli.options import Commands, add_command, check_writable, number
from dpsynth_core.cli.terminal import FAILED, UNCHECKED, print_message, print_result
from dpsynth_core.foundation import interrupts, sandbox
from dpsynth_core.foundation.asked_files import asked_file
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.documents import read_document
from dpsynth_core.foundation.errors import InputError, OracleError, shown
from dpsynth_core.foundation.processors import available
from dpsynth_core.release.row_formats import FORMATS

if TYPE_CHECKING:
    from dpsynth_core.release.release import Progress


def add(commands: Commands) -> None:
    """Declare the commands of recipients: verify, reproduce, ask, sample and compare."""
    check = add_command(commands, "verify", _verify, "check what a release bundle says, from the bundle alone")
    again = add_command(commands, "reproduce", _reproduce, "make the rows of a release bundle again, from the bundle alone")
    again.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for synthetic.csv and synthetic.parquet")
    question = add_command(commands, "ask", _ask, "answer a question from a bundle, with an interval where one is known, at no cost")
    more = add_command(commands, "sample", _sample, "draw more rows, or rows of a group, from a bundle's model, at no cost")
    more.add_argument("--rows", metavar="N", required=True, help="how many")
    group = "only people with this value; of one column several are any of them, of several columns all must hold"
    more.add_argument("--where", metavar="COLUMN=VALUE", action="append", default=[], help=group)
    more.add_argument("--seed", metavar="S", default="1", help="another number gives other rows (default: %(default)s)")
    endings = ", ".join([one.ending for one in FORMATS.values()][:5])
    more.add_argument("--output", metavar="FILE", type=Path, required=True, help=f"by its ending {endings}, ...")
    two = add_command(commands, "compare", _compare, "what changed between two releases, with the noise of both, from their bundles alone")
    two.add_argument("before", metavar="BEFORE", type=Path, help="release.zip, or the folder it was unpacked into")
    two.add_argument("after", metavar="AFTER", type=Path, help="the same of the later release")
    two.add_argument("--report", metavar="FILE", type=Path, required=True, help="where to write what changed: .html or .md")
    key = "the publisher's public key, as `ledger key` prints it, or a file with it: a bundle that this key did not sign fails"
    check.add_argument("--key", metavar="KEY_OR_FILE", help=key)
    check.add_argument("--report", metavar="FILE", type=Path, help="write the report there, as this program writes it from release.json")
    for parser in (check, again, question, more, two):
        memory, seconds = ("1024", "30") if parser in (check, question, two) else ("4096", "600")
        parser.add_argument("--memory", metavar="MB", dest="megabytes", help=f"that it may take (default: {memory})")
        parser.add_argument("--seconds", metavar="N", help=f"of work that it may take (default: {seconds})")
    for parser in (check, again, question, more):
        parser.add_argument("bundle", metavar="BUNDLE", type=Path, help="release.zip, or the folder it was unpacked into")
    for parser in (check, again, more):
        parser.add_argument("--public", metavar="FILE", type=Path, help="the public table, if the release used one; nothing else is opened")
    _add_question(question)


def _add_question(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("statistic", choices=("count", "share", "mean", "median", "difference", "table"), help="what is asked for")
    cells = "COLUMN=VALUE such as age=20..39 (several of one column: any of them); of households also 'some member age=0..15'"
    parser.add_argument("--of", metavar="WHAT", action="append", default=[], help="a column for mean, median and table, or " + cells)
    parser.add_argument("--among", metavar="COLUMN=VALUE", action="append", default=[], help="the group (default: everybody)")
    parser.add_argument("--versus", metavar="COLUMN=VALUE", action="append", default=[], help="the other group, of a difference")
    parser.add_argument("--by", metavar="COLUMN", help="an answer for each of its values")
    parser.add_argument("--weighted", action="store_true", help="people count as their survey weight says")


def _verify(options: argparse.Namespace) -> int:
    from dpsynth_core.bundle import confined, verdicts
    from dpsynth_core.bundle.signature import parse_key

    key = options.key
    if key is not None:  # or the name of a file that has it
        key = parse_key(read_document(Path(key), "--key") if os.path.isfile(key) else key, "--key")
    if lacking := sandbox.lacking():
        print_message(f"note: {lacking}")
    report = confined.verified(options.bundle, _limits(options, Limits()), options.public)
    report = report if key is None else report.by(key)
    for check in report.checks:
        print_result(f"{check.verdict}: {check.question} {check.detail}")
    if report.sha256:
        print_result(f"SHA-256 of the bundle: {report.sha256}")
    conclusions = {
        verdicts.CONSISTENT: "consistent: nothing that can be checked is wrong.",
        verdicts.PARTLY: f"consistent as far as checked; not checked: {' '.join(report.unchecked)}",
        verdicts.INCONSISTENT: "NOT CONSISTENT: do not rely on this bundle",
    }
    if options.report is not None and report.page and report.verdict != verdicts.INCONSISTENT:
        with asked_file(options.report, "--report") as stream:
            stream.write(report.page.encode())
    print_result(f"{conclusions[report.verdict]} {report.unseen}".strip())
    return {verdicts.CONSISTENT: 0, verdicts.PARTLY: UNCHECKED, verdicts.INCONSISTENT: FAILED}[report.verdict]


def _ask(options: argparse.Namespace) -> None:
    from dpsynth_core.bundle import confined
    from dpsynth_core.report.asking import Asked

    typed = Asked(options.statistic, options.of, options.among, options.versus, options.by, options.weighted)
    for line in confined.asked(options.bundle, typed, _limits(options, Limits())):
        print_result(line)


def _sample(options: argparse.Namespace) -> None:
    from dpsynth_core.bundle import confined

    limits = _limits(options, Limits(megabytes=4096, seconds=600, processors=available()))
    file = options.output.name
    fitting = [one for one in FORMATS.values() if file.lower().endswith(one.ending)]
    if not fitting:
        endings = ", ".join(one.ending for one in FORMATS.values())
        raise InputError("--output", f"{shown(file)} has no ending of a known format", f"use one of {endings}")
    form = max(fitting, key=lambda one: len(one.ending)).name
    wanted = confined.Wanted(_whole(options.rows, "--rows"), tuple(options.where), _whole(options.seed, "--seed"), form, file)
    with asked_file(options.output, "--output") as stream:
        drawn = confined.sampled(options.bundle, stream, wanted, limits, _show, options.public)
    for name, text in drawn.beside.items():
        with asked_file(options.output.with_name(name), "--output") as stream:
            stream.write(text.encode())
    print_message(f"done: {wanted.rows:,} rows written to {options.output}; nothing was charged")
    print_result(drawn.errors)


def _show(progress: Progress) -> None:
    """Print a step of a refit. Its spent budget is left out, because refitting spends none.

    The measurements are taken from the release, whose run was charged for them.

    Args:
        progress: A measured marginal or a phase; other kinds print nothing.
    """
    interrupts.check()
    if progress.kind == "measured":
        what = " x ".join(progress.attributes) or "the number of records"
        print_message(f"round {progress.round}: {what} as released, {progress.done:.0%} done")
    elif progress.kind == "phase":
        print_message(progress.message)


def _compare(options: argparse.Namespace) -> None:
    from dpsynth_core.bundle import confined

    form = options.report.suffix.lower().removeprefix(".")
    if form not in ("html", "md"):
        raise InputError("--report", f"{shown(options.report.name)} is neither", "name a file that ends in .html or .md")
    lines, report = confined.compared(options.before, options.after, form, _limits(options, Limits()))
    with asked_file(options.report, "--report") as stream:
        stream.write(report)
    for line in lines:
        print_result(line)
    print_message(f"done: written to {options.report}; the bundles were not checked, which `verify` does")


def _whole(text: str, option: str) -> int:
    value = number(text)
    if not isinstance(value, int) or not 0 <= value < 2**63:
        raise InputError(option, f"{shown(text)} cannot be used", "give a whole number")
    return value


def _limits(options: argparse.Namespace, default: Limits) -> Limits:
    given = {name: number(getattr(options, name)) for name in ("megabytes", "seconds") if getattr(options, name) is not None}
    for name, value in given.items():
        if not isinstance(value, int) or not 1 <= value <= 10**6:
            option = "--memory" if name == "megabytes" else "--seconds"
            raise InputError(option, f"{shown(value)} cannot be used", "give a whole number from 1 to 1000000")
    return replace(default, **given)


def _reproduce(options: argparse.Namespace) -> int:
    from dpsynth_core.bundle import confined

    limits = _limits(options, Limits(megabytes=4096, seconds=600, processors=available()))
    check_writable(options.out)
    try:
        again = confined.reproduced(options.bundle, options.out, limits, _show, options.public)
    except OracleError as error:  # the input is not wrong, and nothing was charged either
        print_message(f"error: {error}; nothing was written")
        return FAILED
    where = f", written to {options.out}" if again.rows else ""
    if not again.different:
        print_message(f"done: all of the release is as published, to the last bit{where}")
        return 0
    why = f" (others here: {', '.join(again.versions)})" if again.versions else ""
    print_message(f"done, but not the same: {', '.join(again.different)}{why}{where}")
    return FAILED
