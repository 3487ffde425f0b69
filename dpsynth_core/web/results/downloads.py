"""The downloads of a release and their route to the browser: each file is made on disk on request and sent part by part.

The files are built from public and released values only. Streamlit's download button keeps a file in the server's memory for the whole
session, and again for every session. These files use a route of this program instead, behind the same door as the pages (`shell/door`):
visitors get files of their own runs, and for anybody else the run does not exist. An address holds nothing but the run's random id and the
kind of file.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from typing import BinaryIO

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from dpsynth_core import report
from dpsynth_core.bundle.pack import pack
from dpsynth_core.bundle.signature import Signer
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.content import PART_BYTES, Writer, written_aside
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.extension import RowFormat
from dpsynth_core.foundation.zones import Zoned, publishable
from dpsynth_core.release import document as releases
from dpsynth_core.release import row_files
from dpsynth_core.release.about import About
from dpsynth_core.release.release import Release
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.release.rows import Rows
from dpsynth_core.store import faults, runs, signing
from dpsynth_core.store.home import home
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.results import open_runs
from dpsynth_core.web.shell.door import address, doors, page
from dpsynth_core.web.shell.text import capital, file_stem

BUNDLE, QUESTIONS, TO_CHECK = "bundle", "questions", "bundle_to_check"
"""`TO_CHECK` is the session key of the run whose bundle the page Verify checks while no file is uploaded there."""


@dataclass(frozen=True)
class Offer:
    """A file to download, made on request.

    Attributes:
        key: The last part of the file's address.
        name: The title on the page.
        what: A sentence about the file.
        ending: The ending of the file's name.
        mime: The media type.
        write: Writes the file to a stream; raises ZoneError for curator-only values before anything
            is written.
        check: Raises InputError for problems that can be found before the response begins.
    """

    key: str
    name: str
    what: str
    ending: str
    mime: str
    write: Writer
    check: Callable[[], object] = lambda: None


def offers(release: Release) -> tuple[Offer, ...]:
    """Return the downloads of a release: the bundle to publish first, then its parts.

    The parts are the rows in each format that can hold their number, and as CSV for spreadsheets (none for a release
    without rows), the same of the members of two linked tables, further tables of rows, the report, the release card
    and the sealed plan. Whether a format can hold the columns is found by `Offer.check`. No file is made yet.
    """
    what = "One ZIP with rows, plan, noisy tables, errors with their bounds, codebook and report. The page Verify checks it."
    drawn = "These rows are drawn from the same measurements as the first table. They show how much error the drawing adds."
    paper = "This HTML page states the guarantee, the quality and how to read the rows."
    card = "One picture to pass on: people, protection, verdict, errors."
    plan = "You can run this spec again from the command line."
    write_page = _paper(lambda: report.report_page(release), "the report")
    write_card = _paper(lambda: report.release_picture(release), "the release card")
    write_plan = _paper(lambda: report.sealed_spec(release), "the spec")
    return (
        Offer(
            BUNDLE,
            "Release bundle",
            what,
            ".zip",
            "application/zip",
            lambda to: pack(release, to, home(), signer=signer(release)),
            lambda: signer(release),
        ),
        *_copies(release),
        *_of_first(release),
        *_of_members(release),
        *(
            Offer(
                f"table-{number}",
                f"Table {number} as CSV",
                drawn,
                f"-synthetic-{number}.csv",
                "text/csv",
                partial(releases.write_csv, rows),
            )
            for number, rows in enumerate(release.further, start=2)
        ),
        Offer("report", "Report", paper, "-report.html", "text/html", write_page),
        Offer("card", "Release card", card, "-card.svg", "image/svg+xml", write_card),
        Offer("spec", "Sealed plan", plan, "-plan.json", "application/json", write_plan),
    )


def file_name(release: Release, offer: Offer) -> str:
    """Return the name of a downloaded file: the project's name, the release date and the ending.

    It has only ASCII letters, digits, dots and hyphens.
    """
    return f"{file_stem(release.spec.name)}-{release.created}{offer.ending}"


def signer(release: Release) -> Signer | None:
    """Return the signer of the release's bundle; None if the bundle is not signed.

    Raises:
        InputError: The key cannot be used (`signing.signer`).
    """
    return signing.signer(release.ledger, release.spec.digest())


def _copies(release: Release) -> list[Offer]:
    """Return the files of rows in which extensions repeat the values of other files, such as all tables as one."""
    paths = [one.row_copies for one in extension.asked(release.spec.extensions) if one.row_copies]
    found = {file: rows for path in paths if release.values is not None for file, rows in extension.load(path)(release).items()}
    what = "All rows as one table, like the one that was given."
    return [Offer(file, file, what, f"-{file}", "text/csv", partial(releases.write_csv, rows)) for file, rows in found.items()]


def _of_first(release: Release) -> list[Offer]:
    """Return the files of rows, of the first of two linked tables if there are two."""
    name = "rows" if release.plan.link is None else release.plan.link.words.made
    offered = _rows(release.values, release.plan.row_domain, release.about)
    return [replace(one, name=one.name.replace("Rows", capital(name), 1)) for one in offered]


def _of_members(release: Release) -> list[Offer]:
    """Return the row files of the second of two linked tables."""
    if release.members is None or (link := release.plan.link) is None:
        return []
    offered = _rows(release.members, release.plan.member_domain, release.about)
    named = [(one, one.name.replace("Rows", capital(link.words.held), 1)) for one in offered]
    return [replace(one, key=f"members-{one.key}", name=name, ending=f"-members{one.ending}") for one, name in named]


def _rows(values: Rows | None, domain: Domain, about: About) -> list[Offer]:
    """Return a download for each format that can hold the rows; none for a release without rows."""
    if values is None:
        return []
    what = "Texts that a spreadsheet would run as a formula get an apostrophe."
    write = partial(releases.write_csv, values, for_spreadsheets=True)
    return [
        *(
            Offer(
                name,
                f"Rows as {form.title}",
                form.what,
                f"-synthetic{form.ending}",
                form.mime,
                _filed(form, values, domain, about),
                partial(row_files.check, domain, about, [name]),
            )
            for name, form in FORMATS.items()
            if values.num_rows <= form.most_rows
        ),
        Offer("spreadsheet", "Rows as CSV for spreadsheets", what, "-synthetic-for-spreadsheets.csv", "text/csv", write),
    ]


def _filed(form: RowFormat, values: Rows, domain: Domain, about: About) -> Writer:
    return lambda stream: form.write(values, domain, stream, about)


def _paper(make: Callable[[], Zoned[bytes]], what: str) -> Writer:
    def write(stream: BinaryIO) -> None:
        stream.write(publishable(make(), what))

    return write


_PLACE = "download"
_ALONE = "sandbox allow-scripts; frame-ancestors 'none'"
"""The policy of a displayed page: the browser gives it no origin, so that it reaches nothing of this server."""
_AT_ONCE, _AT_ONCE_PER_OWNER = 4, 2
"""The most files that are made or sent at once: each occupies a thread that pages need too, and disk until the last part is taken."""
_TAKEN_SECONDS = 120.0
"""The time limit of each part, of at most 1 MB; a slower browser loses its place."""
_BUSY = InputError("download", "other files are being made", "try again in a moment; nothing is lost")

_under_way: list[str] = []
"""The owners of the files that are being sent. Only the server's event loop reads and changes the list, so it needs no lock."""

