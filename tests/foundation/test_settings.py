"""Settings that cannot be used are refused by name, with a remedy, and never replaced by a default in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsynth_core.foundation import settings
from tests.refusals import refused


@pytest.mark.parametrize("variable", settings.NUMBERS)
@pytest.mark.parametrize("text", ["x", "0", "-1", "0.5", "1.5", "lots", "1e3", "\u0664", "1000001", "9" * 5000, " 3"])
def test_what_is_no_whole_number_is_refused(variable: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, text)
    error = refused(settings.number, variable, saying="not a whole number from 1 to 1,000,000")
    assert error.field == variable
    assert "leave the variable out" in error.remedy


@pytest.mark.parametrize(("text", "number"), [("", None), ("1", 1), ("007", 7), ("1000000", 1_000_000)])
def test_a_whole_number_counts(text: str, number: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.RUN_HOURS, text)
    assert settings.number(settings.RUN_HOURS) == number


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.DATA_ROOTS, f"{tmp_path}:/nope")
    assert refused(settings.data_roots, saying="not a folder").field == settings.DATA_ROOTS
    monkeypatch.setenv(settings.DATA_ROOTS, str(tmp_path))
    assert settings.data_roots() == (tmp_path,)
