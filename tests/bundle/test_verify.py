"""A consistent bundle passes, and every change of what it says is found, also where the forger wrote a new manifest."""

from __future__ import annotations

import io
import json
import math
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import dpsynth_core as dps
from dpsynth_core import report
from dpsynth_core.bundle import unpack, verify
from dpsynth_core.bundle.checks.opened import CsvRows
from dpsynth_core.bundle.reproduce import reproduce
from dpsynth_core.bundle.verdicts import ABSENT, CONSISTENT, FAILED, INCONSISTENT, PARTLY, PASSED, SKIPPED, Report
from dpsynth_core.release import document as releases
from dpsynth_core.release.release import Release
from dpsynth_core.release.rows import HeldRows
from tests.additions import added, listed
from tests.bundle import pack
from tests.bundle.bundles import at, edited, failed, files, made, packed, repacked, run, spec, verified
from tests.refusals import refused
from tests.row_files import parquet_of


def test_a_bundle_as_it_was_made_is_consistent_and_nothing_is_left_unchecked() -> None:
    report = verified(packed())
    assert [(c.question, c.detail) for c in report.checks if c.verdict != PASSED] == [
        ("Is it signed?", "it is unsigned: nothing ties its maker's statements to anybody"),
        ("Do learnt values follow?", "all values were declared"),
        ("Does it follow how numbers lie in their cells?", "rows are spread evenly in their cells, or there are none"),
        ("Do the rows keep to published tables?", "no table was published of the same people"),
        ("Does it follow how often models are right?", "no models were asked for"),
        ("Are the criteria decided rightly?", "no criteria were fixed"),
        ("Does the largest error of a range follow?", "no largest error of a range was measured"),
        ("Do the means of columns follow?", "no means were measured"),
        ("Do weighted tables and weights follow?", "no weighted tables were measured"),
        ("Does the ledger's entry fit the plan?", "no ledger was charged"),
    ]
    assert report.verdict == CONSISTENT
    assert report.sha256 == sha256(packed()).hexdigest()


def test_a_release_without_certificate_or_rules_is_consistent_and_says_what_was_not_checked() -> None:
    plain = {"version": 1, "attributes": made().spec.domain["attributes"]}
    report = verified(pack.pack(run(spec(domain=plain, budget={"epsilon": 1.0, "delta": 1e-9}, mechanism={"name": "independent"}))))
    assert report.verdict == CONSISTENT
    skipped = {check.question for check in report.checks if check.verdict == ABSENT}
    assert {"Are impossible combinations absent?", "Does the certificate add up?"} <= skipped


def test_what_is_missing_in_the_only_column_is_a_row_too() -> None:
    """In CSV it is an empty line, which readers leave out unless they are told."""
    column = {"name": "sex", "kind": "categorical", "categories": ["female"], "other": False, "missing": True}
    domain, workload = {"version": 1, "attributes": [column]}, {"kind": "all", "k": 1}
    release = run(spec(domain=domain, workload=workload, mechanism={"name": "independent"}, output={"rows": 20_000}))
    assert release.table is not None
    assert release.table.column("sex").null_count > 5_000  # men count as missing here, about half of the people
    assert verified(pack.pack(release)).verdict == CONSISTENT


