"""Bundles of any size: written, read and repeated part by part, so that memory does not grow with their rows."""

from __future__ import annotations

import gc
import io
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dpsynth_core.bundle import confined, unpack
from dpsynth_core.bundle import pack as packing
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.content import PART_BYTES, Content, Digest, in_memory
from dpsynth_core.foundation.errors import CapacityError
from tests.bundle import pack
from tests.bundle.bundles import files, made, packed

MEGABYTES = 24
ZEROS = bytes(PART_BYTES)


class _Zeros(io.RawIOBase):
    """So many megabytes, which nobody holds."""

    def __init__(self) -> None:
        self._left = MEGABYTES

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        assert size == PART_BYTES, "more than a part was asked for"
        self._left -= 1
        return ZEROS if self._left >= 0 else b""


@contextmanager
def peak_below(megabytes: float) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes * 2**20
    finally:
        tracemalloc.stop()


def test_large_files_are_packed_and_unpacked_a_part_at_a_time(tmp_path: Path) -> None:
    rows: Any = Content(Digest(MEGABYTES * PART_BYTES, ""), _Zeros)
    with peak_below(MEGABYTES / 3):
        with (tmp_path / "release.zip").open("wb") as stream:
            packing.zipped({"release.json": in_memory(b'{"format": 1}'), "synthetic.csv": rows}, stream)
        read = unpack.read(tmp_path / "release.zip")
    assert read.files["synthetic.csv"].digest.size == MEGABYTES * PART_BYTES


def test_memory_that_is_gone_while_it_is_packed_is_said_and_nothing_of_the_zip(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own end of a file that was begun would raise ValueError in its place, and once more when it is collected."""
    later: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", later.append)

    def fails(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(zipfile, "_ZipWriteFile", fails)
    with io.BytesIO() as stream, pytest.raises(MemoryError):
        packing.zipped({"release.json": in_memory(b'{"format": 1}')}, stream)
    gc.collect()
    assert later == []


def test_what_is_too_large_for_a_plain_zip_gets_the_other_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 4 GB were 2000 bytes."""
    plain = packed()
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 2000)
    large = pack.zipped(files())
    assert large == pack.zipped(files())
    assert large != plain
    assert {name: content.read() for name, content in unpack.read_bytes(large).files.items()} == files()


class _Rows:
    """The rows of the release in small batches; fails after so many of them."""

    num_rows = 400

    def __init__(self, most: int, look: Callable[[], None]) -> None:
        self._most, self._look = most, look

    def batches(self, _: Sequence[str] | None = None) -> Iterator[pa.Table]:
        table = made().table
        assert table is not None
        for number, start in enumerate(range(0, 400, 50)):
            if number == self._most:
                raise OSError("no space left")
            self._look()
            yield table.slice(start, 50)


def test_rows_are_kept_aside_without_a_name_while_a_bundle_is_written(tmp_path: Path) -> None:
    (tmp_path / "asides").mkdir()

    def look() -> None:
        assert list((tmp_path / "asides").iterdir()) == []

    with (tmp_path / "release.zip").open("wb") as stream:
        packing.pack(replace(made(), values=_Rows(8, look)), stream, tmp_path / "asides")
    assert (tmp_path / "release.zip").read_bytes() == packed()
    with pytest.raises(OSError, match="no space"):
        packing.pack(replace(made(), values=_Rows(3, look)), io.BytesIO(), tmp_path / "asides")
    look()


def test_rows_that_were_written_just_now_are_not_made_again(tmp_path: Path) -> None:
    paths = {name: tmp_path / name for name in ("synthetic.csv", "synthetic.parquet")}
    for name, path in paths.items():
        path.write_bytes(files()[name])
    out = io.BytesIO()
    packing.pack(replace(made(), values=_Rows(0, lambda: None)), out, tmp_path, written=paths)
    assert out.getvalue() == packed()


def working(monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    monkeypatch.setattr(confined, "_asked", lambda *_: (f"tests.bundle.failing_work:{function}",))


def test_rows_that_are_made_again_come_in_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    working(monkeypatch, "rows")
    again = confined.reproduced(Path("release.zip"), tmp_path, Limits())
    assert again == confined.Repeated((), (), rows=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"synthetic.csv": b"a,b\n1,2\n"}


def test_no_file_appears_of_rows_that_did_not_come_to_their_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    working(monkeypatch, "rows_without_an_end")
    with pytest.raises(CapacityError, match="running its mechanism again takes more than 1,024 MB of memory"):
        confined.reproduced(Path("release.zip"), tmp_path, Limits())
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_of_somebody_else_fills_no_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Rows that are made again may take as many bytes as the process may take memory."""
    working(monkeypatch, "many_rows")
    with pytest.raises(CapacityError, match="running its mechanism again writes more than 256 MB of rows"):
        confined.reproduced(Path("release.zip"), tmp_path, Limits(megabytes=256))
    assert list(tmp_path.iterdir()) == []
