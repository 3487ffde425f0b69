"""The data card of a release as JSON-LD: Croissant 1.0 (MLCommons, on schema.org) with its vocabulary for responsible AI.

Catalogues and loaders of data sets thus understand files, columns, uses and limits. No common vocabulary has a name for the guarantee,
so this project defines one, `dp:guarantee`, with a version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.foundation.content import Digest
from dpsynth_core.planning.about_spec import AboutSpec, person
from dpsynth_core.release.document import ROWS_CSV, ROWS_PARQUET, plain
from dpsynth_core.release.release import Release
from dpsynth_core.release.tables import MEMBERS, is_name
from dpsynth_core.report.citation import sentence, version
from dpsynth_core.report.facts import sentence as quality
from dpsynth_core.report.warnings import warnings
from dpsynth_core.report.words import MISUSES, READING, USES, assumptions, noise, not_protected, odds, protected
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain

if TYPE_CHECKING:
    from dpsynth_core.vocabulary.filled import RowColumn

CROISSANT, RESPONSIBLE = "http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"
GUARANTEE_VERSION = 1

_OF_CROISSANT = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet", "format", "includes"),
    *("isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex", "repeated", "replace"),
    *("samplingRate", "separator", "source", "subField", "transform"),
)
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "dp": "urn:dpsynth-studio:guarantee:",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _OF_CROISSANT},
}
_TYPES = {
    "string": "sc:Text",
    "int64": "sc:Integer",
    "float64": "sc:Float",
    "bool": "sc:Boolean",
    "date": "sc:Date",
    "timestamp": "sc:DateTime",
    "time": "sc:Time",
    "duration": "sc:Text",
}
_MEDIA = {ROWS_CSV: "text/csv", ROWS_PARQUET: "application/vnd.apache.parquet"}


def data_card(release: Release, headline: Headline, rows: Mapping[str, Digest]) -> bytes:
    """Return the data card as Croissant JSON-LD in UTF-8.

    Args:
        release: The release.
        headline: The headline of its quality.
        rows: Size (bytes) and SHA-256 of files of rows, by name. The card describes those that are
            synthetic.csv, synthetic.parquet, a further table, members.csv or an extension's file.
    """
    name, count = release.spec.name, release.rows
    held = [file for file in (ROWS_CSV, ROWS_PARQUET, *filter(is_name, rows)) if file in rows]
    sets = [_record_set("rows", ROWS_CSV, release.plan.row_domain)] if held else []
    if MEMBERS in rows:
        sets.append(_record_set("members", MEMBERS, release.plan.member_domain))
    card = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [CROISSANT, RESPONSIBLE],
        "name": name,
        "description": " ".join(filter(None, [f"{count:,} synthetic rows." if count else "Noisy tables, no rows.", quality(headline)])),
        "datePublished": release.created,
        "version": version(release),
        "citeAs": sentence(release),
        **_stated(release.about.stated),
        "isLiveDataset": False,
        "distribution": [_file(file, rows[file]) for file in held],
        "recordSet": sets,
        "rai:dataUseCases": list(USES),
        "rai:dataLimitations": [*MISUSES, *not_protected(release), *READING],
        "rai:dataBiases": [quality(headline), noise(release)],
        "rai:dataCollection": f"Made with {release.spec.mechanism.name} from a private table of {release.spec.population}.",
        "rai:personalSensitiveInformation": protected(release),
        "dp:guarantee": _guarantee(release, headline),
    }
    return (json.dumps(card, indent=1, ensure_ascii=False, allow_nan=False, default=plain) + "\n").encode()


def _stated(about: AboutSpec) -> dict[str, Any]:
    """Return the curator's statements for which schema.org has a property."""
    creators = [{"@type": "sc:Person" if person(one) else "sc:Organization", "name": one} for one in about.creators]
    pairs = {"license": about.licence_address or about.licence, "creator": creators}
    return {name: value for name, value in (pairs | {"temporalCoverage": about.period, "spatialCoverage": about.place}).items() if value}


def _file(name: str, content: Digest) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{content.size} B",
        "encodingFormat": _MEDIA.get(name, _MEDIA[ROWS_CSV]),
        "sha256": content.sha256,
    }


def _record_set(name: str, file: str, domain: Domain) -> dict[str, Any]:
    fields = [_field(f"{name}/{number}", file, column) for number, column in enumerate(domain.columns, start=1)]
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _field(identifier: str, file: str, column: RowColumn) -> dict[str, Any]:
    """Return a column as a Croissant field.

    Args:
        identifier: The field's "@id", such as "rows/3": the name of the record set and the column's
            number. Names of columns may have characters that identifiers must not have.
        file: Name of the file of rows that holds the column, which is its "@id" too.
        column: The column.
    """
    about = f"{column.kind}, {column.size} cells" if isinstance(column, Attribute) else column.in_words()
    return {
        "@type": "cr:Field",
        "@id": identifier,
        "name": column.name,
        "description": "; ".join(filter(None, [column.label, about, "see codebook.csv"])),
        "dataType": _TYPES[column.dtype],
        "source": {"fileObject": {"@id": file}, "extract": {"column": column.name}},
    }


def _guarantee(release: Release, headline: Headline) -> dict[str, Any]:
    budget, unit, attacker = release.spec.budget, release.spec.unit, odds(release)
    return {
        "version": GUARANTEE_VERSION,
        "private": release.private,
        "statement": release.statement,
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "rho": release.rho,
        "accountant": release.plan.shares.accountant.name,
        "relation": unit.relation,
        "maxRowsPerPerson": unit.max_rows_per_person,
        "attacker": {
            "truePositivesAt1Percent": attacker.at_1,
            "truePositivesAt10Percent": attacker.at_10,
            "guessOfOneInTwo": attacker.guess,
        },
        "assumptions": list(assumptions(release)),
        "warnings": warnings(release),
        "quality": {"tables": headline.tables, "bounded": headline.bounded},
        "specSha256": release.seal,
    }
