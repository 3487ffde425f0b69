"""The columns of a release and their cells as files: domain.json, which this program reads, and codebook.csv for people and others."""

from __future__ import annotations

import json

import pyarrow as pa

from dpsynth_core.release.document import csv_bytes
from dpsynth_core.release.release import Release
from dpsynth_core.vocabulary.domain import outside_rule


def domain_json(release: Release) -> bytes:
    """The domain as the spec has it."""
    return (json.dumps(release.domain.to_json(), indent=1, ensure_ascii=False) + "\n").encode()


def codebook_csv(release: Release) -> bytes:
    """One line per cell: column, kind, cell (number from 0), label, and what happened to values outside. Formulas get an apostrophe."""
    lines = [
        (attribute.name, attribute.kind, number, label, outside_rule(attribute))
        for attribute in release.domain
        for number, label in enumerate(attribute.cell_labels())
    ]
    names = ["column", "kind", "cell", "label", "values_outside"]
    types = [pa.string(), pa.string(), pa.int64(), pa.string(), pa.string()]
    columns = zip(*lines, strict=True)
    return csv_bytes(pa.table([pa.array(c, t) for c, t in zip(columns, types, strict=True)], names=names), for_spreadsheets=True)
