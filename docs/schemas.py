"""JSON Schemas of what people write and programs read: domain, workload, criteria, spec, release. `python -m docs.generate` writes them.

They follow from the same tables that the program reads documents with: kinds of columns, kinds of criteria, the model of a spec. A schema
knows the form of a document; whether it means something, such as that a column is there, only the program can say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dpsynth_core.claims.criteria.criterion import MAX_NAME, Entry
from dpsynth_core.claims.criteria.outcomes import MUST, SHOULD
from dpsynth_core.claims.criteria.registry import KINDS as CRITERIA
from dpsynth_core.claims.criteria.registry import MOST
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release.document import FORMAT
from dpsynth_core.vocabulary.column import LEARNT_FIELDS
from dpsynth_core.vocabulary.domain import ORIGINS
from dpsynth_core.vocabulary.kinds.kind import Form, Kind
from dpsynth_core.vocabulary.kinds.registry import KINDS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TRUTH: Schema = {"type": "boolean"}
SCALAR: Schema = {"type": ["string", "number", "boolean"]}


def whole(least: int | None = None) -> Schema:
    return {"type": "integer"} | ({} if least is None else {"minimum": least})


def listed(of: Schema, least: int = 0) -> Schema:
    return {"type": "array", "items": of} | ({"minItems": least} if least else {})


def one_of(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def record(properties: Mapping[str, Schema], required: Sequence[str] = (), more: bool = False) -> Schema:
    """more: whether other entries may be there."""
    schema: Schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    return schema | ({} if more else {"additionalProperties": False})


RECODED = record({"as": SCALAR, "why": TEXT}, ("as", "why"))
CELLS: Schema = {"type": "object", "minProperties": 1, "additionalProperties": one_of(SCALAR, listed(SCALAR, 1))}
"""Columns, each with one or several of its values."""


# A domain


def column(kind: Kind) -> Schema:
    end = NUMBER if kind.name in ("integer", "numeric") else TEXT
    fields: dict[str, Schema] = {
        "categories": listed(SCALAR, 1),
        "labels": listed(SCALAR),
        "user_missing": listed(SCALAR),
        "dtype": TEXT,
        "size": whole(1),
        "value": SCALAR,
        "pattern": TEXT,
        "level": whole(1),
        "groups": {"type": "object", "additionalProperties": TEXT},
        "digits": whole(1),
        "lower": end,
        "upper": end,
        "precision": {"enum": list(kind.precisions)},
        "bins": whole(1),
        "width": one_of(NUMBER, TEXT),
        "edges": listed(one_of(NUMBER, TEXT)),
        "own_cells": one_of(listed(one_of(NUMBER, TEXT)), TEXT),
        "decimals": whole(),
        "missing": one_of(TRUTH, RECODED),
        "other": one_of(TRUTH, RECODED, *([{"const": "nearest"}] if kind.form is Form.BINNED else [])),
    }
    own = {name: fields[name] for name in kind.fields}
    if kind.learnable or kind.grouped:
        own |= {"discover": {"const": True}, "most": whole(1)} | {name: fields[name] for name in LEARNT_FIELDS if name in kind.fields}
    about = {"name": TEXT | {"minLength": 1}, "kind": {"const": kind.name}, "label": TEXT, "to_do": TEXT}
    return record(about | own, ("name", "kind")) | {"title": kind.title, "description": kind.help}


def domain() -> Schema:
    note = {"note": TEXT}
    rules = [
        record({"never": CELLS, **note}, ("never",)),
        record({"if": CELLS, "then": CELLS, **note}, ("if", "then")),
        record({"column": TEXT, "determines": TEXT, "values": {"type": "object"}, **note}, ("column", "determines", "values")),
        record({"columns": listed(TEXT, 2), "cells": listed(listed(SCALAR, 2), 1), **note}, ("columns", "cells")),
        *(record({"column": TEXT, order: TEXT, **note}, ("column", order)) for order in ("at_most", "below")),
    ]
    ours = record(
        {
            "version": {"const": 1},
            "attributes": listed({"oneOf": [column(kind) for kind in KINDS.values()]}, 1),
            "impossible": listed(one_of(*rules)),
            "origin": {"enum": list(ORIGINS)},
        },
        ("attributes",),
    )
    codes = "How many codes 0, 1, ... each column has."
    coded: Schema = {"type": "object", "minProperties": 1, "additionalProperties": whole(1), "description": codes}
    return one_of(ours, coded)


# A workload, and criteria


def workload() -> Schema:
    marginals = listed(record({"attributes": listed(TEXT, 1), "weight": {"type": "number", "exclusiveMinimum": 0}}, ("attributes",)), 1)
    forms: dict[str, Schema] = {
        "all": {"k": whole(1)},
        "target": {"column": TEXT, "k": whole(1)},
        "random": {"k": whole(1), "count": whole(1), "seed": whole(0)},
        "skewed": {"k": whole(1), "count": whole(1), "seed": whole(0)},
        "marginals": {"marginals": marginals},
    }
    threshold = {"threshold": one_of(whole(1), {"type": "null"})}
    return {"oneOf": [record({"kind": {"const": kind}, **own, **threshold}, ("kind", *own)) for kind, own in forms.items()]}


_HELD: Mapping[Entry, Schema] = {
    Entry.PERCENT: SHARE,
    Entry.AMOUNT: {"type": "number", "exclusiveMinimum": 0},
    Entry.QUANTILE: SHARE,
    Entry.NUMBER: TEXT,
    Entry.NUMBERS: one_of(TEXT, listed(TEXT)),
    Entry.PEOPLE: {"type": "object", "additionalProperties": one_of(SCALAR, listed(SCALAR, 1))},
    Entry.TABLES: listed(listed(TEXT, 1), 1),
    Entry.PREDICTED: TEXT,
    Entry.MODEL: TEXT,
    Entry.NEAR: NUMBER,
}


def criteria() -> Schema:
    common: dict[str, Schema] = {"importance": {"enum": [MUST, SHOULD]}, "name": {"type": "string", "maxLength": MAX_NAME}}
    kinds = [
        record({"kind": {"const": name}, **common, **{field.name: _HELD[field.holds] for field in kind.form}}, ("kind",))
        | {"title": kind.title}
        for name, kind in CRITERIA.items()
    ]
    return listed({"oneOf": kinds}) | {"maxItems": MOST}


# A spec, and a release


def spec() -> Schema:
    """The model that the program reads specs with, where domain, workload and criteria are typed too."""
    schema = Spec.model_json_schema()
    schema["$defs"] |= {"Domain": domain(), "Workload": workload(), "Criteria": criteria()}
    schema["properties"] |= {name: {"$ref": f"#/$defs/{name.title()}"} for name in ("domain", "workload", "criteria")}
    shares = schema["$defs"]["BudgetSpec"]["properties"]
    shares |= {claim.name: SHARE for claim in CLAIMS}
    schema["$defs"]["BudgetSpec"]["additionalProperties"] = False
    return schema


def release() -> Schema:
    """release.json. Parts that later versions may extend take further entries."""
    whole_spec = spec()
    names, count, maybe = listed(TEXT), whole(0), one_of(NUMBER, {"type": "null"})
    noise = {"sigma": NUMBER, "spread": NUMBER, "rounding": NUMBER, "groups": listed({"type": "object"})}
    measured = record({"attributes": names, **noise, "values": listed(NUMBER)}, ("attributes", "sigma", "values"))
    bounds = {"attributes": names, "support": TEXT, "paper95": maybe, "bound95": maybe}
    budget = dict.fromkeys(("epsilon", "delta", "rho", "rho_spent"), NUMBER)
    budget |= {"relation": TEXT, "max_rows_per_person": whole(1), "accountant": TEXT}
    parts = {"parts": listed(NUMBER), "people": listed(NUMBER)}
    rows = {"count": count, "policy": TEXT, "estimated_total": NUMBER, "seed": one_of(count, {"type": "null"}), "tables": whole(1)}
    properties: dict[str, Schema] = {
        "format": {"const": FORMAT},
        "created": {"type": "string", "format": "date"},
        "private": TRUTH,
        "statement": TEXT,
        "brands": listed(record({"code": TEXT, "sentence": TEXT}, ("code", "sentence"))),
        "spec": {"$ref": "#/$defs/Spec"},
        "spec_sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "domain": {"$ref": "#/$defs/Domain"},
        "budget": record(budget, list(budget), more=True),
        "charges": listed(record({"operation": TEXT, "rho": NUMBER}, ("operation", "rho"), more=True)),
        "ledger": {"type": "object"},
        "inside": {"type": "object", "additionalProperties": record(parts, list(parts))},
        "rows": record(rows, list(rows), more=True),
        **{claim.part: {} for claim in CLAIMS},
        "despite": TEXT,
        "verdict": {"type": "object"},
        "bounds": listed(record(bounds, list(bounds))),
        "measurements": listed(measured),
        "transcript": listed({"type": "object"}),
        "history": listed(record({"kind": TEXT, "rho_spent": NUMBER}, ("kind",), more=True)),
        "details": {"type": "object"},
        "versions": {"type": "object", "additionalProperties": TEXT},
    }
    definitions = {"Spec": {name: part for name, part in whole_spec.items() if name != "$defs"}} | whole_spec["$defs"]
    optional = {"domain", *(claim.part for claim in CLAIMS if claim.setting)}
    return record(properties, [name for name in properties if name not in optional]) | {"$defs": definitions}


SCHEMAS = {"domain": domain, "workload": workload, "criteria": criteria, "spec": spec, "release": release}


def files() -> dict[str, str]:
    """Each as text, by the name of its file."""
    return {f"{name}.schema.json": json.dumps({"$schema": DIALECT, **make()}, indent=1) + "\n" for name, make in SCHEMAS.items()}
