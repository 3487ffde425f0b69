"""Extensions: folders of features that the core finds through a manifest of import paths, and loads on first use.

Each folder `dpsynth_core/extensions/NAME` defines `EXTENSION` in its `__init__.py`. A manifest is data: reading it imports none of the
feature. Built-in extensions are named in a constant of the source (`dpsynth_core.extensions.BUILT_IN`), so that a running program cannot
add an operation to the kernel. Packages of others add mechanisms and exporters alone, by entry points (`foundation.foreign`).
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, Literal, TypeVar


@dataclass(frozen=True)
class Purpose:
    """A purpose of mechanisms, as a person chooses one.

    Attributes:
        name: Its key in the registry.
        title: Heading for people.
        sentence: When to choose it, for people.
        research: Whether few people need its mechanisms, so that pages show them last.
        after: Name of the purpose that it follows; "" for the end of the list.
    """

    name: str
    title: str
    sentence: str
    research: bool = False
    after: str = ""


@dataclass(frozen=True)
class Offer:
    """A mechanism that is known by name, and loaded on first use.

    Attributes:
        name: Its name in a spec, which is also the name on its card.
        purpose: Name of its purpose.
        default: Import path of the mechanism, a class to be made without arguments: "MODULE:CLASS".
        published: Import path of the mechanism with the constants that its paper prints; "" if no paper prints it.
        after: Name of the mechanism of the same purpose that is recommended before it; "" for the end of the list.
    """

    name: str
    purpose: str
    default: str
    published: str = ""
    after: str = ""


@dataclass(frozen=True)
class Setting:
    """A whole number in a spec with which a release asks for a feature.

    Attributes:
        name: Its name in the spec's section `extensions`, as an option of the command line and of `dps.plan`.
        metavar: A word for its value.
        help: What it asks for, for people.
        least, most: Bounds of its value.
        check: Import path of a function that takes the plan, and raises InputError if it cannot have the feature.
        delta: Part of the spec's delta that the feature costs.
    """

    name: str
    metavar: str
    help: str
    least: int
    most: int
    check: str
    delta: float = 0.0

    def read(self, value: object) -> int:
        """Return the value, which may be stated in a spec or typed in a program.

        Raises:
            ValueError: The value is not a whole number from `least` to `most`.
        """
        if not isinstance(value, int) or isinstance(value, bool) or not self.least <= value <= self.most:
            raise ValueError(f"{self.name} is a whole number from {self.least:,} to {self.most:,}")
        return value


@dataclass(frozen=True)
class Texts:
    """A list of texts in a spec with which a release asks for a feature.

    Attributes:
        name: Its name in the spec's section `extensions`, as an option of the command line, which may be repeated, and of `dps.plan`.
        metavar: A word for one text.
        help: What it asks for, for people.
        most: Largest number of texts.
        check: Import path of a function that takes the plan, and raises InputError if it cannot have the feature.
    """

    name: str
    metavar: str
    help: str
    most: int
    check: str

    def read(self, value: object) -> list[str]:
        """Return the texts, in their order.

        Raises:
            ValueError: The value is not a list of one or more different texts that are not blank, or has more than `most`
                texts or a text of more than 2,000 characters.
        """
        texts = value if isinstance(value, list) else []
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts) or len({*texts}) < len(texts):
            raise ValueError(f"{self.name} is a list of different texts")
        if len(texts) > self.most or any(len(text) > _LONGEST for text in texts):
            raise ValueError(f"{self.name} has at most {self.most:,} texts of up to {_LONGEST:,} characters")
        return texts


_LONGEST = 2000
"""Characters of a text."""

Stated = Mapping[str, int | list[str]]
"""The section `extensions` of a spec: the values of settings by name."""


@dataclass(frozen=True)
class Entry:
    """An entry of a spec's data section that goes with a kind of place or an engine, as an option of the command line.

    Attributes:
        name: Its name in the section.
        metavar: A word for its value.
        help: What it states, for people.
        identifies: Whether two tables at the same address differ in it.
        whole: Whether its value is a whole number.
    """

    name: str
    metavar: str
    help: str
    identifies: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Place:
    """A kind of place that holds tables and is not a file: tables are named by its address and further entries of the data section.

    On pages such tables are chosen by the person who runs the server alone, because they are opened with that person's accounts.

    Attributes:
        kind: Name of the kind of table, in `data.kind` and on pages.
        one, many: Such a place and several in words, such as "a database" and "databases".
        pattern: Regular expression of its addresses in lower case.
        local: Beginnings of addresses with "://" that lead to no other machine.
        entries: Entries of the data section for such tables.
        skips_rows: Whether a row may fail to be a record because of its content (`sources.registry.TableKind`).
        help: Which addresses there are, for the help of commands.
        title: Label of the choice of such a table on the Data page, with its icon.
        removing: What is said about the place before a table is let go of.
        unchecked: Why the records are not checked.
        read: Import path of a function that takes an address, opens nothing, raises InputError for an address that cannot be used, and
            returns an object with `identity` (a text that is equal for all spellings of the address) and `base_name` (its published part).
        table: Import path of a function that takes the data section and the names of the columns by which records are sorted, and returns
            the table (`sources.held.PlacedTable`).
        choosing: Import path of a function that draws the choice of such a table on the Data page. It takes the project, the page's place
            for errors, and a function that makes the table that a function returns the project's table.
    """

    kind: str
    one: str
    many: str
    pattern: str
    local: tuple[str, ...]
    entries: tuple[Entry, ...]
    skips_rows: bool
    help: str
    title: str
    removing: str
    unchecked: str
    read: str
    table: str
    choosing: str


@dataclass(frozen=True)
class FileKind:
    """A kind of files that hold tables.

    Attributes:
        name: Its name in `data.kind`.
        title: Its name in the list of all kinds of files, such as "Parquet".
        label: Its name on pages, such as "workbook".
        endings: Endings of names of such files, with the point.
        reader: The module that reads such files (`sources.readers.reader`).
        fields: Fields of the format that only some kinds have, such as "encoding" and "sheet".
        begins: Regular expression of the first line as bytes; None if it shows nothing.
        archive: Name of the reader's function that takes the path of a zip archive, and returns whether it is such a file; "" if such files
            are no zip archives.
        named_late: Whether a file may name itself behind its first line. The ending of its name then decides.
        declares: What a file declares about its columns: "" for nothing, "names", "types" with the names, or "labels" with both.
        is_text: Whether such files are lines of text, which may be packed, and are read without a process with limits.
        has_texts: Whether numbers and dates are usually, or often, stored as text.
        as_dataset: Whether the reader takes all files of a folder together, whose folders may have names such as column=value, and divides
            them by rows.
        is_mapped: Whether a file that is read is mapped into memory.
        in_stores: Whether such files are read from object stores.
        skips_rows: Whether a row may fail to be a record because of its content (`sources.registry.TableKind`).
        libraries: Modules that a process with limits loads before it opens such a file, besides the reader.
    """

    name: str
    title: str
    label: str
    endings: tuple[str, ...]
    reader: str
    fields: frozenset[str] = frozenset()
    begins: bytes | None = None
    archive: str = ""
    named_late: bool = False
    declares: Literal["", "names", "types", "labels"] = "names"
    is_text: bool = False
    has_texts: bool = False
    as_dataset: bool = False
    is_mapped: bool = False
    in_stores: bool = True
    skips_rows: bool = False
    libraries: tuple[str, ...] = ()


def _without_notes(_: object) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class Deferred:
    """A function that is imported when it is first called.

    Attributes:
        path: Its import path, "MODULE:NAME".
    """

    path: str

    def __call__(self, *arguments: Any) -> Any:
        """Return what the function returns."""
        return load(self.path)(*arguments)


@dataclass(frozen=True)
class RowFormat:
    """A format of files of rows.

    Attributes:
        name: Its name on the command line.
        ending: Ending of file names, with the point.
        mime: Media type.
        title: Name for people.
        what: Description for people.
        write: Takes the rows, their domain, a stream and a description (`release.about.About`), and writes the rows with the domain's
            columns to the stream, with the description if the format has a place for it. It raises CapacityError before it writes anything
            the format cannot hold.
        most_rows: Largest number of rows.
        notes: Takes the domain, and yields sentences about values that such a file holds in an unexpected way.
        after: Name of the format that it follows in lists; "" for the end of the list.
    """

    name: str
    ending: str
    mime: str
    title: str
    what: str
    write: Callable[..., None]
    most_rows: int = sys.maxsize
    notes: Callable[[Any], Iterable[str]] = _without_notes
    after: str = ""


@dataclass(frozen=True)
class Engine:
    """A program that counts the records of files in place of this process; `data.engine` names it.

    Attributes:
        name: Its name.
        title: Its name on pages.
        help: Its name with what it is, for the help of commands.
        entries: Entries of the data section that go with it.
        source: Import path of a function that takes the domain, the records (`sources.records.Records`) and the data section, and returns
            the counting source.
        check: Import path of a function that takes the data section, and raises InputError if the engine cannot be reached.
        settings: Import path of a function that draws the fields of its entries on the Data page, each stored in the draft.
    """

    name: str
    title: str
    help: str
    entries: tuple[Entry, ...]
    source: str
    check: str
    settings: str


PLACES = {
    "data": "the project",
    "person": "the project, whose tables have a person column",
    "columns": "the project",
    "domain": "the project",
    "workload": "the project",
    "budget": "the project",
    "budget_details": "the project",
    "row_checks": "the project",
    "mechanisms": "the project",
    "plan": "the project, and its plan, which is complete",
    "compare": "the project",
    "results": "the open run",
    "downloads": "the open run",
    "verify": "a pair of the bytes of a bundle that was not found wrong, and their SHA-256",
    "sidebar": "the project, and the name of the page that is open",
}
"""Places on pages where extensions may draw, each with the argument of the function that draws there."""


SENTENCES = ("recommendations",)
"""Places on pages that end with sentences of extensions."""


@dataclass(frozen=True)
class Page:
    """A page of the wizard that is open at any time. A file `pages/NAME.py` calls `web.shell.additions.page`.

    Attributes:
        name: Its name, of its file and of its address.
        title: Its title.
        section: The heading in the navigation.
        icon: The icon as Streamlit's short code.
        help: The purpose of the page, shown on hover.
        draw: Import path of a function without arguments that draws it.
    """

    name: str
    title: str
    section: str
    icon: str
    help: str
    draw: str


@dataclass(frozen=True)
class Work:
    """A kind of job of the background, whose points several workers share. The store keeps an outcome of each point.

    Attributes:
        kind: Its name in the store.
        begin: Import path of a function that takes the job's row and a function that limits the process for a plan. It checks the job,
            and returns the function that carries out a point: from its number to its outcome as JSON. It raises InputError if no point of
            the job can be carried out.
    """

    kind: str
    begin: str


@dataclass(frozen=True)
class Layout:
    """A way in which two linked tables become the one table that the kernel counts, in place of pairs of members (`vocabulary.link`).

    Attributes:
        name: Name of its mechanism, in a spec and on its card.
        what: What is counted so, in words for errors, in the plural.
        setting: Name of the setting that asks for it.
        link: Import path of a function that takes the domains of both tables, the largest number of members that count, the rules as JSON
            and the spec's section `extensions`, and returns the link. It raises InputError if the tables cannot be linked so.
        source: Import path of a class with the constructor of `sources.linked.LinkedSource`.
        mechanism: Import path of a mechanism that is made with the link.
        of_one: Name of the setting that states that one table is named as both; "" if there are always two.
        parts: Import path of a function that divides the one table's columns. It takes its domain, the person column and the spec's section
            `extensions`, and returns the domains of both tables and the rules across them as JSON. It raises InputError.
        columns: Import path of a function that takes the columns of the second table's domain and the spec's section `extensions`, and
            returns the names of the columns that are read of the second table beside the key. "" for those of its domain.
        made: Name of the setting that names columns of the second domain which no table has; "" if there are none.
        least: The smallest number of rows of the second table that may count for a row of the first.
        lacks: Import path of a function that takes the name of a column that the second table lacks, the names that it has and the
            spec's section `extensions`. It returns the error to raise, or None for the usual one. "" for the usual ones.
        further: Import path of a function that takes the spec, and returns further private tables that have the key, each as its section,
            the domain of its rows and the columns that are read beside the key; it raises InputError. `source` takes them, opened, behind
            the key. "" for no such table.
        carried: Import path of a function that takes an opened bundle (`bundle.checks.opened`), and returns the codes of members as the
            link takes them, where these are in more files than that of members; it raises Wrong. "" if that file holds them.
    """

    name: str
    what: str
    setting: str
    link: str
    source: str
    mechanism: str
    of_one: str = ""
    parts: str = ""
    columns: str = ""
    made: str = ""
    least: int = 1
    lacks: str = ""
    further: str = ""
    carried: str = ""


@dataclass(frozen=True)
class Demo:
    """An invented table of several rows for each person, which the wizard offers to try a layout with.

    Attributes:
        kind: Name of its kind in `data.kind`.
        who: Whose rows it has, in the plural.
        title: Label of its button.
        label: Its name on screen.
        people: How many people there are.
        table: Import path of a function without arguments that returns the table, a pandas frame.
        domain: Import path of a function without arguments that returns the domain, read from no rows.
        person: Name of its person column.
        most: How many rows of a person count.
        stated: Settings for the spec's section `extensions`, as pairs of a name and texts.
    """

    kind: str
    who: str
    title: str
    label: str
    people: int
    table: str
    domain: str
    person: str
    most: int
    stated: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class BundleKind:
    """A kind of bundle that is not a release, and that `verify` checks.

    Attributes:
        document: Name of the file that it has in place of release.json.
        title: What it holds, in words.
        check: Import path of a function that takes the bundle, and yields what `verify.checking` yields.
    """

    document: str
    title: str
    check: str


@dataclass(frozen=True)
class Extension:
    """The manifest of an extension: the features that a folder of `dpsynth_core/extensions` adds to the core.

    Attributes:
        summary: One sentence about the feature.
        purposes: Purposes of mechanisms that only this extension has.
        mechanisms: Its mechanisms.
        operations: Name of the module with its kernel operations; "" if it has no operations.
        files: Import path of a function that returns further files of a bundle by name, each marked with its zone; it takes the release and
            the digests of the files of rows. "" if it adds none.
        passive: By the name of such a file that a browser may open, the import path of a function that takes the file's bytes and returns
            whether nothing in them would run or load.
        sections: Import paths of functions that take a release and yield further sections of report and data card
            (`report.section.Section`). They follow from the release alone, because verify writes the report again and compares.
        commands: Import paths of functions that declare commands of the command line; each takes the commands of the parser.
        views: Parts of pages, as pairs of a place and the import path of a function that draws there. `PLACES` lists the places and what
            the function takes.
        sentences: Sentences on pages, as pairs of a place (`SENTENCES`) and the sentence.
        pages: Pages of the wizard.
        jobs: Kinds of jobs of the background.
        bundles: Kinds of bundles that are not releases.
        names: Functions and classes for Python programs, as pairs of their name in `dpsynth_core` and their import path.
        settings: Settings of specs. Files and sections of an extension with settings are for releases that state such a setting.
        tables: Import path of a function that takes the spec's section `extensions` and the domain, and returns the tables that such a
            release measures before any others (`Workload.first`). "" if the extension asks for none.
        instructs: Import path of a function that takes the mechanism of such a release, the spec's section `extensions` and the domain, and
            returns the mechanism that also does what the setting asks for. "" if the mechanism stays as it is.
        forecasts: Import path of a function that takes the plan of such a release, and returns sentences about it for the command line,
            which prints them before the charge. "" if the extension forecasts nothing.
        records: Import path of a function that takes the plan of such a release and the source of the table's records, and returns the
            source of those that the release counts. "" if the extension leaves out none.
        left_out: Import path of a function that takes the spec's section `extensions`, and returns the probability, from 0 to 1, with
            which `records` leaves each person out, independently of everybody else. "" if the extension leaves out nobody.
        whom: Import path of a function that takes the spec's section `extensions`, and returns a sentence on whom the numbers of such a
            release are about. All that gives numbers says it. "" if they are about everybody in the table.
        question: Import path of a function that asks the kernel a question between mechanism and claims. It takes the plan, the kernel, and
            the answers that this process drew before (no answer where a run goes on). "" if the extension asks nothing.
        row_files: Import path of a function that returns further files of rows: by name, a function that writes the file to a stream. It
            takes the release. "" if it adds none.
        row_names: Regular expression of the names of these files.
        row_domain: Import path of a function that takes the plan, and returns the domain of the columns of these files. "" if they have
            those of the first table.
        row_copies: Import path of a function that takes a release with rows, and returns those of these files that only repeat values of
            other files, as rows (`release.rows.Rows`) by file name. `verify` compares their values, whichever version wrote them.
        beside: Import path of a function that takes the name of a file of rows, its size and hash (`content.Digest`), the domain of its
            columns and the description (`release.about.About`), and returns files to be written beside it, by name. "" if it adds none.
        recognises: Import path of a function that takes the path or address of a table, or a table in memory, that somebody chose for a
            release, and returns a sentence if it says of itself that its rows are not of people, else "". It reads no record.
        parts: Parts for other built-in extensions, as pairs of the other's name and a module. Only the other loads it, and who deletes the
            other deletes it too.
        places: Kinds of places that hold tables and are not files.
        engines: What counts files in place of this process.
        file_kinds: Kinds of files that hold tables.
        row_formats: Formats of files of rows.
        criteria: Kinds of criteria that the kernel measures, as pairs of a name and an import path, "MODULE:CLASS".
        layouts: Ways to count two linked tables.
        demos: Invented tables for its layouts.
        claims: Claims (`claims.claim.Claim`) that a setting of the extension asks for, as pairs of the setting's name, which is the claim's
            too, and an import path. They are measured after the core's.
    """

    summary: str
    purposes: tuple[Purpose, ...] = ()
    mechanisms: tuple[Offer, ...] = ()
    operations: str = ""
    files: str = ""
    passive: tuple[tuple[str, str], ...] = ()
    sections: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    views: tuple[tuple[str, str], ...] = ()
    sentences: tuple[tuple[str, str], ...] = ()
    pages: tuple[Page, ...] = ()
    jobs: tuple[Work, ...] = ()
    bundles: tuple[BundleKind, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    settings: tuple[Setting | Texts, ...] = ()
    tables: str = ""
    instructs: str = ""
    forecasts: str = ""
    records: str = ""
    left_out: str = ""
    whom: str = ""
    question: str = ""
    row_files: str = ""
    row_names: str = ""
    row_domain: str = ""
    row_copies: str = ""
    beside: str = ""
    recognises: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    places: tuple[Place, ...] = ()
    engines: tuple[Engine, ...] = ()
    file_kinds: tuple[FileKind, ...] = ()
    row_formats: tuple[RowFormat, ...] = ()
    criteria: tuple[tuple[str, str], ...] = ()
    layouts: tuple[Layout, ...] = ()
    demos: tuple[Demo, ...] = ()
    claims: tuple[tuple[str, str], ...] = ()


@cache
def built_in() -> tuple[Extension, ...]:
    """Return the manifests of the built-in extensions, in the order of `dpsynth_core.extensions.BUILT_IN`. No feature is loaded."""
    package = "dpsynth_core.extensions"
    return tuple(import_module(f"{package}.{name}").EXTENSION for name in import_module(package).BUILT_IN)


def operations() -> tuple[ModuleType, ...]:
    """Load the modules with the kernel operations of all built-in extensions, and return them in the extensions' order."""
    return tuple(import_module(one.operations) for one in built_in() if one.operations)


