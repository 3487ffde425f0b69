"""One column of the private table as the curator declares it: which values exist and which cell each of them falls into.

Everything here is public. An attribute may be typed, read from a codebook or guessed, but it never sees a record; turning
records into cells is the codec's business. Cells are numbered from 0: categories or bins first, then the cell for unlisted values
("other"), then the cell for missing ones.

Bins: integers and dates use half-open bins [edge, next edge) whose last edge is upper + 1, so a bin holds whole values;
numeric bins are half-open too, but the last one includes the upper bound. Date edges are days since 1970-01-01.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from itertools import pairwise

from dpsynth_core.errors import InputError

KINDS = ("categorical", "ordinal", "integer", "numeric", "date", "coded")
LABEL_DTYPES = ("string", "int64", "float64", "bool")
MAX_CELLS = 1_000_000
ONE_BIN_PER_VALUE_UP_TO = 100
DEFAULT_BINS = 32
OTHER_LABEL = "other"
MISSING_LABEL = "missing"

_LARGEST_EXACT = 2**53  # beyond it float64 no longer holds every whole number
_EPOCH = date(1970, 1, 1)
_FIXED_DTYPE = {"integer": "int64", "numeric": "float64", "date": "date", "coded": "int64"}

Bound = int | float | date


def column_field(name: str) -> str:
    """How an error names a column: quoted, on one line, at most 80 characters of it."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    return f"column '{shown if len(shown) <= 80 else shown[:79] + '…'}'"


def day_number(day: date) -> int:
    """Days since 1970-01-01."""
    return (day - _EPOCH).days


def day_of(number: float) -> date:
    """The inverse of `day_number`."""
    return _EPOCH + timedelta(days=int(number))


