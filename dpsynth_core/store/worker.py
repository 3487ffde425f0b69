"""The process that executes one run: ``python -m dpsynth_core.store.worker RUN``. Started by `runs.pump`, alone in its session.

What it learns goes into the store at once, so that killing it at any point loses nothing that was paid for. It says nothing on its
own: errors cross as our own messages, or as the type and place of an exception, because an exception's text may quote a record.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.interrupts import Interrupted
from dpsynth_core.foundation.private_files import private_directory, private_file
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Progress
from dpsynth_core.store import failures, fingerprints, ledger, lifecycle, runs
from dpsynth_core.store.heartbeat import beating
from dpsynth_core.store.home import run_folder

NICENESS = 5


def main(run: str) -> None:
    """Claim the run, execute it, say how it ended, and let the next one start."""
    interrupts.handle()
    interrupts.defer()
    os.nice(NICENESS)
    with contextlib.suppress(lifecycle.NotMine):
        _execute(run)
    runs.pump()


def _execute(run: str) -> None:
    row = lifecycle.claim(run)
    folder = run_folder(row["project"], run)
    with beating(partial(lifecycle.beat, run)):
        try:
            _make_release(run, Spec.from_json(json.loads(row["spec"])), folder)
            outcome = "done", ""
        except Interrupted:
            outcome = "cancelled", ""
        except InputError as error:
            outcome = "failed", str(error)
        except lifecycle.NotMine:
            raise
        except Exception as error:
            outcome = "failed", f"It stopped on an internal error: {failures.describe(error)}."
    lifecycle.finish(run, *outcome)


def _make_release(run: str, spec: Spec, folder: Path) -> None:
    recorder = _Recorder(run, folder / "measurements")
    recorder(Progress("phase", 0.0, message="checking the plan and the file"))
    plan = synthesis.plan(spec)
    if not ledger.is_charged_for(run, fingerprints.of_data(spec.data)):
        raise InputError("data", "the file changed after the run was submitted", "submit it again")
    noise = synthesis.noise_for(spec)
    lifecycle.touch(run)  # nothing above has read a record, everything below may
    made = synthesis.synthesize(plan, synthesis.open_source(plan), noise, recorder)
    _keep(replace(made, ledger=ledger.citation(run)), folder)


class _Recorder:
    """Stores each step of the run the moment it exists: the cells of a measurement as a file first, then the line that names it."""

    def __init__(self, run: str, folder: Path) -> None:
        self._run = run
        self._folder = folder
        self._number = 0

    def __call__(self, progress: Progress) -> None:
        interrupts.check()
        if progress.measurement is not None:
            with private_file(self._folder / f"{self._number}.npy") as stream:
                np.save(stream, progress.measurement.values, allow_pickle=False)
        if lifecycle.record(self._run, self._number, progress.to_json()):
            raise Interrupted
        self._number += 1


def _keep(release: releases.Release, folder: Path) -> None:
    """Write the release aside and let it appear whole."""
    aside = private_directory(folder / f"{lifecycle.RELEASE}.partial")
    releases.save(release, aside)
    aside.rename(folder / lifecycle.RELEASE)


if __name__ == "__main__":
    main(sys.argv[1])