def parts(of: str, stated: Stated | None = None) -> tuple[ModuleType, ...]:
    """Load the modules that built-in extensions hold for another one, and return them; () without such modules.

    Args:
        of: Name of the other extension.
        stated: A spec's section `extensions`, if the parts are about one release: an extension with settings then counts only if one
            is stated.
    """
    among = built_in() if stated is None else asked(stated)
    return tuple(import_module(module) for one in among for name, module in one.parts if name == of)


def commands() -> tuple[str, ...]:
    """Return the import paths of the functions that declare commands of the built-in extensions."""
    return tuple(path for one in built_in() for path in one.commands)


def sections(stated: Stated) -> tuple[str, ...]:
    """Return the import paths of the functions of built-in extensions that yield sections of the report.

    Args:
        stated: The spec's section `extensions`; an extension with settings counts only if one is stated.
    """
    return tuple(path for one in asked(stated) for path in one.sections)


def views(place: str) -> tuple[str, ...]:
    """Return the import paths of the functions of built-in extensions that draw at a place of a page.

    Args:
        place: One of `PLACES`.
    """
    return tuple(path for one in built_in() for where, path in one.views if where == place)


def sentences(place: str) -> tuple[str, ...]:
    """Return the sentences that built-in extensions add at a place of a page, one of `SENTENCES`."""
    return tuple(sentence for one in built_in() for where, sentence in one.sentences if where == place)