@dataclass(frozen=True)
class Attribute:
    """A column, its possible values and its cells. Prefer the constructors `categorical`, `integer`, `numeric`, `day`, `coded`.

    categories: what the file contains, as text (categorical and ordinal).  labels: names to show instead, one per category, or none.
    dtype: type of the decoded column: "string", "int64", "float64", "bool" for categories; fixed by the kind otherwise.
    lower, upper: public bounds, inclusive; int, float or datetime.date.  edges: bin edges as described in the module.
    decimals: numeric only; digits after the point that decoded values carry, None for all.
    Raises InputError when the declaration contradicts itself.
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    dtype: str = "string"
    lower: Bound | None = None
    upper: Bound | None = None
    edges: tuple[float, ...] = ()
    other: bool = False
    missing: bool = False
    labels: tuple[str, ...] = ()
    decimals: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InputError("domain", "a column has no name", "give every column a name")
        if self.kind not in KINDS:
            raise self._error("kind is not known", f"use one of {', '.join(KINDS)}")
        if self.kind in _FIXED_DTYPE:
            self._check_number()
        else:
            self._check_categories()
        if self.size > MAX_CELLS:
            raise self._error("it has too many values", f"use at most {MAX_CELLS:,} categories or bins, or drop the column")

    @classmethod
    def categorical(
        cls,
        name: str,
        categories: Iterable[str],
        *,
        ordered: bool = False,
        dtype: str = "string",
        other: bool = False,
        missing: bool = False,
        labels: Iterable[str] = (),
    ) -> Attribute:
        """A column with listed values. Text around the values is trimmed, blank ones and repeats are refused."""
        kind = "ordinal" if ordered else "categorical"
        listed = tuple(_text(category) for category in _listed(name, categories, "categories"))
        shown = tuple(_text(label) for label in _listed(name, labels, "labels"))
        return cls(name, kind, listed, dtype=dtype, other=other, missing=missing, labels=shown)

    @classmethod
    def integer(
        cls, name: str, lower: int, upper: int, *, bins: int | None = None, edges: Sequence[float] | None = None, missing: bool = False
    ) -> Attribute:
        """Whole numbers in lower..upper. By default one bin per value up to 100 values, otherwise 32 equal ones."""
        return cls._binned(name, "integer", lower, upper, bins, edges, missing)

    @classmethod
    def numeric(
        cls,
        name: str,
        lower: float,
        upper: float,
        *,
        bins: int | None = None,
        edges: Sequence[float] | None = None,
        missing: bool = False,
        decimals: int | None = None,
    ) -> Attribute:
        """Real numbers in [lower, upper], by default in 32 equal bins."""
        return cls._binned(name, "numeric", lower, upper, bins, edges, missing, decimals)

    @classmethod
    def day(
        cls,
        name: str,
        lower: date | str,
        upper: date | str,
        *,
        bins: int | None = None,
        edges: Sequence[date | str | float] | None = None,
        missing: bool = False,
    ) -> Attribute:
        """Dates from lower to upper (ISO text or datetime.date); edges may be dates or days since 1970-01-01. Bins as for integers."""
        cuts = None if edges is None else [e if _is_number(e) else day_number(_date(name, e)) for e in edges]
        return cls._binned(name, "date", _date(name, lower), _date(name, upper), bins, cuts, missing)

    @classmethod
    def coded(cls, name: str, size: int) -> Attribute:
        """A column that already holds the codes 0..size-1, as in the field's benchmark files."""
        if not _is_whole(size) or size < 1:
            raise InputError(column_field(name), "the number of codes is not a whole number from 1 up", "give the number of distinct codes")
        return cls(name, "coded", lower=0, upper=int(size) - 1)

    @classmethod
    def _binned(
        cls,
        name: str,
        kind: str,
        lower: Bound,
        upper: Bound,
        bins: int | None,
        edges: Sequence[float] | None,
        missing: bool,
        decimals: int | None = None,
    ) -> Attribute:
        if bins is not None and edges is not None:
            raise InputError(column_field(name), "both bins and edges are given", "give one of them")
        lower, upper = _bounds(name, kind, lower, upper)
        cuts = equal_edges(name, kind, lower, upper, bins) if edges is None else _explicit_edges(name, kind, upper, edges)
        return cls(name, kind, lower=lower, upper=upper, edges=cuts, missing=missing, decimals=decimals)

    @property
    def is_number(self) -> bool:
        """Whether the values have bins (integer, numeric, date); codes and categories have none."""
        return self.kind in ("integer", "numeric", "date")

    @property
    def values(self) -> int:
        """Cells without "other" and missing."""
        if self.kind == "coded":
            return int(self.upper) + 1
        return len(self.edges) - 1 if self.is_number else len(self.categories)

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.values + self.other + self.missing

    @property
    def other_code(self) -> int | None:
        return self.values if self.other else None

    @property
    def missing_code(self) -> int | None:
        return self.size - 1 if self.missing else None

    @property
    def code_for_missing(self) -> int:
        """Where a missing value goes: the missing cell if there is one, else "other", else the first cell."""
        return next(code for code in (self.missing_code, self.other_code, 0) if code is not None)

    @property
    def code_for_unlisted(self) -> int:
        """Where an unlisted category goes: "other" if there is such a cell, else the missing cell, else the first."""
        return next(code for code in (self.other_code, self.missing_code, 0) if code is not None)

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        if self.kind == "coded":
            shown = tuple(str(code) for code in range(self.values))
        elif self.is_number:
            shown = tuple(self._bin_label(i) for i in range(self.values))
        else:
            shown = self.labels or self.categories
        for label, wanted in ((OTHER_LABEL, self.other), (MISSING_LABEL, self.missing)):
            shown += (f"({label})" if label in shown else label,) * wanted
        return shown

    def cell_labels(self) -> tuple[str, ...]:
        """What to call each cell in charts and tables, in code order."""
        return self._labels

    @cached_property
    def _digits(self) -> int:
        """Significant digits that tell all edges apart."""
        return 6 if len({f"{e:.6g}" for e in self.edges}) == len(self.edges) else 17

    def _bin_label(self, index: int) -> str:
        low, high = self.edges[index], self.edges[index + 1]
        if self.kind == "numeric":
            digits = self._digits
            return f"[{low:.{digits}g}, {high:.{digits}g}{']' if index == self.values - 1 else ')'}"
        first, last = (day_of(low), day_of(high - 1)) if self.kind == "date" else (low, high - 1)
        return f"{first}" if first == last else f"{first} to {last}"

    def _error(self, problem: str, remedy: str) -> InputError:
        return InputError(column_field(self.name), problem, remedy)

    def _check_number(self) -> None:
        object.__setattr__(self, "dtype", _FIXED_DTYPE[self.kind])
        if self.categories or self.labels or self.other:
            raise self._error("categories, labels and 'other' do not go with numbers", "remove them or make the column categorical")
        if self.kind == "coded":
            if self.lower != 0 or not _is_whole(self.upper) or self.upper < 0 or self.edges or self.missing:
                raise self._error("codes must run from 0 up, without bins", "declare only the number of codes")
            return
        lower, upper = _bounds(self.name, self.kind, self.lower, self.upper)
        edges = self.edges or equal_edges(self.name, self.kind, lower, upper, None)
        _check_edges(self.name, self.kind, lower, upper, edges)
        if self.decimals is not None and (self.kind != "numeric" or not _is_whole(self.decimals) or not 0 <= self.decimals <= 12):
            raise self._error("decimals is not usable", "give 0 to 12 digits, for numeric columns only")
        for field, value in (("lower", lower), ("upper", upper), ("edges", tuple(edges))):
            object.__setattr__(self, field, value)

    def _check_categories(self) -> None:
        if self.lower is not None or self.upper is not None or self.edges or self.decimals is not None:
            raise self._error("bounds and bins do not go with categories", "remove them or choose a number kind")
        if self.dtype not in LABEL_DTYPES:
            raise self._error("dtype is not known", f"use one of {', '.join(LABEL_DTYPES)}")
        if not self.categories and not self.other:
            raise self._error("it has no categories", "list at least one, or drop the column")
        if any(not isinstance(c, str) or not c or c != c.strip() for c in self.categories):
            raise self._error("a category is blank or has spaces around it", "write it out; empty values have the missing cell")
        if len(set(self.categories)) < len(self.categories):
            repeated = next(c for i, c in enumerate(self.categories) if c in self.categories[:i])
            raise self._error(f"category '{repeated}' is listed twice", "remove one of them")
        if self.other and OTHER_LABEL in self.categories:
            raise self._error("'other' is a category and unlisted values have a cell of that name", "switch one of them off")
        if self.labels and len(self.labels) != len(self.categories):
            raise self._error("there is not one label per category", "give a label for each, or none")
        if len(set(self.labels)) < len(self.labels):
            raise self._error("two categories have the same label", "give each its own label, or none")
        self._check_typed_categories()

    def _check_typed_categories(self) -> None:
        if self.dtype == "bool" and not set(self.categories) <= {"false", "true"}:
            raise self._error("dtype bool allows the categories false and true only", "use those, or dtype string")
        if self.dtype in ("int64", "float64"):
            numbers = [_number(category) for category in self.categories]
            whole = self.dtype == "int64"
            if any(n is None or (whole and (not _is_whole(n) or abs(n) >= _LARGEST_EXACT)) for n in numbers):
                raise self._error(f"a category is not a number of dtype {self.dtype}", "correct it, or use dtype string")
            if len(set(numbers)) < len(numbers):
                raise self._error("two categories are the same number", "remove one of them, or use dtype string")


