"""evidence.json: ceilings and yardsticks of a release, and what other extensions add to them, for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from dpsynth_core.claims.certificate import CONFIDENCE
from dpsynth_core.extensions.evidence.ceilings import Ceiling, ceilings
from dpsynth_core.extensions.evidence.yardsticks import Score, yardsticks
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.content import Digest
from dpsynth_core.foundation.zones import Zoned, released
from dpsynth_core.release.release import Release

EVIDENCE, FORMAT = "evidence.json", 1
Part = dict[str, Any]
"""Statements of a release as JSON values, by name."""


def files(release: Release, rows: Mapping[str, Digest]) -> dict[str, Zoned[bytes]]:  # noqa: ARG001
    """Return {"evidence.json": its content}; {} for a release with neither ceilings nor yardsticks (`document`).

    All its numbers follow from released values.

    Args:
        release: The release.
        rows: Not used.
    """
    found = document(release)
    return {EVIDENCE: released((json.dumps({"format": FORMAT, **found}, indent=1) + "\n").encode())} if found else {}


def document(release: Release) -> Part:
    """Return the content of evidence.json but for its format.

    "ceilings" lists, by base rate, how often an attack can work on people who take part. "accuracy" has by number of columns the mean of
    1 - TVD (total variation distance, a share of people) with its interval and the confidence of that; "sample" the share of the people
    whose random sample would err as much. A release that is not private has no ceilings, one without measured errors of rows has neither
    accuracy nor sample. Other extensions add what the release states of theirs, such as "noise" and "disclosure".
    """
    found: Part = {}
    if limits := ceilings_of(release):
        found["ceilings"] = [asdict(one) for one in limits]
    if (stated := yardsticks(release)) is not None:
        scores = {str(one.columns): _score(one) for one in stated.scores}
        share = {("share" if name == "estimate" else name): number for name, number in asdict(stated.sample).items()}
        found |= {"accuracy": scores, "sample": {"tables": stated.tables, **share}}
    for part in extension.parts("evidence", release.spec.extensions):
        found |= part.statement(release)
    return found


def _score(one: Score) -> dict[str, Any]:
    measured = {"tables": one.tables, "confidence": CONFIDENCE, **asdict(one.closeness)}
    return {**measured, "second_sample": asdict(one.second_sample)}


def ceilings_of(release: Release) -> tuple[Ceiling, ...]:
    """Return the ceilings of a release at the base rates 0.001, 0.01, 0.1 and 0.5; () if its noise is predictable, which limits nothing."""
    shares = release.plan.shares
    return ceilings(shares.accountant, release.rho, shares.slack) if release.private else ()
