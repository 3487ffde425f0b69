"""The command line in processes of its own that start at once: they are forked from one that has imported everything already.

Hundreds of runs are hurt by `benchmarks.faults`; starting Python and its packages anew each time would take longer than the runs.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import resource
import signal
import sys
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
_FORKS = multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class Ended:
    """A command that has ended. code: of the exit, negative for a signal."""

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Command:
    """A command at work. Its output goes to files, which need not be read meanwhile."""

    process: ForkServerProcess
    stdout: Path
    stderr: Path

    def running(self) -> bool:
        return self.process.is_alive()

    def send(self, number: signal.Signals) -> None:
        """Send a signal, unless the command has ended."""
        if self.process.is_alive() and self.process.pid is not None:
            os.kill(self.process.pid, number)

    def wait(self) -> Ended:
        self.process.join()
        code = self.process.exitcode
        self.process.close()
        return Ended(-1 if code is None else code, self.stdout.read_text(errors="replace"), self.stderr.read_text(errors="replace"))


def warm_up() -> None:
    """Start the process that the others are forked from. It imports every module of the program that a command can need."""
    os.environ["PYTHONPATH"] = str(ROOT)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    package = ROOT / "dpsynth_core"
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(package.rglob("*.py"))]
    needed = [name for name in modules if ".web" not in name and ".charts" not in name and not name.endswith(("__main__", "__init__"))]
    _FORKS.set_forkserver_preload([name for name in needed if not name.endswith("_process")])


def start(folder: Path, *arguments: str, file_limit: int | None = None) -> Command:
    """Start `python -m dpsynth_core ARGUMENTS` in a folder whose `home` is its DPSYNTH_HOME.

    file_limit: the largest file that the process can write, in bytes; what it writes beyond fails as on a full disk.
    """
    place = folder / "output"
    place.mkdir(exist_ok=True)
    number = len(list(place.iterdir()))
    stdout, stderr = place / f"{number}.out", place / f"{number}.err"
    stdout.touch()
    stderr.touch()
    process = _FORKS.Process(target=_main, args=(folder, arguments, stdout, stderr, file_limit), daemon=False)
    process.start()
    return Command(process, stdout, stderr)


def _main(folder: Path, arguments: tuple[str, ...], stdout: Path, stderr: Path, file_limit: int | None) -> NoReturn:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    for descriptor, path in ((1, stdout), (2, stderr)):
        opened = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.dup2(opened, descriptor)
        os.close(opened)
    if file_limit is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error, as of a full disk, and not a death
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
    os.chdir(folder)
    os.environ["DPSYNTH_HOME"] = str(folder / "home")
    sys.argv = ["dpsynth_core", *arguments]
    importlib.import_module("dpsynth_core.__main__")
    raise AssertionError("the command line ends its process")
