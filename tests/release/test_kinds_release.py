"""A release of a hospital's table with every kind of column: what is read, what is written, what nobody finds in it."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsynth_core import report
from dpsynth_core.bundle import unpack
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release.release import Release
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.report.facts import byline
from dpsynth_core.sources.decoding import decode, strays
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.filled import Filled, filled
from dpsynth_core.vocabulary.hierarchy import Hierarchy
from dpsynth_core.web.domain import domain_table
from dpsynth_core.web.domain.column_draft import ColumnDraft
from tests.bundle import pack
from tests.refusals import refused
from tests.releases import check_sound, run
from tests.row_files import READABLE, row_file
from tests.specs import usual

OWN = {"other": True, "missing": True}
DOMAIN = {
    "version": 1,
    "attributes": [
        {"name": "stay_id", "kind": "identifier", "pattern": "C-0001/24", "label": "Number of the case"},
        {"name": "admitted", "kind": "timestamp", "lower": "2024-01-01", "upper": "2024-12-31", "precision": "minute"} | OWN,
        {"name": "clinic", "kind": "constant", "value": "St. Anna"},
        {"name": "hour", "kind": "time", "lower": "00:00", "upper": "23:59", "precision": "minute", "width": "6 hours"} | OWN,
        {"name": "stay", "kind": "duration", "lower": "00:00:00", "upper": "99:59:00", "precision": "minute", "width": "day"} | OWN,
        {"name": "icd", "kind": "hierarchical", "level": 3, "categories": ["A00", "I21", "N18"]} | OWN,
        {"name": "emergency", "kind": "categorical", "dtype": "bool", "categories": ["false", "true"]} | OWN,
        {"name": "year", "kind": "constant", "value": 2024},
    ],
}  # fmt: skip
ATTRIBUTES: list[dict[str, Any]] = DOMAIN["attributes"]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    path, rng = tmp_path_factory.mktemp("hospital") / "stays.csv", random.Random(5)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=";")
        writer.writerow(["stay_id", "admitted", "clinic", "hour", "stay", "icd", "emergency", "year", "name"])
        for number in range(300):
            day = f"{rng.randint(1, 28):02d}.{rng.randint(1, 12):02d}.2024 {rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}"
            stay = f"{rng.randint(0, 99)}:{rng.randint(0, 59):02d}"
            icd = rng.choice(["A00.1", "I21.4", "I21", "N18.3", "Z99"])
            writer.writerow([f"SECRET-{number:05d}", day, "St. Anna", day[-5:], stay, icd, rng.choice(["true", "false"]), 2024, "SECRET"])
    spec = Spec.from_json(
        usual(
            {"kind": "csv", "path": str(path), "delimiter": ";", "date_format": "dd.mm.yyyy"}, DOMAIN, population="patients", k=1,
            epsilon=8.0, mechanism="independent", name="Stays", output={"rows": 300},
        )
    )
    return run(spec)


def test_every_kind_is_read_measured_and_written(release: Release) -> None:
    assert release.table is not None
    assert release.table.column_names == [one["name"] for one in ATTRIBUTES]
    assert {m.clique for m in release.measurements if m.clique} == {(name,) for name in release.domain.names}
    assert "stay_id" not in release.domain
    noisy = {m.clique[0]: m.values for m in release.measurements if m.clique}
    for name in ("admitted", "hour", "stay"):
        assert noisy[name][-2:].sum() < 30  # other and missing: noise alone, of which 30 are many deviations; all was read
    assert 30 < noisy["icd"][-2] < 90  # Z99


def test_what_is_filled_in_follows_from_the_plan_alone(release: Release) -> None:
    assert release.table is not None
    assert release.table.column("stay_id").to_pylist()[:2] == ["C-0001/24", "C-0001/25"]
    assert set(release.table.column("clinic").to_pylist()) == {"St. Anna"}
    assert set(release.table.column("year").to_pylist()) == {2024}
    assert dict(report.facts(release))["Columns"] == "8, of which 3 filled in without measuring anything"
    assert "300 synthetic rows of 8 columns" in byline(release)


def test_the_bundle_is_sound_and_holds_nothing_of_what_was_left_out(release: Release) -> None:
    bundle = unpack.read_bytes(pack.pack(release))
    files = bundle.files
    check_sound(bundle, "Do the rows keep to the domain?")
    assert not [name for name, content in files.items() if b"SECRET" in content.read()]
    lines = {line["column"]: line for line in csv.DictReader(io.StringIO(files["codebook.csv"].read().decode()))}
    assert lines["stay_id"]["values_outside"] == "New identifiers, counted up: C-0001/24, C-0001/25, … They do not depend on any record."
    assert lines["clinic"]["label"] == "St. Anna"
    assert lines["stay_id"]["about"] == "Number of the case"
    assert "They do not depend on any record" in files["report.html"].read().decode()
    assert "Anna" in files["DATA_CARD.md"].read().decode()
    fields = json.loads(files["data_card.json"].read())["recordSet"][0]["field"]
    assert [field["dataType"].removeprefix("sc:") for field in fields] == [
        "Text", "DateTime", "Text", "Time", "Text", "Text", "Boolean", "Integer"
    ]  # fmt: skip
    parquet = pq.read_schema(files["synthetic.parquet"].open())
    assert [str(parquet.field(name).type) for name in ("admitted", "hour", "stay")] == ["timestamp[ms]", "time32[ms]", "duration[ms]"]


@pytest.mark.parametrize("name", READABLE)
def test_rows_of_every_kind_are_written_to_every_format(release: Release, tmp_path: Path, name: str) -> None:
    assert release.table is not None
    path = tmp_path / f"rows{FORMATS[name].ending}"
    path.write_bytes(row_file(name, release.table, release.domain))
    form = default_format(path)
    table = pa.Table.from_batches(opened(path, form).batches(opened(path, form).column_names()[-len(ATTRIBUTES) :]))
    assert table.num_columns == len(ATTRIBUTES)
    assert table.column(0).cast(pa.string()).to_pylist()[:2] == ["C-0001/24", "C-0001/25"]
    assert {float(value) for value in table.column(7).cast(pa.string()).to_pylist()} == {2024.0}


def test_changed_rows_are_found(release: Release) -> None:
    assert release.table is not None
    for name, other in (("stay_id", "C-0001/99"), ("clinic", "St. Otto")):
        column = pa.array([other, *release.table.column(name).to_pylist()[1:]])
        assert strays(release.domain, release.table.set_column(release.table.column_names.index(name), name, column)) == [name]


def test_json_and_the_domain_page_keep_every_column_in_its_place() -> None:
    domain = Domain.from_json(DOMAIN)
    assert Domain.from_json(domain.to_json()) == domain
    assert domain.column_names == tuple(one["name"] for one in ATTRIBUTES)
    assert domain_table.domain_of([ColumnDraft.of(column) for column in domain.columns]) == domain
    assert domain.keep(["icd", "hour"]).column_names == ("stay_id", "clinic", "hour", "icd", "year")
    assert domain.ordered_like(["year", "icd", "stay_id"]).column_names[:3] == ("year", "icd", "stay_id")


@pytest.mark.parametrize(
    ("pattern", "dtype", "first"),
    [
        ("P000001", "string", ["P000001", "P000002"]),
        ("099", "string", ["099", "100"]),
        ("998", "int64", [998, 999]),
        ("a1b09z", "string", ["a1b09z", "a1b10z"]),
    ],
)
def test_identifiers_have_the_shape_of_the_first(pattern: str, dtype: str, first: list[object]) -> None:
    column = Filled("id", "identifier", pattern)
    assert (column.dtype, column.values(2)) == (dtype, first)


@pytest.mark.parametrize(
    ("kind", "stated", "message"),
    [
        ("identifier", {"pattern": "no number"}, "no number to count up"),
        ("identifier", {"pattern": ""}, "not a short text"),
        ("identifier", {"pattern": "1" * 16}, "no number to count up"),
        ("constant", {"value": "x", "dtype": "int64"}, "not a number of dtype int64"),
        ("constant", {"value": "x", "dtype": "date"}, "dtype is not known"),
        ("constant", {"value": []}, "not text"),
        ("constant", {}, "not a short text"),
        ("constant", {"value": "a\nb"}, "not a short text"),
    ],
)
def test_what_cannot_be_filled_in_is_refused_with_its_column(kind: str, stated: dict[str, Any], message: str) -> None:
    refused(filled, "x", kind, stated, saying=rf"column 'x': .*{message}")


def test_filled_columns_alone_are_no_domain_and_names_are_told_apart() -> None:
    constant = Filled("x", "constant", "1")
    refused(Domain.of, [constant], saying="it has no columns")
    refused(Domain.of, [Attribute.integer("x", 0, 1), constant], saying="column 'x': the name is used twice")
    refused(Attribute, "x", "constant", saying="column 'x': kind is not known")


def test_values_do_not_depend_on_the_records() -> None:
    domain = Domain.of([Attribute.listed("icd", "hierarchical", ["A", "B"], hierarchy=Hierarchy(level=1)), Filled("id", "identifier", "7")])
    for codes in (np.zeros((3, 1), dtype=np.int32), np.ones((3, 1), dtype=np.int32)):
        assert decode(domain, codes, np.random.default_rng(codes.sum())).column("id").to_pylist() == [7, 8, 9]
    assert replace(domain, filled=()).column_names == ("icd",)
