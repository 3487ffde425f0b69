"""`audit`: tries to tell invented neighbouring tables apart by what is released.

Exit codes: 0 nothing found, 3 a promise is broken.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dpsynth_core.cli.options import Commands, add_command, add_setting, number, settings
from dpsynth_core.cli.terminal import print_message, print_result
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.planning.defaults import DELTA

if TYPE_CHECKING:
    from dpsynth_core.extensions.audit.report import Audited
    from dpsynth_core.privacy.view import Noise

VIOLATED = 3
_OF_A_MECHANISM = ("epsilon", "delta", "relation", "rows_per_person")


def add(commands: Commands) -> None:
    """Declare the command `audit` and its options."""
    audit = add_command(commands, "audit", _audit, "try to tell invented neighbouring tables apart by what is released")
    what = audit.add_mutually_exclusive_group(required=True)
    what.add_argument("--mechanism", metavar="NAME", help="on three columns of two values; see the command mechanisms")
    what.add_argument("--spec", metavar="SPEC.json", type=Path, help="a spec's mechanism, settings, unit and budget; its data stay closed")
    what.add_argument("--operations", action="store_true", help="every operation of the privacy kernel, for every unit of privacy")
    audit.add_argument("--epsilon", help="the larger, the more a number of draws shows")
    audit.add_argument("--delta", help=f"default: {DELTA:g}")
    audit.add_argument("--relation", help="add-remove | replace (default: add-remove)")
    audit.add_argument("--rows-per-person", metavar="M", help="default: 1")
    audit.add_argument("--draws", metavar="N", default="1000", help="runs on either table (default: %(default)s)")
    add_setting(audit)


def _audit(options: argparse.Namespace) -> int:
    from dpsynth_core.extensions.audit import report
    from dpsynth_core.privacy.noise import OpenDPNoise

    audited = []
    for one in _audits(options, OpenDPNoise()):
        audited.append(one)
        for line in one.lines():
            print_result(line)
    print_result(report.CANNOT)
    print_result(report.conclusion(audited))
    return VIOLATED if any(one.broken for one in audited) else 0


def _audits(options: argparse.Namespace, noise: Noise) -> Iterator[Audited]:
    """Yield the audit of each pair of neighbouring tables that the options ask for.

    Args:
        options: The options of the command `audit`.
        noise: The noise source of the audited kernel operations and mechanisms.

    Raises:
        InputError: An option is missing, unusable, or does not go with the others.
    """
    from dpsynth_core.extensions.audit import mechanisms, report
    from dpsynth_core.planning.spec import load_spec

    draws = number(options.draws)
    if not isinstance(draws, int) or not report.FEWEST_DRAWS <= draws <= report.MOST_DRAWS:
        wanted = f"give a whole number from {report.FEWEST_DRAWS} to {report.MOST_DRAWS}"
        raise InputError("--draws", f"{shown(options.draws)} cannot be used", wanted)
    if options.mechanism is None and (options.set or any(getattr(options, name) is not None for name in _OF_A_MECHANISM)):
        raise InputError("command line", "budget, unit and settings go with --mechanism", "leave them out, or name a mechanism")
    if options.operations:
        yield from report.of_operations(noise, draws)
        return
    if options.spec is not None:
        spec = load_spec(options.spec)
    else:
        if options.epsilon is None:
            raise InputError("--epsilon", "it is missing", "add it")
        budget = {"epsilon": number(options.epsilon), "delta": number(options.delta or str(DELTA))}
        rows = number(options.rows_per_person or "1")
        unit = {"relation": options.relation or "add-remove", "max_rows_per_person": rows, "person_column": "person"}
        spec = mechanisms.invented_spec(options.mechanism, budget, unit, settings(options.set))
    configuration, tenths = mechanisms.Configuration.of(spec), 0
    for sentence in configuration.left_out:
        print_message(f"note: {sentence}")

    def show(share: float) -> None:
        nonlocal tenths
        if int(10 * share) > tenths:
            tenths = int(10 * share)
            print_message(f"{tenths * 10}% of the runs are done")

    yield from report.of_mechanism(configuration, noise, draws, show)
