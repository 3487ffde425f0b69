"""Do bounds follow from noisy tables and rows?"""

from __future__ import annotations

import math

from dpsynth_core.bundle.checks.opened import Opened
from dpsynth_core.claims.outcome import Nothing, Open, expect, named, near
from dpsynth_core.evaluation.bounds import SUPPORTED, UNBOUNDED, bounds


def bounds_follow(opened: Opened) -> str:
    release = opened.release
    if opened.final.known is None or opened.interrupted:
        expect(not release.bounds, "the bounds have nothing to stand on")
        raise Nothing("no bounds are stated")
    recomputed = bounds(release.domain, opened.final.tables, opened.final.known, release.tables_of_columns, rows=opened.rows is not None)
    expect(release.bounds.keys() == recomputed.keys(), "they are about other tables than the published ones")
    checked = 0
    for clique, stated in release.bounds.items():
        computed = recomputed[clique]
        expect((stated.support == SUPPORTED) == (computed.support == SUPPORTED), f"{named(clique)} is not {stated.support}")
        if stated.support == UNBOUNDED:
            expect(math.isinf(stated.paper) and math.isinf(stated.tight), f"{named(clique)} has a bound that nothing gives")
        elif stated.support != SUPPORTED:
            continue  # what it depends on is only known when the mechanism runs again
        else:
            for ours, theirs in ((computed.paper, stated.paper), (computed.tight, stated.tight)):
                expect(near(theirs, ours), f"{named(clique)}: stated {theirs:.6g}, computed {ours:.6g}")
        checked += 1
    if not release.bounds:
        raise Nothing("no table is published that a bound could be about")
    if len(release.bounds) == checked:
        return f"{checked:,} bounds follow from rows and noisy tables"
    raise Open(f"{checked:,} of {len(release.bounds):,} bounds follow from rows and noisy tables, the others from what was selected")
