"""Tell processes apart: a pid counts only together with the moment its process was started, as the kernel reports it.

Pids are reused, and a database on a shared volume may name processes of another machine or container; `place` tells those apart.
Linux only (/proc).
"""

from __future__ import annotations

import contextlib
import os
import platform
import signal
from pathlib import Path


def birth(pid: int) -> str | None:
    """When the process was started, in clock ticks since boot; None if there is none or it is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *rest = stat.rpartition(")")[2].split()  # the name in parentheses may hold spaces and parentheses
    return None if state in "ZX" else rest[18]


def place() -> str:
    """The boot and pid namespace in which this process' pids mean something."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:  # some sandboxes hide it
        boot = "unknown boot"
    return f"{platform.node()} {boot} {os.readlink('/proc/self/ns/pid')}"


def signal_group(pid: int, born: str, number: signal.Signals) -> None:
    """Signal the whole process group that `pid` leads, if it is still the process that was started then."""
    if birth(pid) == born:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
