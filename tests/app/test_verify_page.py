"""The Verify page: a verdict with a line for every check, whatever is uploaded, and hostile texts that stay texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.bundle import confined, decision, verdicts
from dpsynth_core.sources import demo
from dpsynth_core.store.home import home as home_folder
from dpsynth_core.web.shell.text import WHOLE, literal
from tests.additions import listed
from tests.app.demo_project import open_page, project, words
from tests.bundle import pack, test_signature
from tests.bundle.bundles import DOMAIN, edited, packed, repacked, run, spec, verified
from tests.bundle.test_signature import OTHER, OURS

HOSTILE = "<img src=x onerror=alert(1)> **bold** :smile:"


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page says does not depend on where a bundle was checked."""
    monkeypatch.setattr(confined, "verified", verified)


def shown(content: bytes) -> AppTest:
    app = open_page("verify", project())
    app.file_uploader[0].set_value(("release.zip", content, "application/zip"))
    return app.run()


def outside(app: AppTest) -> list[Any]:
    """What stands on the page at first sight: not in an expander."""
    folded = {id(element) for one in app.expander for element in (*one.markdown, *one.caption)}
    shown = (*app.markdown, *app.caption, *app.success, *app.warning, *app.error, *app.info)
    return [element for element in shown if id(element) not in folded]


def plain(app: AppTest) -> str:
    """The words without the marks that keep texts from being markup."""
    return words(app).replace("\\", "").replace("\u2060", "")


def test_the_page_is_open_before_anything_is_done_and_says_what_to_do() -> None:
    app = open_page("verify", project())
    assert "python -m dpsynth_core verify" in words(app)


def test_a_consistent_bundle_is_called_consistent_with_a_line_per_check() -> None:
    app = shown(packed())
    assert "This bundle is consistent" in app.success[0].value
    lines = [element.value for element in app.markdown if "check_circle" in element.value]
    assert len(lines) == 18


def test_no_fact_that_somebody_decides_by_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    def long(content: bytes, public: Path | None, **_: object) -> verdicts.Report:
        report = verified(content, public=public)
        assert report.summary is not None
        return replace(report, summary=replace(report.summary, facts=(("Verdict", "word " * 500 + "end"),)))

    monkeypatch.setattr(confined, "verified", long)
    assert "word end" in words(shown(packed()))


@pytest.mark.usefixtures("in_this_process")
def test_the_signature_is_named_beside_the_verdict_and_a_known_key_decides() -> None:
    assert "unsigned: nothing ties its maker" in plain(shown(packed()))
    app = shown(test_signature.packed(test_signature.charged()))
    assert f"Signed by {OURS.key}" in plain(app)
    assert "This bundle is consistent" in app.success[0].value
    app.text_input(key="verify_key").set_value(OTHER.key).run()
    assert "not consistent" in app.error[0].value
    assert f"Not signed by the key that was given, but by {OURS.key}" in plain(app)
    app.text_input(key="verify_key").set_value(OURS.key.upper()).run()
    assert "This bundle is consistent" in app.success[0].value
    app.text_input(key="verify_key").set_value("no key").run()
    assert "is not a public key" in app.error[0].value


@pytest.mark.usefixtures("in_this_process")
def test_what_could_not_be_checked_gets_no_tick_and_is_named() -> None:
    app = shown(repacked(lambda held: held.update({"notes.txt": b"x"})))
    assert not app.success
    assert "consistent as far as checked" in app.warning[0].value
    assert any("Do report, cards and tables agree?" in element.value and "Not checked" in element.value for element in outside(app))


@pytest.mark.usefixtures("in_this_process")
def test_a_forged_bundle_is_not_and_the_line_says_why() -> None:
    app = shown(edited(lambda document: document["measurements"][0].update(sigma=1.0)))
    assert "not consistent" in app.error[0].value
    assert any("Was the stated noise paid for" in element.value and "Wrong" in element.value for element in outside(app))
    assert "What the release is" not in [element.value for element in app.subheader], "what it says is not a fact"


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("content", [b"", b"no zip", packed()[:1000]], ids=["empty", "text", "cut"])
def test_what_is_no_bundle_is_an_error_with_a_remedy(content: bytes) -> None:
    app = shown(content)
    assert "Download it again" in app.error[0].value.replace("\u2060", "").replace("\\", "")


