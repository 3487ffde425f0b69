"""An office through the app: what each role may do and no more, whose things are whose, and that nobody approves their own."""

from __future__ import annotations

import io
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from starlette.applications import Starlette
from streamlit import config
from streamlit.runtime.context import ContextProxy
from streamlit.runtime.secrets import secrets_singleton
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

from dpsynth_core.store import (
    approvals,
    balance,
    chain,
    database,
    dispatch,
    jobs,
    ledger,
    ledger_api,
    projects,
    recorded_views,
    retention,
    roles,
    rules,
    runs,
    sharing,
    tokens,
    verified_books,
    worker,
)
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.home import LOCAL_OWNER, now
from dpsynth_core.store.roles import MAY, Act, Role
from dpsynth_core.web.compare import compare_view
from dpsynth_core.web.results import downloads
from dpsynth_core.web.shell import document, sidebar
from dpsynth_core.web.shell.door import doors
from dpsynth_core.web.shell.plan_first import Whose
from tests.additions import listed
from tests.app.demo_project import FIRST, draft, field, open_page, words
from tests.app.test_results_page import at
from tests.refusals import refused
from tests.web.door.visits import exchange

ORIGIN, SECRET, PEOPLE = "https://studio.example.org", "c" * 40, "Invented people"
_chosen = doors.chosen
"""The real one, before the tests of one person put theirs in its place."""


class Office:
    """A server whose people are called by their roles (`curator@example.org`). visitor: the cookies of who looks at the app."""

    def __init__(self) -> None:
        self.visitor: Mapping[str, str] = {}

    def enter(self, name: str) -> str:
        """From now on the app is looked at by this person; the owner id."""
        claims: dict[str, object] = {"iss": "https://login.example.org", "sub": name, "email": f"{name}@example.org"}
        claims |= {"email_verified": True, "is_logged_in": True, "origin": ORIGIN, "iat": int(time.time())}
        signed = create_signed_value(SECRET, "_streamlit_user", json.dumps(claims))
        self.visitor = {"_streamlit_user": signed.decode()}
        return doors.admitted(self.visitor)

    @property
    def headers(self) -> dict[str, str]:
        return {"cookie": "; ".join(f"{name}={value}" for name, value in self.visitor.items()), "host": "studio.example.org"}


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: None) -> Iterator[Office]:  # noqa: ARG001 - whose door this replaces
    """With one person for each role, a second curator (ben), and a reviewer who is a curator too (rick)."""
    given = {role: [f"{role}@example.org"] for role in Role}
    given[Role.CURATOR] += ["ben@example.org", "rick@example.org"]
    given[Role.REVIEWER] += ["rick@example.org"]
    signing = {
        "redirect_uri": f"{ORIGIN}/oauth2callback",
        "cookie_secret": SECRET,
        "client_id": "studio",
        "client_secret": "s",
        "server_metadata_url": "https://login.example.org/.well-known/openid-configuration",
    }
    lines = ["[auth]", *(f"{key} = {json.dumps(value)}" for key, value in signing.items())]
    lines += ["[dpsynth.roles]", *(f"{role} = {json.dumps(people)}" for role, people in given.items())]
    (tmp_path / "secrets.toml").write_text("\n".join(lines), encoding="utf-8")
    config.set_option("secrets.files", [str(tmp_path / "secrets.toml")])
    secrets_singleton._reset()
    _chosen.cache_clear()
    here = Office()
    monkeypatch.setattr(doors, "chosen", _chosen)
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda _: here.visitor))
    ledger.open_population(LOCAL_OWNER, PEOPLE)
    yield here
    config.set_option("secrets.files", [])
    secrets_singleton._reset()
    _chosen.cache_clear()


def work(run: str) -> None:
    """Be the worker of a run, as far as it may go on."""
    with patch.object(dispatch, "launch_worker", lambda *_: None):
        dispatch.pump()
        worker.work(dispatch.claim(run))


def submitted(owner: str) -> str:
    place = projects.create(owner, "Trial", draft()).id
    return runs.submit(owner, place, document.spec(draft(), "Trial"))


