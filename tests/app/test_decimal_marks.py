"""Decimal marks on the Data and Domain pages: what can be read either way is asked about, and a wrong reading is offered to be mended."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from tests.app.demo_project import ROOT, open_page, stored, words
from tests.patience import SECONDS

OPEN = b'lab,sex\n"10,584",f\n"7,127",m\n'


def uploaded(content: bytes) -> AppTest:
    """The Data page with a table and a population: nothing else stands in the way of Continue."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS).run()
    app.file_uploader[0].set_value(("lab.csv", content, "text/csv")).run()
    return next(one for one in app.text_input if one.label == "Name of the population").set_value("Patients").run()


def summary(app: AppTest) -> str:
    return next(str(one.label) for one in app.expander if one.label.startswith("Read as"))


def marks() -> tuple[str, str]:
    return stored()["data"].get("decimal", "."), stored()["data"].get("thousands", "")


def test_nobody_goes_on_before_saying_whether_it_is_ten_or_ten_thousand() -> None:
    app = uploaded(OPEN)
    assert "Is 10,584 ten and a half, or ten thousand?" in words(app)
    assert "7,127" not in words(app)  # no value of the table
    assert app.button(key="next_data").disabled
    app.button(key="doubt_0_0").click().run()
    assert (marks(), stored()["wizard"]["doubts"]) == ((",", ""), [])
    assert "numbers like 1234,5 (decimal comma, nothing between thousands)" in summary(app)
    assert not app.button(key="next_data").disabled


def test_the_other_answer_and_the_list_of_spellings_settle_it_too() -> None:
    app = uploaded(OPEN)
    app.button(key="doubt_0_1").click().run()
    assert marks() == (".", ",")
    assert "numbers like 1,234.5 (decimal point, comma between thousands)" in summary(app)
    app.button(key="remove_table").click().run()
    app.file_uploader[0].set_value(("again.csv", OPEN, "text/csv")).run()
    assert app.button(key="next_data").disabled
    spellings = next(one for one in app.selectbox if one.label == "Numbers are written like")
    assert spellings.options[:5] == ["1234.5", "1,234.5", "1234,5", "1.234,5", "1 234,5"]
    spellings.select((",", ".")).run()  # both marks at once: neither is refused for the other
    assert marks() == (",", ".")
    assert not app.button(key="next_data").disabled


def test_both_marks_are_always_said_and_another_separator_is_looked_at_anew() -> None:
    app = uploaded(b"a,b\n1,x\n2,y\n")
    assert "numbers like 1234.5 (decimal point, nothing between thousands)" in summary(app)
    app.button(key="remove_table").click().run()
    app = uploaded(b"a;b\n1.234,50;12,5\n2.000,25;3,5\n")
    assert "semicolon-separated, UTF-8, numbers as you say above" in summary(app)
    next(one for one in app.selectbox if one.label == "Fields are separated by").select("\t").run()
    assert (marks(), stored()["wizard"]["doubts"]) == ((".", ""), [])
    next(one for one in app.selectbox if one.label == "Fields are separated by").select(";").run()
    app.button(key="doubt_0_0").click().run()
    assert "semicolon-separated, UTF-8, numbers like 1.234,5 (decimal comma, point between thousands)" in summary(app)


def test_columns_that_contradict_each_other_are_named_and_stop_continue() -> None:
    app = uploaded(b'cost,size\n"1,999.5","170,3"\n"2,999.5","171,9"\n')
    assert "Column 'cost' has numbers like 1,234.5 and column 'size' like 1234,5" in words(app).replace("\\", "")
    assert app.button(key="next_data").disabled
    app.button(key="doubt_0_1").click().run()
    assert marks() == (",", "")


def test_numbers_that_are_written_otherwise_are_offered_to_be_read_so() -> None:
    app = uploaded(b"size;sex\n" + b"171,9;f\n" * 40 + b"180,25;f\n")
    app.button(key="doubt_0_1").click().run()
    app.button(key="next_data").click().run()
    book = b'{"version": 1, "attributes": [{"name": "size", "kind": "numeric", "lower": 100, "upper": 250},'
    book += b'{"name": "sex", "kind": "categorical", "categories": ["f"]}]}'
    next(one for one in app.file_uploader if one.label.startswith("Domain JSON")).set_value(("d.json", book, "application/json")).run()
    app.button(key="compare").click().run()
    assert "decimal comma" in words(app)
    assert "decimal point" in words(app)
    assert "(40 ×)" in words(app)
    next(one for one in app.button if str(one.key).endswith(":mend:size:marks")).click().run()
    assert marks() == (",", "")
    assert "Every value has a cell of its own." in words(app)


LACKING = ("data.missing_markers", "data.kind", "unit", "wizard.label", "wizard.source", "budget", "output", "wizard.passed")


@pytest.mark.parametrize("path", LACKING)
def test_a_draft_that_lacks_a_field_opens_with_the_default(path: str) -> None:
    uploaded(b"a,b\n1,x\n2,y\n")
    place = projects.list(LOCAL_OWNER)[0]
    draft = dict(place.draft)
    *parents, last = path.split(".")
    holder = draft
    for name in parents:
        holder[name] = dict(holder[name])
        holder = holder[name]
    del holder[last]
    projects.save(LOCAL_OWNER, place.id, draft)
    app = open_page("data", place.id)
    assert "2 columns" in words(app)
