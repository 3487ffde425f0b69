"""The order of a run from a feasible plan on, for whoever makes a release: command line, worker and programs that use this as a library.

    look      what cannot be read to its end is refused, and what reads oddly is told, while that costs nothing
    keep      a spool is opened, which will have every answer on disk before anybody acts on it
    begin     the caller's last word before the first record is read: a ledger makes the charge final
    make      the records are opened, and the mechanism runs
    hand over the caller writes the release; only then the spool goes
"""

from __future__ import annotations

from collections.abc import Callable

from dpsynth_core.foundation.zones import Zoned, curator_only
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Progress, Release
from dpsynth_core.release.spool import Spool
from dpsynth_core.release.times import Stopwatch, Times

HandOver = Callable[[Release, Zoned[Times]], None]


def findings(plan: Plan) -> Zoned[tuple[str, ...]]:
    """What in the table reads oddly, or would count as something else, for the curator's eyes. Raises InputError where it cannot be read to
    its end."""
    surveyed = (told for one in synthesis.survey(plan).value for told in one.sentences())
    remarks = (one.sentence for one in synthesis.not_understood(plan).value)
    return curator_only((*surveyed, *remarks, *synthesis.recoded(plan).value))


def make(
    plan: Plan,
    spool_for: Callable[[bool], Spool],
    begin: Callable[[], None],
    on_event: Callable[[Progress], None],
    hand_over: HandOver,
    on_kept: Callable[[Spool], None] = lambda _: None,
    goes_on: bool = False,
) -> None:
    """Make a release and hand it over, with how long it took.

    spool_for: opens the spool, and is told whether the noise is private. on_event may raise to stop. on_kept: told of the spool that stays
    if this raises: one with answers, or of a run that can go on from `begin` on.

    Raises what `spool_for` and `begin` raise: then nothing was read. Afterwards whatever goes wrong.
    """
    noise = synthesis.noise_for(plan.spec)
    spool, begun = spool_for(noise.private), False
    try:
        begin()
        begun = True
        stopwatch = Stopwatch()
        made = synthesis.synthesize(plan, synthesis.open_source(plan), noise, on_event, spool, stopwatch)
        hand_over(made, stopwatch.times())
    except BaseException:
        if spool.answers or (begun and goes_on and spool.goes_on):
            on_kept(spool)
            spool.close()
        else:
            spool.discard()
        raise
    spool.discard()