def open_ledger() -> AppTest:
    """The Ledger page; of who prepares no releases it is the first, at the app's own address."""
    app = open_page(FIRST, "")
    return app if app.title[0].value == "Ledger" else open_page("ledger", "")


def press(app: AppTest, label: str) -> AppTest | None:
    """The page after the button was pressed; None where there is no such button."""
    found = [button for button in app.button if label in button.label]
    return found[0].click().run() if found else None


def downloaded(office: Office, run: str) -> int:
    started, *_ = exchange(Starlette(routes=downloads.routes()), f"/download/{run}/csv", office.headers)
    return int(started["status"])


# An attempt is made by the person who looks at the app, on what somebody else has prepared, and says whether it succeeded.


def prepares(owner: str) -> bool:
    open_page("data", "")
    return bool(projects.list(owner))


def looks_at_records(owner: str) -> bool:
    if not roles.may(owner, Act.PREPARE):
        return "Look at the records" in str(open_page("data", projects.list(curator())[0].id))
    place = projects.create(owner, "Table", draft()).id
    path = projects.upload(owner, place, "people.csv", io.BytesIO(b"age,sex,region,health\n1,1,1,1\n" * 50))
    projects.save(owner, place, draft(data={"path": str(path), "kind": "csv"}))
    app = open_page("data", place)
    app = next(toggle for toggle in app.toggle if toggle.label == "Show the first rows").set_value(True).run()
    return recorded_views.of(owner, place) == ("rows",)


def runs_a_plan(owner: str) -> bool:
    own = [projects.create(owner, "Trial", draft()).id] if roles.may(owner, Act.PREPARE) else [p.id for p in projects.list(curator())]
    before = len(chain.entries())
    app = press(open_page("mechanism", own[0]), "Lock")
    if app is not None:
        press(app, "Spend ε 1 and run")
    return len(chain.entries()) > before


def changes_the_limit(owner: str) -> bool:  # noqa: ARG001
    app = open_ledger()
    fields = {field.label: field for field in app.text_input}
    if "New limit, ε" not in fields:
        return False
    fields["New limit, ε"].input("20")
    next(field for field in app.text_input if field.label == "Reason" and "approve" not in str(field.key)).input("decided by the board")
    press(app, "Change the limit")
    return balance.spent(PEOPLE).cap_epsilon == 20


def approves(owner: str) -> bool:  # noqa: ARG001
    app = open_ledger()
    (waits,) = approvals.waiting()
    if not any(button.label == "Approve" for button in app.button):
        return False
    app.text_input(key=f"approve_reason_{waits.run}").input("as the protocol says")
    press(app, "Approve")
    return approvals.waiting() == ()


def demands(owner: str) -> bool:  # noqa: ARG001
    app = open_ledger()
    found = [field for field in app.multiselect if field.label == "A second person approves"]
    if not found:
        return False
    found[0].set_value(["plan", "release"]).run()
    return approvals.demanded(verified_books.read(), PEOPLE) == ("plan", "release")


def revokes(owner: str) -> bool:
    """Another person's token."""
    key = next(token.key for token in tokens.listed(curator()) if token.owner == curator())
    app = open_ledger()
    if owner == curator() or not any(button.key == f"revoke_{key}" for button in app.button):
        return False
    app.button(key=f"revoke_{key}").click().run()
    return key not in [token.key for token in tokens.listed(curator())]


def shares(owner: str) -> bool:
    """One's own project with another curator."""
    app = open_page("data", "")
    if (app := press(app, "Share")) is None:
        return False
    other = next(person for person, name in sharing.candidates(owner).items() if name != "rick@example.org")
    app.multiselect(key="project_share_with").set_value([other])
    app.button(key="project_share_confirm").click().run()
    return sharing.people(owner, projects.list(owner)[0].id) == (other,)


def retains(owner: str) -> bool:  # noqa: ARG001
    app = open_ledger()
    found = [field for field in app.number_input if field.key == "retention_days"]
    if not found:
        return False
    found[0].set_value(30)
    press(app, "Keep them so long")
    return retention.days() == 30


