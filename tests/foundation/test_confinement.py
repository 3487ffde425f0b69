"""A process that limits itself keeps to it, and so does every process that it starts."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from dpsynth_core.foundation import confinement
from tests.patience import SECONDS

LIMITED = "from dpsynth_core.foundation.confinement import Limits, limit; limit(Limits(megabytes=200, seconds=1))\n"
GREEDY = "bytes(400 << 20)"
ENDLESS = "while True: pass"


def ended(program: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", program], env=confinement.environment(), capture_output=True, timeout=SECONDS)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to a limit on memory")
@pytest.mark.parametrize("beside", [False, True], ids=["itself", "a process beside it"])
def test_more_memory_is_not_to_be_had(beside: bool) -> None:
    program = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {GREEDY!r}]).returncode)" if beside else GREEDY
    assert ended(program.replace("400", "4")).returncode == 0
    done = ended(LIMITED + program)
    assert done.returncode != 0
    assert b"MemoryError" in done.stderr


@pytest.mark.parametrize("beside", [False, True], ids=["itself", "a process beside it"])
def test_more_work_ends_it(beside: bool) -> None:
    program = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {ENDLESS!r}]).returncode)" if beside else ENDLESS
    done = ended(LIMITED + program)
    assert (done.returncode % 256, done.stderr) == (-signal.SIGXCPU % 256, b"")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to a limit on memory")
def test_a_lower_limit_that_is_there_already_stays() -> None:
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30));"
        "from dpsynth_core.foundation.confinement import Limits, limit; limit(Limits(megabytes=9000));"
        "assert resource.getrlimit(resource.RLIMIT_AS) == (3 << 30, 3 << 30)"
    )
    assert ended(program).returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to a limit on memory")
def test_memory_to_write_to_is_limited_and_what_is_only_reserved_is_not() -> None:
    program = (
        "import mmap; from dpsynth_core.foundation.confinement import limit_data; limit_data(200);"
        "mmap.mmap(-1, 4 << 30, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ); bytes(100 << 20)\n"
        f"try: {GREEDY}\nexcept MemoryError: limit_data(900); {GREEDY}\nelse: raise SystemExit(1)"
    )
    assert ended(program).returncode == 0
