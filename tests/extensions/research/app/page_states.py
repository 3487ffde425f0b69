"""States of pages that only the extension has. For `tests/app/test_page_texts.py`."""

from __future__ import annotations

from pathlib import Path

from tests.app.page_texts import State
from tests.app.preparation_states import cards

STATES: dict[str, State] = {"mechanism-cards-research": lambda _: cards("research")}
SNAPSHOTS = Path(__file__).with_name("snapshots")