@pytest.mark.usefixtures("in_this_process")
def test_hostile_names_and_words_are_never_markup() -> None:
    def change(held: dict[str, bytes]) -> None:
        document = json.loads(held["release.json"])
        document["statement"] = HOSTILE
        document["brands"] = [{"code": "x", "sentence": HOSTILE}]
        held["release.json"] = json.dumps(document).encode()

    text = words(shown(repacked(change)))
    assert HOSTILE not in text
    assert "<img" not in text.replace("\\<", "")


@pytest.mark.usefixtures("in_this_process")
def test_a_bundle_of_answers_is_consistent_too() -> None:
    app = shown(pack.pack(run(spec(mechanism={"name": "gaussian"}, output={}))))
    assert "This bundle is consistent" in app.success[0].value
    assert not any("Not checked" in element.value for element in app.markdown)


@pytest.mark.parametrize("mechanism", ["aim_public", *listed("PUBLIC_CHECKS")])
def test_with_the_public_table_the_mechanism_is_run_again_and_the_file_is_gone_afterwards(
    mechanism: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "twin.csv"
    demo.simulate(rows=150, seed=4).to_csv(table, index=False)
    domain = {"version": 1, "attributes": DOMAIN["attributes"][:2]}
    plan = spec(domain=domain, mechanism={"name": mechanism}, public={"path": str(table)}, output={}, unit={"relation": "replace"})
    seen: list[Path | None] = []

    def here(bundle: bytes, public: Path | None = None, **_: object) -> verdicts.Report:
        seen.append(public)
        assert public is None or (public.stat().st_mode & 0o777, public.parent.parent) == (0o600, home_folder())
        return verified(bundle, public)

    monkeypatch.setattr(confined, "verified", here)
    app = shown(pack.pack(run(plan)))
    assert "consistent as far as checked" in app.warning[0].value
    app.file_uploader[1].set_value(("twin.csv", table.read_bytes(), "text/csv"))
    app.run()
    assert "This bundle is consistent" in app.success[0].value
    assert [path is not None and path.exists() for path in seen] == [False, False]
    assert seen[1] is not None
    assert not seen[1].parent.exists()


@pytest.mark.usefixtures("in_this_process")
def test_a_decision_is_signed_saved_and_checked_again() -> None:
    app = shown(packed())
    app.button(key="decision_sign").click().run()
    assert "no answer is chosen" in app.error[0].value, "nothing is decided yet"
    assert "**Your name**: it is empty" in decided(app, "").error[0].value  # the field is named as the form calls it
    decided(app, "Ann [Ross](x)")
    signed = app.session_state["decided"]
    assert signed.bundle == hashlib.sha256(packed()).hexdigest()
    assert signed.code in words(app)
    assert literal("Ann [Ross](x)") in words(app), "a name is not a link"
    app.file_uploader[2].set_value(("decision.json", decision.to_json(signed), "application/json")).run()
    assert not any("decision" in element.value for element in app.success), "anyone can write a file whose code fits"
    assert any("does not prove the signer's name" in element.value for element in app.info)
    app.text_input(key="decision_code").set_value(signed.code.upper()).run()
    assert any("whose code you entered" in element.value for element in app.success)
    app.text_input(key="decision_code").set_value("0" * 64).run()
    assert any("not the decision whose code you entered" in element.value for element in app.error)
    assert len(app.success) == 1, "the bundle's"
    forged = decision.to_json(signed).replace(b"teaching", b"gambling")
    app.file_uploader[2].set_value(("forged.json", forged, "application/json")).run()
    assert any("changed after it was signed" in element.value for element in app.error)
    app.file_uploader[0].set_value(("other.zip", repacked(lambda held: held.update({"notes.txt": b"x"})), "application/zip")).run()
    assert signed.code not in words(app), "another bundle is not decided"
    assert not app.button(key="decision_sign").disabled


@pytest.mark.usefixtures("in_this_process")
def test_signing_comes_after_what_the_release_is_and_warns_of_and_before_the_checks_that_are_right() -> None:
    app = shown(packed())
    assert [element.value for element in app.subheader] == ["What the release is", "Decide and sign"]
    folded = ["18 checks, all right; 10 had nothing to check", "The release's statements"]
    labels = [one.label for one in app.expander]
    assert labels[labels.index(folded[0]) :][:2] == folded
    assert not any(one.proto.expanded for one in app.expander)
    report = verified(packed())
    assert report.summary is not None
    text = " ".join(element.value for element in outside(app))
    assert all(literal(line, WHOLE) in text for line in (*(line for _, line in report.summary.brief), *report.summary.warnings))


@pytest.mark.usefixtures("in_this_process")
def test_an_officer_reads_little_before_signing() -> None:
    """It was four times as much before checks and facts were folded."""
    assert len(" ".join(element.value for element in outside(shown(packed()))).split()) <= 200


def test_each_running_check_is_named_while_a_bundle_is_checked() -> None:
    running = verdicts.Running("Do the rows keep to the domain?", 9, 23)
    assert running.sentence == "Check 9 of 23: Do the rows keep to the domain?"
    assert "takes longest" in verdicts.Running(verdicts.REPLAYED, 23, 23).sentence


def decided(app: AppTest, name: str = "Ann Ross") -> AppTest:
    app.radio(key="decision_answer").set_value(decision.PUBLISH)
    app.text_area(key="decision_reason").set_value("The tables are good enough for teaching.")
    app.text_input(key="decision_name").set_value(name)
    app.text_input(key="decision_role").set_value("Data protection officer")
    return app.button(key="decision_sign").click().run()


def test_a_decision_is_open_again_where_the_same_bundle_comes_to_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a public table the mechanism runs again: what was left open when somebody signed may then turn out wrong."""
    report = verified(packed())
    left = report.replayed(verdicts.Check(verdicts.REPLAYED, verdicts.SKIPPED, "it needs the public table"))
    wrong = report.replayed(verdicts.Check(verdicts.REPLAYED, verdicts.FAILED, "the mechanism comes to something else"))
    monkeypatch.setattr(confined, "verified", lambda _, public=None, **__: left if public is None else wrong)
    app = decided(shown(packed()))
    signed = app.session_state["decided"]
    assert signed.code in words(app)
    app.file_uploader[1].set_value(("public.csv", b"a", "text/csv")).run()
    assert signed.code not in words(app)
    assert app.radio(key="decision_answer").options == ["Do not publish"]


def test_a_decision_that_this_check_contradicts_is_never_green(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also not with its own code: the bundle is the same, and what is found in it is not."""
    report = verified(packed())
    wrong = report.replayed(verdicts.Check(verdicts.REPLAYED, verdicts.FAILED, "the mechanism comes to something else"))
    monkeypatch.setattr(confined, "verified", lambda *_, **__: wrong)
    signed = decision.of(report, decision.PUBLISH, "It is good enough for teaching.", "Ann", "Officer", date(2026, 11, 23))
    app = shown(packed())
    app.file_uploader[2].set_value(("decision.json", decision.to_json(signed), "application/json")).run()
    app.text_input(key="decision_code").set_value(signed.code).run()
    assert not app.success
    assert any("must not be relied on" in element.value for element in app.warning)
    assert any("was consistent" in element.value and "here it is not consistent" in element.value for element in app.warning)


@pytest.mark.usefixtures("in_this_process")
def test_more_rows_of_a_published_bundle_are_drawn_or_refused_by_name() -> None:
    app = shown(packed())
    app.number_input(key="sampled_rows").set_value(70)
    app.text_area(key="sampled_where").set_value("sex=female\nage=20 to 39")
    app = app.button(key="draw_rows").click().run()
    assert "Errors were measured of the released rows" in plain(app)
    assert "Download 70 rows as CSV" in [one.label for one in app.get("download_button")]
    app.text_area(key="sampled_where").set_value("age=0 to 19\nmarital_status=widowed")
    app = app.button(key="draw_rows").click().run()
    assert "the plan says that 'age' '0 to 19' and 'marital_status' 'widowed' cannot be" in plain(app)


@pytest.mark.usefixtures("in_this_process")
def test_a_bundle_that_is_wrong_gives_no_rows() -> None:
    app = shown(edited(lambda document: document["budget"].update(rho=document["budget"]["rho"] * 2)))
    assert "More rows, or rows of a group" not in [one.label for one in app.expander]
