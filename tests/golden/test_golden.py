"""A change of structure moves no number, no hash and no byte of a release. After a change that means to: see `goldens`."""

from __future__ import annotations

import json

import pytest

from dpsynth_core.planning.spec import load_spec
from tests.golden import goldens

NAMES = tuple(goldens.specs())


@pytest.mark.parametrize("name", NAMES)
def test_a_seeded_spec_still_makes_the_same_release(name: str) -> None:
    goldens.assert_same_release(goldens.run(name), goldens.kept(name), name)


@pytest.mark.parametrize("name", NAMES)
def test_digest_ledger_entry_and_bundle_keep_their_bytes(name: str) -> None:
    pinned = json.loads((goldens.folder(name) / "pins.json").read_text(encoding="utf-8"))
    assert goldens.pins(load_spec(goldens.folder(name) / "spec.json"), goldens.kept(name)) == pinned


@pytest.mark.parametrize("name", NAMES)
def test_the_goldens_are_the_specs_that_are_listed(name: str) -> None:
    written = json.loads((goldens.folder(name) / "spec.json").read_text(encoding="utf-8"))
    assert {**goldens.specs()[name], "data": {"path": f"../{goldens.PEOPLE}"}} == written
