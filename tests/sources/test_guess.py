"""Guessing a domain: the right kinds, bounds that cover the data, a bin for zero, advice to drop ids, and the right zone."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.sources.codec import encode, encode_column
from dpsynth_core.sources.decoding import decode
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.guess import Guess, propose
from dpsynth_core.vocabulary.domain import Attribute, Domain

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def guess(values: object, name: str = "x") -> Guess:
    frame = values if isinstance(values, pd.DataFrame) else pd.DataFrame({name: values})
    return propose(frame, TableFormat()).value[0]


def attribute(values: object) -> Attribute:
    proposal = guess(values).attribute
    assert proposal is not None
    return proposal


def test_a_guess_is_curator_only_unless_the_table_is_public() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3]})
    assert propose(frame, TableFormat()).zone is Zone.CURATOR
    assert propose(frame, TableFormat(), is_public=True).zone is Zone.PUBLIC


def test_text_gives_categories_in_alphabetical_order() -> None:
    proposal = attribute(["b", " a", "b ", "?", "b"])
    assert (proposal.kind, proposal.dtype, proposal.categories, proposal.missing, proposal.other) == (
        "categorical",
        "string",
        ("a", "b"),
        True,
        True,
    )


def test_whole_numbers_in_a_small_range_get_a_bin_each() -> None:
    proposal = attribute(["17", "90", "33.0", " 40", "17"] * 3)
    assert (proposal.kind, proposal.lower, proposal.upper, proposal.values, proposal.missing) == ("integer", 17, 90, 74, True)


def test_a_few_scattered_whole_numbers_are_codes() -> None:
    proposal = attribute([1, 20, 300, 1, 20] * 6)
    assert (proposal.kind, proposal.dtype, proposal.categories) == ("categorical", "int64", ("1", "20", "300"))


def test_numbers_with_leading_zeros_are_text() -> None:
    assert attribute(["01", "02", "10"] * 9).categories == ("01", "02", "10")


def test_numbers_with_a_fraction_keep_their_decimals() -> None:
    proposal = attribute([1.25, 7.5, 33.0, 99.75] * 5)
    assert (proposal.kind, proposal.decimals, proposal.lower, proposal.upper) == ("numeric", 2, 1.0, 100.0)
    assert attribute(np.random.default_rng(0).random(50)).decimals is None


def test_a_few_texts_among_numbers_are_set_aside() -> None:
    proposal = guess([str(i) for i in range(60)] * 3 + ["unknown"])
    assert proposal.attribute is not None
    assert proposal.attribute.kind == "integer"
    assert encode_column(proposal.attribute, pa.array(["unknown"]), TableFormat().notation) == [proposal.attribute.other_code]


def test_zero_gets_a_bin_of_its_own_where_zeros_dominate() -> None:
    rng = np.random.default_rng(0)
    gains = np.where(rng.random(2000) < 0.9, 0, np.rint(np.exp(rng.normal(8, 1, 2000))).astype(int))
    proposal = attribute(gains)
    assert proposal.edges[:2] == (0, 1)
    assert proposal.cell_labels()[0] == "0"
    assert proposal.upper >= gains.max()
    fares = attribute(np.where(rng.random(2000) < 0.5, 0.0, np.round(rng.uniform(5, 500, 2000), 2)))
    assert fares.edges[:2] == (0.0, 0.01)
    small = attribute(np.where(rng.random(2000) < 0.5, 0.0, np.round(rng.uniform(0.02, 0.9, 2000), 2)))
    assert len(small.edges) > 5  # of amounts below one, edges keep the decimals of the values


def test_zero_gets_no_bin_of_its_own_where_zeros_are_few() -> None:
    assert attribute(np.arange(2000) // 2).edges[1] > 1


def test_dates_are_found_as_text_and_typed() -> None:
    days = [date(2023, 5, 1), date(2024, 2, 29), None]
    for values in (days, ["2023-05-01", "2024-02-29T10:00", "?"], pd.to_datetime(pd.Series(days))):
        proposal = attribute(list(values) * 5)
        assert (proposal.kind, proposal.lower, proposal.upper, proposal.missing) == ("date", days[0], days[1], True)


def test_booleans_are_categories_of_their_type() -> None:
    proposal = attribute([True, False, True])
    assert (proposal.categories, proposal.dtype) == (("false", "true"), "bool")


@pytest.mark.parametrize("distinct", [200, 40_000, 120_000])
def test_names_are_flagged_and_get_no_categories(distinct: int) -> None:
    proposal = guess([f"name {i}" for i in range(distinct)])
    assert proposal.drop
    assert proposal.attribute is None
    assert "Leave it out" in proposal.advice


def test_forty_thousand_names_that_repeat_are_flagged_too() -> None:
    proposal = guess([f"name {i}" for i in range(40_000)] * 5)
    assert proposal.drop
    assert proposal.attribute is None


def test_row_numbers_and_ids_are_flagged() -> None:
    rng = np.random.default_rng(0)
    assert guess(np.arange(500)).drop
    assert guess(rng.permutation(10**6)[:500]).drop
    nearly = rng.integers(0, 10_000, 500)
    assert guess(nearly, "patient_id").drop
    assert not guess(nearly, "salary").drop


def test_a_column_of_one_value_and_an_empty_column_are_flagged() -> None:
    for values in (["a"] * 9, [4] * 9, [0.5] * 9):
        assert guess(values).drop
    empty = guess([None, None])
    assert empty.drop
    assert empty.attribute is None


def test_a_column_of_lists_is_flagged() -> None:
    assert guess(pd.DataFrame({"x": [[1], [2]]})).drop


def test_decimal_commas_are_pointed_out() -> None:
    proposal = guess(["1,5", "2,75"] * 9)
    assert proposal.drop
    assert "comma" in proposal.advice


def test_many_categories_leave_room_for_others() -> None:
    proposal = guess([f"town {i}" for i in range(150)] * 20)
    assert proposal.attribute is not None
    assert proposal.attribute.other
    assert "many categories" in proposal.advice


def test_only_the_first_rows_are_looked_at() -> None:
    frame = pd.DataFrame({"x": ["a", "b"] * 50 + ["z"] * 100})
    assert propose(frame, TableFormat(), sample_rows=100).value[0].attribute.categories == ("a", "b")


def test_free_text_is_left_out_also_where_it_repeats() -> None:
    proposal = guess(["Patient reports pain in the left knee", "No complaints at this visit so far", "stable"] * 20)
    assert proposal.drop
    assert "Texts that people wrote" in proposal.advice
    assert not guess(["Outlying-US(Guam-USVI-etc) ", *"abcdefgh"] * 20).drop  # one long label does not make a text


@given(st.lists(st.none() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9), min_size=1, max_size=60))
def test_proposed_bounds_cover_the_numbers(values: list[float | None]) -> None:
    proposed = guess(pd.DataFrame({"x": pd.Series(values, dtype="Float64")}))
    proposal = proposed.attribute
    if proposal is not None and proposal.kind in ("integer", "numeric"):
        codes, said, _ = proposed.advice.rpartition(" may stand for a missing value")
        left_out = {float(code) for code in codes.split(", ")} if said else set()
        known = [v for v in values if v is not None and v not in left_out]
        assert proposal.lower <= min(known)
        assert max(known) <= proposal.upper
        assert len(encode_column(proposal, pa.array(values, pa.float64()), TableFormat().notation)) == len(values)


@given(st.lists(st.none() | st.text(max_size=5), max_size=40))
def test_whatever_text_there_is_a_guess_comes_out_and_covers_it(values: list[str | None]) -> None:
    proposal = guess(pd.DataFrame({"x": pd.Series(values, dtype="str")}))
    if proposal.attribute is not None and proposal.attribute.kind == "categorical":
        codes = encode_column(proposal.attribute, pa.array(values, pa.string()), TableFormat().notation)
        assert proposal.attribute.other_code not in codes
    assert proposal.attribute is not None or proposal.drop


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real data sets are not here")
def test_adult_and_titanic_are_guessed_as_a_person_would() -> None:
    adult = {g.name: g for g in propose(SHARED / "adult.csv", default_format(SHARED / "adult.csv")).value}
    assert not any(g.drop for g in adult.values())
    assert {n for n, g in adult.items() if g.attribute.kind == "integer"} == {
        "age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"
    }  # fmt: skip
    assert all(g.attribute.missing and g.attribute.other for g in adult.values())
    assert adult["capital-gain"].attribute.edges[:2] == (0, 1)
    assert adult["native-country"].attribute.values == 41
    titanic = {g.name: g for g in propose(SHARED / "titanic.csv", default_format(SHARED / "titanic.csv")).value}
    assert titanic["column_1"].drop
    assert (titanic["Age"].attribute.kind, titanic["Age"].attribute.missing) == ("numeric", True)
    assert titanic["Fare"].attribute.kind == "numeric"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real data sets are not here")
def test_rows_of_adult_come_back_with_its_columns_types_and_labels() -> None:
    frame = pd.read_csv(SHARED / "adult.csv", na_values="?")
    domain = Domain(tuple(g.attribute for g in propose(SHARED / "adult.csv", default_format(SHARED / "adult.csv")).value))
    codes = encode(domain, pa.Table.from_pandas(frame, preserve_index=False), TableFormat().notation)
    back = decode(domain, np.stack([codes[name] for name in domain.names], axis=1), np.random.default_rng(0)).to_pandas()
    assert list(back.columns) == list(frame.columns)
    for name in frame.columns:
        if domain[name].kind == "categorical" or domain[name].values > 32:  # one bin per value: nothing is lost
            assert (back[name].isna() == frame[name].isna()).all()
            assert (back[name].dropna() == frame[name].dropna()).all()
        else:
            assert back[name].dtype == frame[name].dtype == np.int64


def test_codes_that_look_like_numbers_with_an_exponent_stay_texts() -> None:
    assert attribute(["1E5", "2E10", "3E7"] * 9).categories == ("1E5", "2E10", "3E7")
    assert attribute(["1e5", "2.5e3", "7"] * 9).dtype == "int64"


@pytest.mark.parametrize(("code", "plain"), [("99999999999", "99999999999"), ("-99", "-99"), ("-9", "-9"), ("-8", "-8"), ("8888", "8888")])
def test_a_code_for_missing_is_said_and_stretches_no_bounds(code: str, plain: str) -> None:
    proposal = guess([*map(str, range(50)), *[code] * 9])
    assert f"{plain} may stand for a missing value" in proposal.advice
    assert proposal.attribute is not None
    assert (proposal.attribute.lower, proposal.attribute.upper) == (0, 49)


@pytest.mark.parametrize("values", [range(100), range(-20, 30), [*range(50), 100], [*range(50), -99, -3], [9, 99], [-9, -9]])
def test_a_number_among_others_is_no_code_for_missing(values: list[int]) -> None:
    assert "may stand for a missing value" not in guess([*map(str, values)] * 3).advice


@pytest.mark.parametrize(
    ("written", "told"),
    [("{0} %", "units %"), ("$ {0}", "units $"), ("{0} February 2024", "dates dd mmmm yyyy"), ("({0})", "below zero (5)")],
)
def test_numbers_and_days_in_another_notation_are_said_and_not_listed(written: str, told: str) -> None:
    proposal = guess([written.format(1 + number % 28) for number in range(99)])
    assert (proposal.attribute, proposal.drop) == (None, True)
    assert f"State on the Data page how it is written ({told})" in proposal.advice


def test_texts_that_count_as_missing_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n" + "NA\nDE\nZA\n" * 9, encoding="utf-8")
    (proposal,) = propose(tmp_path / "a.csv", TableFormat()).value
    assert proposal.attribute is not None
    assert (proposal.attribute.categories, "\u201cNA\u201d counts as missing" in proposal.advice) == (("DE", "ZA"), True)


def test_texts_that_look_the_same_are_said() -> None:
    advice = guess(["Z\u00fcrich", "Zu\u0308rich", "Bern"] * 9).advice
    assert "2 spellings of \u201cZu\u0308rich\u201d look the same: treat them as the same" in advice
    assert "differ in capital letters alone" in guess(["Bern", "BERN"] * 9).advice
    assert not guess(["Bern", "Basel"] * 9).advice


@pytest.mark.parametrize("values", [[20240100 + day for day in range(1, 29)], [str(20240100 + day) for day in range(1, 29)]])
def test_days_as_eight_digits_are_no_range_of_numbers(values: list[object]) -> None:
    proposal = guess(values * 3)
    assert (proposal.attribute, proposal.drop) == (None, True)
    assert "State how its days are written (dates yyyymmdd)" in proposal.advice
    stated = propose(pd.DataFrame({"x": values * 3}), TableFormat(date_format="yyyymmdd")).value[0].attribute
    assert stated is not None
    assert (stated.kind, str(stated.lower)) == ("date", "2024-01-01")
    assert attribute([20240100 + day for day in range(40, 99)] * 3).kind == "integer"
