"""Rows come back with the types and names of the columns that came in, and a release holds nothing else of the table."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest

import dpsynth_core as dps

SAID: dict[Any, Any] = {
    "flag": [False, True],
    "code": [0, 1, 2],
    "narrow": (0, 99),
    "wide": (0, 100_000),
    "level": ["low", "mid", "high"],
    "place": ["n", "s"],
    "number": [1, 2],
    "at": {"kind": "timestamp", "lower": "2024-03-31 00:00:00", "upper": "2024-03-31 23:59:59", "precision": "minute", "width": "hour"},
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))


def frame(missing: bool = False) -> pd.DataFrame:
    n, i = 400, np.arange(400)
    made = pd.DataFrame(
        {
            "flag": pd.Series(i % 2 == 0),
            "code": i % 3,
            "narrow": (i % 100).astype("int8"),
            "wide": (i % 100).astype("int8"),
            "level": pd.Categorical(np.array(["mid", "low", "high"])[i % 3], ["low", "mid", "high", "secret"], ordered=True),
            "place": pd.Categorical(np.array(["n", "s"])[i % 2]),
            "number": pd.Categorical(i % 2 + 1),
            "at": pd.date_range("2024-03-31 00:00", periods=n, freq="3min", tz="Europe/Berlin"),
        }
    )
    if missing:
        made = made.astype({"flag": "boolean", "code": "Int64", "narrow": "Int8", "wide": "Int8"})
        made.iloc[: n // 4] = None
    return made


def made(table: Any, said: Any = SAID, **options: Any) -> dps.Release:
    return dps.plan(table, said, epsilon=9, tables=1, mechanism="independent", **options).run(progress=False)


@pytest.mark.parametrize("missing", [False, True])
def test_a_pandas_frame_comes_back_with_its_types(missing: bool) -> None:
    release = made(frame(missing))
    for rows in (release.rows, dps.sample(release, 300).rows):
        kinds = {name: str(dtype) for name, dtype in rows.dtypes.items()}
        for name, plain, nullable in (("flag", "bool", "boolean"), ("code", "int64", "Int64"), ("narrow", "int8", "Int8")):
            assert kinds[name] == (nullable if rows[name].hasnans or missing else plain)
        assert kinds["wide"].lower() == "int64"  # its bounds are wider than the type that came in
        assert kinds["level"] == kinds["place"] == kinds["number"] == "category"
        assert kinds["at"] == "datetime64[ms, Europe/Berlin]"
        assert (rows["level"].cat.ordered, rows["place"].cat.ordered) == (True, False)
        assert list(rows["level"].cat.categories) == ["low", "mid", "high", "other"]  # of the domain, not of the table
        assert list(rows["number"].cat.categories) == [1, 2]
        assert set(rows["code"].dropna()) == {0, 1, 2}
        assert rows["at"].isna().sum() < 0.4 * len(rows)


def test_what_a_release_holds_can_be_sent_and_has_nothing_of_the_table() -> None:
    back = made(frame()).back
    assert b"secret" not in pickle.dumps(back)


def test_an_arrow_table_comes_back_with_its_types() -> None:
    came = pa.Table.from_pandas(frame())
    rows = made(came).rows
    assert isinstance(rows, pa.Table)
    for name in ("flag", "code", "narrow"):
        assert rows.schema.field(name).type == came.schema.field(name).type
    assert pa.types.is_dictionary(rows.schema.field("level").type)
    assert rows.schema.field("level").type.ordered
    assert rows.schema.field("at").type.tz == "Europe/Berlin"


def test_a_polars_frame_comes_back_with_its_types() -> None:
    came = polars.from_arrow(pa.Table.from_pandas(frame()))
    rows = made(came).rows
    assert isinstance(rows, polars.DataFrame)
    for name in ("flag", "code", "narrow"):
        assert rows.schema[name] == came.schema[name]
    assert rows.schema["at"].time_zone == "Europe/Berlin"
    assert isinstance(rows.schema["level"], polars.Categorical | polars.Enum)


def test_columns_keep_names_that_are_numbers() -> None:
    rows = made(pd.DataFrame({0: [1, 2] * 50, 7: ["a", "b"] * 50}), {0: (1, 2), 7: ["a", "b"]}).rows
    assert list(rows.columns) == [0, 7]
    assert rows[0].mean() > 1


def test_columns_keep_names_of_several_levels() -> None:
    columns = pd.MultiIndex.from_tuples([("p", "age"), ("p", "sex"), ("q", "x")], names=["who", "what"])
    table = pd.DataFrame([[1, "f", "a"], [2, "m", "b"]] * 50, columns=columns)
    rows = made(table, {("p", "age"): (1, 2), ("p", "sex"): ["f", "m"]}).rows
    assert list(rows.columns) == [("p", "age"), ("p", "sex")]
    assert list(rows.columns.names) == ["who", "what"]
    assert set(rows["p"]["sex"].dropna()) <= {"f", "m", "other"}


def test_learnt_categories_come_back_as_categories() -> None:
    rows = made(frame(), {"place": dps.discover(), "flag": [True, False]}).rows
    assert str(rows["place"].dtype) == "category"
    assert set(rows["place"].cat.categories) == {"n", "s", "other"}


@pytest.mark.parametrize("watched", [False, True])
def test_that_the_table_is_still_the_same_is_said_where_the_curator_looks(
    watched: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: watched)
    first = made(frame(), {"code": [0, 1, 2]}, population="people")
    assert "before" not in capsys.readouterr().err
    assert made(frame(), {"code": [0, 1, 2]}, population="people").rows.equals(first.rows)
    assert ("note, for your eyes only: this plan was carried out on this table before" in capsys.readouterr().err) == watched


def test_a_notebook_is_asked_to_be_cleared_before_it_is_shared(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsynth_core.interface.running._is_notebook", lambda: True)
    for _ in range(2):
        made(frame(), {"code": [0, 1, 2]}, population="people")
    assert "for your eyes only (clear this output before you share the notebook): this plan was carried out" in capsys.readouterr().err


@pytest.mark.parametrize("watched", [False, True])
def test_the_same_table_of_another_population_is_said_where_the_curator_looks(
    watched: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: watched)
    made(frame(), {"code": [0, 1, 2]}, population="people")
    assert "same table" not in capsys.readouterr().err
    made(frame(), {"code": [0, 1, 2]}, population="others")
    told = capsys.readouterr().err
    assert ("warning, for your eyes only: the same table was charged to the population 'people'" in told) == watched
