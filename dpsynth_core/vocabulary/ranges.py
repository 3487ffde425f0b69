"""Ranges of a column's values: how they are written, which cells lie in them, and which cells they cut.

    "15..64"   "66.."   "..14"   "> 65"   ">= 66"   "< 15"   "<= 14"      in texts; both ends belong to a range with two dots
    (15, 64)   (66, None)   (None, 14)   pandas.Interval                  in Python, read into `Between` by `python_values`

Ends are values of the column as its rows write them: whole numbers, days, times to the column's precision. An end of decimal numbers
that is an edge of cells is that edge, as cells of decimal numbers are half-open. An end beyond the column's bounds is that bound.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import Any, TypeAlias

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.inside import Inside
from dpsynth_core.vocabulary.names import column_field

Span: TypeAlias = tuple[float, float]
"""Numbers of values from the first up to, not including, the second."""
Spans: TypeAlias = tuple[Span, ...]
_COMPARED = re.compile(r"(<=|>=|<|>|≤|≥)(.*)", re.DOTALL)
_EDGES_SHOWN = 16
_EXACT = 2.0**53
"""Below it, floats are exact whole numbers."""


@dataclass(frozen=True)
class Between:
    """A range of values, each end in the column's type or as text.

    Attributes:
        low: The lowest value; None for no limit.
        high: The highest value; None for no limit.
        above: Whether `low` itself is left out.
        below: Whether `high` itself is left out.
    """

    low: Any = None
    high: Any = None
    above: bool = False
    below: bool = False

    def __str__(self) -> str:
        low, high = ("" if end is None else str(end).strip() for end in (self.low, self.high))
        if self.above or self.below:
            return " and ".join(text for text in (low and f"> {low}", high and f"{'<' if self.below else '<='} {high}") if text)
        return low if low and low == high else f"{low}..{high}"


@dataclass(frozen=True)
class Chosen:
    """The cells of a column that contain given values.

    Attributes:
        cells: Codes of all cells with such a value, counted from 0, ascending.
        cut: For each cell that also contains other values, by its code: the spans of the given
            values, each (first number, end) without the end. Empty if no cell is cut.
    """

    cells: tuple[int, ...]
    cut: Mapping[int, Spans] = field(default_factory=dict)

    @property
    def whole_cells(self) -> tuple[int, ...]:
        """Codes of the cells that contain given values only, ascending; () without such cells."""
        return tuple(code for code in self.cells if code not in self.cut)


def reached_cells(parts: Mapping[str, Chosen]) -> dict[str, tuple[int, ...]]:
    """Return, by column, the codes of all cells that contain given values, even if only in a part.

    Args:
        parts: By column, the cells that contain the values, as a whole or in part.
    """
    return {name: of.cells for name, of in parts.items()}


def range_in(text: str) -> Between | None:
    """Return the range that a text states, such as "15..64" or ">= 66"; None for any other text.

    The ends are texts, not yet checked; an end that is left out is None for "..", "" behind a sign such as ">".
    """
    if (compared := _COMPARED.fullmatch(text)) is not None:
        sign, end = compared[1].replace("≤", "<=").replace("≥", ">="), compared[2].strip()
        strict = "=" not in sign
        return Between(high=end, below=strict) if sign[0] == "<" else Between(low=end, above=strict)
    if ".." not in text:
        return None
    low, high = (part.strip() or None for part in text.split("..", 1))
    return Between(low, high)


def chosen(attribute: Attribute, ranges: Iterable[Between]) -> Chosen:
    """Return the cells of a column that contain a value in any of the ranges.

    An end beyond the bounds of a column of numbers counts as the bound.

    Args:
        attribute: The column.
        ranges: The ranges; without any, the result has no cells.

    Raises:
        InputError: The column has no order, it cannot have the value at an end, or a range contains
            no value or ends before it begins.
    """
    found = dict[int, list[Span]]()
    for one in ranges:
        if not has_ranges(attribute):
            raise _error(attribute, f"its values have no order, so that {shown(str(one))} is not a range", "name its values, or list them")
        reached = _by_place(attribute, one) if attribute.is_listed else _by_number(attribute, one)
        if not reached:
            raise _error(attribute, f"no value is in the range {shown(str(one))}", f"its values are {bounds_text(attribute)}")
        for code, span in reached:
            found.setdefault(code, []).append(span)
    cut = dict[int, Spans]()
    for code, spans in found.items():
        merged = _merged(spans)
        if merged != (_cell(attribute, code),):
            cut[code] = merged
    return Chosen(tuple(sorted(found)), {code: cut[code] for code in sorted(cut)})


def has_ranges(attribute: Attribute) -> bool:
    """Return whether the column's values are known and have an order, so that ranges can be stated."""
    return not attribute.most and (attribute.is_number or (attribute.is_listed and attribute.ordered > 0))


