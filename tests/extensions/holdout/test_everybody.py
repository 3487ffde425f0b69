"""Errors, bounds and criteria of a release that leaves people out are about everybody, and what they cost is what is charged."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

import dpsynth_core as dps
from dpsynth_core.bundle.unpack import read_bytes
from dpsynth_core.bundle.verdicts import FAILED, INCONSISTENT
from dpsynth_core.bundle.verify import verify
from dpsynth_core.extensions.holdout import coin
from dpsynth_core.extensions.holdout.coin import Coin
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Integers
from dpsynth_core.release.release import Release
from dpsynth_core.report.explore import knowledge
from dpsynth_core.statistics.coins import OF_COINS
from tests.bundle import pack
from tests.extensions.holdout.test_coin import CLIQUES, COLUMNS, HALF, IN, KEY, OUT, UNITS, People, neighbours, source, tables
from tests.privacy.tables import GlassNoise
from tests.tiers import examples


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path_factory.mktemp("home")))


def answers(people: People, unit: Unit) -> tuple[Integers, Integers, list[Gaussian]]:
    """The exact tables of those who take part and of everybody, as one kernel would protect them, and what it charges for both."""
    glass = GlassNoise()
    kernel = PrivacyKernel(source(people, unit.max_rows_per_person, HALF), unit, 1e3, glass)
    kernel.measure_marginals(list(CLIQUES), 1.0)
    kernel.everybody().measure_marginals(list(CLIQUES), 2.0)
    paid = [event for event in kernel.events if isinstance(event, Gaussian)]
    return glass.seen[0][0].ravel(), glass.seen[1][0].ravel(), paid


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_no_neighbour_is_further_than_is_charged_for_those_in_and_for_everybody(unit: Unit) -> None:
    """Whoever is left out changes the answers about everybody alone; whoever takes part changes both, each by what it costs."""

    @given(tables(unit))
    @examples(6)
    def check(people: People) -> None:
        here = answers(people, unit)
        for name, other in neighbours(people, unit):
            there = answers(other, unit)
            moved = [float(((one - another) ** 2).sum()) for one, another in zip(here[:2], there[:2], strict=True)]
            for distance, event in zip(moved, here[2], strict=True):
                assert distance <= event.l2**2 * (1 + 1e-12)
            if not HALF(name) and (name in other or unit.relation == "add-remove"):
                assert moved[0] == 0

    check()


def test_a_kernel_over_everybody_shares_the_budget_and_knows_no_answers() -> None:
    kernel = PrivacyKernel(source({str(one): (("x", "0"),) for one in range(40)}, 1, HALF), Unit("add-remove", 1, True), 1.0, GlassNoise())
    everybody = kernel.everybody()
    assert everybody.known == ()
    everybody.measure_total(1.0)
    assert kernel.rho_spent == everybody.rho_spent > 0
    assert (kernel.measure_total(10.0), everybody.measure_total(10.0)) == (sum(map(HALF, map(str, range(40)))), 40)


def test_a_kernel_that_counts_everybody_already_stays_as_it_is() -> None:
    kernel = PrivacyKernel(source({str(one): (("x", "0"),) for one in range(5)}), Unit("add-remove", 1, True), 10.0, GlassNoise())
    assert kernel.everybody().measure_total(1.0) == kernel.measure_total(1.0) == 5


ONE = Coin(KEY, 30)
CRITERIA = [
    {"kind": "share", "of": {"a": "x"}, "tolerance": 0.05, "importance": "should"},
    {"kind": "share", "of": {"b": "1"}, "tolerance": 0.05, "importance": "should"},
]


def unlike(people: int = 4_000) -> pd.DataFrame:
    """People of whom all who take part have x, and all who are left out y; no table of one says anything of the other."""
    rng = np.random.default_rng(7)
    left = [ONE(str(one)) for one in range(people)]
    return pd.DataFrame({"person": np.arange(people), "a": np.where(left, "x", "y"), "b": rng.choice(["0", "1", "2"], people)})


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Release:
    monkeypatch.setattr(coin, "of", lambda _: ONE)
    return released(unlike(), mechanism="independent", certificate=0.2, criteria=CRITERIA)


def released(table: pd.DataFrame, **options: Any) -> Release:
    """A release that leaves 30 % out, with noise of a few people."""
    named: dict[str, Any] = {"person": "person", "holdout": 30, "epsilon_reason": "no person of this table exists"}
    return dps.plan(table, COLUMNS, epsilon=60, tables=[["a"], ["b"], ["a", "b"]], **named, **options).run(progress=False).made


def test_errors_and_criteria_are_about_everybody(told: Release) -> None:
    """At epsilon 60 the noise of all numbers is below 1 % of the people, and 30 % of them have what no row has."""
    out = sum(not ONE(str(one)) for one in range(4_000))
    certificate = told.certificate
    assert certificate is not None
    assert abs(certificate.total.value - 4_000) < 40
    assert abs(told.total - (4_000 - out)) < 40
    errors = {one.attributes: one.error for one in certificate.marginals}
    assert abs(errors[("a",)] - out / 4_000) < 0.02
    assert errors[("b",)] < 0.03
    assert [one.outcome for one in told.criteria] == ["not met", "met"]


def test_what_is_answered_is_about_those_who_take_part_and_limits_allow_for_it(told: Release) -> None:
    known, certificate = knowledge(told), told.certificate
    assert certificate is not None
    assert known.total is not None
    assert abs(known.total.value - told.total) < 40
    for one in certificate.marginals:
        limit = known.limits[one.attributes]
        assert limit.alone > one.bound95
        assert limit.alone <= limit.together


def test_bounds_allow_for_the_coin(told: Release) -> None:
    coins, known = told.plan.coins, told.final.known
    assert coins is not None
    assert known is not None
    for clique, bound in told.bounds.items():
        assert bound.paper >= bound.tight >= coins.off(told.domain.cells(clique), known, OF_COINS * 0.05)


def test_a_recipient_finds_nothing_wrong_and_a_forged_number_of_everybody(told: Release) -> None:
    files = dict(pack.contents(told))
    report = verify(read_bytes(pack.sealed(files)))
    assert [check.question for check in report.checks if check.verdict == FAILED] == []

    def surer(document: dict[str, Any]) -> None:
        document["certificate"]["total"]["sigma"] /= 2

    def more(document: dict[str, Any]) -> None:
        document["certificate"]["total"]["value"] *= 1.2

    def tighter(document: dict[str, Any]) -> None:
        document["bounds"][0]["bound95"] *= 0.8

    def of_those_in(document: dict[str, Any]) -> None:
        document["spec"]["extensions"].pop("holdout")

    forgeries: list[Callable[[dict[str, Any]], None]] = [surer, more, tighter, of_those_in]
    for forge in forgeries:
        document = json.loads(files["release.json"])
        forge(document)
        assert verify(read_bytes(pack.sealed(files | {"release.json": json.dumps(document).encode()}))).verdict == INCONSISTENT, forge


@pytest.mark.parametrize("mechanism", ["aim", "mst"])
def test_bounds_hold_for_everybody_in_a_release(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The coins are fixed, and the noise is a few people of 3,000."""
    monkeypatch.setattr(coin, "of", lambda _: ONE)
    table = unlike(3_000).assign(a=np.random.default_rng(3).choice(["x", "y"], 3_000))
    made = released(table, mechanism=mechanism)
    assert len(made.bounds) == 3
    for clique, bound in made.bounds.items():
        stated = made.final.tables[clique]
        truth = np.zeros(stated.shape)  # whose last cells, for other and missing values, have nobody
        counts = table.groupby(list(clique)).size().to_numpy().reshape([len(COLUMNS[name]) for name in clique])
        truth[tuple(map(slice, counts.shape))] = counts / 3_000
        assert np.abs(stated - truth).sum() / 2 <= bound.tight < 0.2


def test_sentences_say_what_is_about_everybody(told: Release) -> None:
    files = pack.contents(told)
    for name in ("report.html", "DATA_CARD.md", "explore.html"):
        assert "about everybody" in files[name].decode(), name


def test_everybody_after_a_choice_of_records_is_that_choice() -> None:
    """The group's records are some of those who take part; asking for everybody adds none to them."""
    people: People = dict.fromkeys((*IN, *OUT), (("x", "0"),))
    glass = GlassNoise()
    kernel = PrivacyKernel(source(people, 1, HALF), UNITS[0], 1e3, glass)
    kernel.among({"a": (0,)}).everybody().measure_marginals([("b",)], 1.0)
    kernel.everybody().among({"a": (0,)}).measure_marginals([("b",)], 1.0)
    assert [int(seen[0].sum()) for seen in glass.seen] == [len(IN), len(IN) + len(OUT)]
