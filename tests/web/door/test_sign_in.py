"""Where people sign in: the cookie must be Streamlit's own, for this server, and name a person; what would not protect does not start."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit import config
from streamlit.runtime.secrets import secrets_singleton
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from dpsynth_core.store import roles
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import security
from dpsynth_core.web.shell.door import doors, sign_in
from tests.patience import SECONDS
from tests.refusals import refused
from tests.web.door.visits import BROWSER, visit

ORIGIN = "https://studio.example.org"
SECRET = "c" * 40
ANN = {
    "iss": "https://login.example.org",
    "sub": "1",
    "email": "Ann@Example.org",
    "email_verified": True,
    "is_logged_in": True,
    "origin": ORIGIN,
}
STREAM = "/_stcore/stream"
NOW = int(time.time())


def write(folder: Path, people: str = "", own: str = "", **changes: str | None) -> None:
    """secrets.toml. own: more lines of ours. changes: keys of [auth] with another value, or without one."""
    section = {
        "redirect_uri": f"{ORIGIN}/oauth2callback",
        "cookie_secret": SECRET,
        "client_id": "studio",
        "client_secret": "s",
        "server_metadata_url": "https://login.example.org/.well-known/openid-configuration",
    } | changes
    lines = [f"{key} = {json.dumps(value)}" for key, value in section.items() if value is not None]
    (folder / "secrets.toml").write_text("\n".join(["[auth]", *lines, "[dpsynth]", f"people = [{people}]", own]), encoding="utf-8")


def cookies(secret: str = SECRET, name: str = "_streamlit_user", **changes: Any) -> Mapping[str, str]:
    """What a browser holds after Ann signed in. changes: claims with another value, or without one."""
    claims = {key: value for key, value in (ANN | {"iat": int(time.time())} | changes).items() if value is not None}
    return {"_streamlit_user": create_signed_value(secret, name, json.dumps(claims)).decode()}


def header(held: Mapping[str, str]) -> dict[str, str]:
    return {"cookie": "; ".join(f"{name}={value}" for name, value in held.items())}


def test_who_signed_in_comes_in_and_owns_what_issuer_and_subject_own(installation: Path) -> None:
    write(installation)
    owner = doors.chosen().owner(cookies())
    assert len(owner) == 32
    assert doors.chosen().owner(cookies(email="other@example.org")) == owner
    others = {doors.chosen().owner(cookies(**changes)) for changes in ({"sub": "2"}, {"iss": "https://elsewhere.example"})}
    assert len(others | {owner, LOCAL_OWNER, ""}) == 5
    assert visit("/", header(cookies()) | {"host": "studio.example.org"}).let_in
    assert visit(STREAM, header(cookies()) | {"origin": ORIGIN}, kind="websocket").let_in


@pytest.mark.parametrize(
    "held",
    [
        {},
        cookies(secret="d" * 40),
        cookies(name="_streamlit_user_tokens"),
        cookies(origin="https://elsewhere.example"),
        cookies(is_logged_in=False),
        cookies(is_logged_in=None),
        cookies(iss=None),
        cookies(sub=None),
        cookies(sub=""),
        cookies(sub=["1"]),
        cookies(iat=None),
        cookies(iat=str(NOW)),
        cookies(iat=True),
        cookies(iat=NOW - roles.SIGNED_IN_SECONDS),
        cookies(iat=NOW + 2 * roles.SIGNED_IN_SECONDS),
        {"_streamlit_user": json.dumps(ANN)},
        {"_streamlit_user": "x.y.z"},
        {"dpsynth_owner": "0" * 32},
    ],
)
def test_every_other_cookie_is_a_strangers(installation: Path, held: Mapping[str, str]) -> None:
    write(installation)
    assert doors.chosen().owner(held) == ""
    assert not visit("/", BROWSER | header(held)).let_in
    assert not visit(STREAM, header(held) | {"origin": ORIGIN}, kind="websocket").let_in


def test_the_origin_is_the_one_that_sign_in_names_whatever_a_proxy_says(installation: Path) -> None:
    write(installation)
    for origin in ("http://127.0.0.1:8501", "http://studio.example.org", "https://studio.example.org:8443"):
        lies = {"origin": origin, "host": origin.partition("//")[2], "x-forwarded-host": origin.partition("//")[2]}
        assert not visit(STREAM, header(cookies()) | lies, kind="websocket").let_in


def test_a_token_opens_nothing_where_people_sign_in(installation: Path) -> None:
    write(installation)
    assert visit("/", BROWSER, query=f"token={'0' * 48}").status == 403
    assert not (installation / "home" / "token").exists()
    assert not doors.chosen().one_person


def test_a_stranger_may_ask_for_the_way_in_alone(installation: Path) -> None:
    write(installation)
    begin = visit("/auth/login")
    assert (begin.status, begin.let_in) == (303, False)
    assert begin.headers["location"].startswith("/auth/login?provider=")
    assert visit("/auth/login", query=begin.headers["location"].partition("?")[2]).let_in
    assert visit("/oauth2callback", query="code=1&state=2").let_in
    assert visit("/auth/logout").let_in
    assert not visit("/auth/login/").let_in
    assert not visit("/auth/login", {"origin": ORIGIN}, method="POST").let_in
    assert 'href="/auth/login"' in visit("/results", BROWSER).body


@pytest.mark.parametrize(
    ("people", "claims", "let_in"),
    [
        ('"ann@example.org"', {}, True),
        ('" ANN@example.ORG "', {}, True),
        ('"@example.org"', {}, True),
        ('"@example.org"', {"email": "eve@evil@example.org.evil.example"}, False),
        ('"@example.org"', {"email": "eve@notexample.org"}, False),
        ('"ben@example.org"', {}, False),
        ('"ann@example.org"', {"email_verified": False}, False),
        ('"ann@example.org"', {"email_verified": "true"}, False),
        ('"ann@example.org"', {"email": None}, False),
        ("", {"email": None}, True),
        ('"group:curators"', {"groups": ["staff", "Curators"], "email": None}, True),
        ('"group:curators"', {"groups": ["curators2"]}, False),
        ('"group:curators"', {"groups": "curators"}, False),
        ('"group:curators"', {"groups": [["curators"]]}, False),
        ('"group:curators"', {"roles": ["curators"]}, False),
        ('"group:curators"', {"email": "group:curators"}, False),
        ('"group:a@example.org"', {"email": "group:a@example.org"}, False),
    ],
)
def test_the_list_of_people_is_kept(installation: Path, people: str, claims: Mapping[str, Any], let_in: bool) -> None:
    write(installation, people)
    answer = visit("/", BROWSER | header(cookies(**claims)))
    assert answer.let_in is let_in
    if not let_in:
        assert "You are not on the list" in answer.body


def test_a_name_from_the_provider_is_text_on_the_page(installation: Path) -> None:
    write(installation, '"ben@example.org"')
    body = visit("/", BROWSER | header(cookies(email="<script>alert(1)</script>"))).body
    assert "<script" not in body
    assert "&lt;script&gt;" in body


@pytest.mark.parametrize(
    ("changes", "answer_text"),
    [
        ({"cookie_secret": "short"}, "fewer than 32 characters"),
        ({"cookie_secret": None}, "cookie_secret"),
        ({"client_id": None}, "client_id"),
        ({"server_metadata_url": None}, "server_metadata_url"),
        ({"redirect_uri": "http://studio.example.org/oauth2callback"}, "without https"),
        ({"redirect_uri": "https://studio.example.org/"}, "does not end in /oauth2callback"),
        ({"redirect_uri": None}, "redirect_uri"),
    ],
)
def test_a_section_that_would_not_protect_is_refused_at_the_start(installation: Path, changes: dict[str, None], answer_text: str) -> None:
    write(installation, **changes)
    error = refused(doors.chosen, saying=answer_text)
    assert SECRET not in str(error)


def test_http_is_enough_on_this_machine(installation: Path) -> None:
    write(installation, redirect_uri="http://localhost:8501/oauth2callback")
    assert doors.chosen().origin("whatever") == "http://localhost:8501"


@pytest.mark.parametrize("people", ["1", '"ann"', "true"])
def test_a_list_that_names_nobody_is_refused(installation: Path, people: str) -> None:
    write(installation, people)
    refused(doors.chosen, saying="not a list of e-mail addresses and groups")


def test_secrets_that_cannot_be_read_do_not_turn_sign_in_off(installation: Path) -> None:
    (installation / "secrets.toml").write_text("[auth\n", encoding="utf-8")
    refused(doors.chosen, saying="cannot be read")


def test_other_secrets_do_not_turn_it_on(installation: Path) -> None:
    (installation / "secrets.toml").write_text("[connections]\nx = 1\n", encoding="utf-8")
    assert not sign_in.wanted()
    assert doors.chosen().one_person


def test_the_claim_with_the_groups_has_the_name_that_the_provider_gives_it(installation: Path) -> None:
    write(installation, '"group:curators"', 'groups = "roles"')
    assert visit("/", header(cookies(roles=["curators"])) | {"host": "studio.example.org"}).let_in
    assert not visit("/", header(cookies(groups=["curators"]))).let_in
    write(installation, "", "groups = 1")
    doors.chosen.cache_clear()
    secrets_singleton._reset()
    refused(doors.chosen, saying="not the name of a claim")


def test_who_signed_in_more_than_an_hour_ago_is_asked_again_and_told_why(installation: Path) -> None:
    write(installation)
    old = header(cookies(iat=time.time() - roles.SIGNED_IN_SECONDS)) | {"host": "studio.example.org"}
    answer = visit("/results", BROWSER | old)
    assert not answer.let_in
    assert "counts for an hour" in answer.body
    assert 'href="/auth/login"' in answer.body


def test_a_page_that_stays_open_ends_with_the_hour(installation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What its browser sends after that reaches no page: the websocket is closed, and the app is told that the visitor has gone."""
    write(installation)
    reached: list[str] = []
    sent: list[Any] = []
    later = time.time() + roles.SIGNED_IN_SECONDS

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        for _ in range(3):
            reached.append((await receive())["type"])
            if len(reached) == 2:
                monkeypatch.setattr(sign_in.time, "time", lambda: later)

    async def receive() -> dict[str, str]:
        return {"type": "websocket.receive" if reached else "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    named = header(cookies()) | {"origin": ORIGIN, "host": "studio.example.org"}
    scope = {"type": "websocket", "path": STREAM, "headers": [(key.encode(), value.encode()) for key, value in named.items()]}
    asyncio.run(doors.Guard(app)(scope, receive, send))
    assert reached == ["websocket.connect", "websocket.receive", "websocket.disconnect"]
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_a_page_whose_browser_says_nothing_ends_with_the_hour_too(installation: Path) -> None:
    """Nobody is asked to send something: what the server keeps for the page would otherwise stay."""
    write(installation)
    reached: list[str] = []
    sent: list[Any] = []

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        for _ in range(2):
            reached.append((await receive())["type"])

    async def receive() -> dict[str, str]:
        if reached:
            await asyncio.Event().wait()
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    named = header(cookies(iat=time.time() - roles.SIGNED_IN_SECONDS + 3)) | {"origin": ORIGIN, "host": "studio.example.org"}
    scope = {"type": "websocket", "path": STREAM, "headers": [(key.encode(), value.encode()) for key, value in named.items()]}
    asyncio.run(asyncio.wait_for(doors.Guard(app)(scope, receive, send), SECONDS))
    assert reached == ["websocket.connect", "websocket.disconnect"]
    assert sent == [{"type": "websocket.close", "code": 1008}]


@pytest.mark.parametrize("name", ["x-forwarded-user", "x-forwarded-email", "remote-user", "authorization", "rstudio-connect-credentials"])
def test_no_header_says_who_somebody_is(installation: Path, name: str) -> None:
    write(installation)
    assert not visit("/", {name: "Ann@Example.org", "x-forwarded-for": "127.0.0.1", "host": "studio.example.org"}).let_in


@pytest.mark.parametrize(
    ("listens", "url", "starts"),
    [
        ("localhost", "", True),
        ("127.0.0.1", "http://localhost:9000", True),
        ("0.0.0.0", "http://localhost:8501", True),
        ("0.0.0.0", "http://127.0.0.1:9000", True),
        ("0.0.0.0", "", False),
        (None, "", False),
        ("192.168.1.7", "", False),
        ("0.0.0.0", "https://studio.example.org", False),
        ("127.0.0.1", "https://studio.example.org", False),
        ("0.0.0.0", "http://localhost.example.org", False),
    ],
)
def test_a_server_that_other_machines_reach_starts_with_sign_in_alone(
    installation: Path, monkeypatch: pytest.MonkeyPatch, listens: str | None, url: str, starts: bool
) -> None:
    config.set_option("server.address", listens)
    monkeypatch.setenv("DPSYNTH_URL", url)
    if starts:
        assert doors.chosen().one_person
    else:
        with pytest.raises(SystemExit, match=r"does not start\. sign-in: other machines may reach this server"):
            security.check_settings()
        assert not (installation / "home").exists(), "not even a token was made"
    monkeypatch.delenv("DPSYNTH_URL")
    write(installation)
    doors.chosen.cache_clear()
    secrets_singleton._reset()
    assert not doors.chosen().one_person


@pytest.mark.parametrize(
    ("changes", "own", "saying"),
    [
        ({"cookie_secret": 12345678901234567890123456789012}, "", r"\[auth\] cookie_secret: it is not a text"),
        ({}, "roles = []", "roles.*it is not a section"),
        ({}, 'roles = "x"', "roles.*it is not a section"),
    ],
)
def test_settings_of_another_type_are_refused_in_a_line(installation: Path, changes: dict[str, Any], own: str, saying: str) -> None:
    write(installation, own=own, **changes)
    with pytest.raises(SystemExit, match=rf"does not start\. secrets.toml, {saying}" if changes else saying):
        security.check_settings()


def test_a_section_that_is_a_text_is_refused(installation: Path) -> None:
    write(installation)
    text = (installation / "secrets.toml").read_text(encoding="utf-8").partition("[dpsynth]")[0]
    (installation / "secrets.toml").write_text(f'dpsynth = "x"\n{text}', encoding="utf-8")
    with pytest.raises(SystemExit, match="dpsynth: it is not a section"):
        security.check_settings()


def test_an_address_that_is_not_where_people_are_sent_is_refused(installation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(installation)
    monkeypatch.setenv("DPSYNTH_URL", "https://elsewhere.example.org")
    with pytest.raises(SystemExit, match=r"DPSYNTH_URL: it is another address than https://studio.example.org"):
        security.check_settings()
    monkeypatch.setenv("DPSYNTH_URL", ORIGIN)
    doors.chosen.cache_clear()
    security.check_settings()
    assert doors.by_https()


def test_an_address_that_the_provider_has_not_checked_names_nobody(installation: Path) -> None:
    write(installation)
    door = doors.chosen()
    assert door.name(cookies()) == "Ann@Example.org"
    assert door.name(cookies(email_verified=False, sub="Ben")) == "Ben"
    assert door.name(cookies(email_verified="true", sub="ann@example.org")) == "ann at example.org"
