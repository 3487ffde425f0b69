"""The server around the pages: headers on every answer, no legacy pages, a start that fails only where it must."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.pages_manager import PagesManager
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.store import dispatch, retention
from dpsynth_core.web.shell import descriptors, security
from dpsynth_core.web.shell.door import doors
from tests.patience import SECONDS
from tests.servers import serving
from tests.web.door.visits import BROWSER, visit


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    doors.chosen.cache_clear()


def test_every_answer_carries_the_headers_once() -> None:
    for path in ("/", "/_stcore/health"):
        headers = visit(path, BROWSER).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "no-referrer"
        policy = headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert policy.startswith("default-src 'none'" if path == "/" else "default-src 'self'")
        for elsewhere in ("http:", "https:", "*"):
            assert elsewhere not in policy


@pytest.mark.parametrize("https", [True, False])
def test_by_https_every_cookie_is_for_https_alone_and_so_is_the_server(https: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit sets its cookie of the sign-in without Secure."""
    monkeypatch.setenv("DPSYNTH_URL", f"http{'s' * https}://localhost:9000")
    cookies = [b"_streamlit_user=x; HttpOnly; SameSite=lax", b"ours=y; SeCure; HttpOnly"]
    sent: list[Any] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"Set-Cookie", cookie) for cookie in cookies]})

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(security.Harden(app)({"type": "http"}, None, send))  # type: ignore[arg-type]
    headers = sent[0]["headers"]
    assert [value for name, value in headers if name == b"Set-Cookie"] == [cookies[0] + b"; Secure" * https, cookies[1]]
    assert ((b"strict-transport-security", b"max-age=31536000") in headers) == https


def test_a_thousand_tabs_fit_or_the_start_says_how_many_do(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(descriptors.resource, "getrlimit", lambda _: (1024, 524_288))
    monkeypatch.setattr(descriptors.resource, "setrlimit", lambda _, both: limits.append(both))
    assert descriptors.make_room() == ""
    assert limits == [(65_536, 524_288)]
    monkeypatch.setattr(descriptors.resource, "getrlimit", lambda _: (1024, 1024))
    assert "room for 192 browser tabs (ulimit -n: 1,024)" in descriptors.make_room()
    assert len(limits) == 1


def test_the_server_does_not_start_when_its_door_cannot_be_shut(tmp_path: Path) -> None:
    (tmp_path / "token").touch(mode=0o644)
    with pytest.raises(SystemExit, match=r"The wizard does not start. token: .* delete the file"):
        security.check_settings()


def test_legacy_pages_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    security.forbid_legacy_pages()
    assert PagesManager.uses_pages_directory is False


def test_starting_settles_the_runs_and_survives_a_failure(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []

    def pump() -> None:
        calls.append(1)
        raise RuntimeError("age of person 17")

    monkeypatch.setattr(dispatch, "pump", pump)

    async def serve() -> None:
        async with security.lifespan(None):
            assert calls == [1]

    asyncio.run(serve())
    assert "RuntimeError" in caplog.text
    assert "person 17" not in caplog.text


class _FailsAtItsEnd:
    def __del__(self) -> None:
        raise KeyError("canary: Ms Smith")


def test_the_log_has_type_and_place_of_an_exception_and_never_its_text(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = logging.getLogRecordFactory()
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    security.describe_exceptions()
    try:
        for logger in ("streamlit.error_util", "uvicorn.error", "asyncio"):
            try:
                TableFormat.of({"kind": "csv", "missing_markers": 7})
            except TypeError as error:
                logging.getLogger(logger).error("Uncaught: %s", ValueError("canary: Ms Smith"), exc_info=error)
            logging.getLogger(logger).warning("It went wrong: %s", error := ValueError("canary: Ms Smith"))
            logging.getLogger(logger).warning(error)
            logging.getLogger(logger).warning("It went wrong: %(why)s", {"why": [error]})
        _FailsAtItsEnd()
    finally:
        logging.setLogRecordFactory(made)
        threading.excepthook = threading.__excepthook__
    assert "TypeError in sources/formats.py, line" in caplog.text
    assert "uncaught: KeyError" in caplog.text
    assert "canary" not in caplog.text
    assert "Traceback" not in caplog.text


ROOT = Path(__file__).resolve().parents[2]
CHECK = """
import ast, sys
from pathlib import Path
from dpsynth_core.web.shell import security
security.load_pages()
for page in Path("pages").glob("*.py"):
    for node in ast.walk(ast.parse(page.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("dpsynth_core"):
            assert node.module in sys.modules, (page, node.module)
assert "altair" in sys.modules
"""


def test_the_modules_of_every_page_are_loaded_before_the_first_visit() -> None:
    subprocess.run([sys.executable, "-c", CHECK], cwd=ROOT, check=True, timeout=SECONDS)


_FAILING = """
import threading
import streamlit as st
from dpsynth_core.web.shell import security

def fail():
    raise ValueError("canary: Ms Smith")

if __name__ == "__main__":
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    fail()
else:
    security.describe_exceptions()
    app = st.App(__file__)
"""


@pytest.mark.slow  # a server that starts
def test_neither_the_log_nor_the_browser_gets_the_text_of_what_a_page_fails_with(tmp_path: Path) -> None:
    """In a server as it is started: what Streamlit writes by itself is in its log too."""
    (tmp_path / "failing.py").write_text(_FAILING, encoding="utf-8")
    said = b""
    with serving(tmp_path / "home", script=str(tmp_path / "failing.py"), log=tmp_path / "log") as server:
        place = f"{server.url.replace('http', 'ws')}/_stcore/stream"
        with connect(place, subprotocols=[Subprotocol("streamlit")], origin=Origin(server.url)) as socket:
            socket.send(BackMsg(rerun_script=ClientState()).SerializeToString())
            while ForwardMsg.FromString(part := bytes(socket.recv(SECONDS))).WhichOneof("type") != "script_finished":
                said += part
    written = (tmp_path / "log").read_text(encoding="utf-8")
    assert written.count("ValueError") == 2
    assert b"in the logs" in said, "the page failed"
    assert "canary" not in written
    assert b"canary" not in said


def test_the_queue_goes_on_while_what_is_old_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    began, ended, looks = threading.Event(), threading.Event(), []

    def expire() -> None:
        began.set()
        assert ended.wait(SECONDS)

    def pump() -> None:
        looks.append(began.is_set())
        if sum(looks) > 3:
            ended.set()

    monkeypatch.setattr(dispatch, "pump", pump)
    monkeypatch.setattr(retention, "expire", expire)
    monkeypatch.setattr(security, "_PUMP_SECONDS", 0.01)
    monkeypatch.setattr(security, "_EXPIRE_SECONDS", 0.01)

    async def serve() -> None:
        async with security.lifespan(None):
            assert await asyncio.to_thread(ended.wait, SECONDS)

    asyncio.run(serve())


def test_nothing_is_deleted_by_a_clock_that_was_just_set(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 4e8, 4e8, 4e8])
    monkeypatch.setattr(security, "time", SimpleNamespace(time=lambda: next(clock), monotonic=lambda: 0.0))
    monkeypatch.setattr(security, "_EXPIRE_SECONDS", 0.0)
    left: list[list[float]] = []
    monkeypatch.setattr(retention, "expire", lambda: left.append(list(clock)))
    with pytest.raises((StopIteration, RuntimeError)):
        asyncio.run(security._expire_forever())
    assert left == [[]], "at the end of the second hour alone"
