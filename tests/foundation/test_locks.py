"""Locks hold other openings of a file off until the file is closed, and are refused in words where the system has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsynth_core.foundation import locks
from dpsynth_core.foundation.locks import lock
from tests.refusals import refused


@pytest.mark.parametrize(("first", "second", "held"), [(False, False, True), (False, True, True), (True, False, True), (True, True, False)])
def test_a_lock_holds_others_off_until_its_file_is_closed(first: bool, second: bool, held: bool, tmp_path: Path) -> None:
    (place := tmp_path / "file").touch()
    with place.open("r+b") as one, place.open("r+b") as other:
        lock(one.fileno(), shared=first, wait=False)
        if held:
            with pytest.raises(BlockingIOError):
                lock(other.fileno(), shared=second, wait=False)
            one.close()
        lock(other.fileno(), shared=second, wait=False)


def test_a_system_without_locks_refuses_what_needs_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "fcntl", None)
    with (tmp_path / "file").open("wb") as file:
        refused(lock, file.fileno(), saying="system: it has no locks of files, which a release needs; make releases on Linux or macOS")