def pages() -> tuple[Page, ...]:
    """Return the pages of the wizard that built-in extensions add."""
    return tuple(page for one in built_in() for page in one.pages)


def jobs() -> dict[str, Work]:
    """Return the kinds of jobs that built-in extensions add, by name."""
    return {work.kind: work for one in built_in() for work in one.jobs}


def names() -> dict[str, str]:
    """Return the import path of each name that built-in extensions add to `dpsynth_core`."""
    return dict(pair for one in built_in() for pair in one.names)


def settings() -> dict[str, Setting | Texts]:
    """Return the settings of specs that built-in extensions add, by their names in the spec's section `extensions`."""
    return {setting.name: setting for one in built_in() for setting in one.settings}


def layouts() -> tuple[Layout, ...]:
    """Return the ways to count two linked tables that built-in extensions add."""
    return tuple(layout for one in built_in() for layout in one.layouts)


def demos() -> dict[str, Demo]:
    """Return the invented tables that built-in extensions add, by the kind of the table."""
    return {demo.kind: demo for one in built_in() for demo in one.demos}


def layout(stated: Stated) -> Layout | None:
    """Return how a spec's two linked tables are counted; None for pairs of members.

    Of several that are asked for, the last one builds on the others.

    Args:
        stated: The spec's section `extensions`.
    """
    return next((one for one in reversed(layouts()) if one.setting in stated), None)


