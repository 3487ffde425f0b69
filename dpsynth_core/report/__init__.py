"""What a release says to a person who was not there: a self-contained HTML report, a data card, the noisy marginals as tables.

Built from a release alone, so nothing curator-only can be in it; every part is tagged released, for the bundle to check.
Column names, categories and the curator's words are hostile text, escaped for the format they go into.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import pandas as pd

from dpsynth_core.evaluation import quality
from dpsynth_core.evaluation.certificate import Certificate
from dpsynth_core.evaluation.comparison import Evidence
from dpsynth_core.evaluation.quality import Headline, Statements
from dpsynth_core.foundation.zones import Zoned, combine, released
from dpsynth_core.planning.spec import divided
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.release.document import ROWS_PARQUET, Release, parquet_bytes
from dpsynth_core.report import codebook, error_table, marginals
from dpsynth_core.report.card import card
from dpsynth_core.report.facts import facts, percent, sample_reading, sentence, trusted
from dpsynth_core.report.page import html
from dpsynth_core.report.rule import goodness, learnt
from dpsynth_core.report.words import noise, protected, slack
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.workload import Workload

__all__ = ["CARD", "REPORT", "SPEC", "Quality", "card", "facts", "html", "parts", "quality_of", "sample_reading", "sentence", "statements"]
__all__ += ["goodness", "learnt", "noise", "percent", "protected", "slack", "trusted"]

REPORT, CARD, SPEC, MARGINALS, ERRORS = "report.html", "DATA_CARD.md", "spec.json", "marginals.parquet", "errors.csv"
DOMAIN, CODEBOOK = "domain.json", "codebook.csv"


def evidence(release: Release) -> Zoned[Evidence]:
    """What comparisons are made from. All of it is released by construction."""
    return released(Evidence(release.domain, release.codes, release.measurements, release.total))


def statements(release: Release) -> Zoned[Statements]:
    """What its errors are judged from."""
    spec, unit = release.spec, release.spec["unit"]
    return combine(
        lambda e: Statements(
            evidence=e,
            workload=asked_for(release),
            bounds=release.bounds,
            certificate=Certificate.from_json(release.certificate) if release.certificate else None,
            mechanism=spec["mechanism"]["name"],
            rho=divided(release.rho, 0.0 if learnt(release) else spec["budget"].get("certificate", 0.0))[0],
            unit=Unit(unit["relation"], unit["max_rows_per_person"]),
        ),
        evidence(release),
    )


def asked_for(release: Release) -> Workload:
    """The tables that a release answers: its workload's; of a rule, those that were measured beside it."""
    if not learnt(release):
        return workloads.from_json(release.domain, release.spec["workload"])
    measured = [measurement.clique for measurement in release.measurements if measurement.clique]
    return Workload(release.domain, dict.fromkeys(measured or [(release.domain.names[-1],)], 1.0))


@dataclass(frozen=True, eq=False)
class Quality:
    """How good a release is. table: the workload's marginals, the largest possible error first (see `quality.marginal_table`)."""

    headline: Headline
    table: pd.DataFrame


def quality_of(release: Release) -> Zoned[Quality]:
    """Judged from released values alone."""
    stated = statements(release)
    table = quality.marginal_table(stated)
    return combine(Quality, quality.headline(stated, table), table)


def parts(release: Release) -> dict[str, Zoned[bytes]]:
    """Everything a release bundle holds besides the rows as CSV and release.json, by file name."""
    judged, pairs = quality_of(release), quality.pair_map(statements(release))
    found: dict[str, Zoned[bytes]] = {
        REPORT: combine(lambda q, p: html(release, q.headline, q.table, p).encode(), judged, pairs),
        CARD: combine(lambda q: card(release, q.headline).encode(), judged),
        SPEC: released(json.dumps(dict(release.spec), indent=1).encode()),
        MARGINALS: released(marginals.parquet(release)),
        ERRORS: released(error_table.csv(release)),
        DOMAIN: released(codebook.domain_json(release)),
        CODEBOOK: released(codebook.codebook_csv(release)),
    }
    found |= {name: released(content) for name, content in marginals.csv_files(release).items()}
    if release.table is not None:
        found[ROWS_PARQUET] = released(parquet_bytes(release.table))
    return found
