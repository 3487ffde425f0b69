"""The source over record batches: the same counts as pandas from CSV, Parquet, folder and DataFrame; a limit of rows per person."""

from __future__ import annotations

import tracemalloc
from datetime import date
from decimal import Decimal
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dpsynth_core.sources import headers, lines, readers
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.listing import Files
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.measurement import Clique
from tests.refusals import refused
from tests.tiers import examples

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the real data sets are not here")

DOMAIN = Domain(
    (
        Attribute.categorical("sex", ["f", "m"], missing=True),
        Attribute.integer("age", 0, 5, missing=True),
        Attribute.numeric("bmi", 10, 50, bins=4),
        Attribute.categorical("ward", ["1", "2", "3"], dtype="int64", other=True),
        Attribute.day("day", "2024-01-01", "2024-01-03"),
    )
)
CLIQUES: list[Clique] = [c for k in range(4) for c in combinations(DOMAIN.names, k)]


def some_people(rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "unused": rng.random(rows),
            "bmi": rng.uniform(8, 52, rows),
            "sex": rng.choice(np.array(["f", "m", " m ", "?", None], dtype=object), rows),
            "age": pd.array(rng.integers(-1, 8, rows), dtype="Int64"),
            "ward": rng.integers(1, 5, rows),
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 3, rows), "D"),
            "person": rng.integers(0, max(1, rows // 3), rows),
        }
    )


def expected_codes(frame: pd.DataFrame) -> pd.DataFrame:
    """The codes of DOMAIN, written down a second time with pandas alone."""
    sex = frame["sex"].str.strip().map({"f": 0, "m": 1}).fillna(2)
    age = frame["age"].clip(0, 5).fillna(6)
    bmi = ((frame["bmi"] - 10) // 10).clip(0, 3)
    ward = frame["ward"].map({1: 0, 2: 1, 3: 2}).fillna(3)
    day = (frame["day"] - pd.Timestamp("2024-01-01")).dt.days
    return pd.DataFrame({"sex": sex, "age": age, "bmi": bmi, "ward": ward, "day": day}).astype(int)


def crosstab(codes: pd.DataFrame, clique: Clique) -> np.ndarray:
    """The marginal as pandas counts it."""
    if not clique:
        return np.array(len(codes))
    cells = pd.MultiIndex.from_product([range(size) for size in DOMAIN.sizes(clique)], names=clique)
    return codes.groupby(list(clique)).size().reindex(cells if len(clique) > 1 else range(len(cells)), fill_value=0).to_numpy()


def assert_counts_as_pandas(source: ArrowSource, frame: pd.DataFrame) -> None:
    counts = source.counts(CLIQUES)
    codes = expected_codes(frame)
    assert list(counts) == CLIQUES
    for clique in CLIQUES:
        assert counts[clique].shape == DOMAIN.sizes(clique)
        assert np.array_equal(counts[clique].ravel(), crosstab(codes, clique).ravel())


@examples(40, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(rows=st.integers(1, 200), seed=st.integers(0, 2**32 - 1), batch=st.integers(1, 100))
def test_frames_count_as_pandas_with_any_batch_size(monkeypatch: pytest.MonkeyPatch, rows: int, seed: int, batch: int) -> None:
    monkeypatch.setattr(headers, "BATCH_ROWS", batch)
    frame = some_people(rows, seed)
    assert_counts_as_pandas(ArrowSource(DOMAIN, frame), frame)


@pytest.mark.parametrize("batch", [7, 100_000])
def test_csv_counts_as_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 60 * batch)
    frame = some_people(2000)
    frame.to_csv(tmp_path / "people.csv", index=False)
    form = default_format(tmp_path / "people.csv")
    assert_counts_as_pandas(ArrowSource(DOMAIN, tmp_path / "people.csv", form), frame)


@pytest.mark.parametrize("row_group", [10, 100_000])
@pytest.mark.parametrize("dictionary", [True, False])
def test_parquet_counts_as_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row_group: int, dictionary: bool) -> None:
    monkeypatch.setattr(headers, "BATCH_ROWS", 64)
    frame = some_people(500)
    frame.to_parquet(tmp_path / "people.parquet", row_group_size=row_group, use_dictionary=dictionary)
    form = default_format(tmp_path / "people.parquet")
    assert_counts_as_pandas(ArrowSource(DOMAIN, tmp_path / "people.parquet", form), frame)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_folder_counts_as_its_files_together(tmp_path: Path, kind: str) -> None:
    frame = some_people(300)
    for i, part in enumerate((frame[:100], frame[100:])):
        part.to_csv(tmp_path / f"{i}.csv", index=False) if kind == "csv" else part.to_parquet(tmp_path / f"{i}.parquet")
    (tmp_path / ".hidden.csv").write_text("not,this\n")
    assert_counts_as_pandas(ArrowSource(DOMAIN, tmp_path, default_format(tmp_path)), frame)


