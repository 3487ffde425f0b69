"""Reading in a process with limits says the same as reading here, and what goes too far or falls over is one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from dpsynth_core.foundation import confined as runner
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.sources import confined, headers, opening, readers
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.file_kinds import FILE_KINDS
from dpsynth_core.sources.files import FileTable
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.listing import kind_of
from tests.additions import listed
from tests.foundation.processes import workers
from tests.foundation.test_sandbox import files_guarded
from tests.hostile.bombs import BOMBS
from tests.patience import wait_until
from tests.refusals import refused
from tests.sources.written import WRITERS

TABLE = pa.table({"sex": ["f", "m", None, "f"], "age": pa.array([31, 0, None, 99], pa.int64()), "pay": [0.5, 9.25, None, 3.0]})


@pytest.mark.parametrize("ending", [ending for ending in WRITERS if not FILE_KINDS[str(kind_of(Path(f"a{ending}")))].is_text])
def test_the_answers_are_the_same_as_without_a_process(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"table{ending}"
    WRITERS[ending](TABLE, path)
    form = default_format(path)
    table = FileTable.of(path, form)
    columns = readers.names(table)
    assert table.column_names() == columns
    assert [column.to_json() for column in table.described()] == readers.described(table)
    monkeypatch.setattr(headers, "BATCH_ROWS", 3)
    there = [batch.to_pydict() for batch in table.batches(columns[::-1])]
    assert there == [batch.to_pydict() for batch in readers.batches(table, columns[::-1], 3)]
    assert there


@pytest.mark.parametrize("ask", [FileTable.check, FileTable.column_names])
def test_a_refusal_has_the_same_words_as_without_a_process(tmp_path: Path, ask: Callable[[FileTable], object]) -> None:
    (tmp_path / "a.feather").write_bytes(b"ARROW1 and nothing else")
    table = FileTable.of(tmp_path / "a.feather", TableFormat("feather"))
    here = refused(readers.names, table)
    there = refused(ask, table)
    assert str(there) == str(here)


@pytest.mark.parametrize("ending", [".feather", ".csv.zst", *listed("EXPLODING")])
def test_a_small_file_that_takes_gigabytes_or_ends_its_reader_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(BOMBS[ending](["sex", "age"]))
    with pytest.raises(InputError, match=r"takes more (than 2,048 MB of memory|memory than)|unpacks to more than 200 times|has no rows"):
        _read(path)  # a workbook's far away cells are not made, so the one that holds nothing else has no rows
    good = tmp_path / "good.feather"  # nothing else is harmed
    WRITERS[".feather"](TABLE, good)
    assert opening.opened(good, default_format(good)).column_names() == ("sex", "age", "pay")


def test_a_value_that_a_parquet_file_repeats_is_not_written_out_without_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.parquet").write_bytes(BOMBS[".parquet"](["sex"]))
    monkeypatch.setattr(confined, "LIMITS", Limits(megabytes=300, seconds=60))
    refused(_read, tmp_path / "a.parquet", kind=CapacityError, saying="more memory")


def test_the_process_of_a_reader_ends_when_nobody_wants_the_rest(tmp_path: Path) -> None:
    WRITERS[".feather"](pa.table({"a": list(range(400_000))}), tmp_path / "a.feather")
    batches = opening.opened(tmp_path / "a.feather", TableFormat("feather")).batches(["a"])
    next(batches)
    assert workers()
    batches.close()  # type: ignore[attr-defined]
    wait_until(lambda: not workers())


def test_getting_ready_opens_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_SHUT_IN", runner._Starter(whole=False))
    for name in ("people.csv", "people", "."):
        confined.prepare(tmp_path / name)
        assert runner._SHUT_IN.process is None
    confined.prepare(tmp_path / "gone.feather")
    assert runner._SHUT_IN.process is not None
    WRITERS[".feather"](TABLE, tmp_path / "a.feather")
    assert opening.opened(tmp_path / "a.feather", TableFormat("feather")).column_names() == ("sex", "age", "pay")


def test_what_ends_the_reader_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WRITERS[".feather"](TABLE, tmp_path / "a.feather")
    monkeypatch.setattr(confined, "_WORK", "tests.sources.failing_work")
    sentence = "takes more than 2,048 MB of memory or 60 seconds of work, or makes the program that reads such files fail: it was ended by"
    refused(opening.opened(tmp_path / "a.feather", TableFormat("feather")).column_names, saying=sentence)


@files_guarded
def test_a_reader_opens_no_file_but_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.feather"
    for one in (path, tmp_path / "a.feather.other"):
        one.write_bytes(b"x")
    monkeypatch.setattr(confined, "_WORK", "tests.sources.failing_work")
    refused(confined.about, "sheets", path, "feather", saying="it failed with PermissionError")
    (tmp_path / "a.feather.other").unlink()
    (tmp_path / "a.feather.other").symlink_to(path)  # the same file, which is the table's own
    assert confined.about("sheets", path, "feather") == []


def _read(path: Path) -> None:
    table = opening.opened(path, default_format(path))
    table.check()
    for _ in table.batches(table.column_names()):
        pass
