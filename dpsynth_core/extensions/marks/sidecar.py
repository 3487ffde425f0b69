"""The file beside a CSV or JSON lines file of rows, which says what they are: CSV on the Web (W3C), from public and released values alone.

Programs that know CSV on the Web look for it under this name: the name of the CSV with `-metadata.json` behind it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dpsynth_core.extensions.marks.names import COLUMN, MARKED, SUFFIX
from dpsynth_core.foundation.content import Digest
from dpsynth_core.foundation.zones import Zoned, released
from dpsynth_core.release.about import About
from dpsynth_core.release.release import Release
from dpsynth_core.release.tables import domain_of
from dpsynth_core.vocabulary.domain import Domain

_CONTEXT = ["http://www.w3.org/ns/csvw", {"@language": "en"}]
_TYPES = {"int64": "integer", "float64": "double", "bool": "boolean", "date": "date"}
"""Types of CSV on the Web by the type of a column; other columns are texts, as they are written."""


def files(release: Release, rows: Mapping[str, Digest]) -> dict[str, Zoned[bytes]]:
    """Return the file beside each CSV of a bundle, by name; {} without any.

    All that they hold follows from release.json and the rows, so that verify writes them again and
    refuses others.

    Args:
        release: The release.
        rows: Size and SHA-256 of each file of rows, by name.
    """
    plan, about = release.plan, release.about
    domains = {name: domain_of(plan, name) for name in rows}
    written = (beside(name, content, domains[name], about) for name, content in rows.items())
    return {name: released(text) for one in written for name, text in one.items()}


def beside(file: str, content: Digest, domain: Domain, about: About) -> dict[str, bytes]:
    """Return the file beside a file of rows, by its name; {} for other formats than .csv and .jsonl.

    Args:
        file: Name of the file of rows.
        content: Its size and SHA-256.
        domain: The columns of the rows.
        about: The description of the release.
    """
    if not file.endswith((".csv", ".jsonl")):
        return {}
    described = _described(file, content, domain, about)
    return {f"{file}{SUFFIX}": (json.dumps(described, indent=1, ensure_ascii=False) + "\n").encode()}


def _described(file: str, content: Digest, domain: Domain, about: About) -> dict[str, Any]:
    made = {"mechanism": about.mechanism, "relation": about.relation, "made_by": about.program and f"dpsynth_core {about.program}"}
    note = about.facts | {name: value for name, value in made.items() if value} | {"bytes": content.size, "sha256": content.sha256}
    columns = [{"titles": COLUMN, "datatype": "string"}] if MARKED in file else []
    for column in domain.columns:
        label = {"dc:description": column.label} if column.label else {}
        columns.append({"titles": column.name, "datatype": _TYPES.get(column.dtype, "string"), "null": "", **label})
    said = {"dc:title": about.label, "dc:description": " ".join(" ".join(about.lines).split())}
    said |= {"dc:license": about.stated.licence_address or about.stated.licence} if about.stated.licence else {}
    # JSON lines are not CSV, so nothing claims there that a program for CSV on the Web can read them
    context = {"@context": _CONTEXT} if file.endswith(".csv") else {}
    return {**context, "url": file, **said, "notes": [note], "tableSchema": {"columns": columns}}
