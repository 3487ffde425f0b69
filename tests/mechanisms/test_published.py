"""`preset=paper`: the constants are those that the papers print, and what they make runs, is charged in full view and can be configured."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpsynth_core.mechanisms.graphical.models import CONVERGED
from dpsynth_core.mechanisms.mechanism import Mechanism, UsesPublic
from dpsynth_core.mechanisms.registry import MECHANISMS, PUBLISHED, configured, describe, get, settings
from dpsynth_core.mechanisms.rounds import equal_shares, least_error_shares
from dpsynth_core.mechanisms.steps import Finished, Measured, Unmoved
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.offered import TABLES
from tests.mechanisms.runs import DOMAIN, people, ready
from tests.refusals import refused

PAPER = {"preset": "paper"}
PAIRS = all_kway(DOMAIN, 2)
QUICK: dict[str, dict[str, Any]] = {
    "dqrs": {"rounds": 40},
    "rap": {"relaxed_rows": 50, "rounds": 2, "queries": 3},
    "gem": {"rounds": 3, "latent": 4, "hidden": 8, "batch": 20},
    "fem": {"rounds": 3, "records": 5},
    "sepfem": {"rounds": 3, "records": 5},
}


def published(name: str) -> Any:
    return configured(get(name), PAPER)


def quick(name: str) -> Any:
    """As published, but for sizes with which a run ends at once."""
    mechanism: Any = configured(get(name), PAPER | QUICK.get(name, {}))
    return replace(mechanism, descent=replace(mechanism.descent, steps=20)) if name == "rap" else mechanism


def run(mechanism: Mechanism, rho: float = 0.05, relation: str = "add-remove") -> tuple[PrivacyKernel, list[Any]]:
    kernel = PrivacyKernel(people(), Unit(relation), rho, SeededNoise(3))
    return kernel, list(mechanism.steps(kernel, PAIRS))


def test_aim_has_the_constants_of_algorithm_4() -> None:
    """McKenna et al. 2022, Algorithm 4, line 3: MAX-SIZE = 80 MB, T = 16 d, alpha = 0.9; Algorithm 3 ends with two rounds' budget left."""
    aim = published("aim")
    assert (aim.max_size_mb, aim.rounds_per_attribute, aim.measure_share, aim.reserve_rounds) == (80.0, 16, 0.9, 1)
    assert aim.merge_below == 0
    assert aim.strategies.divide is equal_shares
    assert aim.strategies.shown(DOMAIN, ("a", "b"), np.zeros((4, 3)), 2.0) == math.sqrt(2 / math.pi) * 2.0 * 12
    assert aim.strategies.wide == math.inf
    assert aim.strategies.fitting.between == aim.strategies.fitting.final == CONVERGED
    assert aim.card.accountant is ZCDP  # section 2.2


def test_aim_as_published_begins_with_one_sigma_and_epsilon_for_sixteen_rounds_a_column() -> None:
    """Lines 4, 7 and 9: sigma_0 = sqrt(T / (2 alpha rho)), eps = sqrt(8 (1 - alpha) rho / T)."""
    kernel, steps = run(published("aim"), rho=0.05)
    rounds, first = 16 * len(DOMAIN), [step.measurement for step in steps if isinstance(step, Measured) and step.round == 0]
    assert [m.sigma for m in first] == pytest.approx([math.sqrt(rounds / (2 * 0.9 * 0.05))] * len(DOMAIN))
    finished = steps[-1]
    assert finished.selections[0].eps == pytest.approx(math.sqrt(8 * 0.1 * 0.05 / rounds))
    chosen = finished.selections[0].chosen
    clique = finished.selections[0].measurement.clique
    expected = math.sqrt(2 / math.pi) * finished.selections[0].measurement.sigma * DOMAIN.cells(clique)  # line 14
    assert chosen.offset == pytest.approx(expected)
    assert isinstance(finished.model, Unmoved)
    assert kernel.rho_spent == pytest.approx(0.05, rel=1e-8)


def test_mst_merges_below_three_sigma_and_divides_by_three() -> None:
    """McKenna, Miklau and Sheldon 2021, section 3."""
    assert published("mst").merge_below == 3.0
    assert [share for _, share in published("mst").split(PAIRS, False)] == [1 / 3] * 3


@pytest.mark.parametrize("name", ["independent", "gaussian"])
def test_baselines_of_the_aim_paper_are_accounted_under_zcdp(name: str) -> None:
    """McKenna et al. 2022, sections 2.2 and 6.1."""
    assert published(name).card.accountant is ZCDP


@pytest.mark.parametrize("name", sorted(set(PUBLISHED) & set(TABLES)))
def test_every_published_mechanism_runs_within_its_budget(name: str) -> None:
    mechanism = quick(name)
    if isinstance(mechanism, UsesPublic):
        mechanism = mechanism.informed_by(ready(name).public)  # type: ignore[attr-defined]
    kernel, steps = run(mechanism, rho=0.01)
    assert sum((event.cost for event in kernel.events), Fraction(0)) <= Fraction(0.01)
    finished = steps[-1]
    assert isinstance(finished, Finished)
    if mechanism.card.makes_rows:
        codes = finished.model.rows(50, PAIRS.weights, np.random.default_rng(1))  # type: ignore[attr-defined]
        assert codes.shape == (50, len(DOMAIN))


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_a_preset_is_a_complete_setting_that_reads_back_as_itself(name: str) -> None:
    complete = settings(get(name), PAPER)
    assert complete["preset"] == "paper"
    assert configured(get(name), complete) == PUBLISHED[name] == configured(get(name), json.loads(json.dumps(complete)))
    assert PUBLISHED[name].card.title == f"{get(name).card.title} (as published)"
    assert get(name).card.differences  # what the default does otherwise


def test_the_default_preset_changes_nothing_and_is_not_written_down() -> None:
    assert settings(get("aim"), {"preset": "default"}) == settings(get("aim"), {})
    assert configured(get("aim"), {"preset": "default"}) == get("aim")


def test_what_is_changed_of_the_published_constants_is_in_the_title() -> None:
    changed = configured(get("aim"), PAPER | {"max_size_mb": 200})
    assert changed.card.title == "AIM (as published, but for max_size_mb)"
    assert changed == replace(PUBLISHED["aim"], max_size_mb=200.0, card=changed.card)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - set(PUBLISHED)))
def test_what_no_paper_prints_has_no_preset_and_says_why(name: str) -> None:
    refused(configured, get(name), PAPER, saying=r"mechanism\.preset: no paper prints")
    assert next(one for one in describe() if one["name"] == name)["as_published"] is None


def test_an_unknown_preset_is_refused() -> None:
    refused(settings, get("aim"), {"preset": "papre"}, saying="'papre' is unknown; use default or paper")


def test_equal_shares_are_one_sigma() -> None:
    weights = {(name,): 1.0 for name in DOMAIN.names}
    assert set(equal_shares(DOMAIN, weights).values()) == {0.25}
    assert set(least_error_shares(DOMAIN, weights).values()) != {0.25}
