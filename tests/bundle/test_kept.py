"""Bundles as earlier versions published them, of simulated people: this program checks them, finds nothing wrong, and opens their rows.

When a version is published, a bundle of each kind that it made newly is added to `kept/`. None is ever changed or taken away.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

import dpsynth_core as dps
from dpsynth_core.bundle.verdicts import FAILED, REPLAYED
from tests.bundle.bundles import verified

KEPT = {
    "0.1.0-aim.zip": ("17e042625874bd47a0b72d082fc4b299752c94e8b941cc09e0a283995287485b", 40),
    "0.1.0-learnt.zip": ("19a3731558e74ebee7eb07ded2ad9e59ff670fea7e72f6cd0ec6ce0a84a2f5b6", 0),
    "0.1.0-linked.zip": ("0ce11e615d61f5f7e1d1a47957dfe581bbb7d171e3c29dc724ae95ccbe2c4775", 40),
}
"""Their SHA-256, and how many rows they hold. AIM, with a ledger's signature; values that were learnt, and answers alone; two tables."""
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
    assert {path.name: sha256(path.read_bytes()).hexdigest() for path in FOLDER.iterdir()} == {name: kept[0] for name, kept in KEPT.items()}


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
