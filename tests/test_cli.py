"""The command line keeps its contract: files, progress, exit codes, one line for a mistake, the ledger only when asked."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core import cli
from dpsynth_core.bundle import confined, unpack
from dpsynth_core.cli import command_line, release_commands
from dpsynth_core.cli.release_commands import parse_workload
from dpsynth_core.cli.table_options import PEOPLE
from dpsynth_core.evaluation.questions.question import STATISTICS
from dpsynth_core.foundation import interrupts
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.private_views import LOOKS
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, DEFAULT_INSIDE, DEFAULT_MEANS
from dpsynth_core.release import synthesis
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.demo import ROWS, demo_domain
from dpsynth_core.store import balance, chain, ledger, verified_books
from dpsynth_core.vocabulary.codebook import parse_domain
from dpsynth_core.vocabulary.domain import ORIGINS, Domain
from dpsynth_core.vocabulary.workload import all_kway, target
from tests.additions import listed
from tests.bundle import pack
from tests.bundle.bundles import files, verified
from tests.patience import SECONDS
from tests.refusals import refused

Run = Callable[..., int]

DOMAIN = {
    "version": 1,
    "attributes": [
        {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 5, "other": False, "missing": False},
        {"name": "pay", "kind": "numeric", "lower": 0.0, "upper": 10.0, "bins": 4, "other": "nearest", "missing": True},
    ],
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, its domain, and no other home."""
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(0, 100, 300), "sex": rng.choice(["f", "m"], 300), "pay": rng.uniform(0, 10, 300).round(2)})
    frame.loc[::7, "pay"] = None
    frame.to_csv("people.csv", index=False)
    Path("domain.json").write_text(json.dumps(DOMAIN))
    return tmp_path


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `verify` says does not depend on where a bundle was checked."""
    monkeypatch.setattr(confined, "verified", lambda bundle, _, public: verified(bundle.read_bytes(), public))


ROOT = Path(__file__).resolve().parents[1]


def synthesize(*extra: str, data: str = "people.csv", epsilon: str = "1", domain: str = "domain.json", out: str = "out") -> int:
    given = [data, "--domain", domain, "--epsilon", epsilon, "--out", out, "--workload", "all-2way", *extra]
    return cli.main(["synthesize", *given])


def release() -> dict[str, Any]:
    return json.loads(Path("out/release.json").read_text())


def test_a_release_of_rows_that_open_like_the_original() -> None:
    assert synthesize() == 0
    original, made = pd.read_csv("people.csv"), pd.read_csv("out/synthetic.csv")
    assert list(made.columns) == list(original.columns)
    assert made.dtypes.to_dict() == original.dtypes.to_dict()
    assert set(made["sex"]) <= {"f", "m"}
    files = ["release.json", "release.zip", "synthetic.csv", "times.json", *(f"synthetic.csv{end}" for end in listed("BESIDE"))]
    assert sorted(p.name for p in Path("out").iterdir()) == sorted(files)


def test_the_simulated_people_are_a_table_with_a_domain_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["demo", "--workload", "all-1way", "--mechanism", "independent", "--epsilon", "1", "--out", "out"]
    assert cli.main(["synthesize", *given]) == 0
    assert "people invented by this program" in capsys.readouterr().err
    made = pd.read_csv("out/synthetic.csv")
    assert tuple(made.columns) == demo_domain().names
    assert f"{ROWS:,}" in PEOPLE
    assert abs(len(made) - ROWS) < 1_000
    assert release()["spec"]["data"] == {"path": "", "kind": "demo"}
    assert cli.main(["domain", "demo", "--out", "whole.json"]) == 0
    assert cli.main(["domain", "demo", "--out", "whole.json"]) == cli.BAD_INPUT, "a file that is there is not replaced"
    some = json.loads(Path("whole.json").read_text())
    some["attributes"] = some["attributes"][:2]
    Path("some.json").write_text(json.dumps(some))
    assert cli.main(["synthesize", *given, "--domain", "some.json"]) == 0
    assert list(pd.read_csv("out/synthetic.csv").columns) == ["age", "sex"]


def test_a_file_that_is_called_demo_is_neither_overlooked_nor_taken_for_the_simulated_people(capsys: pytest.CaptureFixture[str]) -> None:
    Path("people.csv").rename("demo")
    assert synthesize(data="demo") == 2
    assert "write ./demo" in capsys.readouterr().err
    assert synthesize("--mechanism", "independent", data="./demo") == 0
    assert release()["spec"]["data"]["path"] == "demo"


def test_models_are_measured_and_their_precision_is_told_before(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsynth_core.claims.models.training_time.ROUNDS", 10)
    assert synthesize("--model", "sex", "--model", "age=20", "--models-share", "0.3", "--mechanism", "independent") == 0
    told, stored = capsys.readouterr().err, release()
    assert re.search(r"0\.3 of the budget measures how often models of 'sex', 'age' are right: to ± [\d,]+ people", told)
    assert [(one["column"], one["model"], one.get("tolerance")) for one in stored["usefulness"]] == [
        ("sex", "gradient boosting", None),
        ("sex", "logistic regression", None),
        ("age", "gradient boosting", 20),
        ("age", "linear regression", 20),
    ]
    assert all(one["low95"] <= one["accuracy"] <= one["high95"] for one in stored["usefulness"])
    assert len([line for line in told.splitlines() if line.startswith("models: ")]) == 2
    assert stored["spec"]["budget"]["models"] == 0.3


def test_a_domain_that_does_not_say_gets_cells_of_its_own_and_one_note(capsys: pytest.CaptureFixture[str]) -> None:
    plain = [{key: value for key, value in one.items() if key not in ("other", "missing")} for one in DOMAIN["attributes"]]
    Path("domain.json").write_text(json.dumps({"attributes": plain}))
    assert synthesize() == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if "cells of their own" in line]
    assert len(notes) == 1
    assert notes[0].startswith("note: ")
    assert all(one["other"] and one["missing"] for one in release()["spec"]["domain"]["attributes"])


def test_what_would_count_as_something_else_is_told_before_the_charge(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("people.csv").open("a") as table:
        table.write("25,x,\n200,,1\n")
    assert synthesize("--private-notes") == 0
    warnings = [line for line in capsys.readouterr().err.splitlines() if "count as" in line]
    assert warnings == [
        "warning, for your eyes only: 1 values of column 'age' are outside the declared ones and count as 'the nearest group'",
        "warning, for your eyes only: 1 values of column 'sex' are outside the declared ones and count as 'f'",
        "warning, for your eyes only: 1 values of column 'sex' are missing and count as 'f'",
    ]


def test_what_says_something_of_records_without_noise_is_said_on_a_terminal_and_not_in_a_log(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(*extra: str) -> list[str]:
        assert synthesize("--seed", "1", *extra) == 0
        return capsys.readouterr().err.splitlines()

    clean = said()
    with Path("people.csv").open("a") as table:
        table.write("25,x,\n200,,1\n")
    logged = said()
    for lines in (clean, logged):
        assert [line for line in lines if "eyes only" in line or "count as" in line or "assumed:" in line] == []
        assert len([line for line in lines if "--private-notes" in line]) == 1
    asked = said("--private-notes")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for lines in (asked, said()):
        private = [line for line in lines if "for your eyes only: " in line]
        assert [line.partition(",")[0].partition(":")[0] for line in private] == ["assumed", *["warning"] * 3, "for your eyes only"]
        assert not any("--private-notes" in line for line in lines)


def test_a_column_of_which_nothing_is_understood_is_said_before_the_charge_and_in_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    """The table writes F and M, the codebook says f and m: on a terminal before anything is charged, and in what is released after it."""
    table = pd.read_csv("people.csv")
    sex = DOMAIN["attributes"][0] | {"other": True, "missing": True}  # type: ignore[index, operator]
    Path("domain.json").write_text(json.dumps(DOMAIN | {"attributes": [sex, *DOMAIN["attributes"][1:]]}))  # type: ignore[index]
    table.assign(sex=table["sex"].str.upper()).to_csv("people.csv", index=False)
    assert synthesize("--epsilon", "10") == 0
    logged = capsys.readouterr().err
    assert "is in its list" not in logged
    assert "verdict: Do not publish this as it is. Column “sex” was not read" in logged
    assert synthesize("--seed", "1", "--epsilon", "10", "--private-notes") == 0
    asked = capsys.readouterr().err
    said = "warning, for your eyes only: column 'sex': no value of the 300 records is in its list. The table writes '"
    assert said in asked
    assert asked.index(said) < asked.index("budget, as planned")


def test_the_release_document_says_how_it_was_made() -> None:
    assert synthesize("--relation", "replace", "--set", "measure_share=0.8", "--set", "rounds_per_attribute=4") == 0
    stored = release()
    assert stored["private"] is True
    settings = {"max_size_mb": 256.0, "rounds_per_attribute": 4, "reserve_rounds": 8, "measure_share": 0.8, "merge_below": 3.0}
    settings |= {"groups": 8, "column_noise": 0.04}
    assert stored["spec"]["mechanism"] == {"name": "aim", "settings": settings}
    assert stored["spec"]["unit"]["relation"] == "replace"
    assert stored["rows"]["count"] == 300
    assert 0 < stored["budget"]["rho_spent"] <= stored["budget"]["rho"]
    assert stored["measurements"][0].keys() == {"attributes", "sigma", "rounding", "values"}
    assert stored["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert stored["ledger"] == {}


def test_what_else_is_published_is_told_with_the_release() -> None:
    assert synthesize("--other-copies", "totals in a report") == 0
    assert release()["spec"]["other_copies"] == "totals in a report"
    with zipfile.ZipFile("out/release.zip") as bundle:
        assert "totals in a report" in bundle.read("report.html").decode()


def test_licence_and_creators_are_told_with_the_release() -> None:
    assert synthesize("--about", "licence=CC-BY-4.0", "--about", "creator=Statistics Office", "--about", "period=2024") == 0
    assert release()["spec"]["about"]["creators"] == ["Statistics Office"]
    with zipfile.ZipFile("out/release.zip") as bundle:
        for name in ("report.html", "DATA_CARD.md"):
            assert "Statistics Office" in bundle.read(name).decode(), name


def test_a_certificate_by_default_another_share_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize() == 0
    stored = release()
    assert stored["spec"]["budget"]["certificate"] == DEFAULT_CERTIFICATE
    assert stored["certificate"]["rho"] == pytest.approx(DEFAULT_CERTIFICATE * stored["budget"]["rho"], rel=1e-6)
    assert [one["attributes"] for one in stored["certificate"]["marginals"]] == [["age", "sex"], ["age", "pay"], ["sex", "pay"]]
    assert {"attributes", "error", "bound95"} <= stored["certificate"]["marginals"][0].keys()
    assert "of people are in the wrong group" in capsys.readouterr().err
    assert synthesize("--certificate", "0.25") == 0
    assert release()["certificate"]["rho"] == pytest.approx(0.25 * stored["budget"]["rho"], rel=1e-6)
    assert synthesize("--certificate", "0") == 0
    assert release()["certificate"] is None
    assert "certificate" not in capsys.readouterr().err.splitlines()[-1]


def test_values_that_nobody_listed_are_learnt_for_a_share(capsys: pytest.CaptureFixture[str]) -> None:
    """Ages of 300 people at epsilon 20: noise of 3 records."""
    columns = [{"name": "sex", "kind": "categorical", "discover": True}, {"name": "age", "kind": "integer", "discover": True, "most": 6}]
    Path("open.json").write_text(json.dumps({"version": 1, "attributes": columns}))
    assert synthesize("--discovery", "0.2", "--epsilon-reason", "These people are invented.", domain="open.json", epsilon="20") == 0
    assert "records share is found" in capsys.readouterr().err
    age, sex = release()["domain"]["attributes"]  # in the order of the file
    assert sex["categories"] == ["f", "m"]
    assert 0 <= age["lower"] <= 20
    assert 80 <= age["upper"] <= 200
    assert release()["spec"]["budget"]["discovery"] == 0.2
    assert synthesize("--discovery", "0.9", domain="open.json") == 2
    assert "budget.discovery" in capsys.readouterr().err


def test_one_line_of_progress_for_each_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize() == 0
    out, err = capsys.readouterr()
    assert out == ""
    rounds = [line for line in err.splitlines() if line.startswith("round ")]
    assert len(rounds) == len(release()["measurements"])
    assert "round 0: measured age, sigma " in rounds[0]
    assert "% done" in rounds[0]


def test_a_seed_repeats_the_rows_and_says_not_private(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--seed", "7") == 0
    first = Path("out/synthetic.csv").read_bytes()
    assert "not private" in capsys.readouterr().err.lower()
    assert release()["private"] is False
    assert "not private" in release()["statement"].lower()
    assert synthesize("--seed", "7") == 0
    assert Path("out/synthetic.csv").read_bytes() == first


@pytest.mark.parametrize(
    ("stated", "title"),
    [
        (("--rows", "300"), "You ask for a fixed number of rows."),
        (("--seed", "7"), "A seed is set, so the noise can be predicted."),
        (("--epsilon", "11", "--epsilon-reason", "the ethics board agreed"), "Epsilon above 10 is a weak promise."),
        (("--domain-origin", "data", "--origin-reason", "all of it is public"), "Categories or bounds were read from the private table."),
        (("--looked", "truth"), "The records were looked at before this plan."),
        ((), None),
    ],
    ids=str,
)
def test_what_weakens_the_protection_is_said_before_the_first_record_is_read(
    stated: tuple[str, ...], title: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert synthesize(*stated, "--mechanism", "independent") == 0
    before, _, _ = capsys.readouterr().err.partition("measuring how numbers lie in their cells")
    assert [line.partition(". ")[0] + "." for line in before.splitlines() if line.startswith("warning: ")] == (
        [] if title is None else [f"warning: {title}"]
    )
    assert re.search(r"note: a group of fewer than about \d+ people in a cell", before)


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("looked", "sealed", "branded"),
    [((), None, False), (("nothing",), [], False), (("truth", "rows"), ["rows", "truth"], True), (("compared",), ["compared"], False)],
)
def test_what_was_seen_of_the_table_is_stated_or_not_stated(looked: tuple[str, ...], sealed: list[str] | None, branded: bool) -> None:
    assert synthesize(*(part for look in looked for part in ("--looked", look))) == 0
    stored = release()
    assert stored["spec"].get("looks") == sealed
    assert ("after-looking" in [brand["code"] for brand in stored["brands"]]) == branded
    assert ("after looking at the records" in stored["statement"]) == branded
    with zipfile.ZipFile("out/release.zip") as archive:
        card = archive.read("DATA_CARD.md").decode().replace("\\", "")
        page = archive.read("report.html").decode()
    words = "is not stated" if sealed is None else LOOKS[sealed[-1]] if sealed else "As far as was recorded"
    assert words in card
    assert words in page
    assert cli.main(["verify", "out/release.zip"]) in (0, 4)


def _texts() -> str:
    with zipfile.ZipFile("out/release.zip") as archive:
        held = {name: archive.read(name).decode() for name in archive.namelist() if not name.endswith(".parquet")}
    assert cli.main(["verify", "out/release.zip"]) in (0, 4)
    return "\n".join(held[name].replace("\\", "") for name in ("report.html", "DATA_CARD.md", "codebook.csv", "release.json"))


@pytest.mark.usefixtures("in_this_process")
def test_an_origin_that_nobody_stated_is_not_stated_anywhere() -> None:
    assert synthesize() == 0
    text = _texts()
    assert "typed by the curator" not in text
    assert text.count("not stated") >= 4
    assert "came from: not stated" in release()["statement"]


@pytest.mark.usefixtures("in_this_process")
def test_a_domain_that_was_read_from_the_data_stays_so_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    domain = parse_domain(Path("domain.json").read_text()).to_json() | {"origin": "data"}
    Path("guessed.json").write_text(json.dumps(domain))
    for stated in ((), ("--domain-origin", "typed"), ("--domain-origin", "codebook", "--origin-reason", "x")):
        assert synthesize(*stated, domain="guessed.json") == cli.BAD_INPUT
        assert "domain_justification" in capsys.readouterr().err
    why = "The categories are those of the public form."
    assert synthesize("--domain-origin", "typed", "--origin-reason", why, domain="guessed.json") == 0
    stored = release()
    assert "domain-from-data" in [brand["code"] for brand in stored["brands"]]
    assert all(words in stored["statement"] for words in ("the private table itself", "typed by the curator"))
    assert why in _texts()


@pytest.mark.parametrize("origin", release_commands._ORIGINS)
def test_a_stated_origin_is_published_as_it_was_stated(origin: str) -> None:
    reason = ("--origin-reason", "The form is public since 1990.") if origin == "data" else ()
    assert synthesize("--domain-origin", origin, *reason) == 0
    assert release()["spec"]["domain_origin"] == origin
    assert ("domain-from-data" in [brand["code"] for brand in release()["brands"]]) == (origin == "data")


def test_the_command_line_offers_every_origin() -> None:
    assert set(release_commands._ORIGINS) == set(ORIGINS)


def test_nothing_and_something_cannot_both_have_been_seen(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--looked", "nothing", "--looked", "rows") == cli.BAD_INPUT
    assert "--looked" in capsys.readouterr().err
    assert not Path("out/release.json").exists()


@pytest.mark.usefixtures("in_this_process")
def test_a_bundle_whose_brand_of_looks_was_taken_out_is_not_consistent() -> None:
    assert synthesize("--looked", "truth") == 0
    stored = release()
    stored["brands"] = [brand for brand in stored["brands"] if brand["code"] != "after-looking"]
    held = files(Path("out/release.zip").read_bytes()) | {"release.json": json.dumps(stored).encode()}
    Path("forged.zip").write_bytes(pack.sealed(held))
    assert cli.main(["verify", "forged.zip"]) == cli.FAILED


def test_how_long_it_took_is_told_to_the_curator_alone(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthesis, "today", lambda: "2026-11-27")  # the day is published, and both are made on one
    assert synthesize("--seed", "7", "--private-notes") == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "for your eyes only: it took" in err
    taken = json.loads(Path("out/times.json").read_text())
    assert len(taken["steps"]) == len(release()["history"])
    assert set(taken["phases"]) >= {"read", "total"}
    with zipfile.ZipFile("out/release.zip") as archive:
        assert "times.json" not in archive.namelist()
    published = [Path("out/release.json").read_bytes(), Path("out/release.zip").read_bytes()]
    assert synthesize("--seed", "7") == 0
    assert [Path("out/release.json").read_bytes(), Path("out/release.zip").read_bytes()] == published


def test_rows_option_sets_the_number_of_rows() -> None:
    assert synthesize("--rows", "12") == 0
    assert len(pd.read_csv("out/synthetic.csv")) == 12


@pytest.mark.parametrize(
    "text", ["all-1way", "target:sex:2", "workload.json", "workload.txt", "weights:age,sex:2;pay", "random:2:2:7", "skewed:2:7"]
)
def test_workload_forms(text: str) -> None:
    Path("workload.txt").write_text("sex, age: 2\npay: 0.5\n")
    Path("workload.json").write_text('{"kind": "marginals", "marginals": [{"attributes": ["sex", "age"], "weight": 2.0}]}')
    assert cli.main(["synthesize", "people.csv", "--domain", "domain.json", "--epsilon", "1", "--out", "out", "--workload", text]) == 0


@pytest.mark.usefixtures("in_this_process")
def test_a_release_as_published_says_so_everywhere_and_can_be_made_again() -> None:
    assert synthesize("--set", "preset=paper") == 0
    released = release()
    assert released["spec"]["mechanism"]["settings"]["preset"] == "paper"
    assert released["spec"]["mechanism"]["settings"]["rounds_per_attribute"] == 16
    assert released["details"]["settings"]["preset"] == "paper"
    with zipfile.ZipFile("out/release.zip") as bundle:
        assert "AIM (as published)" in bundle.read("report.html").decode()
    assert "AIM (as published) had a budget" in released["statement"]
    assert cli.main(["verify", "out/release.zip"]) == 0
    assert cli.main(["reproduce", "out/release.zip", "--out", "again"]) == 0


def test_parse_workload_reads_columns_with_colons_in_their_names() -> None:
    domain = Domain.from_json({"a:b": 2, "c": 3})
    assert parse_workload("target:a:b:2", domain).cliques == (("a:b", "c"),)
    assert parse_workload("all-2way", domain).cliques == (("a:b", "c"),)
    refused(parse_workload, "all-way", domain, saying="--workload")


@pytest.mark.usefixtures("in_this_process")
def test_a_drawn_workload_keeps_its_seed_in_the_release() -> None:
    assert synthesize("--workload", "skewed:2:7") == 0
    spec = json.loads(Path("out/release.json").read_text())["spec"]
    assert spec["workload"] == {"kind": "skewed", "k": 2, "count": 256, "seed": 7}
    assert cli.main(["verify", "out/release.zip"]) == 0
    for mistake in ("skewed:2", "skewed:2:x", "random:2:1", "random:2:99:1", "random:2:1:1:1"):
        refused(parse_workload, mistake, Domain.from_json({"a": 2, "b": 2}), saying=r"--workload|workload.count")


def test_parse_workload_reads_thresholds_over_all_columns_and_around_one() -> None:
    domain = Domain.from_json({"a:b": 2, "c": 3, "d": 2})
    assert parse_workload("threshold:1-of-2:all", domain) == all_kway(domain, 2).asking(1)
    assert parse_workload("threshold:2-of-3:target:a:b", domain) == target(domain, "a:b", 3).asking(2)
    for mistake in ("threshold:4-of-3:all", "threshold:0-of-2:all", "threshold:1-of-2", "threshold:1:all", "threshold:1-of-2:some"):
        refused(parse_workload, mistake, domain, saying=r"--workload|threshold")


def test_thresholds_are_refused_by_a_mechanism_that_does_not_know_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--workload", "threshold:1-of-2:all") == cli.BAD_INPUT
    assert "cannot ask who matches at least 1 of the columns" in capsys.readouterr().err


def test_a_spec_makes_the_same_release_as_the_options_it_came_from() -> None:
    assert synthesize("--seed", "3") == 0
    stored, rows = release(), Path("out/synthetic.csv").read_bytes()
    Path("spec.json").write_text(json.dumps(stored["spec"]))
    assert cli.main(["run", "spec.json", "--out", "again"]) == 0
    assert Path("again/synthetic.csv").read_bytes() == rows
    assert json.loads(Path("again/release.json").read_text())["spec_sha256"] == stored["spec_sha256"]


def test_mechanisms_prints_the_registry(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["mechanisms"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(registry.describe()))


def pipe(name: str) -> str:
    os.mkfifo(name)
    return name


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def column(**fields: Any) -> str:
    """A domain of one column, age unless it says otherwise."""
    return write("column.json", json.dumps({"version": 1, "attributes": [{"name": "age", **fields}]}))


def weights(number: str) -> str:
    """A workload with a weight twice."""
    marginals = ", ".join(f'{{"attributes": ["{name}"], "weight": {number}}}' for name in ("age", "sex"))
    return f'{{"kind": "marginals", "marginals": [{marginals}]}}'


MISTAKES: dict[str, Callable[[], int]] = {
    "no command": lambda: cli.main([]),
    "unknown command": lambda: cli.main(["make"]),
    "missing option": lambda: cli.main(["synthesize", "people.csv"]),
    "no domain": lambda: cli.main(["synthesize", "people.csv", "--epsilon", "1", "--out", "out"]),
    "simulated people in a file": lambda: cli.main(["synthesize", "demo", "--delimiter", "comma", "--epsilon", "1", "--out", "out"]),
    "certificate of all": lambda: synthesize("--certificate", "1"),
    "certificate in words": lambda: synthesize("--certificate", "none"),
    "model of nothing": lambda: synthesize("--model", "income"),
    "model without a number": lambda: synthesize("--model", "age=near"),
    "models for all of it": lambda: synthesize("--model", "sex", "--models-share", "1"),
    "unknown option": lambda: synthesize("--colour", "red"),
    "abbreviated option": lambda: synthesize("--work", "all-1way"),
    "missing file": lambda: synthesize(data="nowhere.csv"),
    "empty file": lambda: synthesize(data=write("empty.csv", "")),
    "only a header": lambda: synthesize(data=write("header.csv", "age,sex,pay\n")),
    "no header": lambda: synthesize(data=write("headless.csv", "People,,,\nage,sex,pay,eye\n1,f,2,b\n")),
    "not a table": lambda: synthesize(data=write("binary.csv", "\x00\x01\x02")),
    "missing domain": lambda: synthesize(domain="nowhere.json"),
    "domain is a pipe": lambda: synthesize(domain=pipe("domain.pipe")),
    "domain is a device": lambda: synthesize(domain="/dev/zero"),
    "domain is a folder": lambda: synthesize(domain="."),
    "data is a pipe": lambda: synthesize(data=pipe("data.csv")),
    "workload is a pipe": lambda: synthesize("--workload", pipe("w.json")),
    "spec is a pipe": lambda: cli.main(["run", pipe("spec.json"), "--out", "out"]),
    "domain no json": lambda: synthesize(domain=write("bad.json", "{")),
    "domain reversed": lambda: synthesize(
        domain=write("rev.json", '{"version": 1, "attributes": [{"name": "age", "kind": "integer", "lower": 90, "upper": 10, "bins": 2}]}')
    ),
    "unknown column": lambda: synthesize(domain=write("zip.json", '{"age": 100, "zip": 3}')),
    "epsilon zero": lambda: synthesize(epsilon="0"),
    "epsilon text": lambda: synthesize(epsilon="one"),
    "epsilon nan": lambda: synthesize(epsilon="nan"),
    "epsilon negative": lambda: synthesize(epsilon="-1"),
    "delta too large": lambda: synthesize("--delta", "1e-3"),
    "unknown relation": lambda: synthesize("--relation", "swap"),
    "unknown mechanism": lambda: synthesize("--mechanism", "magic"),
    "unknown setting": lambda: synthesize("--set", "magic=1"),
    "bad setting": lambda: synthesize("--set", "max_size_mb=lots"),
    "setting without value": lambda: synthesize("--set", "max_size_mb"),
    "unknown quoting": lambda: synthesize("--quoting", "some"),
    "unknown encoding": lambda: synthesize("--encoding", "klingon"),
    "long delimiter": lambda: synthesize("--delimiter", "::"),
    "wrong delimiter": lambda: synthesize("--delimiter", "tab"),
    "open quote": lambda: synthesize("--quoting", "standard", data=write("open.csv", 'age,sex,pay\n1,f,2\n1,f,2\n"1,f,2\n')),
    "setting twice": lambda: synthesize("--set", "max_size_mb=1", "--set", "max_size_mb=2"),
    "rows zero": lambda: synthesize("--rows", "0"),
    "rows text": lambda: synthesize("--rows", "many"),
    "seed text": lambda: synthesize("--seed", "x"),
    "unknown workload": lambda: synthesize("--workload", "everything"),
    "workload beyond columns": lambda: synthesize("--workload", "all-9way"),
    "workload unknown column": lambda: synthesize("--workload", "target:zip:2"),
    "workload bad json": lambda: synthesize("--workload", write("w.json", "[")),
    "workload too big": lambda: synthesize(domain=write("big.json", '{"age": 40000, "sex": 40000, "pay": 2}')),
    "person column": lambda: synthesize("--person-column", "who"),
    "rows per person": lambda: synthesize("--max-rows-per-person", "3"),
    "out is a file": lambda: synthesize(out="people.csv"),
    "out in a file": lambda: synthesize(out="people.csv/out"),
    "number of thousands of digits": lambda: synthesize(
        domain=write("digits.json", '{"version": 1, "attributes": [{"name": "age", "kind": "integer", "upper": 1' + "0" * 5000 + "}]}")
    ),
    "kind is a list": lambda: synthesize(domain=column(kind=["integer"])),
    "name with a space": lambda: synthesize(domain=column(name=" age", kind="integer", lower=0, upper=99)),
    "no edges": lambda: synthesize(domain=column(kind="numeric", lower=0, upper=9, edges=[])),
    "long kind": lambda: synthesize(domain=column(kind="z" * 20_000)),
    "very many categories": lambda: synthesize(domain=column(kind="categorical", categories=[*map(str, range(100_000)), "5"])),
    "very many markers": lambda: synthesize(*(word for number in range(5000) for word in ("--missing", str(number)))),
    "very many rows": lambda: synthesize("--rows", "100000000"),
    "raised two": lambda: synthesize("--workload", "all-\u00b2way"),
    "very many columns at once": lambda: synthesize("--workload", f"all-{'9' * 5000}way"),
    "weights beyond a float": lambda: synthesize("--workload", write("huge.json", weights("1e308"))),
    "weights of many digits": lambda: synthesize("--workload", write("long.json", weights("1" + "0" * 400))),
    "zero byte in a path": lambda: synthesize(data="people\0.csv"),
    "long path": lambda: synthesize(data="p" * 5000),
    "nobody's home": lambda: synthesize(data="~nosuchuser/people.csv"),
    "encoding of names": lambda: synthesize("--encoding", "idna"),
    "text that is no Unicode": lambda: synthesize("--missing", "\ud800"),
    "missing spec": lambda: cli.main(["run", "nowhere.json", "--out", "out"]),
    "bad spec": lambda: cli.main(["run", write("s.json", '{"version": 1}'), "--out", "out"]),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(mistake: str, capsys: pytest.CaptureFixture[str]) -> None:
    began = time.process_time()
    assert MISTAKES[mistake]() == 2
    assert time.process_time() - began < 10  # fractions of a second on a quiet machine
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert len(err) < 500
    assert err.startswith("error: ")
    assert not list(Path().rglob("release.json"))


def test_a_failure_shows_no_text_of_the_exception(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def failing(*_: object) -> None:
        raise ValueError("canary: Ms Smith")

    monkeypatch.setattr(synthesis, "synthesize", failing)
    assert synthesize() == 1
    err = capsys.readouterr().err
    assert "ValueError" in err
    assert "canary" not in err


def test_control_characters_of_a_column_name_never_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    Path("people.csv").write_text("a\x1b[31m,b\n0,1\n1,0\n")
    Path("domain.json").write_text(json.dumps({"a\x1b[31m": 2, "b": 2}))
    synthesize()
    assert "\x1b" not in capsys.readouterr().err


def test_a_file_whose_name_turns_the_writing_direction_gives_a_release_a_name_that_does_not() -> None:
    Path("people.csv").rename("peo\u202eple.csv")
    assert synthesize(data="peo\u202eple.csv") == 0
    assert release()["spec"]["name"] == "peo_ple"


def test_how_the_table_is_written_is_stated_or_said_to_be_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--private-notes") == 0
    stored = capsys.readouterr().err
    assert "assumed, for your eyes only: encoding utf-8, fields separated by comma, quotes end with their line, decimal point" in stored
    rows = Path("people.csv").read_text().replace(",", ";").replace("m;", "é;")
    Path("other.csv").write_bytes(rows.encode("cp1252"))
    Path("other.json").write_text(json.dumps(DOMAIN).replace('"m"', '"é"'))
    stated = ["--encoding", "cp1252", "--delimiter", "semicolon", "--quoting", "none", "--missing", "", "--missing", "-9"]
    stated += ["--decimal", "comma"]
    stated += ["--thousands", "none", "--date-format", "dd.mm.yyyy", "--time-format", "hh:mm"]
    assert synthesize(*stated, "--seed", "1", "--private-notes", data="other.csv", domain="other.json") == 0
    assert "assumed" not in capsys.readouterr().err
    assert set(pd.read_csv("out/synthetic.csv")["sex"]) == {"f", "é"}
    assert release()["spec"]["data"] == {"path": "other.csv", "kind": "csv"}


@pytest.mark.parametrize("others", ["x", "é"])
@pytest.mark.parametrize("letter", [b"\xc3\xa9", b"\xe9", b"\x81", b'"', b"\0", b"3,14", b"13/02/2020", b"0830"])
def test_one_persons_bytes_change_nothing_that_others_are_read_as(letter: bytes, others: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The letters of one person once decided on an encoding, with which everybody was read. They may stop the run, and nothing else."""
    kept = Path("people.csv").read_text().splitlines()[1:]
    table = "".join([f"note,{line},{others}\n" for line in kept])
    town = {"name": "town", "kind": "categorical", "categories": [others], "other": True}
    domain = {**DOMAIN, "attributes": [*DOMAIN["attributes"], town]}
    Path("domain.json").write_text(json.dumps(domain))
    Path("one.csv").write_bytes(b"note,age,sex,pay,town\n" + table.encode() + letter + b",5,f,1," + others.encode() + b"\n")
    counts = ArrowSource(parse_domain(json.dumps(domain)), "one.csv", default_format("one.csv")).counts([("town",), ("sex",)])
    assert counts[("town",)].tolist()[0] >= len(kept), "everybody else's town is read"
    code = synthesize("--mechanism", "independent", "--relation", "replace", data="one.csv")
    said = capsys.readouterr().err
    assert code == 0 or (code == 2 and "the first records suggest" in said), said
    if code == 0:
        assert release()["spec"]["data"] == {"path": "one.csv", "kind": "csv"}


