"""Projects keep what was saved, refuse stale saves, and are gone when deleted."""

from __future__ import annotations

import io
import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.store import projects
from dpsynth_core.store.database import reading
from tests.refusals import refused


def test_a_draft_comes_back_as_it_was_saved(project: str) -> None:
    draft = {"data": {"path": "x"}, "deep": [1, 2.5, None, True, "é <script>"]}
    projects.save("ann", project, draft)
    assert projects.load("ann", project).draft == draft


def test_saving_on_top_of_a_stale_revision_is_refused_and_changes_nothing(project: str) -> None:
    seen = projects.load("ann", project).revision
    projects.save("ann", project, {"tab": 1}, seen)
    with pytest.raises(projects.StaleDraft):
        projects.save("ann", project, {"tab": 2}, seen)
    assert projects.load("ann", project).draft == {"tab": 1}


def test_concurrent_saves_with_revisions_lose_nothing(project: str) -> None:
    def add(count: int) -> None:
        for _ in range(count):
            while True:
                stored = projects.load("ann", project)
                try:
                    projects.save("ann", project, {"n": stored.draft.get("n", 0) + 1}, stored.revision)
                    break
                except projects.StaleDraft:
                    continue

    threads = [threading.Thread(target=add, args=(10,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert projects.load("ann", project).draft == {"n": 30}


@pytest.mark.parametrize("draft", [{"x": float("nan")}, {"x": {1, 2}}, {"x": object()}])
def test_a_draft_must_be_json(project: str, draft: dict[str, object]) -> None:
    refused(projects.save, "ann", project, draft, saying="draft")


def test_list_is_sorted_by_last_change_and_shows_the_owner_only(project: str) -> None:
    second = projects.create("ann", "second").id
    projects.create("bob", "bobs")
    projects.save("ann", project, {})
    assert [p.id for p in projects.list("ann")] == [project, second]


def test_rename(project: str) -> None:
    assert projects.rename("ann", project, " new ").name == "new"
    for bad in ("", " ", "x" * 300, "a\nb"):
        refused(projects.rename, "ann", project, bad, saying="project name")


def test_an_upload_is_kept_whole_and_replaces_one_of_the_same_name(project: str) -> None:
    projects.upload("ann", project, "a.csv", io.BytesIO(b"old"))
    path = projects.upload("ann", project, "a.csv", iter([b"ne", b"w"]))
    assert path.read_bytes() == b"new"
    assert projects.uploads("ann", project) == (path,)
    projects.remove_uploads("ann", project)
    assert projects.uploads("ann", project) == ()


def test_a_refused_file_leaves_what_was_there_also_under_its_own_name(project: str, home: Path) -> None:
    def refuse(_: Path) -> None:
        raise InputError("file", "it is not a table", "name another one")

    refused(projects.replace_upload, "ann", project, "a.csv", io.BytesIO(b"bad"), refuse, saying="not a table")
    assert projects.uploads("ann", project) == ()
    projects.replace_upload("ann", project, "a.csv", io.BytesIO(b"good"), Path.read_bytes)
    for name in ("a.csv", "b.csv"):
        refused(projects.replace_upload, "ann", project, name, io.BytesIO(b"bad"), refuse, saying="not a table")
        assert [path.read_bytes() for path in home.rglob("uploads/*")] == [b"good"]
    assert projects.replace_upload("ann", project, "b.csv", io.BytesIO(b"new"), Path.read_bytes) == b"new"
    assert [path.name for path in home.rglob("uploads/*")] == ["b.csv"]


def test_an_upload_over_the_limit_leaves_nothing(project: str, home: Path) -> None:
    refused(projects.upload, "ann", project, "a.csv", io.BytesIO(b"x" * 100), limit=99, kind=CapacityError)
    assert list(home.rglob("uploads/*")) == []


@pytest.mark.parametrize(
    "name", ["../../x.csv", "/etc/passwd", "..\\..\\x.csv", "..", "", ".hidden", "a\x00b.csv", "é" * 500 + ".csv", "a/"]
)
def test_no_upload_name_leaves_the_folder(project: str, home: Path, name: str) -> None:
    path = projects.upload("ann", project, name, io.BytesIO(b"x"))
    assert path.resolve().parent == (home / "projects" / project / "uploads").resolve()
    assert path in projects.uploads("ann", project)


def test_delete_leaves_no_trace_of_the_content(project: str, home: Path) -> None:
    projects.save("ann", project, {"secret": "canary-in-draft " * 2000})
    projects.upload("ann", project, "canary.csv", io.BytesIO(b"canary-in-upload"))
    projects.upload("ann", project, "canary.csv", io.BytesIO(b"canary-in-public-upload"), shelf="public")
    projects.delete("ann", project)
    assert projects.list("ann") == ()
    refused(projects.load, "ann", project)
    for path in home.rglob("*"):
        assert "canary" not in path.name
        assert not path.is_file() or b"canary" not in path.read_bytes(), path


def test_files_and_directories_are_private_whatever_the_umask(home: Path) -> None:
    before = os.umask(0)
    try:
        project = projects.create("ann", "x").id
        projects.upload("ann", project, "a.csv", io.BytesIO(b"x"))
        with reading():  # keeps the write-ahead log in place
            projects.save("ann", project, {"a": 1})
            modes = {p: stat.S_IMODE(p.stat().st_mode) for p in [home, *home.rglob("*")]}
    finally:
        os.umask(before)
    assert any(p.name.endswith("-wal") for p in modes) or os.environ.get("DPSYNTH_DATABASE")
    assert {m for p, m in modes.items() if p.is_dir()} == {0o700}
    assert {m for p, m in modes.items() if p.is_file()} == {0o600}


def test_a_home_that_cannot_be_made_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", "/dev/null/home")
    refused(projects.list, "ann", saying="DPSYNTH_HOME")


def test_the_store_needs_neither_streamlit_nor_ortools() -> None:
    code = "import sys; from dpsynth_core.store import ledger, runs; sys.exit(bool({'streamlit', 'ortools', 'altair'} & set(sys.modules)))"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code]) == 0


def test_a_public_upload_does_not_replace_a_private_one_of_the_same_name() -> None:
    project = projects.create("ann", "x").id
    private = projects.upload("ann", project, "a.csv", io.BytesIO(b"private"))
    public = projects.upload("ann", project, "a.csv", io.BytesIO(b"public"), shelf="public")
    assert (private.read_bytes(), public.read_bytes()) == (b"private", b"public")
    assert projects.uploads("ann", project) == (private,)
    projects.remove_uploads("ann", project, shelf="public")
    assert projects.uploads("ann", project, shelf="public") == ()
    assert private.exists()
