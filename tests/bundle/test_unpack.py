"""A bundle can come from anyone: whatever is wrong with it gives one clear error, before much is read and without a file being written."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsynth_core.bundle import unpack
from dpsynth_core.foundation.errors import CapacityError
from tests.bundle.bundles import files, packed, repacked, unpacked
from tests.refusals import refused


def archive(entries: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as target:
        for name, content in entries.items():
            target.writestr(name, content)
    return out.getvalue()


def test_a_bundle_is_read_from_zip_and_folder_alike(tmp_path: Path) -> None:
    zipped, folder = unpack.read_bytes(packed()), unpack.read(unpacked(tmp_path))
    assert zipped.files == folder.files
    assert (len(zipped.sha256), folder.sha256) == (64, "")


def test_a_folder_that_was_packed_again_is_read_without_its_folders(tmp_path: Path) -> None:
    """As archivers do it: with an entry for each folder."""
    out = io.BytesIO(packed())
    with zipfile.ZipFile(out, "a") as target:
        for name in ("marginals", "empty"):
            (tmp_path / name).mkdir()
            target.write(tmp_path / name, name)
        target.writestr("plain/", b"")
    assert unpack.read_bytes(out.getvalue()).files == unpack.read_bytes(packed()).files


def filled() -> bytes:
    """A folder's entry with content, which nobody would look at."""
    return archive({**files(), "notes/": b"something"})


def linked_folder() -> bytes:
    info = zipfile.ZipInfo("notes/")
    info.external_attr = 0o120777 << 16
    out = io.BytesIO(packed())
    with zipfile.ZipFile(out, "a") as target:
        target.writestr(info, b"")
    return out.getvalue()


def linked() -> bytes:
    info = zipfile.ZipInfo("release.json")
    info.external_attr = 0o120777 << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        target.writestr(info, b"/etc/passwd")
    return out.getvalue()


def lying() -> bytes:
    """An entry that says it is small, and is not."""
    content = bytearray(archive({"release.json": b"0" * 100_000}))
    for offset in (content.index(b"PK\x03\x04") + 22, content.index(b"PK\x01\x02") + 24):
        content[offset : offset + 4] = struct.pack("<I", 10)
    return bytes(content)


def twice() -> bytes:
    return archive({"release.json": b"{}", "release.jsox": b"{}"}).replace(b"release.jsox", b"release.json")


HOSTILE: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "no zip": lambda: b"name,age\n1,2\n" * 100,
    "cut short": lambda: packed()[: len(packed()) // 2],
    "cut at the end": lambda: packed()[:-1],
    "a byte changed inside": lambda: packed()[:200] + bytes([packed()[200] ^ 1]) + packed()[201:],
    "another zip": lambda: archive({"hello.txt": b"hello"}),
    "path traversal": lambda: archive({"../release.json": b"{}", "release.json": b"{}"}),
    "absolute path": lambda: archive({"/etc/passwd": b"{}"}),
    "backslashes": lambda: archive({"a\\..\\b": b"{}"}),
    "a folder": lambda: archive({"x/": b"", "release.json": b"{}"}),
    "a folder elsewhere": lambda: archive({"../x/": b"", **files()}),
    "a folder that is filled": filled,
    "a folder that is a link": linked_folder,
    "a link": linked,
    "one name twice": twice,
    "a size that lies": lying,
    "another compression": lambda: archive({"release.json": b"{}"}, zipfile.ZIP_LZMA),
    "no json": lambda: archive({"release.json": b"\xff\xfe"}),
    "deep json": lambda: archive({"release.json": b"[" * 100_000}),
    "a huge number": lambda: archive({"release.json": b"1" * 10_000}),
    "an entry twice": lambda: archive({"release.json": files()["release.json"].replace(b"{", b'{"rows": {"count": 7},', 1)}),
    "no number": lambda: archive({"release.json": b'{"format": 1, "rows": NaN}'}),
    "a list": lambda: archive({"release.json": b"[]"}),
    "an unknown format": lambda: archive({"release.json": b'{"format": 99}'}),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=list(HOSTILE))
def test_what_is_no_bundle_is_refused_in_one_sentence(make: Callable[[], bytes]) -> None:
    refused(unpack.read_bytes, make(), saying=r"^bundle: ")


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = archive({"release.json": b"{}", "zeros.csv": b"0" * 5_000_000})
    assert len(bomb) < 10_000
    refused(unpack.read_bytes, bomb, limit=1_000_000, kind=CapacityError, saying="larger than")


def test_too_many_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "MAX_FILES", 3)
    refused(unpack.read_bytes, packed(), kind=CapacityError, saying="more than 3 files")


def test_files_and_folders_that_cannot_be_read_are_errors_too(tmp_path: Path) -> None:
    refused(unpack.read, tmp_path / "nowhere.zip", saying="cannot be read")
    refused(unpack.read, tmp_path, saying=r"holds no release\.json")
    (tmp_path / "release.json").symlink_to("/etc/passwd")
    refused(unpack.read, tmp_path, saying="link")
    (tmp_path / "big.zip").write_bytes(packed())
    refused(unpack.read, tmp_path / "big.zip", limit=1000, kind=CapacityError)


def test_reading_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    unpack.read_bytes(repacked(lambda _: None))
    assert list(tmp_path.iterdir()) == []


def test_a_large_document_is_refused_before_it_is_unpacked() -> None:
    """300 MB of "{}," are 300 kB of ZIP and 8 GB of objects."""
    bomb = archive({"release.json": b"[" + b"{}," * 100_000_000 + b"{}]"})
    assert len(bomb) < 400_000
    refused(unpack.read_bytes, bomb, kind=CapacityError, saying=r"release\.json is larger than")


def test_pipes_devices_and_large_trees_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", Path("/dev/zero"), Path("/"), tmp_path / ("x" * 5000)):
        refused(unpack.read, place, saying="bundle")
    (tmp_path / "release.json").write_text("{}")
    refused(unpack.read, tmp_path, saying="pipe or a device")
