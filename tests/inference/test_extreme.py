"""Potentials that differ by hundreds of orders of magnitude: every answer equals brute force in extended precision, and none is 0 / 0."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpsynth_core.inference import marginal_queries, rows
from dpsynth_core.inference.arithmetic import LEAST, LOGARITHMS, NUMBERS, logarithms
from dpsynth_core.inference.contraction import Contractor, Labels, Program
from dpsynth_core.inference.junction_tree import bits
from dpsynth_core.inference.marginal_queries import Queries
from dpsynth_core.inference.pairs import Pairs
from dpsynth_core.inference.structure import Structure
from dpsynth_core.vocabulary.marginals import expand
from tests.inference.brute_force import marginal
from tests.inference.test_ties import CLIQUES as TIED_CLIQUES
from tests.inference.test_ties import CYCLE, TIED
from tests.inference.test_ties import SIZES as TIED_SIZES
from tests.tiers import examples

SEPARATED = [(0, 1), (1, 3), (4, 6), (0, 5), (3, 6), (3, 7), (4, 7), (2, 8), (5, 8)]
"""As in `test_separators`: a message leaves out what no clique behind it has."""
CHAIN = [(i, i + 1) for i in range(8)]
ZEROS = {"none": {}, "ties": TIED, "cycle": CYCLE}


def exact(structure: Structure, log_potentials: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The probabilities of all cells, whose products are added up as logarithms with 64 digits and 15 of exponent."""
    everything = tuple(range(len(structure.sizes)))
    total = np.zeros(structure.sizes, dtype=np.longdouble)
    for labels, table in zip(structure.cliques, log_potentials, strict=True):
        total = total + expand(table.astype(np.longdouble), labels, everything)
    for labels, impossible in structure.zeros.items():
        total = np.where(expand(impossible, labels, everything), -np.inf, total)
    cells = np.exp(total - total.max())
    return np.asarray(cells / cells.sum(), dtype=np.float64)


def drawn(structure: Structure, scale: float, seed: int) -> list[NDArray[np.float64]]:
    """Log-potentials with tails: a few cells of each table are far above the others."""
    rng = np.random.default_rng(seed)
    return [scale * rng.standard_t(2, [structure.sizes[a] for a in labels]) for labels in structure.cliques]


def pushed_up(structure: Structure, height: float) -> list[NDArray[np.float64]]:
    """Log-potentials as fits leave them that raise a cell which other tables forbid: no cell is near the largest of every table."""
    tables = [np.zeros([structure.sizes[a] for a in labels]) for labels in structure.cliques]
    for number, table in enumerate(tables):
        table[(number % 2,) * table.ndim] += height
    return tables


def assert_exact(structure: Structure, log_potentials: Sequence[NDArray[np.float64]]) -> Queries:
    everything = exact(structure, log_potentials)
    calibration = structure.calibrate(log_potentials)
    for labels, table in zip(structure.cliques, calibration.marginals, strict=True):
        np.testing.assert_allclose(table, marginal(everything, labels), rtol=1e-8, atol=1e-14)
    queries = Queries(structure, calibration, Contractor(structure.sizes))
    many = len(structure.sizes)
    for labels in itertools.chain.from_iterable(itertools.combinations(range(many), count) for count in (1, 2, 3)):
        np.testing.assert_allclose(queries.marginal(labels), marginal(everything, labels), rtol=1e-8, atol=1e-14)
    for node, attributes in enumerate(structure.tree.nodes):
        labels = tuple(bits(attributes))
        np.testing.assert_allclose(queries.inside(node, labels), marginal(everything, labels), rtol=1e-8, atol=1e-14)
    pairs = Pairs(structure, queries)
    for a, b in itertools.combinations(range(many), 2):
        block = pairs.together[pairs.starts[a] : pairs.starts[a + 1], pairs.starts[b] : pairs.starts[b + 1]]
        np.testing.assert_allclose(block, marginal(everything, (a, b)), rtol=1e-8, atol=1e-14)
    return queries


@pytest.mark.parametrize("cut_cells", [0, 50_000])
@pytest.mark.parametrize("whole_cells", [0, 2**18])
@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0, 3000.0])
@pytest.mark.parametrize("cliques", [SEPARATED, CHAIN])
def test_answers_equal_brute_force(
    cliques: list[Labels], scale: float, whole_cells: int, cut_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marginal_queries, "CUT_CELLS", cut_cells)
    monkeypatch.setattr(marginal_queries, "WHOLE_CELLS", whole_cells)
    for seed in range(2):
        of_cliques = Structure(cliques, [2, 2, 3, 2, 3, 2, 3, 3, 4])
        assert_exact(of_cliques, drawn(of_cliques, scale, seed))


