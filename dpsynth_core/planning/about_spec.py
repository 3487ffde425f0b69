"""Metadata for archives that only the publisher knows: licence, creators, contact, citation, the time and place covered.

People write one line per field: `licence: CC-BY-4.0`. Its form tells whether a text is an address or a person.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.planning.unit_spec import Part

_LINE = re.compile(r"\s*(\w+)\s*[:=]\s*(.*?)\s*")
_REMEDY = "write licence: CC-BY-4.0, and likewise creator (may be repeated), contact, citation, period (2024, 2024-03, 2024/2025), place"
_SPDX = re.compile(r"MIT|[A-Za-z][A-Za-z0-9.+-]*-[0-9]+(\.[0-9]+)*(-[A-Za-z-]+)?")
"""SPDX identifiers with a version, which every licence for data has: "proprietary" does not match."""
_PERIOD = r"^([0-9]{4}(-[0-9]{2}){0,2}(/[0-9]{4}(-[0-9]{2}){0,2})?)?$"


def _one_line(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("write it in one line, without spaces around it")
    return text


def _real_days(period: str) -> str:
    days = [date.fromisoformat(f"{day}-01-01"[:10]) for day in filter(None, period.split("/"))]
    if days != sorted(days):
        raise ValueError("it ends before it begins")
    return period


_Text = Annotated[str, Field(max_length=1000), AfterValidator(_one_line)]
_Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_one_line)]


class AboutSpec(Part):
    """Metadata for deposits and citations of a release, in the curator's words.

    Attributes:
        licence: An SPDX identifier, an address, or the licence's name.
        creators: Institutions, and people as "Family, Given".
        contact: An e-mail address, or a text.
        citation: A citation; made from the other fields if empty.
        period: 2024, 2024-03 or 2024-01-01, or two such times as 2024/2025, that the table covers.
        place: The place that the table covers.
    """

    licence: _Text = ""
    creators: Annotated[tuple[_Name, ...], Field(max_length=100)] = ()
    contact: _Text = ""
    citation: _Text = ""
    period: Annotated[str, Field(pattern=_PERIOD), AfterValidator(_real_days)] = ""
    place: _Text = ""

    @property
    def licence_address(self) -> str:
        """Address of the licence's text, or "" for a licence known by name alone."""
        if re.fullmatch(r"https?://\S+", self.licence):
            return self.licence
        return f"https://spdx.org/licenses/{self.licence}.html" if _SPDX.fullmatch(self.licence) else ""

    @property
    def email(self) -> str:
        """The contact, if it is an e-mail address; otherwise ""."""
        return self.contact if re.fullmatch(r"[^@\s<>:]+@[^@\s<>:]+\.[^@\s<>:.]+", self.contact) else ""

    def facts(self) -> list[tuple[str, str]]:
        """Return the stated fields as pairs of (name for people, text), in the order of a report; [] if nothing is stated."""
        pairs = (
            ("Licence", self.licence),
            ("Created by", "; ".join(self.creators)),
            ("Contact", self.contact),
            ("Citation", self.citation),
            ("Period covered", self.period),
            ("Place covered", self.place),
        )
        return [(name, text) for name, text in pairs if text]


def person(creator: str) -> tuple[str, str] | None:
    """Return (family name, given names) of a creator written as "Family, Given"; None for an institution."""
    family, _, given = creator.partition(", ")
    return (family, given) if family and given else None


def written(about: Mapping[str, Any]) -> str:
    """Return a spec's section `about` as text, one line "name: text" per stated field; `read` reads it back. An empty section gives ""."""
    pairs = [(name, value) for name, value in about.items() if name != "creators"] + [("creator", one) for one in about.get("creators", ())]
    return "\n".join(f"{name}: {text}" for name, text in pairs if text)


def read(text: str, field: str = "about") -> dict[str, Any] | None:
    """Return the section `about` of a spec from text with one line "name: text" per field.

    Args:
        text: The lines; empty ones are skipped, and `creator` may occur several times.
        field: Name of the field for error messages.

    Returns:
        The section, or None if there are no lines.

    Raises:
        InputError: A line has no known name, a name occurs twice, or a text is invalid.
    """
    stated: dict[str, Any] = {}
    for line in filter(str.strip, text.splitlines()):
        found = _LINE.fullmatch(line)
        name = found[1].lower() if found else ""
        if found and name == "creator":
            stated["creators"] = [*stated.get("creators", ()), found[2]]
        elif found and name in AboutSpec.model_fields and name not in ("creators", *stated):
            stated[name] = found[2]
        else:
            raise InputError(field, f"{shown(line)} says nothing of the data set, or something for the second time", _REMEDY)
    try:
        AboutSpec.model_validate_json(json.dumps(stated))
    except ValidationError as error:
        raise InputError(field, f"what it says of {str(error.errors()[0]['loc'][0]).removesuffix('s')} cannot be used", _REMEDY) from None
    return stated or None
