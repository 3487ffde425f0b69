"""`dummy`: dummy rows from a domain, a codebook or a plan, without a table."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.cli.options import Commands, add_command, check_writable, whole
from dpsynth_core.cli.terminal import print_message
from dpsynth_core.foundation import sandbox
from dpsynth_core.foundation.errors import InputError, shown

if TYPE_CHECKING:
    from dpsynth_core.extensions.dummy.order import Order


def add(commands: Commands) -> None:
    """Declare the command `dummy` and its options."""
    parser = add_command(commands, "dummy", _dummy, "make dummy rows from a codebook alone: no table is opened, nothing is charged")
    described = "a domain (.json), a codebook (.csv or DDI .xml), or the plan of a release (spec.json), which says all but rows and seed"
    parser.add_argument("columns", metavar="FILE", type=Path, help=described)
    parser.add_argument("--rows", metavar="N", default="1000", help="how many; of two linked tables, of the first (default: %(default)s)")
    parser.add_argument("--seed", metavar="S", default="1", help="another number gives other rows (default: %(default)s)")
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for the rows and dummy.zip, which `verify` checks")
    kinds = "further formats of the rows, such as csv,sav,dta,xpt,xlsx; CSV and Parquet are in dummy.zip (default: %(default)s)"
    parser.add_argument("--format", metavar="LIST", default="csv", help=kinds)
    known = "a table that was published about the people, whose shares the rows take over; its counts are in the column count"
    parser.add_argument("--published", metavar="FILE", type=Path, action="append", default=[], help=f"{known}; may be repeated")
    where = "where that was published, in a few words; once for each --published, in their order"
    parser.add_argument("--published-from", metavar="TEXT", action="append", default=[], help=where)
    parser.add_argument("--members-domain", metavar="DOMAIN.json", type=Path, help="of a second, linked table: its columns without the key")
    parser.add_argument("--key", metavar="NAME", help="of two linked tables: the column of both that says whose a row is")
    parser.add_argument("--max-members", metavar="M", help="of two linked tables: rows of the second for one of the first; from 1 to 10")
    parser.add_argument("--rules", metavar="RULES.json", type=Path, help="of two linked tables: what holds in every household, a list")


def _dummy(options: argparse.Namespace) -> None:
    from dpsynth_core.bundle.pack import MANIFEST
    from dpsynth_core.bundle.remade import check_formats, pack, rows_in
    from dpsynth_core.extensions.dummy.document import BUNDLE, DOCUMENT, MEMBERS, TABLE, DummyAbout, statement
    from dpsynth_core.extensions.dummy.making import make
    from dpsynth_core.foundation.private_files import private_file
    from dpsynth_core.release.row_formats import chosen

    formats = chosen(options.format)
    order = _order(options)
    tables = {TABLE: order.row_domain} if order.link is None else {TABLE: order.row_domain, MEMBERS: order.member_domain}
    about = DummyAbout.of_order(order)
    check_formats(formats, order.rows, list(tables.values()), about)
    check_writable(options.out)
    if lacking := sandbox.lacking():
        print_message(f"note: {lacking}")
    files = make(order)
    written = {DOCUMENT: files[DOCUMENT]}
    for table, domain in tables.items():
        written |= rows_in(formats, table, files[f"{table}.parquet"], domain, about)
    for name, content in written.items():
        with private_file(options.out / name) as stream:
            stream.write(content)
    with private_file(options.out / BUNDLE) as stream:
        pack(files, stream)
    print_message(f"note: {statement(order)}")
    print_message(f"done: {order.rows:,} dummy rows, {len(files) - (MANIFEST in files):,} files in {options.out / BUNDLE}")


def _order(options: argparse.Namespace) -> Order:
    """Return the order that the options state.

    Raises:
        InputError: An option does not fit the file, or as for `Order.of`.
    """
    from dpsynth_core.extensions.dummy.order import Order
    from dpsynth_core.foundation.documents import parse_json, read_document
    from dpsynth_core.planning.spec import Spec
    from dpsynth_core.vocabulary.codebook import parse_domain

    rows, seed = (_whole(options, name) for name in ("rows", "seed"))
    text = read_document(options.columns, "domain")
    given = parse_json(text, "domain") if text.lstrip("\ufeff \t\r\n")[:1] == "{" else None
    linked = {name: getattr(options, name) for name in ("members_domain", "key", "max_members", "rules")}
    stated_linked = [f"--{name.replace('_', '-')}" for name, value in linked.items() if value is not None]
    if isinstance(given, Mapping) and "domain" in given and "budget" in given:
        if more := [*stated_linked, *(["--published"] if options.published else [])]:
            raise InputError(more[0], "the plan says that itself", "leave it out, or give the plan's domain alone")
        return Order.of_spec(Spec.from_json(given), rows, seed)
    domain = parse_domain(text)
    stated: dict[str, Any] = {"domain": domain.to_json(), "rows": rows, "seed": seed}
    if len(options.published) != len(options.published_from):
        raise InputError("--published-from", "it is not there once for each --published", "say where each table was published")
    if options.published:
        from dpsynth_core.interface.plan import published_sections

        stated["published_tables"] = published_sections(list(zip(options.published, options.published_from, strict=True)), domain)
    if options.members_domain is not None:
        stated["members"] = _members(options)
    elif stated_linked:
        raise InputError(stated_linked[0], "it is of two linked tables", "give --members-domain too, or leave it out")
    return Order.of(stated)


def _members(options: argparse.Namespace) -> dict[str, Any]:
    from dpsynth_core.foundation.documents import parse_json, read_document
    from dpsynth_core.vocabulary.codebook import load_domain

    most = whole(options.max_members or "")
    if options.key is None or most is None:
        name = "--key" if options.key is None else "--max-members"
        raise InputError(name, "two linked tables need it", "name the column of both, and give a number from 1 to 10")
    rules = [] if options.rules is None else parse_json(read_document(options.rules, "--rules"), "--rules")
    return {"domain": load_domain(options.members_domain).to_json(), "key": options.key, "most": most, "rules": rules}


def _whole(options: argparse.Namespace, name: str) -> int:
    text = getattr(options, name)
    if (value := whole(text)) is None:
        raise InputError(f"--{name}", f"{shown(text)} cannot be used", "give a whole number")
    return value