def settles(owner: str) -> bool:  # noqa: ARG001
    """What two people had who left long ago: of one it is offered, of the other deleted."""
    places = []
    for name in ("gone", "late"):
        roles.greet(name, f"{name}@example.org", [Role.CURATOR], "2024-01-01T00:00:00.000+00:00")
        places.append(projects.create(name, f"What {name} knew", draft()).id)
    app = open_ledger()
    if not any(button.key == "left_offer_gone" for button in app.button):
        return False
    assert "What gone knew" not in words(app)
    app.selectbox(key="left_to_gone").set_value(curator())
    app = app.button(key="left_offer_gone").click().run()
    assert "has not answered yet" in words(app)
    app.checkbox(key="left_sure_late").check().run().button(key="left_delete_late").click().run()
    return (sharing.offered_to(places[0]), len(projects.list("gone")), projects.list("late")) == (curator(), 1, ())


def curator() -> str:
    return next(owner for owner, name in roles.names().items() if name == "curator@example.org")


IN_THE_APP: dict[Act, Callable[[str], bool]] = {
    Act.PREPARE: prepares,
    Act.LOOK: looks_at_records,
    Act.RUN: runs_a_plan,
    Act.CAP: changes_the_limit,
    Act.APPROVE: approves,
    Act.DEMAND: demands,
    Act.REVOKE: revokes,
    Act.SHARE: shares,
    Act.RETAIN: retains,
    Act.SETTLE: settles,
}


@pytest.mark.parametrize("role", Role)
def test_each_role_does_in_the_app_what_the_table_says_and_nothing_else(office: Office, role: Role) -> None:
    approvals.demand(LOCAL_OWNER, PEOPLE, ["plan"])
    office.enter("ben")
    made = submitted(office.enter("curator"))
    tokens.make(curator(), "a notebook")
    owner = office.enter(role)
    done = {act for act, attempt in IN_THE_APP.items() if act is not Act.APPROVE and attempt(owner)}
    with chain.reading() as db:
        roles_of_it = roles.of(db, owner)
    assert roles_of_it == {role}
    approvals.demand(LOCAL_OWNER, PEOPLE, ["plan"])
    for run in runs.list(owner):  # of its own, which it could not approve
        runs.cancel(owner, run.id)
    if role is Role.CURATOR:
        made = submitted(office.enter("ben"))
        office.enter(role)
    assert [waits.run for waits in approvals.waiting()] == [made]
    done |= {Act.APPROVE} if approves(owner) else set()
    approvals.demand(LOCAL_OWNER, PEOPLE, [])
    maker = runs.get(office.enter("ben" if role is Role.CURATOR else "curator"), made).owner
    work(made)
    assert downloaded(office, made) == 200
    office.enter(role)
    assert downloaded(office, made) == 404, "it is another person's"
    if role is Role.CURATOR:
        own = submitted(owner)
        work(own)
        done |= {Act.DOWNLOAD} if downloaded(office, own) == 200 else set()
    assert done == MAY[role]
    assert maker != owner


STORE: dict[Act, Callable[[str, str, str], object]] = {
    Act.PREPARE: lambda owner, _place, _run: projects.create(owner, "Mine", {}),
    Act.LOOK: lambda owner, place, _run: recorded_views.record(owner, place, "rows"),
    Act.RUN: lambda owner, place, _run: runs.submit(owner, place, document.spec(draft(), "Trial")),
    Act.DOWNLOAD: lambda owner, _place, run: runs.to_take_away(owner, run),
    Act.CAP: lambda owner, _place, _run: ledger.change_cap(owner, PEOPLE, (20.0, 1e-9), "decided by the whole board"),
    Act.APPROVE: lambda owner, _place, run: runs.approve(owner, run, "plan", "decided by the whole board"),
    Act.DEMAND: lambda owner, _place, _run: approvals.demand(owner, PEOPLE, []),
    Act.REVOKE: lambda owner, _place, _run: tokens.revoke(owner, "0" * 64),
    Act.SHARE: lambda owner, place, _run: sharing.share(owner, place, []),
    Act.RETAIN: lambda owner, _place, _run: retention.state(owner, 30),
    Act.SETTLE: lambda owner, _place, _run: sharing.left(owner),
}


