"""Usual lists of values, each with its source, and what the name of a column suggests. Facts only (`usual_lists.json`); no record is seen.

A name is public, so that a guess from it costs nothing; it is a guess all the same. Bounds of an age are the same however a file is written
and are filled in. How a file writes "female" is not known from a name: a usual list is suggested, and whoever knows the file picks the
way it is written.
"""

from __future__ import annotations

import json
import re
import unicodedata
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
    """What a column with such a name is mostly for."""

    IDENTIFIER = "identifier"
    TEXT = "free text"
    DATE = "date"
    UNKNOWN = ""


@dataclass(frozen=True)
class Writing:
    """One way in which files write the values of a list. labels: what they mean, as many, or none."""

    title: str
    values: tuple[str, ...]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class UsualList:
    """Values that a column of this meaning has everywhere. kind: "categorical" or "ordinal". source: where the list is laid down."""

    name: str
    title: str
    source: str
    kind: str
    writings: tuple[Writing, ...]


@dataclass(frozen=True)
class UsualRange:
    """Bounds that a column of this meaning has everywhere, as typed. bins: the width of its groups, "" for the default. decimals: digits
    after the point that people write of it, None where it is no decimal number."""

    name: str
    title: str
    source: str
    kind: str
    lower: str
    upper: str
    bins: str
    decimals: int | None = None


@dataclass(frozen=True)
class _Library:
    lists: dict[str, UsualList]
    ranges: dict[str, UsualRange]
    by_word: dict[str, UsualList | UsualRange]
    words: dict[str, frozenset[str]]


def lists() -> tuple[UsualList, ...]:
    return tuple(_library().lists.values())


def ranges() -> tuple[UsualRange, ...]:
    return tuple(_library().ranges.values())


def suggested(column: str) -> UsualList | UsualRange | None:
    """What the name of a column suggests: the entry with the longest word in it."""
    library, parts = _library(), _parts(column)
    if parts and parts[0] in library.words["answers"] and len(parts) > 1:
        return library.lists["yes-no"]
    matching = [word for word in _joined(parts) if word in library.by_word]
    return library.by_word[max(matching, key=len)] if matching else None


def entry(chosen: UsualRange) -> dict[str, Any]:
    """Its part of a column's entry in the JSON of a domain."""
    is_number = chosen.kind in ("integer", "numeric")
    stated = {"lower": chosen.lower, "upper": chosen.upper} | ({"width": chosen.bins} if chosen.bins else {})
    decimals = {} if chosen.decimals is None else {"decimals": chosen.decimals}
    return {"kind": chosen.kind, **{name: _number(text) if is_number else text for name, text in stated.items()}, **decimals}


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def role(column: str) -> Role:
    """What the last words of a name promise: an identifier, free text, a date."""
    words, parts = _library().words, _parts(column)
    endings = {"".join(parts[start:]) for start in range(len(parts))}
    if _NUMBERED.search(column.strip()) or endings & words["identifiers"]:
        return Role.IDENTIFIER
    if endings & words["texts"]:
        return Role.TEXT
    return Role.DATE if endings & words["dates"] or "".join(parts[:1]) in words["dates"] else Role.UNKNOWN


def _parts(column: str) -> list[str]:
    """The words of a name in small letters, without accents: date_of_birth, dateOfBirth and DATE-OF-BIRTH have the same."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", column).translate(_UMLAUTS))
    return [part.lower() for part in _PARTS.findall(plain.encode("ascii", "ignore").decode())]


def _joined(parts: list[str]) -> set[str]:
    """Every run of neighbouring words as one."""
    return {"".join(parts[start:end]) for start in range(len(parts)) for end in range(start + 1, len(parts) + 1)}


@cache
def _library() -> _Library:
    content = json.loads(_FILE.read_text(encoding="utf-8"))
    named = {entry["name"]: _list(entry) for entry in content["lists"]}
    bounds = ({key: entry[key] for key in UsualRange.__annotations__ if key in entry} for entry in content["ranges"])
    ranges = {entry["name"]: UsualRange(**entry) for entry in bounds}
    known: dict[str, UsualList | UsualRange] = {**named, **ranges}
    by_word = {word: known[entry["name"]] for part in ("lists", "ranges") for entry in content[part] for word in entry["words"]}
    return _Library(named, ranges, by_word, {role: frozenset(words) for role, words in content["words"].items()})


def _list(entry: dict[str, Any]) -> UsualList:
    writings = tuple(Writing(one["title"], tuple(one["values"]), tuple(one.get("labels", ()))) for one in entry["writings"])
    return UsualList(entry["name"], entry["title"], entry["source"], entry["kind"], writings)
