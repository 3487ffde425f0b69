"""Structural zeros in the engine: fits equal constrained fits by brute force, and rows keep out of impossible cells."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import nnls

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference import rows
from dpsynth_core.inference.estimation import Stopping, estimate
from dpsynth_core.inference.model import from_cliques, labels_of, uniform
from dpsynth_core.inference.refinement import refine
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.inference.brute_force import coded_domain, joint, marginal
from tests.tiers import examples

TOTAL = 1000.0


@st.composite
def domains(draw: st.DrawFn, most: int = 4) -> Domain:
    """Two to `most` attributes of two or three values, with random zeros over one to three sets of them."""
    sizes = draw(st.lists(st.integers(2, 3), min_size=2, max_size=most))
    plain = coded_domain(sizes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    subsets = [c for k in (2, 3) for c in itertools.combinations(plain.names, k)]
    chosen = draw(st.lists(st.sampled_from(subsets), min_size=1, max_size=3, unique=True))
    rules = []
    for clique in chosen:
        cells = np.argwhere(rng.random(plain.sizes(clique)) < 0.35)
        if len(cells):
            rules.append(StructuralZeros(clique, tuple(tuple((int(code),) for code in cell) for cell in cells)))
    assume(rules)
    try:
        return Domain(plain.attributes, tuple(rules))
    except InputError:  # nothing is possible
        assume(False)
        raise


def possible(domain: Domain) -> np.ndarray:
    """Which rows can be, over all attributes."""
    everything = tuple(range(len(domain)))
    table = np.ones(domain.sizes(domain.names), dtype=bool)
    for clique, zeros in domain.zeros.items():
        table = table & ~expand(zeros, labels_of(domain, clique), everything)
    return table


def measured(domain: Domain, rng: np.random.Generator, count: int) -> list[Measurement]:
    """Noisy marginals of a random table that pays no heed to the zeros, as private records may."""
    truth = TOTAL * rng.dirichlet(np.ones(domain.cells(domain.names))).reshape(domain.sizes(domain.names))
    cliques = [c for k in (1, 2) for c in itertools.combinations(domain.names, k)]
    totals = []
    for i in rng.permutation(len(cliques))[:count]:
        sigma = float(rng.uniform(20, 60))
        answer = marginal(truth, labels_of(domain, cliques[i]))
        totals.append(Measurement(cliques[i], rng.normal(answer, sigma), sigma))
    return totals


def projection(domain: Domain, clique) -> np.ndarray:
    """The matrix that sums a flat table over all attributes to the marginal."""
    index = np.ravel_multi_index(
        np.indices(domain.sizes(domain.names)).reshape(len(domain), -1)[list(labels_of(domain, clique))], domain.sizes(clique)
    )
    return (np.arange(domain.cells(clique))[:, None] == index[None, :]).astype(float)


@examples(25)
@given(domains(3), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_a_fit_is_the_best_among_the_distributions_that_keep_to_the_zeros(domain: Domain, count: int, seed: int) -> None:
    measurements = measured(domain, np.random.default_rng(seed), count)
    model = estimate(domain, measurements, TOTAL, stopping=Stopping(iterations=2500, tolerance=0.0))
    fitted = model.marginal(domain.names)
    allowed = possible(domain)
    assert (fitted[~allowed] == 0).all()

    # cells that the zeros rule out inside a measured marginal are a constant of the loss; drop them on both sides
    lines, targets = [], []
    for m in measurements:
        inside = [clique for clique in domain.zeros if set(clique) <= set(m.clique)]
        kept = np.ones(domain.sizes(m.clique), dtype=bool)
        for clique in inside:
            kept &= ~expand(domain.zeros[clique], labels_of(domain, clique), labels_of(domain, m.clique))
        lines.append(projection(domain, m.clique)[kept.reshape(-1)] / m.sigma)
        targets.append(m.values[kept] / m.sigma)
    matrix, target = np.concatenate(lines), np.concatenate(targets)
    weight = 1e4  # holds the total to a millionth
    free = allowed.reshape(-1)
    best, _ = nnls(np.vstack([matrix[:, free], np.full(free.sum(), weight)]), np.append(target, weight * TOTAL), maxiter=10_000)

    def loss(cells: np.ndarray) -> float:
        return 0.5 * float(((matrix @ cells - target) ** 2).sum())

    optimum = np.zeros(free.size)
    optimum[free] = best
    # Mirror descent reaches an optimum at the border only in the limit; a tenth of what the noise of one cell adds to the loss.
    assert loss(fitted.reshape(-1)) <= 1.01 * loss(optimum) + 0.05


@examples(100)
@given(domains(5), st.integers(0, 2**32 - 1))
def test_marginals_equal_brute_force_whatever_the_potentials_say_in_impossible_cells(domain: Domain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = list(itertools.combinations(domain.names, 2))
    empty = from_cliques(domain, [pairs[i] for i in rng.permutation(len(pairs))[:3]], TOTAL, uniform(domain, 1.0).contractor)
    possible_cells = empty.structure.possible
    tables = [3 * rng.standard_normal(t.shape) for t in empty.log_potentials]
    tables = [t if free is None else np.where(free, t, rng.choice([-900.0, 900.0])) for t, free in zip(tables, possible_cells, strict=True)]
    model = type(empty)(empty.folding, empty.structure, tuple(tables), TOTAL, empty.contractor)
    limited = [t if free is None else np.where(free, t, -np.inf) for t, free in zip(tables, possible_cells, strict=True)]
    everything = joint(domain.sizes(domain.names), empty.structure.cliques, limited)
    for k in (1, 2, 3):
        for clique in itertools.combinations(domain.names, min(k, len(domain))):
            answer = model.marginal(clique)
            np.testing.assert_allclose(answer, TOTAL * marginal(everything, labels_of(domain, clique)), rtol=1e-9, atol=1e-9)
            if clique in domain.zeros:
                assert (answer[domain.zeros[clique]] == 0).all()


def test_a_warm_start_keeps_the_zeros_and_what_was_learnt() -> None:
    domain = Domain(coded_domain((3, 3, 2)).attributes, (StructuralZeros(("a0", "a1"), (((0, 1), (2,)),)),))
    rng = np.random.default_rng(0)
    first = estimate(domain, measured(domain, rng, 2), TOTAL, stopping=Stopping(iterations=500))
    whole = Measurement(domain.names, first.marginal(domain.names), 1e6)
    again = estimate(domain, [whole], TOTAL, first, Stopping(iterations=0))
    np.testing.assert_allclose(again.marginal(domain.names), first.marginal(domain.names), atol=1e-9)
    assert (again.marginal(("a0", "a1"))[:2, 2] == 0).all()


@examples(80)
@given(domains(5), st.integers(0, 300), st.integers(0, 2**32 - 1))
def test_no_row_is_impossible_before_or_after_refinement(domain: Domain, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = estimate(domain, measured(domain, rng, 4), TOTAL, stopping=Stopping(iterations=20))
    allowed = possible(domain)
    some = {clique: 1.0 for k in (1, 2) for clique in itertools.combinations(domain.names, k) if rng.random() < 0.4}
    for asked in ({}, some):
        codes = model.rows(n, asked, rng)
        assert allowed[tuple(codes.T)].all()


@examples(60)
@given(domains(5), st.integers(0, 2**32 - 1))
def test_refinement_keeps_out_of_zeros_that_no_target_knows(domain: Domain, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = domain.sizes(domain.names)
    cells = np.argwhere(possible(domain))
    codes = cells[rng.integers(0, len(cells), 200)].astype(np.int32)
    elsewhere = rng.dirichlet(np.ones(int(np.prod(sizes))) * 0.2).reshape(sizes)  # targets that pull into the zeros
    targets = {(a,): marginal(elsewhere, (a,)) for a in range(len(sizes))}
    zeros = {labels_of(domain, clique): table for clique, table in domain.zeros.items()}
    refined = refine(codes, targets, dict.fromkeys(targets, 1.0), sizes, rng, zeros)
    assert possible(domain)[tuple(refined.T)].all()


@examples(80)
@given(domains(5), st.floats(50, 2000), st.integers(0, 2**32 - 1))
def test_rows_stay_possible_when_masses_are_too_small_for_numbers(domain: Domain, scale: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    structure = from_cliques(domain, list(itertools.combinations(domain.names, 2)), TOTAL, uniform(domain, 1.0).contractor).structure
    tables = [np.exp(-rng.uniform(0, scale, [structure.sizes[a] for a in labels])) for labels in structure.cliques]
    limited = [t if free is None else t * free for t, free in zip(tables, structure.possible, strict=True)]
    everything = tuple(range(len(domain)))
    support = np.ones(structure.sizes)
    for labels, table in zip(structure.cliques, limited, strict=True):
        support = support * (expand(table, labels, everything) > 0)
    assume(support.any())
    codes = rows.generate(structure, limited, 100, rng)
    assert support[tuple(codes.T)].all()


class Unlucky(np.random.Generator):
    """Draws 0 each time, so that the least rounding error of a running sum decides who gets a row."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def random(self, size=None):  # type: ignore[override]
        return np.zeros(size)


def test_rounding_gives_no_row_to_a_last_value_without_probability() -> None:
    rng = np.random.default_rng(1)
    conditional = np.concatenate([rng.dirichlet(np.ones(11), 200), np.zeros((200, 1))], axis=1)
    codes = rows.share_out(conditional, rng.integers(0, 200, 5000), Unlucky())
    assert (codes < 11).all()