@pytest.mark.parametrize("act", Act)
def test_the_store_itself_refuses_who_has_no_role_for_it(office: Office, act: Act) -> None:
    """Also where the thing is the person's own: the role was withdrawn since."""
    owner = office.enter("curator")
    run = submitted(owner)
    (place,) = projects.list(owner)
    if act is Act.DOWNLOAD:
        work(run)
    else:
        approvals.demand(LOCAL_OWNER, PEOPLE, ["plan"])
    roles.greet(owner, "curator", [role for role in Role if act not in MAY[role]], now())
    before = chain.entries()
    error = refused(STORE[act], owner, place.id, run, saying="does not let you")
    assert error.field == "role"
    refused(STORE[act], "nobody has greeted this owner", place.id, run)
    assert chain.entries() == before


def resume(owner: str, run: str) -> None:
    with database.transaction() as db:
        dispatch.resume(db, owner, run)


@pytest.mark.parametrize(
    "again",
    [lambda owner, place, _: projects.rename(owner, place, "Other"), lambda owner, _, run: resume(owner, run),
        lambda owner, _, run: runs.explain(owner, run, "it is published all the same")],
    ids=["rename", "resume", "explain"],
)  # fmt: skip
def test_who_lost_the_role_goes_on_with_nothing(office: Office, again: Callable[[str, str, str], object]) -> None:
    owner = office.enter("curator")
    run = submitted(owner)
    (place,) = projects.list(owner)
    roles.greet(owner, "curator", [Role.AUDITOR], now())
    refused(again, owner, place.id, run, saying="does not let you")
    assert projects.load(owner, place.id).name == place.name


def test_every_role_reads_the_ledger_and_auditors_find_nothing_to_press(office: Office) -> None:
    approvals.demand(LOCAL_OWNER, PEOPLE, ["plan"])
    submitted(office.enter("curator"))
    for role in Role:
        office.enter(role)
        app = open_ledger()
        assert "A plan before it runs" in words(app)
        assert len(app.dataframe[0].value) == 3
    office.enter("auditor")
    app = open_ledger()
    assert [button.label for button in app.button] == ["Sign out"]
    assert [field.label for field in app.text_input] == []
    for name in ("data", "domain", "results", "mechanism", "compare", *listed("PAGES")):
        page = open_page(name, projects.list(curator())[0].id)
        assert page.title[0].value == "Ledger", "there is no such page for an auditor"
        assert "Trial" not in words(page)


def test_nobody_reaches_anything_of_another_person(office: Office) -> None:
    ann = office.enter("curator")
    place = projects.create(ann, "Secret project", draft()).id
    projects.upload(ann, place, "people.csv", io.BytesIO(b"a\n1\n"))
    run = runs.submit(ann, place, document.spec(draft(), "Secret project"))
    work(run)
    ben = office.enter("ben")
    for name in ("data", "results", "compare"):
        assert "Secret" not in words(open_page(name, place))
    attempts: list[Callable[[], object]] = [
        lambda: projects.load(ben, place),
        lambda: projects.save(ben, place, {}),
        lambda: projects.uploads(ben, place),
        lambda: projects.upload(ben, place, "people.csv", io.BytesIO(b"")),
        lambda: projects.delete(ben, place),
        lambda: runs.submit(ben, place, document.spec(draft(), "Trial")),
        lambda: runs.get(ben, run),
        lambda: runs.release(ben, run),
        lambda: runs.cancel(ben, run),
        lambda: runs.delete(ben, run),
        lambda: recorded_views.record(ben, place, "rows"),
    ]
    for attempt in attempts:
        refused(attempt, saying="does not exist")
    assert downloaded(office, run) == 404
    office.visitor = {}
    assert downloaded(office, run) == 403, "signed out"
    office.visitor = {"_streamlit_user": create_signed_value("d" * 40, "_streamlit_user", "{}").decode()}
    assert downloaded(office, run) == 403, "a cookie that this server did not sign"
    office.enter("curator")
    assert downloaded(office, run) == 200