def what_is_linked(stated: Stated) -> str:
    """Return what the two linked tables of a spec are, in words for errors, in the plural.

    Args:
        stated: The spec's section `extensions`.
    """
    found = layout(stated)
    return "two linked tables" if found is None else found.what


def is_of_one(stated: Stated) -> bool:
    """Return whether a spec names one table as both of two linked tables.

    Args:
        stated: The spec's section `extensions`.
    """
    return (found := layout(stated)) is not None and found.of_one in stated


def second_columns(names: tuple[str, ...], stated: Stated) -> tuple[str, ...]:
    """Return the names of the columns that are read of the second of two linked tables, without the key.

    Args:
        names: The columns of its domain.
        stated: The spec's section `extensions`.
    """
    found = layout(stated)
    read: tuple[str, ...] = names if found is None or not found.columns else load(found.columns)(names, stated)
    return read


def made_columns(stated: Stated) -> tuple[str, ...]:
    """Return the names of the columns of the second of two linked tables that are reckoned from others, and that no table has.

    Args:
        stated: The spec's section `extensions`.
    """
    found = layout(stated)
    named = stated.get(found.made) if found is not None else None
    return tuple(named) if isinstance(named, list) else ()


def of_layouts() -> frozenset[str]:
    """Return the names of the settings that ask for a layout, or go with one."""
    return frozenset(setting.name for one in built_in() if one.layouts for setting in one.settings)


