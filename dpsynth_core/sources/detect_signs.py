"""Suggest from the texts of columns which units stand beside their numbers, and how numbers below zero are written."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from dpsynth_core.sources.characters import plain
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.spelling import BEHIND, BRACKETS, MAX_UNITS, SIGN

_CODES = (
    "AUD",
    "BRL",
    "CAD",
    "CHF",
    "CNY",
    "CZK",
    "DKK",
    "EUR",
    "GBP",
    "HUF",
    "INR",
    "JPY",
    "KRW",
    "MXN",
    "NOK",
    "NZD",
    "PLN",
    "RUB",
    "SEK",
    "TRY",
    "USD",
    "ZAR",
)
_NAMES = ("Fr.", "kr", "kr.", "Kč", "Ft", "Rs", "Rs.", "zł", "US$", "R$", "A$", "C$")
_NUMBER = "[0-9](?:[0-9.,' \u2019]*[0-9])?"
_BEFORE, _BEHIND_IT = r"[-+]?(?P<open>\()?[-+]?(?P<before>[^0-9()+-]*?) ?[-+]?", r"(?P<minus>-)?\)? ?(?P<behind>[^0-9()+-]*)(?P<late>-)?\)?"
_WRITTEN = re.compile(f"{_BEFORE}{_NUMBER}{_BEHIND_IT}")
_ALMOST_ALL = 0.95


def detect_signs(columns: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return suggested fields `units` and `negative` of a notation, from columns of numbers.

    A column counts if at least 95% of its texts are numbers, and all that stands beside them is a known sign or name
    of a currency, or per cent or per thousand. `units` has at most 20 of these (`MAX_UNITS`), sorted; `negative` is the
    form that most columns have. A field is left out where numbers are written in the default way: without units, and
    with a minus sign in front; {} if both are.

    Args:
        columns: The texts of each column, trimmed and without missing markers.
    """
    units, negatives = Counter[str](), Counter[str]()
    for cells in columns:
        matches = [_WRITTEN.fullmatch(cell) for cell in plain(pa.array(cells, pa.string())).to_pylist()]
        found = [match for match in matches if match is not None]
        beside = Counter(part for match in found for part in (match["before"].strip(), match["behind"].strip()) if part)
        known = {unit for unit in beside if _is_unit(unit)}
        if not found or len(found) < _ALMOST_ALL * len(cells) or {*beside} - known:
            continue
        units.update(known)
        if any(match["open"] for match in found):
            negatives[BRACKETS] += 1
        if any(match["minus"] or match["late"] for match in found):
            negatives[BEHIND] += 1
    stated: dict[str, Any] = {"units": tuple(sorted(units)[:MAX_UNITS])} if units else {}
    return stated | ({"negative": negatives.most_common(1)[0][0]} if negatives else {})


def bare(columns: Sequence[Sequence[str]], stated: dict[str, Any]) -> list[list[str]]:
    """Return the texts of each column, in order, in which numbers lack their unit and negative ones have a sign in front.

    Other texts keep their letters. In all texts, signs, spaces and digits of other scripts become plain ASCII.

    Args:
        columns: The texts of each column.
        stated: The fields `units` and `negative` of the notation, as far as they differ from the
            default.
    """
    notation = Notation(units=stated.get("units", ()), negative=stated.get("negative", SIGN))
    every = (notation.bare(plain(pa.array(cells, pa.string()))) for cells in columns)
    return [[str(text) for text in numbers.to_pylist()] for numbers in every]


def _is_unit(text: str) -> bool:
    """Return whether a text is a sign of per cent or per thousand, or names a currency."""
    return text in ("%", "\u2030") or text in (*_CODES, *_NAMES) or all(unicodedata.category(one) == "Sc" for one in text)
