"""The noisy marginals of a release as tables: one CSV each with an index and the values of groups, and all of them in one Parquet file."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dpsynth_core.release.document import csv_bytes
from dpsynth_core.release.release import Release
from dpsynth_core.statistics.evidence import label
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.measurement import Measurement

INDEX, GROUPS = "marginals/index.csv", "marginals/groups.csv"
FEW = 3
"""Values that a group of no neighbours is called by, at most; more are counted."""


def csv_files(release: Release) -> dict[str, bytes]:
    """A CSV for each measurement and the index, by file name. Texts that a spreadsheet would run get an apostrophe."""
    tables = {_file(number): _table(release, m) for number, m in enumerate(release.measurements)}
    about = {INDEX: _index(release)} | ({GROUPS: _groups(release)} if any(m.groups for m in release.measurements) else {})
    return {name: csv_bytes(table) for name, table in {**about, **tables}.items()}


def parquet(release: Release) -> bytes:
    """All measurements in one long table: measurement, attributes, cell (labels), noisy_count, noise_standard_deviation."""
    schema = pa.schema(
        [
            ("measurement", pa.int32()),
            ("attributes", pa.list_(pa.string())),
            ("cell", pa.list_(pa.string())),
            ("noisy_count", pa.float64()),
            ("noise_standard_deviation", pa.float64()),
        ]
    )
    out = io.BytesIO()
    with pq.ParquetWriter(out, schema) as writer:
        for number, m in enumerate(release.measurements):
            size = m.values.size
            cells = list(zip(*_cells(release.domain, m), strict=True)) if m.clique else [()]
            writer.write_table(
                pa.table([[number + 1] * size, [list(m.clique)] * size, cells, _counts(release, m), [m.deviation] * size], schema=schema)
            )
    return out.getvalue()


def _file(number: int) -> str:
    return f"marginals/{number + 1:04d}.csv"


def _cells(domain: Domain, measurement: Measurement) -> list[list[str]]:
    """Labels of each attribute's cell, one list per attribute, in the order of the flattened values."""
    index = np.indices(measurement.values.shape).reshape(len(measurement.clique), measurement.values.size)
    grouped = {groups.name: _labels(domain, groups) for groups in measurement.groups}
    labels = [grouped[name] if name in grouped else domain[name].cell_labels() for name in measurement.clique]
    return [[names[code] for code in codes] for names, codes in zip(labels, index, strict=True)]


def _table(release: Release, measurement: Measurement) -> pa.Table:
    names = _distinct([*measurement.clique, "noisy_count"])
    columns = [pa.array(labels, pa.string()) for labels in _cells(release.domain, measurement)]
    return pa.table([*columns, pa.array(_counts(release, measurement))], names=names)


def _counts(release: Release, measurement: Measurement) -> NDArray[np.float64]:
    """The flattened values. Where they are what is published, and not what rows were made from, impossible cells hold 0."""
    as_measured = release.codes is not None or bool(measurement.groups)
    return (measurement.values if as_measured else release.domain.cleared(measurement.clique, measurement.values)).ravel()


def _distinct(names: Iterable[str]) -> list[str]:
    """The names, with underscores added to the last ones where a column happens to be called the same."""
    taken: list[str] = []
    for name in names:
        while name in taken:
            name += "_"
        taken.append(name)
    return taken


def _labels(domain: Domain, groups: Groups) -> list[str]:
    attribute = domain[groups.column]
    return group_labels(groups, attribute.cell_labels(), KINDS[attribute.kind].ordered)


def group_labels(groups: Groups, cells: Sequence[str], ordered: bool) -> list[str]:
    """What each group is called: by its values where they are few, the first and the last of neighbours, or their number. cells: the
    labels of the column's. ordered: whether neighbouring cells are neighbours in meaning."""
    return [_label([cells[cell] for cell in group], ordered and group[-1] - group[0] + 1 == len(group)) for group in groups.members]


def _label(cells: list[str], neighbours: bool) -> str:
    if neighbours and len(cells) > 1:
        return f"{cells[0]} … {cells[-1]}"
    return " | ".join(cells) if len(cells) <= FEW else f"{len(cells):,} other values"


def _groups(release: Release) -> pa.Table:
    """Which values are in which group, one line each."""
    every = dict.fromkeys(groups for m in release.measurements for groups in m.groups)
    lines = [
        (one.name, one.column, label, value)
        for one in every
        for cells in (release.domain[one.column].cell_labels(),)
        for label, group in zip(_labels(release.domain, one), one.members, strict=True)
        for value in (cells[cell] for cell in group)
    ]
    return pa.table(dict(zip(("groups", "column", "group", "value"), map(list, zip(*lines, strict=True)), strict=True)))


def _index(release: Release) -> pa.Table:
    rows = release.measurements
    return pa.table(
        {
            "file": [_file(i) for i in range(len(rows))],
            "columns": [label(m.clique) for m in rows],
            "cells": [m.values.size for m in rows],
            "noise_standard_deviation": [m.deviation for m in rows],
        }
    )
