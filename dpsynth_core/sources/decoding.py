"""Codes to synthetic rows: `decode` draws a value within each cell, and uses no record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.foundation.arrow_times import NO_TIME, array, micros
from dpsynth_core.sources import times
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import TYPED, Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import Inside, Parts
from dpsynth_core.vocabulary.kinds.times import MICROSECONDS
from dpsynth_core.vocabulary.order import positions
from dpsynth_core.vocabulary.ranges import Chosen
from dpsynth_core.vocabulary.recoding import other_is_missing
from dpsynth_core.vocabulary.rows import narrow

if TYPE_CHECKING:
    from dpsynth_core.sources.ordering import Codes
    from dpsynth_core.vocabulary.filled import Filled, RowColumn

BATCH_ROWS = 250_000
_ARROW_TYPE = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_(), "date": pa.date32()}


def arrow_type(attribute: RowColumn) -> pa.DataType:
    """Return the Arrow type of a column of synthetic rows.

    Moments are timestamps without a time zone, times of day are times, and durations are durations. All three
    are in milliseconds, which every file format keeps, or in microseconds if the column's precision is finer.
    Dates are date32; other columns are string, int64, float64 or bool, as their `dtype` says.
    """
    if attribute.dtype not in times.READERS:
        return _ARROW_TYPE[attribute.dtype]
    fine = MICROSECONDS[attribute.precision] < MICROSECONDS["millisecond"]
    if attribute.dtype == "time":
        return pa.time64("us") if fine else pa.time32("ms")
    return (pa.timestamp if attribute.dtype == "timestamp" else pa.duration)("us" if fine else "ms")


def typed(domain: Domain, table: pa.Table) -> pa.Table:
    """Return the table with times that are text converted to the types of the domain; null stays null.

    A table whose column names are not the domain's, in order, is returned unchanged.

    Raises:
        ValueError: A text is not a time.
    """
    if table.column_names != list(domain.column_names):
        return table
    for place, attribute in enumerate(domain.columns):
        if isinstance(attribute, Attribute) and attribute.dtype in times.READERS:
            text = table.column(attribute.name).combine_chunks()
            counts = times.READERS[attribute.dtype](text, Notation(frozenset()), 1)
            absent = counts == NO_TIME
            if absent.sum() != text.null_count:
                raise ValueError("a text is not a time")
            table = table.set_column(place, attribute.name, array(np.where(absent, 0, counts), arrow_type(attribute), absent))
    return table


def as_written(domain: Domain, codes: Codes) -> Codes:
    """Return the cells that the rows are in after they were written to a file and read back.

    Only one case differs: in a column that is not text, a value outside the domain is written as
    null, so it comes back in the cell for missing values, if there is one. `codes` is not changed.

    Args:
        domain: The domain.
        codes: The cells of the rows from 0, shape (n, columns of the domain).
    """
    written = codes.astype(narrow(domain.sizes(domain.names)))
    for column, attribute in zip(written.T, domain, strict=True):
        if other_is_missing(attribute):
            column[column == attribute.other_code] = attribute.missing_code
    return written


def decode(
    domain: Domain, codes: Codes, rng: np.random.Generator, first: int = 0, inside: Mapping[str, Inside] = MappingProxyType({})
) -> pa.Table:
    """Return a table of values drawn at random within the given cells, with the domain's columns and types.

    A number of a bin is drawn uniformly. If the column has an entry in `inside`, a part of the bin
    is drawn first, by its share, and then a number uniformly from this part. A cell for missing
    values becomes null, and a cell for other values becomes the text "other" (`Attribute.other_text`); null where
    the column is not text, because a number there would be taken for a value. Orders of columns are kept
    (`ordering`). The same codes and the same state of `rng` give the same table.

    Args:
        domain: The domain.
        codes: The cell of each row and column from 0, shape (n, attributes of the domain).
        rng: The source of randomness.
        first: The number of earlier rows, so that identifiers continue.
        inside: The distribution of numbers within the bins, by column.

    Raises:
        ValueError: `codes` has another shape, or a code is not a cell.
        InputError: The parts in `inside` do not divide the bins of their column.
    """
    if codes.ndim != 2 or codes.shape[1] != len(domain):
        raise ValueError("codes needs one column per attribute of the domain")
    if codes.size and (codes.min() < 0 or (codes.max(axis=0) >= domain.sizes(domain.names)).any()):
        raise ValueError("a code is not a cell of its attribute")

    parts = {name: one.of(domain[name]) for name, one in inside.items()}

    def draw(attribute: Attribute, cells: Codes) -> NDArray[Any]:
        return _drawn(attribute, cells, rng, parts.get(attribute.name))

    numbers = {a.name: draw(a, codes[:, i]) for i, a in enumerate(domain) if a.is_number}
    if domain.orders:
        from dpsynth_core.sources.ordering import in_order  # loaded for orders of columns alone

        numbers = in_order(domain, codes, numbers, draw, rng)
    columns = {a.name: _written_column(a, codes[:, i], numbers.get(a.name)) for i, a in enumerate(domain)}
    columns |= {column.name: filled(column, len(codes), first) for column in domain.filled}
    schema = pa.schema([(column.name, arrow_type(column)) for column in domain.columns])
    return pa.table([columns[name] for name in domain.column_names], schema=schema)


def extremes(domain: Domain) -> pa.Table:
    """Return three invented rows: the smallest values, the largest values, and only nulls.

    For texts, the shortest and the longest listed text stand in place of the smallest and largest.
    Where the values of a column are unknown, all three rows are null.
    """
    ends = {column.name: _ends(column) for column in domain.columns}
    return pa.table([pa.array([*ends[c.name], None], arrow_type(c)) for c in domain.columns], names=list(domain.column_names))


def _ends(column: RowColumn) -> list[Any]:
    """Return the first and the last value of a column; [None, None] where its values are unknown.

    They are unknown where they are to be learnt, or where no value is declared.
    """
    if not isinstance(column, Attribute):
        from dpsynth_core.vocabulary.filled import MOST_ROWS  # loaded for constants and identifiers alone

        return [*column.values(1), *column.values(1, MOST_ROWS - 1)] or [None, None]
    if column.most or not column.values:
        return [None, None]
    if column.is_coded:
        return [0, column.values - 1]
    if column.is_listed:
        values = sorted(map(TYPED[column.dtype], column.categories), key=len if column.dtype == "string" else None)
        return [values[0], values[-1]]
    first, last = column.edges[0], column.edges[-1]
    numbers = np.array([first, last - 1 if column.scale.whole else np.nextafter(last, first)])
    return _written_column(column, np.array([0, column.values - 1]), numbers).to_pylist()


def filled(column: Filled, rows: int, first: int = 0) -> pa.Array:
    """Return the values of a column that is filled in by rule (a constant or an identifier).

    Args:
        column: The column.
        rows: The number of rows.
        first: The number of earlier rows, so that identifiers continue.
    """
    return pa.array(column.values(rows, first), arrow_type(column))


def within(attribute: Attribute, codes: Codes, column: pa.ChunkedArray, of: Chosen) -> NDArray[np.bool_]:
    """Return which rows have a chosen value, a mask of shape (rows,).

    Args:
        attribute: The column.
        codes: The cell of each row, from 0; all are chosen cells.
        column: The values of the rows, made by `decode`.
        of: The chosen cells. In a cut cell, only values in the chosen spans count; rows in other chosen cells
            always count.
    """
    inside = ~np.isin(codes, list(of.cut))
    known = codes < attribute.values
    numbers = np.full(len(codes), np.nan)
    numbers[known] = _plain_numbers(attribute, column.drop_null())
    for code, spans in of.cut.items():
        inside |= (codes == code) & np.logical_or.reduce([(numbers >= low) & (numbers < high) for low, high in spans])
    return inside


def strays(domain: Domain, table: pa.Table, first: int = 0) -> list[str]:
    """Return the names of the columns in which some row has a value that `decode` cannot produce, in order; [] if all fit.

    Args:
        domain: The domain.
        table: The rows, with the domain's columns and their types.
        first: The number of rows before these, which decides the values of identifiers.
    """
    wrong = {attribute.name for attribute in domain if _strays(attribute, table.column(attribute.name))}
    wrong |= {one.name for one in domain.filled if not one.holds(table.column(one.name).to_pylist(), first)}
    return [name for name in domain.column_names if name in wrong]


def disordered(domain: Domain, table: pa.Table) -> int:
    """Return the number of rows that break an order of columns, such as "admission at most discharge".

    Rows in which one of the two values is null do not count; a row counts once.

    Args:
        domain: The domain with the orders.
        table: The rows, with the domain's columns and their types.
    """
    wrong = np.zeros(table.num_rows, dtype=bool)
    for rule in domain.orders:
        pair = [table.column(name).combine_chunks() for name in (rule.first, rule.second)]
        both = np.logical_and(*(values.is_valid().to_numpy(zero_copy_only=False) for values in pair))
        columns = zip((domain[rule.first], domain[rule.second]), pair, strict=True)
        first, second = (positions(a, _plain_numbers(a, values.filter(pa.array(both)))) for a, values in columns)
        wrong[both] |= ~rule.holds(first, second)
    return int(wrong.sum())


def _strays(attribute: Attribute, column: pa.ChunkedArray) -> bool:
    """Return whether some value of a column is not one that `decode` can produce."""
    if attribute.is_listed:
        return not pc.all(pc.is_in(column, value_set=_cell_values(attribute)), min_count=0).as_py()
    if column.null_count and attribute.size == attribute.values:
        return True
    numbers = _plain_numbers(attribute, column.drop_null())
    low, high = (0, attribute.values) if attribute.is_coded else (attribute.edges[0], attribute.edges[-1])
    return not bool(np.all((numbers >= low) & (numbers < high)))


def _plain_numbers(attribute: Attribute, column: pa.Array | pa.ChunkedArray) -> NDArray[np.float64]:
    """Return the values of a column made by `decode` as numbers on the scale of its edges.

    Dates are days since 1970-01-01 and times are in units of the column's precision; nan for a time
    that is finer than this precision.
    """
    if attribute.dtype in times.READERS:
        unit = MICROSECONDS[attribute.precision]
        counts = micros(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
        return np.where(counts % unit == 0, counts // unit, np.nan)
    return np.asarray((column.cast(pa.int32()) if attribute.dtype == "date" else column).cast(pa.float64()).to_numpy())


def _drawn(attribute: Attribute, codes: Codes, rng: np.random.Generator, parts: Parts | None) -> NDArray[Any]:
    """Return a random number from the bin of each code, any number for codes without a bin.

    With `parts`, a part of the bin is drawn first and then a number from this part.
    """
    bins = np.where(codes >= attribute.values, 0, codes)
    edges = np.asarray(attribute.edges, dtype=np.float64) if parts is None else parts.edges
    places = bins if parts is None else parts.drawn(bins, rng)
    low, high = edges[places], edges[places + 1]
    if attribute.scale.whole:
        return rng.integers(low.astype(np.int64), high.astype(np.int64))
    drawn = np.minimum(low + rng.random(len(low)) * (high - low), np.nextafter(high, low))
    if attribute.decimals is None:
        return drawn
    scale = 10.0**attribute.decimals  # on the grid of so many digits where the bin holds a point of that grid
    below, above = (np.round(rounding(drawn * scale) / scale, attribute.decimals) for rounding in (np.floor, np.ceil))
    return np.where(below >= low, below, np.where(above < high, above, drawn))


def _written_column(attribute: Attribute, codes: Codes, numbers: NDArray[Any] | None) -> pa.Array:
    """Return the values of a column in its Arrow type, from its codes.

    Args:
        attribute: The column.
        codes: The cell of each row.
        numbers: The drawn number of each row if the column has bins, else None.
    """
    kind = arrow_type(attribute)
    if numbers is None:
        return pa.array(codes, kind) if attribute.is_coded else _cell_values(attribute).take(pa.array(codes))
    absent = codes >= attribute.values
    if attribute.dtype in times.READERS:
        return array(numbers * MICROSECONDS[attribute.precision], kind, absent)
    return pa.array(numbers.astype(np.int32) if attribute.dtype == "date" else numbers, kind, mask=absent)


def _cell_values(attribute: Attribute) -> pa.Array:
    """Return the value that rows write for each cell of a listed column, in code order."""
    values = [TYPED[attribute.dtype](category) for category in attribute.categories]
    values += [attribute.other_text if attribute.dtype == "string" else None] * attribute.other + [None] * attribute.missing
    return pa.array(values, _ARROW_TYPE[attribute.dtype])


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Synthetic rows as codes, whose values are drawn within the cells when a batch is requested.

    Each pass over the batches draws the same values.

    Attributes:
        domain: The domain.
        codes: The cells, shape (rows, attributes of the domain).
        state: The state of the random generator that draws the first batch.
        seed: The seed of the generators of the later batches, together with the batch's number.
        inside: The distribution of numbers within the bins, by column.
    """

    domain: Domain
    codes: Codes
    state: Mapping[str, Any]
    seed: int
    inside: Mapping[str, Inside] = field(default_factory=dict)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self.codes)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows in order, as tables of at most 250,000 rows (`BATCH_ROWS`), at least one table.

        Args:
            columns: The columns of the tables; None for all. Without rows, the one table is empty.
        """
        for start in range(0, max(1, len(self.codes)), BATCH_ROWS):
            rng = np.random.default_rng((self.seed, start // BATCH_ROWS))
            if not start:
                rng.bit_generator.state = dict(self.state)
            batch = decode(self.domain, self.codes[start : start + BATCH_ROWS], rng, start, self.inside)
            yield batch if columns is None else batch.select(columns)
