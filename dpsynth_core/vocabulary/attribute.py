"""One column of the private table as the curator declares it: which values exist and which cell each of them falls into.

Everything here is public. An attribute may be typed, read from a codebook or guessed, but it never sees a record; turning
records into cells is the codec's business. Cells are numbered from 0: categories or bins first, then the cell for unlisted values
("other"), then the cell for missing ones.

`bins` defines bins and their edges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.bins import (
    LARGEST_EXACT,
    MAX_CELLS,
    check_edges,
    checked_bounds,
    column_field,
    day_number,
    day_of,
    equal_edges,
    explicit_edges,
    is_number,
    is_whole,
    parse_day,
)

KINDS = ("categorical", "ordinal", "integer", "numeric", "date", "coded")
LABEL_DTYPES = ("string", "int64", "float64", "bool")
OTHER_LABEL = "other"
MISSING_LABEL = "missing"

_FIXED_DTYPE = {"integer": "int64", "numeric": "float64", "date": "date", "coded": "int64"}


@dataclass(frozen=True)
class Attribute:
    """A column, its possible values and its cells. Prefer the constructors `categorical`, `integer`, `numeric`, `day`, `coded`.

    categories: what the file contains, as text (categorical and ordinal).  labels: names to show instead, one per category, or none.
    dtype: type of the decoded column: "string", "int64", "float64", "bool" for categories; fixed by the kind otherwise.
    lower, upper: public bounds, inclusive; int, float or datetime.date.  edges: bin edges, see `bins`.
    decimals: numeric only; digits after the point that decoded values carry, None for all.
    Raises InputError when the declaration contradicts itself.
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    dtype: str = "string"
    lower: Any = None
    upper: Any = None
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
        texts = tuple(_text(category) for category in _items(name, categories, "categories"))
        label_texts = tuple(_text(label) for label in _items(name, labels, "labels"))
        return cls(name, kind, texts, dtype=dtype, other=other, missing=missing, labels=label_texts)

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
        cuts = None if edges is None else [e if is_number(e) else day_number(parse_day(name, e)) for e in edges]
        return cls._binned(name, "date", parse_day(name, lower), parse_day(name, upper), bins, cuts, missing)

    @classmethod
    def coded(cls, name: str, size: int) -> Attribute:
        """A column that already holds the codes 0..size-1, as in the field's benchmark files."""
        if not is_whole(size) or size < 1:
            raise InputError(column_field(name), "the number of codes is not a whole number from 1 up", "give the number of distinct codes")
        return cls(name, "coded", lower=0, upper=int(size) - 1)

    @classmethod
    def _binned(
        cls,
        name: str,
        kind: str,
        lower: Any,
        upper: Any,
        bins: int | None,
        edges: Sequence[Any] | None,
        missing: bool,
        decimals: int | None = None,
    ) -> Attribute:
        if bins is not None and edges is not None:
            raise InputError(column_field(name), "both bins and edges are given", "give one of them")
        lower, upper = checked_bounds(name, kind, lower, upper)
        cuts = equal_edges(name, kind, lower, upper, bins) if edges is None else explicit_edges(name, kind, upper, edges)
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
            labels = tuple(str(code) for code in range(self.values))
        elif self.is_number:
            labels = tuple(self._bin_label(i) for i in range(self.values))
        else:
            labels = self.labels or self.categories
        for label, wanted in ((OTHER_LABEL, self.other), (MISSING_LABEL, self.missing)):
            labels += (f"({label})" if label in labels else label,) * wanted
        return labels

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
            if self.lower != 0 or not is_whole(self.upper) or self.upper < 0 or self.edges or self.missing:
                raise self._error("codes must run from 0 up, without bins", "declare only the number of codes")
            return
        lower, upper = checked_bounds(self.name, self.kind, self.lower, self.upper)
        edges = self.edges or equal_edges(self.name, self.kind, lower, upper, None)
        check_edges(self.name, self.kind, lower, upper, edges)
        if self.decimals is not None and (self.kind != "numeric" or not is_whole(self.decimals) or not 0 <= self.decimals <= 12):
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
            if any(n is None or (whole and (not is_whole(n) or abs(n) >= LARGEST_EXACT)) for n in numbers):
                raise self._error(f"a category is not a number of dtype {self.dtype}", "correct it, or use dtype string")
            if len(set(numbers)) < len(numbers):
                raise self._error("two categories are the same number", "remove one of them, or use dtype string")


def _items(name: str, values: Iterable[object], what: str) -> tuple[object, ...]:
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