def _by_place(attribute: Attribute, one: Between) -> list[tuple[int, Span]]:
    def place(end: Any) -> int:
        text = str(end).strip()
        for names in (attribute.cell_labels()[: attribute.values], attribute.categories):
            if text in names:
                return names.index(text)
        raise _no_value(attribute, text)

    first = 0 if one.low is None else place(one.low) + one.above
    last = attribute.values - 1 if one.high is None else place(one.high) - one.below
    _check_direction(attribute, one, first, last)
    return [(code, _cell(attribute, code)) for code in range(first, last + 1)]


def _by_number(attribute: Attribute, one: Between) -> list[tuple[int, Span]]:
    edges, whole = attribute.edges, attribute.scale.whole
    first = -math.inf if one.low is None else _lower_end(attribute, one)
    last = math.inf if one.high is None else _upper_end(attribute, one)
    _check_direction(attribute, one, first, last - whole if whole else last)
    reached = list[tuple[int, Span]]()
    start = max(0, bisect_right(edges, first) - 2)
    for code in range(start, min(attribute.values, bisect_right(edges, last) + 1)):
        low, high = edges[code], edges[code + 1]
        if not whole and high == attribute.scale.beyond(low):  # a cell of one value
            after = first < low or (first == low and not one.above)
            if after and (low < last or (low == last and not one.below)):
                reached.append((code, (low, high)))
        elif max(low, first) < min(high, last):
            reached.append((code, (max(low, first), min(high, last))))
        elif not whole and ((first == last and low <= first < high) or (first == high == edges[-1] and not one.above)):
            reached.append((code, (first, attribute.scale.beyond(first))))  # one value, such as the upper bound, which is in the last cell
    return reached


def _lower_end(attribute: Attribute, one: Between) -> float:
    """Return the number of the first value in a range; -inf or inf for an infinite end."""
    if _is_infinite(one.low):
        return float(one.low)
    scale = attribute.scale
    number, behind = _number(attribute, one.low, upper=one.above)
    if not scale.whole:
        return float(number)
    return math.floor(number) + 1 if one.above or behind or number != math.floor(number) else math.floor(number)


def _upper_end(attribute: Attribute, one: Between) -> float:
    """Return the number behind the last value in a range; for decimal numbers, the range's end itself.

    An infinite end is returned unchanged.
    """
    if _is_infinite(one.high):
        return float(one.high)
    number, behind = _number(attribute, one.high, upper=not one.below)
    if not attribute.scale.whole:
        return float(number)
    return math.ceil(number) + behind if one.below else math.floor(number) + 1


def _number(attribute: Attribute, entered: Any, upper: bool) -> tuple[float, bool]:
    """Return the number of the value that an end states.

    Args:
        attribute: The column.
        entered: The end.
        upper: Whether a coarse end, such as a day, is read as its end.

    Returns:
        The number, and whether the end is later than the value that the number stands for, as 12:30
        is in a column of hours.

    Raises:
        InputError: The end is not a value of the column.
    """
    scale = attribute.scale
    if attribute.kind == "date" and isinstance(entered, str) and len(entered.strip()) > len("2024-12-31"):
        with suppress(ValueError):  # else the scale says how dates are written
            entered = datetime.fromisoformat(entered.strip())
    typed = entered if isinstance(entered, bool) else (scale.typed_upper if upper else scale.typed)(attribute.name, entered)
    number = typed if isinstance(typed, bool | str) else scale.number(typed)
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise _no_value(attribute, entered)
    if isinstance(typed, date | time | timedelta):
        compared = entered if isinstance(entered, datetime) and not isinstance(typed, datetime) else typed
        begins = scale.value(number)
        if isinstance(compared, datetime) and not isinstance(begins, datetime):
            begins = datetime(begins.year, begins.month, begins.day)
        behind = (compared.replace(tzinfo=None) if isinstance(compared, datetime | time) else compared) > begins
        return number, bool(behind)
    return number, False


