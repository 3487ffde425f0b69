"""AppTest turns Streamlit's automatic pages mode back on before every run, which runs pages around app.py; the server never does."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.runtime.pages_manager import PagesManager

_original = PagesManager.__init__


def _without_legacy_pages(self: PagesManager, *arguments: Any, **options: Any) -> None:
    PagesManager.uses_pages_directory = False
    _original(self, *arguments, **options)


@pytest.fixture(autouse=True)
def router(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run goes through app.py, as it does in the server (see web.security.forbid_legacy_pages)."""
    monkeypatch.setattr(PagesManager, "__init__", _without_legacy_pages)