_log = logging.getLogger(__name__)


class DownloadFailed(Exception):
    """The error if a file cannot be made after its headers were sent; the browser sees a broken connection.

    It does not contain the cause, which could quote data.
    """


def routes() -> list[Route]:
    """Return the route by which a browser downloads a file of a run, as a list of one, for the server's list.

    It notes each download in the ledger, and also serves the run's question page, which is not noted. It answers
    403 to strangers, 404 for files that do not exist, are another person's or may not be published, and 503 while
    too many files are being made or the store cannot be read.
    """
    return [Route(address.path(f"{_PLACE}/{{run}}/{{key}}"), _answer, methods=["GET"])]


def address_of(run: str, key: str) -> str:
    """Return the path of a run's file, or of its question page, on this server.

    Args:
        run: The id of the run.
        key: The key of the offer, or `QUESTIONS`.
    """
    return address.path(f"{_PLACE}/{run}/{key}")


def _answer(request: Request) -> Response:
    door = doors.chosen()
    try:
        if not (owner := doors.admitted(request.cookies)):  # no stranger has passed the door; a server started without it serves nothing
            return page.for_stranger(request, door.refusal)
        with faults.explained():
            if request.path_params["key"] == QUESTIONS:  # shown like the rows are, and nothing is taken away
                return _questions(owner, request.path_params["run"])
            release, offer = _asked_for(owner, request.path_params["run"], request.path_params["key"])
            if request.method != "HEAD":
                runs.note_download(owner, request.path_params["run"], offer.key)
    except InputError as error:
        status = 503 if isinstance(error, faults.StoreFault) else 404
        return PlainTextResponse(f"{error}\n", status, page.NOT_KEPT)
    headers = {**page.NOT_KEPT, "content-disposition": f'attachment; filename="{file_name(release, offer)}"'}
    if request.method == "HEAD":
        return StreamingResponse(iter(()), headers=headers, media_type=offer.mime)
    return _Download(owner, offer, headers)


