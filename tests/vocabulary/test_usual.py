"""Usual lists: each can be a column's values, says where it is laid down, and is suggested by the names that such columns have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from dpsynth_core.sources.decoding import decode
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.codebook import parse_domain, pasted_domain, pasted_names
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.declared import declared, domain_json, guessed
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.usual import Role, Usual
from tests.refusals import refused

LISTS = [entry for entry in usual.entries().values() if entry.is_list]
RANGES = [entry for entry in usual.entries().values() if not entry.is_list]
WRITINGS = [pytest.param(entry, title, id=f"{entry.name}: {title}") for entry in LISTS for title in entry.writings]


def column(fields: Mapping[str, Any]) -> Attribute:
    made = Column.from_json({"name": "c", **fields}).complete()
    assert isinstance(made, Attribute)
    return made


@pytest.mark.parametrize(("entry", "title"), WRITINGS)
def test_every_list_is_the_values_of_a_column(entry: Usual, title: str) -> None:
    listed = column(entry.writings[title])
    assert listed.categories == tuple(entry.writings[title]["categories"])
    assert listed.kind in ("categorical", "ordinal")
    assert entry.source


@pytest.mark.parametrize("entry", [entry for entry in RANGES if entry.first["kind"] == "numeric"], ids=lambda entry: entry.name)
def test_rows_of_a_usual_range_have_the_decimals_that_people_write(entry: Usual) -> None:
    stated = column(entry.first)
    rows = decode(Domain((stated,)), np.repeat(np.arange(stated.size, dtype=np.int32), 50)[:, None], np.random.default_rng(1))
    written = rows["c"].to_pandas().dropna()
    assert written.equals(written.round(1))
    assert written.nunique() > 10 * stated.size


def test_there_are_as_many_as_there_are() -> None:
    sizes = {entry.name: len(entry.first["categories"]) for entry in LISTS}
    facts = {"countries": 249, "icd10-chapters": 22, "nace-sections": 21, "isced": 9, "us-states": 51, "german-states": 16, "months": 12}
    assert facts.items() <= sizes.items()
    assert len({len(fields["categories"]) for fields in usual.entries()["countries"].writings.values()}) == 1


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("Sex", "sex"),
        ("patient_gender", "sex"),
        ("Geschlecht", "sex"),
        ("is_smoker", "yes-no"),
        ("native-country", "countries"),
        ("countryOfBirth", "countries"),
        ("marital-status", "marital"),
        ("AGE", "age"),
        ("age_group", "age-bands"),
        ("hours-per-week", "weekly-hours"),
        ("date_of_birth", "birth-date"),
        ("DateOfBirth", "birth-date"),
        ("Körpergröße", "height"),
    ],
)
def test_a_name_suggests_what_such_columns_hold(column: str, name: str) -> None:
    suggestion = usual.suggested(column)
    assert suggestion is not None
    assert suggestion.name == name


@pytest.mark.parametrize("column", ["image", "stage", "Essex", "island", "history", "", "日付", "x"])
def test_a_name_that_says_nothing_suggests_nothing(column: str) -> None:
    assert usual.suggested(column) is None
    assert usual.role(column) is Role.UNKNOWN


@pytest.mark.parametrize(
    ("column", "role"),
    [
        ("income", Role.NUMBER),
        ("body_weight", Role.NUMBER),
        ("Labor_13", Role.NUMBER),
        ("capital-gain", Role.NUMBER),
        ("Uhrzeit", Role.TIME),
        ("admission_time", Role.TIME),
        ("date_of_loss", Role.DATE),
        ("weight_class", Role.UNKNOWN),
        ("ward_13", Role.UNKNOWN),
    ],
)
def test_a_name_promises_numbers_and_times(column: str, role: Role) -> None:
    assert usual.role(column) is role


@pytest.mark.parametrize(
    ("column", "role"),
    [
        ("id", Role.IDENTIFIER),
        ("PatientID", Role.IDENTIFIER),
        ("Fallnr", Role.IDENTIFIER),
        ("first name", Role.IDENTIFIER),
        ("e-mail", Role.IDENTIFIER),
        ("Unnamed: 0", Role.IDENTIFIER),
        ("Freitext", Role.TEXT),
        ("admission_date", Role.DATE),
        ("idea", Role.UNKNOWN),
        ("paid", Role.UNKNOWN),
        ("update", Role.UNKNOWN),
    ],
)
def test_a_name_promises_a_role(column: str, role: Role) -> None:
    assert usual.role(column) is role


def test_names_fill_what_a_file_does_not_say_and_the_domain_that_follows_is_one() -> None:
    columns = ("id", "name", "remark", "age", "birth_date", "percent", "sex", "date", "ward")
    made, left_out = guessed(domain_json(declared(column) for column in columns))
    entries = {entry["name"]: entry for entry in made["attributes"]}
    assert left_out == ["id", "name", "remark"]
    assert [name for name, entry in entries.items() if "to_do" not in entry] == ["age", "birth_date", "percent"]
    assert (entries["sex"]["kind"], entries["date"]["kind"]) == ("categorical", "date")
    assert "female" in entries["sex"]["to_do"]
    assert len(entries["ward"]["to_do"].split()) < 15  # what is the same for all columns is said once
    closed = [entry for entry in made["attributes"] if "to_do" not in entry]
    assert Domain.from_json({"version": 1, "attributes": closed}).names == ("age", "birth_date", "percent")


@pytest.mark.parametrize("one", RANGES, ids=lambda one: one.name)
def test_every_usual_range_is_an_entry_of_a_domain(one: Usual) -> None:
    stated = {"name": "x", "missing": True, "other": True, **one.first}
    assert Domain.from_json({"version": 1, "attributes": [stated]})["x"].kind == one.first["kind"]


EXPECTED = {"sex": ("f", "m"), "eye": ("blue",)}


@pytest.mark.parametrize(
    "text",
    [
        "sex\tf\nsex\tm\neye\tblue\n",
        "column\tvalue\nsex\tf\nsex\tm\neye\tblue",
        "Value;Column\nf;sex\nm;sex\nblue;eye\n",
        "sex\tf\n\tm\neye\tblue\n",
        "\nsex, f\nsex, m\n\neye, blue\n",
    ],
)
def test_two_columns_are_read_however_they_are_pasted(text: str) -> None:
    assert {a.name: a.categories for a in pasted_domain(text)} == EXPECTED


def test_a_third_column_has_labels_and_two_points_are_bounds() -> None:
    domain = pasted_domain("sex\tf\tfemale\nsex\tm\tmale, adult\nage\t17..90\n")
    assert domain["sex"].labels == ("female", "male, adult")
    assert (domain["age"].lower, domain["age"].upper, domain["age"].missing) == (17, 90, True)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("sex\tF, M, X\nage\t17-90", ("F", "M", "X")),
        ("sex, F, M\nage, 17..90", ("F", "M")),
        ("sex; a, b|c", ("a, b", "c")),
        ("sex\tF\tfemale, adult", ("F",)),
        ("sex\t18-24\tyoung", ("18-24",)),
        ("sex\tF = female, M = male", ("F", "M")),
        ("sex\tF = female\nsex\tM = male", ("F", "M")),
        ("sex\t1=male, 2=female", ("1", "2")),
        ("sex, 1: male, 2: female", ("1", "2")),
        ("sex\t>=5, >=10", (">=5", ">=10")),
        ("sex\t08:00, 09:00", ("08:00", "09:00")),
        ("sex\t0-17, 18-64, 65+", ("0-17", "18-64", "65+")),
        ("sex\t02139-4307", ("02139-4307",)),
        ("column,value\nsex,18-24", ("18-24",)),
        ('column,value\nsex,"Black, not Hispanic"', ("Black, not Hispanic",)),
    ],
)
def test_a_pasted_line_may_have_all_values_of_a_column(text: str, values: tuple[str, ...]) -> None:
    assert pasted_domain(text)["sex"].categories == values


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *(("0-95", "integer"), ("-5 to 5", "integer"), ("1,000,000-2.000.000", "integer"), ("0–9.5", "numeric")),
        *(("2025-01-01 to 2025-12-31", "date"), ("01.01.1950 - 31.12.2024", "date"), ("1/31/2025 to 12/31/2025", "date")),
        *(("01.01.2024 00:00..31.12.2024 23:59", "timestamp"), ("2024-01-01 to 2024-12-31 23:59:59", "timestamp")),
        *(("08:00 - 16:30", "time"), ("2024-01-01T08:00:00Z to 2024-12-31T23:59:59.5+01:00", "timestamp")),
        *(("0.125..0.875", "numeric"), ("1.5-2.125", "numeric"), ("500-1.500.000", "integer")),
    ],
)
def test_bounds_are_read_as_people_write_them(text: str, kind: str) -> None:
    assert pasted_domain(f"x\t{text}")["x"].kind == kind
    assert pasted_domain(f"x, {text}")["x"].kind == kind


def test_numbers_with_marks_between_thousands_are_those_numbers_and_a_codebook_has_none() -> None:
    column = pasted_domain("x\t1,000,000 to 2.500.000")["x"]
    assert (column.lower, column.upper) == (1_000_000, 2_500_000)
    column = parse_domain("column,value\nx,1.125..2.625")["x"]
    assert (column.lower, column.upper) == (1.125, 2.625)
    assert pasted_domain("shift\t08:00-16:30\nshift\t0")["shift"].categories == ("08:00-16:30", "0")


def test_more_cells_than_a_header_names_are_refused() -> None:
    refused(pasted_domain, "column,value\nsex,F,M,X", saying="more cells")
    refused(parse_domain, "column,value\nsex,F,M,X", saying="more fields")
    assert parse_domain("column,value\nsex,F,,\nsex,M,,")["sex"].categories == ("F", "M")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(("age\t0-95, 99", "bounds and single numbers"), ("age\t0-95\nage\t-9", "bounds and single numbers")),
        *(("a, 1, 2, ..., 10", "dots"), ('note\t"a\nage\t0-95', "quotation mark"), ('note\t"' + "a" * 200_000, "quotation mark")),
        *(("cost\t0..99,5", "not numbers"), ("cost\t0..100.000", "thousands"), ("cost\t1.000-2.000", "thousands")),
        *(("cost\t-5.250 to 0", "thousands"), ("cost\t1,250-3,750", "thousands"), ("cost\t0-1.500", "thousands")),
        *(("", "not pasted any"), ("sex\nage\n", "single field"), ("sex\tf\nsex\tf\n", "twice"), ("\tf\n", "names no column")),
    ],
)
def test_what_cannot_be_read_says_why(text: str, message: str) -> None:
    refused(pasted_domain, text, saying=message)


@pytest.mark.parametrize("text", ["age\tsex\teye", "age\nsex\n\neye\n", " age ,sex,eye\n"])
def test_names_stand_in_a_line_or_one_below_the_other(text: str) -> None:
    assert pasted_names(text) == ("age", "sex", "eye")


def test_names_are_there_and_unlike() -> None:
    for text in ("", " \n", "a\na\n"):
        refused(pasted_names, text)
