"""Objects of Python programs: what comes out can be pickled and copied, and goes in as NumPy and pandas have it."""

from __future__ import annotations

import copy
import gc
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import duckdb
import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpsynth_core as dps
from dpsynth_core.bundle.verdicts import CONSISTENT
from tests.interface.test_interface import people, planned
from tests.patience import SECONDS
from tests.refusals import refused

CLOSED = {"missing": False, "other": False}
COLUMNS: dict[str, Any] = {
    "id": {"kind": "identifier", "pattern": "P007"},
    "age": {"kind": "integer", "lower": 0, "upper": 99, "width": 10},
    "sex": ["f", "m"],
    "day": {"kind": "date", "lower": "2024-01-01", "upper": "2024-12-31", "width": "month"},
}


def dumped(value: Any) -> Any:
    stream = io.BytesIO()
    joblib.dump(value, stream)
    stream.seek(0)
    return joblib.load(stream)


COPIES: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),
    "cloudpickle": lambda one: pickle.loads(cloudpickle.dumps(one)),
    "joblib": dumped,
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> dps.Release:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(tmp_path_factory.mktemp("home")))
        frame = people(600)
        days = pd.Timestamp("2024-01-01") + pd.to_timedelta(frame["age"] * 3, unit="D")
        plan = dps.plan(frame.assign(day=days), COLUMNS, epsilon=5, tables=2, mechanism="mst")
        return plan.run(progress=False)


# Copies


@pytest.mark.parametrize("made", COPIES)
@pytest.mark.parametrize("used", [False, True])
def test_a_release_is_copied_before_and_after_it_was_used(made: str, used: bool, release: dps.Release) -> None:
    opened = release if used else dps.open(io.BytesIO(b"".join(_bytes(release))))
    if used:
        assert opened.rows is not None
        dps.sample(opened, 3)
        opened.ask("share", {"sex": "f"})
        assert opened.plot is not None
    again = COPIES[made](opened)
    assert again.rows.equals(opened.rows)
    assert again.ask("share", {"sex": "f"}) == opened.ask("share", {"sex": "f"})
    assert again.warnings == opened.warnings
    assert dps.sample(again, 5, seed=3).rows.equals(dps.sample(opened, 5, seed=3).rows)


def _bytes(release: dps.Release) -> list[bytes]:
    stream = io.BytesIO()
    release.save(stream)
    return [stream.getvalue()]


def test_a_pickle_needs_no_file(tmp_path: Path, release: dps.Release) -> None:
    path = release.save(tmp_path / "release.zip")
    content = pickle.dumps(dps.open(path))
    path.unlink()
    again = pickle.loads(content)
    assert again.verify().verdict == CONSISTENT
    assert again.save(tmp_path / "again.zip").read_bytes() == b"".join(_bytes(release))


@pytest.mark.parametrize("kind", ["pandas", "arrow", "duckdb"])
def test_rows_come_back_as_the_same_kind_of_table_from_a_pickle(kind: str) -> None:
    frame: Any = people()
    table = {"pandas": lambda: frame, "arrow": lambda: pa.Table.from_pandas(frame), "duckdb": lambda: duckdb.from_df(frame)}[kind]()
    made = planned(table, population=None).run(progress=False)
    assert type(pickle.loads(pickle.dumps(made)).rows) is type(made.rows)


@pytest.mark.parametrize("made", COPIES)
def test_a_plan_is_copied_without_its_table(made: str) -> None:
    """A pickle is a file that others may read, so no record is in one. A copy in this process has the table."""
    secret = "a value of one person alone"
    plan = planned(people().assign(note=secret))
    again = COPIES[made](plan)
    assert (again.digest, str(again)) == (plan.digest, str(plan))
    assert secret.encode() not in pickle.dumps(plan)
    if made in ("deepcopy", "copy"):
        del plan
        gc.collect()
        assert again.run(progress=False).rows is not None


