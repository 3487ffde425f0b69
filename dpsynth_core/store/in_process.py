"""Releases made in this process, without a project or a worker: by the command line, and by programs that use the package as a library.

The two callers differ in how they report progress and in what they do with the release. Charging,
keeping answers and explaining errors are the same for both, here and in `release.making`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.causes import cause_of
from dpsynth_core.foundation.errors import ChargedError, InputError, shown
from dpsynth_core.foundation.zones import Zoned
from dpsynth_core.planning.plan import Plan, check_used
from dpsynth_core.release import making
from dpsynth_core.release.making import HandOver
from dpsynth_core.release.release import Progress, Release
from dpsynth_core.release.spool import Kept, Spool
from dpsynth_core.release.times import Times
from dpsynth_core.store import faults, spools
from dpsynth_core.store.faults import FIELD as HOME
from dpsynth_core.store.faults import StoreFault

if TYPE_CHECKING:
    from dpsynth_core.bundle.signature import Signer
    from dpsynth_core.planning.spec import Spec

BUNDLE = "release.zip"
"""File name of a bundle."""


@dataclass(frozen=True)
class Told:
    """The callbacks of a run.

    Attributes:
        begins: Called right before the first record is read; may raise.
        note: Called with lines that anybody may read.
        privately: Called with lines only for the curator, because they depend on records.
        step: Called with each step; may raise to end the run.
        kept: Called for an interrupted run with its number of stored answers, the id or path by
            which it can be recovered, and whether making the same plan for the same table continues
            it.
    """

    begins: Callable[[], None]
    note: Callable[[str], None]
    privately: Callable[[str], None]
    step: Callable[[Progress], None]
    kept: Callable[[int, str, bool], None]


def make(plan: Plan, place: Path | None, told: Told, hand_over: HandOver, field: str = HOME, anew: bool = False) -> None:
    """Make the release of a feasible plan and pass it to `hand_over`.

    If the plan's population is charged in the ledger here, an interrupted run of the same plan and table goes on instead,
    without a new charge, unless `anew` is true.

    Args:
        plan: The plan.
        place: Path for the kernel's answers until the release is complete, for a plan that is
            charged to no ledger; also named in errors. None if the plan's population is charged;
            its answers are then stored in DPSYNTH_HOME.
        told: Callbacks that report progress.
        hand_over: Called with the release and how long it took.
        field: Name of `place` in errors.
        anew: Whether to charge the plan again even if an interrupted run could continue.

    Raises:
        InputError: No record was read; nothing is spent. But after a StoreFault because an office's server does not
            answer, its charge may stand.
        ChargedError: Records were read; the charge stands. Its subclass InDoubt: the charge may stand.
    """
    if place is not None:
        check_used(plan.spec)
        _make(plan, place, "", lambda: None, told, hand_over, field)
        return
    from dpsynth_core.store import charging  # loaded where a ledger is charged alone

    spools.check_room(plan)
    if not anew and (begun := interrupted(plan)) is not None:
        charging.check_rules(plan.spec)
        _make(plan, spools.spool_file(begun), begun, lambda: None, told, hand_over, goes_on=True)
        spools.settle(begun)
        return
    check_used(plan.spec)

    def execute(run: str, touch: Callable[[], None]) -> None:
        _make(plan, spools.spool_file(run), run, touch, told, hand_over)

    charging.charged(plan, execute, lambda line: told.note(f"warning: {line}"), told.privately)


def interrupted(plan: Plan) -> str | None:
    """Return the id of the latest run that can continue instead of a new one; None without such a run.

    It was charged for this plan and table, began to read records, and has no release yet. Runs of
    the app, and runs charged to an office's ledger, do not count. The run's job exists until its
    release is complete.

    Raises:
        StoreFault: The ledger cannot be used.
        InputError: A table cannot be read.
    """
    from dpsynth_core.store import charging, jobs  # loaded where a ledger is charged alone

    if charging.office() is not None:
        return None
    there = (run for run in charging.charged_before(plan) if spools.spool_file(run).exists())
    return next((run for run in there if jobs.kind_of(run) == jobs.COMMAND), None)


def entry_hash(run: str, spec: Spec) -> str | None:
    """Return the hash of the ledger's entry that charged a run, which its release cites.

    It is None if the ledger does not know the run for this spec, or cannot be asked.
    """
    from dpsynth_core.store import charging  # loaded where a ledger is charged alone

    try:
        return str(charging.citation(run, spec.digest())["hash"])
    except InputError:
        return None


def _make(
    plan: Plan,
    place: Path,
    run: str,
    touch: Callable[[], None],
    told: Told,
    hand_over: HandOver,
    field: str = HOME,
    goes_on: bool = False,
) -> None:
    """Make the release of a run.

    Args:
        plan: The plan.
        place: Path of the kernel's answers.
        run: Id of the run in the ledger, or "" if no ledger is charged.
        touch: Called right before the first record is read, to make the charge final.
        told: Callbacks that report progress.
        hand_over: Called with the release and how long it took.
        field: Name of `place` in errors.
        goes_on: Whether the run was interrupted and `place` has its answers.
    """
    begun = False

    def spool_for(private: bool) -> Spool:
        if goes_on:
            spool = Spool.again(place, run, plan)
            told.note("note: goes on with the run of this plan and table that was interrupted; nothing is charged again")
            return spool
        try:
            return Spool(place, run, plan, private)
        except FileExistsError:
            raise InputError(field, f"{shown(place)} holds a run that was interrupted", "recover it, or delete that file") from None
        except OSError as error:
            problem = f"what is measured cannot be kept in {shown(place.parent)} ({error.strerror})"
            raise InputError(field, problem, "make room there, or name another folder") from None

    def begin() -> None:
        nonlocal begun
        told.begins()
        try:
            interrupts.check()
        except KeyboardInterrupt:
            told.note("note: nothing was read, and nothing is charged")
            raise
        touch()
        begun = True

    def finish(made: Release, taken: Zoned[Times]) -> None:
        interrupts.check()
        hand_over(made.charged(_cited(run, plan, told)), taken)

    def kept(spool: Spool) -> None:
        told.kept(spool.answers, run or str(place), bool(run) and spool.goes_on and _is_charged_here())

    try:
        making.make(plan, spool_for, begin, told.step, finish, kept, bool(run))
    except Exception as error:
        if begun:
            raise _after_the_charge(error) from error
        raise


def _is_charged_here() -> bool:
    """Return whether runs are charged to the ledger in DPSYNTH_HOME, and not to an office's."""
    from dpsynth_core.store import charging  # loaded where a ledger is charged alone

    return charging.office() is None


