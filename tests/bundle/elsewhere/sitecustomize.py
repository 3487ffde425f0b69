"""Takes from Python what Windows does not have, and optional packages. A Python that has this folder on its path imports it first, and so
do the processes that it starts."""

from __future__ import annotations

import importlib.abc
import mmap
import os
import select
import signal
import socket
import subprocess
import sys
from types import ModuleType
from typing import Any

MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "streamlit", "altair", "ortools", "sklearn", "duckdb"}
NAMES: dict[ModuleType, str] = {
    os: "fork forkpty sched_getaffinity sched_setaffinity sysconf fchmod fchown chown getuid geteuid getgid getloadavg killpg setsid "
    "getpgid wait4 statvfs mkfifo O_NOFOLLOW O_DIRECTORY O_NONBLOCK",
    signal: "SIGALRM SIGCHLD SIGHUP SIGKILL SIGUSR1 SIGUSR2 SIGXCPU SIGPIPE alarm setitimer pthread_sigmask",
    socket: "send_fds recv_fds",
    select: "poll epoll",
    mmap: "MAP_PRIVATE MAP_ANONYMOUS PROT_READ PROT_WRITE",
}


class Lacking(importlib.abc.MetaPathFinder):
    """Finds none of MODULES."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG002 (as Python calls it)
        if name.partition(".")[0] in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Lacking())
for module in MODULES:
    sys.modules.pop(module, None)
subprocess.Popen.kill = lambda self: self.send_signal(9)  # type: ignore[method-assign]  # it names signal.SIGKILL otherwise
for where, names in NAMES.items():
    for name in names.split():
        if hasattr(where, name):
            delattr(where, name)