def _questions(owner: str, run: str) -> Response:
    """Return the response with the run's question page.

    Raises:
        InputError: The visitor may not see the release (`runs.to_look_at`), or it cannot answer
            questions.
    """
    release = runs.to_look_at(owner, run)
    if not report.can_answer(release):
        raise InputError("questions", "this release has neither rows nor noisy tables", "look at what it learnt")
    return HTMLResponse(open_runs.question_page(owner, run, release.despite), headers={**page.NOT_KEPT, "content-security-policy": _ALONE})


class _Download(StreamingResponse):
    """A response with a file that is made while it is sent.

    It occupies one of `_AT_ONCE` places until it is sent or its browser has gone. Without a free
    place the request is refused, so that no request waits in a thread.
    """

    def __init__(self, owner: str, offer: Offer, headers: Mapping[str, str]) -> None:
        self._owner, self._file = owner, _parts(offer.write)
        super().__init__(self._file, headers=headers, media_type=offer.mime)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if len(_under_way) >= _AT_ONCE or _under_way.count(self._owner) >= _AT_ONCE_PER_OWNER:
            await PlainTextResponse(f"{_BUSY}\n", 503, page.NOT_KEPT)(scope, receive, send)
            return
        _under_way.append(self._owner)
        try:
            with closing(self._file):
                await super().__call__(scope, receive, lambda message: asyncio.wait_for(send(message), _TAKEN_SECONDS))
        finally:
            _under_way.remove(self._owner)


def _asked_for(owner: str, run: str, key: str) -> tuple[Release, Offer]:
    """Return the release and the requested file.

    Raises:
        InputError: The file does not exist, belongs to somebody else, or may not be published.
    """
    release = runs.to_take_away(owner, run)
    for offer in offers(release):
        if offer.key == key:
            offer.check()  # a key that cannot be used, and a format that cannot hold the rows, are said in words, before the headers go out
            return release, offer
    raise InputError("download", "this release has no such file", "take one from the Results page")


def _parts(write: Writer) -> Generator[bytes]:
    """Write a file to an unnamed temporary file, and yield its parts. The temporary file is always deleted.

    Raises:
        DownloadFailed: The file cannot be made.
    """
    yield b""  # the headers go out now: the browser shows a download under way while the file is made
    with ExitStack() as kept:
        try:
            content = kept.enter_context(written_aside(write, home()))
        except Exception as error:  # noqa: BLE001
            _log.error("a download could not be made: %s", type(error).__name__)  # the type alone, a message could quote data
            raise DownloadFailed from None
        stream = kept.enter_context(content.open())
        while part := stream.read(PART_BYTES):
            yield part
