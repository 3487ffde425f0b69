"""codebook.xml: the release as a DDI Codebook 2.5, which data archives keep studies with. `vocabulary.ddi` reads such documents.

A text that XML cannot hold is shown as in `foundation.visible`. Browsers run and load no part: see `is_plain`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from dpsynth_core.foundation.visible import visible
from dpsynth_core.release.release import Release
from dpsynth_core.release.tables import FIRST, MEMBERS
from dpsynth_core.report.citation import sentence, version
from dpsynth_core.report.facts import byline
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.kinds.registry import KINDS

if TYPE_CHECKING:
    from dpsynth_core.vocabulary.filled import RowColumn

DDI = "codebook.xml"
_HEAD = "<?xml version='1.0' encoding='utf-8'?>\n"
_ROOT = '<codeBook xmlns="ddi:codebook:2_5" version="2.5">'
_TAG = re.compile(r'</?[A-Za-z]+(?: (?!xmlns)[A-Za-z]+="[^"<>]*")* ?/?>')


def is_plain(content: bytes) -> bool:
    """Return whether a file is an XML document as `codebook_xml` writes it: of DDI elements and text only.

    It then has no processing instructions, entities or names of other vocabularies, which a browser might run
    or load. False for bytes that are not UTF-8, and for a document with another declaration or root element
    than `codebook_xml` writes.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return False
    return text.startswith(_HEAD + _ROOT) and "<" not in _TAG.sub("", text.removeprefix(_HEAD + _ROOT))


def codebook_xml(release: Release) -> bytes:
    """Return codebook.xml, the DDI Codebook 2.5 of a release, in UTF-8.

    It describes the release and each column of the rows. Without rows, it describes the columns of the
    tables.
    """
    root = Element("codeBook", {"xmlns": "ddi:codebook:2_5", "version": "2.5"})
    _study(SubElement(root, "stdyDscr"), release)
    tables = [(FIRST, release.plan.row_domain, release.rows)]
    if release.members is not None:
        tables.append((MEMBERS, release.plan.member_domain, release.members.num_rows))
    if release.rows:
        for number, (name, domain, rows) in enumerate(tables, start=1):
            _file(SubElement(root, "fileDscr", ID=f"F{number}", URI=name), name, domain, rows)
    variables, count = SubElement(root, "dataDscr"), 0
    for number, (_, domain, _rows) in enumerate(tables, start=1):
        for column in domain.columns:
            count += 1
            of = {"files": f"F{number}"} if release.rows else {}
            _variable(SubElement(variables, "var", {"ID": f"V{count}", "name": visible(column.name), **of}), column)
    ElementTree.indent(root, " ")
    return (_HEAD + ElementTree.tostring(root, encoding="unicode") + "\n").encode()


def _study(study: Element, release: Release) -> None:
    said, stated = release.about, release.about.stated
    citation = SubElement(study, "citation")
    title = SubElement(citation, "titlStmt")
    _add(title, "titl", release.spec.name)
    _add(title, "IDNo", said.seal, agency="SHA-256 of the plan")
    if stated.creators:
        responsible = SubElement(citation, "rspStmt")
        for creator in stated.creators:
            _add(responsible, "AuthEnty", creator)
    _add(SubElement(citation, "prodStmt"), "prodDate", release.created, date=release.created)
    if stated.contact:
        _add(SubElement(citation, "distStmt"), "contact", stated.contact, **({"email": stated.email} if stated.email else {}))
    _add(SubElement(citation, "verStmt"), "version", version(release), date=release.created)
    _add(citation, "biblCit", sentence(release))

    info = SubElement(study, "stdyInfo")
    _add(info, "abstract", " ".join([byline(release), *(said.lines if release.rows else ())]))
    scope = SubElement(info, "sumDscr")
    days = [day for day in stated.period.split("/") if day]
    for event, day in zip(("start", "end") if len(days) == 2 else ("single",), days, strict=False):
        _add(scope, "timePrd", day, event=event, date=day)
    if stated.place:
        _add(scope, "geogCover", stated.place)
    _add(scope, "universe", release.spec.population)
    _add(scope, "dataKind", "synthetic data" if release.rows else "tables of noisy counts")

    use = SubElement(SubElement(study, "dataAccs"), "useStmt")
    _add(use, "restrctn", said.lines[1])
    _add(use, "citReq", sentence(release))
    if stated.licence:
        _add(use, "conditions", " ".join(dict.fromkeys(filter(None, (stated.licence, stated.licence_address)))))
    _add(use, "disclaimer", release.statement)


def _file(described: Element, name: str, domain: Domain, rows: int) -> None:
    text = SubElement(described, "fileTxt")
    _add(text, "fileName", name)
    size = SubElement(text, "dimensns")
    _add(size, "caseQnty", str(rows))
    _add(size, "varQnty", str(len(domain.columns)))
    _add(text, "fileType", "text/csv", charset="UTF-8")


def _variable(variable: Element, column: RowColumn) -> None:
    numeric, kind = column.dtype in ("int64", "float64"), KINDS[column.kind]
    variable.set("intrvl", "discrete" if column.is_listed else "contin")
    if column.decimals is not None:
        variable.set("dcml", str(column.decimals))
    if column.is_listed and isinstance(column, Attribute):
        variable.set("nature", "ordinal" if kind.ordered else "nominal")
    if column.label:
        _add(variable, "labl", column.label)
    if isinstance(column, Attribute):
        if column.kind in ("integer", "numeric"):
            units = {"UNITS": "INT" if column.kind == "integer" else "REAL"}
            SubElement(SubElement(variable, "valrng"), "range", {**units, "min": str(column.lower), "max": str(column.upper)})
        labels = column.labels or ("",) * len(column.categories)
        pairs = [*zip(column.categories, labels, strict=True)] if column.is_listed else []
        if column.is_listed and column.other and column.dtype == "string":
            pairs.append((column.other_text, "any other value"))
        for value, label in pairs:
            category = SubElement(variable, "catgry")
            _add(category, "catValu", value)
            if label:
                _add(category, "labl", label)
    else:
        _add(variable, "txt", column.in_words())
    times = {"date": "date", "timestamp": "time", "time": "time"}
    format = {"category": times[column.dtype]} if column.dtype in times else {}
    SubElement(variable, "varFormat", {"type": "numeric" if numeric else "character", **format})


def _add(within: Element, name: str, text: str, **attributes: str) -> None:
    SubElement(within, name, attributes).text = visible(text)
