"""Sentences about a table before anything is spent: their noise is that of a measured table, and half the budget doubles it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dpsynth_core.planning import example_statements, precision
from dpsynth_core.planning.example_statements import Told, sentence, told
from dpsynth_core.privacy.unit import ADD_REMOVE, Unit
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.workload import all_kway

DOMAIN = Domain(
    (
        Attribute.integer("age", 0, 99, bins=5, other=False, missing=False),
        Attribute.categorical("sex", ["f", "m"], other=False, missing=False),
        Attribute.categorical("smoker", ["no", "yes"], other=False, missing=False),
    )
)
PAIR, TRIPLE = ("sex", "smoker"), ("age", "sex", "smoker")
COUNTS = np.array([[3000.0, 1000.0], [2500.0, 1500.0]])


def test_the_smallest_and_the_largest_table_are_told_of() -> None:
    assert example_statements.tables(all_kway(DOMAIN, 2)) == (PAIR, ("age", "smoker"))
    assert example_statements.tables(all_kway(DOMAIN, 3)) == (TRIPLE,)
    assert example_statements.tables(all_kway(DOMAIN, 1)) == (("sex",), ("age",))


def test_a_count_and_a_share_are_said_of_cells_by_name() -> None:
    counted, share = told(DOMAIN, {PAIR: COUNTS})
    assert counted == Told("People with sex “f”", 4000.0, pytest.approx(np.sqrt(2)), is_share=False)
    assert (share.what, share.value) == ("Share with sex “f” among people with smoker “no”", pytest.approx(3000 / 5500))
    assert [one.is_share for one in told(DOMAIN, {("age",): COUNTS.ravel()})] == [False]


@pytest.mark.parametrize("sigma", [20.0, 60.0])
def test_95_of_100_noisy_numbers_are_as_close_as_is_said(sigma: float) -> None:
    """4,000 draws: the deviation of the count is 0.35 points; three of them are allowed, and half a point for ratios, linearised."""
    seed = 20261127
    rng = np.random.default_rng(seed)
    counted, share = told(DOMAIN, {PAIR: COUNTS})
    noisy = COUNTS + rng.normal(0.0, sigma, (4000, 2, 2))
    people, ratio = noisy.sum(axis=2)[:, 0], noisy[:, 0, 0] / noisy.sum(axis=1)[:, 0]
    for one, drawn in ((counted, people), (share, ratio)):
        within = float((np.abs(drawn - one.value) <= one.margin(sigma)).mean())
        assert abs(within - 0.95) <= 0.016, f"{one.what}: {within}, seed {seed}"


def test_half_of_the_budget_is_said_beside_it_and_costs_nothing() -> None:
    unit = Unit(ADD_REMOVE, 1)
    _, share = told(DOMAIN, {PAIR: COUNTS})
    said = sentence(share, precision.sigma(0.04, unit, 3), precision.sigma(0.01, unit, 3), 0.5)
    found = re.fullmatch(r"Share with sex “f” among people with smoker “no”: 55% ± ([\d.]+) points; at ε 0.5: ± ([\d.]+)\.", said)
    assert found is not None, said
    assert float(found[2]) == pytest.approx(2 * float(found[1]), abs=0.15)  # both are rounded to a tenth


def test_what_the_noise_swallows_is_said_to_be_lost() -> None:
    rare = Told("People with region “north”", 12.0, 1.0, is_share=False)
    assert sentence(rare, 10.0, 20.0, 0.5) == "People with region “north”: 12, but lost in the noise."
    assert sentence(rare, 5.0, 20.0, 0.5) == "People with region “north”: 12 ± 9.8; at ε 0.5: lost in the noise."


def test_names_are_shown_and_not_obeyed() -> None:
    domain = Domain((Attribute.categorical("a\u202e", ["x", "y"], other=False, missing=False),))
    assert "\u202e" not in told(domain, {("a\u202e",): np.array([5.0, 3.0])})[0].what
