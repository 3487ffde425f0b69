"""Codebooks in XML as data archives publish them (DDI Codebook 1.2 to 2.6), read as columns.

Archives often write counts into the codebook: how many people gave each answer, the smallest and the largest value that occurs. These are
ignored. A range beside such statistics may come from the records, so it stays open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.declared import domain_json
from dpsynth_core.vocabulary.kinds.kind import finite
from dpsynth_core.vocabulary.value_labels import labelled

_DATES = ("date", "time", "year")
_MEASURES = {"nominal": "nominal", "ordinal": "ordinal", "interval": "scale", "ratio": "scale", "percent": "scale"}
"""The measures of SPSS by the attribute "nature" of a variable."""
_REMEDY = "give a DDI codebook (2.5), a domain JSON or a codebook CSV"


def is_xml(text: str) -> bool:
    """Return whether a text begins like XML."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def declared_domain(text: str) -> dict[str, Any]:
    """Return the JSON of a domain with the variables of a codebook.

    Information that the codebook lacks is marked "to_do". Statistics of the answers are ignored, and so is a range of a
    variable that has such statistics, because it may come from the records.

    Raises:
        InputError: The text is not a DDI codebook in XML with variables, or defines entities of its own.
    """
    return domain_json((_declared(variable) for variable in _variables(text)), "codebook")


def _variables(text: str) -> list[ElementTree.Element]:
    if re.search(r"<!ENTITY", text, re.IGNORECASE):
        raise InputError("domain", "the codebook defines entities of its own", "save it without a document type definition")
    try:
        root = ElementTree.fromstring(text.lstrip("\ufeff \t\r\n"))
    except ElementTree.ParseError:
        raise InputError("domain", "the file cannot be read as XML", _REMEDY) from None
    variables = [element for element in root.iter() if _name(element) == "var"]
    if _name(root) != "codeBook" or not variables:
        raise InputError("domain", "it is XML, but no codebook with variables", _REMEDY)
    return variables


def _declared(variable: ElementTree.Element) -> Column:
    """Return the column that a variable describes.

    Answers that mean "no answer" become values of the column too, because a file may hold their
    codes.
    """
    answers, no_answers = ({}, set()) if variable.get("intrvl") == "contin" else _answers(variable)
    decimals, kind = variable.get("dcml", ""), _kind(variable)
    return labelled(
        (variable.get("name") or "").strip(),
        kind,
        answers,
        measure=_MEASURES.get(variable.get("nature", ""), ""),
        special=no_answers,
        label=_text(variable, "labl"),  # the first of several languages
        decimals=int(decimals) if re.fullmatch("[0-9]|1[0-2]", decimals) else None,
        bounds=None if kind in ("date", "time") else _range(variable),  # as which numbers stand for times is not stated
    )


def _answers(variable: ElementTree.Element) -> tuple[dict[float | str, str], set[float | str]]:
    """Return the label of each answer, and the set of answers that mean "no answer".

    Both are empty if all answers mean that. If an answer is a code such as 007, all answers are
    texts, because a file's text 007 would not be found among numbers.
    """
    categories = [one for one in _children(variable, "catgry") if _text(one, "catValu")]
    labels = {_text(one, "catValu"): _text(one, "labl") for one in categories}
    missing = {_text(one, "catValu") for one in categories if one.get("missing", "").upper() in ("Y", "TRUE")}
    if missing.issuperset(labels):
        return {}, set()
    numbers = _kind(variable) != "text" and all(re.fullmatch(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?", value) for value in labels)
    values: dict[str, float | str] = {value: float(value) if numbers else value for value in labels}
    return {values[text]: label for text, label in labels.items()}, {values[text] for text in missing}


def _kind(variable: ElementTree.Element) -> str:
    form = next(iter(_children(variable, "varFormat")), None)
    stated = {} if form is None else form.attrib
    if stated.get("category", "") in _DATES:
        return "date" if stated["category"] == "date" else "time" if stated["category"] == "time" else "integer"
    if stated.get("type") == "character":
        return "text"
    return "number" if stated.get("type") == "numeric" or variable.get("intrvl") == "contin" else ""


def _range(variable: ElementTree.Element) -> tuple[float, float] | None:
    """Return the bounds of the valid values, if the codebook states a single range.

    None is returned if statistics stand beside the range, because it may then be the range of the
    values that occur.
    """
    ranges = [one for part in _children(variable, "valrng") for one in _children(part, "range")]
    if len(ranges) != 1 or any(_name(child) == "sumStat" for child in variable):
        return None
    lower, upper = (finite(ranges[0].get(side, "")) for side in ("min", "max"))
    return None if lower is None or upper is None else (lower, upper)


def _text(element: ElementTree.Element, name: str) -> str:
    first = next(_children(element, name), None)
    return "" if first is None else " ".join("".join(first.itertext()).split())


def _children(element: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return (child for child in element if _name(child) == name)


def _name(element: ElementTree.Element) -> str:
    """Return an element's name without its namespace, which differs by version and publisher; "" for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