def test_a_shared_project_is_anothers_to_work_on_and_says_whose_it_is(office: Office) -> None:
    approvals.demand(LOCAL_OWNER, PEOPLE, ["plan"])
    rick, ben = office.enter("rick"), office.enter("ben")
    ann = office.enter("curator")
    place = projects.create(ann, "Hospital stays", draft()).id
    sharing.share(ann, place, [ben, rick])
    assert [button.key for button in open_page("data", place).button if button.key in ("project_share", "project_delete")] != []
    office.enter("ben")
    page = open_page("mechanism", place)
    assert field(page, "selectbox", "Project").options == ["Hospital stays · of curator@example.org"]
    assert [button.key for button in page.button if button.key in ("project_share", "project_delete")] == []
    assert press(press(page, "Lock"), "Spend ε 1 and run") is not None
    (run,) = runs.list(ann, place)
    assert run.owner == ben, "it is charged in the name of who started it"
    copied = press(open_page("data", place), "Copy")
    copied.text_input(key="project_copy_name").input("Mine")
    copied.radio(key="project_copy_whose").set_value(Whose.SAME)
    copied.button(key="project_copy_confirm").click().run()
    assert [(one.name, one.owner) for one in projects.list(ben) if one.id != place] == [("Mine", ben)], "a copy is one's own"
    office.enter("rick")
    refused(runs.approve, rick, run.id, "plan", "I only helped with it", saying="or had a part in its project")
    sharing.share(ann, place, [ben])
    refused(runs.approve, rick, run.id, "plan", "I helped with it before", saying="or had a part in its project")
    assert "Hospital" not in words(open_page("data", place))
    runs.approve(office.enter("reviewer"), run.id, "plan", "as the protocol says")
    office.enter("curator")
    app = press(open_page("data", place), "Share")
    app.selectbox(key="project_hand_to").set_value(ben)
    press(app, "Hand over")
    assert "has not answered yet" in words(press(open_page("data", place), "Share"))
    assert projects.load(ben, place).owner == ann
    office.enter("ben")
    assert press(open_page("data", ""), "Decline") is not None
    assert sharing.offers(ben) == []
    office.enter("curator")
    app = press(open_page("data", place), "Share")
    app.selectbox(key="project_hand_to").set_value(ben)
    press(app, "Hand over")
    office.enter("ben")
    app = press(open_page("data", ""), "Take it over")
    assert "Hospital stays" in field(app, "selectbox", "Project").options
    assert projects.load(ben, place).owner == ben
    office.enter("curator")
    assert "Hospital stays" not in field(open_page("data", place), "selectbox", "Project").options


def test_a_plan_waits_for_another_person_and_reads_nothing_before(office: Office) -> None:
    approvals.demand(LOCAL_OWNER, PEOPLE, ["plan", "release"])
    rick = office.enter("rick")
    run = submitted(rick)
    (place,) = projects.list(rick)
    dispatch.pump()
    refused(dispatch.claim, run, kind=jobs.NotMine)
    assert "a reviewer has to approve its plan first" in words(open_page("mechanism", place.id))
    mine = open_page("ledger", place.id)
    assert "You made it: another person has to approve it." in words(mine)
    assert press(mine, "Approve") is None
    refused(runs.approve, rick, run, "plan", "it is mine", saying="you made it yourself")
    office.enter("reviewer")
    assert approves("")
    work(run)
    assert runs.get(rick, run).state == "done"
    office.enter("rick")
    results = open_page("results", place.id)
    assert "A reviewer has to approve this release" in words(results)
    (link,) = results.get("link_button")
    assert (link.proto.label, link.proto.disabled) == ("Ask a question", True)
    assert downloaded(office, run) == 404
    refused(runs.approve, rick, run, "release", "it is mine", saying="you made it yourself")
    reviewer = office.enter("reviewer")
    shown = open_ledger()
    assert [button.label for button in shown.get("download_button")][:1] == ["Read its report"]
    refused(runs.approve, reviewer, run, "release", " ", saying="not given a reason")
    assert approves("")
    refused(runs.approve, reviewer, run, "release", "approved once more by mistake", saying="it waits for no approval")
    office.enter("rick")
    assert downloaded(office, run) == 200
    kinds = [entry.kind for entry in chain.entries() if entry.curator == reviewer]
    assert kinds == ["approve plan", "approve release"]
    assert verified_books.verify().ok


