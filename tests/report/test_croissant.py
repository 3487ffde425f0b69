"""What catalogues read of a data card is what Croissant allows, by its own validator."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.bundle.bundles import files
from tests.report.deposits import UNINSTALLED, deposited


def warned(card: bytes, place: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the validator of Croissant says of a data card. It imports a package for paths in JSON, which has no wheel and is not needed."""
    (place / "data_card.json").write_bytes(card)
    paths = ModuleType("jsonpath_rw")
    paths.__dict__["lexer"] = ModuleType("lexer")
    if "mlcroissant" not in sys.modules:
        monkeypatch.setitem(sys.modules, "jsonpath_rw", paths)
    mlcroissant = pytest.importorskip("mlcroissant", reason=UNINSTALLED)
    caplog.clear()
    mlcroissant.Dataset(jsonld=str(place / "data_card.json"))
    return caplog.text


def test_the_validator_of_croissant_warns_of_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert warned(deposited()["data_card.json"], tmp_path, caplog, monkeypatch) == ""
    unstated = warned(files()["data_card.json"], tmp_path, caplog, monkeypatch)  # of which nobody stated a licence
    assert unstated.count(" - ") == 1
    assert "license" in unstated
    card = json.loads(deposited()["data_card.json"])
    del card["@context"]["regex"]
    assert "not standard" in warned(json.dumps(card).encode(), tmp_path, caplog, monkeypatch)
