"""A bundle holds what was promised, the same bytes every time, and nothing that is curator-only, however it is smuggled in."""

from __future__ import annotations

import ast
import io
import json
import re
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from dpsynth_core import report
from dpsynth_core.bundle.pack import checked_name
from dpsynth_core.evaluation.bounds import Bound
from dpsynth_core.foundation.errors import ZoneError
from dpsynth_core.foundation.zones import Zoned, curator_only, public, released
from dpsynth_core.release.release import Brand, Progress, Release
from dpsynth_core.vocabulary.codebook import load_domain
from tests.additions import listed
from tests.bundle import pack
from tests.bundle.bundles import DOMAIN, files, made, packed, run, spec
from tests.refusals import refused

PROMISED = {
    "report.html",
    "DATA_CARD.md",
    "data_card.json",
    "spec.json",
    "domain.json",
    "codebook.csv",
    *listed("BUNDLE_FILES"),
    "analysis.ipynb",
    "release.json",
    "synthetic.csv",
    "synthetic.parquet",
    "errors.csv",
    "marginals.parquet",
    "marginals/index.csv",
    "reproduce.py",
    "MANIFEST.json",
}


def test_everything_that_was_promised_is_there() -> None:
    held = files()
    assert held.keys() >= PROMISED
    assert sum(name.startswith("marginals/0") for name in held) == len(made().measurements)
    assert len(pq.read_table(io.BytesIO(held["synthetic.parquet"]))) == len(pd.read_csv(io.BytesIO(held["synthetic.csv"]))) == 400


def test_the_same_release_gives_the_same_bytes() -> None:
    assert pack.pack(made()) == packed()
    with zipfile.ZipFile(io.BytesIO(packed())) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.namelist()[0] == "report.html"


def test_the_manifest_lists_every_other_file_with_its_hash() -> None:
    held = files()
    listed = json.loads(held[pack.MANIFEST])["files"]
    assert listed.keys() == held.keys() - {pack.MANIFEST}
    assert all(stated == {"sha256": sha256(held[name]).hexdigest(), "bytes": len(held[name])} for name, stated in listed.items())


def test_the_domain_and_codebook_describe_every_cell(tmp_path: Path) -> None:
    held = files()
    (tmp_path / "domain.json").write_bytes(held["domain.json"])
    assert load_domain(tmp_path / "domain.json") == made().domain
    codebook = pd.read_csv(io.BytesIO(held["codebook.csv"]), keep_default_na=False)
    assert codebook["column"].tolist() == [a.name for a in made().domain for _ in range(a.size)]
    assert codebook["label"].tolist() == [label for a in made().domain for label in a.cell_labels()]


def test_the_data_card_is_croissant_with_guarantee_and_hashes() -> None:
    held = files()
    card = json.loads(held["data_card.json"])
    assert card["@type"] == "sc:Dataset"
    assert "http://mlcommons.org/croissant/1.0" in card["conformsTo"]
    assert {f["name"]: f["sha256"] for f in card["distribution"]} == {
        name: sha256(held[name]).hexdigest() for name in ("synthetic.csv", "synthetic.parquet")
    }
    assert [f["name"] for f in card["recordSet"][0]["field"]] == list(made().domain.names)
    assert [f["dataType"] for f in card["recordSet"][0]["field"]] == ["sc:Text", "sc:Integer", "sc:Text", "sc:Text"]
    stated = card["dp:guarantee"]
    assert (stated["epsilon"], stated["rho"], stated["relation"]) == (2.0, made().rho, "add-remove")
    assert stated["statement"] == made().statement
    assert any("nobody that young" in line for line in stated["assumptions"])
    prefixes = {key.split(":")[0] for key in card if ":" in key}
    assert prefixes <= card["@context"].keys()  # every term has a meaning


def test_the_script_in_it_is_a_program() -> None:
    ast.parse(files()["reproduce.py"])


# Smuggling


@pytest.mark.parametrize("name", [field.name for field in fields(Release)])
def test_no_field_of_a_release_may_hold_a_curator_only_value(name: str) -> None:
    refused(pack.pack, replace(made(), **{name: curator_only(getattr(made(), name))}), kind=ZoneError)