def lacking(name: str, there: Sequence[str], stated: Stated) -> Exception | None:
    """Return the error about a column that the second of two linked tables lacks, if its layout has one for it.

    Args:
        name: The column.
        there: The columns that the table has.
        stated: The spec's section `extensions`.
    """
    found = layout(stated)
    error: Exception | None = None if found is None or not found.lacks else load(found.lacks)(name, there, stated)
    return error


def further_tables(spec: Any) -> list[Any]:
    """Return the private tables of a spec beside the first two, as `Layout.further` does; [] for most specs.

    Args:
        spec: The spec, a `planning.spec.Spec`.
    """
    found = layout(spec.extensions)
    tables: list[Any] = load(found.further)(spec) if found is not None and has_further_tables(spec) else []
    return tables


def has_further_tables(spec: Any) -> bool:
    """Return whether a spec has private tables beside the first two (`further_tables`), without looking for their files."""
    found = layout(spec.extensions)
    return found is not None and found.further != "" and spec.members is not None


def asked(stated: Stated) -> tuple[Extension, ...]:
    """Return the manifests of the built-in extensions that have no settings, and of those with settings that a spec asks for.

    Args:
        stated: The spec's section `extensions`.
    """
    return tuple(one for one in built_in() if not one.settings or any(setting.name in stated for setting in one.settings))


