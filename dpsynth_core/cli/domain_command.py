"""`domain`: a domain from what a file says of itself, with what is still to be said marked."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.cli import table_options
from dpsynth_core.cli.options import Commands, add_command, write_new
from dpsynth_core.cli.table_options import PEOPLE, TABLES, place
from dpsynth_core.cli.terminal import print_message
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.visible import listed

if TYPE_CHECKING:
    from dpsynth_core.vocabulary.foreign_domains import LinkedTables

_NAMED = 10


def add(commands: Commands) -> None:
    """Declare the command `domain`."""
    about = "write a domain from what a file or a codebook says of its columns; of the records, only their notation is looked at"
    parser = add_command(commands, "domain", _domain, about)
    others = "a DDI codebook (.xml); a domain of google/dpsynth, SmartNoise or SDV (.yaml, .json)"
    parser.add_argument("data", metavar="FILE", type=place, help=f"{TABLES}; {others}; or {PEOPLE}")
    parser.add_argument("--out", metavar="DOMAIN.json", type=Path, required=True, help="must not be there yet")
    second = "where such a domain is about two linked tables: the second one's"
    parser.add_argument("--members-out", metavar="DOMAIN.json", type=Path, help=second)
    table_options.add_table_options(parser, counted=False)


def _declared(options: argparse.Namespace) -> dict[str, Any]:
    if table_options.is_demo(options):
        return table_options.demo_domain()
    from dpsynth_core.foundation.documents import read_document
    from dpsynth_core.sources.files import declared_domain
    from dpsynth_core.vocabulary import ddi, foreign_domains

    if (there := table_options.place_of(options)) is not None:
        from dpsynth_core.sources.registry import placed
        from dpsynth_core.vocabulary.declared import domain_json

        return domain_json(placed(table_options.placed_section(options, there)).declared)
    if Path(options.data).suffix.lower() == ".xml":
        return ddi.declared_domain(read_document(options.data, "data"))
    if Path(options.data).suffix.lower() in foreign_domains.SUFFIXES:
        made, identifiers = foreign_domains.read(read_document(options.data, "data"))
        if identifiers:
            print_message(f"left out, for they are identifiers: {listed(identifiers, _NAMED)}")
        return made
    return declared_domain(options.data, table_options.stated_format(options))


def _linked(options: argparse.Namespace) -> LinkedTables | None:
    """Return the two linked tables that another program's document describes; None for one table.

    Raises:
        InputError: The option --members-out is stated for one table, or missing for two.
    """
    from dpsynth_core.foundation.documents import read_document
    from dpsynth_core.vocabulary import foreign_domains

    named = not table_options.is_demo(options) and table_options.place_of(options) is None
    is_foreign = named and Path(options.data).suffix.lower() in foreign_domains.SUFFIXES
    said = foreign_domains.read_linked(read_document(options.data, "data")) if is_foreign else None
    if (said is None) != (options.members_out is None):
        about, remedy = ("one table", "leave it out") if said is None else ("two linked tables", "name a file for the second one's domain")
        raise InputError("--members-out", f"the document is about {about}", remedy)
    return said


def _domain(options: argparse.Namespace) -> None:
    for option, out in (("--out", options.out), ("--members-out", options.members_out)):
        if out is not None and out.exists():
            raise InputError(option, f"{shown(out)} is there already", "name another file")
    if (said := _linked(options)) is None:
        _write(_declared(options), "--out", options.out)
        return
    _write(said.first, "--out", options.out)
    _write(said.second, "--members-out", options.members_out)
    most = f", at most {said.most} members each" if said.most else ""
    print_message(f"note: the two tables are linked by {shown(said.key)}{most}, which `synthesize` is told by --key and --max-members")


def _write(declared: dict[str, Any], option: str, out: Path) -> None:
    from dpsynth_core.vocabulary.declared import KINDS_LINE, guessed

    made, left_out = guessed(declared)
    write_new(option, out, made)
    open_ones = [entry["name"] for entry in made["attributes"] if "to_do" in entry]
    done = len(made["attributes"]) - len(open_ones)
    if left_out:
        print_message(f"left out, for their names promise identifiers or free text: {listed(left_out, _NAMED)}")
    print_message(f"done: {done} columns are declared, written to {out}")
    print_message("note: labels are public only if they were before anybody answered; look through them before you use the domain")
    if open_ones:
        print_message(f'still to be said ("to_do" in the file): {listed(open_ones, _NAMED)}; {KINDS_LINE}')
