"""Which rows of a person count, and in which order: a fact of that person's rows alone."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from dpsynth_core.extensions.sequences.layout import LAST, START, SequenceLink
from dpsynth_core.extensions.sequences.source import SequenceSource, moments, ranks, sorted_as
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.opening import opened
from dpsynth_core.sources.records import Records
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER
from tests.extensions.sequences.tables import FIRST_ROW, PERSONS, WARD, link, read, source, typed, wards
from tests.refusals import refused


def test_rows_are_in_the_order_of_the_column_and_the_first_ones_count() -> None:
    rows = [("1", "b", "4"), ("1", "a", "3"), ("1", "a", "1"), ("1", "b", "2")]
    assert wards(link(4), rows) == "abab"
    assert wards(link(3), rows) == "aba"  # the one of time 4 is beyond the limit, though first in the file
    assert wards(link(3, order=None), rows) == "baa"


def test_ties_and_rows_without_a_time_keep_the_order_of_the_file() -> None:
    rows = [("1", "b", ""), ("1", "a", "soon"), ("1", "b", "2"), ("1", "a", "2"), ("1", "b", "1")]
    assert wards(link(5), rows) == "bbaba"
    assert wards(link(5), [rows[i] for i in (1, 0, 3, 2, 4)]) == "babab"


@pytest.mark.parametrize(
    ("times", "form"),
    [
        (("1,234", "999"), TableFormat(thousands=",")),
        (("1.234,5", "999"), TableFormat(thousands=".", decimal=",")),
        (("1e3", "-1e3"), TableFormat()),
        (("1970-01-02", "1969-12-31"), TableFormat()),
        (("0031-01-01", "0030-12-31"), TableFormat()),
        (("01.02.2020", "31.01.2020"), TableFormat(date_format="dd.mm.yyyy")),
        (("01022020", "31012020"), TableFormat(date_format="ddmmyyyy")),
        (("2020-01-01 10:00", "2020-01-01 09:59:59.5"), TableFormat()),
        (("2020-01-01 10:00", "2020-01-01"), TableFormat()),
        (("10:00", "09:00"), TableFormat()),
        (("25:10:00", "23:50:00"), TableFormat()),  # past midnight, as in timetables
        (("-9", "5"), TableFormat(missing_markers=frozenset({"-9"}))),  # a marker is no time
    ],
)
def test_times_are_read_as_they_are_written(times: tuple[str, str], form: TableFormat) -> None:
    assert wards(link(), [("1", "a", times[0]), ("1", "b", times[1])], form) == "ba"


@pytest.mark.parametrize(
    "column",
    [
        pa.array([dt.time(9), dt.time(8)]),
        pa.array([dt.timedelta(2), dt.timedelta(1)]),
        pa.array([dt.date(2020, 1, 1), dt.date(1960, 1, 1)]),
        pa.array([dt.datetime(1960, 1, 1, 2), dt.datetime(1960, 1, 1, 1)], pa.timestamp("ns")),
        pa.array([dt.date(2020, 1, 1), dt.date(1960, 1, 1)]).dictionary_encode(),
        pa.array([2, 1], pa.decimal128(5, 2)),
        pa.array([2.5, -np.inf]),
        pa.array([True, False]),
        pa.array([None, 1]),
    ],
    ids=lambda column: str(column.type),
)
def test_columns_of_every_type_have_an_order(column: pa.Array) -> None:
    assert wards(link(), typed(column)) == "ba"


@pytest.mark.parametrize("column", [pa.nulls(2), pa.array([[1], [0]]), pa.array(["b", "a"]), pa.array([b"\xff", b""])], ids=str)
def test_what_is_no_time_keeps_the_order_of_the_file(column: pa.Array) -> None:
    assert np.isnan(moments(column, Notation())).all()
    assert wards(link(), typed(column)) == "ab"


def test_a_time_has_the_same_moment_in_a_column_of_texts_and_of_times() -> None:
    """By the clock of its zone, also in the hour that a clock shows twice; and beside any other values."""
    berlin = pa.array([dt.datetime(2020, 10, 25, 0, 30, tzinfo=dt.UTC), dt.datetime(2020, 10, 25, 1, 15, tzinfo=dt.UTC)])
    shown = ["2020-10-25 02:30:00+02:00", "2020-10-25 02:15:00+01:00"]
    assert moments(berlin.cast(pa.timestamp("us", "Europe/Berlin")), Notation()).tolist() == moments(pa.array(shown), Notation()).tolist()
    values = ["3", "", None, "1970-01-03", "12:00", "x", "1e400", "-0", "36:00:00"]
    alone = [moments(pa.array([value], pa.string()), Notation())[0] for value in values]
    assert np.array_equal(moments(pa.array(values), Notation()), alone, equal_nan=True)
    assert alone[3:5] == [2.0, 0.5]
    assert alone[8] == 1.5


@pytest.mark.parametrize(
    ("read_as", "expected"),
    [("any", "bacd"), ("number", "bacd"), ("date", "cabd"), ("text", "acbd")],
)
def test_texts_are_read_as_the_plan_says(read_as: str, expected: str) -> None:
    """Of 10, 9, a date and a word; what is not read so comes last, in the order of the file."""
    ward = Attribute.categorical("ward", ("a", "b", "c", "d"))
    two = SequenceLink(PERSONS, Domain((ward,)), 4, order="time", read_as=read_as)
    rows = [("1", "a", "10"), ("1", "b", "9"), ("1", "c", "2020-01-01"), ("1", "d", "" if read_as == "text" else "soon")]
    assert "".join("abcd"[codes[0]] for codes in read(two, [("1", "0")], rows)[0]) == expected


def test_the_order_of_two_texts_depends_on_no_other_text() -> None:
    letters = ["é", "Z", "a", "aa", "", "b", None, "\U0001f600", "z"]
    rank = ranks(pa.chunked_array([sorted_as(pa.array(letters[:4]), Notation()), sorted_as(pa.array(letters[4:]), Notation())]))
    for one, two in product(range(len(letters)), repeat=2):
        alone = ranks(pa.chunked_array([sorted_as(pa.array([letters[one], letters[two]], pa.string()), Notation())]))
        assert (rank[one] < rank[two]) == (alone[0] < alone[1])
        if letters[one] and letters[two]:
            assert (rank[one] < rank[two]) == (letters[one] < letters[two])  # Python sorts by code points


@pytest.mark.parametrize("column", [pa.nulls(2), pa.array([[1], [0]])], ids=str)
def test_what_is_no_text_keeps_the_order_of_the_file(column: pa.Array) -> None:
    assert wards(SequenceLink(PERSONS, Domain((WARD,)), 3, order="time", read_as="text"), typed(column)) == "ab"


@pytest.mark.parametrize("read_as", ["number", "date"])
@pytest.mark.parametrize("column", [pa.array([2, 1]), pa.array([dt.date(2020, 1, 1), dt.date(1960, 1, 1)])], ids=str)
def test_types_say_how_values_are_read_that_are_no_texts(column: pa.Array, read_as: str) -> None:
    assert wards(SequenceLink(PERSONS, Domain((WARD,)), 3, order="time", read_as=read_as), typed(column)) == "ba"


def test_the_gap_is_the_time_since_the_row_before_and_missing_in_first_rows() -> None:
    rows = [("1", "a", "2020-01-01"), ("1", "b", "2020-01-01"), ("2", "a", "2020-01-09"), ("1", "b", "2020-01-02"), ("2", "b", "unknown")]
    found = read(link(4, gap=True), [("1", "0"), ("2", "1")], rows)
    assert found == [[[0, FIRST_ROW], [1, 0], [1, 1]], [[0, FIRST_ROW], [1, FIRST_ROW]]]  # ties: 0; unknown: as if there were none
    assert read(link(2, gap=True), [("2", "1")], rows[2:]) == [found[1]]


def test_the_gap_has_its_place_among_the_columns() -> None:
    gap = Attribute.integer("gap", 0, 100, edges=[0, 1, 2, 10, 100], missing=True)
    two = link(2)
    two = type(two)(PERSONS, Domain((gap, two.members["ward"])), 2, order="time", gap="gap")
    assert read(two, [("1", "0")], [("1", "b", "1"), ("1", "b", "6")]) == [[[FIRST_ROW, 1], [2, 1]]]


@pytest.mark.parametrize("times", [("1e308", "-1e308"), ("1e999", "1e999"), ("1e999", "-1e999")])
def test_endless_numbers_raise_no_warning(times: tuple[str, str]) -> None:
    """A warning is in a log, and would tell that somebody has such a number."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read(link(gap=True), [("1", "0")], [("1", "a", times[0]), ("1", "b", times[1])])[0]) == 2


