"""`domain`: a domain from what a file says of itself, with what is still to be said marked."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.cli import table_options
from dpsynth_core.cli.options import add_command
from dpsynth_core.cli.table_options import DATABASES, FILES, PEOPLE, place
from dpsynth_core.cli.terminal import print_message
from dpsynth_core.foundation.errors import InputError, shown

if TYPE_CHECKING:
    from dpsynth_core.cli.options import Commands


def add(commands: Commands) -> None:
    about = "write a domain from what a file or a codebook says of its columns; no record is read"
    parser = add_command(commands, "domain", _domain, about)
    others = "a DDI codebook (.xml); a domain of google/dpsynth, SmartNoise or SDV (.yaml, .json)"
    parser.add_argument("data", metavar="FILE", type=place, help=f"{FILES}; {DATABASES}; {others}; or {PEOPLE}")
    parser.add_argument("--out", metavar="DOMAIN.json", type=Path, required=True, help="must not be there yet")
    table_options.add_table_options(parser)
    table_options.add_database_options(parser)


def _declared(options: argparse.Namespace) -> dict[str, Any]:
    if table_options.is_demo(options):
        return table_options.demo_domain()
    from dpsynth_core.foundation.documents import read_document
    from dpsynth_core.sources.files import declared_domain
    from dpsynth_core.vocabulary import ddi, peers

    if table_options.is_database(options):
        from dpsynth_core.sources.databases.connect import DatabaseTable
        from dpsynth_core.vocabulary.declared import domain_json

        return domain_json(DatabaseTable(table_options.database_section(options)).declared)
    if Path(options.data).suffix.lower() == ".xml":
        return ddi.declared_domain(read_document(options.data, "data"))
    if Path(options.data).suffix.lower() in peers.SUFFIXES:
        made, identifiers = peers.read(read_document(options.data, "data"))
        if identifiers:
            print_message(f"left out, for they are identifiers: {_some(identifiers)}")
        return made
    return declared_domain(options.data, table_options.stated_format(options))


def _domain(options: argparse.Namespace) -> None:
    from dpsynth_core.vocabulary.declared import KINDS_LINE, guessed

    made, left_out = guessed(_declared(options))
    try:
        with options.out.open("x", encoding="utf-8") as stream:
            stream.write(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
    except FileExistsError:
        raise InputError("--out", f"{shown(options.out)} is there already", "name another file") from None
    except OSError:
        raise InputError("--out", f"{shown(options.out)} cannot be written", "name a file that you may write") from None
    open_ones = [entry["name"] for entry in made["attributes"] if "to_do" in entry]
    done = len(made["attributes"]) - len(open_ones)
    if left_out:
        print_message(f"left out, for their names promise identifiers or free text: {_some(left_out)}")
    print_message(f"done: {done} columns are declared, written to {options.out}")
    print_message("note: labels are public only if they were before anybody answered; look through them before you use the domain")
    if open_ones:
        print_message(f'still to be said ("to_do" in the file): {_some(open_ones)}; {KINDS_LINE}')


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
