"""Whether a type can hold a kind of column is known before a record is read, and is what the codec then finds."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import dpsynth_core as dps
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.sources import readable
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.hierarchy import Hierarchy
from tests.refusals import refused
from tests.specs import usual

OWN: dict[str, Any] = {"other": True, "missing": True}
NOTATIONS = {"usual": Notation(), "digits": Notation(date_format="yyyymmdd", time_format="hhmm")}
TEXTS = ["1", "true", "a", "20240115", "930", "2024-01-15", "2024-01-15 09:30:00", "09:30:00", "34200000000"]
COLUMNS = {
    "text": Attribute.categorical("x", TEXTS, **OWN),
    "truth": Attribute.categorical("x", ["false", "true"], dtype="bool", **OWN),
    "whole numbers": Attribute.categorical("x", ["1", "930", "20240115"], dtype="int64", **OWN),
    "numbers": Attribute.categorical("x", ["1", "930", "20240115"], dtype="float64", **OWN),
    "integer": Attribute.integer("x", 0, 10**8, **OWN),
    "numeric": Attribute.numeric("x", 0, 10**8, **OWN),
    "groups": Attribute.listed("x", "hierarchical", list("1at2903"), hierarchy=Hierarchy(level=1), **OWN),
    "date": Attribute.day("x", "2024-01-01", "2024-12-31", **OWN),
    "timestamp": Attribute.binned("x", "timestamp", "2024-01-01 00:00:00", "2024-12-31 23:59:59", width="month", **OWN),
    "time": Attribute.binned("x", "time", "00:00:00", "23:59:59", width="hour", **OWN),
    "duration": Attribute.binned("x", "duration", "00:00:00", "100:00:00", bins=10, **OWN),
}
DAY, MOMENT = date(2024, 1, 15), datetime(2024, 1, 15, 9, 30)
VALUES = {
    "string": pa.array(TEXTS),
    "large string": pa.array(TEXTS, pa.large_string()),
    "binary": pa.array([text.encode() for text in TEXTS]),
    "category": pa.array(TEXTS).dictionary_encode(),
    "bool": pa.array([True, False]),
    **{str(kind): pa.array([1, 93], kind) for kind in (pa.int8(), pa.uint8(), pa.float16())},
    **{str(kind): pa.array([1, 930, 20240115], kind) for kind in (pa.int32(), pa.int64(), pa.uint64(), pa.float64())},
    "decimal": pa.array([Decimal("1.00"), Decimal(930), Decimal(20240115)], pa.decimal128(12, 2)),
    "category of numbers": pa.array([1, 930, 20240115]).dictionary_encode(),
    "date32": pa.array([DAY]),
    "date64": pa.array([DAY], pa.date64()),
    "timestamp": pa.array([MOMENT, datetime(2024, 1, 15)]),
    "timestamp with a zone": pa.array([MOMENT], pa.timestamp("us", "UTC")),
    "time": pa.array([time(9, 30)]),
    "duration": pa.array([timedelta(hours=9, minutes=30)]),
    "null": pa.nulls(2),
    "list": pa.array([[1], [930]]),
    "struct": pa.array([{"a": 1}]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    "interval": pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    "uuid": pa.array([b"0123456789abcdef"], pa.uuid()),
    "opaque": pa.ExtensionArray.from_storage(readable.opaque("complex128"), pa.nulls(2)),
}
TOO_SHORT = {(kind, "date") for kind in ("int8", "uint8", "halffloat")} | {(kind, "timestamp") for kind in ("int8", "uint8", "halffloat")}
"""Types whose numbers are not days, though numbers may be."""


def problem(attribute: Attribute, kind: pa.DataType, notation: Notation) -> str:
    """Return what is said of a type; "" for one that can be read."""
    try:
        readable.check(Domain((attribute,)), pa.schema([("x", kind)]), None, notation)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("notation", NOTATIONS)
@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("values", VALUES)
def test_a_type_is_refused_where_no_value_is_read_and_only_there(values: str, kind: str, notation: str) -> None:
    """Null is a type of no values, and never refused: all are missing."""
    attribute, column = COLUMNS[kind], VALUES[values]
    said = problem(attribute, column.type, NOTATIONS[notation])
    is_refused = bool(said)
    assert not said or (said.startswith("column 'x': ") and said.endswith("nothing was spent"))
    try:
        is_read = bool((encode_column(attribute, column, NOTATIONS[notation]) < attribute.values).any())
    except pa.ArrowException:  # of types that are always refused
        is_read = False
    if values == "null" or (values, kind) in TOO_SHORT:
        assert not is_read
    elif values in ("uuid", "duration") and kind in ("text", "groups"):
        assert is_refused == (values == "uuid")  # its bytes, and its number of units, are texts as any
    else:
        assert is_read == (not is_refused)


PERIODS = pd.Series(pd.period_range("2024-01", periods=2, freq="M"))
YEAR = (date(2024, 1, 1), date(2024, 12, 31))
WRONG = {
    "an interval": (pd.DataFrame({"x": pd.cut(pd.Series([1, 50]), [0, 30, 60])}), ["[0, 30)"], r"pandas\.interval.*astype\(str\)"),
    "a period": (pd.DataFrame({"x": PERIODS}), YEAR, "to_timestamp"),
    "a category of periods": (pd.DataFrame({"x": PERIODS.astype("category")}), ["2024-01"], "pandas.period"),
    "a sparse column": (pd.DataFrame({"x": pd.arrays.SparseArray([0, 1])}), (0, 1), "to_dense"),
    "complex numbers": (pd.DataFrame({"x": np.array([1j, 2])}), (0, 1), "complex128"),
    "lists": (pa.table({"x": [[1], [2]]}), ["a"], "list<"),
    "dates as numbers": (pd.DataFrame({"x": pd.to_datetime(["2024-01-01"])}), (2000, 2030), "timestamp"),
    "numbers as dates": (pd.DataFrame({"x": [20240115]}), YEAR, "yyyymmdd"),
    "seconds as timestamps": (pd.DataFrame({"x": [1.7e9]}), (datetime(2024, 1, 1), datetime(2024, 12, 31)), "double"),
}


@pytest.mark.parametrize("population", [None, "people"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_frame_is_refused_by_its_types_when_it_is_planned(
    wrong: str, population: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    table, said, problem = WRONG[wrong]
    refused(dps.plan, table, {"x": said}, epsilon=1, tables=1, population=population, saying=f"column 'x'.*{problem}.*nothing was spent")


def test_columns_that_the_plan_does_not_name_may_have_any_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    frame = pd.DataFrame(
        {
            "x": ["a", "b"] * 50,
            "c": np.array([1j, 2] * 50),
            "s": pd.arrays.SparseArray([0, 1] * 50),
            "i": pd.cut(pd.Series([1, 50] * 50), 3),
        }
    )
    release = dps.plan(frame, {"x": ["a", "b"]}, epsilon=1, tables=1, mechanism="independent", population="people").run(progress=False)
    assert set(release.rows["x"].dropna()) <= {"a", "b", "other"}


def test_a_column_whose_type_changed_after_the_plan_is_refused_before_the_charge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    frame = pd.DataFrame({"x": [1, 2] * 50})
    plan = dps.plan(frame, {"x": (1, 2)}, epsilon=1, tables=1, mechanism="independent", population="people")
    frame["x"] = pd.to_datetime(["2024-01-01"] * 100)
    assert type(refused(plan.run, progress=False, saying="type of a column changed")) is InputError


def _planned(section: dict[str, Any], column: dict[str, Any], **more: Any) -> object:
    domain = {"version": 1, "attributes": [{"name": "x", **column}]}
    return synthesis.plan(Spec.from_json(usual(section, domain, k=1, mechanism="independent", **more)))


DATE = {"kind": "date", "lower": "2024-01-01", "upper": "2024-12-31"}


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_every_file_of_a_folder_is_held_against_the_kind(tmp_path: Path, suffix: str) -> None:
    for name, column in {"a": pa.array([DAY]), "b": pa.array([20240115])}.items():
        {".parquet": pq.write_table, ".feather": feather.write_feather}[suffix](pa.table({"x": column}), tmp_path / f"{name}{suffix}")
    section = {"kind": suffix[1:], "path": str(tmp_path)}
    refused(_planned, section, DATE, saying="int64.*date")
    _planned(section | {"date_format": "yyyymmdd"}, DATE)


PAIRS = {
    "numbers and texts": (pa.array([1]), pa.array(["1"]), True),
    "dates and timestamps": (pa.array([DAY]), pa.array([MOMENT]), True),
    "floats of two widths": (pa.array([0.1], pa.float32()), pa.array([0.1]), True),
    "zones": (pa.array([MOMENT], pa.timestamp("us", "UTC")), pa.array([MOMENT], pa.timestamp("us", "Europe/Berlin")), True),
    "whole numbers and doubles": (pa.array([1]), pa.array([1.0]), False),
    "decimals and whole numbers": (pa.array([Decimal("1.0")]), pa.array([1], pa.int32()), False),
    "texts and categories": (pa.array(["1"]), pa.array(["1"]).dictionary_encode(), False),
    "nothing and numbers": (pa.nulls(1), pa.array([1]), False),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_person_column_whose_type_differs_between_files_is_refused_by_its_types(tmp_path: Path, pair: str) -> None:
    first, second, is_refused = PAIRS[pair]
    for name, column in {"a": first, "b": second}.items():
        pq.write_table(pa.table({"id": column, "x": ["a"]}), tmp_path / f"{name}.parquet")
    column, unit = {"kind": "categorical", "categories": ["a"]}, {"unit": {"person_column": "id"}}
    section = {"kind": "parquet", "path": str(tmp_path)}
    if is_refused:
        refused(_planned, section, column, **unit, saying=r"unit\.person_column.*one type in all files")
    else:
        _planned(section, column, **unit)
