"""Property tests draw the same examples every time, and a slow machine does not fail them. Files with slow tests come first.

Whoever runs out of tests takes some from the end of another's list: if the longest test were there, the others would wait for it.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole files, so that what the tests of a file share is made once."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
