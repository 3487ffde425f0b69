"""What a publisher says of a release: written a line each, read back the same, and refused where it could not be published."""

from __future__ import annotations

import pytest

from dpsynth_core.planning.about_spec import AboutSpec, person, read, written
from tests.refusals import refused

LINES = """licence: CC-BY-4.0
contact: data@office.example
citation: Office (2025): People, a set = of rows
period: 2024-01/2024-12-31
place: Norway
creator: Statistics Office
creator: Doe, Jane"""
STATED = {
    "licence": "CC-BY-4.0",
    "contact": "data@office.example",
    "citation": "Office (2025): People, a set = of rows",
    "period": "2024-01/2024-12-31",
    "place": "Norway",
    "creators": ["Statistics Office", "Doe, Jane"],
}


def test_lines_are_read_and_written_alike() -> None:
    assert read(LINES) == read(LINES.replace(": ", "=", 1)) == STATED
    assert written(STATED) == LINES
    assert read(" \n ") is None


@pytest.mark.parametrize(
    "text", ["CC-BY-4.0", "author: somebody", "licence: a\nlicence: b", "creators: a", "creator:", "period: 2024-02-30", "place: \x1b[2J"]
)
def test_what_cannot_be_published_is_refused(text: str) -> None:
    refused(read, text, "--about", saying="--about")


@pytest.mark.parametrize(
    ("licence", "address"),
    [
        ("CC-BY-4.0", "https://spdx.org/licenses/CC-BY-4.0.html"),
        ("MIT", "https://spdx.org/licenses/MIT.html"),
        ("proprietary", ""),
        ("https://office.example/terms", "https://office.example/terms"),
        ("Open Government Licence v3.0", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
def test_a_licence_has_an_address_where_it_is_known(licence: str, address: str) -> None:
    assert AboutSpec(licence=licence).licence_address == address


def test_an_address_of_electronic_mail_is_known_as_one() -> None:
    assert AboutSpec(contact="data@office.example").email == "data@office.example"
    assert AboutSpec(contact="the office, room 3").email == ""


@pytest.mark.parametrize("contact", ["a@b", "mailto:a@b.example", "the office"])
def test_what_archives_take_for_no_address_is_a_text(contact: str) -> None:
    assert AboutSpec(contact=contact).email == ""


def test_a_period_ends_after_it_begins() -> None:
    refused(AboutSpec, period="2025/2024", kind=ValueError, saying="it ends before it begins")


@pytest.mark.parametrize(
    ("creator", "names"), [("Doe, Jane", ("Doe", "Jane")), ("Statistics Office", None), (", Jane", None), ("Doe, ", None)]
)
def test_a_person_has_two_names(creator: str, names: tuple[str, str] | None) -> None:
    assert person(creator) == names