def tables(stated: Stated) -> tuple[str, ...]:
    """Return the import paths of the functions of built-in extensions that return tables to be measured before any others.

    Args:
        stated: The spec's section `extensions`; an extension with settings counts only if one is stated.
    """
    return tuple(one.tables for one in asked(stated) if one.tables)


def instructed(mechanism: Any, stated: Stated, domain: Any) -> Any:
    """Return a mechanism that also does what the settings of built-in extensions ask it for; unchanged if they ask for nothing.

    Args:
        mechanism: The mechanism with its parameters.
        stated: The spec's section `extensions`.
        domain: The domain.

    Raises:
        InputError: A setting does not fit the domain.
    """
    for path in (one.instructs for one in asked(stated) if one.instructs):
        mechanism = load(path)(mechanism, stated, domain)
    return mechanism


def forecasts(stated: Stated) -> tuple[str, ...]:
    """Return the import paths of the functions of built-in extensions that return sentences about a plan before the charge.

    Args:
        stated: The spec's section `extensions`; an extension with settings counts only if one is stated.
    """
    return tuple(one.forecasts for one in asked(stated) if one.forecasts)


def own_delta(stated: Stated) -> float:
    """Return the sum of the deltas of all features that a spec asks for; 0 without such features.

    Args:
        stated: The spec's section `extensions`.
    """
    return math.fsum(setting.delta for name, setting in settings().items() if name in stated and isinstance(setting, Setting))


