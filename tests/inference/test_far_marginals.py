"""Marginals that take too long to get exactly are counted in many rows of the model instead."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.inference import marginal_queries, model
from dpsynth_core.inference.contraction import Contractor, Program
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.inference.structure import Structure
from tests.inference.brute_force import coded_domain

SIZES = [3, 4, 2, 5, 3, 2]
CLIQUES = [(0, 1, 2), (1, 3), (2, 4), (3, 4), (4, 5)]
TRIPLES = list(itertools.combinations(range(len(SIZES)), 3))
TABLE_ROWS = 100_000


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> GraphicalModel:
    """A model whose marginals all go along the tree, without a short way."""
    monkeypatch.setattr(marginal_queries, "WHOLE_CELLS", 0)
    monkeypatch.setattr(marginal_queries, "CUT_CELLS", 0)
    structure, rng = Structure(CLIQUES, SIZES), np.random.default_rng(4)
    potentials = tuple(rng.standard_normal([SIZES[a] for a in labels]) for labels in structure.cliques)
    return GraphicalModel(Folding(coded_domain(SIZES)), structure, potentials, 100.0, Contractor(SIZES))


@pytest.mark.parametrize("labels", TRIPLES)
def test_the_work_is_known_before_it_is_done(fitted: GraphicalModel, labels: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[float] = []
    compute = Program.result
    monkeypatch.setattr(Program, "result", lambda program, *given: (done.append(program.flops), compute(program, *given))[1])
    queries = marginal_queries.Queries(fitted.structure, fitted.calibration, Contractor(SIZES))
    expected = queries.work(labels)
    assert not done
    queries.marginal(labels)
    assert sum(done) == expected


def test_rows_are_brought_to_what_many_rows_of_the_model_say(fitted: GraphicalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FAR", 1.0), ("MUCH_WORK", 1.0), ("DRAWN_CELLS", len(SIZES) * TABLE_ROWS)):
        monkeypatch.setattr(model, name, value)
    cliques = [tuple(fitted.domain.names[a] for a in labels) for labels in TRIPLES]
    far = fitted._far(cliques)
    assert 0 < len(far) < len(cliques), "those inside a clique are there already"
    drawn = fitted._drawn(fitted.domain, far, TABLE_ROWS, np.random.default_rng(5))
    for clique, shares in drawn.items():
        exact = fitted._folded(clique)
        # Rounding at random errs less than independent rows; six of their deviations and a row fail in less than one run of 10^6.
        assert (np.abs(shares - exact) <= 6 * np.sqrt(exact / TABLE_ROWS) + 1 / TABLE_ROWS).all()
        assert (shares > 0).all(), "no cell is forbidden because no row has it"
    for rows in (500, TABLE_ROWS):  # the second are too many for so few drawn ones
        codes = fitted.rows(rows, dict.fromkeys(cliques, 1.0), np.random.default_rng(6))
        errors = [np.abs(_shares(codes, labels) - fitted._folded(clique)).sum() for labels, clique in zip(TRIPLES, cliques, strict=True)]
        # Independent rows would err by about sqrt(2 cells / (pi rows)) a table, at most 0.28 and 0.02 for the sixty cells of the largest.
        assert np.mean(errors) < (0.1 if rows == 500 else 0.01)


def _shares(codes: np.ndarray, labels: tuple[int, ...]) -> np.ndarray:
    shares = np.zeros([SIZES[a] for a in labels])
    np.add.at(shares, tuple(codes[:, a] for a in labels), 1 / len(codes))
    return shares


@pytest.mark.parametrize("cut_cells", [marginal_queries.CUT_CELLS, 0])
def test_a_tree_may_be_longer_than_calls_are_deep(cut_cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of 1,500 columns, by separators and by messages; what is between two of them is a product of matrices. Seed 7."""
    monkeypatch.setattr(marginal_queries, "CUT_CELLS", cut_cells)
    columns, rng = 1500, np.random.default_rng(7)
    structure = Structure([(a, a + 1) for a in range(columns - 1)], [2] * columns)
    potentials = [rng.normal(size=(2, 2)) for _ in structure.cliques]
    steps = {labels: np.exp(table) for labels, table in zip(structure.cliques, potentials, strict=True)}

    def product(first: int, last: int) -> NDArray[np.float64]:
        whole = np.eye(2)
        for a in range(first, last):
            whole = whole @ steps[a, a + 1]
            whole /= whole.sum()
        return whole

    queries = marginal_queries.Queries(structure, structure.calibrate(potentials), Contractor(structure.sizes))
    for a, b in ((0, columns - 1), (300, 1400), (1, 2)):
        assert queries.work((a, b)) >= 0
        expected = product(0, a).sum(axis=0)[:, None] * product(a, b) * product(b, columns - 1).sum(axis=1)
        assert queries.marginal((a, b)) == pytest.approx(expected / expected.sum(), abs=1e-9)
