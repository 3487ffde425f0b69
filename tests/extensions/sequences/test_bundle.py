"""Bundles of rows in order: what verify checks of them, and forgeries that it finds."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from dpsynth_core import cli
from tests.bundle import pack
from tests.bundle.bundles import failed, files
from tests.extensions.sequences import stays

Files = dict[str, bytes]
DOMAIN, TABLES, RULES, COPIES = (
    "Do the rows keep to the domain?", "Do both tables of rows agree?", "Are impossible combinations absent?",
    "Do report, cards and tables agree?",
)  # fmt: skip


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A bundle of one file; who is dead comes no more, and men have no hip."""
    folder = tmp_path_factory.mktemp("packed")
    stays.files(folder, 200)
    rule = [{"never": {"last row": ["no"], "alive": ["no"]}}]
    (folder / "rules.json").write_text(json.dumps(rule))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(folder / "books"))
        assert cli.main(stays.of_one(folder, "--rules", str(folder / "rules.json"))) == 0
    return (folder / "out" / "release.zip").read_bytes()


def table(held: Files, name: str) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(held[name]), dtype={"days_before": "Int64"})


def put(held: Files, name: str, rows: pd.DataFrame) -> None:
    held[name] = rows.to_csv(index=False).encode()


def seen_swapped(rows: pd.DataFrame) -> pd.DataFrame:
    """A person's first and second row change places: of the first person whose second row says how long before the first was."""
    second = rows["patient"].duplicated() & ~rows["patient"].shift().duplicated() & rows["days_before"].notna()
    number = rows.index[second][0]
    places = [*range(len(rows))]
    places[number - 1], places[number] = number, number - 1
    return rows.iloc[places]


def shifted(held: Files) -> None:
    """The last row of the second person goes to the front of the file."""
    rows = table(held, "members.csv")
    put(held, "members.csv", pd.concat([rows[-1:], rows[:-1]]))


def of_nobody(held: Files) -> None:
    rows = table(held, "members.csv")
    rows.loc[len(rows) - 1, "patient"] = 10**6
    put(held, "members.csv", rows)


def too_many(held: Files) -> None:
    rows = table(held, "members.csv")
    put(held, "members.csv", rows.assign(patient=rows["patient"].where(rows["patient"] > 5, 1)))


def without_rows(held: Files) -> None:
    rows = table(held, "members.csv")
    put(held, "members.csv", rows[rows["patient"] > 1])


def first_after_another(held: Files) -> None:
    rows = table(held, "members.csv")
    rows.loc[0, "days_before"] = 5
    put(held, "members.csv", rows)


def swapped(held: Files) -> None:
    """First and second rows change places: the order of a person's rows."""
    put(held, "members.csv", seen_swapped(table(held, "members.csv")))


def dead_before(held: Files) -> None:
    rows = table(held, "members.csv")
    (second, *_) = rows.index[rows["patient"].duplicated()]
    rows.loc[second - 1, "alive"] = "no"
    put(held, "members.csv", rows)


def against_the_domain(held: Files) -> None:
    persons, rows = table(held, "synthetic.csv"), table(held, "members.csv")
    man = persons.loc[persons["sex"] == "m", "patient"].iloc[0]
    rows.loc[rows["patient"] == man, "diagnosis"] = "hip"
    put(held, "members.csv", rows)


def unknown_value(held: Files) -> None:
    put(held, "members.csv", table(held, "members.csv").assign(diagnosis="elbow"))


def not_constant(held: Files) -> None:
    """The table like the given one says of a person's second row that the sex is another."""
    rows = table(held, "rows-in-order.csv")
    (second, *_) = rows.index[rows["patient"].duplicated()]
    rows.loc[second, "sex"] = {"f": "m", "m": "f"}[rows.loc[second, "sex"]]
    put(held, "rows-in-order.csv", rows)


def lost(held: Files) -> None:
    del held["rows-in-order.csv"]


def other_keys(held: Files) -> None:
    persons = table(held, "synthetic.csv")
    put(held, "synthetic.csv", persons.assign(patient=persons["patient"] + 1))


def other_gap(held: Files) -> None:
    rows = table(held, "rows-in-order.csv")
    put(held, "rows-in-order.csv", rows.assign(days_before=rows["days_before"] + 1))


