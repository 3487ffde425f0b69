"""How long a run took reaches its curator and nothing that is published."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsynth_core.foundation.errors import ZoneError
from dpsynth_core.foundation.zones import Zone, publishable
from dpsynth_core.planning.spec import load_spec
from dpsynth_core.release import document, synthesis, times
from dpsynth_core.release.release import Release
from dpsynth_core.release.times import Stopwatch
from dpsynth_core.sources.source import CellSource
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.occupied import Occupied
from tests.bundle import pack
from tests.golden import goldens
from tests.refusals import refused


class Slow:
    """A source that takes longer over every count."""

    def __init__(self, source: CellSource) -> None:
        self._source = source

    @property
    def domain(self) -> Domain:
        return self._source.domain

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, np.ndarray[Any, Any]]:
        time.sleep(0.03)
        return self._source.counts(cliques)

    def occupied(self, clique: Clique) -> Occupied:
        time.sleep(0.03)
        return self._source.occupied(clique)


class Racing(datetime):
    """A clock on which a day passes each time that somebody looks."""

    looks = 0

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        del tz
        cls.looks += 1
        return datetime(2026, 1, cls.looks, 23, 59, tzinfo=UTC) + timedelta(hours=1)


def run(name: str, slow: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[Release, Stopwatch]:
    plan = synthesis.plan(load_spec(goldens.folder(name) / "spec.json"))
    source, stopwatch = synthesis.open_source(plan), Stopwatch()
    Racing.looks = 0
    monkeypatch.setattr(synthesis, "datetime", Racing)
    noise = synthesis.noise_for(plan.spec)
    return synthesis.synthesize(plan, Slow(source) if slow else source, noise, lambda _: None, stopwatch=stopwatch), stopwatch


@pytest.mark.parametrize("name", list(goldens.specs()))
def test_a_slower_table_changes_no_byte_of_what_is_published(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quick, _ = run(name, False, monkeypatch)
    slowed, stopwatch = run(name, True, monkeypatch)
    assert stopwatch.times().value["phases"]["total"] >= 0.03  # it did take longer
    assert document.document(quick) == document.document(slowed)
    assert pack.pack(quick) == pack.pack(slowed)


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("name", list(goldens.specs()))
def test_release_json_has_no_time_but_a_day(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    obj = json.loads(document.document(run(name, False, monkeypatch)[0]))
    assert not {"seconds", "timings", "times", "phases", "at", "began", "finished"} & keys(obj)
    assert obj["created"] == "2026-01-02"


@pytest.mark.parametrize("created", ["2026-01-01T10:11:12+00:00", "today", ""])
def test_a_release_that_states_the_hour_is_not_read(created: str, monkeypatch: pytest.MonkeyPatch) -> None:
    obj = document.to_json(run("gaussian", False, monkeypatch)[0])
    with pytest.raises(ValueError, match="isoformat"):
        document.from_json(json.loads(json.dumps(obj, default=document.plain)) | {"created": created})


def test_the_stopwatch_is_told_of_every_phase_and_step(monkeypatch: pytest.MonkeyPatch) -> None:
    made, stopwatch = run("aim", True, monkeypatch)
    taken = stopwatch.times().value
    assert {"read", "measure", "fit", "rows", "total"} <= taken["phases"].keys()
    assert sum(s for name, s in taken["phases"].items() if name != "total") <= taken["phases"]["total"] + 0.01  # rounded
    assert taken["phases"]["read"] >= 0.03
    assert taken["steps"] == sorted(taken["steps"])
    assert len(taken["steps"]) == len(made.history)


def test_times_are_curator_only_and_their_file_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = run("gaussian", False, monkeypatch)[1].times()
    assert taken.zone is Zone.CURATOR
    refused(publishable, taken, "times", kind=ZoneError)
    times.write(taken, tmp_path)
    assert stat.S_IMODE((tmp_path / times.TIMES).stat().st_mode) == 0o600
    again = times.read(tmp_path)
    assert again is not None
    assert again.zone is Zone.CURATOR
    assert again.value["phases"] == taken.value["phases"]
    assert "Do not publish" in again.value["note"]
    times.write(None, tmp_path)
    assert times.read(tmp_path) is None
