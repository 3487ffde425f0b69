"""Attributes whose values follow from another one's: tables on the way have one axis for both, and answers stay as they are."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.inference import marginal_queries
from dpsynth_core.inference.arithmetic import Arithmetic
from dpsynth_core.inference.contraction import Contractor, Labels, Program, Table
from dpsynth_core.inference.junction_tree import bits
from dpsynth_core.inference.marginal_queries import Queries
from dpsynth_core.inference.structure import Structure
from tests.inference.brute_force import joint, marginal

SIZES = [6, 4, 2, 6, 3, 2, 2, 3]
CLIQUES = [(0, 2), (0, 4), (1, 5), (1, 2), (4, 5), (4, 6), (3, 6), (6, 7), (2, 7)]
TIED: dict[Labels, list[int]] = {(0, 4): [0, 0, 1, 1, 2, 2], (1, 5): [0, 1, 1, 0], (3, 6): [0, 1, 0, 1, 0, 1], (4, 6): [0, 1, 1]}
"""Of the first's values the second's: 4 and 6 follow from 0, which is a chain, and 6 from 3 as well."""
CYCLE: dict[Labels, list[int]] = {(4, 7): [2, 0, 1], **TIED}
"""With each of 4 and 7 following from the other."""
SETS = [labels for many in range(1, 5) for labels in itertools.combinations(range(len(SIZES)), many)]


def _answers(tied: dict[Labels, list[int]]) -> tuple[Queries, NDArray[np.float64]]:
    zeros = {labels: np.arange(SIZES[labels[1]]) != np.array(places)[:, None] for labels, places in tied.items()}
    structure, rng = Structure(CLIQUES, SIZES, zeros), np.random.default_rng(8)
    potentials = [rng.standard_normal([SIZES[a] for a in labels]) for labels in structure.cliques]
    allowed = [np.where(zeros[c], -np.inf, t) if c in zeros else t for c, t in zip(structure.cliques, potentials, strict=True)]
    return Queries(structure, structure.calibrate(potentials), Contractor(SIZES)), joint(SIZES, structure.cliques, allowed)


@pytest.mark.parametrize("tied", [TIED, CYCLE, dict(reversed(TIED.items()))])
@pytest.mark.parametrize("cut_cells", [0, 50_000])
def test_answers_equal_brute_force(tied: dict[Labels, list[int]], cut_cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marginal_queries, "WHOLE_CELLS", 0)
    monkeypatch.setattr(marginal_queries, "CUT_CELLS", cut_cells)
    queries, everything = _answers(tied)
    for labels in SETS:
        np.testing.assert_allclose(queries.marginal(labels), marginal(everything, labels), rtol=1e-9, atol=1e-15)


def test_a_value_travels_without_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marginal_queries, "WHOLE_CELLS", 0)
    monkeypatch.setattr(marginal_queries, "CUT_CELLS", 0)
    done: list[Program] = []
    compute = Program.result

    def watched(program: Program, inputs: Sequence[Table], slot: int, arithmetic: Arithmetic) -> Table:
        done.append(program)
        return compute(program, inputs, slot, arithmetic)

    monkeypatch.setattr(Program, "result", watched)
    for labels in itertools.combinations(range(len(SIZES)), 3):
        queries, _ = _answers(TIED)
        expected = queries.work(labels)
        done.clear()
        queries.marginal(labels)
        assert sum(program.flops for program in done) == expected, "the work is known before it is done"
        axes = [set(of_table) for program in done for of_table in program.labels]
        assert not any({0, 4} <= have for have in axes if 0 in labels)
        assert not any({1, 5} <= have for have in axes if 1 in labels)


@pytest.mark.parametrize("tied", [TIED, CYCLE])
def test_the_tables_of_a_node_equal_brute_force(tied: dict[Labels, list[int]]) -> None:
    queries, everything = _answers(tied)
    for node, held in enumerate(queries._structure.tree.nodes):
        for many in range(1, 4):
            for labels in itertools.combinations(bits(held), many):
                np.testing.assert_allclose(queries.inside(node, labels), marginal(everything, labels), rtol=1e-9, atol=1e-15)
