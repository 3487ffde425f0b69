"""The token of the person who runs the wizard: random, kept, for their eyes only, and never weaker than it looks."""

from __future__ import annotations

import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpsynth_core.store import access_token
from tests.refusals import refused


def test_a_token_is_kept_over_restarts_and_differs_between_data_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = access_token.load()
    assert re.fullmatch("[0-9a-f]{48}", first)
    assert access_token.load() == first
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "other"))
    assert access_token.load() != first


def test_only_its_owner_can_read_it() -> None:
    access_token.load()
    assert stat.S_IMODE(access_token.place().stat().st_mode) == 0o600


def test_a_deleted_token_is_replaced_by_another() -> None:
    first = access_token.load()
    access_token.place().unlink()
    assert access_token.load() != first


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_token_that_others_can_read_or_write_is_refused(mode: int) -> None:
    access_token.load()
    access_token.place().chmod(mode)
    refused(access_token.load, saying="other accounts")


@pytest.mark.parametrize("text", ["", "\n", "0" * 47, "0" * 49, "g" * 48, "0" * 48 + "\nmore"])
def test_a_damaged_token_is_refused_and_never_used(text: str) -> None:
    access_token.load()
    access_token.place().write_text(text, encoding="ascii")
    error = refused(access_token.load, saying="does not hold a token")
    assert not text.strip() or text not in str(error)


def test_servers_that_start_at_once_agree_on_one_token() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: access_token.load(), range(32)))) == 1
