"""Options that say which table is meant: a file, whose first bytes suggest how it is written unless that is stated; a table of a database;
or `demo` in place of a file, the simulated people of `sources.demo` with a domain of their own."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.cli.options import number
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.databases.address import is_address, read

if TYPE_CHECKING:
    from dpsynth_core.sources.formats import TableFormat

DEMO = "demo"
PEOPLE = f"{DEMO}: 50,000 simulated people with a domain of their own"
DATABASES = "or the address of a database: a file that ends in .duckdb, .db or .sqlite, or postgresql://HOST/DATABASE"
FILES = "a CSV, JSON lines, Parquet, Feather, Excel, ODS, SPSS, Stata or SAS file, or a folder of files of one kind"
_FIELDS = {"missing": "missing_markers", "columns": "names"}
"""Options that are not called what they state."""
STATED = ("encoding", "delimiter", "quoting", "decimal", "thousands", "date_format", "time_format", "columns", "sheet", "missing")
_ENGINE, _OF_DATABASES = ("engine", "scheduler", "workers"), ("table", "query", "timeout")
_OF_FILES = ("encoding", "delimiter", "quoting", "columns", "sheet", "time_format", *_ENGINE)
_MARKS = {"point": ".", "comma": ",", "space": " ", "apostrophe": "'", "none": ""}


def place(text: str) -> Path | str:
    """A path; an address, or the name of the simulated people, as it is written. argparse calls it."""
    return text if "://" in text or text == DEMO else Path(text)


def is_demo(options: argparse.Namespace) -> bool:
    """Whether the simulated people are meant, which are no path (`place`). InputError for a file of that name beside them, and for options
    that say how a file is read."""
    if options.data != DEMO:
        return False
    if Path(DEMO).exists():
        remedy = f"write ./{DEMO} for what is here, or run this in another folder for the simulated people"
        raise InputError("data", f"{DEMO!r} means the simulated people, and there is a file or folder of that name here", remedy)
    _refuse(options, (*STATED, *_ENGINE), "the simulated people are in no file")
    return True


def demo_domain() -> dict[str, Any]:
    """The domain of the simulated people, as a document."""
    from dpsynth_core.sources import demo

    return demo.demo_domain().to_json()


def is_database(options: argparse.Namespace) -> bool:
    """Whether the data are in a database. InputError for options of databases where they are not."""
    if is_address(str(options.data)):
        return True
    _refuse(options, _OF_DATABASES, "the data are not in a database", "leave it out, or give the address of a database")
    return False


def database_section(options: argparse.Namespace) -> dict[str, Any]:
    """The spec's section about the data. InputError."""
    read(str(options.data))
    _refuse(options, _OF_FILES, "databases do not have that")
    named = {name: getattr(options, name) for name in _OF_DATABASES if getattr(options, name) is not None}
    return {"path": str(options.data), "kind": "database"} | named | stated_notation(options)


def _refuse(options: argparse.Namespace, names: Iterable[str], problem: str, remedy: str = "leave it out") -> None:
    """InputError for the first of these options that is stated."""
    for name in names:
        if getattr(options, name, None) not in (None, "here"):
            raise InputError(_option(name), problem, remedy)


def add_table_options(parser: argparse.ArgumentParser, counted: bool = True) -> None:
    """counted: whether the command counts the table, so that something has to."""
    parser.add_argument("--encoding", help="how the table is written, such as utf-8 or cp1252 (default: as its first bytes suggest)")
    parser.add_argument("--delimiter", help="comma | semicolon | tab | bar, or the character itself (default: as its first bytes suggest)")
    quoting = "lines: quotes end with their line (default) | none | standard: quoted cells may contain line breaks, in a well-formed file"
    parser.add_argument("--quoting", choices=("lines", "none", "standard"), help=quoting)
    parser.add_argument("--decimal", metavar="MARK", help="point | comma, of numbers that are written as text (default: as suggested)")
    parser.add_argument("--thousands", metavar="MARK", help="none | comma | point | space | apostrophe (default: as suggested)")
    dates = "such as dd.mm.yyyy or mm/dd/yyyy (default: as suggested); yyyy-mm-dd is always understood"
    parser.add_argument("--date-format", metavar="FORM", help=dates)
    times = "hhmm for 0830, hh.mm for 08.30, hhhmm for 8h30 (default: as suggested); hh:mm is always understood"
    parser.add_argument("--time-format", metavar="FORM", help=times)
    parser.add_argument("--columns", metavar="NAMES", help="the table has no header: the names of its columns, separated by commas")
    parser.add_argument("--sheet", metavar="NAME", help="of a workbook (default: the first)")
    parser.add_argument("--missing", metavar="TEXT", action="append", help="counts as missing; may be repeated (default: the usual ones)")
    if counted:
        engine = "what counts the table: here, all processors of this machine (default) | dask, the workers of a Dask cluster"
        parser.add_argument("--engine", choices=("here", "dask"), default="here", help=engine)
        cluster = "of a Dask cluster that runs, such as tls://host:8786 (default: processes on this machine for as long as it takes)"
        parser.add_argument("--scheduler", metavar="ADDRESS", help=cluster)
        parser.add_argument("--workers", metavar="N", help="processes of a Dask cluster on this machine (default: as many as processors)")
    parser.add_argument("--table", metavar="NAME", help="of a database: the table or view, perhaps behind its schema and a point")
    parser.add_argument("--query", metavar="SQL", help="of a database: one SELECT whose rows are the records")
    parser.add_argument("--timeout", metavar="SECONDS", type=int, help="of a database: what one statement may take (default: 3600)")