def test_no_value_in_the_metadata_of_a_column_is_in_a_pickle() -> None:
    """Types say which values a column may have, too: those of an Enum of Polars stand in the metadata of its field."""
    secret, frame = "value of one person alone", people()
    column = pa.field("sex", pa.string(), metadata={"note": secret})
    nested = pa.field("nested", pa.struct([column]))
    fields = [pa.field("age", pa.int64()), column, pa.field("region", pa.string()), nested]
    cells = [*(pa.array(frame[name]) for name in ("age", "sex", "region")), pa.nulls(len(frame), nested.type)]
    noted = pa.Table.from_arrays(cells, schema=pa.schema(fields))
    listed = pl.from_pandas(frame).with_columns(pl.col("sex").cast(pl.Enum(["f", "m", secret])))
    for table in (noted, listed):
        plan = planned(table, population=None)
        assert secret.encode() not in pickle.dumps(plan)
        assert secret.encode() not in pickle.dumps(plan.run(progress=False))


@pytest.mark.parametrize("made", COPIES)
def test_the_release_of_a_copied_plan_is_consistent(made: str) -> None:
    plan = planned(people())
    assert COPIES[made](plan).run(progress=False).verify().verdict == CONSISTENT


def test_a_plan_from_a_pickle_has_no_table_and_says_so() -> None:
    plan = planned(people())
    content = pickle.dumps(plan)
    del plan
    gc.collect()
    refused(pickle.loads(content).run, progress=False, saying="not held any more")


@pytest.mark.parametrize("made", COPIES)
def test_a_fitted_synthesizer_is_copied(made: str) -> None:
    fitted = dps.Synthesizer({"age": (0, 99), "sex": ["f", "m"]}, epsilon=1, tables=1, options={"mechanism": "independent"}).fit(people())
    fitted.sample(4)
    assert COPIES[made](fitted).sample(4).equals(fitted.sample(4))


# Streams


def test_bundles_are_read_from_streams_and_bytes_and_written_to_streams(release: dps.Release) -> None:
    content = b"".join(_bytes(release))
    for given in (io.BytesIO(content), content, bytearray(content), memoryview(content)):
        assert dps.open(given).rows.equals(release.rows)
    assert dps.verify(io.BytesIO(content), seconds=SECONDS).verdict == CONSISTENT
    refused(dps.open, io.BytesIO(), saying="not a whole ZIP")
    refused(dps.open, io.StringIO(), saying="stream of text")
    for wrong in (None, 3, ["release.zip"]):
        refused(dps.open, wrong, saying="is not a path")
        refused(dps.verify, wrong, saying="is not a path")
        refused(release.save, wrong, saying="is not a path")


# Values


NUMBERS: dict[str, Callable[[int], Any]] = {
    "int": int,
    "int64": np.int64,
    "uint8": np.uint8,
    "array": np.array,
    "sum of a Series": lambda number: pd.Series([1] * number).sum(),
}


@pytest.mark.parametrize("number", NUMBERS)
def test_whole_numbers_of_any_library_are_numbers(number: str, release: dps.Release) -> None:
    of = NUMBERS[number]
    assert len(dps.sample(release, of(7)).rows) == 7
    assert dps.sample(release, 5, seed=of(3)).rows.equals(dps.sample(release, 5, seed=3).rows)
    persons = people().assign(home=1)
    plan = planned(persons, tables=of(2), rows=of(50), people=float(of(90)), epsilon=of(3), person="home", rows_per_person=of(2))
    same = planned(persons, tables=2, rows=50, people=90, epsilon=3, person="home", rows_per_person=2)
    assert plan.digest == same.digest


@pytest.mark.parametrize("wrong", [True, False, 0, -1, 2.5, "3", None, np.nan, 10**30, [3], np.array([1, 2])])
def test_what_is_no_number_of_rows_is_refused(wrong: Any, release: dps.Release) -> None:
    refused(dps.sample, release, wrong, saying="n: .* is not a number of rows")


@pytest.mark.parametrize("wrong", [True, -1, "a", 2.5, None, 10**30, np.nan])
def test_what_is_no_seed_is_refused(wrong: Any, release: dps.Release) -> None:
    refused(dps.sample, release, 3, seed=wrong, saying="seed: .* is not a seed")
    refused(release.complete, release.rows[["sex"]], seed=wrong, saying="seed: .* is not a seed")


