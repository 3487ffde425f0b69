"""What the server prints: a terminal gets the address with the token, anything else only the place of it; no process is given it."""

from __future__ import annotations

import io
import stat
import webbrowser
from pathlib import Path

import pytest
from streamlit import config

from dpsynth_core.web.shell import security
from dpsynth_core.web.shell.door.personal import Personal

URL = "http://127.0.0.1:8501"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(stream: io.StringIO, token: str) -> str:
    security.say(stream, URL, token)
    return stream.getvalue()


def test_a_terminal_shows_the_address_that_opens_the_wizard(door: Personal) -> None:
    assert f"{URL}/?token={door.token}" in printed(Terminal(), door.token)


def test_what_may_be_a_log_gets_the_place_of_the_token_and_not_the_token(door: Personal, installation: Path) -> None:
    text = printed(io.StringIO(), door.token)
    assert door.token not in text
    assert str(installation / "home" / "token") in text


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_in_a_container_it_says_how_to_open_it_alone_and_how_to_share_it(door: Personal, stream: type[io.StringIO]) -> None:
    assert "sign-in" not in printed(stream(), door.token)
    config.set_option("server.address", "0.0.0.0")
    text = printed(stream(), door.token)
    for word in ("sign-in", "docs/office.md", "on this machine alone", "docker exec CONTAINER cat"):
        assert word in text


def test_where_people_sign_in_there_is_no_token() -> None:
    assert "token" not in printed(Terminal(), "")


def test_a_stream_that_nobody_reads_does_not_stop_the_server(door: Personal) -> None:
    class Broken(Terminal):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    security.say(Broken(), URL, door.token)


@pytest.mark.parametrize("desktop", [True, False])
@pytest.mark.parametrize("headless", [True, False])
def test_the_browser_is_started_with_a_file_that_only_its_owner_can_read(
    door: Personal, installation: Path, monkeypatch: pytest.MonkeyPatch, headless: bool, desktop: bool
) -> None:
    started: list[str] = []
    monkeypatch.setattr(webbrowser, "open", started.append)
    monkeypatch.setattr(security.threading, "Thread", _AtOnce)
    monkeypatch.setattr(security, "_has_desktop", lambda: desktop)
    config.set_option("server.headless", headless)
    security.announce(door)
    if headless or not desktop:
        assert started == []
        return
    (address,) = started
    assert door.token not in address
    leading = installation / "home" / "open.html"
    assert address == leading.as_uri()
    assert stat.S_IMODE(leading.stat().st_mode) == 0o600
    assert f"/?token={door.token}" in leading.read_text(encoding="utf-8")


class _AtOnce:
    """A thread that does its work when it is started, before the test goes on."""

    def __init__(self, target: object, args: tuple[str], daemon: bool) -> None:
        self.target, self.args, self.daemon = target, args, daemon

    def start(self) -> None:
        assert self.daemon
        self.target(*self.args)  # type: ignore[operator]
