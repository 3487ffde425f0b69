"""Names of columns, and codes of missing values, as SPSS, Stata and SAS allow them: for files of rows, and for programs that read rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.filled import RowColumn

_MOST_MISSING, _LONGEST_MISSING = 3, 8
"""User-missing values of a variable in SPSS, and bytes of one that is a text."""
_SPSS_RESERVED = re.compile("all|and|by|eq|ge|gt|le|lt|ne|not|or|to|with", re.IGNORECASE)
_STATA_RESERVED = re.compile(
    "aggregate|array|boolean|break|byte|case|catch|class|colvector|complex|const|continue|default|delegate|delete|do|double|else|eltypedef|"
    "end|enum|explicit|export|external|float|for|friend|function|global|goto|if|in|inline|int|local|long|null|pragma|protected|quad|"
    "rowvector|short|str[0-9#]+|strl|typedef|typename|using|virtual|with",
    re.IGNORECASE,
)
"""The words of Stata and of its language Mata, which pandas does not take for names either."""
_SAS_RESERVED = re.compile("and|by|do|else|end|eq|ge|gt|if|in|le|lt|max|min|ne|not|or|output|run|then|with", re.IGNORECASE)
"""Words of the data step; SAS allows them for names, but reads some statements with them otherwise."""
_NAMES = {
    "spss": (60, r"[^\w.@#$]", _SPSS_RESERVED),
    "stata": (32, r"\W", _STATA_RESERVED),
    "sas": (32, r"[^A-Za-z0-9_]", _SAS_RESERVED),
}
"""By program the bytes of a name, the characters that are not allowed in one, and the names that are not."""


def program_names(domain: Domain, program: str) -> Mapping[str, RowColumn]:
    """Return the columns by names that a statistical program allows, changed as little as possible.

    Args:
        domain: The columns.
        program: "spss", "stata" or "sas"; another name raises KeyError.

    Returns:
        The columns in order, by new name. The names begin with a letter, differ in more than case, and are cut
        to 60 bytes of UTF-8 for SPSS and to 32 for the others.
    """
    most, wrong, reserved = _NAMES[program]
    named: dict[str, RowColumn] = {}
    taken: set[str] = set()
    for column in domain.columns:
        plain = re.sub(wrong, "_", column.name)
        fits = re.match(r"[^\W\d_]", plain) and not reserved.fullmatch(plain)
        plain = (plain if fits else f"v_{plain}").rstrip(".")
        plain = cut(plain, most)
        candidate, number = plain, 1
        while candidate.lower() in taken:
            number += 1
            candidate = f"{cut(plain, most - 6)}_{number}"
        taken.add(candidate.lower())
        named[candidate] = column
    return named


def spss_user_missing(column: RowColumn) -> list[Any]:
    """Return the user-missing values of a column as SPSS declares them: at most three, or a range of numbers.

    More than three are a range if no valid value lies between them; otherwise the first three are
    declared. Texts longer than eight bytes and truth values are left out.

    Returns:
        The values, or a range as one dict {"lo": number, "hi": number}; empty for a column without
        such values.
    """
    missing = [*column.user_missing] if isinstance(column, Attribute) and column.dtype != "bool" else []
    if column.dtype == "string":
        return [text for text in missing if len(text.encode()) <= _LONGEST_MISSING][:_MOST_MISSING]
    numbers = sorted(map(float, missing))
    if len(numbers) > _MOST_MISSING:
        valid = (float(one) for one in column.categories if one not in missing)
        if not any(numbers[0] < one < numbers[-1] for one in valid):
            return [{"lo": numbers[0], "hi": numbers[-1]}]
    return numbers[:_MOST_MISSING]


def cut(text: str, most: int) -> str:
    """Return the longest beginning of a text that takes at most `most` bytes of UTF-8, without broken letters."""
    return text.encode()[:most].decode(errors="ignore")
