"""Programs elsewhere charge the office's ledger with a token: nothing without one, each their own, never above the cap."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.types import Message

from dpsynth_core.privacy.accountant import GDP, ZCDP, Accountant
from dpsynth_core.store import approvals, balance, chain, database, ledger, ledger_api, restoring, roles, rules, tokens, verified_books
from dpsynth_core.store.home import LOCAL_OWNER, now
from dpsynth_core.store.roles import Role
from dpsynth_core.web.ledger import programs
from dpsynth_core.web.shell.door import connections, doors
from dpsynth_core.web.shell.door.sign_in import SignIn
from tests.refusals import refused
from tests.web.door.visits import exchange, headers_of

ORIGIN, PEOPLE = "https://studio.example.org", "people"
RUN, OTHER = "0" * 16, "1" * 16
PRICE = ZCDP.rho_from(1.0, 1e-9)


def charge(**changed: Any) -> dict[str, Any]:
    unit = {"relation": "add-remove", "person_column": None, "max_rows_per_person": 1}
    stated = {"population": PEOPLE, "run": RUN, "spec": "a" * 64, "unit": unit, "rho": PRICE, "epsilon": 1.0, "delta": 1e-9}
    return stated | {"fingerprint": "b" * 64, "note": "a release with AIM", "own_delta": 0.0, "accountant": "zCDP"} | changed


@pytest.fixture(autouse=True)
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An office with a population that holds some such charges; ann and ben are curators."""
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    door = SignIn(ORIGIN)
    monkeypatch.setattr(doors, "chosen", lambda: door)
    doors.address.answer_to(ORIGIN)
    for name in ("ann", "ben"):
        roles.greet(name, f"{name}@example.org", [Role.CURATOR], now())
    ledger.open_population(LOCAL_OWNER, PEOPLE, (3.0, 1e-9))
    return tmp_path


