"""A separator may have an attribute that no clique behind it has. What it says is asked for on the other side, and not forgotten."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpsynth_core.inference import marginal_queries
from dpsynth_core.inference.contraction import Contractor
from dpsynth_core.inference.junction_tree import bits
from dpsynth_core.inference.marginal_queries import Queries
from dpsynth_core.inference.pairs import Pairs
from dpsynth_core.inference.structure import Structure
from tests.inference.brute_force import joint, marginal

SIZES = [2, 2, 3, 2, 3, 2, 3, 3, 7]
CLIQUES = [(0, 1), (1, 3), (4, 6), (0, 5), (3, 6), (3, 7), (4, 7), (2, 8), (5, 8)]
"""No fewer attributes were found to have such a separator."""


def _structure() -> Structure:
    structure = Structure(CLIQUES, SIZES)
    tree = structure.tree
    separators = [(set(bits(tree.separator(node))), set(structure.message_labels(node))) for node in range(1, len(tree.nodes))]
    assert any(separator > sent for separator, sent in separators)
    return structure


@pytest.mark.parametrize("cut_cells", [0, 50_000])
@pytest.mark.parametrize("whole_cells", [0, 2**18])
def test_answers_equal_brute_force(cut_cells: int, whole_cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    structure, rng = _structure(), np.random.default_rng(7)
    potentials = [rng.standard_normal([SIZES[a] for a in labels]) for labels in structure.cliques]
    everything = joint(SIZES, structure.cliques, potentials)
    monkeypatch.setattr(marginal_queries, "CUT_CELLS", cut_cells)
    monkeypatch.setattr(marginal_queries, "WHOLE_CELLS", whole_cells)
    monkeypatch.setattr(marginal_queries, "MOST_AXES", 0)  # the table of all cells would answer everything
    queries = Queries(structure, structure.calibrate(potentials), Contractor(SIZES))
    for labels in itertools.chain.from_iterable(itertools.combinations(range(len(SIZES)), many) for many in (1, 2, 3, 4)):
        np.testing.assert_allclose(queries.marginal(labels), marginal(everything, labels), rtol=1e-9, atol=1e-15)
    pairs = Pairs(structure, queries)
    for a, b in itertools.combinations(range(len(SIZES)), 2):
        block = pairs.together[pairs.starts[a] : pairs.starts[a + 1], pairs.starts[b] : pairs.starts[b + 1]]
        np.testing.assert_allclose(block, marginal(everything, (a, b)), rtol=1e-9, atol=1e-15)
