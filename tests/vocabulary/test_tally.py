"""Counting plans and running counts: every clique is contained, blocks stay small, tables add up."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.vocabulary import tally
from dpsynth_core.vocabulary.blocks import maximal, plan, slices
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.measurement import Clique, subsets
from dpsynth_core.vocabulary.rows import Repeated, one_table, row_marginals
from dpsynth_core.vocabulary.tally import Tally
from tests.refusals import refused


@st.composite
def coded_tables(draw: st.DrawFn) -> tuple[Domain, np.ndarray, list[Clique]]:
    """A domain of codes, random rows (n, d) and some cliques."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))  # drawn one by one, hypothesis would favour a single small clique
    columns = draw(st.integers(1, 6))
    sizes = rng.integers(1, 9, columns).tolist()
    domain = Domain(tuple(Attribute.coded(f"c{i}", size) for i, size in enumerate(sizes)))
    every = [c for k in range(columns + 1) for c in combinations(domain.names, k) if k <= 4]
    chosen = rng.permutation(len(every))[: draw(st.integers(1, 12))]
    rows = draw(st.integers(0, 60))
    return domain, np.stack([rng.integers(0, size, rows) for size in sizes], axis=1).astype(np.int32), [every[i] for i in chosen]


def counted(domain: Domain, rows: np.ndarray, clique: Clique) -> np.ndarray:
    """The marginal by the book."""
    table = np.zeros(domain.sizes(clique), dtype=np.int64)
    for row in rows:
        table[tuple(row[domain.position(name)] for name in clique)] += 1
    return table


@given(coded_tables(), st.integers(1, 60), st.sampled_from([1, 10, 100, 2**16]))
def test_counts_are_those_of_the_rows_for_any_batch_and_block_size(
    case: tuple[Domain, np.ndarray, list[Clique]], batch: int, block_cells: int
) -> None:
    domain, rows, cliques = case
    running = Tally(domain, cliques, block_cells)
    for start in range(0, len(rows), batch):
        part = rows[start : start + batch]
        running.add({name: part[:, domain.position(name)] for name in running.columns}, len(part))
    counts = running.counts()
    assert list(counts) == cliques
    for clique in cliques:
        assert counts[clique].dtype == np.int64
        assert counts[clique].shape == domain.sizes(clique)
        assert np.array_equal(counts[clique], counted(domain, rows, clique))


@given(coded_tables(), st.integers(1, 500))
def test_every_maximal_clique_has_a_block_that_contains_it_and_is_no_larger_than_allowed(
    case: tuple[Domain, np.ndarray, list[Clique]], block_cells: int
) -> None:
    domain, _, cliques = case
    home = plan(domain, cliques, block_cells)
    assert set(home) == set(maximal(cliques))
    largest = max(domain.cells(clique) for clique in cliques)
    for clique, block in home.items():
        assert set(clique) <= set(block)
        assert domain.clique(block) == block
        assert domain.cells(block) <= max(block_cells, largest)


@given(coded_tables())
def test_many_cliques_have_small_blocks(case: tuple[Domain, np.ndarray, list[Clique]]) -> None:
    domain, _, cliques = case
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dpsynth_core.vocabulary.blocks.MANY", 1)
        patched.setattr("dpsynth_core.vocabulary.blocks.SMALL_CELLS", 20)
        assert plan(domain, cliques) == plan(domain, cliques, 20)


@given(coded_tables())
def test_maximal_cliques_cover_all_and_none_contains_another(case: tuple[Domain, np.ndarray, list[Clique]]) -> None:
    _, _, cliques = case
    kept = maximal(cliques)
    assert all(any(set(clique) <= set(other) for other in kept) for clique in cliques)
    assert not any(set(a) < set(b) for a in kept for b in kept)


def test_small_columns_share_passes() -> None:
    domain = Domain(tuple(Attribute.coded(f"c{i}", 4) for i in range(10)))
    triples = list(combinations(domain.names, 3))
    assert len(set(plan(domain, triples).values())) < len(triples) / 4


def test_only_needed_columns_are_read() -> None:
    domain = Domain(tuple(Attribute.coded(f"c{i}", 4) for i in range(5)))
    assert Tally(domain, [("c1",), ("c1", "c3"), ()]).columns == ("c1", "c3")
    assert Tally(domain, [()]).columns == ()


