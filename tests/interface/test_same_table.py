"""Which tables are the same: rows and columns in another order, and columns that the plan does not name, make no other table."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpsynth_core as dps
from dpsynth_core.planning.spec import Spec
from dpsynth_core.sources import memory
from dpsynth_core.store import balance, chain, fingerprints
from tests.additions import added
from tests.interface.test_going_on import PEOPLE, people, stopped
from tests.interface.test_interface import planned

COLUMNS: dict[str, Any] = {"age": (0, 99), "sex": ["f", "m"], "region": ["north", "south"]}
SAME: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "rows in another order": lambda frame: frame.sample(frac=1, random_state=1),
    "columns exchanged": lambda frame: frame[["region", "sex", "age"]],
    "a further column": lambda frame: frame.assign(seen=range(len(frame))),
    "all of these": lambda frame: frame.sample(frac=1, random_state=2).assign(seen=1)[["seen", "region", "sex", "age"]],
    "another width": lambda frame: frame.astype({"age": "int16", "sex": "category"}),
}
OTHER: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "a record more": lambda frame: pd.concat([frame, frame.head(1)]),
    "a record less": lambda frame: frame.tail(-1),
    "a record twice in place of another": lambda frame: pd.concat([frame.tail(-1), frame.tail(1)]),
    "columns shuffled by themselves": lambda frame: frame.assign(age=frame["age"].sample(frac=1, random_state=1).to_numpy()),
    "values exchanged": lambda frame: frame.replace({"sex": {"f": "m", "m": "f"}}),
}
WRITTEN: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "pandas": lambda frame, _: frame,
    "Arrow": lambda frame, _: pa.Table.from_pandas(frame, preserve_index=False),
    "DuckDB": lambda frame, _: duckdb.from_arrow(pa.Table.from_pandas(frame, preserve_index=False)),
    "CSV": lambda frame, path: frame.to_csv(path / "people.csv", index=False) or str(path / "people.csv"),
    "Parquet": lambda frame, path: frame.to_parquet(path / "people.parquet") or str(path / "people.parquet"),
    "JSON lines": lambda frame, path: frame.to_json(path / "people.jsonl", orient="records", lines=True) or str(path / "people.jsonl"),
}
for module in added("interface.tables"):
    WRITTEN |= module.WRITTEN


def charges() -> int:
    return [entry.kind for entry in chain.entries()].count("reserve")


@pytest.mark.parametrize("written", WRITTEN)
def test_the_same_records_are_charged_once(written: str, tmp_path: Path) -> None:
    write = WRITTEN[written]
    first = planned(write(people(), tmp_path), columns=COLUMNS).run(progress=False)
    for number, changed in enumerate(SAME.values()):
        (folder := tmp_path / str(number)).mkdir()
        again = planned(write(changed(people()), folder), columns=COLUMNS).run(progress=False)
        assert list(map(str, again.made.table)) == list(map(str, first.made.table))
    assert charges() == 1


@pytest.mark.parametrize("written", ["pandas", "CSV"])
@pytest.mark.parametrize("change", OTHER)
def test_other_records_are_charged_anew(written: str, change: str, tmp_path: Path) -> None:
    planned(WRITTEN[written](people(), tmp_path), columns=COLUMNS).run(progress=False)
    planned(WRITTEN[written](OTHER[change](people()), tmp_path), columns=COLUMNS).run(progress=False)
    assert charges() == 2


def content_alone(spec: Spec) -> str:
    """A fingerprint as versions before this one made it."""
    return " ".join(fingerprints.of_data(table.data) for table in fingerprints.private_tables(spec))


@pytest.mark.parametrize("written", WRITTEN)
def test_what_an_earlier_version_charged_is_recognised(written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = WRITTEN[written](people(), tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(fingerprints, "of_spec", content_alone)
        first = planned(data, columns=COLUMNS).run(progress=False)
    assert len(chain.entries()[-1].fingerprint.split()) == 1
    assert planned(data, columns=COLUMNS).run(progress=False).made.ledger == first.made.ledger
    assert charges() == 1


def linked(tmp_path: Path, order: int) -> dps.Plan:
    homes = pd.DataFrame({"home": range(60), "region": ["north", "south"] * 30}).sample(frac=1, random_state=order)
    members = pd.DataFrame({"home": np.repeat(range(60), 2), "sex": ["f", "m"] * 60}).sample(frac=1, random_state=order)
    for name, table in (("homes", homes), ("members", members)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    second = (str(tmp_path / "members.csv"), {"sex": ["f", "m"]})
    options: dict[str, Any] = {"person": "home", "rows_per_person": 2, "members": second, "population": PEOPLE, "epsilon": 5}
    return dps.plan(str(tmp_path / "homes.csv"), {"region": ["north", "south"]}, **options)


@pytest.mark.parametrize("earlier", [False, True])
def test_two_linked_tables_are_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, earlier: bool) -> None:
    with monkeypatch.context() as patch:
        if earlier:
            patch.setattr(fingerprints, "of_spec", content_alone)
        linked(tmp_path, 1).run(progress=False)
    linked(tmp_path, 1).run(progress=False)
    assert charges() == 1
    linked(tmp_path, 2).run(progress=False)
    assert charges() == 1 + earlier


def test_a_run_that_was_interrupted_goes_on_with_its_rows_in_another_order(capsys: pytest.CaptureFixture[str]) -> None:
    plan = dps.plan(people(), COLUMNS, epsilon=3, tables=2, population=PEOPLE)
    stopped(plan, 4)
    capsys.readouterr()
    dps.plan(people()[::-1], COLUMNS, epsilon=3, tables=2, population=PEOPLE).run(progress=False)
    assert "goes on" in capsys.readouterr().err
    assert charges() == 1


def test_the_same_records_that_were_charged_for_others_are_noticed() -> None:
    planned(people(), columns=COLUMNS).run(progress=False)
    shuffled = planned(SAME["all of these"](people()), columns=COLUMNS, population="Others")
    with_fewer_columns = planned(people(), columns={"sex": ["f", "m"]}, tables=1, population="Others")
    for other in (shuffled, with_fewer_columns):
        assert balance.same_file_elsewhere(fingerprints.of_spec(other.sealed.spec), "Others") == (PEOPLE,)


def test_a_large_file_is_recognised_by_its_content_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "WHOLE_FILE_BYTES", 1 << 10)
    for frame, number in ((people(), 1), (people(), 1), (people()[::-1], 2)):
        planned(WRITTEN["CSV"](frame, tmp_path), columns=COLUMNS).run(progress=False)
        assert charges() == number


def test_nobody_sees_from_the_ledger_that_two_runs_had_the_same_records() -> None:
    planned(people(), columns=COLUMNS).run(progress=False)
    planned(people()[::-1], columns=COLUMNS).run(progress=False, again=True)
    parts = [part for entry in chain.entries() if entry.kind == "reserve" for part in entry.fingerprint.split()]
    assert len(parts) == len(set(parts)) == 4


HASHED = {
    "i": "9805decd37e8b45e",
    "big": "bf8f127efe36b365",
    "f": "4d431e48b3006b24",
    "b": "5b4ade57ca812524",
    "s": "5f64969c6fe78236",
    "t": "d548bf7895902620",
    "c": "06e6ebee07237143",
    "d": "d60ae3262fc56c63",
    "time": "5d75211dc6c26825",
    "h": "7feab50c84fe9511",
    "tz": "33266061377bd435",
    "bin": "412a20b6016ef78b",
}
"""By column: the beginning of the SHA-256 of its content, as the version made it that first kept such hashes in a ledger."""


def columns_of_each_type() -> list[Any]:
    when = pd.to_datetime(["2024-01-01", "2024-01-02 03:04:05.120", None], format="ISO8601")
    frame = {"i": [1, 2, None], "big": [1e10, 2.5e11, np.nan], "f": [1.0, 2.5, 1e-7], "b": [True, None, False], "s": [" a", "é", None]}
    decimals, moments = [Decimal("1.50"), None, Decimal("2.00")], [time(1, 2, 3), None, time(4, 5, 6, 120_000)]
    typed = {
        "d": pa.array(decimals),
        "time": pa.array(moments, pa.time64("us")),
        "h": pa.array([1.5, 2.0, None], pa.float32()),
        "tz": pa.array([datetime(2024, 1, 1), None, None], pa.timestamp("ms", "UTC")),
        "bin": pa.array([b"x", None, b" y"]),
    }
    odd = {"t": when, "c": pd.Categorical(["x", None, "y"])}
    return [*(pd.DataFrame({name: column}) for name, column in {**frame, **odd}.items()), *(pa.table({n: c}) for n, c in typed.items())]


def test_the_content_of_a_table_in_memory_is_hashed_as_ever() -> None:
    """Else what is in a ledger would be charged again."""
    held = list(map(memory.hold, columns_of_each_type()))
    hashes = {one.source.names[0]: sha256(b"".join(one.content())).hexdigest()[:16] for one in held}
    assert hashes == HASHED
