"""Orders of columns: which cells cannot go together, values in order in every row, what follows from several, how they read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpsynth_core.bundle import unpack, verdicts, verify
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.report.table_files import codebook_csv
from dpsynth_core.report.words import assumptions
from dpsynth_core.sources import ordering
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.decoding import decode, disordered
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.domain import zeros_table
from tests.bundle import pack
from tests.refusals import refused
from tests.specs import usual
from tests.tiers import examples

OWN = {"other": True, "missing": True}


def domain(*attributes: Attribute, **rules: str) -> Domain:
    """rules: at_most or below, each "first second"."""
    words = {key.rstrip("0123456789"): pair for key, pair in rules.items()}
    impossible = [{"column": pair.split()[0], key.rstrip("0123456789"): pair.split()[1]} for key, pair in rules.items()]
    assert set(words) <= {"at_most", "below"}
    return Domain.from_json(Domain(attributes).to_json() | {"impossible": impossible})


ADMITTED = Attribute.day("admitted", "2024-01-01", "2024-12-31", width="quarter", **OWN)
LEFT = Attribute.binned("left", "timestamp", "2024-01-01", "2025-03-31", width="quarter", precision="minute", **OWN)
FIRST, SECOND = Attribute.integer("first", 0, 9, width=5, **OWN), Attribute.numeric("second", 0, 10, bins=2, decimals=1, **OWN)


def impossible(of: Domain) -> list[list[int]]:
    (table,) = of.zeros.values()
    return np.argwhere(table).tolist()


def test_cells_are_impossible_where_both_ranges_decide() -> None:
    assert impossible(domain(ADMITTED, LEFT, at_most="admitted left")) == [[1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]]
    assert impossible(domain(LEFT, ADMITTED, at_most="admitted left")) == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    days = [Attribute.integer(name, 1, 3) for name in ("a", "b")]
    assert impossible(domain(*days, at_most="a b")) == [[1, 0], [2, 0], [2, 1]]
    assert impossible(domain(*days, below="a b")) == [[0, 0], [1, 0], [1, 1], [2, 0], [2, 1], [2, 2]]


def test_a_day_and_a_timestamp_are_compared_by_their_days() -> None:
    day = Attribute.day("day", "2024-01-01", "2024-01-02")
    noon = Attribute.binned("noon", "timestamp", "2024-01-01 12:00", "2024-01-02 12:00", precision="hour", bins=25)
    assert not domain(day, noon, at_most="noon day").zeros["day", "noon"][0, :12].any()
    assert domain(day, noon, at_most="noon day").zeros["day", "noon"][0, 12:].all()


def test_numbers_are_compared_as_numbers_and_bins_without_their_end() -> None:
    assert impossible(domain(FIRST, SECOND, at_most="first second")) == [[1, 0]]
    assert impossible(domain(FIRST, SECOND, at_most="second first")) == [[0, 1]]


def test_an_order_that_decides_no_cell_still_holds_in_the_rows() -> None:
    one = domain(Attribute.integer("a", 0, 9, bins=1), Attribute.integer("b", 0, 9, bins=1), below="a b")
    assert one.zeros == {}
    table = decode(one, np.zeros((500, 2), dtype=np.int32), np.random.default_rng(1))
    first, second = table["a"].to_numpy(), table["b"].to_numpy()
    assert (first < second).all()
    # uniform among the 45 pairs in order: means 2.67 and 6.33 with standard error 0.1
    assert abs(first.mean() - 8 / 3) < 0.5
    assert abs(second.mean() - 19 / 3) < 0.5


@st.composite
def ordered_domains(draw: st.DrawFn) -> Domain:
    """Up to four columns of one axis, some of them in order."""
    axis, names = draw(st.sampled_from(["numbers", "moments"])), "abcd"[: draw(st.integers(2, 4))]
    attributes = []
    for name in names:
        low, bins = draw(st.integers(0, 6)), draw(st.integers(1, 4))
        if axis == "moments" and draw(st.booleans()):
            first = f"2024-01-0{low + 1}"
            hours = {"precision": draw(st.sampled_from(["hour", "minute"])), "width": draw(st.sampled_from(["day", "6 hours"]))}
            attributes.append(Attribute.binned(name, "timestamp", first, f"2024-01-{low + bins + 1:02d}", **hours, **OWN))
        elif axis == "moments":
            attributes.append(Attribute.day(name, f"2024-01-0{low + 1}", f"2024-01-{low + bins + 1:02d}", **OWN))
        elif draw(st.booleans()):
            attributes.append(Attribute.integer(name, low, low + 6, bins=bins, **OWN))
        else:
            attributes.append(Attribute.numeric(name, low, low + 6.5, bins=bins, decimals=draw(st.sampled_from([None, 0, 2])), **OWN))
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=4, unique=True))
    rules = [{"column": a, draw(st.sampled_from(["at_most", "below"])): b} for a, b in chosen]
    try:
        return Domain.from_json(Domain(tuple(attributes)).to_json() | {"impossible": rules})
    except InputError:
        assume(False)
        raise


@examples(60)
@given(ordered_domains(), st.integers(0, 99), st.booleans())
def test_every_row_of_possible_cells_is_in_order_and_stays_in_its_cells(of: Domain, seed: int, at_once: bool) -> None:
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, a.size, 300) for a in of]).astype(np.int32)
    for clique, table in of.zeros.items():
        codes = codes[~table[tuple(codes[:, of.position(name)] for name in clique)]]
    rounds, ordering._ROUNDS = ordering._ROUNDS, 0 if at_once else 16
    try:
        rows = decode(of, codes, rng)
    finally:
        ordering._ROUNDS = rounds
    assert disordered(of, rows) == 0
    back = encode(of, rows, Notation())
    shown = np.column_stack([np.where(codes[:, i] == a.other_code, a.missing_code, codes[:, i]) for i, a in enumerate(of)])
    assert np.array_equal(np.column_stack([back[name] for name in of.names]), shown)


@pytest.mark.parametrize("seed", range(10))
def test_a_whole_number_between_two_others_leaves_both_in_their_cells(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the last column allows goes on to the first through the one between them. No row is drawn until it is in order."""
    monkeypatch.setattr(ordering, "_ROUNDS", 0)
    first, last = Attribute.numeric("a", 0, 6.5, bins=1), Attribute.numeric("c", 0, 6.5, bins=2)
    of = Domain.from_json(Domain((first, Attribute.integer("b", 0, 6, bins=1), last)).to_json() | {"impossible": [
        {"column": "a", "at_most": "b"}, {"column": "b", "at_most": "c"}
    ]})
    rng = np.random.default_rng(seed)
    codes = np.column_stack([np.zeros(300), np.zeros(300), rng.integers(0, 2, 300)]).astype(np.int32)
    rows = decode(of, codes, rng)
    assert disordered(of, rows) == 0
    np.testing.assert_array_equal(encode(of, rows, Notation())["c"], codes[:, 2])
    np.testing.assert_array_equal(encode(of, rows, Notation())["a"], 0)


