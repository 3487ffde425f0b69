"""Every mechanism as a whole, audited on each build; runs with a mistake, which the same audits find; specs that are too large."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from dpsynth_core.extensions.audit.evidence import FALSE_ALARM, Accounted, Finding, smallest_visible
from dpsynth_core.extensions.audit.losses import Losses
from dpsynth_core.extensions.audit.mechanisms import MOST_VALUES, Configuration, examine, invented_spec
from dpsynth_core.extensions.audit.neighbours import Neighbours, worst_cases
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.mechanisms.graphical import models
from dpsynth_core.mechanisms.registry import MECHANISMS
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.accountant import GDP, ZCDP, Accountant
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Noise
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from tests.additions import added, listed
from tests.extensions.audit.broken import HalfNoise, HardlyAnyNoise, priced_for_one_row
from tests.refusals import refused
from tests.specs import usual

LEVEL = FALSE_ALARM / 400
"""As in test_operations."""
LARGE, SMALL, DELTA = 8.0, 1.0, 1e-6
"""epsilon: of mechanisms that are fast enough for hundreds of runs, where half the noise shows; of the others, where noise shows that is
nearly or wholly missing, which takes 50 runs."""
RELATIONS = ("add-remove", "replace")
UNITS = [{"relation": r, "max_rows_per_person": rows, "person_column": "person"} for r in RELATIONS for rows in (1, 2)]
QUICK: dict[str, dict[str, float]] = {
    "aim": {"rounds_per_attribute": 2, "reserve_rounds": 2},
    "aim_public": {"rounds_per_attribute": 2, "reserve_rounds": 2},
    "rap": {"relaxed_rows": 20, "rounds": 1},
    "gem": {"rounds": 2, "latent": 2, "hidden": 2, "batch": 4, "train_steps": 1},
    "oraclequery": {"rounds": 3, "records": 4},
    "mwem": {"rounds": 5},
    "privsyn": {"passes": 1},
}
"""Settings with which a run takes milliseconds."""
MANY = {"gaussian": 1000, "independent": 400, "residual_planner": 400}
FEW = {"rap": 50, "learn": 400}
OTHERS = 100


def configured(name: str, unit: dict[str, Any]) -> Configuration:
    """Over two columns of two values: what a build has time for."""
    spec = invented_spec(name, {"epsilon": LARGE if name in MANY else SMALL, "delta": DELTA}, unit, QUICK.get(name, {}))
    domain = Domain.from_json({"a": 2, "b": 2})
    return Configuration.of(spec.model_copy(update={"domain": domain.to_json(), "workload": all_kway(domain, 2).to_json()}))


def audited(name: str, unit: dict[str, Any], noise: Noise, draws: int, **options: Any) -> list[Finding]:
    configuration = configured(name, unit)
    pair = worst_cases(configuration.plan.domain, configuration.plan.unit)[0]
    return examine(configuration, pair, noise, draws, LEVEL, **options)[0]


@pytest.fixture
def rough_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits see answers only. The audit looks at the kernel's answers, and they are no less private where a fit ends early."""
    for module in added("mechanisms.haste"):
        module.rough(monkeypatch)
    exact = models.estimate

    def rough(*known: Any) -> GraphicalModel:
        *facts, stopping, folding, columns = known
        return exact(*facts, replace(stopping, iterations=3), folding, columns)

    monkeypatch.setattr(models, "estimate", rough)


@pytest.mark.usefixtures("rough_fits")
@pytest.mark.parametrize("name", MECHANISMS)
def test_no_mechanism_tells_more_than_its_budget(name: str) -> None:
    """Each under one unit of privacy, the four in turn: noise is the kernel's, and its operations are audited under all four."""
    place = list(MECHANISMS).index(name)
    findings = audited(name, UNITS[place % 4], SeededNoise(place), MANY.get(name, FEW.get(name, OTHERS)))
    assert not any(finding.broken for finding in findings)
    assert len(findings) == 2


def test_how_much_a_build_sees() -> None:
    """95 times of 100, as multiples of the mu that is claimed: twice it, which is half the noise, from 400 draws on. At the small epsilon
    few draws see only what is far above it, but anything that gives a person away for certain."""

    def multiple(accountant: Accountant, epsilon: float, draws: int) -> float:
        claim = Accounted(accountant, accountant.rho_from(epsilon, DELTA))
        return math.sqrt(smallest_visible(claim, draws, LEVEL) / claim.rho)

    assert multiple(GDP, LARGE, 1000) < 1.7
    assert multiple(GDP, LARGE, 400) < 2.1
    for accountant in (GDP, ZCDP):
        assert multiple(accountant, SMALL, OTHERS) < 16
        assert multiple(accountant, SMALL, min(FEW.values())) < math.inf


@pytest.mark.parametrize(("name", "draws"), [("gaussian", 1000), ("residual_planner", 500)])
def test_half_the_noise_is_found_in_a_whole_mechanism(name: str, draws: int) -> None:
    assert audited(name, UNITS[0], HalfNoise(2), draws)[0].broken


