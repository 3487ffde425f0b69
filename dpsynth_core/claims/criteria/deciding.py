"""The decision of a plan's criteria: the condition fixed before the run, the measured error, and whether it is within the limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from dpsynth_core.claims.claim import AnswersEnd, Asked, Final, Received
from dpsynth_core.claims.criteria.criterion import Criterion, Published
from dpsynth_core.claims.criteria.decided import Decided, Outcomes
from dpsynth_core.claims.criteria.outcomes import MUST, TOO_SMALL
from dpsynth_core.claims.criteria.registry import by_models, decide, measured
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics.intervals import Noisy
from dpsynth_core.vocabulary.domain import Domain

if TYPE_CHECKING:
    from dpsynth_core.claims.models.measuring import Guesses
    from dpsynth_core.claims.models.stated import Usefulness


def measure(plan: Asked, kernel: SealedKernel, final: Final, useful: Sequence[Usefulness]) -> Outcomes:
    """Measure the criteria of a plan, in order, with the kernel's whole remaining budget, in equal parts.

    Criteria on models need no budget: they are decided by `useful`, and stay unmeasured if their model is
    not in it. If the kernel repeats a run that was interrupted, the criteria that this run did not reach stay
    unmeasured.

    Args:
        plan: The plan.
        kernel: The kernel.
        final: The final parts of the release.
        useful: The measured models; () if no models were measured.

    Returns:
        An outcome for each criterion of the plan, in its order.
    """
    asking, decided = measured(plan.criteria), list[Decided]()
    with suppress(AnswersEnd):  # what was decided until then stays
        if asking:
            people = final.people(kernel)
            published = Published(plan.workload, final.released.published, Noisy(people.value, people.sigma))
            decided.extend(decide(kernel, asking, published))
    outcomes = iter((*decided, *map(Decided, asking[len(decided) :])))
    models: dict[tuple[str, str], Guesses] = {}
    if useful:
        from dpsynth_core.claims.models.measuring import guesses  # loaded where models were measured

        models = guesses(useful)
    return tuple(
        Decided(one, one.stated(models[key]) if (key := (one.column, one.model)) in models else None)
        if by_models(one)
        else next(outcomes)
        for one in plan.criteria
    )


def places(received: Received, stated: Outcomes, name: str) -> list[slice]:
    """Return the possible places of the kernel answers that decided the criteria.

    If the run ended while a criterion was measured, the number of its answers is unknown, and every
    possible number gives a place.

    Args:
        received: The release.
        stated: The decided criteria.
        name: Name of the claim.

    Returns:
        Slices of the release's kernel answers.
    """
    plan, final = received.plan, received.final
    asking = measured(plan.criteria)
    measured_people = bool(final.total is None and asking)
    answers = [criterion.answers(plan.workload) for criterion in asking]
    done = sum(one.interval is not None for one in stated if not by_models(one.criterion))
    counts = [measured_people + sum(answers[:done]) + more for more in range(answers[done] if done < len(answers) else 1)]
    end = len(received.answers) - received.behind(name)
    return [slice(max(0, end - count), end) for count in counts]


def has_unused(received: Received, possible: Sequence[slice]) -> bool:
    """Return whether kernel answers for criteria are left over, so that more was measured.

    Answers after those for models or the certificate are compared with what the decided criteria
    and part of the next need. Without models and certificate the result is always False.

    Args:
        received: The release.
        possible: The possible places of the criteria's answers (`places`).
    """
    plan, operations = received.plan, [answer.operation for answer in received.answers]
    last = "measure_right" if plan.targets else "measure_largest_error"  # the first of these, for a criterion may ask for it too
    if last not in operations or not (plan.targets or plan.shares.of("certificate")):
        return False
    return operations.index(last) + 1 < min(one.start for one in possible)


def asked(criterion: Criterion, domain: Domain) -> str:
    """Return a criterion with its limit as a sentence without full stop, after its name if it has one; names are unescaped."""
    name = f"{criterion.name}: " if criterion.name else ""
    about = criterion.sentence(domain)
    return f"{name}{about[:1].upper() + about[1:] if not name else about}, {criterion.requirement()}"


def line(one: Decided, domain: Domain) -> str:
    """Return a criterion, its outcome and the measured result as text; names are unescaped."""
    how = "must" if one.criterion.importance == MUST else "should"
    return f"{one.outcome.capitalize()} ({how}): {asked(one.criterion, domain)}. {found(one)}"


def found(one: Decided) -> str:
    """Return the measured result of a criterion in words with its 95 % bounds, or the reason for a missing result."""
    if one.interval is None:
        return "The run ended before it was measured, or what was measured of it is left out."
    if not math.isfinite(one.interval.at_most):
        return f"{TOO_SMALL[:-1]}, or nothing was released of it."
    return one.criterion.finding(one.interval)
