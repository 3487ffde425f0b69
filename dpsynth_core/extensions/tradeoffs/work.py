"""The job of a worker process that runs a sweep: it checks that the table is still the charged one, then runs the trials."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from dpsynth_core.extensions.tradeoffs.sweep import PRIVATE, Sweep
from dpsynth_core.extensions.tradeoffs.trial import Trials
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.store import fingerprints, jobs, ledger
from dpsynth_core.store.connection import Row


def begin(row: Row, limit: Callable[[Plan], None]) -> Callable[[int], Mapping[str, Any]]:
    """Return the function that runs a trial of a sweep, from the trial's number to its outcome as JSON.

    On the private table, the function first notes that reading has begun, so that the charge is final. The
    function raises InputError if the trial cannot be made.

    Args:
        row: The row of the job.
        limit: Limits this process's memory and processor time for a plan.

    Raises:
        InputError: The table is not the charged one any more, or the sweep cannot be carried out.
    """
    job, sweep = row["id"], Sweep.from_json(json.loads(row["document"]))
    private = sweep.table == PRIVATE
    if private:
        ledger.check_plan(job, sweep.digest())
    if private and not ledger.is_charged_for(job, fingerprints.of_spec(sweep.base)):
        raise InputError("data", "the file changed after the sweep was submitted", "start another one")
    trials = Trials(sweep, limit)

    def tried(number: int) -> Mapping[str, Any]:
        if private:
            jobs.touch(job)
        return trials.run(number).to_json()

    return tried
