"""Both of two linked tables are written for survey programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsynth_core import cli
from tests.test_cli_linked import home, synthesize

__all__ = ["home"]


def test_a_second_table_that_a_format_could_not_hold_is_refused_before_anything_is_charged(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert synthesize(home, "wide", "--format", "xlsx", "--rows", "400000") == cli.BAD_INPUT
    error = capsys.readouterr().err
    assert "at most 1,048,575 rows, and the second table may have 1,200,000; use csv" in error
    assert "charged" not in error
    assert not (home / "wide" / "release.zip").exists()
