"""A process that tries points of a sweep, one after another: ``python -m dpsynth_core.store.sweep_worker WORKER``.

Started by `sweeps.pump`, alone in its session. It may be killed at any moment: a point is in the store once it is finished, whole, or not
at all. It says nothing on its own; errors cross as our own messages, or as the type and place of an exception.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
from functools import partial

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store import failures, fingerprints, ledger, lifecycle, sweep_life, sweeps
from dpsynth_core.store.heartbeat import beating
from dpsynth_core.tradeoffs.sweep import Sweep
from dpsynth_core.tradeoffs.trial import Trials

NICENESS = 10
"""Below the pages, and below runs."""


def main(worker: str) -> None:
    """Take points until none is left, then let others have the room."""
    os.nice(NICENESS)
    with contextlib.suppress(lifecycle.NotMine):
        work(worker)
    sweeps.pump()


def work(worker: str) -> None:
    """Raises NotMine when the sweep was stopped meanwhile."""
    row = sweep_life.claim(worker)
    with beating(partial(sweep_life.beat, worker)):
        sweep = Sweep.from_json(json.loads(row["document"]))
        if row["private"] and _changed(row, sweep):
            sweep_life.refuse(worker, "The file changed after the sweep was submitted; start another one.")
        trials = Trials(sweep)
        while (number := sweep_life.take(worker)) is not None:
            _try(worker, trials, number)
    sweep_life.leave(worker)


def _changed(row: sqlite3.Row, sweep: Sweep) -> bool:
    """Whether the private table is another than the one that was charged."""
    return not ledger.is_charged_for(sweep_life.charge_name(row["id"]), fingerprints.of_data(sweep.base.data))


def _try(worker: str, trials: Trials, number: int) -> None:
    try:
        outcome = trials.run(number)
    except InputError as error:
        sweep_life.give(worker, number, None, str(error))
    except Exception as error:
        sweep_life.give(worker, number, None, f"It stopped on an internal error: {failures.describe(error)}.")
    else:
        sweep_life.give(worker, number, outcome.to_json())


if __name__ == "__main__":
    main(sys.argv[1])
