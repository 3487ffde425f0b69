"""The criteria of a plan as a claim: conditions fixed before the run, and whether each is met.

`deciding` measures them and says so in words, and is loaded where a plan has criteria.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from typing_extensions import override

from dpsynth_core.claims.claim import Asked, BudgetShare, Claim, Final, Received
from dpsynth_core.claims.criteria.decided import Decided, Outcomes, counted
from dpsynth_core.claims.criteria.outcomes import UNMEASURED
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.claims.outcome import Nothing, Open, alike, expect, some
from dpsynth_core.foundation.reasons import is_reason
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics.intervals import CONFIDENCE, Interval
from dpsynth_core.vocabulary.measurement import Clique


class Criteria(Claim[Outcomes]):
    """The criteria of a spec, in order. Models decide the criteria about models, the kernel the others."""

    name = part = "criteria"
    of_everybody = True
    noun = "criterion"
    share = BudgetShare(default=0.05, least=0.001, most=0.4, otherwise="state no criteria")
    purpose = "deciding its criteria"
    announced = "deciding the criteria"
    question = "Are the criteria decided rightly?"
    title = "What was asked of it beforehand"
    reading = (
        "These conditions were fixed before the run and sealed with the plan. What each is about was measured with a share of the budget. "
        "Met: the error is within the limit, with 95% confidence for each condition by itself. Not met: it is above the limit, with the "
        "same confidence. Undecided: the noise leaves both possible. Not measured: the release holds nothing of it."
    )

    @override
    def wanted(self, document: Mapping[str, Any], mechanism: Mechanism) -> bool:
        """Return whether the spec has a criterion that the kernel decides, so that a share is set aside; False without criteria."""
        return not all(_need_models(document))

    @override
    def requires(self, document: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the name of the claim about models if models decide some criterion; otherwise ()."""
        return (MODELS.name,) if any(_need_models(document)) else ()

    @override
    def asked(self, plan: Asked) -> bool:
        """Return whether the plan has criteria."""
        return bool(plan.criteria)

    @override
    def needs(self, plan: Asked) -> list[Clique]:
        """Return the cliques that the kernel must count for the criteria, in their order; a clique may occur twice."""
        return [clique for criterion in plan.criteria for clique in criterion.needs(plan.workload)]

    @override
    def absent(self, plan: Asked) -> Outcomes:
        """Return every criterion of the plan as not measured."""
        return tuple(map(Decided, plan.criteria))

    @override
    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> Outcomes:
        """Measure each criterion of the plan with an equal part of the kernel's remaining budget, and return them in order.

        Criteria about models follow from the models that were measured before. Criteria that a repeated run did
        not reach are returned as not measured.

        Args:
            plan: The plan.
            kernel: The kernel with the criteria's share.
            final: The released tables and rows, and the claims before this one.
        """
        from dpsynth_core.claims.criteria import deciding  # loaded where a plan has criteria

        return deciding.measure(plan, kernel, final, final.stated.get(MODELS.name, ()))

    @override
    def lacks(self, plan: Asked, stated: Outcomes) -> str:
        """Return sentences that warn how many criteria were not measured; "" if all were."""
        missing = sum(one.outcome == UNMEASURED for one in stated)
        if not missing:
            return ""
        which = "none of them was" if missing == len(stated) else f"{missing:,} of {len(stated):,} were not"
        return (
            f"The run was interrupted before all its criteria were measured: {which}, although a share of the budget was for them. Such a "
            "criterion may be met or not."
        )

    def to_json(self, plan: Asked, stated: Outcomes) -> list[dict[str, Any]]:
        """Return, for each criterion, its words, importance, limit, outcome and error, and the bounds with their confidence.

        Error and bounds are in the unit of the limit, shares as fractions. Those that are not known are None; all
        are if the criterion was not measured.
        """
        written = list[dict[str, Any]]()
        for one in stated:
            criterion = one.criterion
            interval = asdict(one.interval) if one.interval else dict.fromkeys((field.name for field in fields(Interval)), math.nan)
            about = {"about": criterion.sentence(plan.domain), "importance": criterion.importance, "limit": criterion.limit}
            known = {name: value if math.isfinite(value) else None for name, value in interval.items()}
            written.append({**about, "outcome": one.outcome, "confidence": CONFIDENCE, **known})
        return written

    def from_json(self, plan: Asked, written: Sequence[Mapping[str, Any]]) -> Outcomes:
        """Return the criteria of the plan with the written errors and bounds, from which their outcomes follow.

        Raises:
            ValueError: There is not one entry per criterion of the plan.
            KeyError: An entry lacks its outcome, error or a bound.
        """
        stated = list[Decided]()
        for criterion, item in zip(plan.criteria, written, strict=True):
            error, most = (math.nan if item["error"] is None else item["error"]), (math.inf if item["at_most"] is None else item["at_most"])
            measured = item["outcome"] != UNMEASURED
            stated.append(Decided(criterion, Interval(float(error), float(item["at_least"]), float(most)) if measured else None))
        return tuple(stated)

    def follows(self, received: Received, stated: Outcomes) -> str:
        """Decide the criteria again from stored answers; return a clause that counts the outcomes.

        A missing reason for publication is not looked for here.

        Raises:
            Wrong: An outcome, error or bound does not follow from the answers. Or a criterion is
                called not measured, though it was or without a warning that the run ended. Or the
                reason for publication is not needed, or says nothing (`is_reason`).
            Open: What was measured follows, but only running again shows that the run ended before
                the other criteria were measured.
            Nothing: The plan has no criteria, or the run ended within its mechanism and measured no
                criterion.
        """
        reason, needed = received.written("despite"), any(one.needs_reason for one in stated)
        expect(not reason or needed, "it has a reason to be published all the same, and needs none")
        expect(not reason or is_reason(reason), "what it gives as a reason to be published all the same is none")
        if not received.plan.criteria:
            raise Nothing("no criteria were fixed")
        unmeasured = sum(one.interval is None for one in stated)
        if unmeasured == len(stated) and received.interrupted:
            raise Nothing("the release holds nothing that was measured of them")
        expect(not unmeasured or received.branded(self.brand), "the release does not say what became of all its criteria")
        from dpsynth_core.claims.criteria import deciding  # loaded where a plan has criteria

        possible = deciding.places(received, stated, self.name)
        different = min((self._decided_otherwise(received, stated, answers) for answers in possible), key=len)
        expect(not different, f"not decided by what was measured: number {some(different)}")
        if unmeasured:
            unused = deciding.has_unused(received, possible)
            expect(not unused, "what was measured of those that it calls not measured is among its answers")
            raise Open(f"whether the run ended before {unmeasured:,} of them were measured is seen when it runs again")
        outcomes = Counter(one.outcome for one in stated)
        return ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items()) + ": as follows from what was measured"

    def _decided_otherwise(self, received: Received, stated: Outcomes, answers: slice) -> list[str]:
        """Return which criteria release.json states otherwise than these answers give them.

        All that is written of a criterion is compared, its error and bounds too, up to rounding.

        Args:
            received: The release.
            stated: Its criteria, as read from release.json.
            answers: A possible place of the criteria's answers in `received.answers`.

        Returns:
            The numbers of these criteria as texts, from "1"; the numbers of all measured criteria
            if this version cannot measure the criteria again from the answers, since it asks other
            or more questions.
        """
        if (again := self.again(received, answers)) is None:
            return [str(number + 1) for number, one in enumerate(stated) if one.interval is not None]
        pairs = zip(self.to_json(received.plan, again), received.written(self.part), strict=True)
        return [str(number + 1) for number, (a, b) in enumerate(pairs) if not (alike(a, b) and alike(b, a))]

    @override
    def heading(self, stated: Outcomes) -> str:
        """Return the title with the number of criteria of each outcome, such as "...: 2 met, 1 undecided"."""
        return f"{self.title}: {counted(stated)}"

    @override
    def sentences(self, plan: Asked, stated: Outcomes, final: Final) -> list[str]:
        """Return a sentence for each criterion, in order, with its outcome and result, unescaped; [] without criteria."""
        if not stated:
            return []
        from dpsynth_core.claims.criteria import deciding  # loaded where a plan has criteria

        return [deciding.line(one, plan.domain) for one in stated]


CRITERIA = Criteria()


def _need_models(document: Mapping[str, Any]) -> list[bool]:
    """Return, for each criterion of a spec's parts, whether models decide it."""
    if not (listed := document.get("criteria")):
        return []
    from dpsynth_core.claims.criteria.registry import need_models  # loaded where a plan has criteria

    return need_models(listed)
