"""Pages are driven here as in `tests/app`, with one home for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsynth_core.store import dispatch
from tests.app.conftest import no_components, no_failures, owner, router

__all__ = ["no_components", "no_failures", "owner", "router"]


@pytest.fixture(autouse=True, scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(place))
        patch.setattr(dispatch, "launch_worker", lambda *_: None)
        yield place
