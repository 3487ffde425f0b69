"""Two linked tables as one of pairs: what a household is there, and that no neighbour changes more than it is charged for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, permutations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.check_records import LinkCheck, check_link
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.linked import LinkedSource
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.link import NUMBER, Link
from dpsynth_core.vocabulary.measurement import ROOT_STEPS, subsets
from tests.refusals import refused

HOUSEHOLDS, MEMBERS = Domain.from_json({"region": 2}), Domain.from_json({"sex": 2})
Household = tuple[int, tuple[int, ...]]
"""Its region and the sex of each member, in file order."""


def source(rows: list[tuple[str, str]], members: list[tuple[str, str]], most: int = 2, households: Domain = HOUSEHOLDS) -> LinkedSource:
    """rows, members: key and value of each line."""
    form = TableFormat()
    first, second = pd.DataFrame(rows, columns=["key", "region"], dtype=str), pd.DataFrame(members, columns=["key", "sex"], dtype=str)
    return LinkedSource(Link(households, MEMBERS, most), opened(first, form), opened(second, form), "key")


def made(households: tuple[Household, ...], most: int) -> LinkedSource:
    rows = [(f"h{number}", str(region)) for number, (region, _) in enumerate(households)]
    return source(rows, [(f"h{number}", str(sex)) for number, (_, sexes) in enumerate(households) for sex in sexes], most)


def possible(most: int) -> list[Household]:
    """All that a household can be; with one member more than count."""
    sexes = [owned for size in range(most + 2) for owned in product(range(2), repeat=size)]
    return list(product(range(2), sexes))


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_neighbour_is_further_than_a_person_with_as_many_rows(relation: str, most: int) -> None:
    """Every marginal, of every household next to none and next to every other: counts add up over households, so that the others, of whom
    there are two here, change nothing."""
    link = Link(HOUSEHOLDS, MEMBERS, most)
    unit = Unit(relation, link.records_each, rows_may_not_count=True)
    cliques = list(subsets(link.domain.names))
    others: tuple[Household, ...] = ((0, (1, 0)), (1, ()))
    alone = {one: made((*others, one), most).counts(cliques) for one in possible(most)}
    without = made(others, most).counts(cliques)
    pairs = combinations_with_replacement(alone.values(), 2) if relation == "replace" else ((counts, without) for counts in alone.values())
    for one, another in pairs:
        for clique in cliques:
            change = (one[clique] - another[clique]).ravel()
            assert np.sqrt(float((change**2).sum())) <= (unit.marginal_l2 if clique else unit.total_l2) * (1 + 1e-15)
            assert int(np.abs(change).sum()) <= unit.marginal_l1


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_neighbour_is_further_in_sums_of_roots_than_is_charged_for(relation: str, most: int) -> None:
    """As above, in whole steps, over values and over groups of them; and some are nearly as far."""
    link = Link(HOUSEHOLDS, MEMBERS, most)
    groups = {"few": Groups("few", NUMBER, (0, 0, *[1] * (most - 1))), "some": Groups("some", "sex", (0, 1, 1))}
    charged = ROOT_STEPS * Unit(relation, link.records_each, rows_may_not_count=True).marginal_l2
    others: tuple[Household, ...] = ((0, (1, 0)), (1, ()))
    grouped = [("few",), ("some",), ("few", "some"), ("region", "few"), ("few", "sex of another"), ("some", "sex of another")]
    for clique in (*subsets(link.domain.names, 1), *grouped):
        alone = [made((*others, one), most).roots(clique, groups).ravel() for one in possible(most)]
        without = made(others, most).roots(clique, groups).ravel()
        pairs = combinations_with_replacement(alone, 2) if relation == "replace" else ((roots, without) for roots in alone)
        furthest = max(float(np.linalg.norm(one - another)) for one, another in pairs)
        assert furthest <= charged * (1 + 1e-15)
        if set(clique) <= {"region", NUMBER, "sex"}:
            assert furthest >= charged - 2 * 2


def test_a_root_is_of_the_share_in_a_group_of_values() -> None:
    """Two members of one group are alike; and nobody, who is in a group with somebody, is still nobody."""
    kernel = PrivacyKernel(made(((0, (0, 1)), (0, (1,))), 2), Unit("add-remove", 2, rows_may_not_count=True), 1e15, SeededNoise(1))
    assert kernel.measure_roots(("sex",), 1e-6) == pytest.approx([2 * 0.5**0.5, 2 * 0.5**0.5 + 2, 0], abs=0.01)
    grouped = kernel.grouped([Groups("both", "sex", (0, 0, 1)), Groups("size", NUMBER, (0, 0, 1))])
    assert grouped.measure_roots(("both",), 1e-6) == pytest.approx([4, 0], abs=0.01)
    assert grouped.measure_roots(("both", "size"), 1e-6) == pytest.approx(np.array([[2, 2], [0, 0]]), abs=0.01)
    again = grouped.grouped([Groups("all", "sex", (0, 1, 1))])
    assert again.measure_roots(("size", "all"), 1e-6) == pytest.approx(np.array([[0, 2], [2 * 0.5**0.5] * 2]), abs=0.01)


def test_parts_of_records_have_no_roots() -> None:
    kernel = PrivacyKernel(made(((0, (0, 1)),), 2), Unit("add-remove", 2, rows_may_not_count=True), 1.0, SeededNoise(1))
    assert kernel.measure_roots(("sex",), 10.0).shape == (3,)
    with pytest.raises(ValueError, match="whose a record is"):
        kernel.among({"region": (0,)}).measure_roots(("sex",), 10.0)
    assert len(kernel.events) == 1


def test_a_root_is_of_the_share_of_those_alike() -> None:
    """Of three members one is the only one of its sex; a single member counts whole, of two sexes of two; of nobody nothing is said."""
    whole, (clique, pair) = ROOT_STEPS * 6, (("sex",), ("sex", "sex of another"))
    homes = ((0, (0, 1, 1)), (0, (0,)), (0, ()))
    apart = [made((home,), 3).roots(clique, {}) / whole for home in homes]
    assert apart == [pytest.approx(np.array(roots), abs=1 / whole) for roots in ([(1 / 3) ** 0.5, (2 / 3) ** 0.5, 0], [1, 0, 0], [0, 0, 0])]
    assert made(homes, 3).roots(clique, {}).tolist() == sum(made((home,), 3).roots(clique, {}) for home in homes).tolist()
    third = (1 / 3) ** 0.5
    assert made(homes, 3).roots(pair, {}) / whole == pytest.approx(np.array([[0, third, 0], [third, third, 0], [0, 0, 0]]), abs=1 / whole)


@pytest.mark.parametrize("most", [1, 2, 3, 6])
def test_a_household_is_as_many_records_whatever_its_size(most: int) -> None:
    link = Link(HOUSEHOLDS, MEMBERS, most)
    for household in possible(min(most, 3)):
        counts = made((household,), most).counts([(), (NUMBER,)])
        assert counts[()] == link.records_each
        assert counts[(NUMBER,)][min(len(household[1]), most)] == link.records_each


def test_pairs_are_ordered_and_of_different_members() -> None:
    counts = made(((0, (0, 1, 1)),), 3).counts([("sex", "sex of another")])["sex", "sex of another"]
    assert counts.tolist() == [[0, 2, 0], [2, 2, 0], [0, 0, 0]]  # of 6: two of three pairs of a sex with itself
    assert made(((0, (1,)),), 3).counts([("sex", "sex of another")])["sex", "sex of another"].tolist() == [[0, 0, 0], [0, 0, 3], [0, 3, 0]]


def test_members_who_are_alike_are_counted() -> None:
    """Of 6 records the first member of 2 is the only one of its sex, and of 4 one of two; of nobody nothing is
    said, and members beyond the limit are not counted."""
    clique = ("sex", "members alike in sex")
    assert made(((0, (0, 1, 1)),), 3).counts([clique])[clique].tolist() == [[2, 0, 0, 0], [0, 4, 0, 0], [0, 0, 0, 0]]
    assert made(((0, (1, 1, 1, 0)),), 3).counts([clique])[clique].tolist() == [[0, 0, 0, 0], [0, 0, 6, 0], [0, 0, 0, 0]]
    assert made(((0, (1,)), (0, ())), 3).counts([clique])[clique].tolist() == [[0, 0, 0, 0], [3, 0, 0, 0], [0, 0, 0, 9]]


def _orders(lines: list[tuple[str, str]], mine: str) -> Iterator[list[tuple[str, str]]]:
    """The lines with those of one household anywhere among the others, their own order kept."""
    own, others = [line for line in lines if line[0] == mine], [line for line in lines if line[0] != mine]
    for places in {tuple(sorted(order[: len(own)])) for order in permutations(range(len(lines)))}:
        left, held = iter(others), iter(own)
        yield [next(held) if place in places else next(left) for place in range(len(lines))]


def test_what_counts_of_a_household_depends_on_its_own_rows_alone() -> None:
    """Rows that name nobody, members without a household, second rows and members beyond the limit do not count, wherever they stand."""
    rows = [("a", "0"), ("b", "1"), ("a", "1"), ("", "1")]
    members = [("a", "0"), ("a", "1"), ("a", "1"), ("b", "1"), ("", "0"), ("c", "1")]
    clique = ("region", NUMBER, "sex")
    expected = source([("a", "0"), ("b", "1")], [("a", "0"), ("a", "1"), ("b", "1")]).counts([clique])[clique]
    for some in _orders(rows, "a"):
        assert (source(some, members).counts([clique])[clique] == expected).all()
    for some in _orders(members, "a"):
        assert (source(rows, some).counts([clique])[clique] == expected).all()


@pytest.mark.parametrize("counts", [0, 1])
def test_a_table_without_rows_counts_nothing(counts: int) -> None:
    empty = source([("a", "0")] * counts, [])
    assert empty.counts([()])[()] == counts * Link(HOUSEHOLDS, MEMBERS, 2).records_each


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("key,region\n1,0\n")
    two.write_text("household,sex\n1,0\n")
    refused(LinkedSource, Link(HOUSEHOLDS, MEMBERS, 2), opened(one, TableFormat()), opened(two, TableFormat()), "key", saying="key")


@pytest.mark.parametrize("document", [{"region": 2}, {NUMBER: 2}])
def test_columns_of_two_tables_have_different_names(document: dict[str, int]) -> None:
    refused(Link, HOUSEHOLDS, Domain.from_json(document), 2, saying="both tables have it")


FORM = TableFormat(missing_markers=frozenset({""}))


def test_what_does_not_count_is_what_the_source_leaves_out(tmp_path: Path) -> None:
    """Key 1 twice and nobody once in the first table; in the second three of key 1, one of a key that is nowhere, one of nobody."""
    (tmp_path / "homes.csv").write_text("id,region\n1,0\n1,1\n2,1\n,0\n")
    (tmp_path / "people.csv").write_text("id,sex\n1,0\n1,1\n1,1\n2,0\n7,0\n,1\n")
    first, second = (opened(tmp_path / name, FORM) for name in ("homes.csv", "people.csv"))
    found = check_link(first, second, "id", 2)
    assert (found.zone, found.value) == (Zone.CURATOR, LinkCheck(repeated=1, orphans=1, beyond=1))
    assert [sentence.split(" ", 1)[0] for sentence in found.value.sentences()] == ["1", "1", "1"]
    link = Link(Domain.from_json({"region": 2}), Domain.from_json({"sex": 2}), 2)
    sizes = LinkedSource(link, first, second, "id").counts([(NUMBER,)])[(NUMBER,)] // link.records_each
    assert np.array_equal(sizes, [0, 1, 1])  # of two households, with the members that are left


def test_nothing_is_said_where_all_rows_count(tmp_path: Path) -> None:
    (tmp_path / "homes.csv").write_text("id\n1\n2\n")
    (tmp_path / "people.csv").write_text("id\n2\n2\n")
    first, second = (opened(tmp_path / name, FORM) for name in ("homes.csv", "people.csv"))
    assert check_link(first, second, "id", 2).value.sentences() == ()
