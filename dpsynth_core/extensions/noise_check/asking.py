"""The noise check in a run: whether a plan can have it, and the question that a run asks after its mechanism."""

from __future__ import annotations

from collections.abc import Sequence

from dpsynth_core.extensions.noise_check import DELTA
from dpsynth_core.extensions.noise_check.operations import limit, noise_as_charged
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy import questions
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.release.transcript import RecordedAnswer
from dpsynth_core.vocabulary.measurement import Measurement

FIELD = "extensions.noise"


def check(plan: Plan) -> None:
    """Check that a plan can have its noise compared, and return nothing.

    Args:
        plan: The plan.

    Raises:
        InputError: Another step needs a delta of its own, or epsilon is so large that `operations.limit` has
            no value.
    """
    if plan.shares.delta > DELTA:
        problem = "another step of this plan, such as learning the values of a column, needs a delta of its own"
        raise InputError(FIELD, problem, "list the values of all columns, or leave the check out")
    try:
        limit(plan.shares.rho, DELTA)
    except ValueError:
        raise InputError(FIELD, "epsilon is too large for the check", "choose a smaller epsilon, or leave the check out") from None


def ask(plan: Plan, kernel: SealedKernel, answers: Sequence[RecordedAnswer]) -> None:
    """Ask the kernel whether the noise of the mechanism's tables is as charged; the recorder of the run keeps the answer.

    It costs 1e-12 of delta. Nothing is returned.

    Args:
        plan: The plan.
        kernel: The kernel of the run.
        answers: The answers that this process drew; none in a run that goes on, whose earlier answers may be of a table that changed.
    """
    noise_as_charged(kernel, compared(answers), plan.shares.rho, DELTA)


def compared(answers: Sequence[RecordedAnswer]) -> list[Measurement]:
    """Return the noisy tables that can be compared: tables of all records, over values of columns, and not over groups of values.

    They are in the order of the answers; [] without any.
    """
    found = [answer for answer in answers if answer.operation == "measure_marginals" and not any(map(_of_some, answer.arguments))]
    return [one for answer in found for one in answer.value if one.clique and not one.groups]


def _of_some(argument: object) -> bool:
    return questions.most_times(argument) > 0
