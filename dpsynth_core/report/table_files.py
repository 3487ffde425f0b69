"""Files of a release for programs: its noisy marginals, the errors of its tables, its columns with their cells.

A marginal is one CSV, with an index and the values of groups beside them, and a part of one Parquet file. Texts in CSV that a spreadsheet
would run get an apostrophe.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dpsynth_core.evaluation.bounds import UNBOUNDED
from dpsynth_core.evaluation.quality import SUPPORT_WORDS as SUPPORT
from dpsynth_core.evaluation.questions.question import cell_values
from dpsynth_core.planning import domain_origin
from dpsynth_core.planning.discovery import of_column
from dpsynth_core.release.document import csv_bytes, frame_csv
from dpsynth_core.release.release import Release
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.statistics.evidence import label
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.inside import behind
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.order import sentence
from dpsynth_core.vocabulary.recoding import outside_rule, written
from dpsynth_core.vocabulary.regrouping import by_name

if TYPE_CHECKING:
    import pandas as pd

INDEX, GROUPS, MARGINALS = "marginals/index.csv", "marginals/groups.csv", "marginals.parquet"
FIRST, ONE_EACH, TOGETHER = "marginals/0001.csv", 1_000, 2**18
"""The file of the first noisy table; of how many each has one at most; cells of the Parquet file that are written at once."""
FEW = 3
"""Values that a group of no neighbours is called by, at most; more are counted."""
ERRORS = {
    "attributes": "The columns of the table",
    "measured_share": "Error as it was measured; noise may take it below 0",
    "likely_share": "Error, best estimate",
    "share_at_most_95": "Limit of the error with 95% confidence",
    "share_at_most_95_together": "Limit that holds for all tables at once with 95% confidence",
    "known": "How the table is known: measured, inferred, or not bounded",
    "bound_share_95": "AIM's bound, sharpened (95%); with the mechanism's noise if that is not AIM",
    "paper_bound_share_95": "The same bound as AIM's paper prints it (95%)",
}
"""Columns of `errors`, and what they hold. Errors are shares of the people who are counted in the wrong group, as on pages."""
TEXTS = ("attributes", "known")
_DISTANCES = ("measured_error", "likely_error", "measured_bound95", "measured_simultaneous95", "prior_bound95", "paper_bound95")
"""Columns of numbers in the files of earlier versions, which held L1 distances: twice the share."""
SENTENCES = ("values_outside", "domain_from")
"""Columns of the codebook whose cells are sentences, which versions may write otherwise."""

_CODEBOOK = pa.schema(
    [
        *((name, pa.string()) for name in ("column", "kind")),
        ("cell", pa.int64()),
        *((name, pa.string()) for name in ("label", "written_as")),
        *((name, pa.float64()) for name in ("at_least", "at_most")),
        *((name, pa.string()) for name in SENTENCES),
    ]
)


def marginal_csvs(release: Release, every: bool = False) -> dict[str, bytes]:
    """Return CSV files by name: an index of the noisy tables, the values of groups if there are any, and each table.

    The index has the columns file, columns, cells (their number) and noise_standard_deviation (in records).
    With more than 1,000 tables (`ONE_EACH`) it refers to the file of `marginals_parquet`, which has
    all tables, and no files of single tables are made. Tables are numbered from 1. In a release without rows,
    impossible cells have 0 instead of their noisy count.

    Args:
        release: The release.
        every: Whether there is a file for each table all the same, as in earlier versions.
    """
    rows = release.measurements
    each = every or len(rows) <= ONE_EACH
    files = [f"marginals/{number:04d}.csv" if each else MARGINALS for number in range(1, len(rows) + 1)]
    described = {"file": files, "columns": [label(m.clique) for m in rows], "cells": [m.values.size for m in rows]}
    tables = {INDEX: pa.table(described | {"noise_standard_deviation": [m.deviation for m in rows]})}
    if any(m.groups for m in rows):
        tables[GROUPS] = _groups(release)
    for file, m in zip(files, rows, strict=True) if each else ():
        columns, count = [pa.array(labels, pa.string()) for labels in _cells(release.domain, m)], "noisy_count"
        while count in m.clique:
            count += "_"
        tables[file] = pa.table([*columns, pa.array(_counts(release, m))], names=[*m.clique, count])
    return {name: csv_bytes(table) for name, table in tables.items()}


def marginals_parquet(release: Release) -> bytes:
    """Return all noisy tables as one Parquet file with a line per cell.

    Its columns are measurement (number, from 1), attributes, cell (labels), noisy_count
    and noise_standard_deviation (both in records). In a release without rows, impossible cells have 0 instead of
    their noisy count.
    """
    texts, numbers = pa.list_(pa.string()), pa.float64()
    columns = [("measurement", pa.int32()), ("attributes", texts), ("cell", texts), ("noisy_count", numbers)]
    schema = pa.schema([*columns, ("noise_standard_deviation", numbers)])
    out, ends = io.BytesIO(), accumulate(m.values.size for m in release.measurements)
    with pq.ParquetWriter(out, schema) as writer:
        for _, some in groupby(zip(ends, enumerate(release.measurements, 1), strict=True), lambda one: one[0] // TOGETHER):
            writer.write_table(_long(release, dict(numbered for _, numbered in some), schema))
    return out.getvalue()


def _long(release: Release, some: Mapping[int, Measurement], schema: pa.Schema) -> pa.Table:
    """Return measurements as lines of `marginals_parquet`.

    Args:
        release: The release.
        some: The measurements by number.
        schema: The columns of the file.
    """
    domain, sizes = release.domain, [m.values.size for m in some.values()]
    places = {key: place for place, key in enumerate(dict.fromkeys(name for m in some.values() for name in m.clique))}
    labels, starts = list[str](), dict[str | Groups, int]()
    named, cells = list[NDArray[np.int64]](), list[NDArray[np.int64]]()
    for m in some.values():
        groups = by_name(m.groups)
        keys = [groups.get(name, name) for name in m.clique]
        for key in keys:
            if key not in starts:
                starts[key] = len(labels)
                labels += domain[key].cell_labels() if isinstance(key, str) else _labels(domain, key)
        begins = np.array([starts[key] for key in keys], dtype=np.int64)[:, None]
        cells.append((np.indices(m.values.shape).reshape(len(keys), m.values.size) + begins).T.ravel())
        named.append(np.tile(np.array([places[name] for name in m.clique], dtype=np.int64), m.values.size))
    ends = np.concatenate([[0], np.cumsum(np.repeat([len(m.clique) for m in some.values()], sizes))]).astype(np.int32)
    attributes, values = (
        pa.ListArray.from_arrays(ends, pa.array(texts, pa.string()).take(pa.array(np.concatenate(numbers))))
        for texts, numbers in ((list(places), named), (labels, cells))
    )
    deviations = np.repeat([m.deviation for m in some.values()], sizes)
    counts = np.concatenate([_counts(release, m) for m in some.values()])
    return pa.table([pa.array(np.repeat(list(some), sizes), pa.int32()), attributes, values, counts, deviations], schema=schema)


def _cells(domain: Domain, measurement: Measurement) -> list[list[str]]:
    """Return the label of each attribute for all cells of a measurement, flattened in C order.

    There is one list per attribute.
    """
    index = np.indices(measurement.values.shape).reshape(len(measurement.clique), measurement.values.size)
    grouped = {groups.name: _labels(domain, groups) for groups in measurement.groups}
    labels = [grouped[name] if name in grouped else domain[name].cell_labels() for name in measurement.clique]
    return [[names[code] for code in codes] for names, codes in zip(labels, index, strict=True)]


def _counts(release: Release, measurement: Measurement) -> NDArray[np.float64]:
    """Return the flattened noisy counts of a measurement.

    In a release without rows, impossible cells are set to 0, because the counts are the result and
    not the input of a model. Counts of groups are kept.
    """
    as_measured = release.codes is not None or bool(measurement.groups)
    return (measurement.values if as_measured else release.domain.cleared(measurement.clique, measurement.values)).ravel()


def _labels(domain: Domain, groups: Groups) -> list[str]:
    attribute = domain[groups.column]
    return group_labels(groups, attribute.cell_labels(), KINDS[attribute.kind].ordered)


def group_labels(groups: Groups, cells: Sequence[str], ordered: bool) -> list[str]:
    """Return a label for each group of cells; labels of cells in it are not escaped.

    Ordered neighbours get "first … last", other groups of at most 3 cells (`FEW`) list their labels,
    and larger ones state their number.

    Args:
        groups: The groups.
        cells: The labels of the column's cells.
        ordered: Whether the cells of the column are ordered.
    """
    labels = []
    for group in groups.members:
        if ordered and group[-1] - group[0] + 1 == len(group) > 1:
            labels.append(f"{cells[group[0]]} … {cells[group[-1]]}")
        else:
            labels.append(" | ".join(cells[cell] for cell in group) if len(group) <= FEW else f"{len(group):,} other values")
    return labels


def _groups(release: Release) -> pa.Table:
    every = dict.fromkeys(groups for m in release.measurements for groups in m.groups)
    lines = [
        (one.name, one.column, label, value)
        for one in every
        for cells in (release.domain[one.column].cell_labels(),)
        for label, group in zip(_labels(release.domain, one), one.members, strict=True)
        for value in (cells[cell] for cell in group)
    ]
    return pa.table(dict(zip(("groups", "column", "group", "value"), map(list, zip(*lines, strict=True)), strict=True)))


def errors(release: Release) -> pd.DataFrame:
    """Return one line per table with a measured error or a bound, the largest likely error first, with the columns `ERRORS`.

    All errors are shares of the people in the wrong group. The first four numbers come from the
    certificate, the bounds from the noisy tables; a value is missing if it is not known.
    """
    import pandas as pd

    certified = {one.attributes: one for one in release.certificate.marginals} if release.certificate else {}
    lines: list[tuple[str | float | None, ...]] = []
    for clique in dict.fromkeys([*certified, *release.bounds]):
        measured, prior = certified.get(clique), release.bounds.get(clique)
        stated = (measured.error, measured.likely, measured.bound95, measured.simultaneous95) if measured else (None,) * 4
        bounds = (prior.tight, prior.paper) if prior and prior.support != UNBOUNDED else (None, None)
        lines.append((label(clique), *stated, SUPPORT[prior.support] if prior else None, *bounds))
    kinds = {name: "string" if name in TEXTS else "float64" for name in ERRORS}
    frame = pd.DataFrame(lines, columns=list(ERRORS)).astype(kinds)
    return frame.sort_values(["likely_share", "bound_share_95"], ascending=False, kind="stable", ignore_index=True)


def errors_csv(release: Release) -> bytes:
    """Return the errors of all tables as CSV (`errors`)."""
    return frame_csv(errors(release))


def earlier_errors_csv(release: Release) -> bytes:
    """Return the errors of all tables as CSV, as earlier versions wrote them: L1 distances of shares, from 0 to 2."""
    frame = errors(release)
    numbers = [name for name in ERRORS if name not in TEXTS]
    frame[numbers] /= IN_WRONG_CELL
    words = {word: support for support, word in SUPPORT.items()}
    frame["known"] = frame["known"].map(words, na_action="ignore").astype("string")
    return frame_csv(frame.rename(columns={"known": "support", **dict(zip(numbers, _DISTANCES, strict=True))}))


def domain_json(release: Release) -> bytes:
    """Return the domain of the release, with learnt values, as JSON in UTF-8."""
    return (json.dumps(release.domain.to_json(), indent=1, ensure_ascii=False) + "\n").encode()


def _outside(release: Release, attribute: Attribute) -> str:
    """Return sentences about a column of the codebook, as plain text with unescaped names.

    They state how values outside the domain are counted, how learnt values were found, and which
    other columns' order rules name the column.

    Args:
        release: The release.
        attribute: The column.
    """
    link = release.plan.link
    if link is not None and attribute.name not in {one.name for one in link.columns}:
        return link.words.computed
    if link is not None and attribute.name in link.words.columns:
        return link.words.columns[attribute.name]
    by_name = {a.name: a for a in release.domain}
    rules = [rule.order for rule in release.domain.impossible if rule.order is not None and attribute.name in rule.attributes]
    parts = (outside_rule(attribute), of_column(release.plan, attribute.name), *(sentence(rule, by_name) for rule in rules))
    return " ".join(part for part in parts if part)


def _ranges(attribute: Attribute) -> Iterator[tuple[float | None, float | None]]:
    """Yield the smallest and the largest number of each cell; None for a cell without numbers."""
    values = cell_values(attribute)
    if values is None:
        values = np.full(attribute.size, np.nan)
    least, most = values, values
    if attribute.is_number:
        edges = np.array(attribute.edges, dtype=np.float64)
        least, most = behind(edges[:-1], attribute), behind(edges[1:] - attribute.scale.whole, attribute)
    for value, low, high in zip(values.tolist(), least.tolist(), most.tolist(), strict=True):
        yield (None, None) if math.isnan(value) else (low, high)


def _told(release: Release) -> list[Attribute]:
    """Return the columns that the codebook lists: all of the domain.

    With two linked tables, columns that the link adds, such as whether two members are alike, are
    listed only if a measurement has them.
    """
    stated = release.domain.attributes if release.plan.link is None else release.plan.link.columns
    names = {one.name for one in stated}.union(*(one.clique for one in release.measurements))
    return [attribute for attribute in release.domain if attribute.name in names]


def codebook_csv(release: Release) -> bytes:
    """Return codebook.csv of a release (`codebook`)."""
    origin = domain_origin.clause(release.spec)
    return codebook(_told(release), release.described, lambda attribute: _outside(release, attribute), origin)


def codebook(columns: Sequence[Attribute], described: Domain, outside: Callable[[Attribute], str], came_from: str) -> bytes:
    """Return a codebook as CSV, with one line per cell of each column.

    A line has column, kind, cell (code from 0), label, written_as (the value in rows if it differs
    from the label), the smallest and largest number, how values outside the domain are counted, and
    the origin of the domain; and a description of the column, if any column has one. A generated
    column has one line without a cell.

    Args:
        columns: The columns with cells.
        described: The domain of the rows, with the columns that are filled in.
        outside: Returns sentences on how values outside the domain of a column are counted.
        came_from: The origin of the domain as a clause.
    """
    lines: list[tuple[str, str, int | None, str, str, float | None, float | None, str, str]] = [
        (attribute.name, attribute.kind, number, label, written(attribute, number), least, most, outside(attribute), came_from)
        for attribute in columns
        for number, (label, (least, most)) in enumerate(zip(attribute.cell_labels(), _ranges(attribute), strict=True))
    ]
    lines += [(one.name, one.kind, None, one.text, "", None, None, one.in_words(), came_from) for one in described.filled]
    table = pa.table([pa.array(column, kind) for column, kind in zip(zip(*lines, strict=True), _CODEBOOK.types, strict=True)], _CODEBOOK)
    if any(column.label for column in described.columns):
        about = [attribute.label for attribute in columns for _ in attribute.cell_labels()]
        about += [one.label for one in described.filled]
        table = table.add_column(1, "about", pa.array(about, pa.string()))
    return csv_bytes(table)
