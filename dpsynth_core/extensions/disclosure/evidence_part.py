"""The part of evidence.json about people for whom the rows name a value."""

from __future__ import annotations

from dataclasses import asdict

from dpsynth_core.claims.models.stated import CONFIDENCE, Share
from dpsynth_core.extensions.disclosure.claim import DISCLOSURE, Disclosure
from dpsynth_core.extensions.evidence.files import Part
from dpsynth_core.extensions.evidence.yardsticks import Range
from dpsynth_core.release.release import Release


def statement(release: Release) -> Part:
    """Return "disclosure" with an entry for each question: shares of people with intervals; {} if it was not measured.

    Args:
        release: The release.
    """
    stated = release.claims[DISCLOSURE.name]
    if not isinstance(stated, Disclosure):
        return {}
    asked = [
        {"target": one.target, "known": list(one.keys), "confidence": CONFIDENCE}
        | {name: asdict(_range(share)) for name, share in (("rightly", one.rightly), ("wrongly", one.wrongly), ("named", one.named))}
        for one in stated.questions
    ]
    return {"disclosure": asked}


def _range(share: Share) -> Range:
    return Range(share.value, share.low95, share.high95)
