"""A release whose mechanism measured tables over groups of values: its files name the groups, and it can be checked and repeated."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from typing import Any

import pyarrow.parquet as pq
import pytest

from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.reproduce import reproduce
from dpsynth_core.release import document
from dpsynth_core.release.recovery import answers_only
from dpsynth_core.release.release import Release
from dpsynth_core.release.spool import Kept
from dpsynth_core.report.table_files import group_labels
from tests.bundle import pack
from tests.bundle.bundles import DOMAIN, failed, files, repacked, run, spec

AGES = {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 25, "other": False, "missing": False}


@cache
def made() -> Release:
    """Seeded, so that it is known which tables were measured: some with age in groups. The seed is why its noise is not private."""
    attributes = [AGES if one["name"] == "age" else one for one in DOMAIN["attributes"]]
    budget = {"epsilon": 0.05, "delta": 1e-9, "certificate": 0.1}
    return run(spec(domain={"version": 1, "attributes": attributes}, budget=budget, output={"seed": 2, "rows": 2000}))


@cache
def packed() -> bytes:
    return pack.pack(made())


def grouped(release: Release) -> list[int]:
    return [number for number, m in enumerate(release.measurements) if m.groups]


def test_tables_over_groups_were_measured_and_are_read_back() -> None:
    assert grouped(made())
    again = document.from_json(json.loads(document.document(made())))
    assert [m.groups for m in again.measurements] == [m.groups for m in made().measurements]
    assert document.to_json(again)["measurements"] == document.to_json(made())["measurements"]
    assert not any(m.groups for m in again.tables_of_columns)


def test_nothing_but_the_seed_speaks_against_it() -> None:
    assert failed(packed()) == ["Is the noise private?"]


def test_it_is_repeated_to_the_last_bit() -> None:
    assert not reproduce(unpack.read_bytes(packed())).different


def test_its_noisy_tables_say_which_values_are_together() -> None:
    number = grouped(made())[0]
    measurement = made().measurements[number]
    lines = list(csv.reader(io.StringIO(files(packed())[f"marginals/{number + 1:04d}.csv"].decode())))
    assert lines[0][:-1] == list(measurement.clique)
    place = measurement.clique.index(measurement.groups[0].name)
    assert {line[place] for line in lines[1:]} == set(group_labels(measurement.groups[0], made().domain["age"].cell_labels(), True))
    lines = list(csv.DictReader(io.StringIO(files(packed())["marginals/groups.csv"].decode())))
    assert [line["value"] for line in lines if line["groups"] == measurement.groups[0].name] == list(made().domain["age"].cell_labels())


def test_both_forms_of_its_noisy_tables_have_the_same_lines() -> None:
    long = pq.read_table(io.BytesIO(files(packed())["marginals.parquet"])).to_pylist()
    for number, m in enumerate(made().measurements, 1):
        lines = list(csv.reader(io.StringIO(files(packed())[f"marginals/{number:04d}.csv"].decode())))
        own = [line for line in long if line["measurement"] == number]
        assert [line["cell"] for line in own] == [line[:-1] for line in lines[1:]]
        assert all(line["attributes"] == list(m.clique) for line in own)


def test_what_was_measured_of_an_interrupted_run_keeps_its_groups() -> None:
    kept = answers_only(made().plan, Kept("", made().spec, False, made().transcript, made().charges))
    assert [m.groups for m in kept.measurements] == [m.groups for m in made().measurements]
    assert document.from_json(json.loads(document.document(kept))).measurements[grouped(made())[0]].groups


@pytest.mark.parametrize("places", [[0] * 25, list(range(25)), [10**12] * 25, [-1] * 25])
def test_groups_that_do_not_fit_their_table_are_refused(places: list[int]) -> None:
    def change(document: dict[str, Any]) -> None:
        document["measurements"][grouped(made())[0]]["groups"][0]["places"] = places

    def apply(held: dict[str, bytes]) -> None:
        held.clear()
        held.update(files(packed()))
        obj = json.loads(held["release.json"])
        change(obj)
        held["release.json"] = json.dumps(obj).encode()

    assert failed(repacked(apply))
