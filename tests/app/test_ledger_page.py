"""The Ledger page: every charge, what is left, a chain that is checked, a cap that moves only with a reason."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from dpsynth_core.store import balance, ledger, roles, runs, signing
from dpsynth_core.store.home import LOCAL_OWNER, now
from dpsynth_core.store.roles import Role
from dpsynth_core.web.shell import document
from tests.app.demo_project import draft, open_page, project, words


@pytest.fixture
def charged() -> str:
    """A project with one run that stands charged."""
    place = project()
    runs.submit(LOCAL_OWNER, place, document.spec(draft(), "Trial"))
    return place


def test_an_empty_ledger_says_what_opens_it() -> None:
    app = open_page("ledger", project())
    assert "Nothing is charged yet" in words(app)


def test_every_charge_is_listed_with_what_is_left(charged: str) -> None:
    app = open_page("ledger", charged)
    assert [m.value for m in app.metric][:3] == ["ε 1", f"ε {balance.spent('Invented people').remaining_epsilon:.3g}", "ε 10"]
    assert app.dataframe[0].value["number"].tolist() == [2, 1]
    assert "2 entries is complete and unaltered" in words(app)


def test_entries_can_be_narrowed_to_a_population(charged: str) -> None:
    ledger.open_population(LOCAL_OWNER, "others")
    app = open_page("ledger", charged)
    app = app.multiselect(key="ledger_populations").select("others").run()
    assert set(app.dataframe[0].value["population"]) == {"others"}


def test_of_many_populations_the_projects_own_and_the_newest_are_drawn(charged: str) -> None:
    for number in range(5):
        ledger.open_population(LOCAL_OWNER, f"others {number}")
    app = open_page("ledger", charged)
    drawn = [one.value.removeprefix("#### ") for one in app.markdown if one.value.startswith("#### ")]
    assert drawn == ["Invented people", "others 3", "others 4"]
    app.multiselect(key="ledger_accounts").select("others 0").run()
    assert [one.value.removeprefix("#### ") for one in app.markdown if one.value.startswith("#### ")] == ["others 0"]


def test_a_cap_changes_only_with_a_reason(charged: str) -> None:
    app = open_page("ledger", charged)
    epsilon = next(t for t in app.text_input if t.label == "New limit, ε")
    epsilon.input("20")
    app = next(b for b in app.button if b.label == "Change the limit").click().run()
    assert "not given a reason" in words(app)
    assert balance.spent("Invented people").cap_epsilon == 10
    next(t for t in app.text_input if t.label == "New limit, ε").input("20")
    next(t for t in app.text_input if t.label == "Reason").input("approved by the board")
    next(b for b in app.button if b.label == "Change the limit").click().run()
    assert balance.spent("Invented people").cap_epsilon == 20


@pytest.mark.parametrize("typed", ["nan", "one", "0", "-1"])
def test_a_cap_that_is_no_budget_is_refused(charged: str, typed: str) -> None:
    app = open_page("ledger", charged)
    next(t for t in app.text_input if t.label == "New limit, ε").input(typed)
    next(t for t in app.text_input if t.label == "Reason").input("why would we not")
    app = next(b for b in app.button if b.label == "Change the limit").click().run()
    assert app.error
    assert balance.spent("Invented people").cap_epsilon == 10


def test_a_tampered_chain_is_announced(charged: str, home: Path) -> None:
    with sqlite3.connect(home / "dpsynth.sqlite") as db:
        db.execute("DROP TRIGGER ledger_is_never_changed")
        db.execute("UPDATE ledger SET rho = rho / 2 WHERE kind = 'reserve'")
    app = open_page("ledger", charged)
    assert "The chain is broken" in words(app)
    assert "entry 2 was altered" in words(app)


def test_the_key_to_announce_is_shown(charged: str) -> None:
    assert signing.public_key() in [code.value for code in open_page("ledger", charged).code]


def test_a_ledger_that_is_not_whole_shows_no_sums(charged: str, home: Path) -> None:
    with sqlite3.connect(home / "dpsynth.sqlite") as db:
        db.execute("DROP TRIGGER ledger_is_never_changed")
    app = open_page("ledger", charged)
    assert "tables or rules of its database were changed" in words(app)
    assert not app.metric
    assert len(app.dataframe[0].value) == 2


def test_populations_of_other_owners_are_shown_without_what_they_call_their_runs(charged: str) -> None:
    roles.greet("bob", "bob@example.org", [Role.CURATOR], now())
    theirs = runs.projects.create("bob", "Secret project", draft()).id
    runs.submit("bob", theirs, document.spec(draft(), "Secret project"))
    app = open_page("ledger", charged)
    table = app.dataframe[0].value
    assert app.metric[3].value == "2"
    assert "Secret" not in words(app) + table.to_string()
    assert table["release"].tolist() == ["", "Trial", ""]
    assert [who.split(" (")[0] for who in table["who"]] == ["bob@example.org", "you", "you"]


def test_a_lost_end_of_the_chain_is_announced(charged: str, home: Path) -> None:
    with sqlite3.connect(home / "dpsynth.sqlite") as db:
        db.execute("DROP TRIGGER ledger_is_never_shortened")
        db.execute("DELETE FROM ledger WHERE number = 2")
    assert "there was an entry 2" in words(open_page("ledger", charged))


def test_a_lost_database_is_announced_and_no_new_one_is_begun(charged: str, home: Path) -> None:
    for path in home.glob("dpsynth.sqlite*"):
        path.unlink()
    app = open_page("ledger", charged)
    assert "its database is missing" in words(app)
    assert "ledger restore" in words(app)
    assert "nothing was charged" in words(app)
    assert not (home / "dpsynth.sqlite").exists()


def test_hostile_population_names_are_text() -> None:
    name = "<b>**x**</b> [a](javascript:alert(1))"
    ledger.open_population(LOCAL_OWNER, name)
    app = open_page("ledger", project())
    assert name not in words(app)
    assert name in app.dataframe[0].value["population"].tolist()
