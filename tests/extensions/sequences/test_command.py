"""Rows of a person in order from the command line: from one file or two to a bundle that is consistent and can be made again."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core import cli
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.store import chain, spools
from tests.extensions.sequences.stays import GAP, MOST, PERSON, STAY, domain, files, of_one, of_two


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stays")
    files(folder)
    return folder


@pytest.fixture(scope="module")
def released(home: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(home / "books"))
        assert cli.main(of_one(home, "--population", "patients")) == 0
        (entry,) = [entry for entry in chain.entries() if entry.kind == "reserve"]
    assert entry.population == "patients"
    return home / "out"


def charged() -> list[str]:
    return [entry.run for entry in chain.entries() if entry.kind == "reserve"]


def stop_soon(patch: pytest.MonkeyPatch) -> None:
    """Runs are interrupted after three answers."""
    left, ask = iter(range(3)), PrivacyKernel._ask

    def stopping(kernel: PrivacyKernel, *arguments: Any, **options: Any) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return ask(kernel, *arguments, **options)

    patch.setattr(PrivacyKernel, "_ask", stopping)


def check_rows(persons: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Keys count up from 1; rows of a person are together, at most MOST; and first rows have none before them."""
    assert persons["patient"].tolist() == list(range(1, len(persons) + 1))
    assert rows["patient"].is_monotonic_increasing
    assert rows["patient"].isin(persons["patient"]).all()
    assert rows.groupby("patient").size().max() <= MOST
    if "days_before" in rows:
        assert rows["days_before"][~rows["patient"].duplicated()].isna().all()
        assert rows["days_before"][rows["patient"].duplicated()].notna().mean() > 0.8  # else the time is unknown


def test_one_file_becomes_persons_rows_and_a_table_like_it(released: Path, home: Path) -> None:
    persons, rows, whole = (pd.read_csv(released / f"{name}.csv") for name in ("synthetic", "members", "rows-in-order"))
    check_rows(persons, rows)
    assert set(rows["patient"]) == set(persons["patient"])  # everybody has a row
    assert list(whole.columns) == ["patient", "sex", "born", "diagnosis", "alive", "days_before"]
    pd.testing.assert_frame_equal(whole, rows.merge(persons, on="patient")[whole.columns])
    assert not ((whole["sex"] == "m") & (whole["diagnosis"] == "hip")).any()  # the domain's rule
    stated = json.loads((released / "release.json").read_text())["spec"]
    assert stated["extensions"] == {"order": ["admitted"], "constant": ["sex", "born"], "gap": ["days_before"]}
    assert (stated["data"]["path"], stated["members"]["path"]) == ("stays.csv", "stays.csv")
    assert [one["name"] for one in stated["domain"]["attributes"]] == ["sex", "born"]
    assert stated["mechanism"]["name"] == "sequences"
    assert str(home) not in json.dumps(stated)