def test_what_cannot_be_read_is_said_before_the_charge_and_in_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("people.csv").open("a") as table:
        table.write('7,f\n"8,f,1\n\n')
    assert synthesize("--population", "people", "--private-notes") == 0
    lines = capsys.readouterr().err.splitlines()
    (warning,) = [number for number, line in enumerate(lines) if "3 lines are malformed (1 of them blank)" in line]
    assert warning < next(number for number, line in enumerate(lines) if line.startswith(("round", "counting")))
    assert not any("malformed" in path.read_text() for path in Path("out").glob("*.json"))


def test_a_table_that_is_damaged_far_down_is_refused_before_the_charge(capsys: pytest.CaptureFixture[str]) -> None:
    pd.read_csv("people.csv").to_parquet("people.parquet", compression="snappy")
    content = bytearray(Path("people.parquet").read_bytes())
    content[300:700] = b"\xff" * 400
    Path("people.parquet").write_bytes(bytes(content))
    assert synthesize("--population", "people", data="people.parquet") == 2
    assert capsys.readouterr().err.startswith("error: data: the file is damaged")
    assert chain.entries() == ()


def test_too_little_memory_to_begin_is_said_at_once_and_nothing_is_charged(place: Path) -> None:
    """Linear algebra never gives up asking for memory while it is loaded, and takes no signal then."""
    given = ["people.csv", "--domain", "domain.json", "--epsilon", "1", "--out", "out", "--population", "people"]
    for arguments in (["verify", "release.zip"], ["synthesize", *given]):
        words = shlex.join([sys.executable, "-m", "dpsynth_core", *arguments])
        limited = ["bash", "-c", f"ulimit -v 400000; exec {words}"]
        done = subprocess.run(limited, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == cli.BAD_INPUT
        assert done.stderr.startswith("error: memory: too little is left for this process to begin: it takes 900 MB; raise the limit")
        assert len(done.stderr.splitlines()) == 1
    assert not (place / "home").exists()


def test_a_package_that_is_missing_is_named_with_its_remedy(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dpsynth_core.release.row_files", None)  # an import of it fails as if it was not there
    assert synthesize() == cli.FAILED
    assert "ModuleNotFoundError" in capsys.readouterr().err  # a mistake of this program, which no installation mends

    def lacking(_: object) -> None:
        raise ModuleNotFoundError("canary", name="sklearn.linear_model")

    monkeypatch.setattr(release_commands, "table_of", lacking)
    monkeypatch.delitem(sys.modules, "dpsynth_core.release.row_files")
    assert synthesize() == cli.BAD_INPUT
    wanted = 'error: packages: sklearn is missing; pip install "dpsynth-studio[models]"; in a checkout: make run\n'
    assert capsys.readouterr().err == wanted


def test_the_ledger_is_used_only_when_asked(place: Path) -> None:
    assert synthesize() == 0
    assert not (place / "home").exists()
    assert synthesize("--population", "people") == 0
    kinds = [entry.kind for entry in chain.entries()]
    assert kinds == ["population", "reserve", "touch"]
    entry = chain.entries()[1]
    assert entry.spec == release()["spec_sha256"]
    assert release()["ledger"]["hash"] == entry.hash
    assert release()["spec"]["population"] == "people"
    assert balance.spent("people").rho == pytest.approx(release()["budget"]["rho"])


def test_the_ledgers_cap_holds_here_too(capsys: pytest.CaptureFixture[str]) -> None:
    ledger.open_population("local", "people", (1.2, 1e-9))
    assert synthesize("--population", "people") == 0
    capsys.readouterr()
    assert synthesize("--population", "people", out="second") == 2
    assert "above its cap" in capsys.readouterr().err.splitlines()[-1]
    assert not Path("second/release.json").exists()


def test_a_mistake_charges_nothing() -> None:
    assert synthesize("--population", "people", "--rows", "0") == 2
    assert synthesize("--population", "people", out="people.csv") == 2
    assert chain.entries() == ()


@pytest.mark.parametrize(("fault", "before"), [(KeyError, cli.FAILED), (MemoryError, cli.BAD_INPUT)])
def test_a_failure_before_reading_gives_the_charge_back_and_one_after_does_not(
    monkeypatch: pytest.MonkeyPatch, fault: type[Exception], before: int
) -> None:
    """That memory is used up is no mistake of the program, and says what to do."""

    def failing(*_: object) -> None:
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr(synthesis, "noise_for", failing)
        assert synthesize("--population", "people") == before
    assert balance.spent("people").rho == 0
    monkeypatch.setattr(synthesis, "open_source", failing)
    assert synthesize("--population", "people") == cli.FAILED
    assert balance.spent("people").rho > 0


def start(*extra: str) -> subprocess.Popen[str]:
    """A run that is charged, with the signals of a shell, whatever ours are."""
    given = ["people.csv", "--domain", "domain.json", "--epsilon", "1", "--out", "out", "--workload", "all-2way", *extra]
    given += ["--set", "column_noise=1000"]  # rounds follow, although there are few people
    command = [sys.executable, "-m", "dpsynth_core", "synthesize", "--population", "people", *given]
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])}
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment, preexec_fn=usual_signals)


