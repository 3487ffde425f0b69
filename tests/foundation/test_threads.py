"""One thread for linear algebra, in the processes that compute, where nobody asked for another number."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpsynth_core.foundation import threads
from dpsynth_core.store import processes


def test_another_number_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    threads.limit()
    assert [threads.os.environ[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")] == ["3", "1"]


def test_the_command_line_can_say_so_before_numpy_is_loaded() -> None:
    """What the command line imports first: NumPy looks at its environment once."""
    text = "import sys; from dpsynth_core.foundation import interrupts, threads; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


@pytest.mark.parametrize(("asked", "had"), [(None, "1"), ("3", "3")])
def test_workers_have_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str | None, had: str) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))
    for name in threads.ONE_THREAD:
        monkeypatch.delenv(name, raising=False) if asked is None else monkeypatch.setenv(name, asked)
    started = []

    class Process:
        def __init__(self, *_: object, env: dict[str, str], **__: object) -> None:
            started.append(env)

        pid = os.getpid()

        def wait(self) -> None: ...

    monkeypatch.setattr(processes.subprocess, "Popen", Process)
    processes.launch("a.module", "an argument")
    assert {started[0][name] for name in threads.ONE_THREAD} == {had}
