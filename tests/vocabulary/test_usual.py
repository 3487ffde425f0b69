"""Usual lists: each can be a column's values, says where it is laid down, and is suggested by the names that such columns have."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.sources.codec import decode
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.declared import Declared, domain_json, guessed
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.usual import Role, UsualList, UsualRange, Writing

WRITINGS = [pytest.param(entry, writing, id=f"{entry.name}: {writing.title}") for entry in usual.lists() for writing in entry.writings]


@pytest.mark.parametrize(("entry", "writing"), WRITINGS)
def test_every_list_is_the_values_of_a_column(entry: UsualList, writing: Writing) -> None:
    column = Attribute.categorical("c", writing.values, ordered=entry.kind == "ordinal", labels=writing.labels, other=True, missing=True)
    assert column.values == len(writing.values)
    assert entry.source


@pytest.mark.parametrize("entry", [entry for entry in usual.ranges() if entry.kind == "numeric"], ids=lambda entry: entry.name)
def test_rows_of_a_usual_range_have_the_decimals_that_people_write(entry: UsualRange) -> None:
    column = Attribute.numeric("c", float(entry.lower), float(entry.upper), width=float(entry.bins), decimals=entry.decimals)
    rows = decode(Domain((column,)), np.repeat(np.arange(column.size, dtype=np.int32), 50)[:, None], np.random.default_rng(1))
    written = rows["c"].to_pandas().dropna()
    assert written.equals(written.round(1))
    assert written.nunique() > 10 * column.size


def test_there_are_as_many_as_there_are() -> None:
    sizes = {entry.name: len(entry.writings[0].values) for entry in usual.lists()}
    facts = {"countries": 249, "icd10-chapters": 22, "nace-sections": 21, "isced": 9, "us-states": 51, "german-states": 16, "months": 12}
    assert facts.items() <= sizes.items()
    assert all(len({len(w.values) for w in entry.writings}) == 1 for entry in usual.lists() if entry.name == "countries")


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


@pytest.mark.parametrize("column", ["income", "wage", "image", "stage", "Essex", "island", "history", "", "日付", "x"])
def test_a_name_that_says_nothing_suggests_nothing(column: str) -> None:
    assert usual.suggested(column) is None
    assert usual.role(column) is Role.UNKNOWN


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
    made, left_out = guessed(domain_json(Declared(column) for column in columns))
    entries = {entry["name"]: entry for entry in made["attributes"]}
    assert left_out == ["id", "name", "remark"]
    assert [name for name, entry in entries.items() if "to_do" not in entry] == ["age", "birth_date", "percent"]
    assert (entries["sex"]["kind"], entries["date"]["kind"]) == ("categorical", "date")
    assert "female" in entries["sex"]["to_do"]
    assert len(entries["ward"]["to_do"].split()) < 15  # what is the same for all columns is said once
    closed = [entry for entry in made["attributes"] if "to_do" not in entry]
    assert Domain.from_json({"version": 1, "attributes": closed}).names == ("age", "birth_date", "percent")


@pytest.mark.parametrize("one", usual.ranges(), ids=lambda one: one.name)
def test_every_usual_range_is_an_entry_of_a_domain(one: usual.UsualRange) -> None:
    stated = {"name": "x", "missing": True, "other": True, **usual.entry(one)}
    assert Domain.from_json({"version": 1, "attributes": [stated]})["x"].kind == one.kind