def test_rows_out_of_order_are_found() -> None:
    of = domain(FIRST, SECOND, at_most="first second")
    rows = pa.table({"first": [1, 2, None, 3], "second": [1.0, 1.5, 0.0, None]})
    assert disordered(of, rows) == 1


def test_what_follows_from_several_orders_holds_too() -> None:
    one, two, three = (Attribute.integer(name, 0, 9, **OWN) for name in "abc")
    of = domain(one, two, three, at_most="a b", at_most2="b c")
    assert of.zeros["a", "c"][5, 4]
    assert not of.zeros["a", "c"][4, 5]
    assert domain(one, two, three, below="a b", below2="b c").zeros["a", "c"][4, 5]
    assert len(of.to_json()["impossible"]) == 2


def test_json_and_the_page_keep_the_rule_and_words_name_it() -> None:
    of = domain(ADMITTED, LEFT, FIRST, SECOND, at_most="admitted left", below="first second")
    assert Domain.from_json(of.to_json()) == of
    rules = of.to_json()["impossible"]
    assert rules == [{"column": "admitted", "at_most": "left"}, {"column": "first", "below": "second"}]
    assert [zeros_table.in_words(rule, of.attributes) for rule in rules] == [
        "admitted is not after left, where both are known.",
        "first is below second, where both are known.",
    ]
    assert zeros_table.added(rules[:1], rules[1], of.attributes) == rules


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([{"column": "n", "at_most": "n"}], "compares a column with itself"),
        ([{"column": "n", "at_most": "c"}], "has no bounds"),
        ([{"column": "n", "at_most": "d"}], "hold different things"),
        ([{"column": "n", "at_most": "x"}], "not in the domain"),
        ([{"column": "n", "at_most": "m"}, {"column": "m", "at_most": "n"}], "round in a circle"),
        ([{"column": "far", "below": "n"}], "no combination"),
        ([{"column": "d", "below": "t"}, {"column": "t", "below": "t2"}], "different precisions"),
    ],
)
def test_orders_that_cannot_be_are_refused(rules: list[dict[str, str]], message: str) -> None:
    numbers = [Attribute.integer("n", 0, 9), Attribute.integer("m", 0, 9), Attribute.integer("far", 20, 29)]
    hours = [Attribute.binned(name, "timestamp", "2024-01-01", "2024-01-02", precision="hour") for name in ("t", "t2")]
    of = Domain((*numbers, Attribute.categorical("c", ["x"]), Attribute.day("d", "2024-01-01", "2024-01-03"), *hours))
    refused(Domain.from_json, of.to_json() | {"impossible": rules}, saying=message)


def test_fine_bins_are_refused_before_their_table_is_made() -> None:
    wide = Domain(tuple(Attribute.integer(name, 0, 1500, width=1) for name in "ab"))
    with pytest.raises(CapacityError, match="use fewer values"):
        Domain.from_json(wide.to_json() | {"impossible": [{"column": "a", "at_most": "b"}]})


def test_a_release_keeps_the_order(tmp_path: Any) -> None:
    lines = [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d},2024-{1 + i % 12:02d}-{1 + i % 28:02d} 18:{i % 60:02d}" for i in range(400)]
    (tmp_path / "a.csv").write_text("admitted,left\n" + "\n".join(lines))
    of = domain(ADMITTED, LEFT, at_most="admitted left")
    spec = Spec.from_json(
        usual(
            {"kind": "csv", "path": str(tmp_path / "a.csv")}, of.to_json(), population="patients", mechanism="mst", name="Stays",
            output={"rows": 2000},
        )
    )
    plan = synthesis.plan(spec)
    release = synthesis.synthesize(plan, synthesis.open_source(plan), synthesis.noise_for(spec), lambda _: None)
    assert release.table is not None
    both = [(a, b) for a, b in zip(*(release.table[name].to_pylist() for name in ("admitted", "left")), strict=True) if a and b]
    assert len(both) > 1000
    assert all(a <= b.date() for a, b in both)
    assert any(line.endswith("every synthetic row: admitted is not after left, where both are known.") for line in assumptions(release))
    assert "admitted is not after left" in codebook_csv(release).decode()
    checks = verify.verify(unpack.read_bytes(pack.pack(release))).checks
    assert [check for check in checks if check.verdict == verdicts.FAILED] == []
