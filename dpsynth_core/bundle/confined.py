"""Checking a bundle in a process of its own, which may use so much memory and time and no more: a hostile one then harms nobody else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import dpsynth_core
from dpsynth_core.bundle.verify import Check, Report, Summary
from dpsynth_core.foundation.errors import CapacityError, InputError

STDIN = "-"
_PROGRAM = "dpsynth_core.bundle.confined_process"
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Every further thread reserves address space, which is what is limited."""
_WAIT = 10
"""Times the seconds of work that are waited, for a busy machine."""


@dataclass(frozen=True)
class Limits:
    """megabytes: of memory. seconds: of work of one processor."""

    megabytes: int = 1024
    seconds: int = 30


def verified(bundle: Path | bytes, limits: Limits = Limits()) -> Report:
    """`verify.verify` of a ZIP or folder, or of a ZIP's bytes. Raises InputError as it and `unpack` do, CapacityError beyond the limits."""
    place, content = (STDIN, bundle) if isinstance(bundle, bytes) else (str(bundle.absolute()), b"")
    package = str(Path(dpsynth_core.__file__).parents[1])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    try:
        process = subprocess.run(
            [sys.executable, "-P", "-m", _PROGRAM, json.dumps(asdict(limits)), place],
            input=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a traceback quotes the bundle
            env={**os.environ, **_ONE_THREAD, "PYTHONPATH": path},
            timeout=_WAIT * limits.seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _beyond(limits) from None
    if process.returncode:
        raise _beyond(limits)
    return _read(json.loads(process.stdout))


def written(outcome: Report | InputError) -> str:
    """What the process says, as JSON."""
    if isinstance(outcome, InputError):
        return json.dumps({"refused": [outcome.field, outcome.problem, outcome.remedy]})
    return json.dumps(asdict(outcome))


def _read(said: dict[str, Any]) -> Report:
    if "refused" in said:
        raise InputError(*said["refused"])
    summary = said["summary"]
    if summary is not None:
        facts = tuple((name, text) for name, text in summary["facts"])
        summary = Summary(tuple(summary["warnings"]), summary["statement"], facts)
    return Report(tuple(Check(**check) for check in said["checks"]), said["sha256"], summary)


def _beyond(limits: Limits) -> CapacityError:
    problem = f"checking it takes more than {limits.megabytes:,} MB of memory or {limits.seconds:,} seconds of work"
    return CapacityError("bundle", problem, "if you trust whoever made it, allow more with --memory and --seconds on the command line")