def test_a_worker_that_was_started_all_the_same_reads_nothing_of_a_plan_that_nobody_approved(office: Office) -> None:
    run = submitted(office.enter("curator"))
    with patch.object(dispatch, "launch_worker", lambda *_: None):
        dispatch.pump()
    job = dispatch.claim(run)
    approvals.demand(LOCAL_OWNER, PEOPLE, ["plan"])
    worker.work(job)
    ended = runs.get(office.enter("curator"), run)
    assert (ended.state, ended.touched) == ("failed", False)
    assert balance.spent(PEOPLE).releases == 0, "its budget was given back"


def test_a_release_that_needs_a_reason_is_approved_with_it_and_does_not_change_afterwards(office: Office) -> None:
    approvals.demand(LOCAL_OWNER, PEOPLE, ["release"])
    ann = office.enter("curator")
    fields = draft(criteria=[{"kind": "tables", "limit": 0.00001}])
    place = projects.create(ann, "Trial", fields).id
    run = runs.submit(ann, place, document.spec(fields, "Trial"))
    work(run)
    reviewer = office.enter("reviewer")
    refused(runs.approve, reviewer, run, "release", "the report looks fine to us", saying="write first why")
    runs.explain(ann, run, "the tables that matter are good")
    is_sound = runs.is_one_paragraph

    def meanwhile(paragraph: str) -> bool:
        runs.approve(reviewer, run, "release", "the report looks fine to us")
        return is_sound(paragraph)

    with patch.object(runs, "is_one_paragraph", meanwhile):
        refused(runs.explain, ann, run, "another reason, while it is approved", saying="approved the release as it is")
    refused(runs.explain, ann, run, "another reason altogether", saying="approved the release as it is")
    assert runs.to_take_away(ann, run).despite == "the tables that matter are good"


def test_a_curator_neither_raises_a_limit_nor_opens_a_population_with_one(office: Office) -> None:
    ann = office.enter("curator")
    refused(ledger.open_population, ann, "the same people under another name", (100.0, 1e-9), saying="the role officer")
    place = projects.create(ann, "Trial", draft(population="others")).id
    refused(runs.submit, ann, place, document.spec(draft(population="others"), "Trial"), saying="officer")
    assert "Change the limit" not in str(open_page("ledger", place))
    assert balance.populations() == (PEOPLE,)
    officer = office.enter("officer")
    ledger.open_population(officer, "others", (1.0, 1e-9))
    runs.submit(ann, place, document.spec(draft(population="others"), "Trial"))


def test_who_has_no_role_does_not_come_in_and_without_roles_everybody_has_all(office: Office, tmp_path: Path) -> None:
    assert office.enter("stranger") == ""
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(secrets.read_text().partition("[dpsynth.roles]")[0])
    secrets_singleton._reset()
    _chosen.cache_clear()
    owner = office.enter("stranger")
    with chain.reading() as db:
        assert roles.of(db, owner) == roles.EVERY


@pytest.mark.parametrize(("line", "problem"), [('boss = ["a@b"]', "'boss' is not a role"), ('curator = "a@b"', "not a list of e-mail")])
def test_a_table_of_roles_that_makes_no_sense_is_refused(office: Office, tmp_path: Path, line: str, problem: str) -> None:  # noqa: ARG001
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(f"{secrets.read_text().partition('[dpsynth.roles]')[0]}[dpsynth.roles]\n{line}\n")
    secrets_singleton._reset()
    _chosen.cache_clear()
    refused(doors.chosen, saying=problem)


