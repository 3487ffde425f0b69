"""The files that explain a release to its readers: a self-contained HTML report, a data card, the noisy marginals as tables.

Built from a release alone, so nothing curator-only can be in it; every part is tagged released, for the bundle to check.
Column names, categories and the curator's words are hostile text, escaped for the format they go into.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from dpsynth_core.claims.means import MEANS
from dpsynth_core.evaluation import quality
from dpsynth_core.evaluation import verdict as verdicts
from dpsynth_core.evaluation.misfit import MISFITS
from dpsynth_core.evaluation.quality import Headline, Statements
from dpsynth_core.evaluation.verdict import Verdict
from dpsynth_core.foundation.zones import Zoned, combine, released
from dpsynth_core.release.release import Release
from dpsynth_core.report import first_page, table_files
from dpsynth_core.report.card import card
from dpsynth_core.report.column import column_in_short
from dpsynth_core.report.explore import EXPLORE, can_answer, explore_page, households, knowledge
from dpsynth_core.report.facts import facts, goodness, learnt, sentence, trusted
from dpsynth_core.report.notebook import NOTEBOOK, notebook
from dpsynth_core.report.page import html
from dpsynth_core.report.release_card import release_card
from dpsynth_core.report.sections import claim_facts
from dpsynth_core.report.verdict import comparison, despite, fit_for, not_read, reasons, ruling, unfit_for
from dpsynth_core.report.warnings import warnings
from dpsynth_core.report.words import noise, protected
from dpsynth_core.statistics.distances import percent
from dpsynth_core.statistics.evidence import Evidence

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CARD", "EXPLORE", "NOTEBOOK", "REPORT", "SPEC"]
__all__ += ["Quality", "card", "facts", "html", "parts", "quality_of", "sentence"]
__all__ += ["can_answer", "goodness", "households", "knowledge", "learnt", "noise", "percent", "protected", "statements", "trusted"]
__all__ += ["claim_facts", "column_in_short", "comparison", "despite", "fit_for", "in_short", "not_read", "reasons", "ruling", "unfit_for"]
__all__ += ["verdict_facts", "warnings"]

REPORT, CARD, SPEC, MARGINALS, ERRORS = "report.html", "DATA_CARD.md", "spec.json", table_files.MARGINALS, "errors.csv"
DOMAIN, CODEBOOK = "domain.json", "codebook.csv"


def evidence(release: Release) -> Zoned[Evidence]:
    """Return what comparisons use: the rows, the noisy tables and their total, in people (households if linked).

    All are released by construction.
    """
    return released(release.final.released.per(release.plan.records_each))


def statements(release: Release) -> Zoned[Statements]:
    """Return the release's statements about itself, all released by construction."""
    return released(release.statements)


@dataclass(frozen=True, eq=False)
class Quality:
    """The quality of a release.

    Attributes:
        headline: The mean, the largest and the bounded errors in short.
        table: One row per marginal of the workload, from `quality.marginal_table`, the largest
            error first.
        verdict: The verdict; None for a release of a learnt rule, which has no tables.
    """

    headline: Headline
    table: pd.DataFrame
    verdict: Verdict | None


_QUALITY: WeakKeyDictionary[Release, Zoned[Quality]] = WeakKeyDictionary()


def quality_of(release: Release) -> Zoned[Quality]:
    """Return the quality of a release, judged from released values alone.

    It is computed once per release, which never changes, and cached because several files state it: do not change
    the frame in it.
    """
    if release not in _QUALITY:
        stated = statements(release)
        table = quality.marginal_table(stated)
        headline = combine(lambda head: head.per(release.plan.records_each, release.plan.who), quality.headline(stated, table))
        ruled: Zoned[Verdict | None] = released(None)
        if not learnt(release):
            beside = release.private, release.criteria, release.despite, release.claims[MEANS.name], release.details.get(MISFITS, ())
            ruled = combine(lambda s, head: verdicts.judge(s, head, *beside), stated, headline)
        _QUALITY[release] = combine(Quality, headline, table, ruled)
    return _QUALITY[release]


def verdict_facts(release: Release) -> list[tuple[str, str]]:
    """Return the verdict as pairs of name and text, for lists of facts.

    The first pair has the ruling with its reasons, the second the curator's reason to publish although a
    required criterion is not met or measured, if there is one. The list is empty for a release of a learnt rule.
    """
    verdict = quality_of(release).value.verdict
    if verdict is None:
        return []
    given = [("Reason given", despite(verdict))] if verdict.despite else []
    return [("Verdict", f"{ruling(verdict)} {reasons(verdict)}"), *given]


def in_short(release: Release) -> list[tuple[str, str]]:
    """Return a description of a release as four pairs of name and text: About, Protection, Tables, Made."""
    return first_page.lines(release, quality_of(release).value.verdict)


def release_picture(release: Release) -> Zoned[bytes]:
    """Return the release card as an SVG file."""
    return combine(lambda q: release_card(release, q.headline, q.verdict, alone=True).encode(), quality_of(release))


def report_page(release: Release) -> Zoned[bytes]:
    """Return report.html of a release, in UTF-8."""
    pairs = quality.pair_map(statements(release))
    return combine(lambda q, p: html(release, q.headline, q.table, p, q.verdict).encode(), quality_of(release), pairs)


_WITHHELD = "The plan withholds this release. This page has no synthetic rows until the curator writes why it is published all the same."


def question_page(release: Release, with_rows: bool = True) -> Zoned[bytes]:
    """Return explore.html, the question page of a release that `can_answer`.

    Args:
        release: The release.
        with_rows: Whether the page may hold the synthetic rows. It may not until the release may be
            taken away, because a reader of the page could save the rows.
    """
    return explore_page(release, [text for _, text in verdict_facts(release)], "" if with_rows else _WITHHELD)


def sealed_spec(release: Release) -> Zoned[bytes]:
    """Return spec.json of a release: the published form of its spec, without paths of this machine."""
    return released(json.dumps(release.spec.published(), indent=1).encode())


def parts(release: Release) -> dict[str, Zoned[bytes]]:
    """Return the contents of the files in a bundle that this package makes, by file name.

    They are the report, the data card, the spec, the noisy tables, the errors, the domain, the codebook, the
    notebook and explore.html. The notebook is missing for two linked tables, and explore.html for a release that
    cannot answer.
    """
    judged = quality_of(release)
    files: dict[str, Zoned[bytes]] = {
        REPORT: report_page(release),
        CARD: combine(lambda q: card(release, q.headline, q.verdict).encode(), judged),
        SPEC: sealed_spec(release),
        MARGINALS: released(table_files.marginals_parquet(release)),
        ERRORS: released(table_files.errors_csv(release)),
        DOMAIN: released(table_files.domain_json(release)),
        CODEBOOK: released(table_files.codebook_csv(release)),
    }
    if release.plan.link is None:  # both are about the rows of one table
        files[NOTEBOOK] = notebook(release)
    if can_answer(release):
        files[EXPLORE] = question_page(release)
    return files | {name: released(content) for name, content in table_files.marginal_csvs(release).items()}
