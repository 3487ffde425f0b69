"""Records to codes and back: `encode` sends every value to a cell of its attribute, `decode` draws a value from a cell.

Encoding never fails on a value and never says anything about one; the rules are those of `domain.outside_rule`. Spaces around
text are trimmed first. A listed category is never taken for a missing marker. In number columns text that is no number is missing.
Work is done once per distinct value wherever Arrow can list those, so millions of rows cost little.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.vocabulary.attribute import OTHER_LABEL, Attribute
from dpsynth_core.vocabulary.bins import day_number
from dpsynth_core.vocabulary.domain import Domain

NUMBER_PATTERN = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_DAY_PATTERN = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}($|[T ])"
ARROW_TYPE = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_(), "date": pa.date32()}


def encode(domain: Domain, batch: pa.RecordBatch | pa.Table, missing_markers: AbstractSet[str]) -> dict[str, NDArray[np.int32]]:
    """Codes of every column of the domain, each of shape (rows,). Columns of the batch that the domain lacks are ignored."""
    return {a.name: encode_column(a, batch.column(batch.schema.get_field_index(a.name)), missing_markers) for a in domain}


def encode_column(attribute: Attribute, column: pa.Array | pa.ChunkedArray, missing_markers: AbstractSet[str]) -> NDArray[np.int32]:
    """Codes of one column, shape (rows,)."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if not pa.types.is_dictionary(array.type):
        if pa.types.is_null(array.type) or pa.types.is_nested(array.type):
            return np.full(len(array), attribute.code_for_missing, dtype=np.int32)
        if is_plain_number(array.type) and attribute.kind in ("integer", "numeric", "coded"):
            return _codes(attribute, array, missing_markers)
        array = _distinct(array)
    table = _codes(attribute, array.dictionary, missing_markers)
    table = np.append(table, np.int32(attribute.code_for_missing))  # what a null points to
    return table[pc.fill_null(array.indices.cast(pa.int64()), len(table) - 1).to_numpy(zero_copy_only=False)]


def _distinct(array: pa.Array) -> pa.DictionaryArray:
    try:
        return array.dictionary_encode()
    except pa.ArrowNotImplementedError:  # string views, half floats and the like
        return texts(array).dictionary_encode()


def _codes(attribute: Attribute, values: pa.Array, markers: AbstractSet[str]) -> NDArray[np.int32]:
    """Code of each of the values; no dictionary array."""
    if attribute.is_number or attribute.kind == "coded":
        numbers = day_numbers(values) if attribute.kind == "date" else floats(values, markers)
        return _bin_codes(attribute, numbers)
    return _category_codes(attribute, values, markers)


def _bin_codes(attribute: Attribute, numbers: NDArray[np.float64]) -> NDArray[np.int32]:
    absent = np.isnan(numbers)
    if attribute.kind == "coded":
        bins = np.clip(np.where(absent, 0.0, numbers), 0, attribute.values - 1)
    else:
        bins = np.clip(np.searchsorted(np.asarray(attribute.edges, dtype=np.float64), numbers, side="right") - 1, 0, attribute.values - 1)
    codes = bins.astype(np.int32)
    codes[absent] = attribute.code_for_missing
    return codes


def _category_codes(attribute: Attribute, values: pa.Array, markers: AbstractSet[str]) -> NDArray[np.int32]:
    text = texts(values)
    if attribute.dtype in ("int64", "float64"):
        categories = pa.array([float(c) for c in attribute.categories], pa.float64())
        found = pc.index_in(pa.array(floats(values, frozenset()), from_pandas=True), categories, skip_nulls=True)
    else:
        wanted = pc.utf8_lower(text) if attribute.dtype == "bool" else text
        found = pc.index_in(wanted, pa.array(attribute.categories, pa.string()), skip_nulls=True)
    absent = pc.or_kleene(pc.is_null(text), pc.is_in(text, pa.array(sorted({*markers, ""}), pa.string())))
    elsewhere = pc.if_else(absent, attribute.code_for_missing, attribute.code_for_unlisted)
    return pc.coalesce(found.cast(pa.int64()), elsewhere).to_numpy(zero_copy_only=False).astype(np.int32)


def texts(values: pa.Array) -> pa.Array:
    """Trimmed text of each value, null where it is null or not a number (nan)."""
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), None, values)
    if _is_binary(values.type):
        return pa.array([None if v is None else v.decode("utf-8", "replace").strip() for v in values.to_pylist()], pa.string())
    try:
        text = values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        text = pa.array([None if v is None else str(v) for v in values.to_pylist()], pa.string())
    return pc.utf8_trim_whitespace(text)


