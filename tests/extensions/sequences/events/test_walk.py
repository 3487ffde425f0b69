"""Patients, visits and events from the command line: from three files to a bundle that is consistent and made again, for one charge."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core import cli
from dpsynth_core.store import chain
from tests.bundle import pack
from tests.bundle.bundles import failed
from tests.bundle.bundles import files as unpacked
from tests.extensions.sequences.events.walk import COLUMNS, EVENTS, MOST_EVENTS, command, files
from tests.extensions.sequences.stays import MOST

DOMAIN, TABLES, RULES, COPIES = (
    "Do the rows keep to the domain?", "Do both tables of rows agree?", "Are impossible combinations absent?",
    "Do report, cards and tables agree?",
)  # fmt: skip
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("events")
    files(folder)
    return folder


@pytest.fixture(scope="module")
def released(home: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(home / "books"))
        assert cli.main(command(home, "--population", "patients")) == 0
        entries = [entry for entry in chain.entries() if entry.kind == "reserve"]
    assert [entry.population for entry in entries] == ["patients"]  # one charge for all three
    return home / "out"


@pytest.fixture(scope="module")
def packed(released: Path) -> bytes:
    return (released / "release.zip").read_bytes()


def read(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    names = ("synthetic", "members", "events")
    persons, rows, events = (pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=[""]) for name in names)
    return persons, rows, events


def test_three_files_have_keys_that_hold(released: Path, home: Path) -> None:
    persons, rows, events = read(released)
    assert list(events.columns) == ["patient", "visit", *COLUMNS]
    assert persons["patient"].tolist() == list(range(1, len(persons) + 1))
    assert rows["visit"].tolist() == list(range(1, len(rows) + 1))
    assert rows["patient"].isin(persons["patient"]).all()
    assert rows.groupby("patient").size().max() <= MOST
    assert events["visit"].is_monotonic_increasing
    assert events.groupby("visit").size().max() <= MOST_EVENTS
    joined = events.merge(rows, on="visit")
    assert len(joined) == len(events)
    assert (joined["patient_x"] == joined["patient_y"]).all()
    stated = json.loads((released / "release.json").read_text())["spec"]
    assert stated["extensions"]["events"] == ["drugs.csv"]
    assert str(home) not in json.dumps(stated)


def test_events_follow_what_the_table_says_of_their_visits(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of repeatable noise and a large epsilon; limits are six times what sampling adds to shares of 1,000 visits."""
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    assert cli.main(command(home, "--seed", "3", "--epsilon", "60", out="seeded")) == 0
    _, rows, events = read(home / "seeded")
    mine = pd.read_csv(home / "rows.csv").merge(pd.read_csv(home / "drugs.csv"), on=["patient", "visit"])
    mine, theirs = mine[mine.groupby("visit").cumcount() < MOST_EVENTS], events.merge(rows, on=["patient", "visit"])
    usual = {"heart": "aspirin", "hip": "heparin", "lung": "iron"}
    for table in (mine, theirs):
        assert (table["drug"] == table["diagnosis"].map(usual)).mean() == pytest.approx(0.9, abs=0.12)
    number = events.groupby("visit").size().reindex(rows["visit"], fill_value=0).value_counts(normalize=True)
    assert [number.get(count, 0.0) for count in range(4)] == pytest.approx([0.4, 0.2, 0.2, 0.2], abs=0.12)


def test_the_bundle_is_consistent_and_made_again(packed: bytes, released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert failed(packed) == []
    again = released.parent / "again"
    assert cli.main(["reproduce", str(released / "release.zip"), "--out", str(again)]) == 0
    assert "to the last bit" in capsys.readouterr().err
    for file in ("synthetic.csv", "members.csv", "events.csv"):
        assert (again / file).read_bytes() == (released / file).read_bytes()


def _edited(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Files], None]:
    def edit(held: Files) -> None:
        rows = pd.read_csv(io.BytesIO(held["events.csv"]), dtype={"dose": "Int64"}, keep_default_na=False, na_values=[""])
        held["events.csv"] = change(rows).to_csv(index=False).encode()

    return edit


def lost(held: Files) -> None:
    del held["events.csv"]


FORGERIES: dict[str, tuple[Callable[[Files], None], str]] = {
    "lost": (lost, RULES),
    "of no visit": (_edited(lambda rows: rows.assign(visit=rows["visit"].where(rows.index < len(rows) - 1, 10**6))), RULES),
    "of another person": (_edited(lambda rows: rows.assign(patient=rows["patient"].where(rows.index > 0, 400))), RULES),
    "too many": (_edited(lambda rows: pd.concat([rows[:1]] * (MOST_EVENTS + 1) + [rows[1:]])), RULES),
    "not in order": (_edited(lambda rows: rows[::-1]), RULES),
    "of no domain": (_edited(lambda rows: rows.assign(drug="arsenic")), RULES),
    "with a column more": (_edited(lambda rows: rows.assign(doctor="X")), RULES),
    "other events": (_edited(lambda rows: rows.assign(drug=np.roll(rows["drug"], 7))), COPIES),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_file_of_events_is_found(name: str, packed: bytes) -> None:
    forge, question = FORGERIES[name]
    held = unpacked(packed)
    held.pop("SIGNATURE.json", None)
    forge(held)
    assert question in failed(pack.sealed(held))


@pytest.mark.parametrize(("events", "said"), [
    (("--events", "drugs.csv"), "event_key"),
    (EVENTS[2:], "none is named"),
    (("--events", "../drugs.csv", *EVENTS[2:]), "in the folder of the second table"),
    ((*EVENTS[:-1], "9"), "from 1 to 6"),
    ((*EVENTS[:3], "stay", *EVENTS[4:]), "'stay'"),
    ((*EVENTS[:5], "aspirin", *EVENTS[6:]), "no column 'aspirin'"),
    ((*EVENTS[:3], "diagnosis", *EVENTS[4:]), "it tells rows apart"),
    (("--events", "persons.csv", *EVENTS[2:]), "the third table has no column"),
    (("--events", "nothing.csv", *EVENTS[2:]), "no such file beside that of the second table"),
])  # fmt: skip
def test_what_cannot_be_is_refused_before_the_charge(
    events: tuple[str, ...], said: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    assert cli.main(command(home, out=f"refused{abs(hash(events))}", events=events)) == 2
    assert said in capsys.readouterr().err
    assert [entry for entry in chain.entries() if entry.kind == "reserve"] == []


def test_a_program_states_the_same(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    rows = json.loads((home / "rows.json").read_text())
    more = {"order": "admitted", "events": "drugs.csv", "event_key": "visit", "event_column": COLUMNS, "most_events": 3}
    plan = dps.plan(
        home / "persons.csv", json.loads((home / "persons.json").read_text()), epsilon=4, person="patient", rows_per_person=MOST,
        members=(home / "rows.csv", rows), **more,
    )  # fmt: skip
    assert plan.spec["mechanism"]["name"] == "events"
    assert plan.spec["extensions"]["event_column"] == COLUMNS
