"""Rows that are drawn, written, packed, checked and repeated in several batches, as if there were millions of them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from functools import cached_property

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from dpsynth_core.bundle import unpack, verdicts
from dpsynth_core.bundle.checks import opened
from dpsynth_core.bundle.checks import rows as checks_of_rows
from dpsynth_core.foundation.content import in_memory
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import document as releases
from dpsynth_core.release import rows
from dpsynth_core.release.release import Release
from dpsynth_core.release.rows import as_table
from dpsynth_core.sources import decoding
from dpsynth_core.web.results import results_view
from tests.bundle.pack import pack
from tests.releases import check_sound, found, run
from tests.row_files import parquet_of
from tests.specs import usual

SPEC = usual(
    {"kind": "demo"},
    {
        "version": 1,
        "attributes": [
            {"name": "age", "kind": "integer", "lower": 16, "upper": 95, "bins": 16},
            {"name": "sex", "kind": "categorical", "categories": ["female", "male"], "other": False, "missing": False},
            {"name": "person", "kind": "identifier", "pattern": "P-001"},
        ],
    },
    population="invented people", mechanism="independent", unit={"relation": "replace", "max_rows_per_person": 1}, output={"rows": 250},
)


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "BATCH_ROWS", 100)
    monkeypatch.setattr(rows, "GROUP_ROWS", 90)
    monkeypatch.setattr(opened, "_BLOCK_BYTES", 512)
    monkeypatch.setattr(checks_of_rows, "_COMPARED_ROWS", 70)


@pytest.fixture
def made() -> Release:
    return run(Spec.from_json(SPEC))


def test_batches_are_the_same_each_time_and_no_two_of_them_alike(made: Release) -> None:
    assert made.values is not None
    batches = list(made.values.batches())
    assert [batch.num_rows for batch in batches] == [100, 100, 50]
    assert as_table(made.values).equals(pa.concat_tables(batches))
    assert batches[0].column("age").to_pylist() != batches[1].column("age").to_pylist()


def test_identifiers_go_on_from_batch_to_batch(made: Release) -> None:
    assert made.table is not None
    assert made.table.column("person").to_pylist() == [f"P-{number:03d}" for number in range(1, 251)]


def test_files_hold_all_batches(made: Release) -> None:
    assert (made.values, made.table) != (None, None)
    csv, parquet = releases.content_of(made.values, releases.write_csv), parquet_of(made)
    assert csv == releases.csv_bytes(made.table)
    assert pacsv.read_csv(io.BytesIO(csv)).num_rows == 250
    assert pq.read_table(io.BytesIO(parquet)).equals(made.table)


def test_a_kept_release_is_read_a_batch_at_a_time(made: Release, tmp_path) -> None:
    releases.save(made, tmp_path)
    loaded = releases.load(tmp_path)
    assert loaded.values is not None
    assert [batch.num_rows for batch in loaded.values.batches()] == [90, 90, 70]
    assert loaded.table.equals(made.table)
    shown, number = results_view.first_rows(loaded.values, "sex", lambda batch: results_view.one_of(batch, "sex", ["male"]), 120)
    males = [row for row in made.table.to_pylist() if row["sex"] == "male"]
    assert (shown.to_pylist(), number) == (males[:120], len(males))
    head, number = results_view.first_rows(loaded.values, "", None, 120)
    assert (head.to_pylist(), number) == (made.table.to_pylist()[:120], 250)


class _Spied(rows.StoredRows):
    """Rows that note which columns of how many rows were read."""

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        for batch in super().batches(columns):
            self.read.append((batch.num_columns, batch.num_rows))
            yield batch

    @cached_property
    def read(self) -> list[tuple[int, int]]:
        return []


def test_what_is_looked_at_is_one_column_and_the_rows_that_are_shown(made: Release, tmp_path) -> None:
    """Of a filter, one column of all rows and all columns of the batches that hold the first ones; else no further batch."""
    releases.save(made, tmp_path)
    spied = _Spied(tmp_path / releases.ROWS_PARQUET)
    results_view.first_rows(spied, "sex", lambda batch: results_view.one_of(batch, "sex", ["male", "female"]), 80)
    assert spied.read == [(1, 90), (3, 90), (1, 90), (1, 70)]
    spied.read.clear()
    results_view.first_rows(spied, "", None, 80)
    assert spied.read == [(3, 90)]
    spied.read.clear()
    assert results_view.choices(spied, "sex") == {"male", "female"}
    assert spied.read == [(1, 90), (1, 90), (1, 70)]


def test_the_bundle_is_sound_and_can_be_repeated(made: Release) -> None:
    check_sound(unpack.read_bytes(pack(made)), "Do both tables of rows agree?")


def test_a_row_that_was_changed_in_a_later_batch_is_noticed(made: Release) -> None:
    files = dict(unpack.read_bytes(pack(made)).files)
    lines = files["synthetic.csv"].read().decode().splitlines(keepends=True)
    lines[230] = lines[230].replace('"female"', '"x"').replace('"male"', '"female"').replace('"x"', '"male"')
    files["synthetic.csv"] = in_memory("".join(lines).encode())
    stated = found(unpack.Bundle(files, json.loads(files["release.json"].read()), ""))
    assert stated["Do both tables of rows agree?"] == verdicts.FAILED
    assert stated["Do the rows keep to the domain?"] == verdicts.PASSED
