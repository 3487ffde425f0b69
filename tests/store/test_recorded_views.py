"""What was seen stays seen: looks at a private table belong to the project and are sealed with every later plan of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpsynth_core.planning.private_views import LOOKS, is_brand, ordered, sentence
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import database, projects, recorded_views, runs
from tests.postgres import REFUSED
from tests.refusals import refused

Make = Callable[..., Spec]


def test_a_look_is_kept_once_in_a_fixed_order(project: str) -> None:
    for look in ("truth", "rows", "truth"):
        recorded_views.record("ann", project, look)
    assert recorded_views.of("ann", project) == ("rows", "truth")
    assert ordered(["trials", "rows", "rows"]) == ("rows", "trials")


def test_nobody_looks_in_another_owner_s_project(project: str) -> None:
    refused(recorded_views.record, "bob", project, "rows")
    refused(recorded_views.of, "bob", project)
    assert recorded_views.of("ann", project) == ()


def test_a_look_survives_another_draft_and_another_table_and_goes_with_its_project(project: str) -> None:
    recorded_views.record("ann", project, "outside")
    projects.save("ann", project, {"data": {"path": "another.csv"}, "looks": []})
    assert recorded_views.of("ann", project) == ("outside",)
    for change in ("DELETE FROM looks", "UPDATE looks SET look = 'rows'"):
        with pytest.raises(REFUSED, match="what was seen stays seen"), database.transaction() as db:
            db.execute(change)
    assert recorded_views.of("ann", project) == ("outside",)
    projects.delete("ann", project)
    with database.reading() as db:
        assert recorded_views.taken(db, project) == ()


def test_a_comparison_is_a_note_until_the_domain_is_another_one(project: str) -> None:
    domain = {"attributes": [{"name": "age"}]}
    projects.save("ann", project, {"domain": domain})
    assert recorded_views.of("ann", project) == (), "a change before anything was seen"
    recorded_views.record("ann", project, "compared")
    projects.save("ann", project, {"domain": domain, "data": {"decimal": ","}})
    assert recorded_views.of("ann", project) == ("compared",), "only how the file is read"
    assert not is_brand(recorded_views.of("ann", project))
    projects.save("ann", project, {"domain": {"attributes": []}})
    projects.save("ann", project, {"domain": domain})
    assert recorded_views.of("ann", project) == ("outside",), "a change that is taken back was made after looking, too"
    assert is_brand(recorded_views.of("ann", project))


@pytest.mark.usefixtures("no_workers")
def test_a_plan_is_sealed_with_the_looks_before_it_and_no_later_ones(make_spec: Make, project: str) -> None:
    before = runs.get("ann", runs.submit("ann", project, make_spec()))
    recorded_views.record("ann", project, "truth")
    after = runs.get("ann", runs.submit("ann", project, make_spec()))
    assert (before.spec.looks, after.spec.looks) == ((), ("truth",))
    assert runs.get("ann", before.id).spec.looks == ()
    assert before.digest != after.digest


@pytest.mark.usefixtures("no_workers")
@pytest.mark.parametrize("stated", [None, (), ("rows",)])
def test_no_document_can_take_a_look_back(make_spec: Make, project: str, stated: Any) -> None:
    recorded_views.record("ann", project, "truth")
    run = runs.get("ann", runs.submit("ann", project, make_spec(looks=stated if stated is None else list(stated))))
    assert set(run.spec.looks or ()) == {"truth", *(stated or ())}


@pytest.mark.usefixtures("no_workers")
def test_a_look_while_a_plan_is_sealed_stops_the_run(make_spec: Make, project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = recorded_views.of

    def late(owner: str, name: str) -> Any:
        looks_seen = seen(owner, name)
        recorded_views.of = seen
        recorded_views.record(owner, name, "truth")
        return looks_seen

    monkeypatch.setattr(recorded_views, "of", late)
    refused(runs.submit, "ann", project, make_spec(), saying="looked at in another tab")
    assert runs.list("ann", project) == ()


def test_every_look_has_words() -> None:
    for look, words in LOOKS.items():
        assert words in sentence([look])
