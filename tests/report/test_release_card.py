"""The release card states what the release states, for every kind of release, and its names are never markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from dpsynth_core import report
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.release.release import Release
from dpsynth_core.report.release_card import WIDTH, release_card
from dpsynth_core.statistics.distances import percent
from tests.bundle.bundles import made
from tests.report import wizard

HOSTILE = "</text><script>alert(1)</script>&"
_SVG = "{http://www.w3.org/2000/svg}"


def card_of(release: Release, *, alone: bool = True) -> ET.Element:
    judged = report.quality_of(release).value
    return ET.fromstring(release_card(release, judged.headline, judged.verdict, alone=alone))


def texts(card: ET.Element) -> list[str]:
    return [str(one.text) for one in card.iter() if one.tag.rpartition("}")[2] == "text"]


def test_it_states_people_protection_verdict_error_date_and_the_plan() -> None:
    release, judged = made(), report.quality_of(made()).value
    said = " ".join(texts(card_of(release)))
    assert judged.verdict is not None
    assert release.spec.name[:40] in said
    assert f"ε {release.spec.budget.epsilon:g}" in said
    assert percent(judged.headline.mean) in said
    assert percent(judged.headline.mean_limit) in said
    assert report.ruling(judged.verdict, 3).split(".")[0][:60] in said
    assert release.plan.mechanism.card.title in said
    assert release.created in said
    assert release.spec.digest()[:12] in said


def test_a_release_of_an_older_document_is_cited_by_the_plan_that_was_sealed() -> None:
    """Its digest differs from that of the fields which this version adds, and the report cites it too."""
    assert f"plan {'ab' * 6} (SHA-256)" in texts(card_of(replace(made(), sealed="ab" * 32)))[-1]


@pytest.mark.parametrize("kind", wizard.RELEASES)
def test_every_kind_of_release_has_a_card_within_its_frame(kind: str) -> None:
    release = wizard.RELEASES[kind]()
    for alone in (True, False):
        card = card_of(release, alone=alone)
        height = float(str(card.get("viewBox")).split()[3])
        lines = [one for one in card.iter() if one.tag.rpartition("}")[2] == "text"]
        assert all(0 < float(str(one.get("y"))) < height for one in lines)
        assert all(float(str(one.get("x"))) < WIDTH for one in lines)
        assert max(len(str(one.text)) for one in lines) <= 100
        assert card.get("aria-label")
    column = [(float(str(one.get("y"))), float(str(one.get("x")))) for one in lines]
    assert len(set(column)) == len(column), "no text stands on another"


def test_names_are_text_and_a_picture_alone_needs_nothing_from_elsewhere() -> None:
    release = made()
    named = replace(release, plan=replace(release.plan, spec=release.spec.model_copy(update={"name": HOSTILE})))
    judged = report.quality_of(release).value
    drawn = release_card(named, judged.headline, judged.verdict, alone=True)
    assert "<script" not in drawn
    assert HOSTILE[:30] in " ".join(texts(ET.fromstring(drawn)))
    assert ET.fromstring(drawn).tag == f"{_SVG}svg"
    assert not re.search(r"(href|url\(|@import)", drawn)


def test_a_release_with_predictable_noise_says_on_its_card_that_it_is_not_private() -> None:
    seeded = replace(made(), private=False)
    judged = report.quality_of(made()).value
    drawn = release_card(seeded, judged.headline, judged.verdict)
    assert "Not private" in drawn
    assert 'class="side no"' in drawn


def test_the_card_is_released_and_opens_the_report() -> None:
    picture = report.release_picture(made())
    assert picture.zone is Zone.RELEASED
    page = report.report_page(made()).value.decode()
    assert page.index('class="release-card"') < page.index('class="first"')