def test_other_persons_rows_change_nothing_wherever_they_stand() -> None:
    """Every order in which the file may mix the rows of two persons, of persons who have no row of their own, and of nobody."""
    mine = [("1", "b", "2"), ("1", "a", "1"), ("1", "a", "2")]
    others = [("2", "b", "1"), ("", "b", "1"), ("3", "a", "1970-01-01")]
    alone = read(link(2, gap=True), [("1", "0")], mine)[0]
    for places in {tuple(sorted(order[:3])) for order in permutations(range(6))}:
        left, held = iter(others), iter(mine)
        mixed = [next(held) if place in places else next(left) for place in range(6)]
        for persons in permutations([("1", "0"), ("2", "1"), ("", "1")]):
            found = read(link(2, gap=True), persons, mixed)
            assert found[[key for key, _ in persons if key].index("1")] == alone


def test_values_of_one_person_do_not_change_how_others_times_are_read() -> None:
    mine = [("1", "b", "03.04.2020"), ("1", "a", "2020-04-02"), ("1", "a", "20200401")]
    alone = read(link(gap=True), [("1", "0")], mine)
    for other in ("2020-01-01", "1,000", "12:00", "x", "", "31.12.2020", "1e999", "\u0661"):
        assert read(link(gap=True), [("1", "0")], [("2", "a", other), *mine, ("2", "b", other)]) == alone


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_person_may_be_in_several_batches(kind: str, tmp_path: Path) -> None:
    """Rows of twenty persons, mixed, in a file and in memory."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        {"key": rng.integers(0, 20, 4000).astype(str), "ward": rng.choice(["a", "b"], 4000), "time": rng.integers(0, 50, 4000)}
    )
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        rows.to_csv(path, index=False)
    elif kind == "jsonl":
        rows.to_json(path, orient="records", lines=True)
    else:
        rows.to_parquet(path, row_group_size=100)
    persons = [(str(number), "0") for number in range(20)]
    two = link(5, gap=True)
    first = opened(pd.DataFrame(persons, columns=["key", "region"]), TableFormat())
    found = SequenceSource(two, first, opened(path, TableFormat(kind=kind)), "key")._read()
    ordered = rows.sort_values("time", kind="stable").groupby("key").head(5)
    for number, (key, _) in enumerate(persons):
        mine = ordered[ordered["key"] == key]
        assert found[2][number, :, 0].tolist() == [["a", "b"].index(ward) for ward in mine["ward"]]


class _OneByOne:
    """Records whose batches have one row each."""

    def __init__(self, records: Records) -> None:
        self.table, self.person_column, self._records = records.table, records.person_column, records

    def batches(self, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        for batch in self._records.batches(columns):
            yield from (batch.slice(place, 1) for place in range(batch.num_rows))


def test_a_batch_may_end_within_a_person() -> None:
    rows = [("1", "b", "3"), ("2", "a", "1"), ("1", "a", "1"), ("2", "b", "0"), ("1", "b", "2")]
    whole, made = (source(link(2, gap=True), [("1", "0"), ("2", "0")], rows) for _ in range(2))
    made._members = _OneByOne(made._members)  # type: ignore[assignment]
    assert str(made._read()) == str(whole._read())


def test_persons_without_rows_count_where_a_table_of_persons_is_given() -> None:
    counts = source(link(), [("1", "0"), ("2", "1")], [("2", "b", "1")]).counts([(NUMBER, START, LAST)])[NUMBER, START, LAST]
    assert counts[0, 3, 1] == counts[1, 0, 1] == link().records_each
    assert counts.sum() == 2 * link().records_each


def test_persons_without_rows_do_not_count_where_everybody_has_one() -> None:
    """The keys of the two tables may differ, because the curator named the wrong file; no cell of the domain is theirs."""
    made = source(link(everybody=True), [("1", "0"), ("2", "1")], [("2", "b", "1")])
    for clique in [("ward",), (NUMBER, "ward"), (START, "ward before"), ("region",)]:
        assert made.counts([clique])[clique].sum() == link().records_each
    assert made.counts([("ward",)])[("ward",)].tolist() == [0, link().records_each]


def test_without_persons_nothing_counts() -> None:
    for everybody in (False, True):
        assert source(link(everybody=everybody), [], [("1", "a", "1")]).counts([("ward",)])[("ward",)].sum() == 0


def test_columns_that_are_not_there_are_named() -> None:
    persons = opened(pd.DataFrame({"key": ["1"], "region": ["0"]}), TableFormat())
    for columns in (["key", "ward"], ["key", "time"], ["ward", "time"]):
        rows = opened(pd.DataFrame({name: ["1"] for name in columns}), TableFormat())
        missing = ({"key", "ward", "time"} - {*columns}).pop()
        refused(SequenceSource, link(), persons, rows, "key", saying=missing)


def test_one_file_is_both_tables(tmp_path: Path) -> None:
    """Of a person who contradicts a constant column, the first row's value counts, whatever its time."""
    path = tmp_path / "stays.csv"
    path.write_text("key,region,ward,time\n1,1,a,9\n1,0,b,2\n2,0,b,1\n,1,a,1\n")
    table = opened(path, TableFormat())
    made = SequenceSource(link(everybody=True), table, table, "key")
    persons, sizes, rows = made._read()
    assert persons[:, 0].tolist() == [1, 0]
    assert [rows[i, : sizes[i], 0].tolist() for i in range(2)] == [[1, 0], [1]]