def test_a_person_with_two_rows_who_is_taken_for_one_with_one_is_found_in_a_whole_mechanism() -> None:
    assert audited("gaussian", UNITS[3], SeededNoise(2), 1000, kernels=priced_for_one_row)[0].broken


@pytest.mark.parametrize("name", ["mst", *listed("HARDLY_ANY_NOISE_SHOWS")])
def test_a_mechanism_with_hardly_any_noise_is_found_with_the_draws_of_a_build(name: str) -> None:
    assert audited(name, UNITS[0], HardlyAnyNoise(2), FEW.get(name, OTHERS))[0].broken


def test_a_guess_at_the_loss_of_a_run_is_the_loss() -> None:
    """Of Gaussian noise, where it is known: the mean is mu^2/2 with the person and -mu^2/2 without, within 5 standard errors. Seeded."""
    configuration = configured("gaussian", UNITS[0])
    pair = worst_cases(configuration.plan.domain, configuration.plan.unit)[0]
    losses, noise, draws = Losses(pair), SeededNoise(3), 2000
    half = configuration.plan.shares.mechanism
    for sign, table in zip((-1, 1), pair.tables, strict=True):
        mean = sum(configuration.run(table, noise, losses).loss for _ in range(draws)) / draws
        assert mean == pytest.approx(sign * half, abs=5 * math.sqrt(2 * half / draws))


def test_the_curve_of_plain_noise_is_the_promised_one() -> None:
    """Of Gaussian noise alone the audit's test is the best one, so that all of the charge is found: within 4 standard errors. Seeded.

    Noise is in whole numbers, and where it is hardly wider than one person (epsilon 8), part of the charge buys nothing.
    """
    domain = Domain.from_json({"a": 2, "b": 2})
    spec = invented_spec("gaussian", {"epsilon": 4.0, "delta": DELTA}, UNITS[0], {})
    changed = {"domain": domain.to_json(), "workload": all_kway(domain, 2).to_json()}
    configuration = Configuration.of(spec.model_copy(update=changed))
    pair = worst_cases(configuration.plan.domain, configuration.plan.unit)[0]
    _, found = examine(configuration, pair, SeededNoise(4), 1500, LEVEL)
    assert found.mu_charged == pytest.approx(math.sqrt(2 * configuration.plan.shares.mechanism))
    assert found.mu == pytest.approx(found.mu_charged, abs=4 * (found.mu_high - found.mu_low) / 3.92)


def test_the_worst_cases_differ_by_all_that_one_person_may_own() -> None:
    domain = Domain.from_json({"a": 3, "b": 2})
    for relation, moved in (("add-remove", 3), ("replace", 6)):
        for pair in worst_cases(domain, Unit(relation, 3)):
            without, with_person = (table.count(("a", "b")) for table in pair.tables)
            assert abs(with_person - without).sum() == moved


@pytest.mark.parametrize(
    ("relation", "before", "after"), [("add-remove", 1, 1), ("replace", 0, 1), ("replace", 1, 3), ("add-remove", 0, 3)]
)
def test_tables_that_are_no_neighbours_are_refused(relation: str, before: int, after: int) -> None:
    domain = Domain.from_json({"a": 2})
    refused(Neighbours.of, "nobody", domain, Unit(relation, 2), [], [(0,)] * before, [(1,)] * after, kind=ValueError, saying="neighbours")


# Specs


def large(**changes: Any) -> Spec:
    domain = Domain.from_json({"age": 90, "sex": 2, "region": 12, "job": 30, "married": 2})
    document = usual(
        {"path": "/nowhere/at/all.csv"}, domain.to_json(), population="somebody", k=3,
        budget={"epsilon": 1.0, "delta": 1e-9, "certificate": 0.05},
    )
    return Spec.from_json(document | changes)


def test_a_large_spec_is_audited_on_a_small_part_of_it_with_words_about_it() -> None:
    """And its file, which does not exist, is not looked for."""
    configuration = Configuration.of(large())
    assert configuration.plan.domain.names == ("age", "sex", "region")
    assert all(attribute.size <= MOST_VALUES for attribute in configuration.plan.domain)
    assert configuration.plan.workload.domain == configuration.plan.domain
    assert {*map(len, configuration.plan.workload.cliques)} == {1, 2, 3}
    assert "5 columns" in configuration.left_out[0]
    assert "certificate" in configuration.left_out[-1]
    assert configuration.claims[0].claimed == pytest.approx(0.95 * Plan.of(large()).shares.rho)


def test_a_small_spec_is_audited_as_it_is() -> None:
    domain = Domain.from_json({"a": MOST_VALUES, "b": 2, "c": 2})
    spec = large(domain=domain.to_json(), workload={"kind": "all", "k": 2}, budget={"epsilon": 1.0, "delta": 1e-9})
    configuration = Configuration.of(spec)
    assert configuration.plan.domain == domain
    assert configuration.left_out == ()


def test_what_cannot_run_is_refused_as_a_plan_is() -> None:
    refused(Configuration.of, large(mechanism={"name": "aim_public", "settings": {}}), kind=CapacityError, saying="public table")
    refused(Configuration.of, large(budget={"epsilon": -1.0, "delta": 1e-9}), saying="epsilon")
