"""What AppTest does otherwise than the server; and no page of any test may fail.

It turns Streamlit's automatic pages mode back on before every run, which runs pages around app.py; the server never does. It looks for
components in every installed package before the first run; the server does so once. And it is a script without a browser, so it has no
cookie: every test is the person who runs the server, with the cookie of the token.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.runtime.context import ContextProxy
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from dpsynth_core.store import dispatch
from dpsynth_core.web.shell.door import doors
from dpsynth_core.web.shell.door.personal import Personal

_original = PagesManager.__init__
_run = AppTest._run


def _without_legacy_pages(self: PagesManager, *arguments: Any, **options: Any) -> None:
    PagesManager.uses_pages_directory = False
    _original(self, *arguments, **options)


def _without_failure(self: AppTest, *arguments: Any, **options: Any) -> AppTest:
    app = _run(self, *arguments, **options)
    assert not app.exception, app.exception
    return app


def _cookies(_: ContextProxy) -> Mapping[str, str]:
    door = Personal()
    return {door.cookie: door.pass_value}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home for each test, and no worker processes: runs stay where the page puts them."""
    place = tmp_path / "home"
    monkeypatch.setenv("DPSYNTH_HOME", str(place))
    monkeypatch.setattr(dispatch, "launch_worker", lambda *_: None)
    return place


@pytest.fixture(autouse=True)
def router(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run goes through app.py, as it does in the server (see web.security.forbid_legacy_pages)."""
    monkeypatch.setattr(PagesManager, "__init__", _without_legacy_pages)


@pytest.fixture(autouse=True)
def no_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test clicks, no page may end with an exception."""
    monkeypatch.setattr(AppTest, "_run", _without_failure)


@pytest.fixture(autouse=True)
def no_components(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wizard has none, and looking for them takes longer than most pages."""
    monkeypatch.setattr(BidiComponentManager, "discover_and_register_components", lambda *_, **__: None)


@pytest.fixture(autouse=True)
def owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """The door lets the test in; it is chosen anew for the data directory of each test."""
    monkeypatch.setattr(ContextProxy, "cookies", property(_cookies))
    monkeypatch.setattr(doors, "chosen", Personal)
