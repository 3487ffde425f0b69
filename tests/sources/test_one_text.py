"""Equal values have one text, so that a person has one name: in every type, in every file of a folder, in both of two linked tables."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from dpsynth_core.sources.arrays import texts
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.held import Frame
from dpsynth_core.sources.linked import LinkedSource
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link
from tests.additions import added, listed
from tests.sources.engines import ENGINES
from tests.sources.written import WRITERS

DOMAIN = Domain((Attribute.categorical("x", ["a", "b"]),))
FLOATS = (pa.float16(), pa.float32(), pa.float64())
DECIMALS = (
    pa.decimal32(9, 2),
    pa.decimal64(18, 4),
    pa.decimal128(38, 0),
    pa.decimal128(38, 19),
    pa.decimal256(76, 9),
    pa.decimal256(76, 38),
)
WHOLE = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64(), *FLOATS, *DECIMALS)
IDS = [
    0,
    7,
    -7,
    100,
    2**11,
    1_234_567_890,
    12_345_678_901,
    198_001_011_234,
    2**53,
    2**63 - 2**10,
    -(2**63),
    2**63,
    2**64 - 2**11,
    10**20,
    10**22,
]


def one(value: Any, kind: pa.DataType) -> pa.Array | None:
    """An array of this one value and a null; None where the type does not hold it exactly."""
    try:
        number = (
            value
            if pa.types.is_integer(kind)
            else Decimal(value)
            if pa.types.is_decimal(kind)
            else np.dtype(kind.to_pandas_dtype()).type(value)
        )
        array = pa.array([number, None], kind)
        return array if array[0].as_py() == value else None
    except (pa.ArrowException, OverflowError):
        return None


@pytest.mark.parametrize("number", IDS)
def test_a_whole_number_is_written_as_the_integer_in_every_type_that_holds_it(number: int) -> None:
    arrays = [array for kind in WHOLE if (array := one(number, kind)) is not None]
    assert len(arrays) >= 2
    assert {tuple(texts(array).to_pylist()) for array in arrays} == {(str(number), None)}


@pytest.mark.parametrize("text", ["0.5", "-1.25", "10.01", "1e-7", "-1.5e-9", "12345678901.5", "1234567890123.25", "0.0001"])
def test_a_fraction_has_the_same_text_as_a_double_and_as_a_decimal_of_any_scale(text: str) -> None:
    decimals = [pa.array([Decimal(text)], pa.decimal128(38, scale)) for scale in range(max(2, -Decimal(text).as_tuple().exponent), 20)]
    assert {texts(array)[0].as_py() for array in [pa.array([float(text)]), *decimals]} == {text}


def test_zeros_infinities_and_what_is_no_number() -> None:
    assert texts(pa.array([-0.0, 0.0, np.inf, -np.inf, np.nan, None])).to_pylist() == ["0", "0", "inf", "-inf", None, None]
    assert texts(pa.array([1e300]))[0].as_py() == str(int(1e300))
    assert texts(pa.array([Decimal("0.00"), None])).to_pylist() == ["0", None]
    assert texts(pa.array([Decimal(1200)], pa.decimal128(9, -2))).to_pylist() == ["1200"]
    assert texts(pa.array([], pa.float64())).to_pylist() == []


def _written(path: Path, table: pa.Table) -> None:
    {".parquet": pq.write_table, ".feather": feather.write_feather}[path.suffix](table, path)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("number", [1_234_567_890, 12_345_678_901, 198_001_011_234])
def test_a_person_counts_once_in_a_folder_whose_files_have_the_number_in_several_types(tmp_path: Path, suffix: str, number: int) -> None:
    for kind in (pa.int64(), pa.uint64(), pa.float64(), pa.decimal128(24, 1), pa.decimal128(24, 2)):
        _written(
            tmp_path / f"{str(kind).replace(' ', '')}{suffix}",
            pa.table({"id": pa.array([number, 5, None]).cast(kind), "x": ["a", "b", "a"]}),
        )
    counts = ArrowSource(DOMAIN, tmp_path, TableFormat(suffix[1:]), "id", 1).counts([("x",)])
    assert counts[("x",)].tolist() == [1, 1]


def test_a_person_counts_once_in_text_that_a_program_wrote_with_and_without_a_missing_identifier(tmp_path: Path) -> None:
    pd.DataFrame({"id": [198_001_011_234, 5], "x": ["a", "b"]}).to_csv(tmp_path / "2023.csv", index=False)
    pd.DataFrame({"id": [198_001_011_234, 5, None], "x": ["a", "b", "a"]}).to_csv(tmp_path / "2024.csv", index=False)
    assert ArrowSource(DOMAIN, tmp_path, TableFormat(), "id", 1).counts([("x",)])[("x",)].tolist() == [1, 1]
    (tmp_path / "2023.csv").write_text("id;x\n12,0;a\n12;b\n12,00;b\n1.0;b\n", encoding="utf-8")
    (tmp_path / "2024.csv").write_text("id;x\n012;a\n12,5;a\nA1,0;a\n", encoding="utf-8")
    form = TableFormat(delimiter=";", decimal=",")
    assert ArrowSource(DOMAIN, tmp_path, form, "id", 1).counts([("x",)])[("x",)].tolist() == [4, 1]  # 12, 1.0, 012, 12,5 and A1,0


@pytest.mark.parametrize("name", list(ENGINES))
@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(24, 2)], ids=str)
def test_every_engine_writes_a_number_of_any_type_alike(tmp_path: Path, name: str, kind: pa.DataType) -> None:
    if not ENGINES[name].decimals and pa.types.is_decimal(kind):
        pytest.skip("it has no decimals")
    numbers = pa.array([198_001_011_234, 5, 198_001_011_234, None, 5]).cast(kind)
    domain = Domain((Attribute.categorical("n", ["5", "198001011234"], other=True, missing=True), *DOMAIN))
    records = pa.table({"n": numbers, "x": ["a", "b", "a", "a", "b"], "id": numbers})
    counts = ENGINES[name].open(tmp_path, records, domain, "id", 1).counts([("n",), ("x",)])
    assert counts[("n",)].tolist() == [1, 1, 0, 0]
    assert counts[("x",)].tolist() == [1, 1]


@pytest.mark.parametrize("last", [12_345_678_901, None], ids=["every member has a key", "one has none"])
@pytest.mark.parametrize(
    "kinds", [("parquet", "parquet"), ("csv", "csv"), ("parquet", "csv"), *listed("LINKED")], ids="-".join
)
def test_members_find_their_household_whatever_the_type_of_the_key(tmp_path: Path, kinds: tuple[str, str], last: int | None) -> None:
    write: dict[str, Callable[[pd.DataFrame, Path], object]] = {
        "parquet": lambda frame, path: frame.to_parquet(path, index=False),
        "csv": lambda frame, path: frame.to_csv(path, index=False),
    }
    further = {kind: ending for module in added("lists") for kind, ending in getattr(module, "ENDINGS", {}).items()}
    frames = pd.DataFrame({"k": [10**11, 5], "x": ["a", "b"]}), pd.DataFrame({"k": [10**11, 5, last], "sex": ["f", "f", "f"]})
    tables = []
    for place, (kind, frame) in enumerate(zip(kinds, frames, strict=True)):
        path = tmp_path / f"{place}{further.get(kind, f'.{kind}')}"
        if kind in write:
            write[kind](frame, path)
        else:
            WRITERS[path.suffix](pa.Table.from_pandas(frame), path)
        tables.append(opened(path, TableFormat(kind)))
    link = Link(DOMAIN, Domain((Attribute.categorical("sex", ["f", "m"]),)), 2)
    counts = LinkedSource(link, tables[0], tables[1], "k").counts([("members",)])[("members",)]
    assert (counts // link.records_each).tolist() == [0, 2, 0]


ODD = {
    "whole numbers": [1, 2, 1],
    "truths": [True, False, True],
    "texts": ["a", "b", "a"],
    "days": list(pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-01"])),
    "objects": [1, "x", 1],
}


@pytest.mark.parametrize("values", ODD.values(), ids=list(ODD))
def test_a_missing_value_changes_its_own_cell_of_a_pandas_category_alone(values: list[Any]) -> None:
    def cells(some: list[Any]) -> list[str | None]:
        (batch,) = Frame(pd.DataFrame({"c": pd.Series(pd.Categorical(some))})).batches(["c"], ".")
        return texts(batch.column(0).dictionary_decode()).to_pylist()  # type: ignore[no-any-return]

    whole = cells(values)
    assert None not in whole
    assert cells([*values[:2], None]) == [*whole[:2], None]


def test_a_lone_surrogate_of_a_text_of_pandas_stays_in_its_cell() -> None:
    (batch,) = Frame(pd.DataFrame({"c": pd.Series(["a", "\ud800", None], dtype="string[python]")})).batches(["c"], ".")
    assert batch.column(0).to_pylist() == ["a", "?", None]


BEYOND = {
    "a time of 25 hours": (
        pa.array([3600, 90_000], pa.int32()).cast(pa.time32("s")),
        Attribute.listed("t", "categorical", ["01:00:00"], other=True),
    ),
    "a day and a time": (pa.array([0, 90_000], pa.int64()).view(pa.date64()), Attribute.day("t", "1970-01-01", "1970-01-02", other=True)),
}


@pytest.mark.parametrize("beyond", BEYOND)
def test_a_value_that_its_type_does_not_know_is_its_records_own(tmp_path: Path, beyond: str) -> None:
    column, attribute = BEYOND[beyond]
    codes = []
    for suffix in (".feather", ".parquet"):
        _written(tmp_path / f"t{suffix}", pa.table({"t": column}))
        codes += [
            encode_column(attribute, batch.column(0), Notation()).tolist()
            for batch in opened(tmp_path / f"t{suffix}", TableFormat(suffix[1:])).batches(["t"])
        ]
    assert codes[0][0] == 0
    assert codes[0] == codes[1]
