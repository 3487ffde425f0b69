"""One table of rows in order as two tables: of persons, with the columns that are the same in all rows of a person, and of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dpsynth_core.extensions.sequences.layout import FILE_ORDER
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.extension import Stated
from dpsynth_core.foundation.visible import listed
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.names import similar

_LISTED = 8
"""Names of columns in an error."""


def columns(names: tuple[str, ...], stated: Stated) -> tuple[str, ...]:
    """Return the columns of the table of rows that are read beside the key: the columns of its domain without the gap, and the order.

    Args:
        names: The columns of its domain.
        stated: The spec's section `extensions`.
    """
    (order,), gap = _texts(stated, "order") or [FILE_ORDER], _texts(stated, "gap")
    return (*(name for name in names if name not in gap), *([] if order == FILE_ORDER or order in names else [order]))


def lacks(name: str, there: Sequence[str], stated: Stated) -> InputError | None:
    """Return the error about a column that the table of rows lacks, with the column of the order or the gap as the remedy.

    The result is None if the usual error says more: a gap is stated already, or a column of the table has a similar name.

    Args:
        name: The column.
        there: The columns of the table.
        stated: The spec's section `extensions`.
    """
    near = similar(name, there)
    if name in _texts(stated, "order"):
        remedy = f"name {' or '.join(map(shown, near))}" if near else f"name one of them, or {FILE_ORDER!r} for the order of the file"
        return InputError("extensions.order", f"the rows have no column {shown(name)}, but {listed([*map(shown, there)], _LISTED)}", remedy)
    if near or _texts(stated, "gap"):
        return None
    remedy = f"state it as the gap (on the command line --gap {name}), or drop it from the domain"
    return InputError(column_field(name), "the rows have no such column; the time since the row before is worked out if asked for", remedy)


def divided(domain: Domain, person: str, stated: Stated) -> tuple[Domain, Domain, list[Any]]:
    """Return the domains of persons and of rows, and the rules of the domain as rules across both, as JSON.

    Args:
        domain: The columns of the table.
        person: The column that identifies people.
        stated: The spec's section `extensions`.

    Raises:
        InputError: No column is stated to be constant or none is left for rows, a stated column is missing or cannot be
            constant, or the domain has values that are to be learnt.
    """
    constant, gap = _texts(stated, "constant"), _texts(stated, "gap")
    if not constant:
        problem = "of one table, at least one column is the same in all rows of a person, and none is named"
        raise InputError("constant", problem, "name one, such as sex; or give two files, of persons and, as members, of their rows")
    for name in (*constant, *gap):
        if name == person:
            raise InputError(column_field(name), "it tells people apart, and its values cannot be released", "name another column")
        if name not in domain:
            raise InputError(column_field(name), "it is not in the domain", _remedy(name, domain, name in gap))
    for name in (one for one in (*_texts(stated, "order"), *gap) if one in constant):
        raise InputError(column_field(name), "it differs between rows of a person, and cannot be constant", "leave it out of constant")
    if domain.unknown:
        problem = "its values are to be learnt, which rows in order do not go with"
        raise InputError(column_field(domain.unknown[0].name), problem, "list its values, or learn them in a run without order")
    rows = [name for name in domain.names if name not in constant]
    if not set(rows) - {*gap}:
        raise InputError("constant", "it names all columns, and none is left for rows", "name those of the person alone")
    plain = replace(domain, impossible=())
    return plain.keep(constant), plain.keep(rows), domain.to_json().get("impossible", [])


def _remedy(name: str, domain: Domain, is_gap: bool) -> str:
    if is_gap:
        return 'add it: {"name": "…", "kind": "integer", "lower": 0, "upper": 365, "bins": 8, "missing": true}'.replace("…", name)
    if "," in name and all(part.strip() in domain for part in name.split(",")):
        return "name each column by itself"
    return "check the spelling, or add it to the domain"


def _texts(stated: Stated, name: str) -> list[str]:
    texts = stated.get(name)
    return texts if isinstance(texts, list) else []
