"""What a page of one person was given an address for, another person who signed in does not get, and cannot put anything in its place."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from streamlit import config
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from dpsynth_core.web.shell.door import doors, given
from dpsynth_core.web.shell.door.given import Given
from tests.web.door.test_sign_in import ORIGIN, STREAM, cookies, header, write
from tests.web.door.visits import exchange

HERS, HIS = {"sub": "1"}, {"sub": "2"}
HOST = {"host": "studio.example.org"}


def message(address: str) -> bytes:
    """What Streamlit sends for a button that downloads a file from there. The next field begins with a letter."""
    sent = ForwardMsg()
    sent.delta.new_element.download_button.url = address
    sent.delta.new_element.download_button.type = "secondary"
    return sent.SerializeToString()


@pytest.fixture
def address(installation: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of a file in memory that a page of hers was given."""
    write(installation)
    monkeypatch.setattr(doors, "_given", Given())
    storage = MemoryMediaFileStorage("/media")
    address = storage.get_url(storage.load_and_get_id(b"rows", "text/csv", MediaFileKind.DOWNLOADABLE, "rows.csv"))
    give(HERS, message(address))
    return address


def give(person: dict[str, str], content: bytes) -> None:
    """A page of this person gets a message through its websocket, and goes away."""

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "websocket.send", "bytes": content})

    async def nothing(*_: Any) -> dict[str, str]:
        return {"type": "websocket.disconnect"}

    named = header(cookies(**person)) | HOST | {"origin": ORIGIN}
    scope = {"type": "websocket", "path": STREAM, "headers": [(key.encode(), value.encode()) for key, value in named.items()]}
    asyncio.run(doors.Guard(app)(scope, nothing, nothing))


def status(person: dict[str, str], path: str, method: str = "GET") -> int:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"rows"})

    asks = header(cookies(**person)) | HOST | {"origin": ORIGIN, "content-length": "4"}
    return int(exchange(app, path, asks, method=method)[0]["status"])


def test_a_link_opens_for_the_person_whose_page_has_it_alone(address: str) -> None:
    assert status(HERS, address) == 200
    for path in (address, address.replace(".csv", ".txt"), "/media/guess.csv", "/media/"):
        assert status(HIS, path) == 404, path
    assert status(HIS, "/results") == 200
    give(HIS, message(address))  # his page makes the same file
    assert status(HIS, address) == 200


@pytest.mark.usefixtures("address")
def test_a_place_for_an_upload_takes_nothing_from_another_person() -> None:
    sent = ForwardMsg()
    place = "/_stcore/upload_file/0b7e/5d1c"
    sent.file_urls_response.file_urls.add(file_id="5d1c", upload_url=place, delete_url=place)
    give(HERS, sent.SerializeToString())
    for method in ("PUT", "DELETE"):
        assert status(HERS, place, method) == 200
        assert status(HIS, place, method) == 404


def test_below_a_path_of_the_server_it_is_the_same(address: str) -> None:
    config.set_option("server.baseUrlPath", "/office/")
    assert status(HERS, f"/office{address}") == 200
    assert status(HIS, f"/office{address}") == 404


def test_only_the_newest_addresses_are_known(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given, "_MOST", 2)
    for other in ("one", "two"):
        give(HERS, message(f"/media/{other}.csv"))
    assert [status(HERS, path) for path in (address, "/media/one.csv", "/media/two.csv")] == [404, 200, 200]
