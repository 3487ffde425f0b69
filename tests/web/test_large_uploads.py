"""Files as large as the wizard takes, and larger ones: they are refused, or read within a memory that is stated, and given back."""

from __future__ import annotations

import http.client
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.patience import SECONDS
from tests.servers import Server, serving

pytestmark = [
    pytest.mark.slow,  # half a gigabyte goes through a server
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read in /proc"),
]

MB = 1 << 20
LARGEST_MB = 500
"""server.maxUploadSize in .streamlit/config.toml."""
TOKEN = "5f" * 16
BEFORE = b'--cut\r\nContent-Disposition: form-data; name="file"; filename="people.csv"\r\nContent-Type: text/csv\r\n\r\n'
AFTER = b"\r\n--cut--\r\n"


@dataclass(frozen=True)
class Tab:
    """A page that is open in a browser. place: where its uploads go."""

    server: Server
    cookie: str
    place: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Cookie": self.cookie, "Origin": self.server.url, "X-Xsrftoken": TOKEN}

    def put(self, megabytes: int, *, stated: int | None = None, chunked: bool = False) -> int:
        """The status of the answer to a file of this size. stated: the length that its header names, the true one unless given."""
        length = len(BEFORE) + megabytes * MB + len(AFTER)
        headers = self.headers | {"Content-Type": "multipart/form-data; boundary=cut"}
        headers |= {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(length if stated is None else stated)}
        connection = http.client.HTTPConnection("localhost", self.server.port, timeout=SECONDS)
        connection.request("PUT", self.place, headers=headers)
        try:
            for part in parts(megabytes):
                connection.send(b"%x\r\n%b\r\n" % (len(part), part) if chunked else part)
            connection.send(b"0\r\n\r\n" if chunked else b"")
        except (BrokenPipeError, ConnectionResetError):
            pass  # the server has answered and reads no more
        try:
            return connection.getresponse().status
        except (ConnectionResetError, http.client.RemoteDisconnected):
            return 0  # the answer was lost with the connection
        finally:
            connection.close()

    def memory_mb(self, what: str = "VmRSS") -> float:
        return memory_mb(self.server, what)


def memory_mb(server: Server, what: str = "VmRSS") -> float:
    """Of a server's process. what: VmRSS now, VmHWM at most so far."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def parts(megabytes: int) -> Iterator[bytes]:
    yield BEFORE
    for _ in range(megabytes):
        yield b"7" * MB
    yield AFTER


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with serving(tmp_path_factory.mktemp("uploads") / "home") as server:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        jar = next(one for one in opener.handlers if isinstance(one, urllib.request.HTTPCookieProcessor)).cookiejar
        opener.open(server.opening(), timeout=SECONDS).read()
        cookie = "; ".join([*(f"{one.name}={one.value}" for one in jar if one.name != "_streamlit_xsrf"), f"_streamlit_xsrf={TOKEN}"])
        stream = connect(
            f"ws://localhost:{server.port}/_stcore/stream",
            origin=Origin(server.url),
            subprotocols=[Subprotocol("streamlit")],
            additional_headers={"Cookie": cookie},
            max_size=None,
            ping_interval=None,
        )
        with stream as socket:
            asked = BackMsg()
            asked.rerun_script.page_name = ""
            socket.send(asked.SerializeToString())
            session = ""
            while not session:
                session = ForwardMsg.FromString(bytes(socket.recv(SECONDS))).new_session.initialize.session_id  # type: ignore[arg-type]
            yield Tab(server, cookie, f"/_stcore/upload_file/{session}/0b7e5d1c")


def test_what_is_too_large_is_refused_before_it_takes_memory(tab: Tab) -> None:
    before = tab.memory_mb("VmHWM")
    assert tab.put(LARGEST_MB + 10) in (413, 0)
    assert tab.put(LARGEST_MB + 10, chunked=True) in (413, 0)
    assert tab.put(LARGEST_MB + 10, stated=1 << 60) in (413, 0)
    assert tab.put(1, stated=-1) in (400, 413, 0)
    assert tab.memory_mb("VmHWM") < before + 50


def test_the_largest_is_taken_within_three_times_its_size_and_given_back(tab: Tab) -> None:
    """Its content is held once, and once more while it arrives or is handed on; a third time leaves room for the allocator."""
    before = tab.memory_mb()
    assert tab.put(LARGEST_MB - 1) == 204
    assert tab.memory_mb("VmHWM") < before + 3 * LARGEST_MB
    assert tab.memory_mb() > before + LARGEST_MB / 2, "it is held, or this test measures nothing"
    asked = urllib.request.Request(tab.server.url + tab.place, method="DELETE", headers=tab.headers)
    assert urllib.request.urlopen(asked, timeout=SECONDS).status == 204
    assert tab.put(1) == 204
    assert tab.memory_mb() < before + LARGEST_MB / 2

