"""What the report says answers what a reader asks: who was protected, how strongly, what was assumed; and it follows the release."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from dpsynth_core import report
from dpsynth_core.evaluation.verdict import WITHHOLD
from dpsynth_core.planning import domain_origin
from dpsynth_core.planning.spec import DataSpec
from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.release.release import Release
from dpsynth_core.report import words
from tests.bundle import bundles
from tests.bundle.bundles import made, run, spec
from tests.report import wizard


@pytest.fixture
def release() -> Release:
    return made()


def test_protection_is_told_in_the_odds_of_the_runs_own_accounting(release: Release) -> None:
    text, odds = " ".join(words.protected(release)), meaning.reading(release.plan.shares.accountant, release.rho)
    for number in (odds.guess, odds.at_1, odds.at_10):
        assert f"{number:.1%}" in text
    assert "ε = 2 and δ = 1e-09" in text
    assert "presence" in text


def test_replacing_protects_what_rows_say_and_not_presence() -> None:
    text = " ".join(words.protected(run(spec(unit={"relation": "replace"}, mechanism={"name": "independent"}))))
    assert "which of two records" in text
    assert "presence" not in text


def test_a_delta_of_its_own_is_counted(release: Release) -> None:
    shares = replace(release.plan.shares, delta=0.5e-9, accountant=ZCDP)
    own = replace(release, plan=replace(release.plan, shares=shares))
    assert words.odds(own) == meaning.reading(ZCDP, release.rho, 1e-9)
    assert "approximate zCDP" in " ".join(words.symbols(own))


def test_symbols_hold_the_numbers_of_the_release(release: Release) -> None:
    text = " ".join(words.symbols(release))
    assert f"ρ = {release.rho:.6g}" in text
    assert "adding or removing" in text


def test_noise_is_told_in_people(release: Release) -> None:
    sigmas = sorted(m.sigma for m in release.measurements)
    assert f"{1.96 * sigmas[-1]:,.0f}" in words.noise(release) or f"{1.96 * sigmas[-1]:.1f}" in words.noise(release)
    assert "±" not in words.noise(replace(release, measurements=()))


def test_every_assumption_is_named(release: Release) -> None:
    text = " ".join(words.assumptions(release))
    assert domain_origin.sentence(release.spec) in text
    assert "nobody that young" in text, "the curator's note on the impossible combination"
    assert "Values that these columns do not list count as a listed value" in text
    assert len(list(words.assumptions(release))) == 7


def test_a_domain_from_the_data_a_public_number_and_a_ledger_are_told() -> None:
    fields = {"unit": {"relation": "replace"}, "domain_origin": "data", "domain_justification": "the form is public"}
    release = run(spec(mechanism={"name": "independent"}, **fields))
    cited = {
        "population": "people",
        "unit": {"relation": "replace", "person_column": None, "max_rows_per_person": 1},
        "cap": {"epsilon": 3.0, "delta": 1e-9},
        "earlier_caps": [{"epsilon": 2.0, "delta": 1e-9}],
        "restored": 0,
    }
    text = " ".join(words.assumptions(replace(release, ledger=cited, private=False)))
    assert domain_origin.sentence(release.spec) in text
    assert "the form is public" in text
    assert text.index("ε = 3 at δ = 1e-09") < text.index("ε = 2 at δ = 1e-09"), "the cap, and the one before"
    assert "whole" not in text
    assert "whole" in " ".join(words.assumptions(replace(release, ledger=cited | {"restored": 1})))
    assert "not private" in text


def test_the_answer_about_other_copies_is_told_and_so_is_that_there_is_none(release: Release) -> None:
    def sentences(**fields: Any) -> str:
        other = release.spec.model_copy(update=fields)
        return " ".join(words.assumptions(replace(release, plan=replace(release.plan, spec=other))))

    people = DataSpec(path="people.csv")
    unanswered, answered = (sentences(data=people, other_copies=answer) for answer in ("", "Totals in the annual report."))
    assert "“Totals in the annual report.”" in answered
    assert "published about the same people" in unanswered
    assert "published about the same people" not in sentences()  # invented people have no other copies


MUSTS = [{"kind": "tables", "limit": 0.1}, {"kind": "subgroup", "where": {"sex": "female"}, "limit": 0.2}]


def of_three_people() -> Release:
    made_of = {"data": {"kind": "standin", "standin": {"rows": 3}}, "budget": {"epsilon": 1.0, "delta": 1e-9, "certificate": 0.05}}
    return bundles.run(bundles.spec(**made_of, criteria=MUSTS, output={"rows": 3}))


def pages(made: Release) -> dict[str, str]:
    """What people read. Numbers of colours and hashes are none of them."""
    parts = {name: report.parts(made)[name].value.decode() for name in (report.REPORT, report.CARD)}
    parts[report.REPORT] = re.sub(r"<style>.*?</style>|<[^>]*>", " ", parts[report.REPORT], flags=re.DOTALL)
    return parts | {"verdict": " ".join(text for _, text in report.verdict_facts(made))}


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
    verdict = report.quality_of(of_three_people()).value.verdict
    assert verdict is not None
    assert verdict.says_nothing
    assert verdict.kind == WITHHOLD
    assert verdict.failed + verdict.unmeasured + verdict.undecided
