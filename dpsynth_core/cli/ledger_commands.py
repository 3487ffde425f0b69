"""`ledger check`, `ledger export`, `ledger restore`, `ledger rules` and `ledger key`.

They concern the ledger of the whole installation, its rules, and the key that signs its releases.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dpsynth_core.cli.options import Commands, add_command
from dpsynth_core.cli.terminal import FAILED, print_message, print_result, print_text
from dpsynth_core.foundation.documents import read_document

if TYPE_CHECKING:
    from dpsynth_core.store.chain import Entry


def add(commands: Commands) -> None:
    """Declare the command `ledger` with its parts check, export, restore, rules and key."""
    ledger = commands.add_parser("ledger", help="check, export or restore the ledger in DPSYNTH_HOME; print its key", allow_abbrev=False)
    parts = ledger.add_subparsers(title="commands", required=True, metavar="COMMAND")
    check = add_command(parts, "check", _check, "is the ledger whole, and what is charged? ends with 0 if it is, 1 if not")
    check.add_argument("--head", metavar="HASH", help="the hash of an entry that was noted elsewhere; at least 16 of its characters")
    export = add_command(parts, "export", _export, "print every entry")
    export.add_argument("--format", choices=("json", "csv"), default="json", help="default: %(default)s, which `ledger check` reads")
    restore = add_command(parts, "restore", _restore, "accept a ledger that is not whole, with a reason, as it is")
    restore.add_argument("--reason", metavar="TEXT", required=True, help="why it may go on; kept in the ledger")
    house = add_command(parts, "rules", _rules, "put rules of the house in force, which every plan has to keep")
    house.add_argument("rules", metavar="FILE", type=Path, help="rules in JSON, as docs/office.md says")
    house.add_argument("--reason", metavar="TEXT", required=True, help="why; kept in the ledger")
    add_command(parts, "key", _key, "print the public key that signs this installation's releases, for `verify --key`")
    for parser, what in ((check, "check this JSON export instead"), (restore, "a JSON export with entries that the ledger has lost")):
        parser.add_argument("export", metavar="EXPORT", type=Path, nargs="?", help=what)


def _check(options: argparse.Namespace) -> int:
    from dpsynth_core.store import auditing

    audit = auditing.audit_export(_read_export(options.export)) if options.export else auditing.audit()
    if not audit.problem and options.head:
        audit = audit.holding(options.head)
    for line in audit.lines:
        print_result(line)
    print_result(
        f"NOT WHOLE: {audit.problem}" if audit.problem else "whole: every entry follows from the one before, and none is missing at the end"
    )
    return FAILED if audit.problem else 0


def _export(options: argparse.Namespace) -> None:
    from dpsynth_core.store import auditing, chain

    write = auditing.to_csv if options.format == "csv" else auditing.to_json
    print_text(write(chain.entries()))


def _restore(options: argparse.Namespace) -> None:
    from dpsynth_core.store import home, restoring

    head = restoring.restore(home.LOCAL_OWNER, options.reason, _read_export(options.export) if options.export else ())
    print_message(f"done: the ledger goes on from entry {head.number}; releases will say that it was accepted by hand")
    print_result(f"head: {head}")


def _rules(options: argparse.Namespace) -> None:
    from dpsynth_core.store import home, rules

    print_result(f"rules: {rules.put_in_force(home.LOCAL_OWNER, read_document(options.rules, 'FILE'), options.reason)}")


def _key(_: argparse.Namespace) -> None:
    from dpsynth_core.store import signing

    print_result(signing.public_key())
    print_message("announce it where recipients look for it, apart from the bundles")


def _read_export(path: Path) -> tuple[Entry, ...]:
    from dpsynth_core.store import auditing

    return auditing.read(read_document(path, "EXPORT"))