def usual_signals() -> None:
    for number in interrupts.SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def stored(process: subprocess.Popen[str], beginning: str) -> bool:
    """Wait for a line of its stderr; False if it ended without."""
    assert process.stderr is not None
    return any(line.startswith(beginning) for line in iter(process.stderr.readline, ""))


def handles(process: subprocess.Popen[str], number: signal.Signals) -> bool:
    """Whether the process has a handler for this signal, as the kernel tells it."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
    return bool(int(status["SigCgt"], 16) >> (number - 1) & 1)


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("counting", signal.SIGINT),
        ("round 0", signal.SIGTERM),
        ("round 1", signal.SIGINT),
        ("round 1", signal.SIGHUP),
        ("writing", signal.SIGTERM),
        ("measuring", signal.SIGINT),
    ],
)
def test_a_signal_after_any_line_ends_the_run_in_order_and_is_never_dropped(line: str, number: signal.Signals) -> None:
    """A check follows each line, so that the run ends there, charged; only after the last lines may the signal come too late for it."""
    process = start("--set", "rounds_per_attribute=40")
    assert stored(process, line)
    process.send_signal(number)
    rest = process.communicate(timeout=SECONDS)[1]
    assert "Traceback" not in rest
    if process.returncode == 0 and line in ("writing", "measuring"):
        assert unpack.read(Path("out/release.zip"))
    else:
        assert process.returncode == cli.INTERRUPTED
        assert rest.splitlines()[-1].startswith("error: interrupted")
        assert not list(Path("out").iterdir())
    assert verified_books.verify().ok
    assert balance.spent("people").rho > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_the_imports_ends_at_once_without_a_traceback(number: signal.Signals) -> None:
    process = start()
    while not handles(process, signal.SIGTERM):  # Python itself has none for this one
        assert process.poll() is None
    process.send_signal(number)
    assert process.communicate(timeout=SECONDS)[1] == "error: interrupted\n"
    assert process.returncode == cli.INTERRUPTED
    assert chain.entries() == ()


def test_a_second_signal_ends_at_once() -> None:
    """The first is noted; the next ends the process wherever it is, here before the step after the line is through."""
    process = start("--set", "rounds_per_attribute=100")
    assert stored(process, "round 1")
    process.send_signal(signal.SIGTERM)
    assert stored(process, "interrupted: ending after this step")
    process.send_signal(signal.SIGTERM)
    assert process.wait(SECONDS) == cli.INTERRUPTED
    assert balance.spent("people").rho > 0


def test_a_killed_run_stays_charged() -> None:
    process = start("--set", "rounds_per_attribute=100")
    assert stored(process, "round")
    process.kill()
    assert process.wait(SECONDS) == -signal.SIGKILL
    assert not Path("out/release.json").exists()
    assert balance.spent("people").rho > 0


def test_the_command_line_starts_without_the_app() -> None:
    """A whole synthesis imports neither Streamlit nor OR-tools, and a mistake is found before NumPy is."""
    code = (
        "import sys; from dpsynth_core import cli; assert 'numpy' not in sys.modules;"
        "status = cli.main(sys.argv[1:]); sys.exit(status or 10 * bool({'streamlit', 'ortools', 'altair', 'sklearn'} & set(sys.modules)))"
    )
    arguments = ["synthesize", "people.csv", "--domain", "domain.json", "--epsilon", "1", "--out", "out", "--workload", "all-1way"]
    environment = {**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2])}
    assert subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True).returncode == 0


# Bundles


def test_a_release_can_be_verified_and_reproduced_from_its_bundle(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "independent") == 0
    capsys.readouterr()
    assert cli.main(["verify", "out/release.zip"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("consistent: ")
    assert sum(line.startswith("passed: ") for line in lines) >= 12
    assert cli.main(["reproduce", "out/release.zip", "--out", "again"]) == 0
    assert Path("again/synthetic.csv").read_bytes() == Path("out/synthetic.csv").read_bytes()
    assert "to the last bit" in capsys.readouterr().err


def test_more_rows_and_rows_of_a_group_are_drawn_from_a_bundle(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "independent", "--certificate", "0.2") == 0
    capsys.readouterr()
    assert cli.main(["sample", "out/release.zip", "--rows", "70", "--where", "sex=f", "--output", "more.csv"]) == 0
    lines = Path("more.csv").read_text().splitlines()
    assert len(lines) == 71
    assert {line.split(",")[lines[0].split(",").index('"sex"')] for line in lines[1:]} == {'"f"'}
    said = capsys.readouterr()
    assert said.out.startswith("Errors were measured of the released rows, ")
    assert said.err.splitlines()[-1] == "done: 70 rows written to more.csv; nothing was charged"
    for form in FORMATS.values():  # also those whose libraries write to a path, where no file may be written
        assert cli.main(["sample", "out/release.zip", "--rows", "9", "--output", f"more{form.ending}"]) == 0, capsys.readouterr().err
        assert Path(f"more{form.ending}").stat().st_size
    assert cli.main(["sample", "out/release.zip", "--rows", "70", "--where", "sex=x", "--output", "none.csv"]) == 2
    assert "column 'sex' has no value 'x'" in capsys.readouterr().err
    assert not Path("none.csv").exists()
    assert cli.main(["sample", "out/release.zip", "--rows", "70", "--output", "none.txt"]) == 2
    assert "has no ending of a known format" in capsys.readouterr().err
    assert cli.main(["sample", "out/release.zip", "--rows", "7", "--output", "new/folder/more.csv"]) == 2
    assert "error: --output: " in capsys.readouterr().err
    assert cli.main(["verify", "out/release.zip", "--report", "people.csv/page.html"]) == 2
    assert "error: --report: " in capsys.readouterr().err


def test_next_years_table_gets_the_same_plan_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "independent", "--population", "residents") == 0
    people = pd.read_csv("people.csv")
    people.assign(income=1).to_csv("people-2026.csv", index=False)
    capsys.readouterr()
    assert cli.main(["next", "out/release.zip", "people-2026.csv", "--out", "plans-2026.json"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == "This table has columns that the plan does not name: “income”. They are left out."
    left = r"Of epsilon 10 for “residents”, 9\.\d+ is left; this plan takes 1 and fits \d+ more times\."
    assert re.fullmatch(left, said.out.splitlines()[1])
    assert "nothing was charged" in said.err
    assert balance.spent("residents").releases == 1
    assert cli.main(["run", "plans-2026.json", "--population", "residents", "--out", "out-2026"]) == 0
    before, after = (json.loads(Path(place, "release.json").read_text()) for place in ("out", "out-2026"))
    assert {**after["spec"], "data": None, "name": None} == {**before["spec"], "data": None, "name": None}
    assert balance.spent("residents").releases == 2


def test_what_changed_between_two_bundles_is_reported_with_the_noise_of_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "gaussian", epsilon="8") == 0
    people = pd.read_csv("people.csv")
    pd.concat([people, *[people[people.sex == "f"]] * 4]).to_csv("people-2026.csv", index=False)
    assert synthesize("--mechanism", "gaussian", data="people-2026.csv", out="out-2026", epsilon="8") == 0
    capsys.readouterr()
    assert cli.main(["compare", "out/release.zip", "out-2026/release.zip", "--report", "changed.html"]) == 0
    said = capsys.readouterr()
    assert re.match(r"About \d+ people before, [\d,]+ after: a change of \+[\d,]+ to \+[\d,]+, with 95% confidence\.", said.out)
    assert "sure to have changed" in said.out
    assert "sex “f”" in Path("changed.html").read_text()
    assert cli.main(["compare", "out/release.zip", "out-2026/release.zip", "--report", "changed.md"]) == 0
    assert Path("changed.md").read_text().startswith("# What changed")
    assert cli.main(["compare", "out/release.zip", "out-2026/release.zip", "--report", "changed.pdf"]) == 2
    assert cli.main(["compare", "out/release.zip", "people.csv", "--report", "none.html"]) == 2
    assert not Path("none.html").exists()


def test_a_question_is_answered_as_a_program_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the same people, by options and by arguments; where a name has "=" in it, by the value behind it."""
    pd.read_csv("people.csv").rename(columns={"sex": "s=x"}).to_csv("people.csv", index=False)
    Path("domain.json").write_text(Path("domain.json").read_text().replace('"sex"', '"s=x"'))
    assert synthesize("--mechanism", "gaussian", epsilon="8") == 0
    made, one, other = dps.open("out/release.zip"), {"s=x": "f"}, {"s=x": "m"}
    pairs: list[tuple[str, Any]] = [
        ("count --of s=x=f", made.ask("count", one)),
        ("share --of s=x=f --of age=20..39", made.ask("share", {"s=x": "f", "age": (20, 39)})),
        ("share --of s=x=f --of s=x=m --among age=20..39", made.ask("share", {"s=x": ["f", "m"]}, among={"age": (20, 39)})),
        ("mean --of age --among s=x=f", made.ask("mean", "age", among=one)),
        ("median --of age --by s=x", made.ask("median", "age", by="s=x")),
        ("difference --of age --among s=x=f --versus s=x=m", made.ask("difference", "age", among=one, versus=other)),
        ("difference --of age=20..39 --among s=x=f --versus s=x=m", made.ask("difference", {"age": (20, 39)}, among=one, versus=other)),
        ("table --of s=x --of age", made.ask("table", ["s=x", "age"])),
    ]
    assert {options.split()[0] for options, _ in pairs} == {*STATISTICS}, "which --help names as well"
    for options, answer in pairs:
        capsys.readouterr()
        assert cli.main(["ask", "out/release.zip", *options.split()]) == 0
        assert capsys.readouterr().out.splitlines() == str(answer).splitlines(), options
    wrong = [
        ("mean", """of: it does not name what a mean is of: one column; write for example --of age, or of="age" in Python"""),
        ("median --of age --of s=x", "write for example --of age, or of="),
        ("share", """write for example --of sex=f, or of={"sex": "f"} in Python"""),
        ("table", """write for example --of age --of sex, or of=["age", "sex"] in Python"""),
        ("difference --of age --among s=x=f", "versus: a difference is between two groups; name both: --among sex=f --versus"),
        ("mean --of old", "of: there is no column 'old'; name one of 'age', 's=x'"),
        ("count --by old", "by: there is no column 'old'; name one of 'age', 's=x'"),
        ("share --of age", "of: 'age' is not COLUMN=VALUE"),
        ("share --of pay=none --among age=20..39", "of: column 'pay' has no value 'none'"),
        ("count --of s=x=f --versus s=x=m", "versus: there is another group in a difference alone, and a count is asked for"),
        ("share --of s=x=f --weighted", "weighted: this release measured no weighted tables"),
        ("mode --of age", "invalid choice: 'mode'"),
    ]
    for options, why in wrong:
        assert cli.main(["ask", "out/release.zip", *options.split()]) == cli.BAD_INPUT
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert why in said.err
    assert cli.main(["ask", "people.csv", "count"]) == cli.BAD_INPUT