def of_all_records(stated: Stated) -> dict[str, Any]:
    """Return a spec's section `extensions` without settings of extensions that say which records of a table a release counts.

    Args:
        stated: The section.
    """
    choosing = {setting.name for one in asked(stated) if one.records for setting in one.settings}
    return {name: value for name, value in stated.items() if name not in choosing}


def records(stated: Stated) -> tuple[str, ...]:
    """Return the import paths of the functions of built-in extensions that say which records of a table a release counts.

    Args:
        stated: The spec's section `extensions`; an extension with settings counts only if one is stated.
    """
    return tuple(one.records for one in asked(stated) if one.records)


def left_out(stated: Stated) -> float:
    """Return the probability, from 0 to 1, with which a release leaves each person out; 0 if it counts everybody in its table.

    Args:
        stated: The spec's section `extensions`.
    """
    return 1 - math.prod(1 - load(one.left_out)(stated) for one in asked(stated) if one.left_out)


def whom(stated: Stated) -> str:
    """Return sentences on whom the numbers of a release are about; "" if they are about everybody in its table.

    Args:
        stated: The spec's section `extensions`.
    """
    return " ".join(load(one.whom)(stated) for one in asked(stated) if one.whom)


def questions(stated: Stated) -> tuple[str, ...]:
    """Return the import paths of the functions of built-in extensions that ask the kernel a question between mechanism and claims.

    Args:
        stated: The spec's section `extensions`; an extension with settings counts only if one is stated.
    """
    return tuple(one.question for one in asked(stated) if one.question)


def is_row_file(name: str) -> bool:
    """Return whether a file of a bundle is a file of rows that a built-in extension adds."""
    return any(one.row_names and re.fullmatch(one.row_names, name) for one in built_in())


def row_domain(file: str) -> str:
    """Return the import path of the function that returns the domain of a built-in extension's file of rows.

    Args:
        file: Name of the file. The result is "" if its columns are those of the first table, or no extension adds it.
    """
    return next((one.row_domain for one in built_in() if one.row_names and re.fullmatch(one.row_names, file)), "")


def beside(file: str, content: Any, domain: Any, about: Any) -> dict[str, bytes]:
    """Return the files of built-in extensions that are written beside a file of rows, by name; {} without any.

    Args:
        file: Name of the file of rows.
        content: Its size and hash, a `content.Digest`.
        domain: The domain of its columns.
        about: The description of the release, a `release.about.About`.
    """
    return {name: text for one in built_in() if one.beside for name, text in load(one.beside)(file, content, domain, about).items()}