def test_another_domain_of_persons_leaves_rows_as_they_are() -> None:
    made = source(link(rules=()), [("1", "0")], [("1", "b", "2"), ("1", "a", "1")])
    other = made.over(Domain.from_json({"region": 1}))
    clique = (START, "ward", "ward before")
    assert other.counts([clique])[clique].tolist() == made.counts([clique])[clique].tolist()


def test_every_row_of_small_tables_is_beside_the_rows_before_it() -> None:
    """All sequences of up to four rows, by hand."""
    two = link(4)
    clique = (NUMBER, START, LAST, "ward", "ward before", "ward two before")
    for size in range(5):
        for stays in product(range(2), repeat=size):
            rows = [("1", "ab"[stay], str(time)) for time, stay in enumerate(stays)]
            expected = np.zeros(two.domain.sizes(clique), dtype=np.int64)
            for place, stay in enumerate(stays):
                before, two_before = (stays[place - back] if place >= back else 2 for back in (1, 2))
                expected[size, min(place, 2), int(place == size - 1), stay, before, two_before] += two.records_each // size
            if not stays:
                expected[0, 3, 1, 2, 2, 2] = two.records_each
            assert (source(two, [("1", "0")], rows[::-1]).counts([clique])[clique] == expected).all()


def test_the_order_may_be_a_column_that_is_released() -> None:
    day = Attribute.day("time", "2020-01-01", "2020-12-31", bins=2)
    two = link(4)
    two = type(two)(PERSONS, Domain((two.members["ward"], day)), 4, order="time")
    rows = [("1", "a", "2020-12-01"), ("1", "b", "2020-01-05"), ("1", "a", "2019-01-01"), ("1", "b", "unknown")]
    assert [ward for ward, _ in read(two, [("1", "0")], rows)[0]] == [0, 1, 0, 1]