def two_swapped(held: Files) -> None:
    put(held, "rows-in-order.csv", seen_swapped(table(held, "rows-in-order.csv")))


def one_more(held: Files) -> None:
    held["rows-in-order.csv"] += held["rows-in-order.csv"].splitlines(keepends=True)[-1]


def one_less(held: Files) -> None:
    held["rows-in-order.csv"] = b"".join(held["rows-in-order.csv"].splitlines(keepends=True)[:-1])


def all_dead(held: Files) -> None:
    put(held, "rows-in-order.csv", table(held, "rows-in-order.csv").assign(alive="no"))


def of_another(held: Files) -> None:
    rows = table(held, "rows-in-order.csv")
    put(held, "rows-in-order.csv", rows.assign(patient=rows["patient"].where(rows["patient"] > 1, 2)))


def other_columns(held: Files) -> None:
    put(held, "rows-in-order.csv", table(held, "rows-in-order.csv").drop(columns="sex"))


COPIED = (not_constant, lost, other_gap, two_swapped, one_more, one_less, all_dead, of_another, other_columns)


FORGERIES: dict[Callable[[Files], None], str] = {
    shifted: "", of_nobody: "", too_many: "", without_rows: RULES, first_after_another: RULES, swapped: RULES, dead_before: RULES,
    against_the_domain: RULES, unknown_value: DOMAIN, other_keys: "",
    **dict.fromkeys(COPIED, COPIES),
}  # fmt: skip


def test_it_is_consistent(packed: bytes) -> None:
    assert failed(packed) == []


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda one: one.__name__)
def test_a_forgery_is_found(forge: Callable[[Files], None], packed: bytes) -> None:
    held = files(packed)
    held.pop("SIGNATURE.json", None)
    forge(held)
    found = failed(pack.sealed(held))
    assert found
    assert not FORGERIES[forge] or FORGERIES[forge] in found


def of_another_version(held: Files) -> None:
    document = json.loads(held["release.json"])
    document["versions"]["dpsynth_core"] = "0.0.9+12345678"
    held["release.json"] = json.dumps(document).encode()
    held["report.html"] = held["report.html"].replace(b"<title>", b"<title>Earlier: ", 1)


@pytest.mark.parametrize("forge", COPIED, ids=lambda one: one.__name__)
def test_another_version_finds_forged_copies_of_rows(forge: Callable[[Files], None], packed: bytes) -> None:
    held = files(packed)
    held.pop("SIGNATURE.json", None)
    of_another_version(held)
    assert failed(pack.sealed(held)) == []
    forge(held)
    assert failed(pack.sealed(held)) == [TABLES]


def test_another_version_may_write_the_copy_in_other_marks(packed: bytes) -> None:
    """Quotes around texts are another file with the same values."""
    held = files(packed)
    held.pop("SIGNATURE.json", None)
    of_another_version(held)
    put(held, "rows-in-order.csv", table(held, "rows-in-order.csv"))
    assert failed(pack.sealed(held)) == []


@pytest.mark.parametrize("change", ["order", "constant"])
def test_a_plan_with_other_settings_is_not_the_sealed_one(change: str, packed: bytes) -> None:
    held = files(packed)
    document = json.loads(held["release.json"])
    document["spec"]["extensions"][change] = ["diagnosis"]
    held["release.json"] = json.dumps(document).encode()
    assert "Is the plan the sealed one?" in failed(pack.sealed(held))


def test_a_mirror_of_the_table_is_in_the_bundle(packed: bytes) -> None:
    held = files(packed)
    persons, rows, whole = (table(held, f"{name}.csv") for name in ("synthetic", "members", "rows-in-order"))
    pd.testing.assert_frame_equal(whole, rows.merge(persons, on="patient")[whole.columns])
    dead = whole["alive"] == "no"
    assert not (dead & (whole["patient"] == whole["patient"].shift(-1))).any()  # nobody comes after death


def test_reading_from_a_published_spec_needs_the_file_alone(packed: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both tables are named by the same base name."""
    spec = json.loads(files(packed)["release.json"])["spec"]
    stays.files(tmp_path, 50)
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "books"))
    assert cli.main(["run", str(tmp_path / "spec.json"), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "rows-in-order.csv").exists()
