"""Files of every kind: recognised by their beginning, read to the same values, refused in one sentence when damaged."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import feather_file, memory, readable
from dpsynth_core.sources.check_records import check_records
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.listing import kind_of, table_files
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.additions import listed
from tests.refusals import refused
from tests.sources.written import WRITERS

DOMAIN = Domain(
    (
        Attribute.categorical("sex", ["f", "m", "dívčí"], missing=True),
        Attribute.integer("age", 0, 99, missing=True),
        Attribute.numeric("pay", 0, 10, bins=10, missing=True),
        Attribute.day("born", "1900-01-01", "2030-12-31", missing=True),
    )
)
TABLE = pa.table(
    {
        "sex": ["f", "m", "dívčí", "f", "m"],
        "age": pa.array([31, 0, None, 99, 7], pa.int64()),
        "pay": pa.array([0.5, None, 9.25, 3.0, 0.1], pa.float64()),
        "born": pa.array(["2001-02-03", "1900-01-01", None, "2030-12-31", "1969-07-20"], pa.string()),
    }
)
WANTED = {name: codes.tolist() for name, codes in encode(DOMAIN, TABLE, TableFormat().notation).items()}


def coded(path: Path, form: TableFormat | None = None) -> dict[str, list[int]]:
    form = form or default_format(path)
    opened(path, form).check()
    table = pa.Table.from_batches(opened(path, form).batches(DOMAIN.names))
    return {name: codes.tolist() for name, codes in encode(DOMAIN, table, form.notation).items()}


@pytest.mark.parametrize("ending", [ending for ending in WRITERS if ending != ".por"])
def test_a_table_means_the_same_in_every_kind_of_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    WRITERS[ending](TABLE, path)
    form = default_format(path)
    assert form.kind == kind_of(path)
    assert opened(path, form).column_names() == DOMAIN.names
    assert coded(path) == WANTED


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("place", ["memory", "feather", "parquet"])
def test_text_is_read_alike_from_every_type_of_text(kind: pa.DataType, coded: bool, place: str, tmp_path: Path) -> None:
    """Polars hands over and writes views. Bytes that are no UTF-8 are replaced in all of them."""
    if place == "parquet" and coded and pa.types.is_string_view(kind):
        pytest.skip("Arrow writes no such file")
    raw = pa.array([b"f", b"\xff", None, b"a text that no view holds within itself"], pa.large_binary())
    same_bytes = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}[kind]
    column = raw.cast(same_bytes).view(kind)
    if coded:
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), raw.drop_null().cast(same_bytes).view(kind))
    table = pa.table({"text": column, "bytes": raw.cast(pa.binary_view())})
    if place == "memory":
        source = memory.hold(table)
        batches = source.opened(TableFormat()).batches(table.column_names)
    else:
        path = tmp_path / f"a.{place}"
        (feather.write_feather if place == "feather" else pq.write_table)(table, path)
        batches = opened(path, default_format(path)).batches(table.column_names)
    read = pa.Table.from_batches(batches)
    assert read.column("text").to_pylist() == ["f", "\ufffd", None, "a text that no view holds within itself"]
    assert read.column("bytes").to_pylist() == raw.to_pylist()
    domain = Domain((Attribute.categorical("text", ["f"], other=True, missing=True),))
    assert encode(domain, read, TableFormat().notation)["text"].tolist() == [0, 1, 2, 1]
    for name in read.column_names:
        assert len(read.column(name).filter(pa.array([True, False, False, True]))) == 2


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".feather", *listed("CUT_OFF")])
def test_a_file_that_was_cut_off_is_refused_before_or_while_it_is_read(tmp_path: Path, ending: str) -> None:
    whole, path = tmp_path / f"whole{ending}", tmp_path / f"cut{ending}"
    WRITERS[ending](pa.table({"a": np.random.default_rng(0).integers(0, 10**9, 5000).astype(float)}), whole)
    path.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * 0.7)])

    def read() -> None:
        form = default_format(path)
        opened(path, form).check()
        for _ in opened(path, form).batches(["a"]):
            pass

    refused(read)


@pytest.mark.parametrize("ending", [".feather", *listed("DAMAGED")])
def test_random_damage_ends_in_values_or_in_a_sentence(tmp_path: Path, ending: str) -> None:
    whole, path, rng = tmp_path / f"whole{ending}", tmp_path / f"hit{ending}", np.random.default_rng(5)
    WRITERS[ending](TABLE, whole)
    content = np.frombuffer(whole.read_bytes(), dtype=np.uint8)
    for _ in range(40):
        hit = content.copy()
        hit[rng.integers(64, len(hit), 3)] = rng.integers(0, 256, 3)
        path.write_bytes(hit.tobytes())
        try:
            form = default_format(path)
            opened(path, form).check()
            for _ in opened(path, form).batches(opened(path, form).column_names()[:1]):
                pass
        except InputError:
            pass




# Other structure


def test_lists_in_a_feather_file_cannot_tell_people_apart(tmp_path: Path) -> None:
    WRITERS[".feather"](pa.table({"id": [[1], [2]], "a": [1, 2]}), tmp_path / "a.feather")
    table = opened(tmp_path / "a.feather", TableFormat("feather"))
    refused(readable.check, Domain.from_json({"a": 3}), table.schema, "id", Notation(), saying=r"lists or structures.*nothing was spent")
    assert feather_file.names(tmp_path / "a.feather", TableFormat("feather")) == ("id", "a")


def test_a_folder_of_any_one_kind_is_a_table(tmp_path: Path) -> None:
    for number in range(3):
        WRITERS[".feather"](TABLE.slice(number, 1), tmp_path / f"{number}.feather")
    assert coded(tmp_path) == {name: codes[:3] for name, codes in WANTED.items()}
    assert len(table_files(tmp_path)) == 3
    WRITERS[".feather"](TABLE.select(["sex"]), tmp_path / "3.feather")
    refused(opened(tmp_path, TableFormat("feather")).check, saying="do not have the same columns")


def test_the_survey_counts_json_lines_that_are_no_objects(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n[2]\n{"a": 3}\n')
    seen = check_records(opened(tmp_path / "a.jsonl", TableFormat("jsonl")), ["a"]).value
    assert (seen.malformed, seen.blank) == (2, 1)


def test_what_is_no_table_is_refused_with_what_can_be_read(tmp_path: Path) -> None:
    contents = {"zip": b"PK\x03\x04abc", "JSON": b'[{"a": 1}]', "known kind": bytes(range(32)) * 9}
    for name, (problem, content) in enumerate(contents.items()):
        (tmp_path / str(name)).write_bytes(content)
        refused(default_format, tmp_path / str(name), saying=problem)


# Times

TIMES = Domain(
    (
        Attribute.binned("admitted", "timestamp", "2024-01-01", "2024-12-31", precision="minute", width="month", missing=True, other=True),
        Attribute.binned("hour", "time", "00:00", "23:59", precision="minute", width="hour", missing=True, other=True),
        Attribute.binned("stay", "duration", "00:00:00", "47:59:00", precision="minute", width="6 hours", missing=True, other=True),
    )
)
MOMENTS = [datetime.datetime(2024, 2, 29, 23, 59), datetime.datetime(2024, 12, 31, 0, 0), None, datetime.datetime(2023, 1, 1, 12, 30)]
CLOCKS = [datetime.time(13, 45), None, datetime.time(0, 0), datetime.time(23, 59, 59)]
LASTING = [None, datetime.timedelta(hours=26, minutes=30), datetime.timedelta(0), datetime.timedelta(days=3)]
TIMES_AS_CODES = {"admitted": [1, 11, 13, 12], "hour": [13, 25, 0, 23], "stay": [9, 4, 0, 8]}
CLOCK_TEXTS = ["13:45:00", None, "00:00:00", "23:59:59"]
LASTING_TEXTS = [None, "26:30:00", "0:00", "72:00:00"]


def times_of(path: Path) -> dict[str, list[int]]:
    form = default_format(path)
    opened(path, form).check()
    table = pa.Table.from_batches(opened(path, form).batches(TIMES.names))
    return {name: codes.tolist() for name, codes in encode(TIMES, table, form.notation).items()}


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".feather", ".parquet"])
def test_times_mean_the_same_in_every_kind_of_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    typed = pa.table({name: pa.array(values) for name, values in zip(TIMES.names, (MOMENTS, CLOCKS, LASTING), strict=True)})
    if ending in (".feather", ".parquet"):
        (feather.write_feather if ending == ".feather" else pq.write_table)(typed, path)
    else:
        moments = [None if one is None else str(one) for one in MOMENTS]
        WRITERS[ending](pa.table(dict(zip(TIMES.names, (moments, CLOCK_TEXTS, LASTING_TEXTS), strict=True))), path)
    assert times_of(path) == TIMES_AS_CODES