def equal_edges(name: str, kind: str, lower: Bound, upper: Bound, bins: int | None) -> tuple[float, ...]:
    """Edges of `bins` equal bins between the bounds; None picks the default number. InputError if they cannot be made."""
    if bins is not None and (not _is_whole(bins) or not 1 <= bins <= MAX_CELLS):
        raise InputError(column_field(name), "the number of bins is not usable", f"give a whole number from 1 to {MAX_CELLS:,}")
    if kind == "numeric":
        count = DEFAULT_BINS if bins is None else int(bins)
        inner = tuple(lower + (upper - lower) * (i / count) for i in range(1, count))
        return (lower, *inner, upper)
    first, last = _whole_bounds(lower, upper)
    span = last - first + 1
    count = (span if span <= ONE_BIN_PER_VALUE_UP_TO else DEFAULT_BINS) if bins is None else int(bins)
    if count > span:
        raise InputError(column_field(name), "there are more bins than values between the bounds", f"use at most {span} bins")
    return tuple(first + i * span // count for i in range(count + 1))


def _explicit_edges(name: str, kind: str, upper: Bound, edges: Sequence[float]) -> tuple[float, ...]:
    """The given edges; for whole values a last edge at the upper bound is read as including it."""
    if isinstance(edges, str) or not all(_is_number(e) for e in edges):
        raise InputError(column_field(name), "an edge is not a number", "give the bin edges as rising numbers")
    if kind == "numeric":
        return tuple(float(e) for e in edges)
    if not all(_is_whole(e) for e in edges):
        raise InputError(column_field(name), "an edge is not a whole number", "bins of whole numbers start at whole numbers")
    cuts = [int(e) for e in edges]
    last = _whole_bounds(upper, upper)[1]
    if len(cuts) > 1 and cuts[-1] == last:
        cuts[-1] = last + 1
    return tuple(cuts)


def _check_edges(name: str, kind: str, lower: Bound, upper: Bound, edges: Sequence[float]) -> None:
    first, last = (lower, upper) if kind == "numeric" else _whole_bounds(lower, upper)
    if kind != "numeric":
        last += 1
    if len(edges) < 2 or any(not a < b for a, b in pairwise(edges)):
        raise InputError(column_field(name), "the bin edges do not rise", "give at least two edges, each larger than the one before")
    if edges[0] != first or edges[-1] != last:
        raise InputError(column_field(name), "the bin edges do not span the bounds", "start at the lower and end at the upper bound")


def _bounds(name: str, kind: str, lower: object, upper: object) -> tuple[Bound, Bound]:
    if kind == "date":
        usable = isinstance(lower, date) and isinstance(upper, date)
    elif kind == "integer":
        usable = _is_whole(lower) and _is_whole(upper) and max(abs(lower), abs(upper)) < _LARGEST_EXACT
        lower, upper = (int(lower), int(upper)) if usable else (lower, upper)
    else:
        usable = _is_number(lower) and _is_number(upper) and math.isfinite(float(upper) - float(lower))
        lower, upper = (float(lower), float(upper)) if usable else (lower, upper)
    if not usable:
        wanted = {"date": "dates such as 2024-12-31", "integer": "whole numbers"}.get(kind, "finite numbers")
        raise InputError(column_field(name), f"lower and upper bound are not both {wanted}", "give both bounds")
    if lower > upper:
        raise InputError(column_field(name), f"upper bound {upper} is below lower bound {lower}", "swap them or correct one")
    if kind == "numeric" and lower == upper:
        raise InputError(column_field(name), "lower and upper bound are equal", "widen them, or drop the column")
    return lower, upper


def _whole_bounds(lower: Bound, upper: Bound) -> tuple[int, int]:
    if isinstance(lower, date) and isinstance(upper, date):
        return day_number(lower), day_number(upper)
    return int(lower), int(upper)


def _date(name: str, value: object) -> date:
    if isinstance(value, date):
        return date(value.year, value.month, value.day)  # a datetime is cut to its day
    try:
        return date.fromisoformat(str(value).strip())
    except ValueError:
        raise InputError(column_field(name), "a date is not written as year-month-day", "write it like 2024-12-31") from None


def _listed(name: str, values: Iterable[object], what: str) -> tuple[object, ...]:
    if isinstance(values, str):
        raise InputError(column_field(name), f"{what} is one text", "give a list")
    return tuple(values)


def _text(value: object) -> str:
    """A category as text; JSON may give numbers and booleans."""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_number(value: object) -> bool:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) < 1e300  # false for infinities and nan, and never overflows


def _is_whole(value: object) -> bool:
    return _is_number(value) and float(value).is_integer()
