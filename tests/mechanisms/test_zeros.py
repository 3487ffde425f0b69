"""Structural zeros in whole runs: whatever the records are, no mechanism writes an impossible row or outgrows its capacity."""

from __future__ import annotations

import itertools
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.junction_tree import junction_tree, mask_of
from dpsynth_core.inference.model import labels_of
from dpsynth_core.mechanisms.graphical.models import BYTES_PER_CELL, MEGABYTE, Capacity
from dpsynth_core.mechanisms.registry import get
from dpsynth_core.mechanisms.steps import Finished, Measured
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway, hand_picked
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.additions import added, listed
from tests.mechanisms.offered import TABLES
from tests.mechanisms.runs import DOMAIN, SHORT, ready
from tests.privacy.tables import ArraySource
from tests.tiers import examples

KEEPING = [name for name in TABLES if name not in listed("REFUSE_ZEROS")]
WRITERS = [name for name in KEEPING if get(name).card.makes_rows]
CLIQUES = [c for k in (2, 3) for c in itertools.combinations(DOMAIN.names, k)]

CAPPED = ["aim", "mst", *listed("CAPPED")]
"""Their models may have a size."""
FEW_ROUNDS = {**SHORT, "rap": {**SHORT["rap"], "rounds": 3, "queries": 5}}


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    """The columns a, b, c, d of the other tests with a third of the cells of some pairs and triples impossible."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    chosen = draw(st.lists(st.sampled_from(CLIQUES), min_size=1, max_size=3, unique=True))
    cells = {clique: np.argwhere(rng.random(DOMAIN.sizes(clique)) < 0.3) for clique in chosen}
    rules = [
        StructuralZeros(c, tuple(tuple((int(code),) for code in cell) for cell in impossible))
        for c, impossible in cells.items()
        if len(impossible)
    ]
    try:
        return Domain(DOMAIN.attributes, tuple(rules))
    except InputError:  # nothing is possible
        assume(False)
        raise


def violations(domain: Domain, codes: np.ndarray) -> int:
    return sum(int(zeros[tuple(codes[:, a] for a in labels_of(domain, clique))].sum()) for clique, zeros in domain.zeros.items())


def finished(name: str, domain: Domain, seed: int, relation: str, workload, **given_settings: float) -> Finished:
    """A run over records that pay no heed to the zeros."""
    rng = np.random.default_rng(seed)
    source = ArraySource(domain, rng.integers(0, domain.sizes(domain.names), (2000, len(domain))).astype(np.int32))
    kernel = PrivacyKernel(source, Unit(relation), 0.05, SeededNoise(seed))
    mechanism = replace(ready(name, domain), **given_settings)
    assert mechanism.forecast(workload, 0.05).fits
    last = list(mechanism.steps(kernel, workload))[-1]
    assert isinstance(last, Finished)
    return last


@pytest.mark.parametrize("name", WRITERS)
@examples(8, suppress_health_check=(HealthCheck.differing_executors,))
@given(domains(), st.sampled_from(["add-remove", "replace"]), st.integers(0, 2**32 - 1))
def test_no_synthetic_row_is_impossible(name: str, domain: Domain, relation: str, seed: int) -> None:
    workload = hand_picked(domain, {("a", "d"): 1.0, ("b", "c"): 2.0, ("a", "b", "c"): 1.0})
    with ExitStack() as fits:
        for module in added("mechanisms.haste"):
            fits.enter_context(module.fits_of_steps(30))
        last = finished(name, domain, seed, relation, workload, **FEW_ROUNDS.get(name, {}))
    codes = last.model.rows(300, workload.weights, np.random.default_rng(seed))
    assert len(codes) == 300
    assert violations(domain, codes) == 0


@pytest.mark.parametrize("name", CAPPED)
@examples(12, suppress_health_check=(HealthCheck.differing_executors,))
@given(domains(), st.floats(1.0, 3.0), st.integers(0, 2**32 - 1))
def test_no_model_outgrows_its_capacity_zeros_included(name: str, domain: Domain, room: float, seed: int) -> None:
    workload = all_kway(domain, 2)
    columns = [(column,) for column in domain.names]
    least = Capacity(domain, 80.0).used_mb(columns)
    pairs = [pair for pair in workload.cliques if Capacity(domain, room * least).allows(columns, pair)]
    assume(pairs)
    last = finished(name, domain, seed, "add-remove", workload, max_size_mb=room * least)
    tree = junction_tree([mask_of(labels) for labels in last.model.structure.cliques], domain.sizes(domain.names))
    assert tree.cells(domain.sizes(domain.names)) * BYTES_PER_CELL / MEGABYTE <= room * least * (1 + 1e-9)
    assert all(any(set(zero) <= set(clique) for clique in last.model.cliques) for zero in domain.zeros)
    assert last.details["model_size_mb"] >= least * (1 - 1e-9)


@pytest.mark.parametrize("name", CAPPED)
def test_zeros_that_leave_no_room_for_anything_are_refused_before_the_run(name: str) -> None:
    everywhere = Domain(DOMAIN.attributes, (StructuralZeros(DOMAIN.names, (((0,), (0,), (0,), (0,)),)),))
    needed = DOMAIN.cells(DOMAIN.names) * BYTES_PER_CELL / MEGABYTE
    forecast = replace(get(name), max_size_mb=0.99 * needed).forecast(all_kway(everywhere, 2), 0.05)
    assert not forecast.fits
    assert "impossible combinations" in forecast.reason
    assert replace(get(name), max_size_mb=needed).forecast(all_kway(everywhere, 2), 0.05).fits


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("name", KEEPING)
def test_records_that_contradict_the_domain_are_counted_where_they_are(name: str, relation: str) -> None:
    """Every record is impossible: no error, the same measurements as without the zeros, and the budget is spent just the same."""
    limited = Domain(DOMAIN.attributes, (StructuralZeros(("a", "b"), (((0, 1), (0, 1, 2)),)), StructuralZeros(("c", "d"), (((0,), (0,)),))))
    records = np.zeros((500, 4), dtype=np.int32)
    taken = {}
    for domain in (DOMAIN, limited):
        kernel = PrivacyKernel(ArraySource(domain, records), Unit(relation), 0.05, SeededNoise(3))
        mechanism = ready(name, domain)
        events = list(mechanism.steps(kernel, all_kway(domain, 2)))
        first = [(m.clique, m.values.tolist()) for m in (event.measurement for event in events if isinstance(event, Measured))][:1]
        taken[domain] = (first, kernel.rho_spent)
        if mechanism.card.makes_rows and domain is limited:
            assert violations(domain, events[-1].model.rows(200, {("a", "b"): 1.0}, np.random.default_rng(0))) == 0
    if name != "mwem_pgm":  # its first measurement is chosen with the model's answers, which know the zeros
        assert taken[DOMAIN][0] == taken[limited][0]
    assert taken[DOMAIN][1] == pytest.approx(taken[limited][1], rel=1e-8)


@pytest.mark.parametrize("name", ["gaussian", "residual_planner"])
def test_answers_are_zero_in_impossible_cells_and_what_was_measured_elsewhere(name: str) -> None:
    limited = Domain(DOMAIN.attributes, (StructuralZeros(("a", "b"), (((0, 1), (0, 1)),)),))
    workload = hand_picked(limited, {("a", "b"): 1.0, ("a", "b", "c"): 1.0, ("c", "d"): 1.0})
    kernel = PrivacyKernel(ArraySource(limited, np.zeros((500, 4), dtype=np.int32)), Unit(), 0.05, SeededNoise(4))
    events = list(get(name).steps(kernel, workload))
    taken = {m.clique: m.values for m in (event.measurement for event in events if isinstance(event, Measured))}
    for clique in (("a", "b", "c"), ("c", "d")):  # none contains them
        answer, impossible = events[-1].model.marginal(clique), limited.impossible_cells(clique)
        hidden = np.zeros(answer.shape, dtype=bool) if impossible is None else impossible
        assert hidden.sum() == {("a", "b", "c"): 24, ("c", "d"): 0}[clique]
        assert (answer[hidden] == 0).all()
        assert np.allclose(answer[~hidden], taken[clique][~hidden], rtol=1e-12)
        assert (taken[clique][hidden] != 0).any() == hidden.any()
    assert (events[-1].model.marginal(("a", "b"))[:2, :2] == 0).all()
