"""A data directory and a door of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit import config
from streamlit.runtime.secrets import secrets_singleton

from dpsynth_core.web.shell.door import doors
from dpsynth_core.web.shell.door.personal import Personal

_OPTIONS = ("server.address", "server.port", "server.baseUrlPath", "server.sslCertFile", "server.headless", "server.allowedHosts")


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """On loopback, without secrets, until a test says otherwise. Gives the directory in which secrets.toml would lie."""
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("DPSYNTH_URL", raising=False)
    before = {name: config.get_option(name) for name in _OPTIONS}
    config.set_option("server.address", "127.0.0.1")
    config.set_option("server.port", 8501)
    config.set_option("server.allowedHosts", ["localhost", "127.0.0.1"])
    config.set_option("secrets.files", [str(tmp_path / "secrets.toml")])
    secrets_singleton._reset()
    doors.chosen.cache_clear()
    yield tmp_path
    for name, value in before.items():
        config.set_option(name, value)
    config.set_option("secrets.files", [])
    secrets_singleton._reset()
    doors.chosen.cache_clear()


@pytest.fixture
def door() -> Personal:
    chosen = doors.chosen()
    assert isinstance(chosen, Personal)
    return chosen


@pytest.fixture
def cookie(door: Personal) -> dict[str, str]:
    """The header of a browser that has come in."""
    return {"cookie": f"{door.cookie}={door.pass_value}"}
