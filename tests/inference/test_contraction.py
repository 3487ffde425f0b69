"""Programs of pairwise products against one big einsum, forwards and backwards."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.inference.contraction import Contractor, Program, Search
from dpsynth_core.vocabulary.marginals import expand
from tests.tiers import examples

SIZES = (2, 3, 4, 2, 3)


@st.composite
def networks(draw):
    """Random tables over five labels, and which labels to keep."""
    labels = st.sets(st.integers(0, 4), min_size=1, max_size=4).map(lambda s: tuple(sorted(s)))
    inputs = draw(st.lists(labels, min_size=1, max_size=7))
    keep = draw(st.sets(st.sampled_from(sorted(set().union(*inputs))), max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return inputs, frozenset(keep), [rng.random([SIZES[x] for x in labels]) for labels in inputs]


def einsum(inputs, tables, out):
    operands = [part for table, labels in zip(tables, inputs, strict=True) for part in (table, list(labels))]
    return np.einsum(*operands, list(out))


@examples(200)
@given(networks())
def test_a_program_equals_einsum(network) -> None:
    inputs, keep, tables = network
    out = tuple(sorted(keep))
    np.testing.assert_allclose(Contractor(SIZES)(tables, inputs, out), einsum(inputs, tables, out), rtol=1e-10)


@examples(100)
@given(networks(), st.booleans())
def test_an_order_that_was_searched_for_gives_the_same_sums(network, outer: bool) -> None:
    inputs, keep, tables = network
    program = Program(inputs, SIZES, Search(0.0, outer))
    slot = program.contract(range(len(inputs)), keep)
    expected = einsum(inputs, tables, program.labels[slot])
    np.testing.assert_allclose(program.forward(tables).values[slot], expected, rtol=1e-10)
    np.testing.assert_array_equal(program.result(tables, slot), program.forward(tables).values[slot])


@examples(100)
@given(networks())
def test_derivatives_are_those_of_the_full_sum(network) -> None:
    inputs, _, tables = network
    program = Program(inputs, SIZES)
    root = program.contract(range(len(inputs)), frozenset())
    adjoint = program.backward(program.forward(tables), root)
    for i, labels in enumerate(inputs):
        # The sum is linear in every table: its derivative is the sum of the product of all the others.
        ones = [*tables[:i], np.ones_like(tables[i]), *tables[i + 1 :]]
        expected = einsum(inputs, ones, labels)
        np.testing.assert_allclose(np.broadcast_to(adjoint[i], expected.shape), expected, rtol=1e-10)


def test_align_orders_axes_and_leaves_room_for_missing_ones() -> None:
    table = np.arange(6.0).reshape(2, 3)
    assert expand(table, (3, 1), (1, 2, 3)).shape == (3, 1, 2)


def test_work_is_known_before_running() -> None:
    program = Program([(0, 1), (1, 2)], SIZES)
    program.contract([0, 1], frozenset({0, 2}))
    assert program.flops == 2 * 3 * 4
