"""States of the page Trade-offs. For `tests/app/test_page_texts.py`."""

from __future__ import annotations

from pathlib import Path

from tests.app.demo_project import open_page, project
from tests.app.page_texts import State

STATES: dict[str, State] = {
    "tradeoffs-ready": lambda _: open_page("tradeoffs", project()),
    "tradeoffs-without-columns": lambda _: open_page("tradeoffs", project(domain={})),
}
SNAPSHOTS = Path(__file__).with_name("snapshots")
