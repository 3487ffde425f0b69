"""The order of a run from a feasible plan on, for the command line, workers and programs that use the package as a library.

look      refuse a table that cannot be read to its end, and report odd values, while that costs nothing
keep      open a spool, which has every answer on disk before it is used
begin     the caller's last step before the first record is read: a ledger makes the charge final
make      open the records and run the mechanism
hand over the caller writes the release; only then the spool is removed
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
    """Return sentences for the curator on problems that a run would have with the private table; () if none is seen.

    They name values that cannot be read as the spec states, columns of which many values in the first 1,000
    records are not understood, and missing or unlisted values that would be counted as a listed value
    because the column has no cell for them. Some tables are not fully examined: simulated tables and tables on
    a cluster lack the second check, simulated and linked tables the third. The result is curator-only: it is
    computed from the private table without noise.

    Args:
        plan: The plan.

    Raises:
        InputError: The table cannot be read to its end.
    """
    surveyed = (told for one in synthesis.survey(plan).value for told in one.sentences())
    remarks = (one.sentence for one in synthesis.not_understood(plan).value)
    return curator_only(tuple(dict.fromkeys((*surveyed, *remarks, *synthesis.recoded(plan).value))))  # one table may be named twice


def make(
    plan: Plan,
    spool_for: Callable[[bool], Spool],
    begin: Callable[[], None],
    on_event: Callable[[Progress], None],
    hand_over: HandOver,
    on_kept: Callable[[Spool], None] = lambda _: None,
    goes_on: bool = False,
) -> None:
    """Make a release, hand it over with its duration, then remove its spool.

    Errors of `spool_for` and `begin` are raised before a record is read; other errors may be raised
    later. After an error the spool is removed too, unless it stays for `on_kept`.

    Args:
        plan: The feasible plan.
        spool_for: Opens the spool; its argument is whether the noise is private (not repeatable).
        begin: Called right before the first record is read.
        on_event: Called with each line of the history; it may raise to stop the run.
        hand_over: Takes the release and its durations.
        on_kept: Called, if this raises, with a spool that stays on disk: one with answers, or the
            spool of a run that can go on once `begin` has been called.
        goes_on: Whether an interrupted run may be continued later.
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
