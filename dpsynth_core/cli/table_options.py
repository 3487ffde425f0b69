"""Options that name a table and its format.

The table is a file, a table at a place of an extension (`extension.Place`), or `demo`: the simulated people of `sources.demo` with their
own domain.

What is not stated about a file is as by default (`sources.default_format`). Where its first records suggest something else, a command stops
and asks. A second, linked table has the same options, with the prefix "members".
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.cli.options import number
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.file_kinds import FILE_KINDS, KNOWN

if TYPE_CHECKING:
    from dpsynth_core.sources.formats import TableFormat

DEMO = "demo"
PEOPLE = f"{DEMO}: 50,000 simulated people with a domain of their own"
_FILES = f"a {KNOWN} file, or a folder of files of one kind"
TABLES = "; ".join((_FILES, *(place.help for place in extension.places().values())))
"""The private tables that a command takes, for its help."""
_FIELDS = {"missing": "missing_markers", "columns": "names"}
"""Options that are not called what they state."""
_WRITTEN: Mapping[str, Mapping[str, Any]] = {
    "kind": {"help": f"{' | '.join(FILE_KINDS)} (default: by its beginning and name)"},
    "encoding": {"help": "such as utf-8 or cp1252 (default: utf-8, or as a byte order mark or a UTF-16 header says)"},
    "delimiter": {"help": "comma | semicolon | tab | bar | space, or the character itself (default: by the header)"},
    "quoting": {
        "choices": ("lines", "none", "standard"),
        "help": "lines: quotes end with their line (default) | none | standard: quoted cells may have line breaks, in a well-formed file",
    },
    "decimal": {"metavar": "MARK", "help": "point (default) | comma, of numbers that are written as text"},
    "thousands": {"metavar": "MARK", "help": "none (default) | comma | point | space | apostrophe"},
    "date_format": {"metavar": "FORM", "help": "such as dd.mm.yyyy or mm/dd/yyyy; yyyy-mm-dd (default) is always understood"},
    "time_format": {"metavar": "FORM", "help": "hhmm for 0830, hh.mm for 08.30, hhhmm for 8h30; hh:mm (default) is always understood"},
    "negative": {"metavar": "FORM", "help": "of numbers below zero: sign, -5 (default, always understood) | brackets, (5) | behind, 5-"},
    "units": {"metavar": "LIST", "help": "what may stand at a number as text and means nothing, separated by commas, such as %%,€"},
    "same_text": {"metavar": "HOW", "help": "exact (default) | look: texts that look alike are one | case: also in other letter case"},
    "columns": {"metavar": "NAMES", "help": "the table has no header: the names of its columns, separated by commas"},
    "skip": {"metavar": "N", "type": int, "help": "lines, or rows of a workbook, with anything in them above the header (default: 0)"},
    "sheet": {"metavar": "NAME", "help": "of a workbook (default: the first)"},
    "missing": {"metavar": "TEXT", "action": "append", "help": "counts as missing; may be repeated (default: the usual ones)"},
}
"""How a file is written: an option each, and what argparse is told of it."""
_ENGINE = ("engine", *(entry.name for engine in extension.engines().values() for entry in engine.entries))
_OF_FILES = ("kind", "encoding", "delimiter", "quoting", "columns", "skip", "sheet", "time_format", *_ENGINE)
"""Options that only files have."""
MEMBERS = "members_"
"""Begins the names of the second table's options."""
_SIGNS = {r"\t": "\t", "comma": ",", "semicolon": ";", "tab": "\t", "bar": "|", "space": " "}
_NEGATIVES = {"sign": "-5", "brackets": "(5)", "behind": "5-"}
_MARKS = {"point": ".", "comma": ",", "space": " ", "apostrophe": "'", "none": ""}


def place(text: str) -> Path | str:
    """Convert an argument to a path. An address (with "://") and "demo" stay texts.

    argparse calls this as the type of an argument. Nothing is opened.
    """
    return text if "://" in text or text == DEMO else Path(text)


