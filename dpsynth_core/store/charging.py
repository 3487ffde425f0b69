"""Charge the ledger for a release that is made in this process, without a project or a worker: what the command line does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dpsynth_core.planning.spec import Spec
from dpsynth_core.release.document import Release
from dpsynth_core.store import fingerprints, ledger
from dpsynth_core.store.database import transaction
from dpsynth_core.store.home import LOCAL_OWNER, new_id


def charged(spec: Spec, rho: float, execute: Callable[[Callable[[], None]], Release]) -> Release:
    """Reserve the spec's budget and call `execute`, which calls its argument right before it reads the first record.

    If it ends before that, the reservation is given back; if this process is killed before that, the reservation stays, on the
    safe side. The release cites the ledger. Raises CapExceeded and reserves nothing if the population's cap does not allow it.
    """
    run, touched = f"cli-{new_id()}", False
    charge = ledger.charge_of(spec, run, rho, fingerprints.of_data(spec.data))
    with transaction() as db:
        ledger.reserve(db, LOCAL_OWNER, charge)

    def touch() -> None:
        nonlocal touched
        with transaction() as db:
            ledger.touch(db, run)
        touched = True

    try:
        made = execute(touch)
    except BaseException:
        if not touched:
            with transaction() as db:
                ledger.give_back(db, run, "ended before any record was read")
        raise
    return replace(made, ledger=ledger.citation(run))
