"""Downloads of a release: the right bytes to the right person, in memory that does not grow with the file, and nothing to anybody else."""

from __future__ import annotations

import asyncio
import errno
import io
import logging
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message
from streamlit import config

from dpsynth_core import report
from dpsynth_core.bundle.pack import pack
from dpsynth_core.bundle.signature import SIGNATURE
from dpsynth_core.foundation.content import PART_BYTES
from dpsynth_core.release import document as releases
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.store import chain, runs, signing
from dpsynth_core.store.home import LOCAL_OWNER, home
from dpsynth_core.store.runs import Run
from dpsynth_core.web.results import downloads
from dpsynth_core.web.results.downloads import Offer
from dpsynth_core.web.shell.door import doors
from dpsynth_core.web.shell.door.personal import Personal
from tests.app.demo_project import finished_run, project
from tests.patience import SECONDS
from tests.web.door.visits import HOST, OURS, exchange, headers_of

FAILS = {"criteria": [{"kind": "tables", "limit": 0.00001}]}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Run]]:
    """Two finished runs: one that may be published, one that misses what it must meet."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DPSYNTH_HOME", str(tmp_path_factory.mktemp("home")))
        doors.chosen.cache_clear()
        yield {"good": finished_run(project()), "withheld": finished_run(project(**FAILS))}
        doors.chosen.cache_clear()


@pytest.fixture
def cookie(done: dict[str, Run]) -> dict[str, str]:  # noqa: ARG001 - the token is of its home
    door = Personal()
    return {"cookie": f"{door.cookie}={door.pass_value}"}


def asked(path: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the server's answer, which must be complete."""
    started, *rest = exchange(Starlette(routes=downloads.routes()), path, headers, method=method)
    assert not rest[-1].get("more_body")
    return started["status"], headers_of(started), b"".join(message["body"] for message in rest)


def test_the_owner_gets_the_bytes_of_the_command_line(done: dict[str, Run], cookie: dict[str, str]) -> None:
    release, packed, rows = runs.release(LOCAL_OWNER, done["good"].id), io.BytesIO(), io.BytesIO()
    pack(release, packed, home(), signer=signing.signer(release.ledger, release.spec.digest()))
    assert SIGNATURE.encode() in packed.getvalue()
    assert release.values is not None
    releases.write_csv(release.values, rows)
    for key, expected in (("bundle", packed.getvalue()), ("csv", rows.getvalue())):
        status, headers, body = asked(f"/download/{done['good'].id}/{key}", cookie)
        assert (status, body) == (200, expected)
        assert headers["cache-control"] == "no-store"
        assert headers["content-disposition"].startswith('attachment; filename="trial-')
        assert headers["x-content-type-options"] == "nosniff"


def test_a_key_that_cannot_be_used_is_said_and_no_bundle_goes_out_unsigned(done: dict[str, Run], cookie: dict[str, str]) -> None:
    key = home() / signing.NAME
    signing.public_key()
    kept = key.read_bytes()
    key.write_bytes(b"x")
    try:
        status, _, body = asked(f"/download/{done['good'].id}/bundle", cookie)
        assert (status, b"signing.key is damaged" in body) == (503, True)
        assert asked(f"/download/{done['good'].id}/csv", cookie)[0] == 200
    finally:
        key.write_bytes(kept)


