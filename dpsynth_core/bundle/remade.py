"""Bundles that follow from one document and are no releases: made in a process that can open no file, and checked by making them again."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Generic, TypeVar, cast

import pyarrow.parquet as pq

from dpsynth_core.bundle.checks import files as listed_files
from dpsynth_core.bundle.pack import MANIFEST, manifest, zipped
from dpsynth_core.bundle.reproduce import other_versions
from dpsynth_core.bundle.unpack import Bundle
from dpsynth_core.bundle.verdicts import SIGNED, Check, Report, Running, Summary
from dpsynth_core.bundle.verify import judged
from dpsynth_core.claims.outcome import Nothing, Open, expect, some
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.confined import Ended, Work
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.content import PART_BYTES, Writer, digest_written, in_memory
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.release import document as releases
from dpsynth_core.release import row_files
from dpsynth_core.release.about import About
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.release.rows import HeldRows, Rows
from dpsynth_core.vocabulary.domain import Domain

LIMITS = Limits(megabytes=4096, seconds=600)
"""Limits of the process that makes the rows."""
_WAIT = 10
"""Factor from the seconds of work to the wait for each answer, for a busy machine."""

Made = TypeVar("Made")


def make(work: str, stated: Mapping[str, Any], what: str, limits: Limits = LIMITS) -> dict[str, bytes]:
    """Return the files of a bundle by name, with its manifest.

    The process that makes them can open programs and libraries alone (`foundation.sandbox`), so no
    table of records.

    Args:
        work: Import path of a generator that takes the document and yields what `parts` yields.
        stated: The document as JSON.
        what: The rows in words, for errors.
        limits: Limits of the process, by default 4,096 MB of memory and 600 seconds of work.

    Raises:
        InputError: The work refuses the document, or the process fails.
        CapacityError: The process exceeds the limits.
    """
    files: dict[str, io.BytesIO] = {}
    stream = io.BytesIO()
    try:
        with Work(work, dict(stated), limits=limits, files=(), patience=_WAIT * limits.seconds) as answers:
            for answer in answers:
                if isinstance(answer, bytes):
                    stream.write(answer)
                else:
                    stream = files.setdefault(str(answer["file"]), io.BytesIO())
    except Ended as ended:
        problem = f"making the {what} {ended.problem}"
        if ended.beyond:
            raise CapacityError("rows", problem, "ask for fewer rows, or for fewer columns") from None
        raise InputError("rows", problem, "try again, and report it if that does not help") from None
    made = {name: content.getvalue() for name, content in files.items()}
    return made | {MANIFEST: manifest({name: in_memory(content).digest for name, content in made.items()})}


def parts(files: Mapping[str, Writer]) -> Iterator[Any]:
    """Yield, for each file in order, {"file": name} and then its bytes, in parts of at most 1 MiB.

    One file at a time is held in memory.

    Args:
        files: The writer of each file, by name.
    """
    for name, write in files.items():
        yield {"file": name}
        stream = io.BytesIO()
        write(cast(BinaryIO, stream))
        stream.seek(0)
        yield from iter(partial(stream.read, PART_BYTES), b"")


def pack(files: Mapping[str, bytes], stream: BinaryIO) -> None:
    """Write the files of a bundle as a ZIP; the same files give the same bytes.

    Args:
        files: The content of each file by name.
        stream: Receives the ZIP; it stays open.

    Raises:
        OSError: The stream cannot be written; the ZIP is then incomplete.
    """
    zipped({name: in_memory(content) for name, content in files.items()}, stream)


def text_writer(text: str) -> Writer:
    """Return a function that writes a text in UTF-8."""

    def write(stream: BinaryIO) -> None:
        stream.write(text.encode())

    return write


def table_writers(table: str, rows: Rows, domain: Domain, about: About) -> dict[str, Writer]:
    """Return by name the writers of the rows as CSV and as Parquet, and of the files that extensions add beside the CSV.

    A CSV file cannot describe itself, so these files describe it; there may be none.

    Args:
        table: Beginning of the names, such as "rows" for rows.csv.
        rows: The rows.
        domain: Their domain.
        about: Their description.
    """

    def parquet(stream: BinaryIO) -> None:
        releases.write_parquet(rows, domain, stream, about)

    csv: Writer = partial(releases.write_csv, rows)
    beside = extension.beside(f"{table}.csv", digest_written(csv), domain, about)
    files: dict[str, Writer] = {f"{table}.csv": csv, f"{table}.parquet": parquet}
    return files | {name: text_writer(text.decode()) for name, text in beside.items()}


def check_formats(formats: Sequence[str], rows: int, domains: Sequence[Domain], about: About) -> None:
    """Check that every format can hold the rows.

    Args:
        formats: Names of formats.
        rows: Number of rows of the largest table.
        domains: Domains of all tables of rows.
        about: The description of the rows.

    Raises:
        InputError: A column does not fit a format.
        CapacityError: There are more rows than a format can hold.
    """
    for form in (FORMATS[name] for name in formats):
        if rows > form.most_rows:
            raise CapacityError("--format", f"{form.title} holds at most {form.most_rows:,} rows", "use csv or parquet, or fewer rows")
    for domain in domains:
        row_files.check(domain, about, tuple(formats))


def rows_in(formats: Sequence[str], table: str, parquet: bytes, domain: Domain, about: About) -> dict[str, bytes]:
    """Return by name the files of rows in these formats, and the files that extensions add beside them.

    Args:
        formats: Names of formats.
        table: Beginning of the names.
        parquet: The rows as Parquet, as `table_writers` writes them.
        domain: Their domain.
        about: Their description.
    """
    rows = HeldRows(pq.read_table(io.BytesIO(parquet)).replace_schema_metadata())
    files: dict[str, bytes] = {}
    for name in formats:
        stream = io.BytesIO()
        FORMATS[name].write(rows, domain, stream, about)
        file, content = f"{table}{FORMATS[name].ending}", stream.getvalue()
        files |= {file: content} | extension.beside(file, in_memory(content).digest, domain, about)
    return files


@dataclass(frozen=True)
class Remaking(Generic[Made]):
    """The functions and words by which bundles of a kind are made again and checked.

    Attributes:
        kind: Its entry "kind" in the document.
        what: What the bundle holds, in words.
        document: Name of the document.
        read: Takes the document and makes the rows again; it raises InputError if the document is not valid.
        size: Describes what was read, in words.
        to_json: The document, which has an entry for the kind, and "records_opened" and "charges", which are empty.
        writers: The files by name, without the manifest.
        summary: What the bundle is, in this program's words.
        labelled: The question whether the document says what the rows are.
        follows: The question whether the rows follow from the document.
        unseen: What no check can show.
        unseen_in_short: The same in short.
    """

    kind: str
    what: str
    document: str
    read: Callable[[Mapping[str, Any]], Made]
    size: Callable[[Made], str]
    to_json: Callable[[Made], dict[str, Any]]
    writers: Callable[[Made], Mapping[str, Writer]]
    summary: Callable[[Made], Summary]
    labelled: str
    follows: str
    unseen: str
    unseen_in_short: str

    def checking(self, bundle: Bundle) -> Iterator[Running | Report]:
        """Make the checks of a bundle one by one: yield each before it runs, and the report last.

        If the document cannot be read, the checks that need it are left out, and the report has no summary. A failed check
        raises no error.
        """
        found: list[Made] = []

        def read() -> str:
            found.append(self.read(bundle.document))
            return self.size(found[0])

        first: dict[str, Callable[[], str]] = {"Are the files unchanged?": partial(listed_files.unchanged, bundle), SIGNED: self._signed}
        first[f"Is {self.document} complete?"] = read
        then = {self.labelled: self._labelled, self.follows: self._follows}
        checks = list[Check]()
        for number, (question, check) in enumerate(first.items(), start=1):
            yield Running(question, number, len(first) + len(then))
            checks.append(judged(question, check))
        for number, (question, made) in enumerate(then.items() if found else (), start=len(first) + 1):
            yield Running(question, number, len(first) + len(then))
            checks.append(judged(question, partial(made, bundle, found[0])))
        shown = self.summary(found[0]) if found else None
        words = {"open_facts": self.unseen, "open_in_short": self.unseen_in_short}
        yield Report(tuple(checks), bundle.sha256, shown, kind=self.what, **words)

    def _signed(self) -> str:
        raise Nothing(f"{self.what} are not signed: nothing ties them to anybody")

    def _labelled(self, bundle: Bundle, made: Made) -> str:
        """Check that the document says what the rows are, and holds no answer about records and no charge.

        Raises:
            Wrong: It does not.
            Open: Another version wrote it in other words.
        """
        ours, theirs = self.to_json(made), dict(bundle.document)
        expect(theirs.get("kind") == self.kind, f"it does not say that it holds {self.what}")
        empty = all(theirs.get(name) == [] for name in ("records_opened", "charges"))
        expect(empty and theirs.keys() == ours.keys(), f"it holds more than {self.what} have, which no budget covers")
        different = sorted(name for name in ours if name != "versions" and ours[name] != theirs[name])
        if different and _others(bundle):
            raise Open(f"{some(different)}: written by another version")
        expect(not different, f"it does not say what {self.what} say: {some(different)}")
        return "it says so, and holds no answer about records and no charge"

    def _follows(self, bundle: Bundle, made: Made) -> str:
        """Write all files again, and compare them with the bundle's.

        Raises:
            Wrong: A file differs.
            Open: Other versions of the program or of libraries made the bundle.
        """
        ours = {name: digest_written(write) for name, write in self.writers(made).items()}
        theirs = {name: content.digest for name, content in bundle.files.items() if name != MANIFEST}
        different = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
        if different and (others := _others(bundle)):
            raise Open(f"{some(different)}: made with other versions of {some(others)}")
        expect(not different, f"they are not what {self.document} makes: {some(different)}")
        return f"{len(ours):,} files, made again from {self.document} without any other file, are the same"


def _others(bundle: Bundle) -> list[str]:
    stated = bundle.document.get("versions")
    return other_versions(stated if isinstance(stated, Mapping) else {})