def test_next_years_table_with_new_values_is_said_to_the_curator_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """A third of the new table has a value that the plan's list lacks."""
    assert synthesize() == 0
    table = pd.read_csv("people.csv")
    table.loc[: len(table) // 3 - 1, "sex"] = "x"
    table.to_csv("people-2026.csv", index=False)
    capsys.readouterr()
    assert cli.main(["next", "out/release.zip", "people-2026.csv", "--out", "logged.json"]) == 0
    assert "for your eyes only" not in capsys.readouterr().err
    assert cli.main(["next", "out/release.zip", "people-2026.csv", "--out", "asked.json", "--private-notes"]) == 0
    said = "warning, for your eyes only: column 'sex': 33% of the values of the 300 records are not in its list."
    assert said in capsys.readouterr().err
    assert Path("logged.json").read_bytes() == Path("asked.json").read_bytes()


def test_next_years_table_without_a_column_of_the_plan_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "independent") == 0
    pd.read_csv("people.csv").drop(columns="pay").to_csv("people-2026.csv", index=False)
    capsys.readouterr()
    assert cli.main(["next", "out/release.zip", "people-2026.csv", "--out", "plans-2026.json"]) == 2
    said = capsys.readouterr()
    assert "The plan has columns that this table lacks: “pay”." in said.out
    assert "no account of these people" in said.out
    assert said.err.startswith("error: DATA: it lacks columns of the plan: 'pay'")
    assert not Path("plans-2026.json").exists()


