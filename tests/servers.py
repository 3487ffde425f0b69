"""The wizard as a process of its own, on a free port with a data directory of its own, and the address that opens it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.patience import SECONDS, wait_until

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Server:
    """A running wizard. home: its DPSYNTH_HOME."""

    url: str
    home: Path
    process: subprocess.Popen[bytes]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def token(self) -> str:
        return (self.home / "token").read_text(encoding="ascii")

    def opening(self, path: str = "/") -> str:
        """The address of a page with the token, as the person who runs the server opens it."""
        return f"{self.url}{path}{'&' if '?' in path else '?'}token={self.token}"


@contextmanager
def serving(
    home: Path,
    *options: str,
    script: str = "app.py",
    port: int | None = None,
    log: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """A server from when it answers until the end of the block. log: where what it prints goes; nowhere unless given."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, f"--server.port={port}", *options]
    variables = {**os.environ, "DPSYNTH_HOME": str(home), "PYTHONPATH": str(ROOT), **(environment or {})}
    with (log or Path(os.devnull)).open("ab") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        _wait(f"http://localhost:{port}", process)
        yield Server(f"http://localhost:{port}", home, process)
    finally:
        _stop(process)


def free_port() -> int:
    """Linux gives it to nobody else while this process lives: a socket that does not listen has it, beside which a server may."""
    probe = socket.socket()
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers set it
    probe.bind(("127.0.0.1", 0))
    _HELD.append(probe)
    return int(probe.getsockname()[1])


_HELD: list[socket.socket] = []


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    def answers() -> bool:
        assert process.poll() is None, "the server did not start"
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=SECONDS) as answer:
                return b"ok" in answer.read()
        except OSError:
            return False

    wait_until(answers)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
