"""States of the page Changes. For `tests/app/test_page_texts.py`."""

from __future__ import annotations

from pathlib import Path

from tests.app.demo_project import open_page, project
from tests.app.page_texts import State

STATES: dict[str, State] = {"changes-without-runs": lambda _: open_page("changes", project())}
SNAPSHOTS = Path(__file__).with_name("snapshots")
