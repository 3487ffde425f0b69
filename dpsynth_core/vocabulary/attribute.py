"""Columns of the private table as the curator declares them: the possible values, and the cell of each value.

Everything here is public. An attribute may be typed, read from a codebook or guessed, but it never sees a record; `codec` turns records
into cells. Cells are numbered from 0: categories or bins first, then the cell for values outside the declared ones ("other"), then the cell
for missing ones.

`kinds` defines the kinds of columns, `bins` bins and their edges, and `recoding` says in words what happens to values without a cell of
their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import pairwise
from typing import Any

from dpsynth_core.foundation.errors import InputError, first_repeated, shown
from dpsynth_core.vocabulary import bins as binning
from dpsynth_core.vocabulary.bins import MAX_CELLS
from dpsynth_core.vocabulary.hierarchy import Hierarchy
from dpsynth_core.vocabulary.kinds.kind import LARGEST_EXACT, Form, Kind, Scale, as_number, finite, is_whole
from dpsynth_core.vocabulary.kinds.registry import KINDS, LEARNABLE
from dpsynth_core.vocabulary.names import column_field, trimmed

LABEL_DTYPES = ("string", "int64", "float64", "bool")
TYPED: dict[str, Callable[[str], Any]] = {"string": str, "int64": lambda text: int(float(text)), "float64": float, "bool": "true".__eq__}
"""Converts a listed text to a value of each type."""
FEWEST_LEARNT, DEFAULT_MOST, MOST_LEARNT = 4, 32, 10_000
"""Bounds of the number of cells that a column may have when its values are learnt, and the default."""
OTHER_LABEL = "other"
MISSING_LABEL = "missing"
DEFAULT_PRECISION = "second"

MAX_WHY = 500
MAX_LABEL = 2000


@dataclass(frozen=True)
class Recode:
    """A curator's statement that values without a cell of their own count in the cell `label`, and the reason."""

    label: str
    why: str