def test_a_format_that_cannot_hold_the_rows_is_said_before_a_file_begins(
    done: dict[str, Run], cookie: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise OverflowError("of the library")

    monkeypatch.setitem(FORMATS, "feather", replace(FORMATS["feather"], write=failing))  # type: ignore[index]  # a dict, of which no code but this knows
    status, headers, body = asked(f"/download/{done['good'].id}/feather", cookie)
    assert (status, b"a file for Feather cannot hold" in body, b"of the library" in body) == (404, True, False)
    assert "content-disposition" not in headers
    assert asked(f"/download/{done['good'].id}/jsonl", cookie)[0] == 200


def test_every_offer_is_at_its_address_and_leaves_nothing_behind(done: dict[str, Run], cookie: dict[str, str]) -> None:
    release, before = runs.release(LOCAL_OWNER, done["good"].id), sorted(home().iterdir())
    offered = downloads.offers(release)  # the bundle, which holds what the others are made of, is tried above
    assert [offer.key for offer in offered][:2] == ["bundle", "csv"]
    assert len({offer.key for offer in offered}) == len({offer.name for offer in offered}) == len(offered)
    for offer in offered[1:]:
        status, headers, body = asked(downloads.address_of(done["good"].id, offer.key), cookie)
        assert (status, bool(body)) == (200, True)
        assert headers["content-type"].split(";")[0] == offer.mime
        assert headers["content-disposition"] == f'attachment; filename="{downloads.file_name(release, offer)}"'
    assert sorted(home().iterdir()) == before


def test_the_page_of_questions_is_that_of_the_bundle_shown_and_not_taken_away(done: dict[str, Run], cookie: dict[str, str]) -> None:
    """As a page of no server, which no ledger calls a download. Of a release that needs a reason to be published it holds no rows, which
    "Save as" would take away without the reason and without an entry."""
    before = chain.entries()
    for run in (done["good"], done["withheld"]):
        for _ in range(2):
            status, headers, body = asked(f"/download/{run.id}/questions", cookie)
            assert (status, headers["content-security-policy"].split(";")[0]) == (200, "sandbox allow-scripts")
            assert "content-disposition" not in headers
            whole = report.parts(runs.release(LOCAL_OWNER, run.id))[report.EXPLORE].value
            assert (body == whole, b'"codes":null' in body) == ((True, False) if run is done["good"] else (False, True))
            assert (b"The plan withholds this release. This page has no synthetic rows" in body) is (run is done["withheld"])
    assert chain.entries() == before


def test_a_stranger_gets_nothing(done: dict[str, Run], cookie: dict[str, str]) -> None:
    path = f"/download/{done['good'].id}/report"
    foreign = cookie | {"origin": "http://127.0.0.1:9479"}
    for headers in ({}, {"cookie": cookie["cookie"][:-1]}, foreign, cookie | {"host": "evil.example"}):
        assert asked(path, headers)[0] == 403
    assert asked(path, cookie | {"origin": OURS})[0] == 200


def test_a_server_started_without_its_door_serves_nothing_either(done: dict[str, Run]) -> None:
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"host", HOST.encode())], "query_string": b""}
    request = Request(scope | {"path_params": {"run": done["good"].id, "key": "report"}})
    assert downloads._answer(request).status_code == 403


