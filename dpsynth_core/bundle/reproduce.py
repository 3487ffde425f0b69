"""Reproduction from a bundle alone: the mechanism runs again on the published answers and writes the rows again.

The code that made the release (`synthesis.carry_out`) runs over a kernel that repeats its answers (`transcript.replaying`). With the same
versions of Python and the libraries on the same kind of processor the whole release comes out the same to the last bit, unless a time limit
ended a search for records, which another machine would have ended elsewhere. Other versions may round sums differently: the fit then
differs in its last digits, some rows in their values, and an adaptive mechanism can even ask for something without an answer, which is an
error and not a release. `replayed` tells whether the release comes out; as that takes as long as the run without its table, it is not part
of `verify`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from dpsynth_core.bundle.unpack import DAMAGE, Bundle, plan_of
from dpsynth_core.bundle.verdicts import ALLOW_MORE, FAILED, PASSED, REPLAYED, SKIPPED, Check
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
"""Parts of release.json that follow from no other part of a bundle. The spec, the answers with their charges, and the seed of the rows are
the others; everything else follows from these. A curator's reason (`despite`) is copied.
"""
ROWS = "rows"
_MOST_NAMED = 5


@dataclass(frozen=True, eq=False)
class Reproduction:
    """The result of a reproduction.

    Attributes:
        made: The release that the mechanism makes from the published answers.
        different: Parts of release.json that differ from the published ones, and "rows" if files of
            rows differ, sorted; () if all is the same.
        versions: Names of libraries, the program or the processor that differ here, sorted.
        complete: Whether the published answers are all that the mechanism asks for.
    """

    made: Release
    different: tuple[str, ...]
    versions: tuple[str, ...]
    complete: bool


class NeedsPublic(InputError):
    """The error if the release used a public table that was not given.

    Bundles do not contain that table, and no file that a bundle names is opened.
    """

    def __init__(self) -> None:
        super().__init__("--public", "the release used a public table, which no bundle contains", "name the file with --public")


def reproduce(bundle: Bundle, on_event: Callable[[Progress], None] = lambda _: None, public: Path | None = None) -> Reproduction:
    """Run the mechanism again on the published answers of a bundle.

    Args:
        bundle: The bundle.
        on_event: Called with each step of the run.
        public: The public table, if the plan used one.

    Returns:
        The release that the mechanism makes, and what differs in it; a difference raises no error.

    Raises:
        NeedsPublic: The plan used a public table, and it is not given; this is an InputError too.
        InputError: The mechanism cannot be run again on these answers.
        CapacityError: The plan does not fit this machine.
        OracleError: A search for records failed; this is an InputError too.
    """
    return repeated(bundle, feasible(bundle, public), on_event)


def repeated(bundle: Bundle, plan: Plan, on_event: Callable[[Progress], None] = lambda _: None) -> Reproduction:
    """Run the mechanism again on the published answers of a bundle.

    Args:
        bundle: The bundle.
        plan: A plan from `feasible`.
        on_event: Called with each line of the run's history.

    Returns:
        The release that the mechanism makes, and what differs in it; a difference raises no error.

    Raises:
        InputError: The release is damaged, its charges do not pay for its answers, or the mechanism asks
            for something without an answer.
        OracleError: A search for records failed; this is an InputError too.
    """
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
    """Return the release that release.json states, without rows.

    Raises:
        InputError: The document is damaged.
    """
    try:
        return releases.from_json(bundle.document)
    except InputError:
        raise
    except DAMAGE:
        raise InputError("bundle", f"its {releases.DOCUMENT} is damaged", "download it again") from None


def refitted(bundle: Bundle, on_event: Callable[[Progress], None] = lambda _: None, public: Path | None = None) -> Refitted:
    """Return the model of a bundle's release, from which `sampling.sample` draws rows.

    Its `other` is True if the rows made here differ from the bundle's rows.csv, or if the bundle lacks this file.

    Args:
        bundle: The bundle.
        on_event: Called with each step of the run that fits the model.
        public: The public table, if the plan used one.

    Raises:
        NeedsPublic: The plan used a public table, and it is not given; this is an InputError too.
        InputError: The mechanism cannot be run again, or the release has no rows.
        CapacityError: The plan does not fit this machine.
        OracleError: A search for records failed; this is an InputError too.
    """
    fitted, theirs = refit(published(bundle), feasible(bundle, public), on_event), bundle.files.get(releases.ROWS_CSV)
    ours = digest_written(partial(releases.write_csv, fitted.released))
    return replace(fitted, other=theirs is None or ours != theirs.digest)


def other_versions(stated: Mapping[str, str]) -> list[str]:
    """Return the names whose version here is another one than the stated one, sorted; [] if all are the same.

    A name that every release states counts as another version if it is missing; a name unknown here is not looked at.

    Args:
        stated: A release's versions of this program, Python, libraries and the processor, by name.
    """
    packages = [name.partition(":")[0] for name in offered(MECHANISMS)]
    ours = synthesis.versions([name for name in (*packages, *(name for claim in CLAIMS for name in claim.libraries)) if name in stated])
    return sorted(name for name in ours if ours[name] != stated.get(name))


def feasible(bundle: Bundle, public: Path | None) -> Plan:
    """Return the plan of a bundle, ready to run on this machine, with its public table if it uses one.

    The public table keeps the name that the spec states, under any file name here. The mechanism may be code of any
    installed package, so an untrusted bundle must be opened in a process with limits.

    Args:
        bundle: The bundle.
        public: Path of the public table; not used if the mechanism uses none.

    Raises:
        NeedsPublic: The mechanism uses a public table, and `public` is None; this is an InputError too.
        InputError: The spec cannot be read, or the table cannot be used.
        CapacityError: The plan does not fit this machine.
    """
    plan = plan_of(bundle)
    section = plan.spec.public
    if section is None or not isinstance(plan.mechanism, UsesPublic):
        return _feasible(bundle, plan)
    if public is None:
        raise NeedsPublic
    if not public.is_file():
        raise InputError("--public", f"{str(public)!r} is not a file", "name the public table that the release used")
    here = plan.spec.model_copy(update={"public": section.model_copy(update={"path": str(public)})})
    ready = _feasible(bundle, replace(plan, spec=here))
    named = ready if ready.public is None else ready.with_public(replace(ready.public, name=Path(section.path).name))
    return replace(named, spec=plan.spec)


def _feasible(bundle: Bundle, plan: Plan) -> Plan:
    """Check that this machine can carry out the plan for the stated number of rows, and return the completed plan.

    The number of rows, from release.json, matters for several tables of rows; it was unknown when
    the plan was made. A bundle that states too few rows exceeds the limits of the process that
    repeats it.

    Raises:
        CapacityError: The run needs more time or memory than the limits allow.
    """
    output, stated = plan.spec.output, bundle.document.get("rows")
    count = stated.get("count") if isinstance(stated, Mapping) else None
    counted = plan.spec
    if output.tables > 1 and output.rows is None and isinstance(count, int) and count >= 1:
        counted = plan.spec.model_copy(update={"output": output.model_copy(update={"rows": count})})
    try:
        return replace(synthesis.feasible(replace(plan, spec=counted)), spec=plan.spec)
    except CapacityError as error:
        if error.field != "memory":
            raise
        raise CapacityError(error.field, error.problem, ALLOW_MORE) from None  # the plan is made, and cannot ask for less


def _different(bundle: Bundle, made: Release) -> list[str]:
    ours = json.loads(releases.document(made))
    parts = [name for name in ours.keys() | bundle.document.keys() if ours.get(name) != bundle.document.get(name)]
    ours_in = {name: digest_written(write) for name, write in releases.row_writers(made).items() if name != releases.ROWS_PARQUET}
    theirs_in = {name: content.digest for name, content in bundle.files.items() if name == releases.ROWS_CSV or tables.is_name(name)}
    if ours_in != theirs_in:
        parts.append(ROWS)
    return sorted(set(parts))


def replayed(bundle: Bundle, public: Path | None = None) -> Check:
    """Return the answer to `verdicts.REPLAYED`: does the release follow from its published answers?

    The bundle must have passed `verify`. A difference fails the check, and so does a mechanism that does not come to its
    end. The question stays open instead if program, libraries or processor differ from what the release states, if
    a search by the mechanism may have ended by its time limit or failed, if the public table is missing, or if the
    plan does not fit this machine.

    Args:
        bundle: The bundle.
        public: The public table, if the plan used one.

    Raises:
        InputError: The spec cannot be read, or the public table cannot be used.
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
    """Return a failed check with this problem.

    It counts as not checked instead if another version, another processor or a time limit may be
    the cause.
    """
    if others := other_versions(bundle.document.get("versions", {})):
        return Check(REPLAYED, SKIPPED, f"{problem}; others here: {', '.join(others)}")
    if isinstance(plan_of(bundle).mechanism, Timed):
        return Check(REPLAYED, SKIPPED, f"{problem}; a search may have ended by its time limit")
    return Check(REPLAYED, FAILED, problem)
