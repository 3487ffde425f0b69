"""Columns from the value labels of a file or codebook: labels name some values, and are not always the list of all values.

A survey labels the ends of a scale (0 "No trust", 10 "Complete trust"), a code above a range (97 "97 or older") or a single number
(0 "None"). Such a column becomes a scale or a range with a question under "to_do". Only labels, measure and format decide, never a record.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.declared import declared, value_text
from dpsynth_core.vocabulary.kinds.numbers import plain_number

LONGEST_SCALE = 101
"""Values of a scale that is filled in between its labels: 0 to 100."""
_MOST_NAMED = 6
_NAMES = "nominal"
_LISTS = (_NAMES, "ordinal")
_SCALE = "scale"


def labelled(
    name: str,
    kind: str,
    labels: Mapping[float | str, str],
    *,
    measure: str = "",
    special: Collection[float | str] = (),
    label: str = "",
    decimals: int | None = None,
    bounds: tuple[float, float] | None = None,
) -> Column:
    """Return the column that value labels describe, a `Column` that may have a question under "to_do".

    Labels are a closed list in three cases: they name two or more values, not all of them numbers; or two or more whole
    numbers without gaps, with 0 or 1 among them or with a measure "nominal" or "ordinal"; or three or more whole numbers
    with the measure "nominal". Otherwise the bounds that the file states make a range of a column with the measure
    "scale". In other cases the column is a list or range that the labels suggest, and the question asks which further
    values can occur; it names at most 6 values or gaps. Without labels, and for dates and times, the result is the same
    as from `declared`.

    Args:
        name: The name of the column.
        kind: The kind of values, as `declared` names it.
        labels: The label of each labelled value, without values that the file declares missing; empty if there
            are no labels.
        measure: "nominal", "ordinal" or "scale", as the file states it; "" if it states nothing.
        special: Labelled values that mean "no answer" (`Attribute.user_missing`); values between
            them and the others need no label. A list has them behind its other values, a range lacks them.
        label: What the column is about.
        decimals: Number of digits after the point that the column's format shows; None if unknown.
        bounds: The smallest and the largest valid number, both inclusive, if the file states both.

    Raises:
        InputError: There are more than 100,000 labels, the most values that a column may have.
    """
    valid = {value: text for value, text in labels.items() if value not in special}
    further = {value: text for value, text in labels.items() if value in special}

    def listed(values: Mapping[float | str, str], ordered: bool) -> Column:
        column = declared(name, kind, label=label, labels={**values, **further}, ordered=ordered)
        return Column(**column.to_json() | {"user_missing": list(map(value_text, further))}) if further else column

    def ranged(ends: tuple[float, float] | None) -> Column:
        return declared(name, kind or "number", label=label, decimals=decimals, bounds=bounds or ends)

    if not labels or kind not in ("", "number", "integer", "text"):
        return declared(name, kind, label=label, labels=labels, ordered=measure == "ordinal", decimals=decimals, bounds=bounds)
    if not valid:
        return ranged(None) if kind != "text" else listed(valid, False)
    numbers = [value for value in valid if isinstance(value, float)]
    if len(numbers) < len(valid):
        found = listed(valid, measure == "ordinal")
        return found if len(valid) > 1 else _asking(found, f"only {_named(valid)} has a label: list the other values that can occur")
    if _is_complete(numbers, measure):
        return listed(valid, measure == "ordinal")
    if bounds is not None and measure == _SCALE:
        return ranged(None)
    lower, upper = min(numbers), max(numbers)
    gaps = _gaps(numbers)
    apart = len(numbers) > 1 and len(gaps) == len(numbers) - 1  # no two labelled values are neighbours
    if apart and measure != _SCALE and upper - lower < LONGEST_SCALE:
        filled: dict[float | str, str] = {float(value): labels.get(float(value), "") for value in range(int(lower), int(upper) + 1)}
        question = f"{_named(numbers)} have labels: are {_named_gaps(gaps)} values too? Keep what can occur"
        return _asking(listed(filled, True), question)
    if gaps and not apart and measure != _SCALE and upper >= 0:
        unlabelled = f"{_named_gaps(gaps)} {'has' if _is_one(gaps) else 'have'} no label"
        return _asking(listed(valid, measure == "ordinal"), f"{unlabelled}: list what else can occur, or give a range in place of the list")
    question = f"{_named(numbers)} {'has a label' if len(numbers) == 1 else 'have labels'}: which other values can occur?"
    return _asking(ranged((lower, upper) if apart else None), f"{question} Give the smallest and the largest")


def _is_complete(numbers: Sequence[float], measure: str) -> bool:
    """Return whether labelled numbers are the list of all values.

    They are whole numbers, at least two, and not all negative, which would mean "no answer". If
    they have gaps, they must be three or more names (nominal), between which no value is possible.
    If they have no gap, the measure must be nominal or ordinal, or 0 or 1 must be labelled.

    Args:
        numbers: The labelled values.
        measure: As in `labelled`.
    """
    if not all(value.is_integer() for value in numbers) or len(numbers) < 2 or max(numbers) < 0:
        return False  # numbers below zero that alone have labels mean "no answer"
    if _gaps(numbers):
        return measure == _NAMES and len(numbers) > 2
    return measure in _LISTS or 0 in numbers or 1 in numbers


def _gaps(numbers: Sequence[float]) -> list[tuple[float, float]]:
    """Return the first and the last whole number of each gap between labelled values.

    The list is empty if any labelled value has a fraction.
    """
    ordered = sorted(numbers) if all(value.is_integer() for value in numbers) else []
    return [(low + 1, high - 1) for low, high in pairwise(ordered) if high - low > 1]


def _is_one(gaps: Sequence[tuple[float, float]]) -> bool:
    return len(gaps) == 1 and gaps[0][0] == gaps[0][1]


def _named_gaps(gaps: Sequence[tuple[float, float]]) -> str:
    return _joined([plain_number(low) if low == high else f"{plain_number(low)} to {plain_number(high)}" for low, high in gaps])


def _named(values: Collection[float | str]) -> str:
    return _joined([value if isinstance(value, str) else plain_number(value) for value in values])


def _joined(words: Sequence[str]) -> str:
    shown = [*words[:_MOST_NAMED], f"{len(words) - _MOST_NAMED} more"] if len(words) > _MOST_NAMED else list(words)
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _asking(column: Column, question: str) -> Column:
    return Column(**column.to_json() | {"to_do": question})
