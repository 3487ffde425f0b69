"""How values are written, on the Data page: units, signs, short years and texts that count as one category are suggested, and stated."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.app.demo_project import stored, words
from tests.app.test_decimal_marks import uploaded


def choice(app: AppTest, label: str) -> Any:
    return next(one for one in app.selectbox if one.label == label)


def test_a_unit_is_suggested_and_nobody_has_chosen_it_yet() -> None:
    app = uploaded(b"share;sex\n5 %;f\n7 %;m\n")
    assert stored()["data"].get("units") is None
    assert "the first records suggest numbers with %" in words(app).lower()
    app.button(key="doubt_0_0").click().run()
    assert (stored()["data"]["units"], stored()["wizard"]["doubts"]) == (["%"], [])


def test_units_signs_and_texts_are_stated() -> None:
    app = uploaded(b"pay;city\n5;Bern\n7;BERN\n")
    choice(app, "Numbers below zero").select("(5)").run()
    choice(app, "Texts that count as one category").select("case").run()
    units = next(one for one in app.multiselect if one.label == "Units")
    units.select("%").run()
    data = stored()["data"]
    assert (data["negative"], data["same_text"], data["units"]) == ("(5)", "case", ["%"])
    assert not app.exception


def test_years_of_two_digits_are_asked_about() -> None:
    app = uploaded(b"born;sex\n31.12.40;f\n05.02.24;m\n")
    assert "Is a year that is written 40 the year 1940, or 2040?" in words(app)
    app.button(key="doubt_0_0").click().run()
    assert stored()["data"]["date_format"] == "dd.mm.yy from 1930"
    assert choice(app, "Dates").value == "dd.mm.yy from 1930"


def test_texts_that_look_like_listed_ones_are_treated_as_the_same_at_a_click() -> None:
    app = uploaded(b"city;sex\n" + "Z\u00fcrich;f\n".encode() * 30 + "Zu\u0308rich;f\nBASEL;f\n".encode() * 2)
    app.button(key="next_data").click().run()
    book = b'{"version": 1, "attributes": [{"name": "city", "kind": "categorical", "categories": ["Z\xc3\xbcrich", "Basel"]},'
    book += b'{"name": "sex", "kind": "categorical", "categories": ["f"]}]}'
    next(one for one in app.file_uploader if one.label.startswith("Domain JSON")).set_value(("d.json", book, "application/json")).run()
    app.button(key="compare").click().run()
    assert "as the listed" in words(app)
    next(one for one in app.button if one.label == "Treat such texts as the same").click().run()
    assert stored()["data"]["same_text"] == "case"
    app.button(key="compare").click().run()
    assert "Every value has a cell of its own." in words(app)