def test_the_plan_is_the_same_every_time() -> None:
    domain = Domain(tuple(Attribute.coded(f"c{i}", 3 + i % 5) for i in range(12)))
    pairs = list(combinations(domain.names, 2))
    assert plan(domain, pairs) == plan(domain, list(reversed(pairs)))


def test_all_triples_of_forty_columns_are_planned_quickly() -> None:
    domain = Domain(tuple(Attribute.coded(f"c{i}", 2 + i % 30) for i in range(40)))
    assert len(plan(domain, list(combinations(domain.names, 3)))) == 9880


def test_how_wide_cell_numbers_are_and_how_long_chunks_makes_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks whose cells are numbered by 8, 16 and 32 bits, the last cell among them."""
    monkeypatch.setattr(tally, "CHUNK_ROWS", 7)
    for size in (6, 16, 17, 256, 257):
        domain = Domain((Attribute.coded("a", size), Attribute.coded("b", size)))
        rows = np.array([[0, 0], [size - 1, size - 1], [size - 1, 0]] * 5, dtype=np.int32)
        running = Tally(domain, [("a", "b")])
        running.add({"a": rows[:, 0], "b": rows[:, 1]}, len(rows))
        table = running.counts()[("a", "b")]
        assert table[0, 0] == table[-1, -1] == table[-1, 0] == 5
        assert table.sum() == 15


@given(coded_tables(), st.sampled_from([8, 200, 2000, 2**16]))
def test_slices_hold_every_clique_once_and_stay_within_their_memory(
    case: tuple[Domain, np.ndarray, list[Clique]], most_bytes: int
) -> None:
    domain, _, cliques = case
    groups = slices(domain, cliques, most_bytes)
    assert sorted(clique for group in groups for clique in group) == sorted(cliques)
    for group in groups:
        nbytes = Tally(domain, group).nbytes
        assert nbytes == sum(8 * domain.cells(block) for block in set(plan(domain, group).values()))
        assert nbytes <= most_bytes or len(maximal(group)) == 1


def test_all_pairs_of_many_columns_are_divided_evenly() -> None:
    domain = Domain(tuple(Attribute.coded(f"c{i}", 2 + i % 9) for i in range(60)))
    pairs = list(combinations(domain.names, 2))
    whole = Tally(domain, pairs).nbytes
    groups = slices(domain, pairs, whole // 3)
    assert 3 <= len(groups) <= 5
    assert max(Tally(domain, group).nbytes for group in groups) <= whole // 3


@pytest.mark.parametrize("rows", [0, 1, 50])
def test_repeated_rows_are_counted_as_often_as_they_stand(rows: int) -> None:
    rng = np.random.default_rng(rows)
    domain = Domain.from_json({"a": 2, "b": 3})
    codes, times = rng.integers(2, size=(rows, 2)).astype(np.uint8), rng.integers(1, 2521, size=rows).astype(np.uint16)
    repeated, cliques = Repeated(codes, times), list(subsets(domain.names))
    plain = row_marginals(domain, np.repeat(codes, times, axis=0), cliques)
    assert len(repeated) == times.sum(dtype=int)
    for clique, counts in row_marginals(domain, repeated, cliques).items():
        np.testing.assert_array_equal(counts, plain[clique], strict=True)
    refused(one_table, repeated, kind=TypeError, saying="two linked tables")


def test_tables_that_share_a_column_are_planned_as_their_other_columns_are() -> None:
    sizes = np.random.default_rng(3).integers(2, 12, 20).tolist()
    domain = Domain(tuple(Attribute.coded(f"c{i:02}", size) for i, size in enumerate(sizes)))
    shared, limit = domain.names[0], 5_000
    around = [clique for clique in combinations(domain.names, 3) if shared in clique]
    others = [tuple(name for name in clique if name != shared) for clique in around]
    blocks, smaller = plan(domain, around, limit * domain.cells([shared])), plan(domain, others, limit)
    assert len(set(blocks.values())) < len(around) / 2
    for clique, rest in zip(around, others, strict=True):
        assert blocks[clique] == domain.clique((shared, *smaller[rest]))
        assert set(clique) <= set(blocks[clique])
