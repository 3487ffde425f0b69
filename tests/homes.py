"""Two linked tables, invented: couples and their children in regions, with rows that do not count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

HOUSEHOLDS = 500
MOST = 3
PEOPLE = {"version": 1, "attributes": [
    {"name": "sex", "kind": "categorical", "categories": ["0", "1"], "labels": ["woman", "man"], "other": False, "missing": False},
    {"name": "adult", "kind": "integer", "lower": 0, "upper": 1, "other": False, "missing": False},
]}  # fmt: skip
"""The domain of the members."""


def tables(folder: Path, households: int = HOUSEHOLDS) -> tuple[Path, Path]:
    """homes.csv and people.csv. Regions 0 and 1; couples of one sex each, whose children are young; up to four members, and one who has no
    household."""
    rng = np.random.default_rng(0)
    regions, sizes = rng.integers(0, 2, households), rng.integers(0, MOST + 2, households)
    lines = [(key, place % 2, int(place < 2)) for key, size in enumerate(sizes) for place in range(size)]
    members = pd.DataFrame([*lines, (households + 7, 0, 0)], columns=["id", "sex", "adult"])
    homes, people = folder / "homes.csv", folder / "people.csv"
    pd.DataFrame({"id": range(households), "region": regions}).to_csv(homes, index=False)
    members.to_csv(people, index=False)
    return homes, people
