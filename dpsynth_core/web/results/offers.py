"""What can be taken away from a release: each file in words, and what writes it. Built from public and released values only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from dpsynth_core import report
from dpsynth_core.bundle.pack import pack
from dpsynth_core.bundle.signature import Signer
from dpsynth_core.foundation.content import Writer
from dpsynth_core.foundation.zones import Zoned, publishable
from dpsynth_core.release import document as releases
from dpsynth_core.release.release import Release
from dpsynth_core.release.row_files import FORMATS, RowFormat
from dpsynth_core.release.rows import Rows
from dpsynth_core.store import signing
from dpsynth_core.store.home import home
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.shell.text import file_stem

BUNDLE = "bundle"


@dataclass(frozen=True)
class Offer:
    """A file to take away, made when it is asked for. key: its name in addresses. name, what: for people. ending: of its file name. write:
    raises ZoneError, before anything is written, for what is curator-only."""

    key: str
    name: str
    what: str
    ending: str
    mime: str
    write: Writer


def of(release: Release) -> tuple[Offer, ...]:
    """What to publish first, then its parts."""
    what = "One ZIP with rows, plan, noisy tables, errors with their bounds, codebook and report. Page Verify checks it."
    drawn = "Drawn from the same measurement as the first: shows how much the drawing of rows adds."
    page = "One HTML page for people: guarantee, quality, how to read the rows."
    plan = "The spec of this release, to run again from the command line."
    write_page = _paper(lambda: report.report_page(release), "the report")
    write_plan = _paper(lambda: report.sealed_spec(release), "the spec")
    return (
        Offer(BUNDLE, "Release bundle", what, ".zip", "application/zip", lambda to: pack(release, to, home(), signer=signer(release))),
        *_rows(release.values, release.domain),
        *(
            Offer(f"table-{number}", f"Table {number} as CSV", drawn, f"-{number}.csv", "text/csv", partial(releases.write_csv, rows))
            for number, rows in enumerate(release.further, start=2)
        ),
        Offer("report", "Report", page, "-report.html", "text/html", write_page),
        Offer("spec", "Sealed plan", plan, "-plan.json", "application/json", write_plan),
    )


def file_name(release: Release, offer: Offer) -> str:
    """By project and date, which the release states too. ASCII letters, digits, dots and hyphens."""
    return f"{file_stem(release.spec.name)}-{release.created}{offer.ending}"


def signer(release: Release) -> Signer | None:
    """What signs its bundle. Raises InputError as `signing.signer`."""
    return signing.signer(release.ledger, release.spec.digest())


def _rows(values: Rows | None, domain: Domain) -> list[Offer]:
    """One for each format that can hold so many; none for answers only."""
    if values is None:
        return []
    what = "Texts that a spreadsheet would run as a formula get an apostrophe."
    write = partial(releases.write_csv, values, for_spreadsheets=True)
    return [
        *(_rows_as(name, form, values, domain) for name, form in FORMATS.items() if values.num_rows <= form.most_rows),
        Offer("spreadsheet", "Rows as CSV for spreadsheets", what, "-for-spreadsheets.csv", "text/csv", write),
    ]


def _rows_as(key: str, form: RowFormat, values: Rows, domain: Domain) -> Offer:
    return Offer(key, f"Rows as {form.title}", form.what, form.ending, form.mime, lambda stream: form.write(values, domain, stream))


def _paper(make: Callable[[], Zoned[bytes]], what: str) -> Writer:
    def write(stream: BinaryIO) -> None:
        stream.write(publishable(make(), what))

    return write
