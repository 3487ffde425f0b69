"""A laptop charges the ledger of an office's server, over HTTP, from the command line and from Python, up to the office's cap."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dpsynth_core as dps
from dpsynth_core import cli
from dpsynth_core.store import balance, chain, ledger, remote_ledger, roles, tokens, verified_books
from dpsynth_core.store.home import LOCAL_OWNER, now
from dpsynth_core.store.roles import Role
from tests.provider import providing, secrets
from tests.refusals import refused
from tests.servers import free_port, serving
from tests.test_cli_ledger import last_line, synthesize


@pytest.fixture
def laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, its domain, and a home of its own."""
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "laptop"))
    monkeypatch.chdir(tmp_path)
    codes = np.random.default_rng(0).integers(0, 2, size=(200, 3))
    np.savetxt("people.csv", codes, fmt="%d", delimiter=",", header="id,a,b", comments="")
    Path("domain.json").write_text('{"a": 2, "b": 2}')
    return tmp_path / "laptop"


@pytest.fixture
def office(tmp_path: Path, laptop: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:  # noqa: ARG001
    """The home of a server that people sign in to; a curator's token for it is on the laptop. Its cap holds one release at epsilon 1."""
    home, port = tmp_path / "office", free_port()
    with providing() as provider:
        (tmp_path / "secrets.toml").write_text(secrets(provider, port), encoding="utf-8")
        with monkeypatch.context() as there:
            there.setenv("DPSYNTH_HOME", str(home))
            roles.greet("ann", "ann@example.org", [Role.CURATOR], now())
            ledger.open_population(LOCAL_OWNER, "people", (1.2, 1e-9))
            token = tokens.make("ann", "laptop")
        with serving(home, f"--secrets.files={tmp_path / 'secrets.toml'}", port=port, log=tmp_path / "log") as server:
            monkeypatch.setenv("DPSYNTH_LEDGER", server.url)
            monkeypatch.setenv("DPSYNTH_LEDGER_TOKEN", token)
            yield home
    assert token not in (tmp_path / "log").read_text()


def test_a_laptops_run_is_charged_to_the_office_and_the_next_is_refused(
    office: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert synthesize("--population", "people") == 0
    cited = json.loads(Path("out/release.json").read_text())["ledger"]
    assert synthesize("--population", "people", "--out", "again") == cli.BAD_INPUT
    assert "above its cap of 1.2" in last_line(capsys)
    plan = dps.plan("people.csv", "domain.json", epsilon=1.0, tables=1, mechanism="independent", population="people")
    refused(plan.run, progress=False, saying=r"above its cap of 1\.2")
    assert chain.entries() == (), "nothing is in the laptop's own ledger"
    assert "earlier-releases" in [leak.code for leak in plan.leaks]
    capsys.readouterr()
    assert cli.main(["next", "out/release.zip", "people.csv", "--out", "next.json"]) == 0
    assert "Of epsilon 1.2 for “people”" in capsys.readouterr().out
    with monkeypatch.context() as there:
        there.setenv("DPSYNTH_HOME", str(office))
        roles.greet("ann", "ann@example.org", [Role.REVIEWER], now())
    refused(plan.run, progress=False, saying="yours does not let you run a plan")
    monkeypatch.setenv("DPSYNTH_LEDGER_TOKEN", "dpsynth_wrong")
    assert synthesize("--population", "people", "--out", "again") == cli.BAD_INPUT
    assert "it opens nothing here" in last_line(capsys)
    monkeypatch.setenv("DPSYNTH_HOME", str(office))
    assert [entry.kind for entry in chain.entries()] == ["population", "token", "reserve", "touch"]
    assert cited["hash"] == chain.entries()[2].hash
    assert balance.spent("people").releases == 1
    assert verified_books.verify().ok


@pytest.mark.parametrize("url", ["http://studio.example.org", "studio.example.org", "ftp://localhost", "https//x"])
def test_a_token_never_travels_in_the_open(laptop: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:  # noqa: ARG001
    monkeypatch.setenv("DPSYNTH_LEDGER", url)
    monkeypatch.setenv("DPSYNTH_LEDGER_TOKEN", "dpsynth_0")
    refused(remote_ledger.configured, saying="does not begin with https")


def test_a_server_that_does_not_answer_charges_nothing_and_reads_nothing(
    laptop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DPSYNTH_LEDGER", f"http://localhost:{free_port()}")
    monkeypatch.setenv("DPSYNTH_LEDGER_TOKEN", "dpsynth_0")
    assert synthesize("--population", "people") == cli.BAD_INPUT
    assert "does not answer" in last_line(capsys)
    assert not list((laptop / "spools").glob("*"))
    monkeypatch.delenv("DPSYNTH_LEDGER_TOKEN")
    assert synthesize("--population", "people") == cli.BAD_INPUT
    assert "the file has no token" in last_line(capsys)