@pytest.mark.parametrize("whole_cells", [0, 2**18])
@pytest.mark.parametrize("height", [10.0, 500.0, 800.0, 1e5])
@pytest.mark.parametrize("kind", ZEROS)
def test_answers_beside_impossible_cells_equal_brute_force(
    kind: str, height: float, whole_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marginal_queries, "WHOLE_CELLS", whole_cells)
    zeros = {labels: np.arange(TIED_SIZES[labels[1]]) != np.array(places)[:, None] for labels, places in ZEROS[kind].items()}
    tied = Structure(TIED_CLIQUES, TIED_SIZES, zeros)
    assert_exact(tied, pushed_up(tied, height))
    assert_exact(tied, drawn(tied, height, 1))


@pytest.mark.parametrize("scale", [1.0, 60.0, 300.0])
def test_numbers_and_logarithms_agree(scale: float) -> None:
    """A sweep in numbers, where one is possible, is as right as the sweep in logarithms that replaces it elsewhere."""
    chain = Structure(CHAIN, [3] * 9)
    used = set()
    for seed in range(20):
        potentials = drawn(chain, scale, seed)
        chosen = chain.calibrate(potentials)
        used.add(chosen.arithmetic)
        logs = chain._sweep(chain.tables(chain._levelled(potentials)), LOGARITHMS)
        for one, other in zip(chosen.marginals, logs.marginals, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-15)
    assert used == ({NUMBERS} if scale == 1.0 else {LOGARITHMS} if scale == 300.0 else {NUMBERS, LOGARITHMS})


@examples(60)
@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.floats(0, 2000), st.integers(0, 2**32 - 1))
def test_products_and_sums_of_logarithms_are_exact(b: int, left: int, inner: int, right: int, scale: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (rng.uniform(-scale, scale, shape) for shape in ((b, left, inner), (b, inner, right)))
    one[rng.random(one.shape) < 0.2] = -np.inf
    terms = np.exp((one[:, :, :, None] + other[:, None]).astype(np.longdouble)).sum(axis=2)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(LOGARITHMS.product(one, other), np.log(terms).astype(float), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(
            LOGARITHMS.sum(one, (0, 2)), np.log(np.exp(one.astype(np.longdouble)).sum((0, 2))).astype(float), rtol=1e-12, atol=1e-12
        )


def test_products_of_logarithms_are_the_same_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    left, right = rng.normal(0, 400, (2, 3, 17)), rng.normal(0, 400, (2, 17, 4))
    whole = LOGARITHMS.product(left, right)
    monkeypatch.setattr("dpsynth_core.inference.arithmetic.TERMS", 50)
    np.testing.assert_allclose(LOGARITHMS.product(left, right), whole, rtol=1e-13)


def test_a_small_message_is_no_message_in_numbers() -> None:
    """So that what underflows is far below all that counts."""
    program = Program([(0,), (0,)], [2])
    slot = program.contract([0, 1], frozenset())
    for height, fits in ((0.9 * np.log(LEAST), True), (1.1 * np.log(LEAST), False)):
        tables = [np.exp([0.0, height]), np.exp([height, -800.0])]
        if fits:
            assert program.forward(tables, frozenset({slot})).values[slot] == 1.0
        else:
            with pytest.raises(FloatingPointError):
                program.forward(tables, frozenset({slot}))
        assert program.forward(logarithms(tables), frozenset({slot}), LOGARITHMS).values[slot] == 0.0


@pytest.mark.parametrize("scale", [1.0, 300.0, 3000.0])
def test_rows_follow_the_model(scale: float) -> None:
    """Attributes are drawn one after the other, each given those before: as often as expected, but for one row or so in each group."""
    chain = Structure(CHAIN, [3] * 9)
    for seed in range(5):
        potentials = drawn(chain, scale, seed)
        everything = exact(chain, potentials)
        calibration = chain.calibrate(potentials)
        codes = rows.generate(chain, calibration.potentials, 1000, np.random.default_rng(seed), calibration.arithmetic)
        likely = everything[tuple(codes.T)]
        assert (likely > 1e-12).all()  # 5,000 rows: one so unlikely comes less than once in 10,000 runs of this test, with 3**9 cells
        for a in range(9):
            counts = np.bincount(codes[:, a], minlength=3)
            # At most 3 groups of a chain round up or down for each attribute before, by one row each.
            np.testing.assert_allclose(counts, 1000 * marginal(everything, (a,)), atol=3 * 9)


def test_rows_of_numbers_that_underflow_follow_the_logarithms() -> None:
    """The middle column is 0 with a product of exp(-500) and 1 with one of exp(-600), and the last one is 0 three times as often as 1."""
    three = Structure([(0, 1), (1, 2)], [2, 2, 2])
    tables = [np.zeros((2, 2)), np.zeros((2, 2))]
    tables[0][:, 0], tables[1][1, :] = -500.0, -600.0
    tables[1][0, 1] = -np.log(3.0)
    codes = rows.generate(three, [np.exp(table) for table in tables], 1000, np.random.default_rng(0))
    assert (codes[:, 1] == 0).all()
    assert abs((codes[:, 2] == 0).sum() - 750) <= 2
