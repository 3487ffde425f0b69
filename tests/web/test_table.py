"""Taking in a table: what is not a table leaves nothing behind, other people's files stay closed, real rows come back curator-only."""

from __future__ import annotations

import copy
import io
from pathlib import Path

import pandas as pd
import pytest

from dpsynth_core.foundation import settings
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.sources.demo import ROWS, demo_domain
from dpsynth_core.sources.locations import Remote
from dpsynth_core.store import projects
from dpsynth_core.web.data import project_table
from dpsynth_core.web.shell import document
from dpsynth_core.web.shell.document import Draft
from tests.refusals import refused

CSV = b"age;sex;note\n39;Male;\xe9t\xe9\n50;Female;x\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    return projects.create("local", "Trial", document.new()).id


def uploaded(project: str, content: bytes, name: str = "people.csv") -> project_table.Table:
    return project_table.from_upload("local", project, name, io.BytesIO(content))


def draft_with(table: project_table.Table) -> Draft:
    draft = document.new()
    project_table.adopt(draft, table)
    return draft


def test_an_upload_is_kept_with_what_was_found_about_it(project: str) -> None:
    table = uploaded(project, CSV)
    assert table.columns == ("age", "sex", "note")
    assert table.section["delimiter"] == ";"
    assert table.section["encoding"] == "utf-8"
    assert [said for _, said in table.doubts[0].answers] == [{"encoding": "cp1252"}, {"encoding": "utf-8"}]
    assert Path(table.section["path"]).read_bytes() == CSV
    assert document.columns(draft_with(table)) == table.columns


@pytest.mark.parametrize("content", [b"", b"age,sex\n", b"People,,\n1,2,3\n", b"%PDF-1.4 \x00\x01", b"\x00\x01\x02\x03" * 100])
def test_what_is_no_table_is_refused_and_not_kept(project: str, content: bytes) -> None:
    refused(uploaded, project, content)
    assert projects.uploads("local", project) == ()


def test_a_new_upload_replaces_the_old_one(project: str) -> None:
    uploaded(project, CSV, "old.csv")
    uploaded(project, CSV, "new.csv")
    assert [path.name for path in projects.uploads("local", project)] == ["new.csv"]


def test_a_refused_upload_leaves_the_table_before_it(project: str) -> None:
    uploaded(project, CSV, "good.csv")
    refused(uploaded, project, b"", "bad.csv")
    assert [path.name for path in projects.uploads("local", project)] == ["good.csv"]


def test_a_path_is_opened_where_it_lies(tmp_path: Path, project: str) -> None:
    place = tmp_path / "people.csv"
    place.write_bytes(CSV)
    assert project_table.from_path(f"file://{place}", only_this_machine=True).section["path"] == str(place)
    assert projects.uploads("local", project) == ()


def test_an_address_is_opened_for_whoever_runs_the_server_alone(project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project
    opened: list[object] = []
    monkeypatch.setattr(project_table, "_inspect", lambda place, source: opened.append((place, source)))
    project_table.from_path("s3://bucket/people.csv", only_this_machine=True)
    assert opened == [(Remote("s3://bucket/people.csv"), "path")]
    refused(project_table.from_path, "s3://bucket/people.csv", only_this_machine=False, saying="may not be opened")
    error = refused(project_table.from_path, "s3://key:secret@bucket/people.csv", only_this_machine=True, saying="holds a user name")
    assert "secret" not in str(error)


@pytest.mark.parametrize("text", ["", "people.csv", "/no/such/file.csv", "/"])
def test_a_path_that_leads_nowhere_is_refused(project: str, text: str) -> None:
    assert project
    refused(project_table.from_path, text, only_this_machine=True)


def test_the_store_cannot_be_opened_by_path(project: str) -> None:
    table = uploaded(project, CSV)
    refused(project_table.from_path, table.section["path"], only_this_machine=True, saying="may not be opened")


def test_a_shared_server_opens_only_the_folders_named_for_it(tmp_path: Path, project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project
    (tmp_path / "open").mkdir()
    (tmp_path / "closed").mkdir()
    for folder in ("open", "closed"):
        (tmp_path / folder / "people.csv").write_bytes(CSV)
    (tmp_path / "open" / "link.csv").symlink_to(tmp_path / "closed" / "people.csv")
    refused(project_table.from_path, str(tmp_path / "open" / "people.csv"), only_this_machine=False, saying="may not be opened")
    monkeypatch.setenv(settings.DATA_ROOTS, str(tmp_path / "open"))
    assert project_table.from_path(str(tmp_path / "open" / "people.csv"), only_this_machine=False).label == "people.csv"
    for escape in ("closed/people.csv", "open/../closed/people.csv", "open/link.csv"):
        refused(project_table.from_path, str(tmp_path / escape), only_this_machine=False, saying="may not be opened")


def test_real_rows_are_curator_only(project: str) -> None:
    zoned = project_table.preview(draft_with(uploaded(project, CSV)))
    assert zoned.zone is Zone.CURATOR
    assert zoned.value.to_dict("list") == {"age": ["39", "50"], "sex": ["Male", "Female"], "note": ["\ufffdt\ufffd", "x"]}


def test_at_most_the_first_rows_are_shown(project: str) -> None:
    many = pd.DataFrame({"age": range(1000), "sex": "f"}).to_csv(index=False).encode()
    assert len(project_table.preview(draft_with(uploaded(project, many))).value) == project_table.PREVIEW_ROWS


def test_simulated_people_are_public() -> None:
    draft = draft_with(project_table.simulated())
    assert project_table.is_simulated(draft)
    assert project_table.preview(draft).zone is Zone.PUBLIC
    looked = project_table.look(draft)
    assert looked.zone is Zone.PUBLIC
    assert [guess.attribute for guess in looked.value] == list(demo_domain())


def test_what_is_known_of_the_simulated_people_goes_with_them(project: str) -> None:
    simulated = draft_with(project_table.simulated())
    assert (simulated["population"], document.people(simulated)) == (project_table.DEMO_LABEL, ROWS)
    replaced = copy.deepcopy(simulated)
    project_table.adopt(replaced, uploaded(project, CSV))
    project_table.disown(simulated)
    for draft in (replaced, simulated):
        assert "population" not in draft
        assert document.people(draft) is None


def test_what_was_said_of_real_people_stays(project: str) -> None:
    draft = draft_with(uploaded(project, CSV))
    draft["population"], draft["wizard"]["people"] = "Our patients", 900
    project_table.adopt(draft, uploaded(project, CSV, "newer.csv"))
    assert (draft["population"], document.people(draft)) == ("Our patients", 900)


def test_looking_at_the_private_table_is_curator_only(project: str) -> None:
    assert project_table.look(draft_with(uploaded(project, CSV))).zone is Zone.CURATOR


def test_reading_with_another_delimiter_changes_the_columns(project: str) -> None:
    draft = draft_with(uploaded(project, b"a;b,c\n1;2,3\n4;5,6\n7;8,9\n"))
    assert project_table.reread(draft, delimiter=",").columns == ("a;b", "c")
    refused(project_table.reread, draft, encoding="no-such-encoding")


def test_a_draft_without_its_table_is_as_before() -> None:
    draft = draft_with(project_table.simulated())
    project_table.disown(draft)
    assert draft == document.new()
