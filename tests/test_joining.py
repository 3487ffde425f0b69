"""What somebody needs who wants to join, cite or report: it is there, and it agrees with the program."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import dpsynth_core

ROOT = Path(__file__).resolve().parents[1]
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("[fw]*.yml"))


def test_the_citation_is_of_this_program_and_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= set(cited)
    assert cited["version"] == dpsynth_core.__version__
    assert cited["license"] == "Apache-2.0"


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_a_form_for_reports_asks_for_no_records(form: Path) -> None:
    asked = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(asked)
    assert len({part["id"] for part in asked["body"] if "id" in part}) == sum("id" in part for part in asked["body"])
    assert "private records" in form.read_text(encoding="utf-8")


def test_there_are_forms() -> None:
    assert [form.stem for form in FORMS] == ["fault", "wish"]