def is_demo(options: argparse.Namespace) -> bool:
    """Return whether the options name the simulated people (see `place`).

    Raises:
        InputError: A file or folder has the name of the simulated people, or an option states how a file is read.
    """
    if options.data != DEMO:
        return False
    if Path(DEMO).exists():
        remedy = f"write ./{DEMO} for what is here, or run this in another folder for the simulated people"
        raise InputError("data", f"{DEMO!r} means the simulated people, and there is a file or folder of that name here", remedy)
    _refuse(options, (*_WRITTEN, *_ENGINE), "the simulated people are in no file")
    return True


def demo_domain() -> dict[str, Any]:
    """Return the domain of the simulated people, as a document."""
    from dpsynth_core.sources import demo

    return demo.demo_domain().to_json()


def place_of(options: argparse.Namespace) -> extension.Place | None:
    """Return the kind of place, such as a database of an extension, that holds the data.

    Returns:
        The kind; None for files and simulated people.

    Raises:
        InputError: An option for places of another kind is stated.
    """
    there = extension.place_at(str(options.data))
    for place in extension.places().values():
        if place is not there:
            names = (entry.name for entry in place.entries)
            _refuse(options, names, f"the data are not in {place.one}", f"leave it out, or give the address of {place.one}")
    return there


def placed_section(options: argparse.Namespace, place: extension.Place) -> dict[str, Any]:
    """Return the spec's data section for a table at a place, such as in a database; only stated options are in it.

    Raises:
        InputError: The address is invalid, or an option for files is stated.
    """
    extension.load(place.read)(str(options.data))
    _refuse(options, _OF_FILES, f"{place.many} do not have that")
    stated = {entry.name: getattr(options, entry.name) for entry in place.entries if getattr(options, entry.name) is not None}
    return {"path": str(options.data), "kind": place.kind} | stated | _stated_notation(options)


def _refuse(options: argparse.Namespace, names: Iterable[str], problem: str, remedy: str = "leave it out") -> None:
    """Raise InputError with this problem and remedy for the first of the options `names` that is stated.

    None and "here", the defaults, count as not stated.
    """
    for name in names:
        if getattr(options, name, None) not in (None, "here"):
            raise InputError(_option(name), problem, remedy)


def add_table_options(parser: argparse.ArgumentParser, counted: bool = True) -> None:
    """Add the options that state how a table is written, what counts it, and where in a database or the like it is.

    The argument `data`, which names the table, is declared by the command itself.

    Args:
        parser: The parser of a command.
        counted: Whether the command counts the table, and so has options for the engine.
    """
    _add_written(parser)
    if counted and (engines := extension.engines()):
        known = " | ".join(("here, all processors of this machine (default)", *(engine.help for engine in engines.values())))
        parser.add_argument("--engine", choices=("here", *engines), default="here", help=f"what counts the table: {known}")
        for engine in engines.values():
            for entry in engine.entries:
                parser.add_argument(_option(entry.name), metavar=entry.metavar, help=entry.help)
    for place in extension.places().values():
        for entry in place.entries:
            parser.add_argument(_option(entry.name), metavar=entry.metavar, type=int if entry.whole else str, help=entry.help)


def stated_engine(options: argparse.Namespace) -> dict[str, object]:
    """Return the entries of the spec's data section that say which engine, such as a Dask cluster, counts the table.

    Args:
        options: The options of a command that counts its table (`add_table_options`).

    Returns:
        "engine" and the engine's own entries, such as "scheduler", as far as they were given; empty if this
        machine counts.
    """
    entries = [entry for engine in extension.engines().values() for entry in engine.entries]
    stated = {entry.name: number(getattr(options, entry.name)) if entry.whole else getattr(options, entry.name) for entry in entries}
    engine = getattr(options, "engine", "here")
    return {name: value for name, value in ({"engine": None if engine == "here" else engine} | stated).items() if value is not None}