def test_the_folder_that_a_run_wrote_points_to_its_bundle(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "independent") == 0
    for command in (["verify", "out"], ["reproduce", "out", "--out", "again"]):
        capsys.readouterr()
        assert cli.main(command) == 2
        error = capsys.readouterr().err
        assert "out/release.zip'" in error
        assert len(error.splitlines()) == 1


def test_a_bundle_that_could_not_be_checked_to_the_end_ends_with_four(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--mechanism", "independent") == 0
    held = files(Path("out/release.zip").read_bytes())
    Path("forged.zip").write_bytes(pack.sealed(held | {"notes.txt": b"x"}))
    capsys.readouterr()
    assert cli.main(["verify", "forged.zip", "--report", "ours.html"]) == 4
    assert Path("ours.html").read_bytes() == held["report.html"]
    *_, last = capsys.readouterr().out.splitlines()
    assert last.startswith("consistent as far as checked; not checked: Do report, cards and tables agree? No bundle can show")


def verify_in_a_terminal(stdout: Any, encoding: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "dpsynth_core", "verify", "out/release.zip"]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, env=environment, check=False)


def test_a_terminal_that_cannot_show_a_letter_is_no_verdict() -> None:
    assert synthesize("--mechanism", "independent") == 0
    done = verify_in_a_terminal(subprocess.PIPE, "ascii")
    assert done.returncode == 0
    assert b"consistent: nothing" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_behind_the_output_is_no_verdict() -> None:
    assert synthesize("--mechanism", "independent") == 0
    with Path("/dev/full").open("wb") as full:
        done = verify_in_a_terminal(full, "utf-8")
    assert done.returncode == 5
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("options", [("--memory", "0"), ("--seconds", "soon"), ("--memory", "1e400")])
def test_limits_are_whole_numbers(options: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["verify", "out/release.zip", *options]) == 2
    assert options[0] in capsys.readouterr().err