def test_another_owner_learns_no_more_than_that_there_is_no_such_run(
    done: dict[str, Run], cookie: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nobodys = asked("/download/0123456789abcdef/report", cookie)
    monkeypatch.setattr(Personal, "owner", lambda *_: "somebody else")
    assert asked(f"/download/{done['good'].id}/report", cookie) == nobodys
    assert nobodys[0] == 404


@pytest.mark.parametrize("path", ["good/secrets", "good/..%2frelease.json", "good/", "good/report/x", "../good/report"])
def test_nothing_but_what_is_offered_is_there(done: dict[str, Run], cookie: dict[str, str], path: str) -> None:
    assert asked(f"/download/{path.replace('good', done['good'].id)}", cookie)[0] in (404, 307)


def test_a_release_that_needs_a_reason_waits_for_it(done: dict[str, Run], cookie: dict[str, str]) -> None:
    path = f"/download/{done['withheld'].id}/csv"
    status, _, body = asked(path, cookie)
    assert (status, b"condition that must be met" in body) == (404, True)
    runs.explain(LOCAL_OWNER, done["withheld"].id, "Only the teaching of students needs it.")
    assert asked(path, cookie)[0] == 200


def test_a_disk_that_fails_is_said(done: dict[str, Run], cookie: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: str) -> None:
        raise OSError(errno.EIO, "age of person 17")

    monkeypatch.setattr(runs, "release", fails)
    status, _, body = asked(f"/download/{done['good'].id}/report", cookie)
    assert (status, body) == (503, b"DPSYNTH_HOME: its disk fails; check the disk, then try again\n")


def test_asking_for_headers_makes_no_file(done: dict[str, Run], cookie: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "pack", lambda *_: pytest.fail("a file was made"))
    status, headers, body = asked(f"/download/{done['good'].id}/bundle", cookie, method="HEAD")
    assert (status, body) == (200, b"")
    assert headers["content-type"] == "application/zip"


def test_addresses_are_below_the_path_of_the_server(done: dict[str, Run], cookie: dict[str, str]) -> None:
    offer = downloads.offers(runs.release(LOCAL_OWNER, done["good"].id))[-1]
    config.set_option("server.baseUrlPath", "studio")
    try:
        path = downloads.address_of(done["good"].id, offer.key)
        assert path == f"/studio/download/{done['good'].id}/spec"
        assert asked(path, cookie)[0] == 200
    finally:
        config.set_option("server.baseUrlPath", "")


@pytest.mark.usefixtures("done")
def test_memory_does_not_grow_with_the_file() -> None:
    part, times = bytes(PART_BYTES), 64

    def write(stream: BinaryIO) -> None:
        for _ in range(times):
            stream.write(part)

    tracemalloc.start()
    size = sum(len(piece) for piece in downloads._parts(write))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == times * PART_BYTES
    assert peak < 4 * PART_BYTES  # a part being written, one being hashed or sent, and what buffers hold


@pytest.mark.usefixtures("done")
def test_a_file_that_cannot_be_made_breaks_off_without_a_word_of_why(caplog: pytest.LogCaptureFixture) -> None:
    def write(stream: BinaryIO) -> None:
        stream.write(b"half")
        raise ValueError("age of person 17")

    before = sorted(home().iterdir())
    with caplog.at_level(logging.ERROR), pytest.raises(downloads.DownloadFailed) as failed:
        list(downloads._parts(write))
    assert failed.value.__suppress_context__
    assert "ValueError" in caplog.text
    assert not [record for record in caplog.records if record.exc_info or "17" in record.getMessage()]
    assert sorted(home().iterdir()) == before
    assert b"".join(downloads._parts(lambda stream: stream.write(b"whole"))) == b"whole"  # its place is free again


@pytest.mark.usefixtures("done")
def test_a_browser_that_goes_away_leaves_no_file_open() -> None:
    before = sorted(home().iterdir())
    parts = downloads._parts(lambda stream: stream.write(bytes(3 * PART_BYTES)))
    assert (next(parts), len(next(parts))) == (b"", PART_BYTES)
    assert len(_nameless_files()) == 1
    parts.close()
    assert not _nameless_files()
    assert sorted(home().iterdir()) == before


def test_only_so_many_at_once_and_who_goes_away_makes_room(done: dict[str, Run], cookie: dict[str, str]) -> None:
    path, app = f"/download/{done['good'].id}/report", Starlette(routes=downloads.routes())
    headers = [(b"host", HOST.encode()), (b"cookie", cookie["cookie"].encode())]
    scope = {"type": "http", "asgi": {"spec_version": "2.4"}, "method": "GET", "path": path, "query_string": b"", "headers": headers}

    async def slow(taken: int) -> asyncio.Task[None]:
        """A browser that takes so many messages, the first with the headers, and then no more; it goes away when it is cancelled."""
        messages, full = iter(range(taken)), asyncio.Event()

        async def send(_: Message) -> None:
            if next(messages, None) is None:
                full.set()
                await asyncio.Event().wait()

        async def receive() -> Message:
            await asyncio.Event().wait()
            raise AssertionError

        browser = asyncio.create_task(app(dict(scope), receive, send))  # type: ignore[arg-type]  # a coroutine
        await full.wait()
        return browser

    async def two_slow_ones() -> None:
        browsers = [await slow(0), await slow(2)]  # before the headers; with a file that is made
        assert len(_nameless_files()) == 1
        assert (await asyncio.to_thread(asked, path, cookie))[0] == 503
        assert (await asyncio.to_thread(asked, path, cookie, "HEAD"))[0] == 200
        for browser in browsers:
            browser.cancel()
        await asyncio.gather(*browsers, return_exceptions=True)

    before = sorted(home().iterdir())
    asyncio.run(two_slow_ones())
    assert not _nameless_files()
    assert sorted(home().iterdir()) == before
    assert asked(path, cookie)[0] == 200


def test_one_owner_leaves_places_to_others_and_all_together_have_an_end(cookie: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    def status(owner: str) -> int:
        offer = Offer("table", "Table", "All rows.", ".csv", "text/csv", lambda stream: stream.write(b"whole"))
        return int(exchange(downloads._Download(owner, offer, {}), "/", cookie)[0]["status"])

    for under_way, owner, expected in (
        ([], "a", 200),
        (["a"], "a", 200),
        (["a", "a"], "a", 503),
        (["a", "a"], "b", 200),
        (["a", "a", "b", "c"], "d", 503),
    ):
        monkeypatch.setattr(downloads, "_under_way", held := list(under_way))
        assert status(owner) == expected
        assert held == under_way


def _nameless_files() -> set[str]:
    """Files of this process in the data directory that have no name any more."""
    opened = (str(one.readlink()) for one in Path("/proc/self/fd").iterdir() if one.is_symlink())
    return {path for path in opened if path.startswith(str(home())) and path.endswith("(deleted)")}


def test_who_takes_no_part_for_long_loses_the_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    monkeypatch.setattr(downloads, "_TAKEN_SECONDS", 0.1)
    monkeypatch.setattr(downloads, "_under_way", held := [])
    seen: list[list[str]] = []

    async def stands_still(_: Message | None = None) -> Message:
        seen.append(list(held))
        await asyncio.Event().wait()
        raise AssertionError

    async def go() -> None:
        scope = {"type": "http", "asgi": {"spec_version": "2.4"}, "method": "GET", "path": "/", "headers": []}
        offer = Offer("table", "Table", "All rows.", ".csv", "text/csv", lambda stream: stream.write(b"whole"))
        await asyncio.wait_for(downloads._Download("ann", offer, {})(scope, stands_still, stands_still), SECONDS)  # type: ignore[arg-type]

    with pytest.raises((ClientDisconnect, TimeoutError)):
        asyncio.run(go())
    assert seen[0] == ["ann"]
    assert held == []
