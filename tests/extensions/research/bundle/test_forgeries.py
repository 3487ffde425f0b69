"""Bundles of the extension's mechanisms, made by a forger who writes every file anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpsynth_core.bundle.verdicts import INCONSISTENT
from tests.bundle.bundles import verified
from tests.bundle.test_forgeries import consistent, release_of, twin

__all__ = ["twin"]


def test_what_a_check_said_of_the_public_table_cannot_be_embellished(twin: Path) -> None:
    """Without the public table at hand: the kernel's answer decides."""
    release = release_of("mixture", twin)
    assert release.certificate is None
    assert not release.bounds

    def change(document: dict[str, Any]) -> None:
        reading = document["details"]["best_mixture"]
        reading["sentence"] = reading["sentence"].replace(" ", "  ", 1)
        brand = next(brand for brand in document["brands"] if brand["code"].startswith("public-table"))
        brand["sentence"] = reading["sentence"]

    assert verified(consistent(release, change)).verdict == INCONSISTENT