SECRET = curator_only(1237)
HIDDEN: dict[str, dict[str, Any]] = {
    "a detail": {"details": {"settings": {}, "records": SECRET}},
    "deep in a detail": {"details": {"a": [{"b": (SECRET,)}]}},
    "the name of a detail": {"details": {Zoned(SECRET.zone, "x"): 1}},
    "inside a released value": {"details": {"x": released(SECRET)}},
    "a brand": {"brands": (Brand("note", curator_only("the mean is 3")),)},
    "a step": {"history": (Progress("phase", message=curator_only("1237 records")),)},
    "the ledger": {"ledger": {"population": curator_only("x")}},
    "the certificate": {"claims": {"certificate": replace(made().certificate, mean_error=SECRET)}},
    "a bound": {"bounds": {("a",): Bound("supported", SECRET, 1.0)}},
    "a version": {"versions": {"python": curator_only("3")}},
}


@pytest.mark.parametrize("change", HIDDEN.values(), ids=list(HIDDEN))
def test_no_depth_hides_a_curator_only_value(change: dict[str, Any]) -> None:
    refused(pack.pack, replace(made(), **change), kind=ZoneError)


def test_values_that_are_no_document_are_refused_too() -> None:
    """A table of true counts, say, that nobody tagged."""
    for value in (pd.DataFrame({"true": [1]}), object(), {1, 2}):
        refused(pack.pack, replace(made(), details={"x": value}), kind=TypeError)


@pytest.mark.parametrize("zoned", [curator_only, public])
def test_a_part_is_packed_only_if_it_is_public_or_released(zoned: Callable[[bytes], Zoned[bytes]], monkeypatch: pytest.MonkeyPatch) -> None:
    parts = report.parts(made())
    monkeypatch.setattr(report, "parts", lambda _: parts | {"notes.txt": zoned(b"hello")})
    with pytest.raises(ZoneError) if zoned is curator_only else nullcontext():
        assert files(pack.pack(made()))["notes.txt"] == b"hello"


@pytest.mark.parametrize("name", ["../x", "/x", "a/../b", "a\\b", "", ".x", "C:x", "a\nb"])
def test_a_file_in_a_bundle_has_a_plain_name(name: str) -> None:
    refused(checked_name, name)


CANARY = "canarybird"
RECORDS = 7919  # a prime that no other number here is


def test_no_private_value_file_name_or_count_is_in_any_file(tmp_path: Path) -> None:
    """Values outside the domain, of columns that were dropped and of the person column, folders, and the secret number of records."""
    folder = tmp_path / f"{CANARY}-folder"
    folder.mkdir()
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "sex": rng.choice(["female", "male", f"{CANARY}-sex"], RECORDS),
            "age": rng.integers(0, 100, RECORDS),
            "health": rng.choice(["good", f"{CANARY}-health"], RECORDS),
            "marital_status": rng.choice(["single", "married", f"{CANARY}-status"], RECORDS),
            "diary": [f"{CANARY}-{i}" for i in range(RECORDS)],
            "who": [f"{CANARY}-person-{i}" for i in range(RECORDS)],
        }
    )
    table.to_csv(folder / "people.csv", index=False)
    unit = {"relation": "add-remove", "person_column": "who", "max_rows_per_person": 1}
    # with a seed, so that the noisy total is the same, and another number, in every test run
    release = run(spec(data={"path": str(folder / "people.csv")}, unit=unit, output={"seed": 5}))
    held = files(pack.pack(release))
    assert len(held) > 15
    for name, content in held.items():
        text = content if not name.endswith(".parquet") else pq.read_table(io.BytesIO(content)).to_pandas().to_csv(index=False).encode()
        assert CANARY.encode() not in text, name
        assert str(tmp_path).encode() not in text, name
        assert not re.search(rb"(?<![0-9.])7,?919(?![0-9])", text), name
    assert "people.csv" in held["spec.json"].decode()  # the base name is public: it is part of the sealed plan


def test_rules_and_notes_are_stated_in_the_report() -> None:
    page = files()["report.html"].decode()
    assert "never goes with" in page
    assert DOMAIN["impossible"][0]["note"] in page
