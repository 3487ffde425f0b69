"""A list means what was given: its type is that of its values, and in a column that has a type equal values are equal, however written."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpsynth_core as dps
from dpsynth_core.interface import columns
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from tests.refusals import refused

WAYS = {
    "whole numbers": (["1", "1.0", "001", "+1", "1e0", "1.000"], pa.array([1])),
    "narrow whole numbers": (["1", "1.0", "001"], pa.array([1], pa.uint8())),
    "doubles": (["1.5", "1.50", "01.5", "15e-1"], pa.array([1.5])),
    "whole doubles": (["10000000000000000", "1e16", "1e+16", "10000000000000000.0"], pa.array([1e16])),
    "decimals": (["1.5", "1.50", "1.500"], pa.array([Decimal("1.50")])),
    "decimals of many digits": (["12345678901234567890", "12345678901234567890.0"], pa.array([Decimal("12345678901234567890.0")])),
    "floats of 32 bits": (["0.1", "0.10"], pa.array([0.1], pa.float32())),
    "true": (["true", "True", "TRUE", "1", "yes", "Y"], pa.array([True])),
    "false": (["false", "False", "0", "no", "f"], pa.array([False])),
    "days": (["2024-01-15", "2024-01-15 00:00:00", "2024-01-15T00:00", "2024-01-15 00:00:00.000"], pa.array([date(2024, 1, 15)])),
    "midnights": (["2024-01-15", "2024-01-15 00:00:00", "2024-01-15T00:00"], pa.array([datetime(2024, 1, 15)], pa.timestamp("ns"))),
    "midnights of a zone": (["2024-01-15", "2024-01-15 00:00:00"], pa.array([datetime(2024, 1, 15)], pa.timestamp("ms", "UTC"))),
    "moments": (["2024-01-15 09:30:00.5", "2024-01-15T09:30:00.500"], pa.array([datetime(2024, 1, 15, 9, 30, 0, 500_000)])),
    "minutes": (["2024-01-15 09:30", "2024-01-15 09:30:00"], pa.array([datetime(2024, 1, 15, 9, 30)], pa.timestamp("s"))),
    "a category of numbers": (["1", "1.0"], pa.array([1]).dictionary_encode()),
}


@pytest.mark.parametrize(("way", "listed"), [(way, listed) for way, (texts, _) in WAYS.items() for listed in texts])
def test_a_text_of_a_list_is_the_value_of_the_columns_type_that_it_equals(way: str, listed: str) -> None:
    attribute = Attribute.categorical("x", ["something else", listed], other=True, missing=True)
    assert encode_column(attribute, WAYS[way][1], Notation()).tolist() == [1]


OTHERS = {
    "a text is not a number": ("1", pa.array(["1.0", "001", "01"])),
    "a day is no other time": ("2024-01-15", pa.array([datetime(2024, 1, 15, 9)])),
    "truths are two": ("1", pa.array([False])),
    "numbers of more digits than a double": ("9007199254740993", pa.array([9007199254740992, 9007199254740994])),
    "a number that is not finite": ("inf", pa.array([1e300])),
    "a text of no number": ("one", pa.array([1])),
}


@pytest.mark.parametrize("other", OTHERS)
def test_values_that_are_not_equal_stay_apart(other: str) -> None:
    listed, column = OTHERS[other]
    codes = encode_column(Attribute.categorical("x", [listed], other=True, missing=True), column, Notation())
    assert set(codes.tolist()) == {1}


def test_a_value_is_first_the_category_that_is_written_as_it_is() -> None:
    attribute = Attribute.categorical("x", ["01", "1.0", "1"], other=True, missing=True)
    assert encode_column(attribute, pa.array([1]), Notation()).tolist() == [2]


GIVEN = {
    "truths": ([False, True], "bool", ["false", "true"]),
    "one truth of a tuple": ((True, False), "bool", ["true", "false"]),
    "truths of NumPy": (np.array([True, False]), "bool", ["true", "false"]),
    "whole numbers": ([0, 1, 2], "int64", ["0", "1", "2"]),
    "numbers of NumPy in a list": ([np.int8(1), np.int64(2)], "int64", ["1", "2"]),
    "an array": (np.array([1, 2]), "int64", ["1", "2"]),
    "an index": (pd.Index([1, 2]), "int64", ["1", "2"]),
    "a series": (pd.Series([1.5, 2]), "float64", ["1.5", "2.0"]),
    "numbers of both kinds": ([1, 1.5], "float64", ["1", "1.5"]),
    "texts": (["1", "2"], "string", ["1", "2"]),
    "texts of an array": (np.array(["a", "b"]), "string", ["a", "b"]),
    "texts and numbers": (["a", 1], "string", ["a", "1"]),
    "truths and numbers": ([True, 2], "string", ["true", "2"]),
    "days": ([date(2024, 1, 1)], "string", ["2024-01-01"]),
    "timestamps": (pd.DatetimeIndex(["2024-01-01"]), "string", ["2024-01-01 00:00:00"]),
    "a category": (pd.Categorical(["b", "a"]), "string", ["a", "b"]),
    "whole numbers beyond doubles": ([2**53, 1], "string", [str(2**53), "1"]),
    "a dtype": (pd.CategoricalDtype([3, 1]), "int64", ["3", "1"]),
    "an Arrow array": (pa.array([1, 2]), "int64", ["1", "2"]),
}


@pytest.mark.parametrize("given", GIVEN)
def test_a_list_states_the_type_of_its_values(given: str) -> None:
    said, dtype, texts = GIVEN[given]
    (attribute,) = columns.domain({"x": said})
    assert (attribute.kind, attribute.dtype, list(attribute.categories)) == ("categorical", dtype, texts)


@pytest.mark.parametrize("given", [pd.Categorical(["b"], ["b", "a"], ordered=True), pd.CategoricalDtype(["b", "a"], ordered=True)])
def test_an_ordered_category_states_its_order(given: Any) -> None:
    (attribute,) = columns.domain({"x": given})
    assert (attribute.kind, attribute.categories) == ("ordinal", ("b", "a"))


def test_a_domain_in_json_states_the_type_of_its_values_where_no_other_is_stated() -> None:
    def dtype(fields: str) -> str:
        entry = json.loads(f'{{"name": "x", "kind": "categorical", {fields}}}')
        (attribute,) = Domain.from_json({"version": 1, "attributes": [entry]})
        assert Domain.from_json(Domain((attribute,)).to_json()) == Domain((attribute,))
        return attribute.dtype

    assert dtype('"categories": [true, false]') == "bool"
    assert dtype('"categories": [1, 2]') == "int64"
    assert dtype('"categories": [1, 2.5]') == "float64"
    assert dtype('"categories": ["1", "2"]') == "string"
    assert dtype('"categories": [1, 2], "dtype": "string"') == "string"


@pytest.mark.parametrize(
    "said", [{"a", "b"}, frozenset({1}), ["a", None], [1.0, float("nan")], pd.Series(["a", pd.NA]), [pd.NaT], [], np.array([])]
)
def test_what_has_no_order_or_a_missing_value_is_refused(said: Any) -> None:
    refused(columns.domain, {"x": said}, saying="column 'x': (a set has its values in no order|.*does not say what it may contain)")


def _csv(cells: list[str], path: Path) -> Path:
    path.write_text("g,x\n" + "".join(f"a,{cell}\n" for cell in cells), encoding="utf-8")
    return path


def _jsonl(cells: list[str], path: Path) -> Path:
    path.write_text("".join(f'{{"x": {cell}}}\n' for cell in cells), encoding="utf-8")
    return path


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    ("said", "cells", "dtypes"),
    [
        ([0, 1, 2], ["0.0", "1.0", "2.0"], {"int64", "Int64"}),
        ([False, True], ["False", "True"], {"bool", "boolean"}),
        ([0.5, 1], ["0.50", "1"], {"float64"}),
    ],
)
def test_rows_come_back_in_the_type_of_the_list(
    said: list[Any], cells: list[str], dtypes: set[str], missing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    typed = pd.DataFrame({"x": (said + [None] * missing) * 100})
    tables = [typed, _csv([*cells, *[""] * missing] * 100, tmp_path / "a.csv")]
    if said[0] is not False:
        tables.append(_jsonl(cells * 100, tmp_path / "a.jsonl"))
    for table in tables:
        rows = dps.plan(table, {"x": said}, epsilon=9, tables=1, mechanism="independent").run(progress=False).rows
        assert str(rows["x"].dtype) in dtypes
        assert rows["x"].value_counts().reindex(said).min() > 80
