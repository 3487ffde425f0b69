"""Every reader of what strangers write, tried on the files that fuzzing begins with and on what it has found: an answer, or one error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.targets import CORPUS, TARGETS, broken

FILES = sorted(path for folder in CORPUS.values() for path in folder.rglob("*") if path.is_file())
MOST_BYTES = 300_000


@pytest.mark.slow  # some open processes, others check bundles
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_was_found_breaks_no_promise(path: Path) -> None:
    assert broken(path.parent.name, path.read_bytes()) == ""


def test_every_reader_has_a_file_and_all_are_small() -> None:
    assert {path.parent.name for path in FILES} == set(TARGETS)
    assert sum(path.stat().st_size for path in FILES) <= MOST_BYTES


def test_a_broken_promise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: bytes) -> None:
        raise KeyError("x")

    monkeypatch.setitem(TARGETS, "spec", fails)
    assert broken("spec", b"{}").startswith("KeyError")
    monkeypatch.setattr("tests.hostile.targets.LEAST_SECONDS", 0.0)
    monkeypatch.setitem(TARGETS, "spec", lambda _: sum(range(20_000_000)) and None)
    assert "processor time" in broken("spec", b"{}")
