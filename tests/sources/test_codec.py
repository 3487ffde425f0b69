"""Values to codes and back: round trips, the rules for missing and outside values, and types of every kind of column."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.release.document import with_readable_times
from dpsynth_core.sources.codec import encode, encode_column
from dpsynth_core.sources.decoding import as_written, decode, strays
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.domains import attributes, domains
from tests.refusals import refused

MARKERS = Notation(frozenset({"", "?", "NA"}))
AGE = Attribute.integer("age", 17, 90, missing=True)
SEX = Attribute.categorical("sex", ["f", "m"], other=True, missing=True)


def codes(attribute: Attribute, values: object, kind: pa.DataType | None = None) -> list[int]:
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, kind)
    return encode_column(attribute, array, MARKERS).tolist()


def random_codes(domain: Domain, rows: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, a.size, rows) for a in domain], axis=1).astype(np.int32)


# Round trips


@given(domains(), st.integers(0, 2**32 - 1))
def test_decoded_rows_encode_to_the_same_codes(domain: Domain, seed: int) -> None:
    drawn = random_codes(domain, 50, seed)
    back = encode(domain, decode(domain, drawn, np.random.default_rng(seed)), MARKERS)
    assert np.array_equal(np.stack([back[name] for name in domain.names], axis=1), drawn)


@given(domains(), st.integers(0, 2**32 - 1))
def test_decoded_rows_encode_to_the_same_codes_after_a_csv(domain: Domain, seed: int) -> None:
    drawn = random_codes(domain, 20, seed)
    table = with_readable_times(decode(domain, drawn, np.random.default_rng(seed)))
    as_text = [pa.array([None if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in c.to_pylist()], pa.string())
               for c in table.columns]  # fmt: skip
    back = encode(domain, pa.table(as_text, names=table.column_names), MARKERS)
    assert np.array_equal(np.stack([back[name] for name in domain.names], axis=1), drawn)


@given(domains())
def test_every_cell_survives_the_round_trip(domain: Domain) -> None:
    for attribute in domain:
        alone = Domain((attribute,))
        every = np.arange(min(attribute.size, 2000), dtype=np.int32)[:, None]
        back = encode(alone, decode(alone, every, np.random.default_rng(0)), MARKERS)[attribute.name]
        assert np.array_equal(back, every[:, 0])


def test_types_and_column_order_come_back() -> None:
    domain = Domain(
        (
            Attribute.day("seen", "2024-01-01", "2024-12-31"),
            Attribute.categorical("ward", ["1", "2"], dtype="int64"),
            Attribute.categorical("smoker", ["false", "true"], dtype="bool", missing=True),
            Attribute.categorical("sex", ["f", "m"]),
            Attribute.integer("age", 0, 9),
            Attribute.numeric("bmi", 10, 60),
            Attribute.categorical("dose", ["0.5", "1"], dtype="float64"),
            Attribute.coded("region", 3),
        )
    )
    table = decode(domain, random_codes(domain, 100, 1), np.random.default_rng(1))
    assert table.column_names == list(domain.names)
    kinds = [pa.date32(), pa.int64(), pa.bool_(), pa.string(), pa.int64(), pa.float64(), pa.float64(), pa.int64()]
    assert table.schema.types == kinds


def test_same_seed_same_rows() -> None:
    domain = Domain((AGE, Attribute.numeric("bmi", 10, 60)))
    drawn = random_codes(domain, 100, 1)
    assert decode(domain, drawn, np.random.default_rng(5)).equals(decode(domain, drawn, np.random.default_rng(5)))


def test_codes_that_are_no_cells_are_refused() -> None:
    domain = Domain((AGE, SEX))
    for wrong in ([[0, 4]], [[-1, 0]], [[75, 0]]):
        refused(decode, domain, np.array(wrong, dtype=np.int32), np.random.default_rng(0), kind=ValueError, saying="not a cell")
    refused(decode, domain, np.zeros((3, 1), dtype=np.int32), np.random.default_rng(0), kind=ValueError, saying="one column per attribute")


def test_no_rows_decode_to_an_empty_table_of_the_right_types() -> None:
    table = decode(Domain((AGE, SEX)), np.zeros((0, 2), dtype=np.int32), np.random.default_rng(0))
    assert table.num_rows == 0
    assert table.schema.types == [pa.int64(), pa.string()]


# Drawing inside a bin


def test_integers_are_uniform_over_the_values_of_their_bin() -> None:
    domain = Domain((Attribute.integer("x", 0, 9, edges=[0, 1, 10]),))
    drawn = decode(domain, np.ones((9000, 1), dtype=np.int32), np.random.default_rng(0))["x"].to_numpy()
    share = np.bincount(drawn, minlength=10)
    assert share[0] == 0
    # nine values, 1000 draws each: standard deviation sqrt(9000 * 1/9 * 8/9) = 30, so 150 is five of them
    assert np.abs(share[1:] - 1000).max() < 150


def test_numbers_are_uniform_inside_their_bin() -> None:
    domain = Domain((Attribute.numeric("x", -5.0, 5.0, edges=[-5, 1, 5]),))
    drawn = decode(domain, np.ones((10_000, 1), dtype=np.int32), np.random.default_rng(0))["x"].to_numpy()
    assert drawn.min() >= 1
    assert drawn.max() <= 5
    # a tenth of the width expects 1000 draws with standard deviation 30; 150 is five of them
    assert np.abs(np.histogram(drawn, 10, (1, 5))[0] - 1000).max() < 150


def test_dates_stay_inside_their_bin() -> None:
    domain = Domain((Attribute.day("d", "2024-02-28", "2024-03-01"),))
    drawn = decode(domain, np.array([[0], [1], [2]], dtype=np.int32), np.random.default_rng(0))["d"].to_pylist()
    assert drawn == [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1)]


def test_decimals_put_numbers_on_a_grid_so_that_zero_is_exactly_zero() -> None:
    domain = Domain((Attribute.numeric("fare", 0, 512.33, edges=[0, 0.01, 100, 512.33], decimals=2),))
    drawn = decode(domain, np.repeat([0, 1, 2], 500)[:, None].astype(np.int32), np.random.default_rng(0))["fare"].to_numpy()
    assert (drawn[:500] == 0).all()
    assert np.array_equal(drawn, np.round(drawn, 2))
    assert np.array_equal(encode(domain, pa.table({"fare": drawn}), MARKERS)["fare"], np.repeat([0, 1, 2], 500))


# Rules


@pytest.mark.parametrize("written", [pa.float64(), pa.float32(), pa.string()])
def test_decimals_in_a_column_of_whole_numbers_are_rounded(written: pa.DataType) -> None:
    ages = Attribute.integer("age", 0, 9, bins=10, other=True, missing=True)
    values = pa.array([-0.6, -0.5, 0.4, 0.5, 0.6, 1.5, 2.5, 8.75, 9.25, 9.5]).cast(written)
    assert codes(ages, values) == [ages.other_code, 0, 0, 0, 1, 2, 2, 9, 9, ages.other_code]


def test_numbers_outside_the_bounds_go_to_the_nearest_bin() -> None:
    assert codes(AGE, [-5, 17, 90, 91, 10**15]) == [0, 0, 73, 73, 73]
    assert codes(AGE, ["-5", "1e9", "-inf", "90.999"]) == [0, 73, 74, 73]
    bmi = Attribute.numeric("bmi", 10, 50, bins=4)
    assert codes(bmi, [9.0, 10.0, 20.0, 50.0, np.inf, -np.inf, None, np.nan]) == [0, 0, 1, 3, 3, 0, 0, 0]
    assert codes(Attribute.day("d", "2024-01-01", "2024-01-10"), ["2023-12-31", "2024-01-02", "2025-01-01"]) == [0, 1, 9]


def test_numbers_outside_the_bounds_have_a_cell_of_their_own_where_there_is_one() -> None:
    age = Attribute.integer("age", 17, 90, other=True, missing=True)
    assert codes(age, [16, 17, 90, 91, None, -np.inf]) == [74, 0, 73, 74, 75, 74]
    assert codes(age, ["16.9", "90.9", "91", "old", "?", " ", "1e999"]) == [0, 74, 74, 74, 75, 75, 74]
    bmi = Attribute.numeric("bmi", 10, 50, bins=4, other=True)
    assert codes(bmi, [9.0, 10.0, 50.0, 50.1, np.inf, None]) == [4, 0, 3, 4, 4, 4]
    day = Attribute.day("d", "2024-01-01", "2024-01-10", other=True, missing=True)
    assert codes(day, ["2023-12-31", "2024-01-10", "2024-01-11", "soon", ""]) == [10, 9, 10, 10, 11]


def test_other_numbers_are_written_as_nothing_and_other_texts_as_a_text_of_their_own() -> None:
    number, text = Attribute.integer("n", 0, 1, other=True, missing=True), Attribute.categorical("t", ["other"], other=True, missing=True)
    rows = decode(Domain((number, text)), np.array([[2, 1], [3, 2], [0, 0]], dtype=np.int32), np.random.default_rng(0))
    assert rows["n"].to_pylist() == [None, None, 0]
    assert rows["t"].to_pylist() == ["(other)", None, "other"]
    assert codes(text, rows["t"]) == [1, 2, 0]
    assert codes(number, rows["n"]) == [3, 3, 0]  # in numbers the two cannot be told apart


def test_text_in_a_number_column_is_missing_where_nothing_else_can_occur() -> None:
    assert codes(AGE, ["old", "1_0", "0x1f", "nan", "4 2", "--1", "³", "1e", "", None, "?"]) == [74] * 11


def test_numbers_are_read_however_they_are_written() -> None:
    assert codes(AGE, ["39", "39.0", " 39 ", "+39", "3.9e1", "39.", "039"]) == [22] * 7
    assert codes(AGE, [39.0, 39.4, 38.6]) == [22, 22, 22]
    assert codes(AGE, [Decimal("39.40")]) == [22]
    for kind in (pa.int8(), pa.uint16(), pa.int64(), pa.float32(), pa.float64(), pa.float16()):
        values = [np.float16(39)] if kind == pa.float16() else [39]
        assert codes(AGE, values, kind) == [22]


@pytest.mark.parametrize("attribute", [AGE, Attribute.integer("age", 17, 90), Attribute.coded("age", 100)])
def test_missing_goes_to_its_cell_or_the_first(attribute: Attribute) -> None:
    expected = attribute.missing_code if attribute.missing else 0
    assert codes(attribute, [None, "?", "", " NA "]) == [expected] * 4
    assert codes(attribute, pa.nulls(2)) == [expected] * 2


def test_a_numeric_marker_means_missing_in_numbers_and_text() -> None:
    for values in (["-9", "-9.0"], [-9, -9], [-9.0, -9.0]):
        assert encode_column(AGE, pa.array(values), Notation(frozenset({"-9"}))).tolist() == [74, 74]


def test_unlisted_categories_go_to_other_then_missing_then_the_first() -> None:
    def unlisted_and_missing(**cells: bool) -> list[int]:
        return codes(Attribute.categorical("x", ["a", "b"], **cells), ["b", "z", None, "?"])

    assert unlisted_and_missing(other=True, missing=True) == [1, 2, 3, 3]
    assert unlisted_and_missing(other=True) == [1, 2, 2, 2]
    assert unlisted_and_missing(missing=True) == [1, 2, 2, 2]
    assert unlisted_and_missing() == [1, 0, 0, 0]


def test_a_listed_category_is_never_taken_for_a_missing_marker() -> None:
    assert codes(Attribute.categorical("country", ["DE", "NA"], missing=True), ["NA", "?", "DE"]) == [1, 2, 0]


def test_space_around_text_is_trimmed_and_case_matters() -> None:
    assert codes(SEX, [" f", "m\t", "\u00a0f\n", "F"]) == [0, 1, 0, 2]


def test_typed_categories_match_by_value() -> None:
    ward = Attribute.categorical("ward", ["1", "2"], dtype="int64", other=True)
    assert codes(ward, ["1", "2.0", " 1 ", "x", None]) == [0, 1, 0, 2, 2]
    assert codes(ward, [1, 2, 3]) == [0, 1, 2]
    assert codes(ward, [1.0, 2.0, None]) == [0, 1, 2]
    zip_code = Attribute.categorical("zip", ["01", "1"])
    assert codes(zip_code, ["01", "1"]) == [0, 1]


def test_booleans_match_by_value() -> None:
    smoker = Attribute.categorical("smoker", ["false", "true"], dtype="bool", missing=True)
    assert codes(smoker, [True, False, None]) == [1, 0, 2]
    assert codes(smoker, ["True", "FALSE", "?"]) == [1, 0, 2]
    assert codes(Attribute.integer("smoker", 0, 1), [True, False]) == [1, 0]


def test_booleans_are_read_as_programs_write_them() -> None:
    """PostgreSQL writes t and f into CSV."""
    smoker = Attribute.categorical("smoker", ["false", "true"], dtype="bool", missing=True)
    spelled = ["t", "f", "T", "F", "y", "n", "Y", "N", "yes", "no", "YES", "No", "true", "false", "1", "0"]
    assert codes(smoker, spelled) == [1, 0] * 8
    assert codes(smoker, [1, 0, 2, None]) == [1, 0, 2, 2]
    assert codes(smoker, ["x", "", "2", "tr", "on"]) == [2] * 5
    marked = encode_column(smoker, pa.array(["N", "n", "true", "Y"]), Notation(frozenset({"N", "true"})))
    assert marked.tolist() == [2, 0, 1, 1]  # a marker beats a spelling, and a value that is listed a marker


def test_numbers_match_text_categories() -> None:
    assert codes(Attribute.categorical("x", ["1", "2.5"], other=True), [1.0, 2.5, np.nan]) == [0, 1, 2]
    assert codes(Attribute.categorical("x", ["1", "2"], other=True), [1, 2, 3]) == [0, 1, 2]


def test_dates_of_every_arrow_type_fall_on_their_day() -> None:
    day = Attribute.day("d", "2024-01-01", "2024-01-31", missing=True)
    late = datetime(2024, 1, 2, 23, 59, 59)
    assert codes(day, [late.date(), None]) == [1, 31]
    for unit in ("s", "ms", "us", "ns"):
        assert codes(day, [late, None], pa.timestamp(unit)) == [1, 31]
    assert codes(day, [late.date()], pa.date64()) == [1]
    assert codes(day, ["2024-01-02", "2024-01-02T23:59", "2024-01-02 10:00:00", "2024-02-30", "02.01.2024", "x"]) == [1, 1, 1, 31, 31, 31]
    assert codes(day, [20240102]) == [31]


def test_a_timestamp_with_a_zone_falls_on_the_local_day() -> None:
    day = Attribute.day("d", "2024-01-01", "2024-01-31")
    midnight_utc = datetime(2024, 1, 1, 23, 30, tzinfo=UTC)
    assert codes(day, pa.array([midnight_utc], pa.timestamp("us", "Europe/Berlin"))) == [1]


def test_dictionaries_with_nulls_inside_and_chunks_are_read() -> None:
    pointed = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 1]), pa.array(["f", None, " m"]))
    assert codes(SEX, pointed) == [0, 3, 3, 1, 3]
    assert codes(SEX, pa.chunked_array([pa.array(["f"]), pa.array(["m", None])])) == [0, 1, 3]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()])
def test_text_of_every_arrow_type_is_read(kind: pa.DataType) -> None:
    assert codes(SEX, pa.array(["f", " m ", "x", None]).cast(kind)) == [0, 1, 2, 3]


@pytest.mark.parametrize("attribute", [AGE, SEX, Attribute.day("d", "2024-01-01", "2024-01-02"), Attribute.coded("k", 3)])
@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"\xff\xfe", b"1"], pa.binary()),
        pa.array([[1], None]),
        pa.array([{"a": 1}, None]),
        pa.array([1, 2], pa.time32("s")),
        pa.array([1, 2], pa.duration("s")),
        pa.array([Decimal("1e30"), None], pa.decimal128(38, 0)),
        pa.array([datetime(1, 1, 1), datetime(9999, 12, 31)], pa.timestamp("us")),
        pa.array([2**63, 2**64 - 1], pa.uint64()),
        pa.array(["9" * 400, "\x00"]),
        pa.array([], pa.string()),
        pa.array([], pa.float64()),
    ],
)
def test_whatever_the_file_holds_encoding_gives_cells(attribute: Attribute, values: pa.Array) -> None:
    codes = encode_column(attribute, values, MARKERS)
    assert codes.dtype == np.int32
    assert len(codes) == len(values)
    assert ((codes >= 0) & (codes < attribute.size)).all()


@given(attributes(), st.lists(st.none() | st.text(max_size=5) | st.floats().map(str) | st.integers().map(str), max_size=20))
def test_whatever_text_comes_encoding_gives_cells(attribute: Attribute, values: list[str | None]) -> None:
    codes = encode_column(attribute, pa.array(values, pa.string()), MARKERS)
    assert ((codes >= 0) & (codes < attribute.size)).all()


@given(attributes(), st.lists(st.none() | st.floats(), max_size=20))
def test_whatever_numbers_come_encoding_gives_cells(attribute: Attribute, values: list[float | None]) -> None:
    codes = encode_column(attribute, pa.array(values, pa.float64()), MARKERS)
    assert ((codes >= 0) & (codes < attribute.size)).all()


@given(st.lists(st.none() | st.text(max_size=4), max_size=30), st.integers(1, 30))
def test_batches_and_dictionaries_do_not_change_codes(values: list[str | None], cut: int) -> None:
    attribute = Attribute.categorical("x", ["a", "b", "1"], other=True, missing=True)
    array = pa.array(values, pa.string())
    whole = codes(attribute, array)
    assert codes(attribute, array.slice(0, cut)) + codes(attribute, array.slice(cut)) == whole
    assert codes(attribute, array.dictionary_encode()) == whole


def test_what_decode_gives_is_never_a_stray_and_everything_else_is() -> None:
    domain = Domain(
        (
            Attribute.categorical("c", ["x", "y"], other=True),
            Attribute.integer("i", 0, 9, bins=2, missing=True),
            Attribute.numeric("n", 0.0, 1.0, bins=4),
            Attribute.day("d", "2020-01-01", "2020-12-31", bins=3),
            Attribute.coded("k", 3),
        )
    )
    rng = np.random.default_rng(0)
    rows = decode(domain, np.column_stack([rng.integers(0, a.size, 500) for a in domain]).astype(np.int32), rng)
    assert strays(domain, rows) == []
    wrong = {"c": "z", "i": 10, "n": -0.1, "d": date(2021, 1, 1), "k": 3}
    for name, value in wrong.items():
        for bad in (value, None):
            if (name, bad) == ("i", None):
                continue  # it may be missing
            column = pa.array([bad, *rows.column(name).to_pylist()[1:]], rows.schema.field(name).type)
            assert strays(domain, rows.set_column(rows.column_names.index(name), name, column)) == [name]


def test_rows_are_read_back_as_the_cells_that_were_published() -> None:
    age = Attribute.integer("age", 0, 9, other=True, missing=True)
    size = Attribute.integer("size", 0, 4, other=True)
    sex = Attribute.categorical("sex", ["f", "m"], other=True, missing=True)
    domain = Domain((age, size, sex))
    every = np.array(list(product(*(range(n) for n in domain.sizes(domain.names)))), dtype=np.int32)
    written = as_written(domain, every)
    again = encode(domain, decode(domain, written, np.random.default_rng(0)), Notation(frozenset()))
    assert np.array_equal(np.column_stack([again[name] for name in domain.names]), written)
    assert np.array_equal(written[:, 1:], every[:, 1:])


# Whatever a declaration says


def test_edges_that_do_not_rise_are_refused_before_a_number_is_looked_up() -> None:
    """Among others a search may go on from where it found the number before."""
    wrong = Attribute.integer("age", 0, 99, edges=[0, 10, 20, 100])
    object.__setattr__(wrong, "edges", (0, 20, 10, 100))
    refused(encode_column, wrong, pa.array([5, 15, 25]), MARKERS, kind=ValueError, saying="edges do not rise")


@pytest.mark.parametrize("declared", ["code_for_missing", "code_for_unlisted"])
@pytest.mark.parametrize("code", [-7, 99])
def test_a_code_is_a_cell_of_the_column_though_its_declaration_is_wrong(
    declared: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Attribute, declared, code)
    found = encode_column(SEX, pa.array(["f", "x", None, "NA", "m"]), MARKERS)
    assert ((found >= 0) & (found < SEX.size)).all()
    assert found[[0, 4]].tolist() == [0, 1]
