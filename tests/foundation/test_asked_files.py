"""Files at paths that a person named: what cannot be written is refused with the name of the option."""

from __future__ import annotations

from pathlib import Path

from dpsynth_core.foundation.asked_files import asked_file
from dpsynth_core.foundation.errors import InputError
from tests.refusals import refused


def _write(path: Path) -> None:
    with asked_file(path, "--report") as stream:
        stream.write(b"new")


def _fail(path: Path, error: Exception) -> None:
    with asked_file(path, "--report") as stream:
        stream.write(b"half")
        raise error


def test_a_file_that_is_there_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    path.write_bytes(b"old")
    _write(path)
    assert path.read_bytes() == b"new"
    assert [one.name for one in path.parent.iterdir()] == ["x.html"]


def test_a_folder_a_missing_folder_and_a_path_below_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    refused(_write, tmp_path, saying="^--report: .* is a folder")
    refused(_write, tmp_path / "missing" / "x.html", saying="^--report: .* cannot be written")
    assert not (tmp_path / "missing").exists()
    refused(_write, tmp_path / "file" / "x.html", saying="^--report: .* cannot be written")


def test_a_failed_block_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    _write(path)
    for error, seen in ((OSError(28, "No space left on device"), InputError), (RuntimeError("another"), RuntimeError)):
        refused(_fail, path, error, kind=seen)
        assert path.read_bytes() == b"new"
