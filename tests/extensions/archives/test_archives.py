"""What archives and catalogues read of a release is what their formats allow, by their own programs where these are Python packages.

The schema of DDI Codebook 2.5 is no such package. What it says of the elements that are written here, their order and their attributes,
stands here as facts.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from dpsynth_core.extensions.archives import citation_file
from dpsynth_core.extensions.archives.ddi import is_plain
from dpsynth_core.vocabulary import ddi
from dpsynth_core.vocabulary.domain import Domain
from tests.bundle import pack
from tests.bundle.bundles import DOMAIN, files, made, run, spec
from tests.report.deposits import KINDS, UNINSTALLED, deposited, unpacked

# Data packages


def test_frictionless_finds_the_rows_to_be_what_the_package_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frictionless = pytest.importorskip("frictionless", reason=UNINSTALLED)
    for number, held in enumerate((files(), deposited())):
        monkeypatch.chdir(unpacked(held, tmp_path / str(number)))
        report = frictionless.validate("datapackage.json")
        assert report.valid, report.flatten(["title", "message"])
    with open("synthetic.csv", "a") as rows:
        rows.write("neither,1000000,x,y" + "," * len(KINDS) + os.linesep)
    assert not frictionless.validate("datapackage.json").valid


def test_a_package_says_of_each_column_what_its_rows_may_hold() -> None:
    package = json.loads(deposited()["datapackage.json"])
    fields = {field["name"]: field for field in package["resources"][0]["schema"]["fields"]}
    assert list(fields) == [column["name"] for column in (*DOMAIN["attributes"], *KINDS)]
    assert fields["age"] == {"name": "age", "type": "integer", "constraints": {"required": True, "minimum": 0, "maximum": 99}}
    assert fields["health"]["constraints"] == {"enum": ["good", "other"]}
    assert fields["code"]["categories"] == [{"value": 1, "label": "poor"}, {"value": 9, "label": "best"}]
    assert package["licenses"] == [{"name": "CC-BY-4.0", "title": "CC-BY-4.0", "path": "https://spdx.org/licenses/CC-BY-4.0.html"}]
    assert package["contributors"][-1] == {"title": "data@office.example", "role": "contact", "email": "data@office.example"}
    assert json.loads(files()["datapackage.json"]).keys() >= {"name", "resources"}


def test_a_package_says_of_the_errors_of_tables_which_unit_they_have() -> None:
    held = files()
    resources = {resource["path"]: resource for resource in json.loads(held["datapackage.json"])["resources"]}
    errors = resources["errors.csv"]
    assert "shares of the people" in errors["description"]
    header = held["errors.csv"].decode().splitlines()[0]
    assert [f'"{field["name"]}"' for field in errors["schema"]["fields"]] == header.split(",")
    assert errors["hash"] == f"sha256:{sha256(held['errors.csv']).hexdigest()}"


# DDI Codebook 2.5

CHILDREN = {
    "codeBook": "stdyDscr fileDscr dataDscr",
    "stdyDscr": "citation stdyInfo dataAccs",
    "citation": "titlStmt rspStmt prodStmt distStmt verStmt biblCit",
    "titlStmt": "titl IDNo",
    "rspStmt": "AuthEnty",
    "prodStmt": "prodDate",
    "distStmt": "contact",
    "verStmt": "version",
    "stdyInfo": "abstract sumDscr",
    "sumDscr": "timePrd geogCover universe dataKind",
    "dataAccs": "useStmt",
    "useStmt": "restrctn citReq conditions disclaimer",
    "fileDscr": "fileTxt",
    "fileTxt": "fileName dimensns fileType",
    "dimensns": "caseQnty varQnty",
    "dataDscr": "var",
    "var": "labl valrng txt catgry varFormat",
    "valrng": "range",
    "catgry": "catValu labl",
}
"""Of the elements that are written, in the order that the schema demands; all others hold text alone."""
ATTRIBUTES = {
    "codeBook": {"version"},
    "IDNo": {"agency"},
    "prodDate": {"date"},
    "version": {"date"},
    "contact": {"email"},
    "timePrd": {"event", "date"},
    "fileDscr": {"ID", "URI"},
    "fileType": {"charset"},
    "var": {"ID", "name", "files", "intrvl", "dcml", "nature"},
    "range": {"UNITS", "min", "max"},
    "varFormat": {"type", "category"},
}
VALUES = {
    "event": {"start", "end", "single"},
    "intrvl": {"contin", "discrete"},
    "nature": {"nominal", "ordinal"},
    "UNITS": {"INT", "REAL"},
    "type": {"numeric", "character"},
    "category": {"date", "time"},
}
REQUIRED = {"codeBook": {"stdyDscr"}, "stdyDscr": {"citation"}, "citation": {"titlStmt"}, "titlStmt": {"titl"}, "valrng": {"range"}}


def answers() -> dict[str, bytes]:
    return files(pack.pack(run(spec(mechanism={"name": "gaussian"}, output={}))))


@pytest.mark.parametrize("held", [files, deposited, answers])
def test_a_codebook_has_the_elements_of_ddi_in_their_order(held: Any) -> None:
    content = held()["codebook.xml"]
    assert is_plain(content)
    root = ElementTree.fromstring(content)
    name = "{ddi:codebook:2_5}"
    assert (root.tag, root.get("version")) == (f"{name}codeBook", "2.5")
    for element in root.iter():
        tag, inside = element.tag.removeprefix(name), [child.tag.removeprefix(name) for child in element]
        order = CHILDREN.get(tag, "").split()
        assert inside == sorted(inside, key=order.index), tag
        assert set(inside) >= REQUIRED.get(tag, set()), tag
        assert set(element.keys()) <= ATTRIBUTES.get(tag, set()), tag
        assert all(element.get(key, next(iter(values))) in values for key, values in VALUES.items()), tag
    named = [element.get("ID") for element in root.iter() if element.get("ID")]
    assert len(set(named)) == len(named)
    assert {file for element in root.iter() if (file := element.get("files"))} <= set(named)


def test_a_codebook_is_read_back_as_the_columns_of_the_rows() -> None:
    """Texts with a character that XML cannot hold have a space in its place."""
    columns = {column["name"]: column for column in ddi.declared_domain(deposited()["codebook.xml"].decode())["attributes"]}
    assert list(columns) == [column["name"] for column in (*DOMAIN["attributes"], *KINDS)]
    assert columns["sex"]["categories"] == ["female", "male"]
    assert (columns["age"]["lower"], columns["age"]["upper"]) == (0, 99)
    # Codebooks label the ends of a scale: the numbers between 1 and 9 are asked about, whatever wrote the codebook.
    assert (columns["code"]["kind"], columns["code"]["labels"]) == ("ordinal", ["poor", *"2345678", "best"])
    assert "are 2 to 8 values too?" in columns["code"]["to_do"]
    assert columns['pay <&"']["label"] == "Pay, <b>"
    plain = Domain.from_json(ddi.declared_domain(files()["codebook.xml"].decode()))
    assert plain.names == made().domain.names


# CITATION.cff


def test_a_citation_names_its_creators_and_where_nobody_is_named_there_is_none() -> None:
    lines = deposited()["CITATION.cff"].decode().splitlines()
    written = dict(line.strip("- ").split(": ", 1) for line in lines if ": " in line)
    assert json.loads(written["title"]) == "Trial"
    assert (json.loads(written["family-names"]), json.loads(written["given-names"])) == ("Doe", "Jane")
    assert json.loads(written["license-url"]) == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert written["cff-version"] == "1.2.0"
    assert json.loads(written["message"]).endswith(f"Plan {json.loads(deposited()['release.json'])['spec_sha256']}.")
    assert "CITATION.cff" not in files()


def test_every_letter_of_a_citation_is_read_again_as_it_was() -> None:
    text = 'Büro "Süd", 統計局 😀 \\ 𠮷'
    assert yaml.safe_load(citation_file._text(text)) == text