def test_a_bundle_that_is_not_consistent_ends_with_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert synthesize("--seed", "1") == 0
    assert cli.main(["verify", "out/release.zip"]) == 1
    assert "NOT CONSISTENT" in capsys.readouterr().out
    shutil.unpack_archive("out/release.zip", "folder")
    rows = Path("folder/synthetic.csv").read_text().splitlines(keepends=True)
    Path("folder/synthetic.csv").write_text("".join([*rows[:-1], rows[1]]))
    assert cli.main(["verify", "folder"]) == 1
    assert cli.main(["reproduce", "folder", "--out", "again"]) == 1
    assert "not the same: rows" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["verify", "people.csv"], ["verify", "nowhere.zip"], ["reproduce", "people.csv", "--out", "again"]])
def test_what_is_no_bundle_is_bad_input(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1


def test_criteria_from_a_file_are_sealed_decided_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    criteria = [
        {"kind": "tables", "limit": 0.0001},
        {"kind": "mean", "column": "age", "among": {"sex": "f"}, "tolerance": 40.0, "importance": "should"},
    ]
    Path("criteria.json").write_text(json.dumps(criteria))
    asked = ("--criteria", "criteria.json", "--criteria-share", "0.2", "--seed", "1")
    assert synthesize("--mechanism", "independent", *asked, epsilon="10") == 0
    made, printed = release(), capsys.readouterr().err
    assert made["spec"]["criteria"] == criteria
    assert made["spec"]["budget"]["criteria"] == 0.2
    assert [one["outcome"] for one in made["criteria"]] == ["not met", "met"]
    assert "criterion: Not met (must): Every table of the workload" in printed
    assert "verdict: Do not publish this as it is. Its only required criterion is not met." in printed
    for wrong, field in (("{", "--criteria"), ('[{"kind": "magic"}]', "criteria.0.kind"), ('{"kind": "tables"}', "criteria")):
        Path("criteria.json").write_text(wrong)
        assert synthesize("--criteria", "criteria.json", out="other") == 2
        error = capsys.readouterr().err.splitlines()
        assert len(error) == 1
        assert error[0].startswith(f"error: {field}")
    assert not Path("other").exists()


def test_help_states_the_shares_that_app_and_python_set_aside() -> None:
    """They are typed a second time, for --help does not wait for the spec."""
    options = command_line.parser().parse_args(["synthesize", "demo", "--epsilon", "1", "--out", "out"])
    stated = [float(getattr(options, name)) for name in ("certificate", "inside", "means")]
    assert stated == [DEFAULT_CERTIFICATE, DEFAULT_INSIDE, DEFAULT_MEANS]


def test_a_port_that_another_program_has_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert cli.main(["studio", "--no-browser", "--port", str(port)]) == cli.BAD_INPUT
    assert f"{port} is not free" in capsys.readouterr().err
