"""Everything after the measurements, once more, from a bundle alone: the mechanism runs on the published answers and writes the rows again.

The code that runs is the code that made the release (`synthesis.carry_out`), over a kernel that repeats
its answers (`transcript.replaying`).
All of the release comes out the same to the last bit with the same versions of Python and the libraries on the same kind of
processor, unless a time limit ended a search for records, which another machine, or a busier one, would have ended elsewhere. With other
versions sums may be rounded differently: the fit then differs in its last digits, some rows in their values, and an adaptive
mechanism can even come to ask for something else than was answered, which is an error and not a release. `replayed` says whether a release
is what comes out; as that takes as long as the run itself took without its table, it is no part of `verify`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from dpsynth_core.bundle.unpack import DAMAGE, Bundle, plan_of
from dpsynth_core.bundle.verdicts import FAILED, PASSED, REPLAYED, SKIPPED, Check
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.foundation.content import digest_written
from dpsynth_core.foundation.errors import CapacityError, InputError, OracleError
from dpsynth_core.foundation.foreign import MECHANISMS, offered
from dpsynth_core.mechanisms.mechanism import Timed, UsesPublic
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis, tables
from dpsynth_core.release.recovery import answers_only, carried_out
from dpsynth_core.release.release import INTERRUPTED, Progress, Release
from dpsynth_core.release.sampling import Refitted, refit
from dpsynth_core.release.spool import Kept
from dpsynth_core.release.transcript import check_paid

FREE = frozenset({"created", "ledger", "versions"})
"""The parts of release.json that follow from nothing else in a bundle; and so do the spec, the answers with their charges, and the seed of
the rows, which are what everything else follows from. A curator's reason (`despite`) is taken over too."""
ROWS = "rows"
_MOST_NAMED = 5


@dataclass(frozen=True, eq=False)
class Reproduction:
    """made: the release as it came out. different: the parts of release.json that did not come out as published, and "rows" where only
    the rows did not. versions: what is another version here, or another processor. complete: whether the answers are all that the
    mechanism asks for."""

    made: Release
    different: tuple[str, ...]
    versions: tuple[str, ...]
    complete: bool


class NeedsPublic(InputError):
    """The release used a public table that was not given. No bundle contains it, and no file that a bundle names is opened."""

    def __init__(self) -> None:
        super().__init__("--public", "the release used a public table, which no bundle contains", "name the file with --public")


def reproduce(bundle: Bundle, on_event: Callable[[Progress], None] = lambda _: None, public: Path | None = None) -> Reproduction:
    """Run again. public: the public table, where the plan used one. Raises InputError where it cannot be done."""
    return repeated(bundle, feasible(bundle, public), on_event)


def repeated(bundle: Bundle, plan: Plan, on_event: Callable[[Progress], None] = lambda _: None) -> Reproduction:
    """The same with the plan of `feasible`."""
    stated = published(bundle)
    check_paid(stated.domain, plan.unit, stated.transcript, stated.charges)
    kept = Kept("", plan.spec, stated.private, stated.transcript, stated.charges)
    made = carried_out(plan, kept, on_event)
    complete = not made.branded(INTERRUPTED)
    if complete and stated.branded(INTERRUPTED):  # everything was answered, and no rows were made of it
        made = answers_only(plan, kept)
    made = replace(made, despite=stated.despite, **{name: getattr(stated, name) for name in FREE})
    return Reproduction(made, tuple(_different(bundle, made)), tuple(other_versions(stated.versions)), complete)


def published(bundle: Bundle) -> Release:
    """What its release.json says, without rows. Raises InputError."""
    try:
        return releases.from_json(bundle.document)
    except InputError:
        raise
    except DAMAGE:
        raise InputError("bundle", f"its {releases.DOCUMENT} is damaged", "download it again") from None


def refitted(bundle: Bundle, on_event: Callable[[Progress], None] = lambda _: None, public: Path | None = None) -> Refitted:
    """The model of a bundle's release, to draw other rows from (`sampling.sample`). Raises as `reproduce`, and InputError where it has no
    rows."""
    fitted, theirs = refit(published(bundle), feasible(bundle, public), on_event), bundle.files.get(releases.ROWS_CSV)
    ours = digest_written(partial(releases.write_csv, fitted.released))
    return replace(fitted, other=theirs is None or ours != theirs.digest)


