"""datapackage.json: the release as a Frictionless Data Package.

Programs read the columns of rows with their types, labels and limits, and the errors of tables with their unit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpsynth_core import report
from dpsynth_core.foundation.content import Digest, in_memory
from dpsynth_core.release.release import Release
from dpsynth_core.release.tables import FIRST, domain_of, is_name
from dpsynth_core.report.citation import sentence, version
from dpsynth_core.report.table_files import ERRORS, TEXTS, errors_csv
from dpsynth_core.vocabulary.attribute import TYPED, Attribute

if TYPE_CHECKING:
    from dpsynth_core.vocabulary.filled import RowColumn

PACKAGE = "datapackage.json"
_TYPES = {
    "string": {"type": "string"},
    "int64": {"type": "integer"},
    "float64": {"type": "number"},
    "bool": {"type": "boolean"},
    "date": {"type": "date"},
    "timestamp": {"type": "datetime", "format": "any"},
    "time": {"type": "time", "format": "any"},
    "duration": {"type": "string"},
}


def data_package(release: Release, rows: Mapping[str, Digest]) -> bytes:
    """Return datapackage.json, in UTF-8: the files of rows and the file of errors as a Frictionless Data Package.

    Args:
        release: The release.
        rows: Size and SHA-256 of each file of rows, by name. Only the CSV files of the tables of rows are
            described, in the order of their names; other formats are left out.
    """
    said, stated = release.about, release.about.stated
    contributors = [{"title": creator, "role": "author"} for creator in stated.creators]
    if stated.contact:
        contributors.append({"title": stated.contact, "role": "contact"} | ({"email": stated.email} if stated.email else {}))
    described = {
        "profile": "data-package",
        "name": f"release-{said.seal[:12]}",
        "id": said.seal,
        "title": release.spec.name,
        "description": " ".join([*said.lines, f"Cite as: {sentence(release)}"]),
        "version": version(release),
        "created": f"{release.created}T00:00:00Z",
        "keywords": ["synthetic data", "differential privacy"],
        **({"licenses": [_licence(stated.licence, stated.licence_address)]} if stated.licence else {}),
        **({"contributors": contributors} if contributors else {}),
        **({"temporal": stated.period} if stated.period else {}),
        **({"spatial": stated.place} if stated.place else {}),
        "resources": [*(_resource(release, name, rows[name]) for name in sorted(rows) if name == FIRST or is_name(name)), _errors(release)],
    }
    return (json.dumps(described, indent=1, ensure_ascii=False) + "\n").encode()


def _licence(licence: str, address: str) -> dict[str, str]:
    """Return a licence as the standard's dict: a name without forbidden signs, the title, and the address."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", licence)
    return {"name": name, "title": licence} | ({"path": address} if address else {})


def _errors(release: Release) -> dict[str, Any]:
    """Return the resource of the errors of tables, whose numbers are shares of people."""
    fields = [{"name": name, "type": "string" if name in TEXTS else "number", "description": held} for name, held in ERRORS.items()]
    described = _described(report.ERRORS, in_memory(errors_csv(release)).digest, {"fields": fields, "missingValues": [""]})
    return described | {"description": "Errors of the tables asked for: shares of the people who are counted in the wrong group."}


def _resource(release: Release, name: str, content: Digest) -> dict[str, Any]:
    domain = domain_of(release.plan, name)
    keys: dict[str, Any] = {}
    if release.plan.link is not None:
        key = [domain.filled[0].name]
        own = {"resource": FIRST.removesuffix(".csv"), "fields": key}
        keys = {"foreignKeys": [{"fields": key, "reference": own}]} if name != FIRST else {"primaryKey": key}
    return _described(name, content, {"fields": [_field(column) for column in domain.columns], "missingValues": [""]} | keys)


def _described(name: str, content: Digest, schema: dict[str, Any]) -> dict[str, Any]:
    """Return a CSV file as a resource.

    Args:
        name: Its name.
        content: Its size and SHA-256.
        schema: Its columns.
    """
    return {
        "name": name.removesuffix(".csv"),
        "path": name,
        "profile": "tabular-data-resource",
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": content.size,
        "hash": f"sha256:{content.sha256}",
        "schema": schema,
    }


def _field(column: RowColumn) -> dict[str, Any]:
    field: dict[str, Any] = {"name": column.name, **_TYPES[column.dtype], **({"description": column.label} if column.label else {})}
    if not isinstance(column, Attribute):
        return field | {"constraints": {"required": True}}
    limits: dict[str, Any] = {} if column.missing or (column.other and column.dtype != "string") else {"required": True}
    if column.kind in ("integer", "numeric", "date"):
        limits |= {"minimum": column.scale.stated(column.lower), "maximum": column.scale.stated(column.upper)}
    elif column.is_listed and column.dtype in ("string", "int64"):
        values = [TYPED[column.dtype](category) for category in column.categories]
        limits["enum"] = [*values, *([column.other_text] if column.other and column.dtype == "string" else [])]
        if column.labels:
            pairs = zip(values, column.labels, strict=True)
            field["categories"] = [{"value": value, "label": label} for value, label in pairs]
    return field | ({"constraints": limits} if limits else {})