def test_partition_columns_of_a_folder_are_columns(tmp_path: Path) -> None:
    frame = some_people(300)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    ds.write_dataset(table, tmp_path, format="parquet", partitioning=["ward"], partitioning_flavor="hive")
    assert_counts_as_pandas(ArrowSource(DOMAIN, tmp_path, default_format(tmp_path)), frame)


def test_every_marginal_sums_to_the_lower_ones() -> None:
    counts = ArrowSource(DOMAIN, some_people(500)).counts(CLIQUES)
    for clique in CLIQUES:
        for lower in combinations(clique, max(0, len(clique) - 1)):
            axes = tuple(i for i, name in enumerate(clique) if name not in lower)
            assert np.array_equal(counts[clique].sum(axis=axes), counts[lower])


def test_the_empty_clique_is_the_number_of_rows() -> None:
    counts = ArrowSource(DOMAIN, some_people(123)).counts([()])
    assert counts[()].shape == ()
    assert counts[()] == 123


def test_no_cliques_no_counts_and_an_empty_table_counts_zero() -> None:
    assert ArrowSource(DOMAIN, some_people(5)).counts([]) == {}
    counts = ArrowSource(DOMAIN, some_people(0)).counts(CLIQUES)
    assert all(not table.any() for table in counts.values())
    assert counts[("sex", "age")].shape == (3, 7)


def test_cliques_must_be_canonical() -> None:
    refused(ArrowSource(DOMAIN, some_people(5)).counts, [("age", "sex")], kind=ValueError, saying="canonical")
    refused(ArrowSource(DOMAIN, some_people(5)).counts, [("nobody",)], saying="column 'nobody'")


def test_a_column_that_the_table_lacks_is_named() -> None:
    refused(ArrowSource, DOMAIN, some_people(5).drop(columns="day"), saying="column 'day': the data have no column of this name")
    refused(ArrowSource, DOMAIN, some_people(5), person_column="patient", saying="column 'patient'")
    refused(ArrowSource, DOMAIN, some_people(5), person_column="person", max_rows_per_person=0, saying="max_rows_per_person")


def test_a_marker_of_the_format_counts_as_missing() -> None:
    frame = pd.DataFrame({"sex": ["f", "unknown", "?"]})
    form = TableFormat(missing_markers=frozenset({"unknown"}))
    domain = Domain((Attribute.categorical("sex", ["f", "m"], other=True, missing=True),))
    assert ArrowSource(domain, frame, form).counts([("sex",)])[("sex",)].tolist() == [1, 0, 1, 1]


# Rows per person