def other_versions(stated: Mapping[str, str]) -> list[str]:
    """What a release was made with and is another one here: versions of this program, of Python and of libraries, or the processor."""
    packages = [name.partition(":")[0] for name in offered(MECHANISMS)]
    ours = synthesis.versions([name for name in (*packages, *(name for claim in CLAIMS for name in claim.libraries)) if name in stated])
    return sorted(name for name in ours if ours[name] != stated.get(name))


def feasible(bundle: Bundle, public: Path | None) -> Plan:
    """The plan with its public table, by the name that the spec has for it. Raises NeedsPublic, InputError for a table that cannot be used,
    and CapacityError."""
    plan = plan_of(bundle)
    section = plan.spec.public
    if section is None or not isinstance(plan.mechanism, UsesPublic):
        return _feasible(bundle, plan)
    if public is None:
        raise NeedsPublic
    if not public.is_file():
        raise InputError("--public", f"{str(public)!r} is no file", "name the public table that the release used")
    here = plan.spec.model_copy(update={"public": section.model_copy(update={"path": str(public)})})
    ready = _feasible(bundle, replace(plan, spec=here))
    named = ready if ready.public is None else ready.with_public(replace(ready.public, name=Path(section.path).name))
    return replace(named, spec=plan.spec)


def _feasible(bundle: Bundle, plan: Plan) -> Plan:
    """`synthesis.feasible`, for several tables with as many rows as the release states: what an unstated number comes to is known by now.
    A bundle that states too few goes beyond the limits of the process that repeats it."""
    output, stated = plan.spec.output, bundle.document.get("rows")
    count = stated.get("count") if isinstance(stated, Mapping) else None
    if output.tables == 1 or output.rows is not None or not isinstance(count, int) or count < 1:
        return synthesis.feasible(plan)
    counted = plan.spec.model_copy(update={"output": output.model_copy(update={"rows": count})})
    return replace(synthesis.feasible(replace(plan, spec=counted)), spec=plan.spec)


def _different(bundle: Bundle, made: Release) -> list[str]:
    ours = json.loads(releases.document(made))
    parts = [name for name in ours.keys() | bundle.document.keys() if ours.get(name) != bundle.document.get(name)]
    ours_in = {name: digest_written(write) for name, write in releases.row_writers(made).items() if name != releases.ROWS_PARQUET}
    theirs_in = {name: content.digest for name, content in bundle.files.items() if name == releases.ROWS_CSV or tables.is_name(name)}
    if ours_in != theirs_in:
        parts.append(ROWS)
    return sorted(set(parts))


def replayed(bundle: Bundle, public: Path | None = None) -> Check:
    """The answer to `verdicts.REPLAYED`, for a bundle in which `verify` saw nothing wrong. public: the public table, where one was used.

    A difference is wrong where the same program, with the same libraries on the same kind of processor, is sure to come to the same.
    Raises InputError for a public table that cannot be used.
    """
    try:
        plan = feasible(bundle, public)
    except (NeedsPublic, CapacityError) as reason:
        return Check(REPLAYED, SKIPPED, str(reason))
    try:
        again = repeated(bundle, plan)
    except OracleError as reason:
        return Check(REPLAYED, SKIPPED, str(reason))
    except InputError as reason:
        return _doubt(bundle, f"run again, the mechanism does not come to an end: {reason.problem}")
    except (*DAMAGE, RuntimeError):
        return _doubt(bundle, "run again, the mechanism fails on the published answers")
    if again.different:
        names = ", ".join(name[:60] for name in again.different[:_MOST_NAMED])
        return _doubt(bundle, f"run again on the published answers, the mechanism comes to something else: {names}")
    answers = f"{len(again.made.transcript):,} published answers"
    if not again.made.branded(INTERRUPTED):
        return Check(REPLAYED, PASSED, f"run again on the {answers}, the mechanism comes to this very release")
    same = f"the {answers} are the first ones that the mechanism asks for, and every noisy table among them is here"
    if again.complete:
        same = f"it holds every noisy table of the {answers}; they are all that the mechanism asks for, so that more can be made of them"
    return Check(REPLAYED, PASSED, same)


def _doubt(bundle: Bundle, problem: str) -> Check:
    """Wrong, unless another version, processor or time limit may be why."""
    if others := other_versions(bundle.document.get("versions", {})):
        return Check(REPLAYED, SKIPPED, f"{problem}; others here: {', '.join(others)}")
    if isinstance(plan_of(bundle).mechanism, Timed):
        return Check(REPLAYED, SKIPPED, f"{problem}; a search may have ended by its time limit")
    return Check(REPLAYED, FAILED, problem)