def ask(token: str, act: str, asked: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    named = {"host": "studio.example.org", "authorization": f"Bearer {token}"} | {key.replace("_", "-"): v for key, v in headers.items()}
    content = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    started, *rest = exchange(Starlette(routes=programs.routes()), f"/books/{act}", named, method="POST", content=content)
    body = b"".join(part.get("body", b"") for part in rest)
    assert headers_of(started)["cache-control"] == "no-store"
    return started["status"], json.loads(body) if body.startswith(b"{") else {"text": body.decode()}


def test_a_charge_is_reserved_touched_and_cited_in_the_persons_name() -> None:
    token = tokens.make("ann", "my notebook")
    status, told = ask(token, "reserve", charge())
    assert (status, told) == (200, {"entry": 3})
    assert ask(token, "reserve", charge()) == (200, {"entry": 3}), "the answer may have been lost on the way"
    assert ask(token, "touch", {"run": RUN})[0] == 200
    status, told = ask(token, "cite", {"run": RUN})
    assert told["spec"] == "a" * 64
    assert told["cited"] == balance.citation(RUN)
    entries = [(entry.curator, entry.kind) for entry in chain.entries()]
    assert entries == [(LOCAL_OWNER, "population"), ("ann", "token"), ("ann", "reserve"), ("ann", "touch")]
    assert balance.spent(PEOPLE).rho == PRICE
    assert verified_books.verify().ok


OTHER_UNIT = {"relation": "replace", "person_column": "person", "max_rows_per_person": 5}


@pytest.mark.parametrize(
    "other",
    [
        {"fingerprint": "d" * 64},
        {"fingerprint": f"{'b' * 64} {'d' * 64}"},
        {"unit": OTHER_UNIT},
        {"spec": "d" * 64},
        {"note": "another release"},
        {"epsilon": 0.5, "rho": ZCDP.rho_from(0.5, 1e-9)},
        {"delta": 1e-10, "rho": ZCDP.rho_from(1.0, 1e-10)},
        {"own_delta": 5e-10, "rho": ZCDP.rho_from(1.0, 5e-10)},
        {"accountant": "GDP", "rho": GDP.rho_from(1.0, 1e-9)},
        {"population": "others"},
    ],
    ids=str,
)
def test_one_name_of_a_run_is_for_one_charge(other: dict[str, Any]) -> None:
    """All of it: its table, its unit and its price."""
    token = tokens.make("ann", "my notebook")
    ask(token, "reserve", charge())
    status, told = ask(token, "reserve", charge(**other))
    assert (status, told["problem"]) == (409, "there is another one of this name")
    assert ask(token, "reserve", charge())[0] == 200


def test_one_charge_is_for_one_run() -> None:
    """A program that uses the name of a run again would draw fresh noise for what was charged once."""
    token = tokens.make("ann", "my notebook")
    ask(token, "reserve", charge())
    ask(token, "touch", {"run": RUN})
    for act, asked in (("reserve", charge()), ("touch", {"run": RUN})):
        status, told = ask(token, act, asked)
        assert (status, told["problem"]) == (409, "it began to read records before, and one charge is for one run")
    assert [entry.kind for entry in chain.entries()].count("touch") == 1


def test_what_was_not_touched_is_given_back_and_what_was_stays() -> None:
    token = tokens.make("ann", "my notebook")
    ask(token, "reserve", charge())
    assert ask(token, "return", {"run": RUN}) == ask(token, "return", {"run": RUN}) == (200, {})
    assert balance.spent(PEOPLE).rho == 0
    assert ask(token, "touch", {"run": RUN})[1]["problem"] == "its budget was given back meanwhile"
    ask(token, "reserve", charge(run=OTHER))
    ask(token, "touch", {"run": OTHER})
    status, told = ask(token, "return", {"run": OTHER})
    assert status == 409
    assert "stays charged" in told["problem"]
    assert balance.spent(PEOPLE).rho == PRICE


def test_nobody_exceeds_the_cap_together() -> None:
    held = [tokens.make(name, "laptop") for name in ("ann", "ben")]
    fits = int(balance.spent(PEOPLE, cap=(3.0, 1e-9)).cap_rho / PRICE)
    answers = [ask(held[number % 2], "reserve", charge(run=f"{number:016x}")) for number in range(fits + 2)]
    assert [status for status, _ in answers] == [200] * fits + [409] * 2
    assert "above its cap of 3" in answers[-1][1]["problem"]
    assert balance.spent(PEOPLE).releases == fits


def test_another_persons_run_is_no_run_of_mine() -> None:
    ann, ben = tokens.make("ann", "a"), tokens.make("ben", "b")
    ask(ann, "reserve", charge())
    for act in ("touch", "return", "cite"):
        status, told = ask(ben, act, {"run": RUN})
        assert (status, told["problem"]) == (409, "the ledger has no charge of yours for it")
    assert ask(ben, "reserve", charge())[0] == 409
    assert balance.spent(PEOPLE).releases == 1


@pytest.mark.parametrize("token", ["", "dpsynth_", f"dpsynth_{'0' * 48}", "\x00", "Bearer", "é" * 60])
def test_a_token_that_is_none_gets_the_same_words_and_no_lock(token: str) -> None:
    status, told = ask(token, "reserve", charge())
    assert (status, told["problem"]) == (401, "it opens nothing here, or no longer")
    assert len(chain.entries()) == 1


def test_who_is_withdrawn_at_the_provider_charges_nothing_within_the_hour(office: Path) -> None:
    """No sign-in follows the last one. What was charged before is still given back or cited."""
    token = tokens.make("ann", "laptop")
    ask(token, "reserve", charge())
    ask(token, "touch", {"run": RUN})
    third = "2" * 16
    for run in (OTHER, third):
        ask(token, "reserve", charge(run=run))
    account = {"population": PEOPLE, "accountant": "zCDP"}
    assert ask(token, "account", account)[1]["left"]["releases"] == 3
    almost, over = (datetime.now(UTC) - timedelta(seconds=roles.SIGNED_IN_SECONDS + more) for more in (-60, 1))
    for then, may in ((almost, True), (over, False)):
        with closing(sqlite3.connect(office / database.DATABASE)) as db:
            db.execute("UPDATE people SET seen = ? WHERE owner = 'ann'", (then.isoformat(timespec="milliseconds"),))
            db.commit()
        for act, asked in (("reserve", charge(run=third)), ("touch", {"run": third}), ("account", account)):
            status, told = ask(token, act, asked)
            assert status == (200 if may else 409), act
            assert may or told["problem"] == "its person did not sign in within the hour"
    assert ask(token, "touch", {"run": OTHER})[0] == 409
    assert (ask(token, "return", {"run": OTHER})[0], ask(token, "cite", {"run": RUN})[0]) == (200, 200)
    roles.greet("ann", "ann@example.org", [Role.CURATOR], now())
    assert ask(token, "account", account)[1]["left"]["releases"] == 2
    roles.greet("ann", "ann@example.org", roles.EVERY, over.isoformat(timespec="milliseconds"))
    with database.reading() as db:
        assert roles.of(db, "ann") == {Role.CURATOR}, "a tab with an older sign-in does not say more"


def test_tokens_end_when_revoked_when_old_and_with_the_role(office: Path) -> None:
    token = tokens.make("ann", "laptop")
    (kept,) = tokens.listed("ann")
    assert tokens.listed("ben") == ()
    with closing(sqlite3.connect(office / database.DATABASE)) as db:
        assert token not in "".join(db.iterdump()), "its hash alone is kept"
    assert token not in str(kept)

    def status(change: str) -> int:
        with closing(sqlite3.connect(office / database.DATABASE)) as db:
            db.execute(change)
            db.commit()
        return ask(token, "cite", {"run": RUN})[0]

    assert status("SELECT 1") == 409, "it opens"
    assert status("UPDATE tokens SET created = '2020-01-01T00:00:00.000+00:00'") == 401
    token = tokens.make("ann", "laptop")
    roles.greet("ann", "ann@example.org", [Role.AUDITOR], now())
    assert status("SELECT 1") == 409
    assert ask(token, "reserve", charge())[1]["problem"] == "yours does not let you run a plan"
    roles.greet("ann", "ann@example.org", [Role.CURATOR], now())
    refused(tokens.revoke, "ben", tokens.listed("ann")[-1].key, saying="does not let you revoke")
    tokens.revoke("ann", tokens.listed("ann")[-1].key)
    assert status("SELECT 1") == 401
    assert [entry.kind for entry in chain.entries() if entry.curator == "ann"] == ["token", "token", "revoke"]


@pytest.mark.parametrize(
    "asked",
    [
        charge(rho=PRICE / 2), charge(rho=2 * PRICE), charge(accountant="GDP"), charge(epsilon=0.5), charge(own_delta=1e-9),
        charge(own_delta=-0.0),
        charge(rho=0.0), charge(rho=-1.0), charge(rho="0.02"), charge(rho=float("nan")), charge(rho=float("inf")), charge(own_delta=-1e-9),
        charge(run="r"), charge(run="../etc/passwd"), charge(spec=""), charge(spec="a" * 10_000), charge(accountant="mine"),
        charge(unit={"relation": "x"}), charge(unit={"relation": "replace", "person_column": "c" * 201, "max_rows_per_person": 1}),
        charge(unit={"rows": 1}), charge(epsilon=0.0),
        charge(delta=1.0), charge(population=""), charge(population="P" * 300),
        charge(note="\n"), charge(note="n" * 300), charge(fingerprint="table.csv"),
        charge(fingerprint=" ".join(["b" * 64] * 3)), charge(fingerprint=" ".join(["b" * 64] * 5)), {}, [], None, 1, b"", b"{",
        b"[" * 50_000,
        b" " * 70_000,
    ],
)  # fmt: skip
def test_what_is_no_charge_is_refused_in_words_and_changes_nothing(asked: Any) -> None:
    token = tokens.make("ann", "laptop")
    before = chain.entries()
    status, told = ask(token, "reserve", asked)
    assert status == 409
    assert set(told) == {"field", "problem", "remedy"}
    assert chain.entries() == before


@pytest.mark.parametrize("accountant", [ZCDP, GDP])
@pytest.mark.parametrize("own_delta", [0.0, 1e-10])
def test_a_charge_costs_what_its_epsilon_and_delta_say(accountant: Accountant, own_delta: float) -> None:
    """Else a release with epsilon 1 could cost the population next to nothing, or a small epsilon pass the rules of the house."""
    due = accountant.rho_from(1.0, 1e-9 - own_delta)
    stated, token = charge(accountant=accountant.name, own_delta=own_delta), tokens.make("ann", "laptop")
    for rho in (due * 0.999, due * 1.001):
        status, told = ask(token, "reserve", stated | {"rho": rho})
        assert (status, told["problem"]) == (409, "it is not what the stated epsilon and delta cost")
    assert ask(token, "reserve", stated | {"rho": due * (1 + 1e-12)})[0] == 200, "the last digits of another machine"


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_one_table_or_two_are_charged_with_fingerprints_of_each(parts: int) -> None:
    """Of its content, and, since this version, of its records."""
    assert ask(tokens.make("ann", "laptop"), "reserve", charge(fingerprint=" ".join(["b" * 64, "c" * 64] * 2)[: 65 * parts - 1]))[0] == 200


def test_a_page_and_a_cookie_reach_nothing() -> None:
    token = tokens.make("ann", "laptop")
    assert ask(token, "reserve", charge(), origin="https://evil.example")[0] == 403
    assert ask(token, "reserve", charge(), origin=ORIGIN)[0] == 403, "no page of ours does this"
    assert ask(token, "reserve", charge(), host="evil.example")[0] == 403
    assert ask("", "reserve", charge(), authorization="Basic YTpi", cookie=f"token={token}")[0] == 401
    assert ask(token, "elsewhere", charge())[0] == 409
    for other in ("", "..", "../_stcore/health", "reserve/", "reserve/../x", "%2e%2e", "//"):
        assert ask(token, other, charge())[0] == 403, other
    assert len(chain.entries()) == 2


def test_a_server_of_one_person_has_no_such_route(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpsynth_core.web.shell.door.personal import Personal

    token = tokens.make("ann", "laptop")
    door = Personal()
    monkeypatch.setattr(doors, "chosen", lambda: door)
    assert ask(token, "reserve", charge())[0] == 403


def test_a_plan_that_has_to_be_approved_is_touched_afterwards_alone() -> None:
    approvals.demand(LOCAL_OWNER, PEOPLE, ["plan"])
    token = tokens.make("ann", "laptop")
    ask(token, "reserve", charge())
    assert ask(token, "touch", {"run": RUN})[1]["field"] == "plan"
    roles.greet("rita", "rita@example.org", [Role.REVIEWER], now())
    approvals.approve("rita", RUN, "plan", "checked with the protocol")
    assert ask(token, "touch", {"run": RUN})[0] == 200


def test_a_price_that_breaks_a_rule_of_the_house_is_refused() -> None:
    rules.put_in_force(LOCAL_OWNER, '{"largest_epsilon": 0.5}', "decided by the whole board")
    status, told = ask(tokens.make("ann", "laptop"), "reserve", charge())
    assert (status, told["problem"]) == (409, "epsilon is at most 0.5, and this one is 1")


def test_what_a_killed_program_reserved_is_given_back_after_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    token = tokens.make("ann", "laptop")
    ask(token, "reserve", charge())
    ask(token, "reserve", charge(run=OTHER))
    ask(token, "touch", {"run": OTHER})
    monkeypatch.setattr(ledger_api, "FORGOTTEN_SECONDS", -1.0)
    ask(token, "reserve", charge(run="2" * 16))
    assert balance.spent(PEOPLE).releases == 2
    assert ask(token, "touch", {"run": RUN})[0] == 409
    assert "never read a record" in next(entry.note for entry in chain.entries() if entry.kind == "return")


def test_a_stranger_is_answered_before_anything_is_read_and_nobody_sends_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE_SECONDS", 0.2)

    async def asked(token: str) -> tuple[int, bool]:
        """The status, and whether a part was read. The parts never end."""
        sent, read = [], []

        async def receive() -> Message:
            read.append(await asyncio.sleep(0.01))
            return {"type": "http.request", "body": b" ", "more_body": True}

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/books/reserve", "query_string": b"", "headers": []}
        scope["headers"] = [(b"authorization", f"Bearer {token}".encode())]
        await Starlette(routes=programs.routes())(scope, receive, send)
        return sent[0]["status"], bool(read)

    assert asyncio.run(asked("nothing")) == (401, False)
    assert asyncio.run(asked(tokens.make("ann", "laptop"))) == (408, True)


def test_what_was_charged_before_a_restore_is_not_given_back(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been touched in what was lost."""
    ask(tokens.make("ann", "laptop"), "reserve", charge())
    (office / "ledger.head").unlink()
    restoring.restore(LOCAL_OWNER, "the disk failed on Monday")
    monkeypatch.setattr(ledger_api, "FORGOTTEN_SECONDS", -1.0)
    assert ask(tokens.make("ann", "laptop"), "reserve", charge(run=OTHER))[0] == 200
    assert balance.spent(PEOPLE).releases == 2