def _is_infinite(end: Any) -> bool:
    return isinstance(end, float) and math.isinf(end)


def _check_direction(attribute: Attribute, one: Between, first: float, last: float) -> None:
    if first > last:
        raise _error(attribute, f"the range {shown(str(one))} ends before it begins", "write the lower end first")


def _cell(attribute: Attribute, code: int) -> Span:
    return (attribute.edges[code], attribute.edges[code + 1]) if attribute.is_number else (code, code + 1)


def _merged(spans: Sequence[Span]) -> Spans:
    merged = list[Span]()
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def common(first: Spans, second: Spans) -> Spans:
    """Return the intersection of two lists of spans, rising and without overlaps; () if they have nothing in common.

    Args:
        first: Spans, each (first number, end) without the end.
        second: Other spans of the same column.
    """
    both = ((max(a, c), min(b, d)) for a, b in first for c, d in second)
    return _merged([(low, high) for low, high in both if low < high])


@dataclass(frozen=True)
class Part:
    """The part of a cell's people whose value is in some spans, assumed or measured.

    Attributes:
        share: Share of the cell's people with such a value, 0 to 1.
        mean: Mean of these people's numbers, on the column's scale (days since 1970-01-01 for dates); the middle of
            the spans if `share` is 0.
        measured: Whether a measured histogram of the cell gives the part; else an even spread is assumed.
    """

    share: float
    mean: float
    measured: bool


def part(attribute: Attribute, code: int, spans: Spans, inside: Inside | None = None) -> Part:
    """Return the share of a cell's people whose value is in some spans, and the mean of their values.

    Args:
        attribute: The column.
        code: Code of the cell, counted from 0.
        spans: One or more spans inside the cell, each (first number, end) without the end.
        inside: A measured histogram of the column's values; None to assume an even spread.

    Raises:
        InputError: The histogram does not divide the column's cells.
    """
    pieces, shares, measured = [_cell(attribute, code)], [1.0], False
    if inside is not None and attribute.is_number:
        parts = inside.of(attribute)
        first, last = bisect_left(inside.parts, pieces[0][0]), bisect_left(inside.parts, pieces[0][1])
        pieces, shares = list(pairwise(inside.parts[first : last + 1])), parts.shares[first:last].tolist()
        measured = sum(inside.people[first:last]) > 0
    share = total = 0.0
    for (low, high), of_cell in zip(pieces, shares, strict=True):
        for start, end in common(spans, ((low, high),)):
            here = of_cell * (end - start) / (high - low)
            share, total = share + here, total + here * (start + end - attribute.scale.whole) / 2
    middle = sum(start + end - attribute.scale.whole for start, end in spans) / (2 * len(spans))
    return Part(min(1.0, share), total / share if share > 0 else middle, measured)


def text_of(attribute: Attribute, spans: Spans) -> str:
    """Return spans as text for people: "15 to 64", or "[1.5, 20)" for decimal numbers, joined by "or"; "" for no spans.

    Args:
        attribute: The column, which has bins.
        spans: Spans, each (first number, end) without the end.
    """
    scale = attribute.scale
    if scale.whole:
        ends = [(scale.text(low), scale.text(high - 1)) for low, high in spans]
        return " or ".join(low if low == high else f"{low} to {high}" for low, high in ends)
    return " or ".join(f"{low:g}" if high <= scale.beyond(low) else f"[{low:g}, {high:g})" for low, high in spans)


def spans_of(attribute: Attribute, of: Chosen) -> Spans:
    """Return the spans of values that `of` contains, in a column of numbers; adjacent spans are joined.

    Cells of other and missing values are left out. Each span is (first number, end) without the end.
    """
    return _merged([span for code in of.cells if code < attribute.values for span in of.cut.get(code, (_cell(attribute, code),))])