def floats(values: pa.Array, missing_markers: AbstractSet[str]) -> NDArray[np.float64]:
    """Each value as float64; nan for null, for text that is no number and for markers (which may be numbers, such as -9)."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    if not is_plain_number(values.type):
        text = texts(values)
        values = pc.if_else(pc.match_substring_regex(text, NUMBER_PATTERN), text, None)
    numbers = pc.fill_null(values.cast(pa.float64(), safe=False), np.nan).to_numpy(zero_copy_only=False)
    marked = [float(m) for m in missing_markers if pc.match_substring_regex(pa.scalar(m), NUMBER_PATTERN).as_py()]
    return np.where(np.isin(numbers, marked), np.nan, numbers) if marked else numbers


def day_numbers(values: pa.Array) -> NDArray[np.float64]:
    """Days since 1970-01-01; nan for null and whatever is no date. Text must begin with year-month-day; a time of day is cut off."""
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):  # with a time zone: the local day
        days = values.cast(pa.date32(), safe=False).cast(pa.int32()).cast(pa.float64())
        return pc.fill_null(days, np.nan).to_numpy(zero_copy_only=False)
    if is_plain_number(values.type) or pa.types.is_boolean(values.type):
        return np.full(len(values), np.nan)
    text = texts(values)
    written = pc.if_else(pc.match_substring_regex(text, _DAY_PATTERN), pc.utf8_slice_codeunits(text, 0, 10), None)
    return np.array([_day(v) for v in written.to_pylist()], dtype=np.float64)


def decode(domain: Domain, codes: NDArray[np.int32], rng: np.random.Generator) -> pa.Table:
    """Rows of values from rows of codes, shape (n, columns of the domain); columns and types as the original's.

    Numbers are uniform inside their bin, whole numbers and dates uniform over the values in it; missing cells become null,
    and "other" the text other (null where the column is not text). Raises ValueError for codes that are no cells.
    """
    if codes.ndim != 2 or codes.shape[1] != len(domain):
        raise ValueError("codes needs one column per attribute of the domain")
    if codes.size and (codes.min() < 0 or (codes.max(axis=0) >= domain.sizes(domain.names)).any()):
        raise ValueError("a code is not a cell of its attribute")
    columns = [_decode_column(attribute, codes[:, i], rng) for i, attribute in enumerate(domain)]
    return pa.table(columns, schema=pa.schema([(a.name, ARROW_TYPE[a.dtype]) for a in domain]))


def strays(domain: Domain, table: pa.Table) -> list[str]:
    """The columns in which a row has a value that `decode` never gives; the table has the domain's columns with their types."""
    return [attribute.name for attribute in domain if _strays(attribute, table.column(attribute.name))]


def _strays(attribute: Attribute, column: pa.ChunkedArray) -> bool:
    if not (attribute.is_number or attribute.kind == "coded"):
        return not pc.all(pc.is_in(column, value_set=_cell_values(attribute)), min_count=0).as_py()
    if column.null_count and (attribute.missing_code is None or attribute.kind == "coded"):
        return True
    numbers = (column.cast(pa.int32()) if attribute.kind == "date" else column).cast(pa.float64()).drop_null().to_numpy()
    low, high = (0, attribute.values) if attribute.kind == "coded" else (attribute.edges[0], attribute.edges[-1])
    return not bool(np.all((numbers >= low) & (numbers < high)))


def _decode_column(attribute: Attribute, codes: NDArray[np.int32], rng: np.random.Generator) -> pa.Array:
    kind = ARROW_TYPE[attribute.dtype]
    if attribute.kind == "coded":
        return pa.array(codes, kind)
    if not attribute.is_number:
        return _cell_values(attribute).take(pa.array(codes))
    absent = codes >= attribute.values
    bins = np.where(absent, 0, codes)
    edges = np.asarray(attribute.edges, dtype=np.float64)
    low, high = edges[bins], edges[bins + 1]
    if attribute.kind == "numeric":
        return pa.array(_uniform(low, high, attribute.decimals, rng), kind, mask=absent)
    whole = rng.integers(low.astype(np.int64), high.astype(np.int64))
    return pa.array(whole.astype(np.int32) if attribute.kind == "date" else whole, kind, mask=absent)


def _cell_values(attribute: Attribute) -> pa.Array:
    """The decoded value of each cell of a categorical attribute."""
    typed: dict[str, Callable[[str], Any]] = {"string": str, "int64": lambda c: int(float(c)), "float64": float, "bool": "true".__eq__}
    values = [typed[attribute.dtype](category) for category in attribute.categories]
    values += [OTHER_LABEL if attribute.dtype == "string" else None] * attribute.other + [None] * attribute.missing
    return pa.array(values, ARROW_TYPE[attribute.dtype])


def _uniform(
    low: NDArray[np.float64], high: NDArray[np.float64], decimals: int | None, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Uniform in [low, high), on the grid of `decimals` digits where the bin holds a point of that grid."""
    drawn = np.minimum(low + rng.random(len(low)) * (high - low), np.nextafter(high, low))
    if decimals is None:
        return drawn
    scale = 10.0**decimals
    below, above = (np.round(rounding(drawn * scale) / scale, decimals) for rounding in (np.floor, np.ceil))
    return np.where(below >= low, below, np.where(above < high, above, drawn))


def _day(text: str | None) -> float:
    try:
        return np.nan if text is None else float(day_number(date.fromisoformat(text)))
    except ValueError:
        return np.nan


def is_plain_number(kind: pa.DataType) -> bool:
    """Whether the values of this Arrow type are numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _is_binary(kind: pa.DataType) -> bool:
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(test(kind) for test in tests)
