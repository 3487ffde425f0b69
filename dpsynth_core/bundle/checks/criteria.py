"""Were the criteria decided as the answers decide them?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from dpsynth_core.bundle.checks.opened import Opened
from dpsynth_core.bundle.checks.outcome import Nothing, Open, expect, some
from dpsynth_core.bundle.rounding import alike
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import is_reason
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import INTERRUPTED, UNDECIDED_CRITERIA
from dpsynth_core.release.transcript import RecordedAnswer, replaying


def criteria_follow(opened: Opened) -> str:
    """Decided once more, from the published answers of the kernel and what is published."""
    release, plan = opened.release, opened.plan
    expect(not release.despite or release.needs_reason, "it has a reason to be published all the same, and needs none")
    expect(not release.despite or is_reason(release.despite), "what it gives as a reason to be published all the same is none")
    if not plan.criteria:
        raise Nothing("no criteria were fixed")
    unmeasured = sum(one.interval is None for one in release.criteria)
    if unmeasured == len(release.criteria) and release.branded(INTERRUPTED):
        raise Nothing("the release holds nothing that was measured of them")
    expect(not unmeasured or release.branded(UNDECIDED_CRITERIA), "the release does not say what became of all its criteria")
    different = min((_decided_otherwise(opened, answers) for answers in opened.for_criteria), key=len)
    expect(not different, f"not decided by what was measured: number {some(different)}")
    if unmeasured:
        expect(not _has_unused(opened), "what was measured of those that it calls not measured is among its answers")
        raise Open(f"whether the run ended before {unmeasured:,} of them were measured is seen when it runs again")
    outcomes = Counter(one.outcome for one in release.criteria)
    return ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items()) + ": as follows from what was measured"


def _has_unused(opened: Opened) -> bool:
    """Whether more answers follow those about models, or else the certificate, than the criteria that are decided and a part of the next
    one ask for. Where there are neither, only running again tells."""
    plan, operations = opened.plan, [answer.operation for answer in opened.release.transcript]
    last = "measure_right" if plan.targets else "measure_largest_error"  # the first of these, for a criterion may ask for it too
    if last not in operations or not (plan.targets or plan.shares.certificate):
        return False
    return len(operations) - operations.index(last) - 1 > max(map(len, opened.for_criteria))


def _decided_otherwise(opened: Opened, answers: Sequence[RecordedAnswer]) -> list[str]:
    """The numbers of the criteria that these answers, the last ones, do not decide as stated."""
    release, plan = opened.release, opened.plan
    charges = release.charges[len(release.charges) - sum(answer.charges for answer in answers) :]
    kernel = replaying(plan.domain, plan.unit, plan.shares, answers, charges)
    total = opened.total if release.certificate is None else release.certificate.total
    try:
        recomputed = synthesis.decided(plan, kernel, total, opened.evidence, release.usefulness)
    except InputError:  # they were given to other questions
        return [str(number + 1) for number, one in enumerate(release.criteria) if one.interval is not None]
    again, stated = releases.to_json(replace(release, criteria=recomputed))["criteria"], opened.bundle.document["criteria"]
    return [str(number + 1) for number, (a, b) in enumerate(zip(again, stated, strict=True)) if not (alike(a, b) and alike(b, a))]
