"""The names of a plan's parts on pages, in place of their paths in the spec."""

from __future__ import annotations

from dpsynth_core.mechanisms import registry

_SETTING = "mechanism.settings."
_NAMES = {
    "about": "licence, creators and the like",
    "budget": "budget",
    "budget.accountant": "accounting",
    "budget.certificate": "share for the certificate",
    "budget.criteria": "share for the criteria",
    "budget.delta": "δ",
    "budget.discovery": "share for learning values",
    "budget.epsilon": "ε",
    "budget.inside": "share for how numbers lie in their groups",
    "budget.means": "share for means",
    "budget.models": "share for columns to predict",
    "budget.ranges": "share for ranges",
    "budget.reason": "why so large an ε",
    "criteria": "criteria",
    "data": "table",
    "data.date_format": "dates",
    "data.decimal": "decimal mark",
    "data.delimiter": "fields are separated by",
    "data.encoding": "text encoding",
    "data.kind": "kind of table",
    "data.missing_markers": "codes that mean missing",
    "data.names": "names of the columns",
    "data.negative": "numbers below zero",
    "data.path": "where the table is",
    "data.query": "query",
    "data.quoting": "quotes",
    "data.same_text": "texts that count as one category",
    "data.sheet": "sheet",
    "data.table": "table or view",
    "data.thousands": "between thousands",
    "data.time_format": "times of day",
    "data.units": "units",
    "domain": "columns or values",
    "domain_justification": "why these values are harmless",
    "domain_origin": "where columns and values came from",
    "extensions": "what extensions add",
    "looks": "what was looked at",
    "mechanism.name": "mechanism",
    "members": "second table",
    "members.domain": "columns or values of the second table",
    "members.kind": "kind of the second table",
    "members.path": "where the second table is",
    "members.rules": "rules that hold in every household",
    "models": "columns to predict",
    "name": "project",
    "other_copies": "what else is published about these people",
    "output.rows": "rows",
    "output.seed": "seed of the noise",
    "output.tables": "tables of rows",
    "population": "population",
    "public": "public table",
    "published_tables": "published tables",
    "unit.max_rows_per_person": "rows of one person, at most",
    "unit.person_column": "column that tells people apart",
    "unit.relation": "what an outsider must not be able to tell",
    "workload": "tables asked for",
}
_NOT_STATED = ("null", "")


def named(path: str) -> str:
    """Return the name of a part of the plan on pages, from its path in the spec; a path without a name unchanged."""
    return f"parameter {path.removeprefix(_SETTING)}" if path.startswith(_SETTING) else _NAMES.get(path, path)


def valued(path: str, value: str) -> str:
    """Return the value of a part of the plan in words: "–" if it is not stated, the title of a mechanism for its name.

    Args:
        path: The path of the part in the spec.
        value: The value as text, as in the spec; returned unchanged in all other cases.

    Raises:
        InputError: The value names an unknown mechanism.
    """
    if path == "mechanism.name":
        return registry.title(value)
    return "–" if value in _NOT_STATED else value
