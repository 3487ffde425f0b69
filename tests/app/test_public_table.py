"""A public table in the wizard: taken in, compared, refused where it must be, a source of domains, and checked before budget is spent."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.sources import demo
from dpsynth_core.store import projects, runs
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.data import public_view
from dpsynth_core.web.shell import document
from tests.app.demo_project import COLUMNS, draft, every_card, finished_run, open_page, project, words
from tests.refusals import refused

CENSUS = demo.simulate(rows=2_000, seed=8)[list(COLUMNS)]


def with_public(place: str, content: bytes, name: str = "census.csv") -> str:
    """The project, with a public table taken in."""
    stored = dict(projects.load(LOCAL_OWNER, place).draft)
    chosen = public_view.from_upload(LOCAL_OWNER, place, name, io.BytesIO(content), stored)
    public_view.adopt(stored, chosen)
    projects.save(LOCAL_OWNER, place, stored)
    return place


def census(**columns: Any) -> bytes:
    return CENSUS.assign(**columns).to_csv(index=False).encode()


def test_a_public_table_that_agrees_says_so_and_can_be_removed() -> None:
    place = with_public(project(), census())
    app = open_page("data", place)
    assert "agrees with" in words(app)
    app.button(key="remove_public").click().run()
    assert "public" not in projects.load(LOCAL_OWNER, place).draft
    assert projects.uploads(LOCAL_OWNER, place, shelf="public") == ()


@pytest.mark.parametrize("table", ["public", "table"])
def test_no_table_is_removed_under_a_run_that_was_sealed_with_it(table: str) -> None:
    place = with_public(project(), census())
    app = open_page("data", place)
    runs.submit(LOCAL_OWNER, place, document.spec(projects.load(LOCAL_OWNER, place).draft, "Trial"))  # in another tab; no worker takes it
    app.button(key=f"remove_{table}").click().run()
    assert "a run of this project is under way with the present table" in words(app)
    kept = projects.load(LOCAL_OWNER, place).draft
    assert "public" in kept
    assert kept["data"] is not None


def test_differences_are_listed_and_what_makes_it_useless_is_said() -> None:
    other_labels = CENSUS.rename(columns={"age": "years"}).assign(sex="W").to_csv(index=False).encode()
    app = open_page("data", with_public(project(), other_labels))
    text = words(app)
    assert "lacks the" in text
    listed = next(frame.value for frame in app.dataframe if "difference" in frame.value.columns)
    differences = dict(zip(listed["column"], listed["difference"], strict=True))
    assert "missing" in differences["age"]
    assert "not used" in differences["years"]
    assert differences["sex"].startswith("100.0%")


def test_the_private_table_itself_is_refused_and_not_kept(tmp_path: Path) -> None:
    private = tmp_path / "people.csv"
    private.write_bytes(census())
    place = project(data={"path": str(private), "kind": "csv"})
    refused(with_public, place, census(), "looks-public.csv", saying="the private table itself")
    assert projects.uploads(LOCAL_OWNER, place, shelf="public") == ()


def test_another_simulated_table_is_one_click_for_the_demo() -> None:
    place = project()
    open_page("data", place).button(key="use_twin").click().run()
    assert Path(projects.load(LOCAL_OWNER, place).draft["public"]["path"]).name == public_view.TWIN


def test_the_domain_can_be_taken_from_the_public_table() -> None:
    place = with_public(project(), census())
    open_page("domain", place).button(key="take_public").click().run()
    taken = projects.load(LOCAL_OWNER, place).draft
    assert taken["domain_origin"] == "public"
    by_name = {attribute["name"]: attribute for attribute in taken["domain"]["attributes"]}
    assert by_name["sex"]["categories"] == sorted(CENSUS["sex"].unique())


def test_the_mechanisms_that_need_it_fit_once_it_is_there() -> None:
    assert "it needs a public table" in every_card(project())
    text = every_card(with_public(project(), census()))
    assert "it needs a public table" not in text
    assert "your word" in text


def test_a_file_that_was_charged_as_private_is_no_public_table(tmp_path: Path) -> None:
    private, content = tmp_path / "people.csv", CENSUS.iloc[::2].to_csv(index=False).encode()
    private.write_bytes(content)
    fields = draft(data={"path": str(private), "kind": "csv"})
    fields["wizard"] |= {"source": "path"}
    finished_run(projects.create(LOCAL_OWNER, "First", fields).id)
    assert "was private" in words(open_page("mechanism", with_public(project(), content)))


def test_a_mechanism_that_uses_it_runs_from_the_wizard_and_names_the_public_table() -> None:
    place = with_public(project(mechanism={"name": "aim_public", "settings": {"rounds_per_attribute": 2}}), census())
    made = runs.release(LOCAL_OWNER, finished_run(place).id)
    assert made.details["public_table"]["name"] == "census.csv"
    assert made.details["public_table"]["rows"] == 2_000
    assert made.spec.public.path == "census.csv"
    assert "assumed-public" in [brand.code for brand in made.brands]
    assert made.rows > 0
