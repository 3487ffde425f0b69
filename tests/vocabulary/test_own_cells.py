"""Values that have a cell of their own: in the document, in words, in rows, and read back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.decoding import decode, strays
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.domain import Domain

COLUMNS = (
    Attribute.integer("gain", 0, 99_999, width=5000, own_cells=[0, 99_999]),
    Attribute.integer("typed", 0, 99_999, width=5000, own_cells="0 15024"),
    Attribute.integer("edges", 0, 50, edges=[0, 1, 20], own_cells=[30]),
    Attribute.numeric("price", 0, 100, width=10, own_cells=[0, 55.5]),
    Attribute.numeric("change", -50, 100, edges=[-50, 20, 100], own_cells=[0], decimals=2),
    Attribute.day("born", "1900-01-01", "2024-12-31", width="year", own_cells=["1900-01-01"]),
)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda one: one.name)
def test_the_document_says_them_and_is_read_back(column: Attribute) -> None:
    assert Column.from_json(Column.of(column).to_json()).complete() == column


def test_the_document_is_as_short_as_what_was_typed() -> None:
    stated = Column.of(COLUMNS[3]).to_json()
    assert (stated["bins"], stated["own_cells"]) == (10, [0, 55.5])
    assert "own_cells" not in Column.of(Attribute.integer("one each", 0, 9)).to_json()
    assert "own_cells" not in Column.of(Attribute.integer("as ever", 0, 99, edges=[0, 1, 20])).to_json()


def test_people_read_the_value_and_what_is_left_of_its_neighbours() -> None:
    gain, price = COLUMNS[0].cell_labels(), COLUMNS[3].cell_labels()
    assert gain[:2] == ("0", "1 to 4999")
    assert gain[-2:] == ("95000 to 99998", "99999")
    assert price[:3] == ("0", "(0, 10)", "[10, 20)")
    assert price[6:9] == ("[50, 55.5)", "55.5", "(55.5, 60)")


def test_rows_with_the_value_are_in_its_cell_and_no_others() -> None:
    domain = Domain(tuple(one for one in COLUMNS if one.name in ("gain", "price", "change")))
    near = float(np.nextafter(55.5, 0))
    table = pa.table({"gain": [0, 1, 99_999, 99_998], "price": [0.0, near, 55.5, 5e-324], "change": [0.0, -0.0, 0.01, -0.01]})
    codes = encode(domain, table, Notation(frozenset()))
    assert codes["gain"].tolist() == [0, 1, 21, 20]
    assert codes["price"].tolist() == [0, 6, 7, 1]
    assert codes["change"].tolist() == [1, 1, 2, 0]


def test_what_is_drawn_from_its_cell_is_the_value() -> None:
    domain = Domain(COLUMNS)
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(0, one.values, 3000) for one in domain], axis=1).astype(np.int32)
    rows = decode(domain, codes, rng)
    again = encode(domain, rows, Notation(frozenset()))
    for place, one in enumerate(domain):
        assert (again[one.name] == codes[:, place]).all()
    assert set(rows["price"].to_numpy()[codes[:, 3] == 7]) == {55.5}
    assert set(rows["change"].to_numpy()[codes[:, 4] == 1]) == {0.0}
    assert not strays(domain, rows)


@pytest.mark.parametrize(
    ("own", "problem"), [([100_000], "not between the bounds"), (7, "no list"), (["none"], "is not a whole number"), ([-1], "not between")]
)
def test_what_is_no_value_of_the_column_is_refused(own: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Attribute.integer("gain", 0, 99_999, width=5000, own_cells=own)
