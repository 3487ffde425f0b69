"""The code of a plan: what was entered on each step of the wizard, in the words of `dps.plan`.

A script states one variable for each argument, and the options step by step, so that what stands on a later step is what stood on an
earlier one with more below. Options that have their default are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpsynth_core.claims.ranges import USUAL_SHARE
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.claims.weights import USUAL_SHARE as WEIGHTED_SHARE
from dpsynth_core.extensions.in_python import columns
from dpsynth_core.extensions.in_python.literals import Code, literal
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.interface.plan import published_sections
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.defaults import DELTA
from dpsynth_core.planning.private_views import NOTHING
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, DEFAULT_DISCOVERY, DEFAULT_INSIDE, DEFAULT_MEANS, DEMO, TableSpec
from dpsynth_core.planning.unit_spec import UNNAMED
from dpsynth_core.sources.formats import FIELDS, TableFormat, usual_markers
from dpsynth_core.sources.registry import KINDS
from dpsynth_core.vocabulary.domain import Domain

STEPS = ("data", "domain", "workload", "budget", "mechanism", "results")
_TITLES = dict(zip(STEPS, ("Data", "Domain", "Workload", "Budget", "Mechanism", "Results"), strict=True))
_SHARES = {"discovery": "discovery", "criteria": "criteria_share", "models": "models_share"} | {
    name: option for option, name in extension.shares().items()
}
_DEFAULTS = {claim.name: claim.share.default for claim in CLAIMS}
_BUNDLE = "release.zip"


@dataclass(frozen=True)
class Table:
    """The name of a table in a script.

    Attributes:
        path: The path or address; "" while no table is chosen.
        stated: Fields of the file's format that the curator stated.
        note: A comment behind the path; "" for none.
    """

    path: str
    stated: frozenset[str] = frozenset()
    note: str = ""


@dataclass
class _Part:
    """The part of a script that one step adds: lines of code, and options by name."""

    lines: list[str] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


def lacking(plan: Mapping[str, Any]) -> str:
    """Return a sentence if `dps.plan` cannot make a plan, else "".

    It cannot if a table is invented and not the demo, or if published tables do not come out the same from
    files.

    Args:
        plan: The spec of a release in JSON, whose sections may be missing.
    """
    kinds = [(plan.get(name) or {}).get("kind", "csv") for name in ("data", "members")]
    if any(KINDS[kind].simulated and kind != DEMO for kind in kinds):
        return "Python has no name for these invented tables. Save such a table as a file, or use the command line."
    tables = plan.get("published_tables") or []
    if tables and plan.get("domain"):
        domain = Domain.from_json(plan["domain"])
        try:
            given = [(_frame(one), one["source"]) for one in tables]
            same = json.dumps(published_sections(given, domain)) == json.dumps([_plain(one) for one in tables])  # 1 is not 1.0
        except InputError:
            same = False
        if not same:
            return "Python reads tables that were published as files. Give their files as published=[(path, where)]."
    return ""


def script(plan: Mapping[str, Any], step: str, table: Table, second: Table | None = None, seal: str = "", people: int | None = None) -> str:
    """Return the code that states a plan up to a step.

    The code of the last steps, run on the same tables, makes a plan with the digest `seal`.

    Args:
        plan: The spec of a release in JSON. Sections that are not known yet may be missing.
        step: One of `STEPS`.
        table: The table.
        second: The second of two linked tables.
        seal: Digest of the complete plan; "" if it is not complete.
        people: Number of people for the forecast, if it is known.

    Raises:
        ValueError: `step` is not in `STEPS`.
    """
    parts = {
        "data": _data(plan, table, second, people),
        "domain": _domain(plan, second),
        "workload": _workload(plan),
        "budget": _budget(plan),
        "mechanism": _mechanism(plan, seal),
        "results": _results(),
    }
    named = any(part.options.get("published") for part in parts.values())
    text = ["import pandas as pd\n" * named + "import dpsynth_core as dps"]
    begun = False
    for name in STEPS[: STEPS.index(step) + 1]:
        part = parts[name]
        lines = [f"# {_TITLES[name]}", *([] if name == "mechanism" else part.lines)]
        if part.options:
            sign = "|=" if begun else "="
            lines.append(f"options {sign} {literal(part.options, room=88)}")
            begun = True
        if name == "mechanism":
            given = [one for one, there in (("tables=tables", second is None and not plan.get("members")), ("**options", begun)) if there]
            lines += [f"plan = dps.plan(data, columns, {', '.join(['epsilon=epsilon', *given])})", *part.lines]
        if len(lines) > 1:
            text.append("\n".join(lines))
    return "\n\n".join(text) + "\n"


def _data(plan: Mapping[str, Any], table: Table, second: Table | None, people: int | None) -> _Part:
    part, unit = _Part(), plan.get("unit") or {}
    part.lines = [_assigned("data", table)]
    if second is not None:
        part.lines.append(_assigned("second", second))
    population = plan.get("population")
    part.options = _without(
        {
            "name": (plan.get("name"), "release"),
            "population": (population, UNNAMED),
            "people": (people, None),
            "person": (unit.get("person_column"), None),
            "rows_per_person": (unit.get("max_rows_per_person"), 1),
            "relation": (unit.get("relation"), "add-remove"),
            "other_copies": (plan.get("other_copies"), ""),
            "about": (_about(plan.get("about")), {}),
            "public": ((plan.get("public") or {}).get("path"), None),
            "form": (_form(plan.get("data") or {}, table.stated), {}),
        }
    )
    return part


def _domain(plan: Mapping[str, Any], second: Table | None) -> _Part:
    part, members = _Part(), plan.get("members") or {}
    if not plan.get("domain"):
        return part
    of_one = extension.is_of_one(plan.get("extensions") or {}) and members.get("domain")
    further = members["domain"]["attributes"] if of_one else []
    stated = {**plan["domain"], "attributes": [*plan["domain"]["attributes"], *further]}
    part.lines = [f"columns = {literal(columns.said(stated), room=88)}"]
    if of_one:
        part.options |= _without({"rules": (list(members.get("rules") or []), [])})
    elif second is not None and members.get("domain"):
        part.lines.append(f"second_columns = {literal(columns.said(members['domain']), room=80)}")
        form = _form(members, second.stated)
        part.options["members"] = (Code("second"), Code("second_columns"), *([form] if form else []))
        part.options |= _without({"rules": (list(members.get("rules") or []), [])})
    part.options |= _without(
        {
            "domain_origin": (plan.get("domain_origin"), "unstated"),
            "origin_reason": (plan.get("domain_justification"), ""),
        }
    )
    if tables := plan.get("published_tables"):
        part.options["published"] = [(Code(f"pd.DataFrame({literal(_lines_of(one))})"), one["source"]) for one in tables]
    return part


def _workload(plan: Mapping[str, Any]) -> _Part:
    part, linked = _Part(), bool(plan.get("members"))
    if (asked := plan.get("workload")) and not linked:  # two linked tables have tables of their own
        part.lines = [f"tables = {literal(_tables(asked), room=88)}"]
    return part


def _budget(plan: Mapping[str, Any]) -> _Part:
    part, budget, weight, linked = _Part(), plan.get("budget") or {}, plan.get("weight") or {}, bool(plan.get("members"))
    part.lines = [f"epsilon = {literal(budget.get('epsilon'))}"]
    usual = {
        "certificate": DEFAULT_CERTIFICATE,
        "inside": 0.0 if linked else DEFAULT_INSIDE,
        "means": 0.0 if linked else DEFAULT_MEANS,
        "ranges": USUAL_SHARE if (plan.get("workload") or {}).get("kind") == "ranges" else 0.0,
        "weighted": WEIGHTED_SHARE if plan.get("weight") else 0.0,
    }
    part.options = _without(
        {
            "delta": (budget.get("delta"), DELTA),
            **{name: (budget.get(name, _DEFAULTS.get(name, 0.0)), default) for name, default in usual.items()},
            **{option: (budget.get(name), {"discovery": DEFAULT_DISCOVERY, **_DEFAULTS}[name]) for name, option in _SHARES.items()},
            "epsilon_reason": (budget.get("reason"), ""),
            "weight": (weight.get("column"), None),
            "weight_totals": (weight.get("totals"), {}),
            "weight_tables": (weight.get("tables"), []),
            "criteria": (list(plan.get("criteria") or []), []),
            "models": ([_filled(one) for one in plan.get("models") or []], []),
        }
    )
    return part


def _mechanism(plan: Mapping[str, Any], seal: str) -> _Part:
    part, chosen, output, looks = _Part(), plan.get("mechanism") or {}, plan.get("output") or {}, plan.get("looks")
    usual = registry.of_linked(extension.layout(plan.get("extensions") or {})) if plan.get("members") else "aim"
    settings = extension.settings()
    part.options = _without(
        {
            "mechanism": (chosen.get("name"), usual),
            "settings": (chosen.get("settings"), {}),
            "rows": (output.get("rows"), None),
            "row_tables": (output.get("tables"), 1),
            "seed": (output.get("seed"), None),
            "looked": (None if looks is None else list(looks) or [NOTHING], None),
            **{name: (value, None) for name, value in (plan.get("extensions") or {}).items() if name in settings},
        }
    )
    part.lines = ["print(plan)", f"print(plan.digest)  # here: {seal[:16]}…" if seal else "print(plan.digest)"]
    return part


def _results() -> _Part:
    path = literal(_BUNDLE)
    part = _Part()
    part.lines = [
        "# This release is made and paid for: download its bundle, and read it. plan.run() would make another one, and spend again.",
        f"release = dps.open({path})",
        "print(release.verdict)",
        "rows = release.rows",
    ]
    return part


def _assigned(name: str, table: Table) -> str:
    if not table.path:
        return f"{name} = ...  # no table is chosen yet"
    return f"{name} = {literal(table.path)}" + (f"  # {table.note}" if table.note else "")


def _without(options: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    """Return the options whose value is there and is not the default, from pairs of both."""
    return {name: value for name, (value, default) in options.items() if value is not None and value != default}


def _about(about: Any) -> dict[str, Any]:
    """Return the statements for deposits without those that were left empty."""
    return {name: list(value) if isinstance(value, list | tuple) else value for name, value in (about or {}).items() if value}


def _filled(entry: Any) -> dict[str, Any]:
    return {name: value for name, value in dict(entry).items() if value is not None}


def _form(section: Mapping[str, Any], stated: frozenset[str]) -> dict[str, Any]:
    """Return the entries of a table's section that `dps.plan` would not find itself, or would ask about.

    Args:
        section: The section of a spec.
        stated: Fields that the curator stated, also where they have their default.
    """
    kind = section.get("kind", "csv")
    there = {name: value for name, value in section.items() if value is not None and name not in ("path", "domain", "rules", "standin")}
    there.setdefault("kind", kind)
    if kind == DEMO:
        return {}
    if not KINDS[kind].is_file:
        del there["kind"]
        fields = {name: one.default for name, one in TableSpec.model_fields.items()} | {"missing_markers": sorted(usual_markers(kind))}
        return {name: _listed(value) for name, value in there.items() if _listed(value) != _listed(fields.get(name))}
    default = TableFormat(kind)
    usual = {name: getattr(default, name) for name in FIELDS} | {"missing_markers": sorted(default.missing_markers), "kind": kind}
    return {name: _listed(value) for name, value in there.items() if name in stated or _listed(value) != _listed(usual.get(name))}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _tables(workload: Mapping[str, Any]) -> Any:
    """Return the argument `tables` for a workload in JSON: a number or lists of columns where they mean the same document."""
    if workload.keys() == {"kind", "k"} and workload["kind"] == "all":
        return workload["k"]
    if workload.keys() == {"kind", "marginals"} and workload["kind"] == "marginals":
        named = [one["attributes"] for one in workload["marginals"]]
        if literal(workload["marginals"]) == literal([{"attributes": one, "weight": 1.0} for one in named]):
            return named
    return dict(workload)


def _plain(table: Mapping[str, Any]) -> dict[str, Any]:
    return {"columns": list(table["columns"]), "cells": [list(cell) for cell in table["cells"]], "source": table["source"]}


def _lines_of(table: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return a published table by column, with its numbers of people in `count`."""
    cells = [list(cell) for cell in table["cells"]]
    return {name: [cell[place] for cell in cells] for place, name in enumerate([*table["columns"], "count"])}


def _frame(table: Mapping[str, Any]) -> Any:
    import pandas as pd  # loaded where a table was published

    return pd.DataFrame(_lines_of(table))