def test_a_column_that_only_the_rows_show_as_not_understood_is_judged_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1,000 people 52 have a listed value, 5.2 %, and of 40 rows mostly 2, 5 %: at most that much counts as not understood."""
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    people = pd.DataFrame({"a": ["x"] * 52 + ["strange"] * 948, "b": ["y", "z"] * 500})
    columns = {"a": {"kind": "categorical", "categories": ["x"]}, "b": ["y", "z"]}
    reason = "The people are invented, and nobody is harmed by what is published about them."
    plan = dps.plan(people, columns, epsilon=1000, epsilon_reason=reason, tables=1, mechanism="independent", rows=40)
    for _ in range(3):
        assert verified(pack.pack(plan.run(progress=False, again=True).made)).verdict != INCONSISTENT


def test_what_is_said_of_a_bundle_knows_its_rows() -> None:
    summary = verified(pack.pack(made())).summary
    assert summary is not None
    assert dict(summary.facts)["Synthetic rows"] == dict(report.facts(made()))["Synthetic rows"]
    assert summary.statement == made().statement
    assert summary.warnings == tuple(report.warnings(made()))


def test_predictable_noise_is_not_consistent() -> None:
    assert failed(pack.pack(run(spec(output={"seed": 1, "rows": 300})))) == ["Is the noise private?"]


def csv(change: Callable[[pd.DataFrame], None]) -> Callable[[dict[str, bytes]], None]:
    """A change of the rows, in both files that have them."""

    def apply(held: dict[str, bytes]) -> None:
        kinds = pq.read_schema(io.BytesIO(held["synthetic.parquet"]))
        frame = pq.read_table(io.BytesIO(held["synthetic.parquet"])).to_pandas()
        change(frame)
        table = releases.pa.Table.from_pandas(frame, schema=kinds, preserve_index=False)
        held["synthetic.csv"] = releases.content_of(HeldRows(table), releases.write_csv)
        held["synthetic.parquet"] = parquet_of(made(), HeldRows(table))

    return apply


def other_sex(frame: pd.DataFrame) -> None:
    frame.loc[0, "sex"] = {"female": "male", "male": "female"}[frame.loc[0, "sex"]]


def with_a_note(held: dict[str, bytes], _: object = None) -> None:
    """Something hidden in the description of the rows in Parquet."""
    table, out = pq.read_table(io.BytesIO(held["synthetic.parquet"])), io.BytesIO()
    pq.write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), "note": "1,237 records"}), out)
    held["synthetic.parquet"] = out.getvalue()


def test_nothing_can_be_hidden_in_what_parquet_says_of_its_rows() -> None:
    assert "Do both tables of rows agree?" in failed(repacked(with_a_note))
    elsewhere = in_other_versions(with_a_note)
    assert "Do both tables of rows agree?" in elsewhere.unchecked
    assert in_other_versions(with_a_note, ("numpy",)).verdict == INCONSISTENT


@pytest.mark.parametrize("manifest", [False, True])
def test_one_changed_row_is_found(manifest: bool) -> None:
    wrong = failed(repacked(csv(other_sex), manifest))
    assert "Do the bounds follow?" in wrong
    assert ("Are the files unchanged?" in wrong) != manifest


def young_widow(frame: pd.DataFrame) -> None:
    frame.loc[0, ["age", "marital_status"]] = [3, "widowed"]


def test_codes_of_one_further_table_at_a_time_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = pack.pack(run(spec(output={"rows": 40, "tables": 4})))
    coded, together = CsvRows.codes, []
    made_before: list[weakref.ref[Any]] = []

    def watched(*given: Any) -> Any:
        together.append(sum(codes() is not None for codes in made_before))
        codes = coded(*given)
        made_before.append(weakref.ref(codes))
        return codes

    monkeypatch.setattr(CsvRows, "codes", watched)
    report = verify.verify(unpack.read_bytes(bundle))
    assert {check.question: check.verdict for check in report.checks}["Are impossible combinations absent?"] == PASSED
    assert together == [0, 1, 1, 1], "the first table stays; each other one is gone before the next is read"


def test_an_impossible_row_is_found_by_name() -> None:
    checks = {check.question: check for check in verified(repacked(csv(young_widow))).checks}
    assert checks["Are impossible combinations absent?"].verdict == FAILED
    assert "age × marital_status" in checks["Are impossible combinations absent?"].detail


@pytest.mark.parametrize(("column", "value"), [("sex", "canary"), ("age", 100), ("age", -1), ("sex", None)])
def test_a_value_outside_the_domain_is_found(column: str, value: object) -> None:
    def change(frame: pd.DataFrame) -> None:
        frame.loc[0, column] = value

    wrong = failed(repacked(lambda held: held.update({"synthetic.csv": with_value(held["synthetic.csv"], change)})))
    assert "Do the rows keep to the domain?" in wrong


def with_value(content: bytes, change: Callable[[pd.DataFrame], None]) -> bytes:
    frame = pd.read_csv(io.BytesIO(content)).astype(object)
    change(frame)
    return frame.to_csv(index=False).encode()


def charged_consistently(document: dict[str, Any]) -> None:
    at("charges", 0, "sigma", by=0.5)(document)
    at("charges", 0, "rho", by=4)(document)


def epsilon(document: dict[str, Any]) -> None:
    document["spec"]["budget"]["epsilon"] = document["budget"]["epsilon"] = 0.5


def epsilon_resealed(document: dict[str, Any]) -> None:
    epsilon(document)
    text = json.dumps(document["spec"], sort_keys=True, separators=(",", ":"))
    document["spec_sha256"] = sha256(text.encode()).hexdigest()


def bound(document: dict[str, Any]) -> None:
    next(b for b in document["bounds"] if b["support"] == "supported")["bound95"] *= 0.9


def certificate(*path: str | int) -> tuple[Callable[[Any], None], str]:
    """Half of a number, or a little more than what is said of columns."""
    return at("certificate", *path, to=lambda was: was + 0.01 if "columns" in path else was / 2), "Does the certificate add up?"


FORGED: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "sigma of a table": (at("measurements", 0, "sigma", by=0.5), "Was the stated noise paid for?"),
    "sigma of a charge": (at("charges", 0, "sigma", by=0.5), "Do the charges stay within ρ?"),
    "sigma and cost of a charge": (charged_consistently, "Do the charges stay within ρ?"),
    "epsilon": (epsilon, "Is the plan the sealed one?"),
    "epsilon and its seal": (epsilon_resealed, "Does ρ imply ε and δ?"),
    "a noisy count": (at("measurements", 0, "values", 0, to=lambda count: count + 1), "Do the bounds follow?"),
    "the words": (at("statement", to=lambda words: words.replace("(2, ", "(0.2, ")), "Is the guarantee stated as planned?"),
    "a bound": (bound, "Do the bounds follow?"),
    "mean error": certificate("mean_error"),
    "noise of the certificate": certificate("sigma"),
    "a certified bound": certificate("marginals", 0, "bound95"),
    "what columns alone were measured to give": certificate("columns", "error"),
    "what Independent comes to at least": certificate("columns", "low95"),
    "noise of the yardstick": certificate("columns", "sigma"),
    "no yardstick": (at("certificate", "columns"), "Does the certificate add up?"),
    "number of rows": (at("rows", "count", to=401), "Do the rows keep to the domain?"),
    "spent": (at("budget", "rho_spent", to=0.001), "Do the charges stay within ρ?"),
    "rho": (at("budget", "rho", to=1.0), "Does ρ imply ε and δ?"),
    "accountant": (at("budget", "accountant", to="zCDP"), "Does ρ imply ε and δ?"),
    "unknown accountant": (at("budget", "accountant", to="PLD"), "Does ρ imply ε and δ?"),
    "an unknown charge": (at("charges", 0, "operation", to="Free"), "Is release.json complete?"),
    "a charge less": (lambda document: document["charges"].pop(), "Do the charges stay within ρ?"),
}


@pytest.mark.parametrize(("change", "question"), FORGED.values(), ids=list(FORGED))
def test_a_forged_number_is_found_though_the_manifest_was_made_anew(change: Callable[[dict[str, Any]], None], question: str) -> None:
    wrong = failed(edited(change))
    assert question in wrong
    assert "Are the files unchanged?" not in wrong


WRITTEN = ["report.html", "DATA_CARD.md", "data_card.json", "errors.csv", "marginals/0001.csv", "codebook.csv", "analysis.ipynb"]
WRITTEN += listed("DESCRIBING_COLUMNS")


@pytest.mark.parametrize("name", [*WRITTEN, "explore.html", *listed("STATING_SOURCES")])
def test_another_word_in_any_file_is_found(name: str) -> None:
    def change(held: dict[str, bytes]) -> None:
        held[name] = held[name].replace(b"2", b"3", 1) if name != "explore.html" else held[name].replace(b'"rows":400', b'"rows":399')

    assert "Do report, cards and tables agree?" in failed(repacked(change))
    assert "Are the files unchanged?" in failed(repacked(change, manifest=False))


def test_missing_and_additional_files_are_found() -> None:
    for change in (lambda held: held.pop("errors.csv"), lambda held: held.update({"virus.exe": b"x"})):
        assert "Are the files unchanged?" in failed(repacked(change, manifest=False))
    assert "Are the files unchanged?" in failed(repacked(lambda held: held.pop(pack.MANIFEST), manifest=False))


def test_many_noisy_tables_have_no_file_each_and_the_files_of_earlier_bundles_are_still_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    with_files, changed = pack.pack(made()), repacked(lambda held: held.update({"marginals/0001.csv": b"x"}))
    monkeypatch.setattr("dpsynth_core.report.table_files.ONE_EACH", 1)
    without = files(pack.pack(made()))
    assert [name for name in without if name.startswith("marginals")] == ["marginals.parquet", "marginals/index.csv"]
    assert without["marginals/index.csv"].count(b"marginals.parquet") == len(made().measurements)
    assert not failed(pack.pack(made()))
    assert not failed(with_files)
    assert "Do report, cards and tables agree?" in failed(changed)


OTHER = {"dpsynth_core": "0.0.9+12345678", "numpy": "1.0"}


def in_other_versions(change: Callable[[dict[str, bytes], dict[str, Any]], object], names: Sequence[str] = tuple(OTHER)) -> Report:
    """The report about a forgery that names other versions, with a manifest that agrees with it."""

    def apply(held: dict[str, bytes]) -> None:
        document = json.loads(held["release.json"])
        document["versions"].update({name: OTHER[name] for name in names})
        change(held, document)
        held["release.json"] = json.dumps(document).encode()

    return verified(repacked(apply))


def test_other_versions_are_no_doubt_where_every_file_comes_out_the_same_here() -> None:
    assert verified(pack.pack(replace(made(), versions={**made().versions, **OTHER}))).verdict == CONSISTENT


def other_file(name: str) -> Callable[[dict[str, bytes], dict[str, Any]], object]:
    """Another number, in a table as a whole: the last digits of one may differ."""
    found, other = (rb",-?\d[\d.]*", b",98765.5") if name in COMPARED else (b"2", b"3")
    return lambda held, _: held.update({name: re.sub(found, other, held[name], count=1)})


COMPARED = ("errors.csv", "marginals/0001.csv", "codebook.csv")
"""Tables, whatever version wrote them; pages of another version are not."""


@pytest.mark.parametrize("name", WRITTEN)
def test_a_forged_file_is_never_consistent_whatever_versions_it_names(name: str) -> None:
    report = in_other_versions(other_file(name))
    assert report.verdict == (INCONSISTENT if name in COMPARED else PARTLY)
    if name not in COMPARED:
        assert report.unchecked == ("Do report, cards and tables agree?",)
        (open_,) = (check.detail for check in report.checks if check.verdict == SKIPPED)
        assert name in open_
        assert "not compared: written by another version; read the report that this program writes from release.json" in open_
    with_numpy = in_other_libraries({name: (b"e", b"a")})  # no digit: the last one of a rounded number may differ
    assert with_numpy.verdict == INCONSISTENT


def in_other_libraries(
    changes: Mapping[str, tuple[bytes, bytes]],
    release: Release | None = None,
    change: Callable[[dict[str, bytes]], object] = lambda _: None,
) -> Report:
    """The report about a bundle whose release names another NumPy and is written as it always is; in each file one piece is replaced."""
    release = release or made()
    held = files(pack.pack(replace(release, versions={**release.versions, "numpy": "1.0"})))
    for name, (ours, theirs) in changes.items():
        assert ours in held[name]
        held[name] = held[name].replace(ours, theirs, 1)
    change(held)
    return verified(pack.sealed(held))


AGREE = "Do report, cards and tables agree?"


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [
        ("release.json", b"{", b"{ "),
        ("release.json", b'"details":', b'"checked": "by everybody",\n "details":'),
        ("explore.html", b'"alone":', b'"alone":1e-9,"was":'),
        ("explore.html", b'"variance":', b'"variance":1'),
        ("report.html", b"<h2>Warnings</h2>", b"<h2>Notes</h2>"),
        ("DATA_CARD.md", b"## Warnings", b"## Notes"),
        ("analysis.ipynb", b"import json", b"import evil"),
        ("reproduce.py", b"import sys", b"import evil"),
    ],
)
def test_other_libraries_are_no_excuse_for_other_numbers_and_sentences(name: str, ours: bytes, theirs: bytes) -> None:
    report = in_other_libraries({name: (ours, theirs)})
    assert [(check.question, check.detail) for check in report.checks if check.verdict == FAILED] == [
        (AGREE, f"they do not say what release.json says: {name}")
    ]


def test_other_libraries_are_no_excuse_for_another_outcome_of_a_criterion() -> None:
    criteria = [{"kind": "tables", "limit": 0.0001}]
    fields = {"workload": {"kind": "all", "k": 1}, "mechanism": {"name": "independent"}, "criteria": criteria}
    release = run(spec(**fields))
    for name, ours, theirs in (("report.html", b"Not met (must)", b"Met (must)"), ("DATA_CARD.md", b"Not met", b"Met")):
        report = in_other_libraries({name: (ours, theirs)}, release)
        assert [check.question for check in report.checks if check.verdict == FAILED] == [AGREE]


def test_an_entry_that_is_there_twice_is_found_in_every_document() -> None:
    for name, first in (("MANIFEST.json", b"{"), ("spec.json", b"{"), ("explore.html", b'{"title":')):
        twice = first.replace(b"{", b'{"title":"x","title":"y",')
        report = verified(repacked(lambda held, n=name, a=first, b=twice: held.update({n: held[n].replace(a, b, 1)}), name == "spec.json"))
        assert report.verdict == INCONSISTENT
    report = in_other_libraries({"explore.html": (b'"few":', b'"few":1,"few":')})
    assert AGREE in [check.question for check in report.checks if check.verdict == FAILED]


def test_the_last_digits_of_other_libraries_are_no_doubt() -> None:
    alone = b'"z":{"alone":1.95996398454'
    assert in_other_libraries({"explore.html": (alone, alone + b"1")}).verdict == CONSISTENT


@pytest.mark.parametrize("name", ["analysis.ipynb", "reproduce.py"])
def test_what_a_reader_would_run_is_ours_whatever_versions_a_bundle_names(name: str) -> None:
    report = in_other_versions(lambda held, _: held.update({name: held[name].replace(b"import ", b"import evil, ", 1)}))
    assert [check.question for check in report.checks if check.verdict == FAILED] == [AGREE]


HIDDEN = {
    "a paragraph": ("report.html", b"</body>", b"<p>Checked by the authority.</p></body>"),
    "a title that is shown on hovering": ("report.html", b"<h2>", b'<h2 title="epsilon 0.01">'),
    "a class": ("report.html", b"<h2>", b'<h2 class="0.01">'),
    "a style": ("report.html", b"</style>", b"p::after{content:'0.01'}</style>"),
    "a word left out": ("report.html", b" not ", b" "),
    "an epsilon": ("report.html", b"(2, 1e-09)-differential", b"(0.01, 1e-09)-differential"),
    "an epsilon by one digit": ("report.html", b"(2, 1e-09)-differential", b"(1, 1e-09)-differential"),
    "a delta": ("report.html", b"(2, 1e-09)-differential", b"(2, 1e-12)-differential"),
    "a delta of zero": ("report.html", b"(2, 1e-09)-differential", b"(2, 0)-differential"),
    "a line of the card": ("DATA_CARD.md", b"## ", b"- Every row is a verified person.\n\n## "),
    "an entry of the card": ("data_card.json", b"{", b'{"checked": true,'),
    "a noisy count": ("marginals/0001.csv", b"\n", b"\n9"),
    "a column": ("codebook.csv", b"\n", b",more\n"),
}


@pytest.mark.parametrize(("name", "ours", "theirs"), HIDDEN.values(), ids=list(HIDDEN))
def test_nothing_hides_where_other_libraries_are_named(name: str, ours: bytes, theirs: bytes) -> None:
    assert AGREE in [check.question for check in in_other_libraries({name: (ours, theirs)}).checks if check.verdict == FAILED]


def test_a_last_digit_of_a_rounded_number_stays_open() -> None:
    number = next(iter(re.findall(rb">\d+\.\d%", files()["report.html"])))
    off = number.replace(number[-2:], b"8%" if number[-2:] == b"9%" else b"%d%%" % (int(number[-2:-1]) + 1))
    report = in_other_libraries({"report.html": (number, off)})
    assert report.verdict == PARTLY
    assert report.unchecked == (AGREE,)


def test_noisy_tables_that_another_library_packed_are_compared_cell_by_cell() -> None:
    def repack(factor: float) -> Callable[[dict[str, bytes]], None]:
        def change(held: dict[str, bytes]) -> None:
            table = pq.read_table(io.BytesIO(held["marginals.parquet"]))
            place = table.column_names.index("noisy_count")
            counts = pc.multiply(table["noisy_count"], factor)
            out = io.BytesIO()
            pq.write_table(table.set_column(place, table.schema.field("noisy_count"), counts), out, compression="gzip")
            held["marginals.parquet"] = out.getvalue()

        return change

    assert in_other_libraries({}, change=repack(1.0)).verdict == CONSISTENT
    assert in_other_libraries({}, change=repack(2.0)).verdict == INCONSISTENT


def test_nothing_is_added_to_the_manifest() -> None:
    def approved(held: dict[str, bytes]) -> None:
        held[pack.MANIFEST] = held[pack.MANIFEST].replace(b"{", b'{"approved": true,', 1)

    assert verified(repacked(approved, manifest=False)).verdict == INCONSISTENT


def test_further_files_are_never_consistent() -> None:
    report = verified(repacked(lambda held: held.update({"virus.exe": b"x"})))
    assert report.verdict == PARTLY
    assert any("virus.exe" in check.detail for check in report.checks if check.verdict == SKIPPED)


PROMISED_TWICE = " It is (0.001, 1e-09)-differentially private for families."


@pytest.mark.parametrize("names", [("numpy",), ("dpsynth_core",)])
@pytest.mark.parametrize(
    ("change", "question"),
    [
        (at("statement", to="This release has epsilon 0.001 and protects whole families."), "Is the guarantee stated as planned?"),
        (at("statement", to=lambda words: words + PROMISED_TWICE), "Is the guarantee stated as planned?"),
        (at("brands", to=[]), "Are all warnings there?"),
        (at("brands", 0, "code", to="fine"), "Are all warnings there?"),
    ],
)
def test_a_forged_promise_or_warning_is_found_whatever_versions_it_names(
    change: Callable[[dict[str, Any]], object], question: str, names: Sequence[str]
) -> None:
    report = in_other_versions(lambda _, document: change(document), names)
    assert report.verdict == INCONSISTENT
    assert question in [check.question for check in report.checks if check.verdict == FAILED]


def test_other_words_of_another_version_stay_open() -> None:
    report = in_other_versions(lambda _, document: document.update(statement="Thus: " + document["statement"]))
    assert report.verdict == PARTLY
    assert "Is the guarantee stated as planned?" in report.unchecked
    only_libraries = in_other_versions(lambda _, document: document.update(statement="Thus: " + document["statement"]), ("numpy",))
    assert only_libraries.verdict == INCONSISTENT


SHOWN = {"output_type": "display_data", "metadata": {}, "data": {"text/html": "<b>All criteria are met.</b>"}}
RUN = {
    "report.html": (b"</body>", [
        b"<script>alert(1)</script>", b"<p onclick='x'>", b'<p class="x" onclick="x">', b"<img src=//a.example>",
    ]),
}  # fmt: skip
"""What a browser would run or load, by file: before what."""
ACTIVE = [
    *((name, before, part + before) for name, (before, parts) in RUN.items() for part in parts),
    *(case for module in added("active_parts") for case in module.ACTIVE),
    ("explore.html", b'"use strict";', b'"use strict";alert(1);'),
    ("explore.html", b"script-src 'sha256-", b"script-src 'unsafe-inline' 'sha256-"),
    ("explore.html", b'"title":"', b'"title":"</script><script>alert(1)</script>'),
    ("explore.html", b"</main>", b"<img src=//a.example></main>"),
]
LOADING = ("![a](https://example.org/a.png)", "see\n<img src='https://example.org/a.png'>", r"\\<img src=x>", r"\\![a][b]", "<!-- -->")


@pytest.mark.parametrize(("name", "ours", "theirs"), ACTIVE)
def test_a_page_that_does_something_is_found_whatever_versions_it_names(name: str, ours: bytes, theirs: bytes) -> None:
    def change(held: dict[str, bytes], _: object) -> None:
        assert ours in held[name]
        held[name] = held[name].replace(ours, theirs, 1)

    report = in_other_versions(change)
    assert [check.question for check in report.checks if check.verdict == FAILED] == ["Are its pages safe to open?"]


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        *(("markdown", {"source": [f"\n{text}"]}) for text in LOADING),
        ("code", {"outputs": [SHOWN]}),
        ("markdown", {"attachments": {"a.svg": {"image/svg+xml": ""}}}),
    ],
)
def test_a_notebook_that_loads_something_or_shows_what_no_cell_printed_is_found_likewise(kind: str, part: dict[str, Any]) -> None:
    def change(held: dict[str, bytes], _: object) -> None:
        notebook = json.loads(held["analysis.ipynb"])
        cell = next(cell for cell in notebook["cells"] if cell["cell_type"] == kind)
        cell.update(part | {"source": [*cell["source"], *part.get("source", ())]})
        held["analysis.ipynb"] = json.dumps(notebook).encode()

    report = in_other_versions(change)
    assert [check.question for check in report.checks if check.verdict == FAILED] == ["Are its pages safe to open?"]


def free_selections(document: dict[str, Any]) -> None:
    """The release of a kernel that forgot to charge what it selected."""
    document["charges"] = [charge for charge in document["charges"] if charge["operation"] != "Selection"]
    document["budget"]["rho_spent"] = math.fsum(charge["rho"] for charge in document["charges"])
    selections = [answer for answer in document["transcript"] if answer["operation"].startswith("select")]
    assert selections
    for answer in selections:
        answer["charges"] = 0


def test_selections_for_which_nothing_was_charged_are_found() -> None:
    forged = edited(free_selections)
    assert "Was the stated noise paid for?" in failed(forged)
    refused(reproduce, unpack.read_bytes(forged), saying="not charged")


def test_a_release_without_its_transcript_is_not_consistent() -> None:
    assert "Was the stated noise paid for?" in failed(edited(lambda document: document.update(transcript=[])))


MALFORMED: dict[str, Callable[[dict[str, Any]], object]] = {
    "no spec": lambda d: d.pop("spec"),
    "spec is text": lambda d: d.update(spec="x"),
    "charge of infinity": lambda d: d["charges"][0].update(sigma=1e400),
}


@pytest.mark.parametrize("change", MALFORMED.values(), ids=list(MALFORMED))
def test_a_document_that_cannot_be_read_is_an_error_and_not_a_crash(change: Callable[[dict[str, Any]], object]) -> None:
    refused(verified, edited(change), saying="bundle")


DAMAGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "no measurements": lambda d: d.pop("measurements"),
    "cells missing": lambda d: d["measurements"][0]["values"].pop(),
    "text for numbers": lambda d: d["measurements"][0].update(sigma="low"),
    "negative noise": lambda d: d["measurements"][0].update(sigma=-1.0),
    "columns unknown": lambda d: d["measurements"][0].update(attributes=["nobody"]),
    "budget is a list": lambda d: d.update(budget=[]),
    "charges of nothing": lambda d: d.update(charges=[{}]),
    "certificate of text": lambda d: d.update(certificate={"of": "rows"}),
    "bounds of text": lambda d: d.update(bounds=["x"]),
    "bounds of strangers": lambda d: d["bounds"][0].update(attributes=["nobody"]),
    "rho of zero": lambda d: d["budget"].update(rho=0),
}


@pytest.mark.parametrize("change", DAMAGED.values(), ids=list(DAMAGED))
def test_damage_fails_a_check_and_is_not_a_crash(change: Callable[[dict[str, Any]], object]) -> None:
    assert failed(edited(change))


def test_an_answer_of_nothing_is_damage_and_not_a_crash() -> None:
    assert failed(edited(lambda document: document["transcript"][0].update(given={})))