def check_whole(attribute: Attribute, of: Chosen, field: str) -> None:
    """Check that ranges cover no cell only in a part; the error names the nearest valid ranges.

    Args:
        attribute: The column.
        of: The cells that the ranges reach.
        field: Name of the ranges in the error.

    Raises:
        InputError: A range covers only a part of a cell.
    """
    if not of.cut:
        return
    labels = attribute.cell_labels()
    groups = " and ".join(shown(labels[code]) for code in list(of.cut)[:2]) + (" and others" if len(of.cut) > 2 else "")
    wider = text_of(attribute, spans_of(attribute, Chosen(of.cells)))
    cells = of.whole_cells
    narrower = text_of(attribute, spans_of(attribute, Chosen(cells))) if any(code < attribute.values for code in cells) else ""
    nearest = f"name {narrower}, or {wider}" if narrower else f"name {wider}"
    said = text_of(attribute, spans_of(attribute, of))
    inside = f"cuts the group{'s' if len(of.cut) > 1 else ''} {groups}, inside which nothing is counted"
    problem = f"the range {said} of {column_field(attribute.name)} {inside}"
    raise InputError(field, problem, f"{nearest}; or {_cut_there(attribute, of)}")


def edges_at(attribute: Attribute, cut: Mapping[int, Spans]) -> list[Any]:
    """Return inner bin edges, in the form of a domain, with which ranges cover no cell only in a part.

    These are the column's inner edges and the ends of the ranges, rising.

    Args:
        attribute: The column, which has bins.
        cut: For each cell that ranges cover in part, by its code: the spans that they cover.
    """
    inner = sorted({*attribute.edges[1:-1], *_new_edges(attribute, cut)})
    if attribute.scale.whole and inner and inner[-1] == attribute.edges[-1] - 1:
        inner.append(inner[-1])  # a last edge at the upper bound is that bound, so it is stated too
    return list(map(attribute.scale.stated_edge, inner))


def _new_edges(attribute: Attribute, cut: Mapping[int, Spans]) -> list[float]:
    scale, cells = attribute.scale, {edge for code in cut for edge in _cell(attribute, code)}
    new = sorted({end for spans in cut.values() for span in spans for end in span} - cells)
    return new if scale.whole else [edge for edge in new if edge not in {scale.beyond(other) for other in (*new, *cells)}]


def _cut_there(attribute: Attribute, of: Chosen) -> str:
    """Return the advice, for an error, to state bin edges in the domain at which the ranges begin and end."""
    every = edges_at(attribute, of.cut)
    if len(every) <= _EDGES_SHOWN:
        return f'state "edges": [{", ".join(map(_json, every))}] for it in the domain, instead of its bins'
    new = [attribute.scale.stated_edge(edge) for edge in _new_edges(attribute, of.cut)]
    return f'add {" and ".join(map(_json, new))} to its "edges" in the domain'


def _json(stated: Any) -> str:
    return f'"{stated}"' if isinstance(stated, str) else f"{stated:g}" if isinstance(stated, float) else str(stated)


def _no_value(attribute: Attribute, end: Any) -> InputError:
    return _error(attribute, f"a range ends at {shown(str(end))}, which is not its value", f"its values are {bounds_text(attribute)}")


def bounds_text(attribute: Attribute) -> str:
    """Return the lowest and the highest value of a column as text, as in "0 to 99".

    For listed values they are the first and the last label, or "not listed" without any value.
    """
    if attribute.is_number:
        scale = attribute.scale
        return f"{scale.stated(attribute.lower)} to {scale.stated(attribute.upper)}"
    labels = attribute.cell_labels()[: attribute.values]
    return f"{shown(labels[0])} to {shown(labels[-1])}" if labels else "not listed"


def cut_to(attribute: Attribute) -> str:
    """Return the words that belong beside a column's mean if the curator chose that values are cut to its bounds; else "".

    An example is "of values cut to 0 … 5,000". Values beyond the bounds then count in the nearest cell (`nearest`),
    as in columns whose bounds were learnt, and the mean is the mean of the cut values, not of the people's own
    values. It is "" also for a column whose domain states that no value is beyond the bounds.
    """
    if not (attribute.is_number and attribute.nearest):
        return ""
    return f"of values cut to {_bound(attribute, attribute.lower)} … {_bound(attribute, attribute.upper)}"


def _bound(attribute: Attribute, bound: Any) -> str:
    """Return a bound for readers: of numbers a comma for each thousand, and no digits after the point that are all 0."""
    if attribute.about.dtype not in ("int64", "float64"):
        return str(attribute.scale.stated(bound))
    return f"{round(bound):,}" if abs(bound) < _EXACT and float(bound).is_integer() else f"{bound:,}"


def _error(attribute: Attribute, problem: str, remedy: str) -> InputError:
    return InputError(column_field(attribute.name), problem, remedy)
