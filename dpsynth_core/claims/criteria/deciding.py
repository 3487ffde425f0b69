"""The decision of a plan's criteria: the condition fixed before the run, the measured error, and whether it is within the limit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from dpsynth_core.claims.claim import AnswersEnd, Asked, BudgetShare, Claim, Final, Received
from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.claims.criteria.outcomes import MUST, OUTCOMES, TOO_SMALL, UNMEASURED
from dpsynth_core.claims.criteria.registry import by_models, decide, measured, need_models
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.claims.outcome import Nothing, Open, alike, expect, some
from dpsynth_core.foundation.reasons import is_reason
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics.intervals import CONFIDENCE, Interval, Noisy
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

if TYPE_CHECKING:
    from dpsynth_core.claims.criteria.criterion import Criterion
    from dpsynth_core.claims.models.measuring import Guesses

Outcomes = tuple[Decided, ...]


class Criteria(Claim[Outcomes]):
    """The criteria of a spec, in order. Models decide the criteria about models, the kernel the others."""

    name = part = "criteria"
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
        return not all(need_models(document.get("criteria") or ()))

    @override
    def requires(self, document: Mapping[str, Any]) -> tuple[str, ...]:
        return (MODELS.name,) if any(need_models(document.get("criteria") or ())) else ()

    @override
    def asked(self, plan: Asked) -> bool:
        return bool(plan.criteria)

    @override
    def needs(self, plan: Asked) -> list[Clique]:
        return [clique for criterion in plan.criteria for clique in criterion.needs(plan.workload)]

    @override
    def absent(self, plan: Asked) -> Outcomes:
        return tuple(map(Decided, plan.criteria))

    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> Outcomes:
        """Measure the criteria. Criteria that a repeated run did not reach stay unmeasured."""
        asking, decided = measured(plan.criteria), list[Decided]()
        with suppress(AnswersEnd):  # what was decided until then stays
            if asking:
                from dpsynth_core.claims.criteria.criterion import Published  # loaded where the kernel measures criteria

                people = final.people(kernel)
                published = Published(plan.workload, final.released.published, Noisy(people.value, people.sigma))
                decided.extend(decide(kernel, asking, published))
        outcomes = iter((*decided, *map(Decided, asking[len(decided) :])))
        models: dict[tuple[str, str], Guesses] = {}
        if stated := final.stated.get(MODELS.name):
            from dpsynth_core.claims.models.measuring import guesses  # loaded where models were measured

            models = guesses(stated)
        return tuple(
            Decided(one, one.stated(models[key]) if (key := (one.column, one.model)) in models else None)
            if by_models(one)
            else next(outcomes)
            for one in plan.criteria
        )

    @override
    def lacks(self, plan: Asked, stated: Outcomes) -> str:
        missing = sum(one.outcome == UNMEASURED for one in stated)
        if not missing:
            return ""
        which = "none of them was" if missing == len(stated) else f"{missing:,} of {len(stated):,} were not"
        return (
            f"The run was interrupted before all its criteria were measured: {which}, although a share of the budget was for them. Such a "
            "criterion may be met or not."
        )

    def to_json(self, plan: Asked, stated: Outcomes) -> list[dict[str, Any]]:
        """Return the errors in the unit of the limit; None for an unknown error, and for all if none was measured."""
        written = list[dict[str, Any]]()
        for one in stated:
            criterion = one.criterion
            interval = asdict(one.interval) if one.interval else dict.fromkeys((field.name for field in fields(Interval)), math.nan)
            about = {"about": criterion.sentence(plan.domain), "importance": criterion.importance, "limit": criterion.limit}
            known = {name: value if math.isfinite(value) else None for name, value in interval.items()}
            written.append({**about, "outcome": one.outcome, "confidence": CONFIDENCE, **known})
        return written

    def from_json(self, plan: Asked, written: Sequence[Mapping[str, Any]]) -> Outcomes:
        """Return the criteria of the plan with the written bounds, from which the outcomes follow."""
        stated = list[Decided]()
        for criterion, item in zip(plan.criteria, written, strict=True):
            error, most = (math.nan if item["error"] is None else item["error"]), (math.inf if item["at_most"] is None else item["at_most"])
            measured = item["outcome"] != UNMEASURED
            stated.append(Decided(criterion, Interval(float(error), float(item["at_least"]), float(most)) if measured else None))
        return tuple(stated)

    def follows(self, received: Received, stated: Outcomes) -> str:
        """Decide the criteria again, from the kernel's published answers and what is published."""
        reason, needed = received.written("despite"), any(one.needs_reason for one in stated)
        expect(not reason or needed, "it has a reason to be published all the same, and needs none")
        expect(not reason or is_reason(reason), "what it gives as a reason to be published all the same is none")
        if not received.plan.criteria:
            raise Nothing("no criteria were fixed")
        unmeasured = sum(one.interval is None for one in stated)
        if unmeasured == len(stated) and received.interrupted:
            raise Nothing("the release holds nothing that was measured of them")
        expect(not unmeasured or received.branded(self.brand), "the release does not say what became of all its criteria")
        possible = _deciding(received, stated)
        different = min((self._decided_otherwise(received, stated, answers) for answers in possible), key=len)
        expect(not different, f"not decided by what was measured: number {some(different)}")
        if unmeasured:
            expect(not _has_unused(received, possible), "what was measured of those that it calls not measured is among its answers")
            raise Open(f"whether the run ended before {unmeasured:,} of them were measured is seen when it runs again")
        outcomes = Counter(one.outcome for one in stated)
        return ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.items()) + ": as follows from what was measured"

    def _decided_otherwise(self, received: Received, stated: Outcomes, answers: slice) -> list[str]:
        """Return the numbers of the criteria that these answers decide differently."""
        if (again := self.again(received, answers)) is None:
            return [str(number + 1) for number, one in enumerate(stated) if one.interval is not None]
        pairs = zip(self.to_json(received.plan, again), received.written(self.part), strict=True)
        return [str(number + 1) for number, (a, b) in enumerate(pairs) if not (alike(a, b) and alike(b, a))]

    @override
    def heading(self, stated: Outcomes) -> str:
        return f"{self.title}: {counted(stated)}"

    @override
    def sentences(self, plan: Asked, stated: Outcomes, final: Final) -> list[str]:
        return [line(one, plan.domain) for one in stated]


