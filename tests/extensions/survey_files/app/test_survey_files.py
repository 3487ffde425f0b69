"""Workbooks and files of statistical programs on the Data page: sheets, and labels taken with a click."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pyreadstat
import xlsxwriter

from dpsynth_core.web.shell import document
from tests.app.demo_project import field, stored
from tests.app.test_preparation_pages import first_visit


def test_the_panel_of_a_workbook_offers_its_sheets_and_restates_them() -> None:
    content = io.BytesIO()
    with xlsxwriter.Workbook(content) as book:
        for name, header in (("first", "a"), ("second", "b")):
            sheet = book.add_worksheet(name)
            sheet.write_column(0, 0, [header, 1, 2, 3])
    app = first_visit("people.xlsx", content.getvalue())
    assert stored()["wizard"]["columns"] == ["a"]
    chosen = field(app, "selectbox", "Sheet")
    assert chosen.options == ["first", "second"]
    chosen.select("second").run()
    assert (stored()["wizard"]["columns"], stored()["data"]["sheet"]) == (["b"], "second")
    field(app, "toggle", "The first line").set_value(False).run()
    assert stored()["data"]["names"] == ["column_1"]
    field(app, "selectbox", "marks").select((",", "")).run()
    assert stored()["data"]["decimal"] == ","


def test_the_labels_of_a_statistical_file_are_taken_with_a_click_and_what_columns_are_about_survives(tmp_path: Path) -> None:
    path = tmp_path / "survey.sav"
    frame = pd.DataFrame({"q1": [1.0, 2.0, 1.0], "age": [30.0, 40.0, 50.0]})
    about, labels = {"q1": "Are you content?", "age": "Age in years"}, {"q1": {1.0: "yes", 2.0: "no"}}
    pyreadstat.write_sav(frame, str(path), column_labels=about, variable_value_labels=labels, variable_format={"age": "F3.0"})
    app = first_visit("survey.sav", path.read_bytes())
    field(app, "text_input", ":population").set_value("P").run()
    app.button(key="next_data").click().run()
    assert stored()["domain"] is None  # nothing is taken before it is confirmed
    app.button(key="take_labels").click().run()
    domain = document.domain(stored())
    assert (domain["q1"].categories, domain["q1"].labels, domain["q1"].label) == (("1", "2"), ("yes", "no"), "Are you content?")
    assert (domain["age"].kind, domain["age"].label) == ("integer", "Age in years")
    assert [row["origin"] for row in stored()["wizard"]["rows"]] == ["labels", "usual"]