@dataclass(frozen=True)
class Attribute:
    """A column with its possible values and its cells. The constructors are the usual way to make one.

    Attributes:
        categories: The file's values as text (categorical and ordinal).
        labels: Names to show in place of the categories, one per category, or empty.
        dtype: Type of the decoded column: "string", "int64", "float64" or "bool" for categories; other kinds fix it.
        lower, upper: Public bounds, inclusive; int, float or datetime.date.
        edges: Bin edges, see `bins`.
        decimals: For decimal numbers, the digits after the point of decoded values; None for all.
        label: A description for people, such as the question of a questionnaire; "" without one.
        missing, other: Whether missing and undeclared values have a cell. Without a cell, the curator states that they cannot occur,
            or names the cell that they count in.
        missing_as, other_as: The cell that such values count in.
        nearest: For numbers, whether values beyond the bounds count in the nearest bin.
        precision: Of timestamps, times and durations, the unit that their values are written to, such as "minute"; "second" by default.
        hierarchy: For codes in groups, how the codes of the file become the categories.
        user_missing: Categories that stand for a missing answer, such as 9 for "refused". They have cells like all others; files of
            SPSS and programs of a bundle declare them missing.
        most: Above 0 if the values are to be learnt with noise: the largest number of cells. Until then the column has few other
            fields, and counts as a column with `most` cells. `other` then says that numbers beyond the learnt bounds get a cell.

    Raises:
        InputError: The declaration contradicts itself.
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
    nearest: bool = False
    missing_as: Recode | None = None
    other_as: Recode | None = None
    label: str = ""
    most: int = 0
    precision: str = ""
    hierarchy: Hierarchy | None = None
    user_missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not trimmed(self.name):
            raise InputError("domain", "a column has no name", "give every column a name")
        if trimmed(self.name) != self.name:
            raise self._error("its name has spaces or a byte order mark around it", "write it without them, as tables are read")
        if self.kind not in KINDS or self.about.form is Form.FILLED:
            raise self._error("kind is not known", f"use one of {', '.join(KINDS)}")
        if len(self.label) > MAX_LABEL:
            raise self._error(f"its label has more than {MAX_LABEL:,} characters", "shorten it")
        object.__setattr__(self, "precision", _precision(self.name, self.about, self.precision))
        if self.most:
            self._check_unknown()
        else:
            {Form.LISTED: self._check_categories, Form.BINNED: self._check_bins, Form.CODED: self._check_codes}[self.about.form]()
        self._check_recodes()
        if not set(self.user_missing) <= set(self.categories):
            raise self._error("a value in user_missing is not one of its categories", "list it among the categories, or leave it out")
        if self.size > MAX_CELLS:
            raise self._error("it has too many values", f"use at most {MAX_CELLS:,} categories or bins, or drop the column")

    @classmethod
    def categorical(cls, name: str, categories: Iterable[str], *, ordered: bool = False, **fields: Any) -> Attribute:
        """Return a column of listed values; by default it has no cell for missing and none for undeclared values.

        Args:
            name: The name.
            categories: The values, at least one: texts, numbers or truth values. They become texts without spaces around
                them, and True becomes "true".
            ordered: Whether their order has a meaning: the kind is then "ordinal", else "categorical".
            **fields: Further attributes: labels, user_missing, dtype, missing, other, missing_as, other_as,
                label.

        Raises:
            InputError: There are no values, a value is blank or of another type, two values are the
                same, or another attribute is invalid.
        """
        return cls.listed(name, "ordinal" if ordered else "categorical", categories, **fields)

    @classmethod
    def listed(
        cls,
        name: str,
        kind: str,
        categories: Iterable[str] = (),
        *,
        labels: Iterable[str] = (),
        hierarchy: Hierarchy | None = None,
        user_missing: Iterable[str] = (),
        **fields: Any,
    ) -> Attribute:
        """Return a column of a kind with listed values; by default it has no cell for missing and none for undeclared values.

        Args:
            name: The name.
            kind: Name of the kind, such as "ordinal".
            categories: The values: texts, numbers or truth values, which become texts without spaces around them; if
                empty, the groups of `hierarchy`.
            labels: Names to show in place of the categories, one each, or none.
            hierarchy: For codes in groups, how codes become the categories.
            user_missing: The values that stand for a missing answer.
            **fields: Further attributes: dtype, missing, other, missing_as, other_as, label.

        Raises:
            InputError: There are no values, a value is blank or of another type, two values are the
                same, or another attribute is invalid.
        """
        texts = tuple(_text(category) for category in _items(name, categories, "categories")) or (hierarchy.names if hierarchy else ())
        if not texts:  # only of a column whose values were learnt there may be none
            what = ("groups", "the beginnings of codes that can occur") if hierarchy else ("categories", "at least one")
            raise InputError(column_field(name), f"it has no {what[0]}", f"list {what[1]}, or drop the column")
        label_texts = tuple(_text(label) for label in _items(name, labels, "labels"))
        missing_texts = tuple(_text(value) for value in _items(name, user_missing, "values in user_missing"))
        return cls(name, kind, texts, labels=label_texts, hierarchy=hierarchy, user_missing=missing_texts, **fields)

    @classmethod
    def integer(cls, name: str, lower: int, upper: int, **fields: Any) -> Attribute:
        """Return a column of whole numbers in bins; by default it has no cell for missing and none for undeclared values.

        By default there is a bin per value up to 100 values, otherwise 34 or fewer bins of a round width.

        Args:
            name: The name.
            lower: The lower bound, inclusive.
            upper: The upper bound, inclusive.
            **fields: At most one of bins (number of equal bins), width (bins begin at its
                multiples) and edges (with or without the bounds); and own_cells, missing, other,
                nearest, missing_as, other_as, label.

        Raises:
            InputError: A bound or bin is invalid, or another attribute is.
        """
        return cls.binned(name, "integer", lower, upper, **fields)

    @classmethod
    def numeric(cls, name: str, lower: float, upper: float, **fields: Any) -> Attribute:
        """Return a column of real numbers in bins, by default 34 or fewer bins of a round width.

        By default it has no cell for missing and none for undeclared values.

        Args:
            name: The name.
            lower: The lower bound, inclusive.
            upper: The upper bound, inclusive; it is above `lower`.
            **fields: At most one of bins (number of equal bins), width (bins begin at its multiples) and edges (with
                or without the bounds); own_cells, missing, other, nearest, missing_as, other_as, label; and decimals:
                digits after the point of released values, 0 to 12.

        Raises:
            InputError: A bound or bin is invalid, or another attribute is.
        """
        return cls.binned(name, "numeric", lower, upper, **fields)

    @classmethod
    def day(cls, name: str, lower: date | str, upper: date | str, **fields: Any) -> Attribute:
        """Return a column of dates in bins, by default a bin per day up to 100 days, otherwise 34 or fewer of a round width.

        A round width of dates is a week, a month, a quarter, a year, 5 or 10 years; there may be more than 34 bins if the bounds
        are more than 320 years apart. By default there is no cell for missing and none for undeclared values.

        Args:
            name: The name.
            lower: The first day, as ISO text or date.
            upper: The last day, inclusive, as ISO text or date.
            **fields: At most one of bins (number of equal bins), width (days, or a name such as "month") and edges
                (dates or days since 1970-01-01); and own_cells, missing, other, nearest, missing_as, other_as, label.

        Raises:
            InputError: A bound or bin is invalid, or another attribute is.
        """
        return cls.binned(name, "date", lower, upper, **fields)

    @classmethod
    def coded(cls, name: str, size: Any) -> Attribute:
        """Return a column that holds the codes 0 .. size - 1 of its cells already, as benchmark files do.

        Args:
            name: The name.
            size: The number of codes, as a number or a text.

        Raises:
            InputError: `size` is not a whole number from 1 to 100,000 (`MAX_CELLS`), or the name is invalid.
        """
        size = as_number(size)
        if not is_whole(size) or size < 1:
            raise InputError(column_field(name), "the number of codes is not a whole number from 1 up", "give the number of distinct codes")
        return cls(name, "coded", lower=0, upper=int(size) - 1)

    @classmethod
    def unknown(
        cls, name: str, kind: str, most: int = DEFAULT_MOST, precision: str = "", hierarchy: Hierarchy | None = None, beyond: bool = False
    ) -> Attribute:
        """Return a column whose values are to be learnt with noise, with at most `most` cells.

        Args:
            name: The name.
            kind: Name of the kind, one of LEARNABLE.
            most: Largest number of cells, a whole number from 4 to 10,000.
            precision: Of times, the unit that their values are written to, such as "minute"; "" for seconds.
            hierarchy: For codes in groups, the level of the groups; None for every other kind.
            beyond: For kinds with bins, whether numbers beyond the learnt bounds get a further cell, so that it shows
                how many there are. Otherwise they count in the nearest bin.

        Raises:
            InputError: `most` is out of range, values of this kind cannot be learnt, codes in groups have no level, or
                `beyond` is True for a kind without bins.
        """
        if not is_whole(most) or not FEWEST_LEARNT <= most <= MOST_LEARNT:
            problem = f"'most' is not a whole number from {FEWEST_LEARNT} to {MOST_LEARNT:,}"
            raise InputError(column_field(name), problem, "say how many cells it may have at most")
        return cls(name, kind, most=int(most), precision=precision, hierarchy=hierarchy, other=beyond)

    @classmethod
    def binned(
        cls,
        name: str,
        kind: str,
        lower: Any,
        upper: Any,
        *,
        bins: Any = None,
        edges: Sequence[Any] | None = None,
        width: Any = None,
        own_cells: Any = (),
        **fields: Any,
    ) -> Attribute:
        """Return a column of any kind with bins, from the entries of a domain.

        Unlike in a domain, there is by default no cell for missing and none for undeclared values.

        Args:
            name: The name.
            kind: The name of the kind.
            lower: The lower bound, inclusive, as the kind writes it.
            upper: The upper bound, inclusive, as the kind writes it.
            bins: The number of equal bins.
            edges: The edges of the bins, as the kind writes them, with or without the bounds.
            width: The width of the bins, a number or a name such as "month". At most one of `bins`, `edges` and
                `width` is given; without these three there are bins of a round width, or one per value up to 100.
            own_cells: Values that have a cell each, such as 0 where it means "not applicable".
            **fields: Further attributes.

        Raises:
            InputError: A bound or bin is invalid, more than one of `bins`, `edges` and `width` is given, or another
                attribute is invalid.
            KeyError: The kind is unknown.
            ValueError: The kind has no bins.
        """
        if sum(stated is not None for stated in (bins, edges, width)) > 1:
            raise InputError(column_field(name), "both bins and edges are given", "give one of bins, width and edges")
        scale = scale_of(name, kind, fields.get("precision", ""))
        binning.need_bounds(name, lower, upper)
        cuts = None if edges is None else [scale.edge(name, edge) for edge in edges]
        lower, upper = binning.checked_bounds(name, scale, scale.typed(name, lower), scale.typed_upper(name, upper))
        if cuts is not None:
            made = binning.explicit_edges(name, scale, lower, upper, cuts)
        elif width is not None:
            made = binning.width_edges(name, scale, lower, upper, width)
        elif bins is not None:
            made = binning.equal_edges(name, scale, lower, upper, bins)
        else:
            made = binning.default_edges(name, scale, lower, upper)
        if own := binning.own_values(name, scale, own_cells):
            binning.check_edges(name, scale, lower, upper, made)
            made = binning.with_own_cells(name, scale, made, own)
        return cls(name, kind, lower=lower, upper=upper, edges=made, **fields)

    @property
    def about(self) -> Kind:
        """The kind of the column."""
        return KINDS[self.kind]

    @cached_property
    def scale(self) -> Scale:
        """The mapping of the column's values to numbers, for columns with bins.

        Raises:
            ValueError: The column has no bins.
        """
        return scale_of(self.name, self.kind, self.precision)

    @property
    def is_listed(self) -> bool:
        """True if the cells are listed values."""
        return self.about.form is Form.LISTED

    @property
    def is_coded(self) -> bool:
        """True if the table holds cell codes 0, 1, ... in this column, instead of values."""
        return self.about.form is Form.CODED

    @property
    def is_number(self) -> bool:
        """True if the cells are bins, as for numbers, dates, times and durations; listed values and codes have none."""
        return self.about.form is Form.BINNED

    @property
    def values(self) -> int:
        """Number of cells without the cells for other and missing values; `most` if the values are to be learnt."""
        if self.most:
            return self.most
        if self.is_coded:
            return int(self.upper) + 1
        return len(self.edges) - 1 if self.is_number else len(self.categories)

    @property
    def ordered(self) -> int:
        """Number of cells in order, counted from code 0: `values` if the kind has an order, else 0."""
        return self.values if self.about.ordered else 0

    @cached_property
    def size(self) -> int:
        """Number of all cells: values, then the cell of undeclared values, then the cell of missing values, where there are such."""
        return self.values + self.other + self.missing

    @property
    def other_code(self) -> int | None:
        """The code of the cell of undeclared values, counted from 0; None without such a cell."""
        return self.values if self.other else None

    @property
    def missing_code(self) -> int | None:
        """The code of the cell of missing values, counted from 0; None without such a cell."""
        return self.size - 1 if self.missing else None

    def unfolded(self) -> Attribute:
        """Return the column with a separate cell for missing and one for undeclared values.

        `nearest`, `missing_as` and `other_as` are dropped. Coded columns, and columns whose values are to be
        learnt, are returned unchanged.
        """
        if self.is_coded or self.most:
            return self
        return replace(self, other=True, missing=True, nearest=False, missing_as=None, other_as=None)

    @property
    def code_for_missing(self) -> int:
        """The code under which a missing value counts.

        It is the code of the missing cell, else of the cell that `missing_as` names, else of the cell of undeclared
        values, else 0.
        """
        return self._first_of(self.missing_code, self._named(self.missing_as), self.other_code)

    @property
    def code_for_unlisted(self) -> int:
        """The code under which an unlisted or unreadable value counts.

        It is the code of the cell of undeclared values, else of the cell that `other_as` names, else of the missing
        cell, else 0.
        """
        return self._first_of(self.other_code, self._named(self.other_as), self.missing_code)

    @property
    def code_for_beyond(self) -> int | None:
        """The code under which a number beyond the bounds counts; None if it counts in the nearest bin.

        It is the code of the cell of undeclared values, else of the cell that `other_as` names.
        """
        return next((code for code in (self.other_code, self._named(self.other_as)) if code is not None), None)

    @staticmethod
    def _first_of(*codes: int | None) -> int:
        return next((code for code in codes if code is not None), 0)

    def _named(self, recode: Recode | None) -> int | None:
        return None if recode is None else self._value_labels.index(recode.label)

    @cached_property
    def _value_labels(self) -> tuple[str, ...]:
        if self.most or self.is_coded:
            return tuple(str(code) for code in range(self.values))
        if not self.is_number:
            return self.labels or self.categories
        if self.scale.whole:
            ends = [(self.scale.text(low), self.scale.text(high - 1)) for low, high in pairwise(self.edges)]
            return tuple(first if first == last else f"{first} to {last}" for first, last in ends)
        own = [high == self.scale.beyond(low) for low, high in pairwise(self.edges)]
        apart = [edge for edge, before in zip(self.edges, [False, *own], strict=True) if not before]
        digits = 6 if len({f"{edge:.6g}" for edge in apart}) == len(apart) else 17  # that tell all edges apart
        edges = [f"{edge:.{digits}g}" for edge in self.edges]
        shown = [f"[{low}, {high})" for low, high in pairwise(edges[:-1])] + [f"[{edges[-2]}, {edges[-1]}]"]
        for cell, (alone, before) in enumerate(zip(own, [False, *own[:-1]], strict=True)):
            shown[cell] = edges[cell] if alone else f"({edges[cell - 1]}{shown[cell][shown[cell].index(',') :]}" if before else shown[cell]
        return tuple(shown)

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        taken = {*self._value_labels, *self.categories}
        extra = ((OTHER_LABEL, self.other), (MISSING_LABEL, self.missing))
        return (*self._value_labels, *(_unused(label, taken) for label, wanted in extra if wanted))

    @property
    def other_text(self) -> str:
        """The text that released rows have for the cell of undeclared values; it differs from every declared value.

        It is given for every column, but only columns of text (dtype "string") write it: others leave such values empty.
        """
        return _unused(OTHER_LABEL, {*self._value_labels, *self.categories})

    def cell_labels(self) -> tuple[str, ...]:
        """Return the name of each cell in charts and tables, in code order; unescaped text.

        Listed values have their label, or the value itself without labels; bins have names such as "0 to 9" or "[1.5, 20)".
        The cells of undeclared and missing values are called "other" and "missing", in brackets if a value has
        that name. In coded columns, and in those to be learnt, the name of a cell is its code, such as "0".
        """
        return self._labels

    def stated_bins(self) -> dict[str, Any]:
        """Return the bins as entries of a domain, from which `binned` makes the same edges.

        The entries are one of "bins" (a number), "width" and "edges", and "own_cells" for values that have a cell each.

        Raises:
            ValueError: The column has no bins.
        """
        if (regular := self._regular_bins(self.edges)) is not None:
            return regular
        own = [low for low, high in pairwise(self.edges) if high == self.scale.beyond(low)]
        stated = {"own_cells": [self.scale.stated(self.scale.value(value)) for value in own]}
        behind = {self.scale.beyond(value) for value in own} - {self.edges[-1]}
        for base in (tuple(e for e in self.edges if e not in behind | {*own[1:]}), tuple(e for e in self.edges if e not in behind)):
            regular = self._regular_bins(base) if own and len(base) > 1 else None
            if regular and binning.with_own_cells(self.name, self.scale, base, own) == self.edges:
                return regular | stated
        if own and not self.scale.whole:
            return {"edges": [self.scale.stated_edge(edge) for edge in self.edges if edge not in behind]} | stated
        return {"edges": [self.scale.stated_edge(edge) for edge in self.edges]}

    def _regular_bins(self, edges: tuple[float, ...]) -> dict[str, Any] | None:
        if binning.is_equal(self.name, self.scale, self.lower, self.upper, edges):
            return {"bins": len(edges) - 1}
        width = binning.width_of(self.scale, self.lower, self.upper, edges)
        return None if width is None else {"width": width}

    def _error(self, problem: str, remedy: str) -> InputError:
        return InputError(column_field(self.name), problem, remedy)

    def _check_unknown(self) -> None:
        if self.kind not in LEARNABLE:
            raise self._error(f"values of kind {self.kind} cannot be learnt", f"use one of {', '.join(LEARNABLE)}, or list them")
        declared = (self.categories, self.lower, self.upper, self.edges, self.labels, self.decimals)
        cells = (self.other and not self.is_number, self.missing, self.nearest, self.missing_as, self.other_as)
        if any(value not in ((), None, False) for value in (*declared, *cells)):
            raise self._error("values that are to be learnt are listed", "leave out values, bounds and bins, or do not ask to learn them")
        if self.about.grouped and (self.hierarchy is None or self.hierarchy.groups):
            raise self._error("groups are learnt at a level", 'state "level": how many characters count')
        object.__setattr__(self, "dtype", self.about.dtype or "string")

    def _check_numbers(self) -> None:
        object.__setattr__(self, "dtype", self.about.dtype)
        if self.categories or self.labels:
            raise self._error("categories and labels do not go with numbers", "remove them or make the column categorical")

    def _check_codes(self) -> None:
        self._check_numbers()
        if self.lower != 0 or not is_whole(self.upper) or self.upper < 0 or self.edges or self.missing or self.other:
            raise self._error("codes must run from 0 up, without bins", "declare only the number of codes")

    def _check_bins(self) -> None:
        self._check_numbers()
        lower, upper = binning.checked_bounds(self.name, self.scale, self.lower, self.upper)
        edges = self.edges or binning.default_edges(self.name, self.scale, lower, upper)
        binning.check_edges(self.name, self.scale, lower, upper, edges)
        if self.decimals is not None and (
            "decimals" not in self.about.fields or not is_whole(self.decimals) or not 0 <= self.decimals <= 12
        ):
            raise self._error("decimals is not usable", "give 0 to 12 digits, for numeric columns only")
        for field, value in (("lower", lower), ("upper", upper), ("edges", tuple(edges))):
            object.__setattr__(self, field, value)

    def _check_recodes(self) -> None:
        if self.nearest and (not self.is_number or self.other or self.other_as):
            raise self._error("'nearest' is one of several choices", "use it for numbers and dates, instead of other cells")
        for recode, own_cell in ((self.missing_as, self.missing), (self.other_as, self.other)):
            if recode is None:
                continue
            if own_cell or self.is_coded:
                raise self._error("values have a cell of their own and count as another", "choose one of the two")
            if recode.label not in self._value_labels:
                raise self._error(f"{recode.label[:40]!r} is not one of its values", "name the value that others count as by its label")
            if not recode.why.strip() or len(recode.why) > MAX_WHY:
                raise self._error("no reason is given for counting values as others", f"write why, in at most {MAX_WHY} characters")

    def _check_categories(self) -> None:
        if self.lower is not None or self.upper is not None or self.edges or self.decimals is not None:
            raise self._error("bounds and bins do not go with categories", "remove them or choose a number kind")
        if self.dtype not in LABEL_DTYPES:
            raise self._error("dtype is not known", f"use one of {', '.join(LABEL_DTYPES)}")
        if not self.categories and not (self.other and self.missing):
            raise self._error("it has no categories", "list at least one, or drop the column")
        if any(not isinstance(c, str) or not c or c != c.strip() for c in self.categories):
            raise self._error("a category is blank or has spaces around it", "write it out; empty values have the missing cell")
        if len(set(self.categories)) < len(self.categories):
            raise self._error(f"category {shown(first_repeated(self.categories))} is listed twice", "remove one of them")
        if self.labels and len(self.labels) != len(self.categories):
            raise self._error("there is not one label per category", "give a label for each, or none")
        if len(set(self.labels)) < len(self.labels):
            raise self._error("two categories have the same label", "give each its own label, or none")
        self._check_typed_categories()
        self._check_groups()

    def _check_groups(self) -> None:
        if (self.hierarchy is not None) != self.about.grouped:
            raise self._error("a level or groups go with codes in groups alone", "choose that kind, or leave them out")
        if self.hierarchy is None:
            return
        if self.dtype != "string":
            raise self._error("its groups are texts", "release them as text")
        if (strange := next((one for one in self.categories if self.hierarchy.group(one) != one), None)) is not None:
            raise self._error(f"no code counts as {shown(strange)}", "list the groups as the level or the table makes them")

    def _check_typed_categories(self) -> None:
        if self.dtype == "bool" and not set(self.categories) <= {"false", "true"}:
            raise self._error("dtype bool allows the categories false and true only", "use those, or dtype string")
        if self.dtype in ("int64", "float64"):
            numbers = [finite(category) for category in self.categories]
            whole = self.dtype == "int64"
            if any(n is None or (whole and (not is_whole(n) or abs(n) >= LARGEST_EXACT)) for n in numbers):
                raise self._error(f"a category is not a number of dtype {self.dtype}", "correct it, or use dtype string")
            if len(set(numbers)) < len(numbers):
                raise self._error("two categories are the same number", "remove one of them, or use dtype string")


def scale_of(name: str, kind: str, precision: str) -> Scale:
    """Return the mapping between values and numbers for a kind with bins.

    Args:
        name: Name of the column in errors.
        kind: Name of the kind.
        precision: Unit of times, such as "minute"; "" for the default, "second", or for kinds without precisions.

    Raises:
        InputError: The kind lacks this precision.
        KeyError: The kind is unknown.
        ValueError: The kind has no bins.
    """
    about = KINDS[kind]
    if about.scale is None:
        raise ValueError(f"{kind} columns have no bins")
    return about.scale(_precision(name, about, precision))


def _precision(name: str, kind: Kind, stated: Any) -> str:
    """Return the stated precision, or the default: "second" for kinds with precisions, otherwise "".

    Raises:
        InputError: The kind lacks this precision.
    """
    precision = stated or (DEFAULT_PRECISION if kind.precisions else "")
    if precision not in (kind.precisions or ("",)):
        remedy = f"use one of {', '.join(kind.precisions)}" if kind.precisions else "leave it out"
        raise InputError(column_field(name), "its precision is not known", remedy)
    return str(precision)


def _unused(label: str, taken: AbstractSet[str]) -> str:
    """Return the label, in as many pairs of brackets as make it differ from the texts in `taken`."""
    while label in taken:
        label = f"({label})"
    return label


def _items(name: str, values: Iterable[object], what: str) -> tuple[object, ...]:
    if isinstance(values, str):
        raise InputError(column_field(name), f"{what} is one text", "give a list")
    items = tuple(values)
    if any(not isinstance(item, str | int | float) for item in items):
        raise InputError(column_field(name), f"one of its {what} is not a text", "write texts")
    return items


def _text(value: object) -> str:
    """Return a category as text without spaces around it; True becomes "true"."""
    return str(value).lower() if isinstance(value, bool) else str(value).strip()
