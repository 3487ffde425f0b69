"""`hospital`: an invented hospital's stays, and the domain of their columns, to try rows in order with."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from dpsynth_core.cli.options import Commands, add_command, check_writable, whole
from dpsynth_core.cli.terminal import print_message
from dpsynth_core.foundation.errors import InputError, shown

STAYS, DOMAIN = "stays.csv", "stays.json"
MOST = 1_000_000


def add(commands: Commands) -> None:
    """Declare the command `hospital` and its options."""
    parser = add_command(commands, "hospital", _hospital, "write the stays of invented patients, in order, and the domain of their columns")
    parser.add_argument("out", metavar="DIR", type=Path, help=f"folder for {STAYS} and {DOMAIN}")
    parser.add_argument("--patients", metavar="N", default="20000", help="how many, up to a million (default: %(default)s)")
    parser.add_argument("--seed", metavar="S", default="7", help="another number gives other patients (default: %(default)s)")


def _hospital(options: argparse.Namespace) -> None:
    from dpsynth_core.extensions.sequences import hospital
    from dpsynth_core.foundation.private_files import private_file

    patients, seed = _whole("--patients", options.patients, 1), _whole("--seed", options.seed, 0)
    check_writable(options.out)
    files = {STAYS: hospital.simulate(patients, seed).to_csv(index=False), DOMAIN: json.dumps(hospital.domain().to_json(), indent=1)}
    for name, text in files.items():
        with private_file(options.out / name) as stream:
            stream.write(text.encode())
    print_message(f"done: stays of {patients:,} invented patients in {options.out / STAYS}, their columns in {options.out / DOMAIN}")


def _whole(option: str, text: str, least: int) -> int:
    """Return the whole number that an option states.

    Raises:
        InputError: The text is not a whole number, or the number is not from `least` to `MOST`.
    """
    number = whole(text)
    if number is None or not least <= number <= MOST:
        raise InputError(option, f"{shown(text)} is no whole number from {least} to {MOST:,}", "give such a number")
    return number
