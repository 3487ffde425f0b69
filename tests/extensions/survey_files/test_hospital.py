"""A hospital's export in the four formats that people have: every format means the same."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.detect import public_format
from dpsynth_core.sources.files import declared_domain
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.domain import Domain
from tests import hospital


def cells(path: Path, form: TableFormat, domain: Domain) -> dict[str, list[str]]:
    """Of each column and stay the label of the cell; positions for the answers that formats write differently."""
    table = pa.Table.from_batches(opened(path, form).batches(domain.names))
    codes = encode(domain, table, form.notation)
    different = (*hospital.LABELS, "emergency")
    return {
        one.name: [str(code) if one.name in different else one.cell_labels()[code] for code in codes[one.name].tolist()] for one in domain
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hospital")
    for name, write in hospital.EXPORTS.items():
        write(place / name)
    return place


def test_nothing_of_the_export_is_lost_and_every_format_means_the_same(folder: Path) -> None:
    seen = {}
    for name in hospital.EXPORTS:
        form, domain = public_format(folder / name, "table"), Domain.from_json(hospital.domain_of(name))
        opened(folder / name, form).check()
        seen[name] = cells(folder / name, form, domain)
        assert not [column for column, labels in seen[name].items() if "other" in labels], name
    assert seen["stays.csv"].keys() == set(hospital.USABLE)
    missing = {column for column, labels in seen["stays.csv"].items() if "missing" in labels}
    assert missing == {"second_diagnosis", "weight", "creatinine"}  # discharge_kind is compared by its positions
    for name in ("stays.xlsx", *hospital.CODED):
        assert [column for column, labels in seen["stays.csv"].items() if seen[name][column] != labels] == [], name


@pytest.mark.parametrize("name", hospital.CODED)
def test_labels_of_a_statistical_file_are_its_answers(folder: Path, name: str) -> None:
    entries = {one["name"]: one for one in declared_domain(folder / name, default_format(folder / name))["attributes"]}
    assert {column: entries[column]["labels"] for column in hospital.LABELS} == {
        column: list(answers.values()) for column, answers in hospital.LABELS.items()
    }
    assert entries["admission_kind"]["label"] == "admission kind"
