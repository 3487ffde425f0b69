"""Of no way to write a value and of no kind of table does a column go unread without a word before the charge (`tests.sources.ways`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sources import ways
from tests.sources.ways import REFUSED, SILENT, STORES, SURVEYED, UNDERSTOOD, WAYS


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("way", WAYS)
def test_each_way_is_understood_or_said_before_the_charge(way: str, store: str, tmp_path: Path) -> None:
    assert ways.outcome(way, store, tmp_path) != SILENT


PLAIN = [
    "whole numbers",
    "decimal point",
    "days",
    "moments",
    "times",
    "truths",
    "texts",
    "typed whole numbers",
    "typed days",
    "typed moments",
]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("way", PLAIN)
def test_what_is_plainly_written_is_understood(way: str, store: str, tmp_path: Path) -> None:
    """Every kind of table holds text, so that a kind which nothing could be written into is not a kind that was tried."""
    assert ways.outcome(way, store, tmp_path) in ((UNDERSTOOD, None) if way in ways.TYPED else (UNDERSTOOD,))


@pytest.mark.parametrize(
    ("way", "store", "found"), [("dollars", "CSV", REFUSED), ("dollars", "Arrow", SURVEYED), ("typed lists", "Parquet", REFUSED)]
)
def test_the_judge_tells_outcomes_apart(way: str, store: str, found: str, tmp_path: Path) -> None:
    assert ways.outcome(way, store, tmp_path) == found


def test_the_judge_finds_a_column_that_is_read_as_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meant = WAYS["whole numbers"]
    monkeypatch.setitem(ways.WAYS, "wrong", ways.Way(meant.column, meant.cells, meant.means[::-1][1:] + meant.means[:1]))
    assert ways.outcome("wrong", "CSV", tmp_path) == SILENT
