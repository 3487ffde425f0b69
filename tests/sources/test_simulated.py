"""The stand-in has the declared cells, invented shares, dependence of the strength asked for, and no impossible row."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from dpsynth_core.sources import demo, simulated, standins
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import row_marginals
from tests.refusals import refused

ROWS = 20_000
DOMAIN = Domain.from_json({"a": 5, "b": 4, "c": 3, "d": 8})


def dependence(domain: Domain, codes: np.ndarray) -> float:
    """Mean L1 distance of the pairs from independence, as fractions."""
    shares = {
        r: t / len(codes)
        for r, t in row_marginals(domain, codes, [*combinations(domain.names, 2), *((n,) for n in domain.names)]).items()
    }
    return float(np.mean([np.abs(shares[a, b] - np.outer(shares[a,], shares[b,])).sum() for a, b in combinations(domain.names, 2)]))


def test_the_same_seed_gives_the_same_table_and_another_seed_another() -> None:
    once, twice, other = (simulated.simulate(DOMAIN, 100, 0.5, seed) for seed in (1, 1, 2))
    assert once.shape == (100, 4)
    assert once.dtype == np.int32
    np.testing.assert_array_equal(once, twice)
    assert (once != other).any()


def test_skew_is_how_fast_values_get_rarer() -> None:
    """The most common of 5 values at rank^-skew; 0.02 is more than five standard errors of 20,000 rows."""
    for skew in (0.0, 0.8, 2.5):
        most = np.bincount(simulated.simulate(DOMAIN, ROWS, 0.0, skew=skew)[:, 0]).max() / ROWS
        assert most == pytest.approx(1 / (np.arange(1.0, 6.0) ** -skew).sum(), abs=0.02)


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
def test_every_cell_of_any_column_can_occur_and_no_other(strength: float) -> None:
    codes = simulated.simulate(demo.demo_domain(), ROWS, strength)
    assert codes.min(axis=0).tolist() == [0] * 12
    assert (codes.max(axis=0) + 1).tolist() == [attribute.size for attribute in demo.demo_domain()]


def test_single_columns_do_not_depend_on_the_strength() -> None:
    """Marginals are exact quantiles of uniform scores: only sampling moves them. Largest deviation of 20 cells, normal, five sigma."""
    weak, strong = (row_marginals(DOMAIN, simulated.simulate(DOMAIN, ROWS, s), [(n,) for n in DOMAIN.names]) for s in (0.0, 0.9))
    assert max(np.abs(weak[r] - strong[r]).max() for r in weak) / ROWS < 5 * np.sqrt(2 * 0.25 / ROWS)


def test_dependence_grows_with_the_strength_from_none() -> None:
    """Without dependence only sampling noise is left: of the L1 distance of a pair of at most 40 cells about sqrt(40 / ROWS) at most."""
    strengths = [dependence(DOMAIN, simulated.simulate(DOMAIN, ROWS, strength)) for strength in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert strengths[0] < np.sqrt(40 / ROWS)
    assert all(low + 0.05 < high for low, high in pairwise(strengths))


def test_missing_values_and_unlisted_ones_are_rare() -> None:
    domain = Domain((Attribute.categorical("x", ["1", "2"], other=True, missing=True), Attribute.integer("y", 0, 9, missing=True)))
    counts = row_marginals(domain, simulated.simulate(domain, ROWS, 0.3), [("x",), ("y",)])
    rare = np.array([*counts["x",][2:], counts["y",][-1]]) / ROWS
    np.testing.assert_allclose(rare, simulated.RARE, atol=5 * np.sqrt(simulated.RARE / ROWS))  # five standard deviations


RULES = [
    [{"never": {"a": ["0", "1"], "b": ["2"]}}],
    [{"if": {"a": "4"}, "then": {"d": ["7"]}}, {"never": {"b": ["0", "1"], "d": ["7"]}}],
    [{"column": "d", "determines": "a", "values": {str(i): str(i % 5) for i in range(8)}}, {"never": {"a": ["0", "3"], "c": ["0", "1"]}}],
    [{"never": {"a": ["0", "1", "2", "3"], "b": ["0", "1", "2"]}}, {"never": {"a": ["4"], "b": ["0", "1", "2", "3"], "c": ["0", "2"]}}],
]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("strength", [0.0, 0.8])
def test_no_impossible_row_is_ever_drawn_and_every_possible_combination_is(rules: list, strength: float) -> None:
    listed = {"kind": "categorical", "other": False, "missing": False}
    attributes = [{"name": n, **listed, "categories": [str(i) for i in range(DOMAIN[n].size)]} for n in DOMAIN.names]
    domain = Domain.from_json({"version": 1, "attributes": attributes, "impossible": rules})
    codes = simulated.simulate(domain, ROWS, strength)
    counts = row_marginals(domain, codes, list(domain.zeros))
    for clique, impossible in domain.zeros.items():
        assert counts[clique][impossible].sum() == 0
    whole = np.ones(domain.sizes(domain.names), dtype=bool)
    for clique, impossible in domain.zeros.items():
        whole &= ~impossible.reshape([domain[n].size if n in clique else 1 for n in domain.names])
    seen = row_marginals(domain, codes, [domain.names])[domain.names] > 0
    assert not (seen & ~whole).any()
    if strength == 0:
        assert seen.sum() > 0.6 * whole.sum()  # 480 cells at most, 20,000 rows: rare ones may be missing


@pytest.mark.parametrize(("rows", "strength"), [(0, 0.5), (standins.MAX_ROWS + 1, 0.5), (10, -0.1), (10, 1.1), (10, float("nan"))])
def test_sizes_and_strengths_that_make_no_sense_are_refused(rows: int, strength: float) -> None:
    refused(simulated.simulate, DOMAIN, rows, strength)


def test_one_column_is_enough() -> None:
    assert simulated.simulate(Domain.from_json({"a": 3}), 50, 1.0).shape == (50, 1)