CRITERIA = Criteria()


def _deciding(received: Received, stated: Outcomes) -> list[slice]:
    """Return the possible places of the answers that decided the criteria.

    Where the run ended while one was measured, its number of answers is unknown, so every possible number gives a place.
    """
    plan, final = received.plan, received.final
    asking = measured(plan.criteria)
    measured_people = bool(final.total is None and asking)
    answers = [criterion.answers(plan.workload) for criterion in asking]
    done = sum(one.interval is not None for one in stated if not by_models(one.criterion))
    counts = [measured_people + sum(answers[:done]) + more for more in range(answers[done] if done < len(answers) else 1)]
    end = len(received.answers) - received.behind(CRITERIA.name)
    return [slice(max(0, end - count), end) for count in counts]


def _has_unused(received: Received, possible: Sequence[slice]) -> bool:
    """Return whether there are more answers after those about models or the certificate than the criteria so far and part of the next need.

    Without both, only running again tells.
    """
    plan, operations = received.plan, [answer.operation for answer in received.answers]
    last = "measure_right" if plan.targets else "measure_largest_error"  # the first of these, for a criterion may ask for it too
    if last not in operations or not (plan.targets or plan.shares.of("certificate")):
        return False
    return operations.index(last) + 1 < min(one.start for one in possible)


def asked(criterion: Criterion, domain: Domain) -> str:
    """Return a criterion as a sentence without full stop."""
    name = f"{criterion.name}: " if criterion.name else ""
    about = criterion.sentence(domain)
    return f"{name}{about[:1].upper() + about[1:] if not name else about}, {criterion.requirement()}"


def line(one: Decided, domain: Domain) -> str:
    """Return the outcome of a criterion in a sentence or two."""
    how = "must" if one.criterion.importance == MUST else "should"
    return f"{one.outcome.capitalize()} ({how}): {asked(one.criterion, domain)}. {found(one)}"


def found(one: Decided) -> str:
    """Return the measured result of a criterion in words, or the reason for a missing result."""
    if one.interval is None:
        return "The run ended before it was measured, or what was measured of it is left out."
    if not math.isfinite(one.interval.at_most):
        return f"{TOO_SMALL[:-1]}, or nothing was released of it."
    return one.criterion.finding(one.interval)


def counted(decided: Sequence[Decided]) -> str:
    """Return how many criteria have each outcome, in words; outcomes without a criterion are left out."""
    outcomes = Counter(one.outcome for one in decided)
    return ", ".join(f"{outcomes[kind]:,} {kind}" for kind in OUTCOMES if outcomes[kind])
