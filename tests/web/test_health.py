"""What watches a server learns whether it works and how much it has to do, and nothing of a table, a plan or a person."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.applications import Starlette

from dpsynth_core.store import database, ledger, projects, roles
from dpsynth_core.store.home import LOCAL_OWNER, now
from dpsynth_core.web.shell import health
from dpsynth_core.web.shell.door import doors
from dpsynth_core.web.shell.door.sign_in import SignIn
from tests.web.door.visits import exchange

TOKEN = "m" * 48
CANARY = "canary"


@pytest.fixture(autouse=True)
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    monkeypatch.setenv(health.VARIABLE, TOKEN)
    monkeypatch.setattr(health, "_last_look", float("-inf"))
    door = SignIn("https://studio.example.org")
    monkeypatch.setattr(doors, "chosen", lambda: door)
    doors.address.answer_to("https://studio.example.org")
    return tmp_path


def ask(path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    named = {"host": "studio.example.org", **headers}
    started, *rest = exchange(Starlette(routes=health.routes()), path, named, method=method)
    return started["status"], b"".join(part.get("body", b"") for part in rest).decode()


def test_health_says_whether_the_queue_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask("/health") == (503, "the queue of runs stands still\n")
    health.looked()
    assert ask("/health") == (200, "ok\n")
    monkeypatch.setattr(health, "STILL_SECONDS", -1.0)
    assert ask("/health")[0] == 503
    assert ask("/health", "POST")[0] == 403


def test_numbers_are_for_the_token_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    right = f"Bearer {TOKEN}"
    assert ask("/metrics", authorization=right)[0] == 200
    for wrong in ("", "Bearer", f"Bearer {TOKEN[1:]}", f"Basic {TOKEN}", "Bearer é"):
        assert ask("/metrics", authorization=wrong) == (404, "There is no such page.\n")
    assert ask("/metrics", authorization=right, origin="https://evil.example")[0] == 403
    assert ask("/metrics", "POST", authorization=right)[0] == 403
    monkeypatch.delenv(health.VARIABLE)
    assert ask("/metrics", authorization=right)[0] == 404
    assert ask("/metrics", authorization="Bearer ")[0] == 404


def test_numbers_have_nothing_of_a_table_a_plan_or_a_person(office: Path) -> None:
    roles.greet(CANARY, CANARY, roles.EVERY, now())
    ledger.open_population(LOCAL_OWNER, CANARY)
    place = projects.create(CANARY, CANARY, {CANARY: CANARY}).id
    with database.transaction() as db:
        for kind in ("release", "sweep"):
            values = (kind, CANARY, place, kind, CANARY, CANARY, CANARY, 0.1, 1, 1, "active", now())
            names = "id, owner, project, kind, document, digest, population, rho, charged, workers, state, created"
            db.execute(f"INSERT INTO jobs ({names}) VALUES ({', '.join('?' for _ in values)})", values)
            db.execute("INSERT INTO points (job, number, forecast, state) VALUES (?, 0, 0, 'waiting')", (kind,))
    status, text = ask("/metrics", authorization=f"Bearer {TOKEN}")
    assert status == 200
    form = re.compile(r'dpsynth_[a-z_]+(\{kind="(release|sweep|command)",state="[a-z]+"\})? [0-9.]+|dpsynth_queue_age_seconds inf')
    assert all(form.fullmatch(line) for line in text.splitlines())
    assert 'dpsynth_jobs{kind="release",state="waiting"} 1' in text
    (office / database.DATABASE).unlink()
    assert ask("/metrics", authorization=f"Bearer {TOKEN}") == (503, "the database cannot be read\n")