LISTS: dict[str, Callable[[list[str]], Any]] = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "Series": pd.Series,
    "Index": pd.Index,
    "objects": lambda names: np.array(names, dtype=object),
}


@pytest.mark.parametrize("kind", LISTS)
def test_lists_of_any_library_are_lists(kind: str, release: dps.Release) -> None:
    of = LISTS[kind]
    assert release.ask("share", {"sex": "f"}, by=of(["sex"])) == release.ask("share", {"sex": "f"}, by="sex")
    assert release.ask("mean", of(["age"])) == release.ask("mean", "age")
    assert release.ask("table", of(["age", "sex"])) == release.ask("table", ["age", "sex"])
    assert release.ask("count", {"sex": of(["f", "m", "m"])}) == release.ask("count", {"sex": ["f", "m"]})
    assert dps.sample(release, 5, {"sex": of(["f"])}).rows.equals(dps.sample(release, 5, {"sex": "f"}).rows)
    assert planned(people(), models=of(["sex"])).digest == planned(people(), models=["sex"]).digest
    named = [of(["age", "sex"]), of(["region"])]
    assert planned(people(), tables=named).digest == planned(people(), tables=[["age", "sex"], ["region"]]).digest
    stated = {"sex": {"kind": "categorical", "categories": of(["f", "m"])}}
    assert dps.plan(people(), stated, epsilon=1, tables=1).digest == dps.plan(people(), {"sex": ["f", "m"]}, epsilon=1, tables=1).digest
    refused(release.ask, "share", {"sex": "f"}, by=of(["sex", "age"]), saying="it names 2 columns")


def test_cells_may_be_a_series(release: dps.Release) -> None:
    group = pd.Series({"sex": "f"})
    asked = release.ask("share", {"age": (0, 49)}, among={"sex": "f"})
    assert release.ask("share", pd.Series({"age": (0, 49)}), among=group) == asked
    assert release.ask("count", group) == release.ask("count", {"sex": "f"})
    men = pd.Series({"sex": "m"})
    asked = release.ask("difference", "age", among={"sex": "f"}, versus={"sex": "m"})
    assert release.ask("difference", "age", among=group, versus=men) == asked
    assert dps.sample(release, 5, group).rows.equals(dps.sample(release, 5, {"sex": "f"}).rows)


def test_bounds_and_other_options_may_be_numbers_of_numpy() -> None:
    bounds = {"age": {"kind": "integer", "lower": np.int64(0), "upper": np.float64(99), "width": np.int32(10)}}
    plain = {"age": {"kind": "integer", "lower": 0, "upper": 99.0, "width": 10}}
    for columns, epsilon, delta in ((bounds, np.float32(1), np.float64(1e-9)), (plain, 1, 1e-9)):
        plan = dps.plan(people(), columns, epsilon=epsilon, delta=delta, tables=1)
        assert plan.spec["budget"]["epsilon"] == 1
    assert dps.plan(people(), bounds, epsilon=1, tables=1).digest == dps.plan(people(), plain, epsilon=1, tables=1).digest


def test_a_column_alone_is_no_table() -> None:
    refused(dps.plan, people()["age"], {"age": (0, 99)}, epsilon=1, saying="one column")


# More rows


@pytest.mark.parametrize("where", [None, {"sex": "f"}, {"age": (13, 44)}])
def test_no_identifier_of_a_sample_is_in_the_release(where: Any, release: dps.Release) -> None:
    rows = dps.sample(release, 900, where).rows
    both = pd.concat([release.rows, rows])
    assert both["id"].is_unique
    assert rows["id"].str.fullmatch("P[0-9]+").all()
    assert rows["id"].iloc[0] == f"P{7 + len(release.rows)}"


