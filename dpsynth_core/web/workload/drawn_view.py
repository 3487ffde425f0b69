"""Tables drawn at random from a seed, on the Workload page: the way in which papers choose what they compare methods on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dpsynth_core.vocabulary.drawn_marginals import PAPER_DRAWS, RANDOM, SKEWED
from dpsynth_core.vocabulary.workload import MAX_DRAWS
from dpsynth_core.web.shell import fields, numbers

KINDS = {RANDOM: "every table alike", SKEWED: "a few columns far more often"}
WAY, TITLE = "drawn", "Drawn at random"
HELP = (
    "For comparing methods as papers do. Alike: different tables, each as likely as any other. Far more often: each column gets a random "
    "weight, and tables are drawn by the product of their columns' weights; one that comes twice counts twice. The AIM paper draws "
    f"{PAPER_DRAWS} tables of three columns so."
)


def way_of(workload: Mapping[str, Any]) -> str:
    """Which way of saying it a workload is: both kinds of draws are one."""
    return WAY if workload["kind"] in KINDS else str(workload["kind"])


def start(columns: int) -> dict[str, Any]:
    """What this way begins with."""
    k = min(3, columns)
    return {"kind": RANDOM, "k": k, "count": min(64, math.comb(columns, k)), "seed": 0}


def form() -> None:
    """Kind, number and seed. How many columns a table has is asked as for the other ways."""
    fields.choice("Which are drawn", "workload.kind", list(KINDS), KINDS, kind="segmented", help=HELP)
    fields.number("Tables to draw", "workload.count", lambda text: numbers.whole(text, "workload.count", 1, MAX_DRAWS))
    seed = "The same seed draws the same tables, on every machine. It is published with the plan; no privacy depends on it."
    fields.number("Seed of the draw", "workload.seed", lambda text: numbers.whole(text, "workload.seed", 0, 2**63 - 1), help=seed)