def _after_the_charge(error: Exception) -> ChargedError:
    """Return the error as a ChargedError; the text of a foreign exception is left out, because it could quote a record."""
    mistake = InputError("run", f"it failed with {faults.describe(error)}", "that is a mistake of the program: please report it")
    told = error if isinstance(error, InputError) else cause_of(error) or mistake
    return ChargedError(told.field, told.problem, told.remedy)


def finish(kept: Kept, place: Path, told: Told, answers: bool, hand_over: Callable[[Release, bool], None]) -> None:
    """Finish the release of an interrupted run from its stored answers, then delete these.

    Reads no record and charges nothing. If `hand_over` raises, the answers stay. The answers of a
    run of the app always stay, because its page recovers them. For a charged run, the answers that this installation
    stores are deleted, and a copy at another `place` stays.

    Args:
        kept: The answers of the kernel that the run stored.
        place: Path of the file from which `kept` was read.
        told: Callbacks that report progress.
        answers: Whether to release noisy tables only, even if rows could be made.
        hand_over: Called with the release, and with True if `place` is where this installation
            stores the run's answers. Only then may its key sign the release, because answers from
            another machine could be forged.

    Raises:
        InputError: Nothing was measured, this version asks other questions than the run did, or
            (PlanDiffers) the run was charged for another plan.
    """
    from dpsynth_core.release import recovery  # loaded for interrupted runs alone

    entry = _cited(kept.run, kept, told)
    made = recovery.recover(kept, told.step, answers)
    interrupts.check()
    hand_over(made.charged(entry), os.path.realpath(place) == os.path.realpath(spools.spool_file(kept.run)))
    if kept.run:
        spools.settle(kept.run)
    else:
        place.unlink()


def _cited(run: str, of: Plan | Kept, told: Told) -> dict[str, Any]:
    """Return what the release states of the ledger.

    It is {} if no ledger was charged, or if the ledger does not know the run or cannot be asked,
    which becomes a warning: a fault of the ledger must not cost a release that is paid for.

    Args:
        run: Id of the run in the ledger; "" if none was charged.
        of: The plan or the answers, whose spec the ledger must name.
        told: Its `note` gets the entry, or the warning.

    Raises:
        PlanDiffers: The run was charged for another plan.
    """
    if not run:
        return {}
    from dpsynth_core.store import charging  # loaded where a ledger is charged alone

    try:
        cited = charging.citation(run, of.spec.digest())
    except StoreFault:
        told.note("warning: the ledger does not know this run, and the release does not cite it")
        return {}
    told.note(f"ledger: entry {cited['entry']}, hash {cited['hash']}")
    return cited


def signer_of(made: Release, note: Callable[[str], None]) -> Signer | None:
    """Return the signer for the bundle of a release that this installation made; None if no ledger was charged.

    It is None too if the ledger has no such charge any more. The first call of an installation makes its key. A fault
    of the key must not cost a release that is paid for: it becomes a note, and the result is None.

    Args:
        made: The release.
        note: Called with lines that are public.
    """
    if not made.ledger:
        return None
    from dpsynth_core.store import signing  # loaded where a ledger is charged alone

    try:
        signer = signing.signer(made.ledger, made.spec.digest())
    except (InputError, OSError) as error:
        note(f"warning: {BUNDLE} is not signed: {error if isinstance(error, InputError) else error.strerror}")
        return None
    if signer is not None:
        note(f"signed: by {signer.key}")
    return signer
