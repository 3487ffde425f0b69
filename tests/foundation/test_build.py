"""The identity of the program: its version, and other for other sources."""

from __future__ import annotations

import re
import subprocess
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


def test_every_file_of_the_package_is_part_of_it() -> None:
    package = Path(dpsynth_core.__file__).parent
    files = subprocess.run(["git", "ls-files", "."], cwd=package, capture_output=True, text=True)
    if files.returncode:
        pytest.skip("this is not a checkout")
    assert {Path(name).suffix for name in files.stdout.splitlines()} <= {*build.KINDS, ".pyi", ".typed"}


@pytest.mark.parametrize("room", build.BESIDE)
def test_what_only_shows_others_work_is_no_part_of_it(room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dpsynth_core, "__file__", str(tmp_path / "__init__.py"))
    build.identity.cache_clear()
    before = build.identity()
    (tmp_path / room).mkdir()
    (tmp_path / room / "page.py").write_text("x = 1")
    build.identity.cache_clear()
    assert build.identity() == before
    build.identity.cache_clear()


@pytest.mark.parametrize("ending", build.KINDS)
def test_it_is_another_for_other_data(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dpsynth_core, "__file__", str(tmp_path / "__init__.py"))
    seen = set()
    for text in ("x = 1", "x = 2"):
        (tmp_path / "room").mkdir(exist_ok=True)
        (tmp_path / "room" / f"usual{ending}").write_text(text)
        build.identity.cache_clear()
        seen.add(build.identity())
    build.identity.cache_clear()
    assert len(seen) == 2
