"""A project is its owner's alone until the owner names others; what each may do then, and what the ledger says of it."""

from __future__ import annotations

import io
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import (
    approvals,
    chain,
    dispatch,
    ledger,
    projects,
    recorded_views,
    retention,
    roles,
    runs,
    sharing,
    spools,
    verified_books,
)
from dpsynth_core.store import audit_actions as store_acts
from dpsynth_core.store.database import transaction
from dpsynth_core.store.faults import StoreFault
from dpsynth_core.store.folders import project_folder
from dpsynth_core.store.home import LOCAL_OWNER, now
from dpsynth_core.store.roles import Role
from tests.refusals import refused

Make = Callable[..., Spec]
pytestmark = pytest.mark.usefixtures("no_workers")


@pytest.fixture(autouse=True)
def people() -> None:
    for name in ("ann", "ben", "eve"):
        roles.greet(name, f"{name}@example.org", [Role.CURATOR], now())


OF = roles.of


@pytest.fixture
def by_role(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may what the roles say that they came in with."""
    monkeypatch.setattr(roles, "of", OF)


def acts(*kinds: str) -> list[tuple[str, str]]:
    return [(entry.curator, entry.note) for entry in chain.entries() if entry.kind in kinds]


def test_who_is_named_works_on_it_and_nobody_else_and_no_longer_than_named(project: str, make_spec: Make) -> None:
    sharing.share("ann", project, ["ben"])
    assert [one.id for one in projects.list("ben")] == [project]
    assert projects.list("eve") == ()
    projects.save("ben", project, {"domain": {}})
    path = projects.upload("ben", project, "people.csv", io.BytesIO(b"a,b,c\n1,1,1\n"))
    recorded_views.record("ben", project, "rows")
    run = runs.submit("ben", project, make_spec(looks=["rows"]))
    assert runs.get("ann", run).owner == "ben"
    assert [one.id for one in runs.list("ann", project)] == [one.id for one in runs.list("ben")] == [run]
    assert projects.uploads("ann", project) == (path,)
    for attempt in (lambda: sharing.share("ben", project, ["eve"]), lambda: projects.delete("ben", project)):
        refused(attempt, saying="it belongs to another person")
    refused(runs.get, "eve", run, saying="does not exist")
    sharing.share("ann", project, [])
    for attempt in (lambda: projects.load("ben", project), lambda: runs.get("ben", run), lambda: recorded_views.of("ben", project)):
        refused(attempt, saying="does not exist")
    assert runs.get("ann", run).owner == "ann"
    assert acts("share") == [("ann", f"project {project} with ben"), ("ann", f"project {project} no longer with ben")]
    assert [entry.curator for entry in chain.entries() if entry.kind == "reserve"] == ["ben"]
    assert verified_books.verify().ok


def test_only_the_owner_deletes_what_was_started_in_a_project(project: str, make_spec: Make) -> None:
    sharing.share("ann", project, ["ben"])
    run = runs.submit("ben", project, make_spec(looks=[]))
    runs.cancel("ben", run)
    refused(runs.delete, "ben", run, saying="it belongs to another person")
    runs.delete("ann", run)
    assert acts("delete") == [("ann", f"run {run}")]


def test_the_chain_is_verified_once_for_all_who_are_named(project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verified, real = [], verified_books.current
    monkeypatch.setattr(verified_books, "current", lambda db: verified.append(db) or real(db))
    sharing.share("ann", project, ["ben", "eve"])
    assert (len(verified), len(acts("share"))) == (1, 2)
    assert verified_books.verify().ok


def test_what_is_taken_over_is_the_others_with_its_runs(project: str, make_spec: Make) -> None:
    ledger.open_population("ann", "people")
    approvals.demand("eve", "people", ["plan"])
    run = runs.submit("ann", project, make_spec(looks=[]))
    sharing.share("ann", project, ["ben", "eve"])
    runs.submit("eve", project, make_spec(looks=[]))
    sharing.offer("ann", project, "ben")
    assert sharing.offers("ben") == [sharing.Offer(project, projects.load("ann", project).name, "ann")]
    assert (projects.load("ben", project).owner, sharing.offered_to(project), sharing.offers("eve")) == ("ann", "ben", [])
    sharing.answer("ben", project, take=True)
    assert [one.owner for one in approvals.waiting()] == ["ann", "eve"], "who made it is whom it is charged to"
    assert projects.list("ann") == ()
    assert (projects.list("eve"), sharing.people("ben", project)) == ((), ())
    assert {one.owner for one in runs.list("ben", project)} == {"ben"}, "what eve started as well"
    runs.cancel("ben", run)
    projects.delete("ben", project)
    assert acts("share")[-3:] == [
        ("ann", f"project {project} offered to ben"),
        ("ben", f"project {project} taken over from ann"),
        ("ben", f"project {project} no longer with eve"),
    ]
    assert acts("delete") == [("ben", f"project {project}")]


@pytest.mark.usefixtures("by_role")
def test_an_offer_changes_nothing_until_it_is_taken_and_only_by_who_has_it_now(project: str) -> None:
    sharing.offer("ann", project, "ben")
    sharing.offer("ann", project, "eve")
    with pytest.raises(InputError, match="it is not offered to you any more"):
        sharing.answer("ben", project, take=True)
    sharing.answer("eve", project, take=False)
    with pytest.raises(InputError, match="it is not offered to you any more"):
        sharing.answer("eve", project, take=True)
    sharing.offer("ann", project, "ben")
    sharing.offer("ann", project, "")
    with pytest.raises(InputError, match="nobody is named"):
        sharing.offer("ann", project, "")
    assert (sharing.offers("ben"), projects.load("ann", project).owner) == ([], "ann")
    sharing.offer("ann", project, "ben")
    roles.greet("ben", "ben@example.org", [Role.AUDITOR], now())
    with pytest.raises(InputError, match="does not let you"):
        sharing.answer("ben", project, take=True)
    with pytest.raises(InputError, match="does not exist"):
        sharing.offer("eve", project, "eve")
    projects.delete("ann", project)
    assert sharing.offered_to(project) == ""
    said = [note.removeprefix(f"project {project} ") for _, note in acts("share")]
    assert said[:3] == ["offered to ben", "offered to eve", "not taken from ann"]
    assert said[3:] == ["offered to ben", "offered to nobody any more", "offered to ben"]


def test_who_had_a_part_is_read_from_every_act_that_gave_one_and_from_no_other(project: str) -> None:
    def had() -> set[str]:
        return set(store_acts.had(chain.entries(), project))

    roles.greet("carl of another office", "carl@example.org", [Role.CURATOR], now())
    sharing.offer("ann", project, "eve")
    sharing.answer("eve", project, take=False)
    assert had() == set(), "nobody but the owner saw it"
    sharing.share("ann", project, ["carl of another office"])
    sharing.share("ann", project, [])
    assert had() == {"ann", "carl of another office"}
    sharing.offer("ann", project, "ben")
    sharing.answer("ben", project, take=True)
    assert had() == {"ann", "carl of another office", "ben"}
    assert store_acts.had(chain.entries(), "another project") == frozenset()
    former = chain.Entry("ann", "share", note=f"project {project} handed to eve")
    assert store_acts.had([former], project) == {"ann", "eve"}, "as it was written until it was asked who is handed one"


def gone(days: float) -> None:
    """Ann signed in so many days ago; adam is the administrator."""
    with transaction() as db:
        db.execute("UPDATE people SET seen = ? WHERE owner = 'ann'", ((datetime.now(UTC) - timedelta(days=days)).isoformat(),))
    roles.greet("adam", "adam@example.org", [Role.ADMINISTRATOR], now())


@pytest.mark.usefixtures("by_role")
def test_what_a_person_who_has_left_had_is_offered_by_an_administrator_who_never_sees_it(project: str, make_spec: Make) -> None:
    ledger.open_population(LOCAL_OWNER, "people")
    approvals.demand(LOCAL_OWNER, "people", ["plan"])
    gone(29.9)
    assert sharing.left("adam") == []
    with pytest.raises(InputError, match="does not exist"):
        sharing.offer("adam", project, "ben")
    gone(30.1)
    assert [(one.owner, one.name, one.projects) for one in sharing.left("adam")] == [("ann", "ann@example.org", (project,))]
    for attempt in (lambda: sharing.offer("adam", project, "adam"), lambda: sharing.offer("adam", project, "nobody")):
        with pytest.raises(InputError, match="not everybody you named"):
            attempt()
    with pytest.raises(InputError, match="does not let you"):
        sharing.left("ben")
    sharing.offer("adam", project, "ben")
    gone(0)
    assert sharing.offers("ben") == [], "she has come back"
    refused(sharing.answer, "ben", project, take=True, saying="it is not offered to you any more")
    assert sharing.offered_to(project) == ""
    roles.greet("ann", "ann@example.org", [Role.CURATOR], now())
    gone(30.1)
    assert sharing.offers("ben") == [], "what was offered while she was away is not offered again when she goes"
    sharing.offer("adam", project, "ben")
    for attempt in (lambda: projects.load("adam", project), lambda: sharing.share("adam", project, ["ben"])):
        with pytest.raises(InputError):
            attempt()
    sharing.answer("ben", project, take=True)
    assert projects.load("ben", project).owner == "ben"
    assert store_acts.had(chain.entries(), project) == {"ann", "ben"}
    with pytest.raises(InputError, match="does not exist"):
        sharing.offer("adam", project, "eve")
    run = runs.submit("ben", project, make_spec(looks=[]))
    roles.greet("ann", "ann@example.org", [Role.REVIEWER], now())
    with pytest.raises(InputError, match="had a part in its project"):
        approvals.approve("ann", run, "plan", "I made the plan before I left")


@pytest.mark.usefixtures("by_role")
def test_an_administrator_takes_over_nothing_by_another_account_of_theirs(project: str) -> None:
    gone(31)
    roles.greet("adam at home", "adam@example.org", [Role.CURATOR], now())
    refused(sharing.offer, "adam", project, "adam at home", saying="an account of your own")
    roles.greet("adam at home", "another@example.org", [Role.CURATOR], now())
    sharing.offer("adam", project, "adam at home")
    assert sharing.offered_to(project) == "adam at home"
    roles.greet("adam at home", "adam@example.org", [Role.CURATOR], now())
    assert (sharing.offers("adam at home"), sharing.offered_to(project)) == ([], "")
    refused(sharing.answer, "adam at home", project, take=True, saying="it is not offered to you any more")


@pytest.mark.usefixtures("by_role")
def test_what_a_person_who_has_left_had_is_deleted_by_an_administrator_with_an_act(project: str, make_spec: Make, home: Path) -> None:
    projects.upload("ann", project, "people.csv", io.BytesIO(CANARY))
    ledger.open_population(LOCAL_OWNER, "people")
    run = runs.submit("ann", project, make_spec(looks=[]))
    gone(29.9)
    for who in ("adam", "ben"):
        with pytest.raises(InputError, match="does not exist"):
            projects.delete(who, project)
    gone(30.1)
    with pytest.raises(InputError, match="does not exist"):
        projects.delete("ben", project)
    projects.delete("adam", project)
    assert left_of(home) == []
    assert acts("delete") == [("adam", f"project {project}, of a person who has left")]
    assert [entry.kind for entry in chain.entries() if entry.run == run] == ["reserve", "return"]


@pytest.mark.parametrize("named", [["ann"], ["nobody has greeted this owner"], ["ben", "rita"]])
def test_only_people_who_may_prepare_releases_can_be_named(project: str, named: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"ann": {Role.CURATOR}, "ben": {Role.CURATOR}, "rita": {Role.REVIEWER}}
    monkeypatch.setattr(roles, "of", lambda _, owner: known.get(owner, set()))
    refused(sharing.share, "ann", project, named, saying="not everybody you named")
    refused(sharing.offer, "ann", project, named[-1], saying="not everybody you named")
    assert sharing.people("ann", project) == ()
    assert acts("share") == []


def test_what_a_person_may_send_in_all_is_limited(project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "QUOTA_GB", 3.05e-8)  # 30 bytes
    other = projects.create("ann", "another").id
    projects.upload("ann", project, "first.csv", io.BytesIO(b"1" * 20))
    with pytest.raises(CapacityError, match="larger than one person may keep"):
        projects.upload("ann", other, "second.csv", io.BytesIO(b"1" * 11))
    assert projects.uploads("ann", other) == ()
    projects.upload("ann", other, "second.csv", io.BytesIO(b"1" * 10))
    projects.upload("ann", project, "first.csv", io.BytesIO(b"1" * 19))
    projects.upload("ben", projects.create("ben", "his").id, "first.csv", io.BytesIO(b"1" * 30))
    mine = projects.create(LOCAL_OWNER, "of who runs the server").id
    projects.upload(LOCAL_OWNER, mine, "first.csv", io.BytesIO(b"1" * 100))


# How long all of it is kept


CANARY = b"canary-of-a-curator"


def aged(project: str, days: float) -> None:
    """Nothing happened to the project for so long."""
    then = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds")
    with transaction() as db:
        db.execute("UPDATE projects SET updated = ? WHERE id = ?", (then, project))
        db.execute("UPDATE jobs SET created = ?, finished = ? WHERE project = ?", (then, then, project))
    for path in project_folder(project).rglob("*"):
        os.utime(path, (time.time() - days * 86_400, time.time() - days * 86_400))


def left_of(home: Path) -> list[str]:
    """The files that still have the canary."""
    return [path.name for path in home.rglob("*") if path.is_file() and CANARY in path.read_bytes()]


def test_after_the_days_an_administrator_stated_nothing_is_left_of_a_project(project: str, make_spec: Make, home: Path) -> None:
    name = CANARY.decode()
    kept = projects.create("ben", "younger").id
    projects.save("ann", project, {"column": name})
    projects.rename("ann", project, name)
    projects.upload("ann", project, "people.csv", io.BytesIO(CANARY))
    projects.upload("ann", project, "known.csv", io.BytesIO(CANARY), shelf="public")
    run = runs.submit("ann", project, make_spec(name=name, looks=[]))
    retention.state("ann", 30)
    aged(project, 31)
    retention.expire()
    assert projects.uploads("ann", project) != (), "a run is under way"
    runs.cancel("ann", run)
    aged(project, 29)
    retention.expire()
    assert projects.uploads("ann", project) != ()
    assert left_of(home)
    aged(project, 31)
    retention.expire()
    assert left_of(home) == []
    assert not project_folder(project).exists()
    assert [one.id for one in (*projects.list("ann"), *projects.list("ben"))] == [kept]
    assert acts("retention", "delete") == [("ann", "30 days"), ("ann", f"project {project}, after 30 days")]
    assert [entry.kind for entry in chain.entries() if entry.run == run] == ["reserve", "return"], "the ledger keeps its charges"
    assert verified_books.verify().ok


def test_an_upload_goes_after_its_days_though_its_project_is_in_use(project: str, home: Path) -> None:
    for shelf in projects.SHELVES:
        projects.upload("ann", project, "people.csv", io.BytesIO(CANARY), shelf=shelf)
    aged(project, 10)
    projects.save("ann", project, {"changed": "today"})
    retention.expire()
    assert len(left_of(home)) == 3, "nobody has stated days"
    retention.state("ann", 9)
    retention.expire()
    retention.expire()
    assert left_of(home) == []
    assert projects.load("ann", project).draft == {"changed": "today"}
    assert acts("delete") == [("ann", f"uploads of project {project}, after 9 days")]
    retention.state("ann", 0)
    assert retention.days() == 0


def test_a_run_that_is_submitted_while_its_project_is_deleted_is_stopped_and_given_back(
    project: str, make_spec: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    late, listed = [make_spec(looks=[])], dispatch.jobs_of

    def jobs_of(project: str) -> list[str]:
        found = listed(project)
        while late:
            runs.submit("ann", project, late.pop())
        return found

    monkeypatch.setattr(dispatch, "jobs_of", jobs_of)
    projects.delete("ann", project)
    assert projects.list("ann") == ()
    assert [entry.kind for entry in chain.entries()] == ["population", "reserve", "return", "delete"]


def test_a_run_that_is_submitted_before_its_project_is_locked_keeps_it(
    project: str, make_spec: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    retention.state("ann", 30)
    aged(project, 31)
    late = [make_spec(looks=[])]

    def locked() -> AbstractContextManager[sqlite3.Connection]:
        while late:
            runs.submit("ann", project, late.pop())
        return transaction()

    monkeypatch.setattr(retention, "transaction", locked)
    retention.expire()
    assert [run.state for run in runs.list("ann", project)] == ["running"]


def test_files_whose_deletion_was_interrupted_go_the_next_time(
    project: str, make_spec: Make, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    projects.upload("ann", project, "people.csv", io.BytesIO(CANARY))
    run = runs.submit("ann", project, make_spec(looks=[]))
    spools.spool_file(run).parent.mkdir()
    spools.spool_file(run).write_bytes(CANARY)
    lost = home / "projects" / "whose row a lost database had"
    lost.mkdir()
    with monkeypatch.context() as killed:
        killed.setattr(projects, "remove_erased", lambda: None)
        projects.delete("ann", project)
    assert sorted(left_of(home)) == sorted(["people.csv", f"{run}.jsonl"])
    retention.expire()
    assert left_of(home) == []
    assert [path.name for path in lost.parent.iterdir()] == [lost.name]


def test_damaged_books_and_one_project_that_cannot_be_deleted_keep_no_other(
    project: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = projects.create("ann", "used").id
    for place in (project, used):
        projects.upload("ann", place, "people.csv", io.BytesIO(CANARY))
    retention.state("ann", 30)
    aged(project, 31)
    aged(used, 31)
    projects.save("ann", used, {"changed": "today"})
    stuck = projects.create("ann", "stuck").id
    aged(stuck, 31)
    (home / "ledger.head").unlink()
    erase = projects.erase

    def erase_others(db: sqlite3.Connection, who: str, project: str, why: str) -> bool:
        if project == stuck:
            raise StoreFault("DPSYNTH_HOME", "its disk fails", "check the disk")
        return erase(db, who, project, why)

    monkeypatch.setattr(projects, "erase", erase_others)
    refused(retention.expire, kind=StoreFault, saying="its disk fails")
    assert left_of(home) == []
    assert {one.id for one in projects.list("ann")} == {used, stuck}


@pytest.mark.parametrize("many", [-1, 36_501])
def test_days_are_a_number_that_makes_sense(many: int) -> None:
    refused(retention.state, "ann", many, saying="outside 0 to 36,500")
    assert chain.entries() == ()