def recognised(*tables: Any) -> tuple[str, ...]:
    """Return sentences about tables that say of themselves that their rows are not of people, each sentence once.

    Built-in extensions find them (`Extension.recognises`), and read no record. The result is () if no table does.

    Args:
        *tables: Tables that were chosen for a release, each as its path or address, or as a table in memory.
    """
    paths = [one.recognises for one in built_in() if one.recognises]
    return tuple(dict.fromkeys(told for table in tables for path in paths if (told := load(path)(table))))


def places() -> dict[str, Place]:
    """Return the kinds of places that hold tables and are not files, by the kind of their tables."""
    return {place.kind: place for one in built_in() for place in one.places}


def place_at(text: str) -> Place | None:
    """Return the kind of place whose address a text is; None for a path of a file. Nothing is opened."""
    return next((place for place in places().values() if re.fullmatch(place.pattern, text.lower(), flags=re.DOTALL)), None)


def engines() -> dict[str, Engine]:
    """Return what counts files in place of this process, by name."""
    return {engine.name: engine for one in built_in() for engine in one.engines}


def file_kinds() -> tuple[FileKind, ...]:
    """Return the kinds of files that hold tables which built-in extensions add, in the extensions' order."""
    return tuple(kind for one in built_in() for kind in one.file_kinds)


def row_formats() -> tuple[RowFormat, ...]:
    """Return the formats of files of rows that built-in extensions add."""
    return tuple(form for one in built_in() for form in one.row_formats)


def criteria() -> dict[str, str]:
    """Return the import path of each kind of criterion that built-in extensions add, by name."""
    return dict(pair for one in built_in() for pair in one.criteria)


def claims() -> dict[str, str]:
    """Return the import path of each claim that built-in extensions add, by the claim's name, in the extensions' order."""
    return dict(pair for one in built_in() for pair in one.claims)


def shares() -> dict[str, str]:
    """Return the names of these claims by the option of programs that states the claim's share of the budget, such as NAME_share."""
    return {f"{name}_share": name for name in claims()}


def local_addresses() -> tuple[str, ...]:
    """Return the beginnings, with "://", of addresses that lead to no other machine, of all kinds of places; () without any."""
    return tuple(start for place in places().values() for start in place.local)


def bundle_kinds() -> dict[str, BundleKind]:
    """Return the kinds of bundles that are not releases, by the name of their document."""
    return {kind.document: kind for one in built_in() for kind in one.bundles}


def load(path: str) -> Any:
    """Return the object that an import path names, and import its module if needed.

    Args:
        path: The import path, "MODULE:NAME".

    Raises:
        ImportError: The module cannot be imported.
        AttributeError: The module has no such name.
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


Loaded = TypeVar("Loaded")


def as_it_is(found: Any) -> Any:
    """Return the argument unchanged; the default of `OnDemand`."""
    return found


class OnDemand(Mapping[str, Loaded]):
    """A mapping from names to objects that are imported when they are looked up. Iterating over names imports nothing.

    Args:
        paths: The import path of each entry, "MODULE:NAME".
        made: Returns an entry from the imported object; by default the object itself.

    Attributes:
        loaded: Entries looked up so far, by name.
    """

    def __init__(self, paths: Mapping[str, str], made: Callable[[Any], Loaded] = as_it_is) -> None:
        """Take the import path of each entry by name, "MODULE:NAME", and how an entry is made of what was loaded."""
        self._paths, self._made = paths, made
        self.loaded: dict[str, Loaded] = {}

    def __getitem__(self, name: str) -> Loaded:
        if name not in self.loaded:
            self.loaded[name] = self._made(load(self._paths[name]))
        return self.loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


Listed = TypeVar("Listed", Purpose, Offer, RowFormat)


def ordered(listed: tuple[Listed, ...], added: tuple[Listed, ...]) -> tuple[Listed, ...]:
    """Return two lists as one, with each added entry right behind the entry that its `after` names.

    If `after` is empty, or no entry has this name, the added entry comes last.

    Args:
        listed: Entries whose order stays.
        added: Further entries, inserted one after the other.
    """
    found = list(listed)
    for one in added:
        names = [other.name for other in found]
        found.insert(names.index(one.after) + 1 if one.after in names else len(found), one)
    return tuple(found)
