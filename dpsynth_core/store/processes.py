"""Start worker processes, and identify processes by their pid together with their start time, as the kernel reports it.

Pids are reused, and a database on a shared volume may name processes of another machine or container; `place` tells those apart.
Linux only (/proc).
"""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import subprocess
import sys
import threading
from pathlib import Path

import dpsynth_core
from dpsynth_core.foundation.threads import ONE_THREAD
from dpsynth_core.store.home import home


def launch(module: str, argument: str) -> tuple[int, str | None]:
    """Run ``python -m module argument`` in the background, on this home, and return at once.

    The process has a session of its own, so that it survives this server and can be signalled with its children. Its
    output is dropped.

    Args:
        module: Name of the module.
        argument: The only argument.

    Returns:
        Its pid, and its start time (`birth`); None if it has ended already.
    """
    package = str(Path(dpsynth_core.__file__).parents[1])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    process = subprocess.Popen(
        [sys.executable, "-m", module, argument],
        cwd=home(),
        env={**ONE_THREAD, **os.environ, "PYTHONPATH": path, "DPSYNTH_HOME": str(home().resolve())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # tracebacks quote data; what may be said goes through the store
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    born = birth(process.pid)
    threading.Thread(target=process.wait, daemon=True).start()  # leaves no zombie
    return process.pid, born


def birth(pid: int) -> str | None:
    """Return the start time of a process in clock ticks since boot, as text; None if it does not exist or is a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, *rest = stat.rpartition(")")[2].split()  # the name in parentheses may hold spaces and parentheses
    return None if state in "ZX" else rest[18]


def place() -> str:
    """Return a text that names this machine, its boot and its pid namespace, in which this process's pids are valid."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:  # some sandboxes hide it
        boot = "unknown boot"
    return f"{platform.node()} {boot} {os.readlink('/proc/self/ns/pid')}"


def signal_group(pid: int, born: str, number: signal.Signals) -> None:
    """Send a signal to the process group that `pid` leads, if `pid` is still the process with the start time `born`.

    Otherwise nothing happens.

    Args:
        pid: Id of the process.
        born: Its start time, as `birth` returned it.
        number: The signal.
    """
    if birth(pid) == born:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, number)
