"""Releases from before there was a claim: their document has no such part, and their spec no such share; they are read, and are consistent.
Bundles as earlier versions published them, of simulated people, are checked, and their rows open.

When a version is published, a bundle of each kind that it made newly is added to `kept/`. None is ever changed or taken away.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import dpsynth_core as dps
from dpsynth_core.bundle import verdicts
from dpsynth_core.bundle.verdicts import FAILED, REPLAYED
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.cli.command_line import main
from dpsynth_core.foundation.documents import canonical_digest
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.release import document as releases
from tests.additions import listed
from tests.bundle import pack
from tests.bundle.bundles import failed, files, repacked, verified
from tests.golden import goldens
from tests.refusals import refused

NAMES = [claim.name for claim in CLAIMS]
UNMADE = [claim.name for claim in CLAIMS if claim.name not in ("certificate", "weighted") and not claim.setting]
"""Of the release that is tampered with here; a plan without a weight or a setting says nothing of their claims."""


def without(name: str, obj: dict[str, Any]) -> dict[str, Any]:
    part = next(claim.part for claim in CLAIMS if claim.name == name)
    shares = {share: value for share, value in obj["spec"]["budget"].items() if share != name}
    spec = {**obj["spec"], "budget": shares}
    return {**{key: value for key, value in obj.items() if key != part}, "spec": spec, "spec_sha256": canonical_digest(spec)}


@pytest.mark.parametrize("golden", goldens.specs())
@pytest.mark.parametrize("name", NAMES)
def test_what_a_document_does_not_speak_of_was_not_made(name: str, golden: str) -> None:
    whole = json.loads((goldens.folder(golden) / "release.json").read_text(encoding="utf-8"))
    read = releases.from_json(without(name, whole))
    claim = next(claim for claim in CLAIMS if claim.name == name)
    assert read.claims[name] == claim.absent(read.plan)
    assert {other: read.claims[other] for other in NAMES if other != name} == {
        other: stated for other, stated in releases.from_json(whole).claims.items() if other != name
    }
    assert set(releases.to_json(read)) == set(whole)


@pytest.mark.parametrize("golden", goldens.specs())
def test_a_document_that_does_not_say_how_numbers_lie_in_cells_has_it_nowhere(golden: str) -> None:
    whole = json.loads((goldens.folder(golden) / "release.json").read_text(encoding="utf-8"))
    del whole["inside"], whole["spec"]["budget"]["inside"]
    assert releases.from_json(whole).inside == {}


@pytest.mark.parametrize("name", UNMADE)
def test_its_report_states_the_seal_that_was_made(name: str) -> None:
    older = without(name, json.loads((goldens.folder("aim") / "release.json").read_text(encoding="utf-8")))
    kept = goldens.kept("aim")
    read = releases.from_json(older, kept.codes, kept.values)
    assert older["spec_sha256"] != read.spec.digest()
    written = {name: content for name, content in pack.contents(read).items() if name != "release.json"}  # which is written as of today
    for name in ("report.html", "DATA_CARD.md", "data_card.json", *listed("BUNDLE_FILES")):
        assert name in written
    assert any(older["spec_sha256"].encode() in content for content in written.values())
    assert not [name for name, content in written.items() if read.spec.digest().encode() in content]


def bundle(name: str, *, spec: bool) -> bytes:
    """As an older program wrote it. spec: whether the spec says nothing of it either."""

    def change(held: dict[str, bytes]) -> None:
        whole = json.loads(held["release.json"])
        older = without(name, {**whole, "versions": {**whole["versions"], "dpsynth_core": "0.0.1+00000000"}})
        held["release.json"] = json.dumps(older if spec else {**older, "spec": whole["spec"], "spec_sha256": whole["spec_sha256"]}).encode()
        if spec:
            held["spec.json"] = json.dumps(older["spec"]).encode()

    return repacked(change)


@pytest.mark.parametrize("name", UNMADE)
def test_an_older_release_fails_no_check(name: str) -> None:
    report = verified(bundle(name, spec=True))
    said = {check.question: check.verdict for check in report.checks}
    assert said["Is the plan the sealed one?"] == said["Is release.json complete?"] == verdicts.PASSED
    assert verdicts.FAILED not in said.values()


def test_a_claim_that_was_paid_for_cannot_be_left_out() -> None:
    assert "Is release.json complete?" in failed(bundle("certificate", spec=False))


def test_a_sealed_spec_says_nothing_that_a_published_one_leaves_out() -> None:
    def change(held: dict[str, bytes]) -> None:
        whole = json.loads(held["release.json"])
        spec = {**whole["spec"], "data": {**whole["spec"]["data"], "delimiter": ";"}}
        held["release.json"] = json.dumps({**whole, "spec": spec, "spec_sha256": canonical_digest(spec)}).encode()
        held["spec.json"] = json.dumps(spec).encode()

    assert "Is the plan the sealed one?" in failed(repacked(change))


def test_a_spec_that_says_less_than_it_means_is_another_spec() -> None:
    """Leaving out a field without its seal."""

    def change(held: dict[str, bytes]) -> None:
        whole = json.loads(held["release.json"])
        del whole["spec"]["budget"]["ranges"]
        held["release.json"] = json.dumps(whole).encode()

    assert "Is the plan the sealed one?" in failed(repacked(change))


KEPT = {
    "0.1.0-aim.zip": ("17e042625874bd47a0b72d082fc4b299752c94e8b941cc09e0a283995287485b", 40),
    "0.1.0-learnt.zip": ("19a3731558e74ebee7eb07ded2ad9e59ff670fea7e72f6cd0ec6ce0a84a2f5b6", 0),
    "0.1.0-linked.zip": ("0ce11e615d61f5f7e1d1a47957dfe581bbb7d171e3c29dc724ae95ccbe2c4775", 40),
    "0.1.0-mst.zip": ("804eb5d35e2b9b421a7ec98eb606139c6fe7196c70e64360f0e1938ab671dc29", 40),
    "0.1.0-weighted.zip": ("8759477d0cfd859f9dc5766303d295fd2ddfd4670dd39fecd807387d33e51e23", 40),
}
"""Their SHA-256, and how many rows they hold. AIM, with a ledger's signature; values that were learnt, and answers alone; two tables; a
weight and ranges, each table measured by a question of its own. MST, with evidence and programs of 29 November 2026."""
REFUSED = {
    "2ab6137-mst.zip": ("90f18a6b444700c1e56d07388f73b831163c5ef6b36fdea7b6a907b1b2b991b2", "0.1.0+69d83af1"),
    "256e7ab-mst.zip": ("8ed57984c788b79e9619d240a546f56ec48c88e05809556ec9335cedd336755b", "0.1.0+2fddc7f8"),
    "f20a6456-mst.zip": ("16a5399720154b7c3d1d97c19f026c1682fd65224bce71c08790df399eb67386", "0.1.0+7aba7458"),
    "7c3fb199-mst.zip": ("0d2383e4ad5fba1d3caa48037449ad44bd50fc75796cf5f33c9f43b3b077dfa1", "0.1.0+0a609cba"),
}
"""Of commits of 21 and 23 November 2026 and the last ones of the 24th and 25th, which call them sound: their SHA-256, and the version that
they name."""
FOLDER = Path(__file__).with_name("kept")
MAY_BE_OPEN = {
    "Do both tables of rows agree?",
    "Is the guarantee stated as planned?",
    "Are all warnings there?",
    "Do report, cards and tables agree?",
    "Do the bounds follow?",
    REPLAYED,
}
"""What is said in words, which later versions may say otherwise, and what follows from a model that later versions, other processors and
libraries may come to otherwise."""


def test_none_is_changed_or_taken_away() -> None:
    assert {path.name: sha256(path.read_bytes()).hexdigest() for path in FOLDER.iterdir()} == {
        name: kept[0] for name, kept in (KEPT | REFUSED).items()
    }


@pytest.mark.parametrize("name", KEPT)
def test_a_bundle_of_an_earlier_version_is_checked_and_nothing_in_it_is_wrong(name: str) -> None:
    report = verified((FOLDER / name).read_bytes())
    assert [(check.question, check.detail) for check in report.checks if check.verdict == FAILED] == []
    assert set(report.unchecked) <= MAY_BE_OPEN


@pytest.mark.parametrize("name", KEPT)
def test_a_bundle_of_an_earlier_version_opens(name: str) -> None:
    release, rows = dps.open(FOLDER / name), KEPT[name][1]
    assert release.made.spec.budget.epsilon == 1
    assert (0 if release.rows is None else len(release.rows)) == rows


@pytest.mark.parametrize("name", ["0.1.0-aim.zip", "0.1.0-linked.zip"])
def test_errors_of_an_earlier_version_are_distances_and_compared_as_such(name: str) -> None:
    held = files((FOLDER / name).read_bytes())
    lines = held["errors.csv"].decode().splitlines()
    assert lines[0].startswith('"attributes","measured_error"')
    forged = [lines[0], lines[1].replace("0.", "0.9", 1), *lines[2:]]
    held["errors.csv"] = ("\n".join(forged) + "\n").encode()
    report = verified(pack.sealed(held))
    assert [check.question for check in report.checks if check.verdict == FAILED] == ["Do report, cards and tables agree?"]


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("how", ["verify", "reproduce", "open"])
def test_a_bundle_of_a_version_that_is_not_read_is_refused_by_naming_that_version(
    name: str, how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if how == "open":
        said = str(refused(dps.open, FOLDER / name))
    else:
        assert main([how, str(FOLDER / name), *(["--out", str(tmp_path / "again")] if how == "reproduce" else [])]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        said = captured.err
    assert f"of the version '{REFUSED[name][1]}', before 26 November 2026, which this one does not read" in said
    assert "check and read it with that version" in said
    assert not any(word in said for word in ("damaged", "rely", "CONSISTENT"))


def test_a_saved_release_of_a_version_that_is_not_read_is_refused_by_naming_it(tmp_path: Path) -> None:
    """As the page Results reads it, in a directory that an older version wrote."""
    (tmp_path / "release.json").write_bytes(files((FOLDER / "256e7ab-mst.zip").read_bytes())["release.json"])
    refused(releases.load, tmp_path, saying="of the version '0.1.0.2fddc7f8', before 26 November 2026")


def test_what_was_changed_in_a_bundle_that_is_not_read_is_not_called_consistent() -> None:
    held = files((FOLDER / "256e7ab-mst.zip").read_bytes())
    document = json.loads(held["release.json"])
    document["statement"] = "changed"
    refused(verified, pack.sealed({**held, "release.json": json.dumps(document).encode()}), saying="which this one does not read")


def test_a_document_of_today_that_lacks_a_part_is_damaged_or_refused() -> None:
    """Whichever part it is, so that none can be left out to be called older and consistent."""
    held = files((FOLDER / "0.1.0-mst.zip").read_bytes())
    document = json.loads(held["release.json"])
    for part in document:
        less = {name: value for name, value in document.items() if name != part}
        try:
            report = verified(pack.sealed({**held, "release.json": json.dumps(less).encode()}))
        except InputError:
            continue
        assert report.verdict != verdicts.CONSISTENT, part


def test_a_codebook_of_an_earlier_version_may_differ_in_sentences_alone() -> None:
    """What happens to values outside is said in other words; a value that was changed is found."""
    held = files((FOLDER / "0.1.0-aim.zip").read_bytes())
    label = held["codebook.csv"].decode().splitlines()[1].split(",")[3]
    held["codebook.csv"] = held["codebook.csv"].replace(label.encode(), b"another", 1)
    assert "Do report, cards and tables agree?" in failed(pack.sealed(held))
