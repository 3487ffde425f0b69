"""What documents say was tried against faults is what the benchmarks recorded, and the records have no finding."""

from __future__ import annotations

import json
import re
import statistics
from typing import Any

import pytest

from benchmarks.failing_calls import FAULTS, LOCKS, LOST
from benchmarks.ledger_damage import BROKEN, DROPPED, ENDS, REFUSED, UNCHECKED
from benchmarks.table import RESULTS
from tests.servers import ROOT

STATED = {
    "SECURITY.md": (
        "Up to {disks} disks after {cuts} power cuts, and {calls} failing calls, [showed no loss]",
        "; {inputs} fuzzed inputs broke none of {readers} readers.",
    ),
    "docs/guide/operations.md": (
        "A run changes files by {calls of a run} calls:",
        "In {calls} tries,",
        "of which {calls of another machine} tries are:",
        "{kills} times at random moments, {kills at work} of them at work:",
        "cut the power {cuts of ext4} times,",
        "They left at most {disks of ext4} different disks,",
        "so {cuts of POSIX} cuts left {disks of POSIX} different disks,",
    ),
    "docs/guide/ledger.md": (
        "Of {damaged} copies of a short ledger, {damaged with a checkpoint} of them with a checkpoint,",
        "all {triggers} from which a trigger was dropped were refused.",
        "{found later} times a charge was taken although `ledger check` found damage",
        "Behind 100,000 entries a charge took {charge on SQLite} ms by the clock, with PostgreSQL {charge on PostgreSQL} ms",
    ),
    "docs/office.md": (
        "at most {office 95} s, the slowest {office worst} s, and none failed.",
        "they took at most {long office 95} s, the slowest {long office worst} s, and none failed;",
        "half of the Ledger pages took at most {long office ledger} s.",
        "took at most {busy office 95} s: the ledger was whole after them, with {charges} charges for as many runs, and none failed.",
    ),
}
"""Sentences of each document, with the names of `recorded`."""


def record(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def recorded() -> dict[str, str]:
    """The figures, as documents write them."""
    found: dict[str, float] = {}
    calls, cuts, damage, fuzz, kills = map(record, ("failing_calls", "power_cuts", "ledger_damage", "fuzz", "kills"))
    tried = [(name, number) for run in calls for _, name, what, number in run["tally"] if what == "tried"]
    found["calls"] = sum(number for _, number in tried)
    remote = {name for name, fault in FAULTS.items() if fault.how in (LOST, LOCKS)}
    found["calls of another machine"] = sum(number for name, number in tried if name in remote)
    for name, at in (("kills", 0), ("kills at work", 1)):
        found[name] = sum(row[at] for run in kills for row in run["counts"].values())
    found["calls of a run"] = calls[-1]["calls"]["run"]
    for kind in ("ext4", "POSIX"):
        counts = [row for run in cuts if run["disk"] == kind for row in run["counts"].values()]
        found[f"cuts of {kind}"], found[f"disks of {kind}"] = (sum(row[at] for row in counts) for at in (0, 1))
    for what in ("cuts", "disks"):
        found[what] = found[f"{what} of ext4"] + found[f"{what} of POSIX"]
    places = [(where, row) for run in damage for where, row in run["counts"].items()]
    found["triggers"] = sum(sum(row) for where, row in places if where.startswith(DROPPED))
    found["damaged"] = sum(sum(row) for _, row in places) - found["triggers"]
    checkpoint = [(where, row) for where, row in places if "checkpoint" in where and not where.startswith(DROPPED)]
    found["damaged with a checkpoint"] = sum(sum(row) for _, row in checkpoint)
    found["found later"] = sum(row[ENDS.index(UNCHECKED)] for _, row in places)
    found["inputs"], found["readers"] = sum(one["tries"] for one in fuzz), len({one["target"] for one in fuzz})
    texts = {name: f"{number:,}" for name, number in found.items()}
    found_by = {"office": "office", "long office": "office_long_ledger", "busy office": "office_long_ledger_busy"}
    for office, pages in ((office, record(name)["nineteen"]) for office, name in found_by.items()):
        texts |= {f"{office} {name}": f"{pages['every page'][at]:g}" for name, at in (("95", "95 %"), ("worst", "at worst"))}
        texts[f"{office} ledger"] = f"{pages['ledger']['median']:g}"
    texts["charges"] = str(record("office_long_ledger_busy")["ledger"]["charges"])
    for run in record("long_ledger"):
        texts[f"charge on {run['engine']}"] = f"{statistics.median(run['ms']['charge']['wall']):.1f}"
    return texts


@pytest.mark.parametrize("name", STATED)
def test_a_document_states_what_was_recorded(name: str) -> None:
    text, figures = " ".join((ROOT / name).read_text(encoding="utf-8").split()), recorded()
    for sentence in STATED[name]:
        assert re.sub(r"\{([^}]+)\}", lambda found: figures[found[1]], sentence) in text


def test_no_record_has_a_finding() -> None:
    assert not [run["findings"] for name in ("failing_calls", "power_cuts", "kills") for run in record(name) if run["findings"]]
    assert not [one["wrong"] for one in record("fuzz") if one["wrong"]]
    assert not [name for name in ("office", "office_long_ledger", "office_long_ledger_busy") if record(name)["errors"]]
    busy = record("office_long_ledger_busy")
    assert busy["ledger"] == {"problem": "", "charges": busy["runs"]["started"] + 1}
    for run in record("ledger_damage"):
        assert tuple(run["ends"]) == ENDS
        for where, row in run["counts"].items():
            assert row[ENDS.index(BROKEN)] == 0
            assert "checkpoint" in where or row[ENDS.index(UNCHECKED)] == 0
            assert not where.startswith(DROPPED) or sum(row) == row[ENDS.index(REFUSED)]
