"""The wording of every page in every state that matters is the one that is kept in `snapshots/`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.additions import added
from tests.app.page_texts import SNAPSHOTS, State, page_text, sidebar_text
from tests.app.preparation_states import STATES as PREPARATION
from tests.app.results_states import STATES as RESULTS

STATES: dict[str, State] = {**PREPARATION, **RESULTS}
"""The states by the names of their snapshots; those of the sidebar begin with `sidebar-`."""
FOLDERS = dict.fromkeys(STATES, SNAPSHOTS)
"""Where the snapshot of a state is: that of an extension's is with the extension's tests."""
for module in added("app.page_states"):
    STATES |= module.STATES
    FOLDERS |= dict.fromkeys(module.STATES, module.SNAPSHOTS)


@pytest.mark.parametrize("name", STATES)
def test_a_page_says_what_its_snapshot_says(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    read = sidebar_text if name.startswith("sidebar-") else page_text
    text, snapshot = read(STATES[name](tmp_path), tmp_path), FOLDERS[name] / f"{name}.txt"
    if request.config.getoption("--write-snapshots"):
        snapshot.parent.mkdir(exist_ok=True)
        snapshot.write_text(text, encoding="utf-8")
    assert text.splitlines() == snapshot.read_text(encoding="utf-8").splitlines()


def test_every_snapshot_has_a_state() -> None:
    assert {path.stem for folder in {*FOLDERS.values()} for path in folder.glob("*.txt")} == set(STATES)
