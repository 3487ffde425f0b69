"""Values of a table that its domain has no cell for: their number, the cells that they would count in, and the values themselves.

The results are for the curator's eyes only. A column is encoded with extra cells for missing values and for values outside: values in the
extra cells would count as something else if the declared column lacks these cells.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.foundation.zones import Zoned, curator_only
from dpsynth_core.sources import opening
from dpsynth_core.sources.arrays import texts
from dpsynth_core.sources.codec import encode_column, floats, numbers_of
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.opening import TableSource
from dpsynth_core.sources.parts import WHOLE
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

NEAREST = "the nearest group"
MOST_KEPT = 1_000
"""Different values outside a column that are counted one by one."""
_PLACEHOLDERS = {"?", "??", "-", "--", "---", ".", "..", "n/a", "na", "n.a.", "#n/a", "<na>", "none", "null", "(null)", "nil", "nan"}
_PLACEHOLDERS |= {"missing", "unknown", "unk", "not stated", "not known", "not available", "no answer"}
_PLACEHOLDERS |= {"keine angabe", "k.a.", "unbekannt", "-9", "-99", "-999", "9999"}


@dataclass(frozen=True)
class ColumnFit:
    """A comparison of the values of one column with its declaration.

    Attributes:
        column: The column's name.
        rows: The number of rows compared.
        missing: The number of missing values.
        missing_to: The label of the cell in which missing values count if they have no cell of
            their own, else "".
        outside: The number of values outside the domain.
        outside_to: The label of the cell in which values outside count if they have no cell of
            their own, else "".
        values: Different values outside with their counts, the most frequent first. Only the first
            `MOST_KEPT` different values that were met are kept.
        rounded: The number of values with decimals in a column of whole numbers, which rounds them.
    """

    column: str
    rows: int
    missing: int
    missing_to: str
    outside: int
    outside_to: str
    values: tuple[tuple[str, int], ...]
    rounded: int = 0

    @property
    def share_outside(self) -> float:
        """The share of rows, from 0 to 1, with a value outside the domain; 0 without rows."""
        return self.outside / max(1, self.rows)

    @property
    def recoded(self) -> int:
        """The number of rows whose missing or outside value counts in a cell that is not meant for such values."""
        return self.missing * bool(self.missing_to) + self.outside * bool(self.outside_to)

    @property
    def placeholders(self) -> tuple[str, ...]:
        """The values outside that probably mean "missing", such as "n.a." or -9, the most frequent first; () without any."""
        return tuple(value for value, _ in self.values if value.lower() in _PLACEHOLDERS)


def fit(domain: Domain, source: TableSource, form: TableFormat, first: int | None = None) -> Zoned[tuple[ColumnFit, ...]]:
    """Return for every column of the domain how well its values fit the declaration, from one pass.

    The exact counts are curator-only. The columns have the order of the domain.

    Args:
        domain: The declared columns. In a column whose values are to be learnt, only values that
            its kind cannot read are outside.
        source: The table.
        form: The format of the table.
        first: The number of records to read; None for all.

    Raises:
        InputError: The table cannot be read or lacks a column.
    """
    rows, missing, values = 0, Counter[str](), {name: Counter[str]() for name in domain.names}
    beyond, rounded = Counter[str](), Counter[str]()
    listed = {one.name: one.categories for one in domain if one.is_listed}
    for batch in opening.opened(source, form).batches(domain.names, WHOLE, listed):
        batch = batch if first is None else batch.slice(0, first - rows)
        rows += batch.num_rows
        for attribute in domain:
            name, column = attribute.name, batch.column(batch.schema.get_field_index(attribute.name))
            absent, strange = missing_and_outside(attribute, column, form.notation)
            missing[name] += int(absent.sum())
            beyond[name] += int(strange.sum())
            rounded[name] += _rounded(attribute, column, form.notation)
            if strange.any():
                _count(values[name], column.filter(pa.array(strange)))
        if rows == first:
            break
    fits = []
    for attribute in domain:
        name, to, outside_to = attribute.name, missing_label(attribute), outside_label(attribute)
        fits.append(ColumnFit(name, rows, missing[name], to, beyond[name], outside_to, tuple(values[name].most_common()), rounded[name]))
    return curator_only(tuple(fits))


def _rounded(attribute: Attribute, column: pa.Array, notation: Notation) -> int:
    """Return the number of values with decimals if the column is of whole numbers, else 0."""
    if attribute.is_coded or attribute.kind != "integer" or pa.types.is_integer(column.type):
        return 0
    numbers = floats(column.dictionary_decode() if pa.types.is_dictionary(column.type) else column, notation)
    return int((np.isfinite(numbers) & (numbers != np.rint(numbers))).sum())


def outside(attribute: Attribute, column: pa.Array, notation: Notation) -> int:
    """Return the number of values of a column that are outside the domain, an exact private count.

    They are unlisted, beyond the bounds or unreadable; missing values are not among them.

    Args:
        attribute: The declared column.
        column: Its values, of any Arrow type.
        notation: How values are written as text.
    """
    return int(missing_and_outside(attribute, column, notation)[1].sum())


def missing_label(attribute: Attribute) -> str:
    """Return the label of the cell in which missing values count, if the column has no cell of its own for them.

    It is "" if the column has such a cell, or if its values are to be learnt.
    """
    return "" if attribute.missing or attribute.most else attribute.cell_labels()[attribute.code_for_missing]


def outside_label(attribute: Attribute) -> str:
    """Return the label of the cell where values outside count if the column has no cell of its own for them.

    Such values always count somewhere: in the cell that `other_as` names, else in the missing cell, else in the
    first one. Where numbers beyond the bounds, or codes, count in the nearest bin or code, `NEAREST` is returned.

    Returns:
        The label; "" if the column has a cell for such values, or its values are to be learnt.
    """
    if attribute.other or attribute.most:
        return ""
    if attribute.is_coded or (attribute.is_number and attribute.code_for_beyond is None):
        return NEAREST
    return attribute.cell_labels()[attribute.code_for_unlisted]


def missing_and_outside(attribute: Attribute, column: pa.Array, notation: Notation) -> tuple[np.ndarray, np.ndarray]:
    """Return two masks over the rows, shape (rows,): missing values, and values outside the domain.

    In a column whose values are to be learnt, only values that its kind cannot read are outside.

    Args:
        attribute: The declared column.
        column: Its values, of any Arrow type.
        notation: How values are written as text.
    """
    if attribute.most:
        return _unreadable(attribute, column, notation)
    if attribute.is_coded:
        plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        numbers, text = floats(plain, notation), texts(plain)
        absent = pc.or_kleene(pc.is_null(text), notation.absent(text))
        gone = np.asarray(absent.to_numpy(zero_copy_only=False)).astype(bool)
        return gone, ~gone & ~((numbers >= 0) & (numbers < attribute.values))
    probe = attribute.unfolded()
    codes = encode_column(probe, column, notation)
    return codes == probe.missing_code, codes == probe.other_code


def _unreadable(attribute: Attribute, column: pa.Array, notation: Notation) -> tuple[np.ndarray, np.ndarray]:
    """Return the masks of missing and of unreadable values, for a column to be learnt.

    A value is unreadable if it is not a number, date or time of the column's kind; listed kinds
    read every text.
    """
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    text = texts(plain)
    gone = np.asarray(pc.or_kleene(pc.is_null(text), notation.absent(text)).to_numpy(zero_copy_only=False)).astype(bool)
    if not attribute.is_number:
        return gone, np.zeros(len(gone), dtype=bool)
    return gone, ~gone & np.isnan(numbers_of(attribute, plain, notation))


def _count(counter: Counter[str], column: pa.Array) -> None:
    """Add the texts of a column to a counter, which drops new ones once it has `MOST_KEPT`."""
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    for one in pc.value_counts(texts(plain)).to_pylist():
        if one["values"] in counter or len(counter) < MOST_KEPT:
            counter[one["values"]] += one["counts"]