def stated_engine(options: argparse.Namespace) -> dict[str, object]:
    """The engine, as entries of the spec's section about the data; none for this machine."""
    stated = {"engine": None if options.engine == "here" else options.engine, "scheduler": options.scheduler}
    return {name: value for name, value in (stated | {"workers": number(options.workers)}).items() if value is not None}


def stated_format(options: argparse.Namespace) -> TableFormat:
    """How the table is written: as stated, and where nothing is, as its first bytes suggest. Raises InputError; also for what they leave
    open, such as whether 10,584 is ten and a half."""
    from dpsynth_core.sources.detect import detect_table as suggestion
    from dpsynth_core.sources.formats import DELIMITERS

    named = {name: sign for sign, name in DELIMITERS.items()} | {r"\t": "\t"}
    delimiter, notation = named.get(options.delimiter, options.delimiter), stated_notation(options)
    given = {name: str(value) for name, value in notation.items() if name != "missing_markers"}
    found = suggestion(options.data, options.encoding, delimiter, given)
    for doubt in found.doubts:
        words = {sign: name for name, sign in _MARKS.items()}
        answers = (" ".join(f"{_option(field)} {words.get(value, value)}" for field, value in said.items()) for _, said in doubt.answers)
        raise InputError("data", doubt.question, f"state it: {', or '.join(answers)}")
    suggested = found.form
    stated: dict[str, object] = {}
    for name in STATED:
        if (given := getattr(options, name)) is None:
            continue
        if not suggested.applies(_FIELDS.get(name, name)):
            raise InputError(_option(name), "files of this kind do not have that", "leave it out")
        stated[_FIELDS.get(name, name)] = given
    stated |= {name: value for name, value in notation.items() if name in stated}
    if "names" in stated:
        stated["names"] = tuple(options.columns.split(","))
    if "missing_markers" in stated:
        stated["missing_markers"] = frozenset(options.missing)
    if "delimiter" in stated:
        stated["delimiter"] = suggested.delimiter
    return replace(suggested, **stated)  # type: ignore[arg-type]


def stated_notation(options: argparse.Namespace) -> dict[str, object]:
    """How values are written as text, as entries of the spec's section about the data; only what is stated."""
    marks = {name: getattr(options, name) for name in ("decimal", "thousands") if getattr(options, name) is not None}
    stated: dict[str, object] = {name: _MARKS.get(mark, mark) for name, mark in marks.items()}
    if options.date_format is not None:
        stated["date_format"] = options.date_format
    return stated if options.missing is None else stated | {"missing_markers": list(options.missing)}


def assumed(options: argparse.Namespace, form: TableFormat) -> str:
    """What was not stated of how the table is written, in words; nothing if all was."""
    from dpsynth_core.sources.formats import DELIMITERS, WRITTEN_AS_TEXT
    from dpsynth_core.sources.spelling import DECIMALS, THOUSANDS, example

    markers = ", ".join(repr(marker) for marker in sorted(form.missing_markers))
    words = {
        "encoding": f"encoding {form.encoding}",
        "delimiter": f"fields separated by {DELIMITERS.get(form.delimiter, repr(form.delimiter))}",
        "quoting": "quotes end with their line",
        "decimal": f"decimal {DECIMALS[form.decimal]} ({example(form.decimal, form.thousands)})",
        "thousands": f"{THOUSANDS[form.thousands]} between thousands" if form.thousands else "no mark between thousands",
        "date_format": f"dates written {form.date_format}",
        "time_format": f"times of day written {form.time_format}",
        "sheet": "the first sheet",
        "missing": f"missing is written {markers}",
    }
    if form.kind not in WRITTEN_AS_TEXT:
        words = {name: text for name, text in words.items() if name not in ("decimal", "thousands", "date_format", "time_format")}
    open_ones = [name for name in words if getattr(options, name) is None and form.applies(_FIELDS.get(name, name))]
    return f"{', '.join(words[name] for name in open_ones)} (state it: {' '.join(map(_option, open_ones))})" if open_ones else ""


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
