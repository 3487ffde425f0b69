"""Usual lists and bounds, each with its source, and the meaning that a column's name suggests. Facts only (`usual_lists.json`), no record.

A name is public, so that a guess from it costs nothing; it remains a guess. Bounds of an age are the same in every file and are filled in.
The way a file writes "female" does not follow from a name: a usual list is suggested, and the curator picks its writing.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("usual_lists.json")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NUMBERED = re.compile(r"^unnamed\b|[_\W](key|index|idx)$", re.IGNORECASE)


class Role(Enum):
    """The role that a column usually has, judged by its name."""

    IDENTIFIER = "identifier"
    TEXT = "free text"
    DATE = "date"
    TIME = "time of day"
    NUMBER = "number"
    UNKNOWN = ""


@dataclass(frozen=True)
class Usual:
    """Values that are the same in every file for columns of one meaning, such as ages or yes and no.

    Attributes:
        name: Name of the entry.
        title: Title for people.
        source: Where the values are defined.
        writings: The ways in which files write the values, by title. Each is a set of fields of a
            `Column` besides its name: categories and labels of a list, or the bounds of a range,
            which has a single way.
    """

    name: str
    title: str
    source: str
    writings: Mapping[str, Mapping[str, Any]]

    @property
    def first(self) -> Mapping[str, Any]:
        """The fields of a `Column` for the first way to write the values."""
        return next(iter(self.writings.values()))

    @property
    def is_list(self) -> bool:
        """True for listed values, False for a range."""
        return "categories" in self.first


def entries() -> Mapping[str, Usual]:
    """Return all entries of the list of usual values, by their names, in the order of `usual_lists.json`.

    The mapping is kept and returned again, so the caller must not change it.
    """
    return _library()[0]


def suggested(column: str) -> Usual | None:
    """Return the entry that a column's name suggests, or None if it suggests none.

    If several entries have a word that is in the name, the longest word decides. A name of several words that
    begins with a verb such as "is" or "has" suggests yes and no.
    """
    (entries, by_word, words), parts = _library(), _parts(column)
    if parts and parts[0] in words["answers"] and len(parts) > 1:
        return entries["yes-no"]
    runs = {"".join(parts[start:end]) for start in range(len(parts)) for end in range(start + 1, len(parts) + 1)}  # of neighbouring words
    matching = [word for word in runs if word in by_word]
    return by_word[max(matching, key=len)] if matching else None


def role(column: str) -> Role:
    """Return the role that a column's name suggests by its last words; UNKNOWN if it suggests none.

    A name that begins with a word for a date is a date, too. In numbered names such as lab_7, the words before the
    number decide. Of several roles the first counts: identifier, text, date, time, number.
    """
    words, parts = _library()[2], _parts(column)
    endings = {"".join(parts[start:]) for start in range(len(parts))}
    if _NUMBERED.search(column.strip()) or endings & words["identifiers"]:
        return Role.IDENTIFIER
    if endings & words["texts"]:
        return Role.TEXT
    if endings & words["dates"] or "".join(parts[:1]) in words["dates"]:
        return Role.DATE
    if endings & words["times"]:
        return Role.TIME
    counted = {"".join(parts[start:-1]) for start in range(len(parts) - 1)} if parts[-1:] and parts[-1].isdigit() else set()
    return Role.NUMBER if (endings | counted) & words["numbers"] else Role.UNKNOWN


def _parts(column: str) -> list[str]:
    """Return the words of a name in lower case, without accents: date_of_birth, dateOfBirth and DATE-OF-BIRTH have the same."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", column).translate(_UMLAUTS))
    return [part.lower() for part in _PARTS.findall(plain.encode("ascii", "ignore").decode())]


@cache
def _library() -> tuple[dict[str, Usual], dict[str, Usual], dict[str, frozenset[str]]]:
    """Return the entries by name, the entries by each word that suggests them, and the words of each role."""
    content = json.loads(_FILE.read_text(encoding="utf-8"))
    entries = dict[str, Usual]()
    for entry in content["entries"]:
        writings = {one.pop("title"): {"kind": entry["kind"], **one} for one in entry["writings"]}
        entries[entry["name"]] = Usual(entry["name"], entry["title"], entry["source"], writings)
    by_word = {word: entries[entry["name"]] for entry in content["entries"] for word in entry["words"]}
    return entries, by_word, {role: frozenset(words) for role, words in content["words"].items()}