def add_members_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that state the file format of the second of two linked tables."""
    _add_written(parser, MEMBERS, "of the second table: ")


def _add_written(parser: argparse.ArgumentParser, prefix: str = "", whose: str = "") -> None:
    for name, look in _WRITTEN.items():
        parser.add_argument(_option(prefix + name), **{**look, "help": whose + look["help"]})


def stated_format(options: argparse.Namespace, prefix: str = "") -> TableFormat:
    """Return the format of the table's file: the stated parts, and defaults for the others.

    Args:
        options: The options of a command.
        prefix: The prefix of the table's option names: "" for the first table, `MEMBERS` for the
            second.

    Raises:
        InputError: The table cannot be read with this format, its first records suggest another
            one, or a stated part does not apply to this kind of file.
    """
    from dpsynth_core.sources.detect import settled_format

    path = options.data if not prefix else options.members
    stated = _stated(options, prefix)
    form = settled_format(path, stated, "data" if not prefix else "--members", lambda said: _written(said, prefix))
    for name in _WRITTEN:
        if getattr(options, prefix + name) is not None and not form.applies(_FIELDS.get(name, name)):
            raise InputError(_option(prefix + name), "files of this kind do not have that", "leave it out")
    return form


def refuse_members_options(options: argparse.Namespace) -> None:
    """Raise InputError if an option is for a second table but there is only one table."""
    _refuse(options, (MEMBERS + name for name in _WRITTEN), "there is no second table", "name it with --members, or leave this out")


def _stated(options: argparse.Namespace, prefix: str) -> dict[str, Any]:
    """Return the stated fields of `TableFormat`, with option values such as "comma" translated to signs."""
    given = {name: getattr(options, prefix + name) for name in _WRITTEN if getattr(options, prefix + name) is not None}
    meant: dict[str, Callable[[Any], Any]] = {
        "delimiter": lambda mark: _SIGNS.get(mark, mark),
        "decimal": lambda mark: _MARKS.get(mark, mark),
        "thousands": lambda mark: _MARKS.get(mark, mark),
        "negative": lambda form: _NEGATIVES.get(form, form),
        "units": lambda units: tuple(units.split(",")),
        "columns": lambda names: tuple(names.split(",")),
        "missing": frozenset,
    }
    return {_FIELDS.get(name, name): meant.get(name, lambda same: same)(value) for name, value in given.items()}


def _written(said: Mapping[str, Any], prefix: str) -> str:
    """Return fields of `TableFormat` as a text of command-line options, such as "--delimiter semicolon".

    `prefix` is the prefix of the option names: "" for the first table, `MEMBERS` for the second.
    """
    words = {sign: name for name, sign in (_SIGNS | _MARKS).items()}
    return " ".join(f"{_option(prefix + name)} {words.get(value, value)}" for name, value in said.items())


def _stated_notation(options: argparse.Namespace) -> dict[str, object]:
    """Return the entries of the data section of a table at a place that say how values are written as text.

    Only stated options are included.
    """
    stated = _stated(options, "")
    return stated | ({"missing_markers": sorted(stated["missing_markers"])} if "missing_markers" in stated else {})


def assumed(options: argparse.Namespace, form: TableFormat) -> str:
    """Return in words the parts of the format that the options do not state, and the options that state them.

    Only parts that this kind of file has are named, of these: encoding, delimiter, quoting, decimal and
    thousands marks, forms of dates and times, sheet, and missing. The text is "" if all of these are stated.

    Args:
        options: The options of a command.
        form: The format of the table's file.
    """
    from dpsynth_core.sources.formats import DELIMITERS
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
    if not form.file_kind.has_texts:
        words = {name: text for name, text in words.items() if name not in ("decimal", "thousands", "date_format", "time_format")}
    open_ones = [name for name in words if getattr(options, name) is None and form.applies(_FIELDS.get(name, name))]
    return f"{', '.join(words[name] for name in open_ones)} (state it: {' '.join(map(_option, open_ones))})" if open_ones else ""


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
