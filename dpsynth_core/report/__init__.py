"""What a release says to a person who was not there: a self-contained HTML report, a data card, the noisy marginals as tables.

Built from a release alone, so nothing curator-only can be in it; every part is tagged released, for `release.bundle` to check.
Column names, categories and the curator's words are hostile text, escaped for the format they go into.
"""

from __future__ import annotations

import json

import pandas as pd

from dpsynth_core import workload as workloads
from dpsynth_core.evaluation.comparison import Evidence, marginal_table
from dpsynth_core.release import Release, parquet_bytes
from dpsynth_core.report import errors, marginals
from dpsynth_core.report.card import card
from dpsynth_core.report.facts import facts, sentence
from dpsynth_core.report.page import html
from dpsynth_core.zones import Zoned, combine, released

__all__ = ["CARD", "REPORT", "ROWS", "SPEC", "card", "evidence", "facts", "html", "parts", "sentence", "tables"]

REPORT, CARD, SPEC, ROWS, MARGINALS = "report.html", "DATA_CARD.md", "spec.json", "synthetic.parquet", "marginals.parquet"
ERRORS = "errors.csv"


def evidence(release: Release) -> Zoned[Evidence]:
    """What comparisons are made from. All of it is released by construction."""
    return released(Evidence(release.domain, release.codes, release.measurements, release.total))


def tables(release: Release) -> Zoned[pd.DataFrame]:
    """The workload's marginals, worst first (see `marginal_table`)."""
    workload = workloads.from_json(release.domain, release.spec["workload"])
    return marginal_table(evidence(release), workload.cliques)


def parts(release: Release) -> dict[str, Zoned[bytes]]:
    """Everything a release bundle holds besides the rows as CSV and release.json, by file name."""
    table = tables(release)
    found: dict[str, Zoned[bytes]] = {
        REPORT: combine(lambda t: html(release, t).encode(), table),
        CARD: combine(lambda t: card(release, t).encode(), table),
        SPEC: released(json.dumps(dict(release.spec), indent=1).encode()),
        MARGINALS: released(marginals.parquet(release)),
        ERRORS: released(errors.csv(release)),
    }
    found |= {name: released(content) for name, content in marginals.csv_files(release).items()}
    if release.table is not None:
        found[ROWS] = released(parquet_bytes(release.table))
    return found
