"""Whether a release is what its mechanism makes of the published answers: the mechanism runs again, and every part is compared.

That takes as long as the run itself took without its table, so it is no part of `verify`.
"""

from __future__ import annotations

from pathlib import Path

from dpsynth_core.bundle.reproduce import NeedsPublic, Reproduction, feasible, other_versions, repeated
from dpsynth_core.bundle.unpack import DAMAGE, Bundle, plan_of
from dpsynth_core.bundle.verdicts import FAILED, PASSED, REPLAYED, SKIPPED, Check
from dpsynth_core.foundation.errors import CapacityError, InputError, OracleError
from dpsynth_core.mechanisms.mechanism import Timed
from dpsynth_core.release.release import INTERRUPTED

_MOST_NAMED = 5


def replayed(bundle: Bundle, public: Path | None = None) -> Check:
    """The answer to `verdicts.REPLAYED`, for a bundle in which `verify` saw nothing wrong. public: the public table, where one was used.

    A difference is wrong where the same program, with the same libraries on the same kind of processor, is sure to come to the same.
    Raises InputError for a public table that cannot be used.
    """
    try:
        plan = feasible(bundle, public)
    except (NeedsPublic, CapacityError) as reason:
        return _open(str(reason))
    try:
        again = repeated(bundle, plan)
    except OracleError as reason:
        return _open(str(reason))
    except InputError as reason:
        return _doubt(bundle, f"run again, the mechanism does not come to an end: {reason.problem}")
    except (*DAMAGE, RuntimeError):
        return _doubt(bundle, "run again, the mechanism fails on the published answers")
    if again.different:
        names = ", ".join(name[:60] for name in again.different[:_MOST_NAMED])
        return _doubt(bundle, f"run again on the published answers, the mechanism comes to something else: {names}")
    return Check(REPLAYED, PASSED, _same(again))


def _same(again: Reproduction) -> str:
    answers = f"{len(again.made.transcript):,} published answers"
    if not again.made.branded(INTERRUPTED):
        return f"run again on the {answers}, the mechanism comes to this very release"
    if again.complete:
        return f"it holds every noisy table of the {answers}; they are all that the mechanism asks for, so that more can be made of them"
    return f"the {answers} are the first ones that the mechanism asks for, and every noisy table among them is here"


def _doubt(bundle: Bundle, problem: str) -> Check:
    """Wrong, unless another version, processor or time limit may be why."""
    if others := other_versions(bundle.document.get("versions", {})):
        return _open(f"{problem}; others here: {', '.join(others)}")
    if isinstance(plan_of(bundle).mechanism, Timed):
        return _open(f"{problem}; a search may have ended by its time limit")
    return Check(REPLAYED, FAILED, problem)


def _open(reason: str) -> Check:
    return Check(REPLAYED, SKIPPED, reason)
