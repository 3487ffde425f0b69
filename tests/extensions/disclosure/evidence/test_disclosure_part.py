"""evidence.json states the shares of release.json."""

from __future__ import annotations

from dpsynth_core.extensions.disclosure.evidence_part import statement
from dpsynth_core.extensions.evidence.files import document
from tests.bundle.bundles import run, spec
from tests.extensions.disclosure import test_uniques as uniques
from tests.extensions.disclosure.test_disclosure import INVENTED, released, stated


def test_shares_are_those_of_the_release() -> None:
    (first, second) = document(released())["disclosure"]
    one = stated(released()).questions[0]
    assert (first["target"], first["known"]) == ("health", ["age", "sex", "marital_status"])
    assert first["rightly"] == {"estimate": one.rightly.value, "low": one.rightly.low95, "high": one.rightly.high95}
    assert first["named"]["high"] == one.named.high95
    assert second["wrongly"]["low"] == stated(released()).questions[1].wrongly.low95


def test_people_who_are_alone_are_those_of_the_release() -> None:
    (first, second) = document(uniques.released())["uniques"]
    one = uniques.stated(uniques.released()).alone[0]
    assert first["known"] == list(one.keys)
    assert first["alone"] == {"estimate": one.share.value, "low": one.share.low95, "high": one.share.high95}
    assert second["confidence"] == 0.95


def test_a_release_without_questions_has_no_such_part() -> None:
    assert statement(run(spec(**INVENTED))) == {}