def test_a_bundle_of_one_file_is_consistent_and_made_again(released: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", str(released / "release.zip")]) == 0
    again = released.parent / "again"
    assert cli.main(["reproduce", str(released / "release.zip"), "--out", str(again)]) == 0
    assert "to the last bit" in capsys.readouterr().err
    for file in ("synthetic.csv", "members.csv", "rows-in-order.csv"):
        assert (again / file).read_bytes() == (released / file).read_bytes()


def test_two_files_keep_persons_without_rows_and_write_no_third(home: Path) -> None:
    assert cli.main(of_two(home, "--gap", "days_before", "--rows", "500", out="two")) == 0
    check_rows(pd.read_csv(home / "two" / "synthetic.csv"), pd.read_csv(home / "two" / "members.csv"))
    assert not (home / "two" / "rows-in-order.csv").exists()
    assert cli.main(["verify", str(home / "two" / "release.zip")]) == 0


@pytest.mark.parametrize("changed", [False, True])
def test_an_interrupted_run_goes_on_with_the_same_file_and_no_other(
    changed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The order is part of what is read: other days of stays are another table."""
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "books"))
    files(tmp_path, 60)
    run = of_one(tmp_path, "--population", "patients")
    with pytest.MonkeyPatch.context() as patch:
        stop_soon(patch)
        assert cli.main(run) == cli.INTERRUPTED
    begun = charged()
    assert spools.unfinished() == (*begun,)
    if changed:
        table = pd.read_csv(tmp_path / "stays.csv")
        table["admitted"] = table["admitted"].to_numpy()[::-1]
        table.to_csv(tmp_path / "stays.csv", index=False)
    assert cli.main(run) == 0
    assert len(charged()) == (2 if changed else 1)
    if changed:
        assert cli.main(["recover", begun[0], "--answers", "--out", str(tmp_path / "kept")]) == 0
        assert json.loads((tmp_path / "kept" / "release.json").read_text())["spec"]["extensions"]["constant"] == ["sex", "born"]
    capsys.readouterr()
    assert cli.main(["ledger", "check"]) == 0
    assert "patients" in capsys.readouterr().out


def test_the_next_table_takes_both_places(
    released: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(home / "books"))
    later = pd.read_csv(home / "stays.csv").assign(ward=1)
    later.to_csv(home / "later.csv", index=False)
    assert cli.main(["next", str(released / "release.zip"), str(home / "later.csv"), "--out", str(home / "next.json")]) == 0
    assert "does not name: “ward”" in capsys.readouterr().out
    spec = json.loads((home / "next.json").read_text())
    assert spec["data"]["path"] == spec["members"]["path"] == str(home / "later.csv")
    assert cli.main(["run", str(home / "next.json"), "--out", str(home / "next")]) == 0
    assert cli.main(["verify", str(home / "next" / "release.zip")]) == 0
    assert (home / "next" / "rows-in-order.csv").exists()
    later.drop(columns="admitted").to_csv(home / "short.csv", index=False)
    assert cli.main(["next", str(released / "release.zip"), str(home / "short.csv"), "--out", str(home / "no.json")]) == cli.BAD_INPUT


def test_questions_are_of_persons_or_of_rows(released: Path, home: Path) -> None:
    """Each answer is within three half widths, about six standard errors, of what the table says of the first rows of a person."""
    made, table = dps.open(released / "release.zip"), pd.read_csv(home / "stays.csv").sort_values("admitted", kind="stable")
    counted = table[table.groupby("patient").cumcount() < MOST]
    persons = counted.drop_duplicates("patient")
    for what, truth in (({"sex": "f"}, (persons["sex"] == "f").mean()), ({"diagnosis": "hip"}, (counted["diagnosis"] == "hip").mean())):
        answer = made.ask("share", what)
        assert abs(answer.value - truth) < 1.5 * (answer.high - answer.low)


def test_times_that_cannot_be_read_come_last_and_lose_nobody(home: Path) -> None:
    table = pd.read_csv(home / "stays.csv")
    table.loc[table.index % 3 == 0, "admitted"] = "soon"
    table.to_csv(home / "unread.csv", index=False)
    given = [one.replace("stays.csv", "unread.csv") for one in of_one(home, "--epsilon", "8", out="unread")]
    assert cli.main(given) == 0
    persons = pd.read_csv(home / "unread" / "synthetic.csv")
    assert len(persons) == pytest.approx(400, rel=0.1)
    assert cli.main(["verify", str(home / "unread" / "release.zip")]) == 0


_DROP, _MADE = "drop", "the tables of rows in order have a column of this name that is worked out; rename it"
REFUSED: dict[str, tuple[list[str], str]] = {
    "no person": ([_DROP, "--person-column"], "name the column of the person"),
    "one row": (["--max-rows-per-person", "1"], "of one row of a person there is no order"),
    "too many rows": (["--max-rows-per-person", "20"], "at most 10 rows count, the first ones, and it says 20; give a number up to 10"),
    "no number": (["--max-rows-per-person", "all"], "'all' is not a whole number"),
    "nothing constant": ([_DROP, "--constant"], "at least one column is the same in all rows of a person, and none is named"),
    "unknown constant": (["--constant", "name"], "column 'name': it is not in the domain"),
    "constants with commas": (["--constant", "diagnosis,alive"], "name each column by itself"),
    "all constant": (["--constant", "diagnosis", "--constant", "alive"], "none is left for rows"),
    "the person constant": (["--constant", "patient"], "it tells people apart"),
    "the gap constant": (["--constant", "days_before"], "cannot be constant"),
    "no such order": ([_DROP, "--order", "--order", "seen"], "no column 'seen', but 'patient', 'sex', 'born', 'admitted'"),
    "an order that is misspelt": ([_DROP, "--order", "--order", "Admited"], "no column 'Admited', but"),
    "its remedy": ([_DROP, "--order", "--order", "Admited"], "; name 'admitted'"),
    "a gap that is not stated": ([_DROP, "--gap"], "state it as the gap (on the command line --gap days_before)"),
    "a reading that is not known": (["--order-as", "moon"], "extensions.order_as: 'moon' is not known; state number, date, text or any"),
    "texts that are days apart": (["--order-as", "text"], "extensions.gap: texts are no time apart"),
    "a reading of the file's order": (
        [_DROP, "--order", "--order", "file order", "--order-as", "date"],
        "extensions.order_as: the order of the file has no values",
    ),
    "listed texts": ([_DROP, "--order", "--order", "diagnosis"], "extensions.order_as: its domain lists texts"),
    "a weight of rows": (["--weight", "diagnosis"], "--weight: rows of a person in order do not go with it yet; leave it out"),
    "two orders": (["--order", "born"], "order has at most 1"),
    "no order": ([_DROP, "--order"], "and order is not stated"),
    "file order with a gap": ([_DROP, "--order", "--order", "file order"], "file order says nothing about time"),
    "a gap that is not in the domain": ([_DROP, "--gap", "--gap", "days"], "column 'days': it is not in the domain"),
    "models": (["--model", "sex"], "--model: rows of a person in order do not go with it yet"),
    "ranges": (["--ranges-share", "0.02"], "--ranges-share: rows of a person in order do not go with it yet"),
    "means": (["--means", "0.05"], "--means: rows of a person in order do not go with it yet"),
    "numbers in bins": (["--inside", "0.2"], "--inside: rows of a person in order do not go with it yet"),
    "a workload": (["--workload", "all-2way"], "--workload: rows of a person in order have tables of their own; leave it out"),
    "the usual workload": (["--workload", "all-3way"], "--workload: rows of a person in order have tables of their own; leave it out"),
    "another mechanism": (["--mechanism", "mst"], "--mechanism: rows of a person in order have a mechanism of their own; leave it out"),
    "the usual mechanism": (["--mechanism", "aim"], "--mechanism: rows of a person in order have a mechanism of their own; leave it out"),
    "several tables": (["--tables", "3"], "output.tables: rows of a person in order do not go with it yet"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_go_is_refused_before_anything_is_read(
    case: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dpsynth_core.release.synthesis.open_source", lambda _: pytest.fail("the table was opened"))
    extra, problem = REFUSED[case]
    given = of_one(home, out="refused")
    while _DROP in extra[:1]:
        _, option, *extra = extra
        while option in given:
            del given[given.index(option) : given.index(option) + 2]
        if option == "--order":  # without which the gap is of nothing
            del given[given.index("--gap") : given.index("--gap") + 2]
            given += ["--gap", "days_before"] * bool(extra)
    assert cli.main([*given, *extra]) == cli.BAD_INPUT
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    ("stated", "problem"),
    [
        (domain(*PERSON, *STAY, {**GAP, "missing": False}), '"missing": true'),
        (domain(*PERSON, *STAY, {**GAP, "name": "admitted"}), "column 'admitted'"),
        (domain(*PERSON, *STAY, GAP, {"name": "ward", "kind": "categorical", "discover": True, "most": 20}), "learn"),
        (domain(*PERSON, *STAY, GAP, {"name": "patient", "kind": "coded", "size": 2}), "it tells people apart"),
        (domain(*PERSON, *STAY, {**GAP, "name": "last row"}), "column 'last row': the tables of rows in order have a column of this name"),
        *(
            (domain(*PERSON, {**STAY[0], "name": name}, *STAY[1:], GAP), f"column {name!r}: {problem}")
            for name, problem in {"members": _MADE, "row of the person": _MADE, "alive before": _MADE}.items()
        ),
        (domain(*PERSON, *STAY, GAP, rules=({"column": "born", "below": "days_before"},)), "two linked tables have no orders of columns"),
    ],
)
def test_domains_that_do_not_go_are_refused(stated: dict[str, Any], problem: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "other.json").write_text(json.dumps(stated))
    gap = next((one["name"] for one in stated["attributes"] if one["name"] in ("admitted", "last row")), "days_before")
    given = ["other.json".join(one.split("whole.json")) for one in of_one(home, out="refused")]
    given[given.index("--gap") + 1] = gap
    assert cli.main(given) == cli.BAD_INPUT
    assert problem in capsys.readouterr().err


def test_names_that_would_be_taken_for_the_row_before_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pd.read_csv(home / "stays.csv").rename(columns={"alive": "state before"}).to_csv(home / "named.csv", index=False)
    (home / "named.json").write_text(json.dumps(domain(*PERSON, STAY[0], {**STAY[1], "name": "state before"}, GAP)))
    given = [one.replace("stays.csv", "named.csv").replace("whole.json", "named.json") for one in of_one(home, out="refused")]
    assert cli.main(given) == cli.BAD_INPUT
    assert "column 'state before': names that end in “before” are of the row before" in capsys.readouterr().err


def test_constants_go_with_one_file_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(of_two(home, "--gap", "days_before", "--constant", "sex", out="refused")) == cli.BAD_INPUT
    assert "it is of one table, and two are named" in capsys.readouterr().err


def test_a_domain_is_begun_from_the_file(home: Path) -> None:
    assert cli.main(["domain", str(home / "stays.csv"), "--out", str(home / "begun.json")]) == 0
    assert "diagnosis" in {one["name"] for one in json.loads((home / "begun.json").read_text())["attributes"]}


def test_rules_that_nobody_can_keep_are_refused_before_anything_is_read(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dpsynth_core.release.synthesis.open_source", lambda _: pytest.fail("the table was opened"))
    rules = [
        {"if": {"last row": ["yes"]}, "then": {"alive": ["no"]}},
        {"if": {"row of the person": ["first"]}, "then": {"alive": ["yes"]}},
        {"if": {"alive before": ["yes"]}, "then": {"alive": ["yes"]}},
    ]
    (home / "never.json").write_text(json.dumps(rules))
    assert cli.main(of_one(home, "--rules", str(home / "never.json"), out="refused")) == cli.BAD_INPUT
    assert "members.rules: nobody with rows can keep all of them" in capsys.readouterr().err


def test_values_are_not_learnt_of_rows_in_order(released: Path, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads((released / "release.json").read_text())
    (home / "learnt.json").write_text(json.dumps(document["spec"]))
    given = ["learn", str(home / "learnt.json"), "--out", str(home / "learnt")]
    assert cli.main([*given, "--epsilon", "1"]) == cli.BAD_INPUT
    assert "rows of a person in order have no values that are learnt" in capsys.readouterr().err


def test_weights_do_not_go_with_rows_in_order(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weight = {"name": "weight", "kind": "numeric", "lower": 0, "upper": 4, "bins": 4, "other": False, "missing": False}
    pd.read_csv(home / "stays.csv").assign(weight=2.0).to_csv(home / "weighed.csv", index=False)
    (home / "other.json").write_text(json.dumps(domain(*PERSON, *STAY, GAP, weight)))
    given = [one.replace("stays.csv", "weighed.csv").replace("whole.json", "other.json") for one in of_one(home, out="refused")]
    assert cli.main([*given, "--constant", "weight", "--weight", "weight"]) == cli.BAD_INPUT
    assert "weight: rows of a person in order do not go with it yet" in capsys.readouterr().err


def test_an_order_of_texts_is_by_their_letters(home: Path) -> None:
    """Waves a, b, c in no order in the file: each person goes from one to the next, and so do synthetic rows."""
    table = pd.DataFrame({"patient": np.repeat(range(300), 3), "sex": "f", "wave": ["c", "a", "b"] * 300})
    table.to_csv(home / "waves.csv", index=False)
    wave = {"name": "wave", "kind": "categorical", "categories": ["a", "b", "c"], "other": False, "missing": False}
    (home / "waves.json").write_text(json.dumps(domain(PERSON[0], wave)))
    given = ["synthesize", str(home / "waves.csv"), "--domain", str(home / "waves.json"), "--person-column", "patient", "--epsilon", "10"]
    given += ["--max-rows-per-person", "3", "--order", "wave", "--order-as", "text", "--constant", "sex", "--out", str(home / "waves")]
    assert cli.main(given) == 0
    rows = pd.read_csv(home / "waves" / "rows-in-order.csv")
    assert (rows.groupby("patient")["wave"].sum() == "abc").mean() > 0.9
    with zipfile.ZipFile(home / "waves" / "release.zip") as bundle:
        assert "read as texts, by their letters" in bundle.read("report.html").decode()
    assert cli.main(["verify", str(home / "waves" / "release.zip")]) == 0
