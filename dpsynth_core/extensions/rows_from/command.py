"""`rows-from` makes rows from tables that somebody else protected; `protect-tables` makes tables of counts coarser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.cli.options import Commands, add_command, check_writable, number, whole
from dpsynth_core.cli.terminal import print_message
from dpsynth_core.foundation import sandbox
from dpsynth_core.foundation.errors import InputError, shown

if TYPE_CHECKING:
    from dpsynth_core.extensions.rows_from.order import Order


def add(commands: Commands) -> None:
    """Declare the commands `rows-from` and `protect-tables`."""
    purpose = "make rows from tables of counts that somebody else protected: no record is read, nothing is charged, nothing is guaranteed"
    parser = add_command(commands, "rows-from", _rows_from, purpose)
    described = "a table of counts, with a column for each of its variables, named as in the domain, and the column count"
    parser.add_argument("tables", metavar="TABLE", type=Path, nargs="+", help=described)
    known = "the columns of the rows: a domain (.json) or a codebook (.csv or DDI .xml)"
    parser.add_argument("--domain", metavar="DOMAIN", type=Path, required=True, help=known)
    parser.add_argument("--giver", metavar="NAME", required=True, help="who made and protected the tables; printed with the rows")
    words = "what the giver promises about the tables, in its own words; printed with the rows, and checked by nothing"
    parser.add_argument("--promise", metavar="TEXT", required=True, help=words)
    parser.add_argument("--rows", metavar="N", help="how many (default: as many as the tables count people)")
    parser.add_argument(
        "--people", metavar="N", help="how many people there are, if that was published and every table has suppressed counts"
    )
    parser.add_argument("--seed", metavar="S", default="1", help="another number gives other rows (default: %(default)s)")
    folder = "folder for the rows and rows-from-tables.zip, which `verify` checks"
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help=folder)
    kinds = "formats of the rows, such as csv,sav,dta,xpt,xlsx; CSV and Parquet are in the ZIP too (default: %(default)s)"
    parser.add_argument("--format", metavar="LIST", default="csv", help=kinds)

    parser = add_command(
        commands, "protect-tables", _protect, "make tables of counts coarser, with lines sorted by label; this is not differential privacy"
    )
    parser.add_argument("tables", metavar="TABLE", type=Path, nargs="+", help="a table of true counts, with the column count")
    parser.add_argument("--top", metavar="COLUMN=N", action="append", default=[], help="write numbers above N as N; may be repeated")
    parser.add_argument("--suppress-below", metavar="N", help="leave counts from 1 to one less than N empty")
    parser.add_argument("--multiples-of", metavar="K", help="round every other count to the nearest multiple of K")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="folder for the tables, which keep their names and become CSV"
    )


def _rows_from(options: argparse.Namespace) -> None:
    from dpsynth_core.bundle.remade import check_formats, pack, rows_in
    from dpsynth_core.extensions.rows_from.document import BUNDLE, DOCUMENT, TABLE, TablesAbout, closeness, notes, statement
    from dpsynth_core.extensions.rows_from.making import make
    from dpsynth_core.foundation.private_files import private_file
    from dpsynth_core.release.row_formats import chosen

    formats = chosen(options.format)
    order = _order(options)
    about = TablesAbout.of_order(order)
    check_formats(formats, order.rows, [order.domain], about)
    check_writable(options.out)
    if lacking := sandbox.lacking():
        print_message(f"note: {lacking}")
    files = make(order)
    written = {DOCUMENT: files[DOCUMENT], **rows_in(formats, TABLE, files[f"{TABLE}.parquet"], order.domain, about)}
    for name, content in written.items():
        with private_file(options.out / name) as stream:
            stream.write(content)
    with private_file(options.out / BUNDLE) as stream:
        pack(files, stream)
    for sentence in (closeness(files), *notes(order), statement(order)):
        print_message(f"note: {sentence}")
    print_message(f"done: {order.rows:,} rows from {len(order.tables):,} tables in {options.out / BUNDLE}")


def _order(options: argparse.Namespace) -> Order:
    """Return the order that the options state.

    Raises:
        InputError: An option or a table cannot be used.
        CapacityError: The tables are too large.
    """
    from dpsynth_core.extensions.rows_from.order import Order, check_public
    from dpsynth_core.extensions.rows_from.tables import of_file
    from dpsynth_core.vocabulary.codebook import load_domain

    stated: dict[str, Any] = {name: _whole(options, name) for name in ("rows", "people", "seed")}
    domain = load_domain(options.domain)
    check_public(domain)
    stated["domain"] = domain.to_json()
    stated["tables"] = [of_file(path, domain).to_json(domain) for path in options.tables]
    order = Order.of(stated | {"giver": options.giver, "promise": options.promise})
    order.check_promised()
    return order


def _protect(options: argparse.Namespace) -> None:
    from dpsynth_core.extensions.rows_from.coarsening import STATEMENT, protect_table
    from dpsynth_core.foundation.private_files import private_file
    from dpsynth_core.release.document import frame_csv

    steps: dict[str, Any] = {name: _whole(options, name) for name in ("suppress_below", "multiples_of")}
    top = dict(_top(text) for text in options.top)
    if not top and not any(steps.values()):
        raise InputError("protect-tables", "it is not said how", "give --multiples-of, --suppress-below or --top")
    places = [options.out / f"{path.stem}.csv" for path in options.tables]
    if len({*places}) < len(places):
        raise InputError("--out", "two tables have the same name", "give their files different names")
    if any(place.resolve() == path.resolve() for place, path in zip(places, options.tables, strict=True)):
        raise InputError("--out", "a table would be written over its true counts", "name another folder")
    check_writable(options.out)
    for path, place in zip(options.tables, places, strict=True):
        content = frame_csv(protect_table(path, top=top, **steps))
        with private_file(place) as stream:
            stream.write(content)
    print_message(f"note: {STATEMENT}")
    print_message(f"done: {len(places):,} coarser tables in {options.out}")


def _top(text: str) -> tuple[str, float]:
    name, _, most = text.rpartition("=")
    value = number(most)
    if not name or type(value) not in (int, float) or not abs(value) < 1e15:
        raise InputError("--top", f"{shown(text)} cannot be used", "write a column and the largest number that is told, such as age=90")
    return name, value


def _whole(options: argparse.Namespace, name: str) -> int | None:
    text = getattr(options, name)
    if text is not None and whole(text) is None:
        raise InputError(f"--{name.replace('_', '-')}", f"{shown(text)} cannot be used", "give a whole number")
    return None if text is None else whole(text)