def test_known_columns_are_completed_in_their_order(release: dps.Release) -> None:
    rng = np.random.default_rng(1)
    ages = rng.integers(0, 100, 500)
    known = pd.DataFrame({"age": ages}, index=rng.permutation(500))
    found = release.complete(known)
    assert found.rows["age"].tolist() == ages.tolist()
    there = found.rows["day"].notna().to_numpy()  # noise may leave a few rows without a day
    days = (found.rows["day"][there] - pd.Timestamp("2024-01-01")).dt.days // 30
    assert there.mean() > 0.9
    assert np.corrcoef(days, ages[there])[0, 1] > 0.8, "the other columns are those of such people"
    assert release.complete(known).rows.equals(found.rows)
    assert not release.complete(known, seed=2).rows.equals(found.rows)
    assert not {*found.rows["id"]} & {*release.rows["id"]}
    assert "Nothing is known" in found.errors


def test_known_columns_may_be_labels_dates_and_any_table(release: dps.Release) -> None:
    labels = release.complete(pd.DataFrame({"age": ["10 to 19", "90 to 99"], "sex": pd.Categorical(["f", "m"])})).rows
    assert labels["age"].between([10, 90], [19, 99]).all()
    assert list(labels["sex"]) == ["f", "m"]
    days = pd.to_datetime(["2024-03-05", "2024-01-31"])
    assert release.complete(pd.DataFrame({"day": days})).rows["day"].tolist() == list(days)
    assert list(release.complete(pa.table({"sex": ["m", "f"]})).rows["sex"]) == ["m", "f"]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"age": [1, 200]}, "no value '200'"),
        ({"sex": ["x"]}, "no value 'x'"),
        ({"income": [1]}, "no column 'income'"),
        ({"id": ["P1"]}, "no column 'id'"),
        ({}, "it has no column"),
        ({"sex": []}, "it has no lines"),
    ],
)
def test_what_is_not_known_to_the_model_is_not_completed(known: dict[str, Any], said: str, release: dps.Release) -> None:
    refused(release.complete, pd.DataFrame(known), saying=said)


def test_a_table_is_no_group(release: dps.Release) -> None:
    refused(dps.sample, release, 3, release.rows[["sex"]], saying="release.complete")
    refused(release.complete, "known.csv", saying="known")


# Two tables


def household_tables(order: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    homes = pd.DataFrame({"home": range(60), "region": ["north", "south"] * 30})
    members = pd.DataFrame({"home": np.repeat(range(60), 2), "sex": ["f", "m"] * 60})
    return homes[::order], members[::order]


def linked(homes: Any, members: Any) -> dps.Plan:
    second = (members, {"sex": ["f", "m"]})
    options: dict[str, Any] = {"person": "home", "rows_per_person": np.int64(2), "members": second, "population": "Homes"}
    return dps.plan(homes, {"region": ["north", "south"]}, epsilon=5, **options)


def test_two_linked_tables_may_be_frames(tmp_path: Path) -> None:
    homes, members = household_tables()
    plan = linked(homes, members)
    gc.collect()
    made = plan.run(progress=False)
    assert set(made.members["home"]) <= set(made.rows["home"])
    assert plan.digest == linked(homes.copy(), members.copy()).digest, "no name of a table in memory is published"
    assert linked(*household_tables(-1)).run(progress=False).rows.equals(made.rows), "in another order they are the same tables"
    assert pickle.loads(pickle.dumps(made)).members.equals(made.members)
    members.to_csv(tmp_path / "members.csv", index=False)
    assert linked(homes, str(tmp_path / "members.csv")).run(progress=False).members is not None
    assert linked(pa.Table.from_pandas(homes), pa.Table.from_pandas(members)).run(progress=False).members is not None
    refused(dps.sample, made, 3, saying="two linked tables")
    for wrong in (members, (members,), "members.csv"):
        keyed: dict[str, Any] = {"person": "home", "rows_per_person": 2, "members": wrong}
        refused(dps.plan, homes, {"region": ["north"]}, epsilon=1, **keyed, saying="not a table with columns")


# What nobody has


def test_the_short_form_says_that_nothing_is_missing() -> None:
    columns = {"age": {"values": (0, 99), **CLOSED}, "sex": {"values": ["f", "m"], **CLOSED}}
    rows = dps.plan(people(), columns, epsilon=1, tables=1, mechanism="independent").run(progress=False).rows
    assert rows["age"].dtype == np.int64
    assert set(rows["sex"]) == {"f", "m"}
