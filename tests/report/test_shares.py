"""No page of a release tells a share of people that cannot be, or a number that is none: of releases as the wizard makes them, and of three
people, where noise is larger than the table."""

from __future__ import annotations

import re

import pytest

from dpsynth_core import report
from dpsynth_core.release.release import Release
from tests.bundle import bundles
from tests.report import wizard

MUSTS = [{"kind": "tables", "limit": 0.1}, {"kind": "subgroup", "where": {"sex": "female"}, "limit": 0.2}]


def of_three_people() -> Release:
    made_of = {"data": {"kind": "standin", "standin": {"rows": 3}}, "budget": {"epsilon": 1.0, "delta": 1e-9, "certificate": 0.05}}
    return bundles.run(bundles.spec(**made_of, criteria=MUSTS, output={"rows": 3}))


def pages(made: Release) -> dict[str, str]:
    """What people read. Numbers of colours and hashes are none of them."""
    parts = {name: report.parts(made)[name].value.decode() for name in (report.REPORT, report.CARD)}
    parts[report.REPORT] = re.sub(r"<style>.*?</style>|<[^>]*>", " ", parts[report.REPORT], flags=re.DOTALL)
    return parts | {"verdict": " ".join(report.quality_of(made).value.claim)}


@pytest.mark.parametrize("name", [*wizard.RELEASES, "three people"])
def test_shares_are_from_0_to_100_percent(name: str) -> None:
    made = of_three_people() if name == "three people" else wizard.RELEASES[name]()
    for page, text in pages(made).items():
        plain = text.replace("\\", "")
        shares = [float(share) for share in re.findall(r"(-?\d+(?:\.\d+)?) ?%", plain.replace(",", ""))]
        assert all(0 <= share <= 100 for share in shares), page
        assert not re.search(r"\b(nan|inf|None)%?\b(?!:)", plain.replace("None of", "").replace("None.", "").replace("None is", "")), page


def test_of_three_people_nothing_is_said() -> None:
    """Noise of about twenty people in every error: the number of people is an estimate, and is said with it."""
    said = pages(of_three_people())
    assert "Nothing can be said of the tables: about" in said["verdict"]
    assert "Publish for" not in said["verdict"]
    assert said["verdict"].startswith("Do not publish this as it is. Not ")  # met or not shown, as the noise fell
