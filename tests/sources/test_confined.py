"""Reading in a process with limits says the same as reading here, and what goes too far or falls over is one sentence."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.sources import confined, files, readers
from dpsynth_core.sources.formats import TEXT, TableFormat, kind_of
from tests.hostile.bombs import BOMBS
from tests.sources.written import WRITERS

TABLE = pa.table({"sex": ["f", "m", None, "f"], "age": pa.array([31, 0, None, 99], pa.int64()), "pay": [0.5, 9.25, None, 3.0]})


@pytest.mark.parametrize("ending", [ending for ending in WRITERS if kind_of(Path(f"a{ending}")) not in TEXT])
def test_the_answers_are_the_same_as_without_a_process(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    WRITERS[ending](TABLE, path)
    form = files.sniff(path)
    columns = readers.names(path, form)
    assert confined.names(path, form) == columns
    assert list(confined.described(path, form)) == readers.described(path, form)
    there = [batch.to_pydict() for batch in confined.batches(path, form, columns[::-1], 3)]
    assert there == [batch.to_pydict() for batch in readers.batches(path, form, columns[::-1], 3)]
    assert there


@pytest.mark.parametrize("ask", [files.check, files.column_names])
def test_a_refusal_has_the_same_words_as_without_a_process(tmp_path: Path, ask: object) -> None:
    (tmp_path / "a.sav").write_bytes(b"$FL2 and nothing else")
    form = TableFormat("spss")
    with pytest.raises(InputError) as here:
        readers.names(tmp_path / "a.sav", form)
    with pytest.raises(InputError) as there:
        ask(tmp_path / "a.sav", form)  # type: ignore[operator]
    assert str(there.value) == str(here.value)


def test_a_column_that_is_not_there_is_named_by_the_other_process(tmp_path: Path) -> None:
    WRITERS[".dta"](TABLE, tmp_path / "a.dta")
    with pytest.raises(InputError, match="column 'more': the data have no column of this name"):
        next(files.open_batches(tmp_path / "a.dta", TableFormat("stata"), ["more"]))


@pytest.mark.parametrize("ending", [".xlsx", ".feather", ".csv.zst"])
def test_a_small_file_that_takes_gigabytes_or_ends_its_reader_is_refused(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    path.write_bytes(BOMBS[ending](["sex", "age"]))
    with pytest.raises(InputError, match=r"takes more (than 2,048 MB of memory|memory than)|unpacks to more than 200 times|has no rows"):
        _read(path)  # a workbook's far away cells are not made, so the one that holds nothing else has no rows
    good = tmp_path / "good.feather"  # nothing else is harmed
    WRITERS[".feather"](TABLE, good)
    assert files.column_names(good, files.sniff(good)) == ("sex", "age", "pay")


def test_a_value_that_a_parquet_file_repeats_is_not_written_out_without_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.parquet").write_bytes(BOMBS[".parquet"](["sex"]))
    monkeypatch.setattr(confined, "LIMITS", Limits(megabytes=300, seconds=60))
    with pytest.raises(CapacityError, match="more memory"):
        _read(tmp_path / "a.parquet")


def test_reading_all_records_may_take_so_long_and_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for one row at a time, ReadStat starts again for each: of 30,000 rows this would take a minute."""
    WRITERS[".zsav"](pa.table({"a": [0.0] * 30_000}), tmp_path / "a.zsav")
    monkeypatch.setattr(confined, "LIMITS", Limits(megabytes=2048, seconds=1))
    monkeypatch.setattr(files, "BATCH_ROWS", 1)
    with pytest.raises(InputError, match="1 seconds of work"):
        _read(tmp_path / "a.zsav")


def test_the_process_of_a_reader_ends_when_nobody_wants_the_rest(tmp_path: Path) -> None:
    WRITERS[".feather"](pa.table({"a": list(range(400_000))}), tmp_path / "a.feather")
    before = _children()
    batches = files.open_batches(tmp_path / "a.feather", TableFormat("feather"), ["a"])
    next(batches)
    assert _children() > before
    batches.close()  # type: ignore[attr-defined]
    deadline = time.monotonic() + 20
    while _children() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert _children() == before


def test_the_process_that_starts_readers_ends_with_the_program(tmp_path: Path) -> None:
    WRITERS[".feather"](TABLE, tmp_path / "a.feather")
    program = (
        "from dpsynth_core.sources import confined, files;"
        f"print(files.column_names({str(tmp_path / 'a.feather')!r}, files.TableFormat('feather')));"
        "print(confined._READERS._process.pid)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    pid = int(done.stdout.split()[-1])
    deadline = time.monotonic() + 20
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _runs(pid)


def test_getting_ready_waits_for_nothing_and_opens_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "_READERS", confined._Readers())
    for name in ("people.csv", "people", "."):
        confined.prepare(tmp_path / name)
        assert confined._READERS._process is None
    confined.prepare(tmp_path / "gone.feather")
    assert confined._READERS._process is not None
    WRITERS[".feather"](TABLE, tmp_path / "a.feather")
    assert files.column_names(tmp_path / "a.feather", TableFormat("feather")) == ("sex", "age", "pay")


def test_where_no_process_can_be_started_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(confined, "_READERS", confined._Readers())
    monkeypatch.setattr(subprocess, "Popen", refused)
    confined.prepare(tmp_path / "a.feather")
    with pytest.raises(InputError, match="cannot be started; free memory"):
        files.column_names(tmp_path / "a.feather", TableFormat("feather"))


def test_a_process_that_died_is_started_again(tmp_path: Path) -> None:
    WRITERS[".feather"](TABLE, tmp_path / "a.feather")
    form = TableFormat("feather")
    assert files.column_names(tmp_path / "a.feather", form)
    starter = confined._READERS._process
    assert starter is not None
    starter.kill()
    starter.wait()
    assert files.column_names(tmp_path / "a.feather", form) == ("sex", "age", "pay")


def test_a_package_that_is_missing_there_is_named_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    WRITERS[".sav"](TABLE, tmp_path / "a.sav")
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pyreadstat'] = None\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(confined, "_READERS", confined._Readers())
    for _ in range(2):  # the process goes on
        with pytest.raises(InputError, match="packages: pyreadstat is missing; make run, or: pip install"):
            confined.names(tmp_path / "a.sav", TableFormat("spss"))


def _read(path: Path) -> None:
    form = files.sniff(path)
    files.check(path, form)
    for _ in files.open_batches(path, form, files.column_names(path, form)):
        pass


def _children() -> int:
    """Processes that the starter of readers has become."""
    gc.collect()
    starter = confined._READERS._process
    return 0 if starter is None else len(Path(f"/proc/{starter.pid}/task/{starter.pid}/children").read_text().split())


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
