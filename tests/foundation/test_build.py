"""The identity of the program: its version, and other for other sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dpsynth_core
from dpsynth_core.foundation import build


def test_it_is_the_version_with_a_hash_that_follows_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def of(text: str) -> str:
        (tmp_path / "__init__.py").write_text(text)
        build.identity.cache_clear()
        return build.identity()

    assert re.fullmatch(re.escape(dpsynth_core.__version__) + r"\+[0-9a-f]{8}", build.identity())
    monkeypatch.setattr(dpsynth_core, "__file__", str(tmp_path / "__init__.py"))
    first = of("x = 1\n")
    assert of("x = 1\n") == first
    assert of("x = 2\n") != first
    build.identity.cache_clear()
