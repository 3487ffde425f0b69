"""Codebooks in XML as data archives publish them (DDI Codebook 1.2 to 2.6): what they say of each variable.

Archives often write what they counted into the codebook: how many people gave each answer, the smallest and the largest value that occurs.
Nothing of that is read. A range that stands beside such statistics may be what the records hold, so it stays open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.declared import declared, domain_json
from dpsynth_core.vocabulary.kinds.kind import finite

_DATES = ("date", "time", "year")
_REMEDY = "give a DDI codebook (2.5), a domain JSON or a codebook CSV"


def is_xml(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def declared_domain(text: str) -> dict[str, Any]:
    """The JSON of a domain with the variables of a codebook; what it does not say is marked "to_do". Raises InputError."""
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
    """Answers that mean "no answer" stay answers: a file may hold their codes."""
    answers = {} if variable.get("intrvl") == "contin" else _answers(variable)
    decimals = variable.get("dcml", "")
    return declared(
        (variable.get("name") or "").strip(),
        _kind(variable),
        label=_text(variable, "labl"),  # the first of several languages
        labels=answers,
        decimals=int(decimals) if re.fullmatch("[0-9]|1[0-2]", decimals) else None,
        ordered=variable.get("nature") == "ordinal",
        bounds=_range(variable),
    )


def _answers(variable: ElementTree.Element) -> dict[float | str, str]:
    """Values with their labels; a list in which every answer means "no answer" lists none. Codes such as 007 make all of them texts: as
    numbers they would not be found in the file."""
    categories = [one for one in _children(variable, "catgry") if _text(one, "catValu")]
    if all(one.get("missing", "").upper() in ("Y", "TRUE") for one in categories):
        return {}
    labels = {_text(one, "catValu"): _text(one, "labl") for one in categories}
    numbers = _kind(variable) != "text" and all(re.fullmatch(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]+)?", value) for value in labels)
    return {float(value) if numbers else value: label for value, label in labels.items()}


def _kind(variable: ElementTree.Element) -> str:
    form = next(iter(_children(variable, "varFormat")), None)
    stated = {} if form is None else form.attrib
    if stated.get("category", "") in _DATES:
        return "date" if stated["category"] == "date" else "time" if stated["category"] == "time" else "integer"
    if stated.get("type") == "character":
        return "text"
    return "number" if stated.get("type") == "numeric" or variable.get("intrvl") == "contin" else ""


def _range(variable: ElementTree.Element) -> tuple[float, float] | None:
    """The bounds of the values that are valid, unless they may be the bounds of those that occur."""
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
    """Without its namespace, which differs by version and publisher. Comments have none."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