@examples(40, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(rows=st.integers(1, 120), seed=st.integers(0, 2**32 - 1), batch=st.integers(1, 50), limit=st.integers(1, 4))
def test_only_the_first_rows_of_each_person_count(monkeypatch: pytest.MonkeyPatch, rows: int, seed: int, batch: int, limit: int) -> None:
    monkeypatch.setattr(headers, "BATCH_ROWS", batch)
    frame = some_people(rows, seed)
    source = ArrowSource(DOMAIN, frame, person_column="person", max_rows_per_person=limit)
    assert_counts_as_pandas(source, frame.groupby("person", sort=False).head(limit))


@examples(40, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(seed=st.integers(0, 2**32 - 1), limit=st.integers(1, 3), batch=st.integers(1, 40), text=st.booleans())
def test_taking_one_person_away_changes_at_most_that_many_rows(
    monkeypatch: pytest.MonkeyPatch, seed: int, limit: int, batch: int, text: bool
) -> None:
    """The promise behind the sensitivity of every marginal, people who are not named included."""
    monkeypatch.setattr(headers, "BATCH_ROWS", batch)
    rng = np.random.default_rng(seed)
    frame = some_people(60, seed)
    named = np.array(["a", " a", "b", "c", "?", "", None], dtype=object) if text else np.array([1, 2, 3, None], dtype=object)
    frame["person"] = rng.choice(named, len(frame))
    frame["owner"] = [str(p).strip() if p not in (None, "?", "") else f"unnamed {i}" for i, p in enumerate(frame["person"])]
    full = ArrowSource(DOMAIN, frame, person_column="person", max_rows_per_person=limit).counts(CLIQUES)
    without = frame[frame["owner"] != rng.choice(frame["owner"])]
    less = ArrowSource(DOMAIN, without, person_column="person", max_rows_per_person=limit).counts(CLIQUES)
    for clique in CLIQUES:
        change = full[clique] - less[clique]
        assert np.abs(change).sum() <= limit
        assert (change >= 0).all()


def test_the_person_column_may_be_a_column_of_the_domain() -> None:
    domain = Domain((Attribute.coded("person", 3),))
    frame = pd.DataFrame({"person": [0, 1, 1, 2, 2, 2]})
    counts = ArrowSource(domain, frame, person_column="person", max_rows_per_person=2).counts([("person",), ()])
    assert counts[("person",)].tolist() == [1, 2, 2]
    assert counts[()] == 5


def test_rows_that_name_no_person_are_left_out() -> None:
    frame = pd.DataFrame({"person": ["a", None, "?", " ", "a"], "sex": ["f"] * 5})
    domain = Domain((Attribute.categorical("sex", ["f", "m"]),))
    assert ArrowSource(domain, frame, person_column="person").counts([("sex",)])[("sex",)].tolist() == [1, 0]


# Size


def test_a_large_parquet_file_is_never_held_whole(tmp_path: Path) -> None:
    rows = 60_000
    domain = Domain(tuple(Attribute.coded(f"c{i}", 8) for i in range(12)))
    rng = np.random.default_rng(0)
    table = pa.table({name: rng.integers(0, 8, rows) for name in domain.names})
    with pq.ParquetWriter(tmp_path / "large.parquet", table.schema) as writer:
        for _ in range(12):
            writer.write_table(table, row_group_size=20_000)
    whole = 12 * table.nbytes
    form = TableFormat("parquet")
    before = pa.total_allocated_bytes()
    peak = max(
        pa.total_allocated_bytes() - before
        for _ in readers.batches(Files.of(tmp_path / "large.parquet", form), domain.names, headers.BATCH_ROWS)
    )
    # one row group is 1/36 of the file; a few are read ahead, none is kept
    assert 0 < peak < whole / 3
    tracemalloc.start()
    counts = ArrowSource(domain, tmp_path / "large.parquet", form).counts([*combinations(domain.names, 2)])
    peak = tracemalloc.get_traced_memory()[1]  # batches that arrive are bytes of Python
    tracemalloc.stop()
    assert counts[("c0", "c1")].sum() == 12 * rows
    assert peak < whole / 2


# Real tables


@needs_shared
def test_adult_counts_as_pandas() -> None:
    path = SHARED / "adult-binned.csv"
    domain = load_domain(SHARED / "adult-binned-domain.json")
    counts = ArrowSource(domain, path, default_format(path)).counts([*combinations(domain.names, 2), ()])
    frame = pd.read_csv(path)
    assert counts[()] == len(frame) == 48_842
    for a, b in combinations(domain.names, 2):
        table = np.zeros(domain.sizes((a, b)), dtype=np.int64)
        np.add.at(table, (frame[a].to_numpy(), frame[b].to_numpy()), 1)
        assert np.array_equal(counts[(a, b)], table)


MIXED = [1.0, 2.0, 2, True, None, float("nan"), 2.5, "2", Decimal("2.50"), 2**70, pd.Timestamp("2024-01-02 03:04"), date(2024, 1, 2), b"b"]
ODD = ["x", 0.5, 7, True, Decimal("1.234"), 2**70, date(2024, 1, 1), b"\xff", [1, 2], {"a": 1}, object(), "\ud800", 1j]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("decimal", [".", ","])
def test_each_value_of_a_column_of_objects_is_read_by_itself(odd: object, decimal: str) -> None:
    """Whatever else the column holds."""
    domain = Domain((Attribute.categorical("x", ["1", "2", "true", "b"], other=True, missing=True),))
    number = Domain((Attribute.numeric("x", 0, 3, bins=6, missing=True),))
    for of in (domain, number):

        def counts(values: list[object], of: Domain = of) -> np.ndarray:
            frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
            return ArrowSource(of, frame, TableFormat(decimal=decimal)).counts([("x",)])[("x",)]

        alone = sum(counts([value]) for value in MIXED)
        assert np.array_equal(counts(list(MIXED)), alone)
        assert np.array_equal(counts([*MIXED, odd]) - alone, counts([odd]))
        categories = pd.DataFrame({"x": pd.Categorical([1.0, 2.0, "x"])})
        assert np.array_equal(ArrowSource(of, categories).counts([("x",)])[("x",)], counts([1.0, 2.0, "x"]))
