"""A column of which nothing is understood is said before the charge, with what would help; one that is understood is not."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.sources import first_records
from dpsynth_core.sources.file_kinds import FILE_KINDS
from dpsynth_core.sources.first_records import FIRST, Remark
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.hierarchy import Hierarchy


def remarks(attribute: Attribute, values: list[Any], path: Path, **form: str) -> tuple[Remark, ...]:
    pd.DataFrame({"x": values, "there": "y"}).to_csv(path / "table.csv", index=False)
    found = first_records.look(Domain((attribute,)), path / "table.csv", TableFormat(kind="csv", **form))  # type: ignore[arg-type]
    assert found.zone is Zone.CURATOR
    return found.value


AS_WRITTEN = "list the values as the table writes them, or state same_text"
LIST = Attribute.categorical("x", ["f", "m"], other=True, missing=True)
AGE = Attribute.integer("x", 0, 99, other=True, missing=True)
DAY = Attribute.day("x", "2024-01-01", "2024-12-31", width="month", other=True, missing=True)
POSTCODE = Attribute.listed("x", "hierarchical", ["01", "02"], hierarchy=Hierarchy(level=2, digits=5), other=True, missing=True)
CAUSES: dict[str, tuple[Attribute, list[Any], str]] = {
    "capital letters": (LIST, ["F", "M"], f"The table writes 'F' where the list has 'f': {AS_WRITTEN} \"case\"."),
    "spaces inside": (Attribute.categorical("x", ["New York"]), ["New  York"], f"where the list has 'New York': {AS_WRITTEN} \"look\"."),
    "a dash": (Attribute.categorical("x", ["25-34"]), ["25\u201334"], 'or state same_text "look".'),
    "characters that nobody sees": (LIST, ["f\x00", "m\x7f"], f"where the list has 'f': {AS_WRITTEN} \"look\"."),
    "single quotes": (LIST, ["'f'", "'m'"], "Most of them stand in single quotes: export the table"),
    "numbers in single quotes": (AGE, ["'5'", "'22'"], "Most of them stand in single quotes: export the table"),
    "percent": (AGE, ["5 %", "22 %"], 'They would be read with units "%".'),
    "zeros in front": (Attribute.categorical("x", ["01", "02"]), ["1", "2"], "where the list has '01': list whole numbers"),
    "fractions": (Attribute.categorical("x", ["1", "2"]), ["1.0", "2.0"], "where the list has '1': list whole numbers"),
    "truths": (Attribute.categorical("x", ["true", "false"]), ["yes", "no"], "list true and false, or state dtype bool"),
    "codes as decimals": (POSTCODE, ["1067.0", "2143.00"], "writes whole numbers as decimals, such as '1067.0': export the column"),
    "other codes as decimals": (POSTCODE, ["31067.0", "42143.0"], ""),
    "a code for missing": (LIST, ["-9"], "If '-9' stands for a missing value, state it as a missing marker."),
    "another list": (LIST, ["1", "2"], ""),
    "decimal commas": (Attribute.numeric("x", 0.0, 99.0, other=True), ["1,5", "22,25"], 'They would be read with decimal ","'),
    "dates": (DAY, ["31/12/2024", "14/02/2024"], 'They would be read with date_format "dd/mm/yyyy".'),
    "beyond the bounds": (AGE, ["1200", "1300"], "Most of them lie beyond its bounds."),
    "words for numbers": (AGE, ["ten", "two"], ""),
    "words for numbers to be learnt": (Attribute.unknown("x", "numeric"), ["$25000 or more", "less than $100"], ""),
    "nothing": (LIST, [None, None], ""),
}


@pytest.mark.parametrize(("attribute", "values", "advice"), CAUSES.values(), ids=CAUSES)
def test_every_cause_is_said_with_its_remedy(attribute: Attribute, values: list[Any], advice: str, tmp_path: Path) -> None:
    (remark,) = remarks(attribute, values * 30, tmp_path)
    assert remark.is_nothing
    assert remark.sentence.startswith("column 'x': ")
    assert advice in remark.sentence
    assert advice or remark.sentence.count(".") == 1  # nothing is advised that would not help


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        (LIST, ["f", "m", None]),
        (AGE, ["0", "99", ""]),
        (DAY, ["2024-02-29"]),
        (LIST, ["f"] * 9 + ["x"]),
        (Attribute.unknown("x", "numeric"), ["5"]),
    ],
    ids=["list", "numbers", "dates", "few others", "to be learnt"],
)
def test_what_is_understood_is_not_remarked_on(attribute: Attribute, values: list[Any], tmp_path: Path) -> None:
    assert remarks(attribute, values * 30, tmp_path) == ()


@pytest.mark.parametrize("age", [AGE, Attribute.unknown("x", "integer")], ids=["listed", "to be learnt"])
def test_decimals_in_a_column_of_whole_numbers_are_asked_about(age: Attribute, tmp_path: Path) -> None:
    (remark,) = remarks(age, ["20.5", "31.25", "40", ""] * 20, tmp_path)
    assert remark.sentence.startswith("column 'x': 67% of the values of the 80 records have decimals, which are rounded. If the decimals")
    assert not remark.is_nothing
    assert remarks(age, ["20.0", "31", "40.00", "51", "60", "7.5"] * 20, tmp_path) == ()


def test_a_share_is_said_of_the_values_that_are_there(tmp_path: Path) -> None:
    (remark,) = remarks(LIST, ["f", "x", "z", None, None] * 20, tmp_path)
    assert remark.sentence == "column 'x': 67% of the values of the 100 records are not in its list."
    assert not remark.is_nothing


def test_the_stated_notation_settles_it(tmp_path: Path) -> None:
    assert remarks(DAY, ["31/12/2024"] * 9, tmp_path, date_format="dd/mm/yyyy") == ()


def test_no_more_records_are_read_than_stated(tmp_path: Path) -> None:
    (remark,) = remarks(LIST, ["x"] * FIRST + ["f"] * 4 * FIRST, tmp_path)
    assert remark.sentence == "column 'x': no value of the first 1,000 records is in its list."
    assert remarks(LIST, ["f"] * FIRST + ["x"] * FIRST, tmp_path) == ()


def test_a_few_values_that_look_like_listed_ones_are_remarked_on(tmp_path: Path) -> None:
    city = Attribute.categorical("x", ["Z\u00fcrich", "Bern"], other=True, missing=True)
    (remark,) = remarks(city, ["Z\u00fcrich"] * 50 + ["Zu\u0308rich"] * 3 + ["Basel"], tmp_path)
    assert remark.found == "column 'x': some of its values look like listed ones and count as others."
    assert remark.advice == "3 of them, such as 'Zu\u0308rich' for 'Z\u00fcrich': state same_text \"look\" if they are one."
    assert remarks(city, ["Z\u00fcrich"] * 50 + ["Zu\u0308rich"] * 3, tmp_path, same_text="look") == ()


def test_learnt_values_that_look_the_same_are_remarked_on(tmp_path: Path) -> None:
    city = Attribute.unknown("x", "categorical")
    (remark,) = remarks(city, ["Z\u00fcrich", "Zu\u0308rich", "Bern"] * 9, tmp_path)
    assert remark.found == "column 'x': some of its values look the same."
    assert remark.advice.startswith("2 spellings of 'Z\u00fcrich' would be learnt as different values")
    assert not remark.is_nothing
    (cased,) = remarks(city, ["Bern", "BERN"] * 9, tmp_path)
    assert 'state same_text "case"' in cased.sentence
    assert remarks(city, ["Bern", "BERN"] * 9, tmp_path, same_text="case") == ()
    assert remarks(city, ["Bern", "Basel"] * 9, tmp_path) == ()


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "feather", *(["spreadsheet"] if "spreadsheet" in FILE_KINDS else [])])
def test_every_kind_of_file_is_looked_at(kind: str, tmp_path: Path) -> None:
    path, frame = tmp_path / f"table.{kind}", pd.DataFrame({"x": ["F", "M"] * 30})
    writers = {"csv": frame.to_csv, "jsonl": partial(frame.to_json, orient="records", lines=True), "parquet": frame.to_parquet}
    writers |= {"feather": frame.to_feather, "spreadsheet": partial(frame.to_excel, engine="xlsxwriter")}
    with path.open("wb") as stream:
        writers[kind](stream)
    (remark,) = first_records.look(Domain((LIST,)), path, TableFormat(kind=kind)).value
    assert remark.sentence.startswith("column 'x': no value of the 60 records is in its list. The table writes")
