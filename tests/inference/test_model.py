"""Message passing by contraction against brute force."""

from __future__ import annotations

import gc
import itertools
import weakref

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dpsynth_core.inference import marginal_queries
from dpsynth_core.inference.contraction import Contractor
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.inference.structure import Structure
from tests.inference.brute_force import coded_domain, joint, marginal
from tests.tiers import examples


@pytest.fixture(autouse=True, params=[0, marginal_queries.WHOLE_CELLS], ids=["along the tree", "of all cells"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to answer queries of a small domain."""
    monkeypatch.setattr(marginal_queries, "WHOLE_CELLS", request.param)


@st.composite
def models(draw, scale: float = 3.0):
    """A random graphical model over up to six attributes of two to four values."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=2, max_size=6))
    attributes = range(len(sizes))
    cliques = draw(st.lists(st.sets(st.sampled_from(attributes), min_size=1, max_size=3), min_size=1, max_size=6))
    structure = Structure([tuple(sorted(c)) for c in cliques], sizes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    potentials = tuple(scale * rng.standard_normal([sizes[a] for a in labels]) for labels in structure.cliques)
    return GraphicalModel(Folding(coded_domain(sizes)), structure, potentials, 100.0, Contractor(sizes))


@examples(150, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(models())
def test_every_marginal_equals_brute_force(model: GraphicalModel) -> None:
    sizes = model.structure.sizes
    p = joint(sizes, model.structure.cliques, model.log_potentials)
    for k in range(1, min(4, len(sizes)) + 1):
        for labels in itertools.combinations(range(len(sizes)), k):
            answer = model.marginal(tuple(model.domain.names[a] for a in labels))
            # Sums of at most 4^6 products in double precision.
            np.testing.assert_allclose(answer, 100.0 * marginal(p, labels), rtol=1e-9, atol=1e-9)


@examples(60, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(models(scale=60.0))
def test_extreme_potentials_are_exact_or_refused(model: GraphicalModel) -> None:
    p = joint(model.structure.sizes, model.structure.cliques, model.log_potentials)
    try:
        marginals = model.calibration.marginals
    except FloatingPointError:
        return
    for labels, table in zip(model.structure.cliques, marginals, strict=True):
        np.testing.assert_allclose(table, marginal(p, labels), rtol=1e-7, atol=1e-12)


@examples(60, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(models(), st.integers(0, 2**32 - 1))
def test_impossible_cells_stay_impossible(model: GraphicalModel, seed: int) -> None:
    rng = np.random.default_rng(seed)
    forbidden = [rng.random(t.shape) < 0.2 for t in model.log_potentials]
    potentials = tuple(np.where(f, -np.inf, t) for f, t in zip(forbidden, model.log_potentials, strict=True))
    if any(np.all(f) for f in forbidden):
        return
    p = joint(model.structure.sizes, model.structure.cliques, potentials)
    if not np.isfinite(p).all():
        with pytest.raises(FloatingPointError):
            model.structure.calibrate(potentials)
        return
    calibration = model.structure.calibrate(potentials)
    for labels, table, f in zip(model.structure.cliques, calibration.marginals, forbidden, strict=True):
        np.testing.assert_allclose(table, marginal(p, labels), rtol=1e-9, atol=1e-12)
        assert (table[f] == 0).all()


def test_a_model_that_is_let_go_leaves_nothing_behind() -> None:
    sizes = [3, 3, 3, 3]
    structure = Structure([(0, 1), (1, 2), (2, 3)], sizes)
    potentials = tuple(np.zeros([sizes[a] for a in labels]) for labels in structure.cliques)
    model = GraphicalModel(Folding(coded_domain(sizes)), structure, potentials, 100.0, Contractor(sizes))
    for pair in itertools.combinations(model.domain.names, 2):
        model.marginal(pair)
    answers = weakref.ref(model.calibration)
    del model
    gc.collect()
    assert answers() is None  # AIM makes a model a round: what one of them kept would add up to gigabytes
