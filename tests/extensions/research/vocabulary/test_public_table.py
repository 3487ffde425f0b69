"""Releases of the extension's mechanisms with a public table: what they say of it, and the check of it."""

from __future__ import annotations

import json

from tests.vocabulary.test_public_table import OUT, place, synthesize

__all__ = ["place"]


def test_the_release_names_the_public_table_and_says_that_it_is_assumed_public() -> None:
    assert synthesize("pmwpub", "--public", "census.csv") == 0
    made = json.loads(OUT.read_text())
    assert made["details"]["public_table"] == {"name": "census.csv", "sha256": made["spec"]["public"]["sha256"], "rows": 200}
    assert made["spec"]["public"]["path"] == "census.csv"
    assert "assumed-public" in [brand["code"] for brand in made["brands"]]
    assert set(made["details"]["queries"][0]) == {"attributes", "cells", "at_least", "answer", "sigma"}
    assert made["rows"]["count"] > 0


def test_the_check_tells_its_reading() -> None:
    assert synthesize("mixture", "--public", "census.csv") == 0
    made = json.loads(OUT.read_text())
    assert made["details"]["best_mixture"]["sentence"] in [brand["sentence"] for brand in made["brands"]]


def test_thresholds_are_asked_of_public_rows_too() -> None:
    for mechanism in ("mwem", "pmwpub"):
        assert synthesize(mechanism, "--public", "census.csv", "--workload", "threshold:1-of-2:all") == 0
        assert {query["at_least"] for query in json.loads(OUT.read_text())["details"]["queries"]} == {1}