def test_a_token_is_shown_once_and_its_maker_revokes_it(office: Office) -> None:
    owner = office.enter("curator")
    place = projects.create(owner, "Trial", draft()).id
    app = open_page("ledger", place)
    app.text_input(key="token_place").input("My <b>notebook</b>")
    app = press(app, "Make a token") or app
    (shown,) = [code.value for code in app.code if "DPSYNTH_LEDGER_TOKEN=" in code.value]
    with chain.reading() as db:
        assert tokens.owner_of(db, shown.partition("=")[2]) == owner
    app = open_page("ledger", place)
    assert "DPSYNTH_LEDGER_TOKEN=" not in str([code.value for code in app.code])
    assert "<b>" not in words(app)
    press(app, "Revoke")
    assert tokens.listed(owner) == ()


def test_rules_of_the_house_are_said_where_a_plan_is_locked(office: Office) -> None:
    rules.put_in_force(LOCAL_OWNER, '{"largest_epsilon": 0.5}', "decided by the whole board")
    place = projects.create(office.enter("curator"), "Trial", draft()).id
    app = press(open_page("mechanism", place), "Lock")
    assert app is not None
    shown = press(app, "Spend ε 1 and run")
    assert shown is not None
    assert "**Rules of the house**: epsilon is at most 0\\.5, and this one is 1" in words(shown)
    assert balance.spent(PEOPLE).releases == 0


def test_what_people_did_is_in_the_chain_before_it_is_done_and_names_no_project(office: Office) -> None:
    owner = office.enter("curator")
    assert looks_at_records(owner)
    (table,) = projects.list(owner)
    run = submitted(owner)
    work(run)
    assert downloaded(office, run) == 200
    office.enter("ben")
    assert downloaded(office, run) == 404, "which is not a download"
    runs.delete(owner, run)
    projects.delete(owner, table.id)
    done = [(entry.kind, entry.note) for entry in chain.entries() if entry.kind in ("look", "download", "delete")]
    assert done == [
        ("look", f"rows, in project {table.id}"),
        ("download", f"csv of run {run}"),
        ("delete", f"run {run}"),
        ("delete", f"project {table.id}"),
    ]
    assert {entry.curator for entry in chain.entries() if entry.kind == "look"} == {owner}
    assert "Table" not in json.dumps([vars(entry) for entry in chain.entries()])
    assert verified_books.verify().ok
    office.enter("auditor")
    assert "true values looked at" in open_ledger().dataframe[0].value["what"].tolist()


def test_a_program_elsewhere_has_no_say_about_what_the_server_carries_out(office: Office) -> None:
    """Else its reservation could be given back, or called final, while it waits: no job would end any more."""
    owner = office.enter("curator")
    run, token = submitted(owner), tokens.make(owner, "notebook")
    before = chain.entries()
    for act in ("touch", "return", "cite"):
        refused(ledger_api.answer, token, act, {"run": run}, saying="no charge of yours")
    assert chain.entries() == before
    work(run)
    assert runs.get(owner, run).state == "done"


def test_the_same_person_under_another_account_approves_nothing_of_their_own(office: Office) -> None:
    approvals.demand(office.enter("administrator"), PEOPLE, ["plan"])
    owner = office.enter("curator")
    run = submitted(owner)
    roles.greet("another account", "curator@example.org", [Role.REVIEWER], now())
    refused(approvals.approve, "another account", run, "plan", "it is mine under another name", saying="you made it yourself")


def test_where_the_books_are_damaged_nothing_is_shown_or_taken_and_what_is_deleted_goes(office: Office, home: Path) -> None:
    owner = office.enter("curator")
    run = submitted(owner)
    work(run)
    (place,) = projects.list(owner)
    with sqlite3.connect(home / "dpsynth.sqlite") as db:
        db.execute("DROP TRIGGER ledger_is_never_changed")
    refused(recorded_views.record, owner, place.id, "rows", kind=BooksLost)
    assert recorded_views.of(owner, place.id) == ()
    assert downloaded(office, run) == 503
    runs.delete(owner, run)
    projects.delete(owner, place.id)
    assert projects.list(owner) == ()


