"""The token is exchanged for a cookie once; it leaves the address, reaches no log, and nothing that is almost right comes in."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from dpsynth_core.store import access_token
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell.door import doors, personal
from dpsynth_core.web.shell.door.personal import Personal
from tests.web.door.visits import BROWSER, OURS, visit


def cookie_of(answer_cookie: str) -> tuple[str, str, set[str]]:
    """Name, value and attributes."""
    pair, *attributes = answer_cookie.split("; ")
    name, _, value = pair.partition("=")
    return name, value, set(attributes)


def test_the_first_visit_exchanges_the_token_for_a_cookie_that_scripts_cannot_read(door: Personal) -> None:
    answer = visit("/results", query=f"token={door.token}&project=1f&note=a%20b")
    assert (answer.status, answer.headers["location"]) == (303, "/results?project=1f&note=a+b")
    assert answer.headers["cache-control"] == "no-store"
    name, value, attributes = cookie_of(answer.headers["set-cookie"])
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= attributes
    assert "Secure" not in attributes
    assert door.token not in str(answer)
    assert visit("/results", {"cookie": f"{name}={value}"}).let_in
    assert visit("/_stcore/stream", {"cookie": f"{name}={value}", "origin": OURS}, kind="websocket").let_in


def test_the_cookie_travels_by_https_alone_where_browsers_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_URL", "https://localhost")
    answer = visit(query=f"token={access_token.load()}")
    assert "Secure" in cookie_of(answer.headers["set-cookie"])[2]


@pytest.mark.parametrize("path", ["//evil.example/", "///evil.example", "/\\evil.example", "\\\\evil.example"])
def test_the_way_on_never_leads_to_another_server(door: Personal, path: str) -> None:
    assert visit(path, query=f"token={door.token}").headers["location"].startswith("/evil.example")


def test_a_pasted_address_is_as_good_as_the_token_in_it(door: Personal) -> None:
    pasted = quote(f" http://localhost:8501/?project=1&token={door.token} ", safe="")
    assert visit("/ledger", query=f"token={pasted}").headers["location"] == "/ledger"


@pytest.mark.parametrize("almost", ["", "{}0", "0{}", "{}\0", "x{}", "é", "{}{}"])
def test_a_token_that_is_almost_right_gets_no_cookie(door: Personal, almost: str) -> None:
    answer = visit(headers=BROWSER, query=f"token={quote(almost.format(door.token, door.token))}")
    assert (answer.status, answer.let_in) == (403, False)
    assert "set-cookie" not in answer.headers
    assert "not the token of this server" in answer.body


def test_the_token_is_compared_in_constant_time(door: Personal, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []
    real = personal.hmac.compare_digest
    monkeypatch.setattr(personal.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or real(a, b))
    visit(query="token=" + "0" * 48)
    assert (b"0" * 48, door.token.encode()) in compared
    visit(headers={"cookie": f"{door.cookie}=0"})
    assert (b"0", door.pass_value.encode()) in compared


def test_a_token_in_a_form_that_another_page_sends_is_refused(door: Personal) -> None:
    answer = visit("/", {"origin": "http://evil.example"}, method="POST", query=f"token={door.token}")
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


def test_an_old_token_in_a_bookmark_does_not_shut_out_who_is_in(door: Personal, cookie: dict[str, str]) -> None:
    answer = visit("/results", cookie, query="token=old&project=1")
    assert (answer.status, answer.headers["location"]) == (303, "/results?project=1")
    assert "set-cookie" not in answer.headers
    assert door.owner({}) == ""


def test_the_page_for_a_stranger_says_how_to_open_and_keeps_the_address(door: Personal) -> None:
    answer = visit("/results", BROWSER, query="project=1f&x=%22%3E%3Cscript%3E")
    assert "The token shows that you are that person" in answer.body
    assert 'name="project" value="1f"' in answer.body
    assert "<script" not in answer.body
    assert door.token not in answer.body
    assert str(access_token.place()) not in answer.body
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "script-src" not in answer.headers["content-security-policy"]


def test_a_link_from_elsewhere_is_asked_again_by_our_own_page() -> None:
    away = BROWSER | {"sec-fetch-site": "cross-site"}
    assert 'http-equiv="refresh"' in visit("/results", away).body
    for nearer in ("same-origin", "same-site", "none"):
        assert 'http-equiv="refresh"' not in visit("/results", BROWSER | {"sec-fetch-site": nearer}).body


def test_the_owner_is_one_person_whatever_a_cookie_says(door: Personal) -> None:
    assert door.owner({door.cookie: door.pass_value}) == LOCAL_OWNER
    for cookies in ({}, {"dpsynth_owner": "0" * 32}, {door.cookie: ""}, {door.cookie: LOCAL_OWNER}, {door.cookie: door.token}):
        assert door.owner(cookies) == ""


def test_tabs_survive_a_restart_and_not_a_new_token(door: Personal) -> None:
    cookies = {door.cookie: door.pass_value}
    doors.chosen.cache_clear()
    assert doors.chosen().owner(cookies) == LOCAL_OWNER
    access_token.place().unlink()
    doors.chosen.cache_clear()
    assert doors.chosen().owner(cookies) == ""


def test_two_wizards_on_one_machine_keep_their_cookies_apart(door: Personal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "second"))
    assert Personal().cookie != door.cookie


def test_a_broken_cookie_header_is_no_crash() -> None:
    assert visit(headers={"cookie": "\xff\xfe;;;=;\x00"}).status == 403


def test_the_token_is_not_shown_with_the_door(door: Personal) -> None:
    assert door.token not in repr(door)
