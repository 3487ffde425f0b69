"""The columns of a release and their cells as files: domain.json, which this program reads, and codebook.csv for people and others."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from dpsynth_core.evaluation.questions.question import cell_values
from dpsynth_core.planning import origins
from dpsynth_core.planning.discovery import of_column
from dpsynth_core.release.document import csv_bytes
from dpsynth_core.release.release import Release
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.middles import behind
from dpsynth_core.vocabulary.order import sentence
from dpsynth_core.vocabulary.recoding import outside_rule, written


def domain_json(release: Release) -> bytes:
    """The domain as the spec has it."""
    return (json.dumps(release.domain.to_json(), indent=1, ensure_ascii=False) + "\n").encode()


def _outside(release: Release, attribute: Attribute) -> str:
    """What happened to values outside, where the values come from if they were learnt, and which order of columns names it."""
    by_name = {a.name: a for a in release.domain}
    rules = [rule.order for rule in release.domain.impossible if rule.order is not None and attribute.name in rule.attributes]
    parts = (outside_rule(attribute), of_column(release.plan, attribute.name), *(sentence(rule, by_name) for rule in rules))
    return " ".join(part for part in parts if part)


def _ranges(attribute: Attribute) -> Iterator[tuple[float | None, float | None]]:
    """The smallest and the largest number of each cell; None where a cell has no numbers."""
    values = cell_values(attribute)
    if values is None:
        values = np.full(attribute.size, np.nan)
    least, most = values, values
    if attribute.is_number:
        edges = np.array(attribute.edges, dtype=np.float64)
        least, most = behind(edges[:-1], attribute), behind(edges[1:] - attribute.scale.whole, attribute)
    for value, low, high in zip(values.tolist(), least.tolist(), most.tolist(), strict=True):
        yield (None, None) if math.isnan(value) else (low, high)


def codebook_csv(release: Release) -> bytes:
    """One line per cell: column, kind, cell (number from 0), label, how rows show it where that is something else, its smallest and largest
    number, and what happened to values outside; and what a column is about, where some column says so. Then where the domain came from.
    Formulas get an apostrophe."""
    came_from = origins.clause(release.spec)
    lines: list[tuple[str, str, int | None, str, str, float | None, float | None, str, str]] = [
        (attribute.name, attribute.kind, number, label, written(attribute, number), least, most, _outside(release, attribute), came_from)
        for attribute in release.domain
        for number, (label, (least, most)) in enumerate(zip(attribute.cell_labels(), _ranges(attribute), strict=True))
    ]
    lines += [(one.name, one.kind, None, one.text, "", None, None, one.in_words(), came_from) for one in release.domain.filled]
    names = ["column", "kind", "cell", "label", "written_as", "at_least", "at_most", "values_outside", "domain_from"]
    types = [pa.string(), pa.string(), pa.int64(), pa.string(), pa.string(), pa.float64(), pa.float64(), pa.string(), pa.string()]
    columns = zip(*lines, strict=True)
    table = pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], names=names)
    if any(column.label for column in release.domain.columns):
        about = [attribute.label for attribute in release.domain for _ in attribute.cell_labels()]
        about += [one.label for one in release.domain.filled]
        table = table.add_column(1, "about", pa.array(about, pa.string()))
    return csv_bytes(table)