def test_a_database_that_was_lost_is_said_to_who_comes_in(office: Office, home: Path) -> None:
    office.enter("curator")
    for path in home.glob("dpsynth.sqlite*"):
        path.unlink()
    app = open_page(FIRST, "")
    assert "its database is missing" in words(app)


def test_who_shares_a_project_acts_in_their_own_name_and_no_more_once_it_is_withdrawn(office: Office) -> None:
    ben, ann = office.enter("ben"), office.enter("curator")
    place = projects.create(ann, "Hospital stays", draft()).id
    done, active = (runs.submit(ann, place, document.spec(draft(), name)) for name in ("One", "Two"))
    work(done)
    sharing.share(ann, place, [ben])
    office.enter("ben")
    app = at(place, "about").checkbox(key=f"sure_{done}").check().run()
    assert "it belongs to another person" in words(app.button(key=f"delete_{done}").click().run())
    assert not [entry for entry in chain.entries() if entry.kind == "delete"]
    asked = press(open_page("mechanism", place), "Cancel")
    sharing.share(ann, place, [])
    assert "it does not exist" in words(press(asked, "Stop the run"))
    assert runs.get(ann, active).active


def test_equal_names_are_told_apart_and_who_lost_the_role_is_still_shown_among_those_who_share(office: Office) -> None:
    old = office.enter("ben")
    roles.greet("another account", "ben@example.org", [Role.CURATOR], now())
    ann = office.enter("curator")
    place = projects.create(ann, "Hospital stays", draft()).id
    sharing.share(ann, place, ["another account"])
    app = press(open_page("data", place), "Share")
    called = {f"ben@example.org · {one[:8]}" for one in (old, "another account")}
    assert set(app.multiselect(key="project_share_with").options) == called
    app.button(key="project_share_confirm").click().run()
    assert sharing.people(ann, place) == ("another account",)
    roles.greet("another account", "ben@example.org", [Role.AUDITOR], now())
    app = press(open_page("data", place), "Share")
    assert app.selectbox(key="project_hand_to").options == ["ben@example.org · " + old[:8]]
    app.multiselect(key="project_share_with").set_value(["another account", old])
    app.button(key="project_share_confirm").click().run()
    assert set(sharing.people(ann, place)) == {"another account", old}
    roles.greet("eve", "ben@example.org · " + old[:8], [Role.CURATOR], now())
    assert len(set(sidebar._told_apart(sharing.candidates(ann)).values())) == 2


def test_before_a_release_is_approved_no_page_hands_out_its_rows_or_what_changed_since(office: Office) -> None:
    approvals.demand(LOCAL_OWNER, PEOPLE, ["release"])
    reviewer, ann = office.enter("reviewer"), office.enter("curator")
    place = projects.create(ann, "Hospital stays", draft()).id
    pair = [runs.submit(ann, place, document.spec(draft(), name)) for name in ("One", "Two")]
    for run in pair:
        work(run)

    def handed_out() -> tuple[int, int]:
        return len(at(place, "rows").dataframe), len(open_page("compare", place).get("download_button"))

    assert handed_out() == (0, 0)
    runs.approve(reviewer, pair[1], "release", "as the protocol says")
    assert handed_out()[1] == 0, "the other one waits"
    runs.approve(reviewer, pair[0], "release", "as the protocol says")
    assert handed_out() == (1, 2)
    opened = [SimpleNamespace(run=runs.get(ann, run)) for run in pair]
    assert compare_view._taken(ann, *opened, lambda: "the file") == "the file"
    assert [entry.note for entry in chain.entries() if entry.kind == "download"] == [f"changes of run {run}" for run in pair]
    refused(compare_view._taken, office.enter("ben"), *opened, lambda: "the file", saying="does not exist")
