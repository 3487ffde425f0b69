"""The parts of evidence.json about people for whom the rows name a value, and about those who are alone with values that one row has."""

from __future__ import annotations

from dataclasses import asdict

from dpsynth_core.claims.models.stated import CONFIDENCE, Share
from dpsynth_core.extensions.disclosure.claim import DISCLOSURE, Disclosure
from dpsynth_core.extensions.disclosure.uniques import REPLICATED, Uniques
from dpsynth_core.extensions.evidence.files import Part
from dpsynth_core.extensions.evidence.yardsticks import Range
from dpsynth_core.release.release import Release


def statement(release: Release) -> Part:
    """Return "disclosure" and "uniques", each with an entry for each question: shares of people with intervals; {} if nothing was measured.

    Args:
        release: The release.
    """
    found, stated, uniques = Part(), release.claims[DISCLOSURE.name], release.claims[REPLICATED.name]
    if isinstance(stated, Disclosure):
        found["disclosure"] = [
            {"target": one.target, "known": list(one.keys), "confidence": CONFIDENCE}
            | {name: asdict(_range(share)) for name, share in (("rightly", one.rightly), ("wrongly", one.wrongly), ("named", one.named))}
            for one in stated.questions
        ]
    if isinstance(uniques, Uniques) and uniques.alone:
        found["uniques"] = [
            {"known": list(one.keys), "confidence": CONFIDENCE, "alone": asdict(_range(one.share))} for one in uniques.alone
        ]
    return found


def _range(share: Share) -> Range:
    return Range(share.value, share.low95, share.high95)
