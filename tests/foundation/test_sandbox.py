"""Work that is given files reads these and no others, writes none, and reaches neither a network nor another process."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpsynth_core.foundation import sandbox
from dpsynth_core.foundation.confined import Ended, Work
from tests.refusals import refused

END = "tests.foundation.confined_work:end"
SOCKETS = "import socket; "
files_guarded = pytest.mark.skipif(not sandbox.version(), reason="this kernel has no Landlock")
signals_guarded = pytest.mark.skipif(sandbox.version() < 6, reason="this kernel's Landlock does not guard signals")
calls_guarded = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"), reason="the calls of this processor are not known"
)
FORBIDDEN = [
    *(
        pytest.param(code, marks=files_guarded)
        for code in (
            "open('other.txt')",
            "os.listdir('.')",
            "open('mine.txt', 'a')",
            "open('mine.txt', 'r+')",
            "open('new.txt', 'w')",
            "os.truncate('mine.txt', 0)",
            "os.remove('mine.txt')",
            "os.rename('mine.txt', 'new.txt')",
            "os.symlink('other.txt', 'new.txt')",
            "os.link('mine.txt', 'new.txt')",
            "open('folder/../other.txt')",
            "open('/etc/passwd')",
            "open(f'/proc/{os.getppid()}/environ')",
            "open('link.txt')",
        )
    ),
    *(
        pytest.param(code, marks=calls_guarded)
        for code in (
            f"{SOCKETS} socket.socket()",
            f"{SOCKETS} socket.socket(socket.AF_INET6)",
            f"{SOCKETS} socket.socket(socket.AF_UNIX)",
            f"{SOCKETS} socket.socketpair(type=socket.SOCK_DGRAM)",
            "os.chmod('other.txt', 0o600)",
            "os.utime('other.txt')",
            "import resource; resource.prlimit(os.getppid(), resource.RLIMIT_CORE, resource.prlimit(os.getppid(), resource.RLIMIT_CORE))",
            "os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0))",
        )
    ),
    pytest.param("os.kill(os.getppid(), 0)", marks=signals_guarded),
]
ALLOWED = [
    "assert open('mine.txt').read() == 'mine'",
    "assert os.listdir('folder') == ['inside.txt']",
    "assert open('folder/inside.txt').read() == 'inside'",
    f"{SOCKETS} socket.socketpair()",
    "import wave, http.client, sqlite3",
    "import zoneinfo; zoneinfo.ZoneInfo('Europe/Berlin')",
    "open('/dev/null', 'w')",
    "assert open('/proc/self/statm').read()",
    "import subprocess; subprocess.run([sys.executable, '-c', 'import decimal'], check=True)",
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("mine", "other", "folder/inside"):
        path = tmp_path / f"{name}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(path.stem)
    (tmp_path / "link.txt").symlink_to("other.txt")
    return tmp_path


def there(place: Path, code: str) -> str:
    return f"os.chdir({str(place)!r}); {code}"


@pytest.mark.parametrize("code", FORBIDDEN)
def test_what_is_not_theirs_is_closed(place: Path, code: str) -> None:
    with Work(END, there(place, code), files=[str(place / "mine.txt"), str(place / "folder")]) as work:
        next(work)
        with pytest.raises(Ended, match="failed with PermissionError"):
            next(work)


@pytest.mark.parametrize("code", FORBIDDEN)
def test_the_same_is_open_to_work_that_is_not_shut_in(place: Path, code: str) -> None:
    with Work(END, there(place, code)) as work:
        assert len(list(work)) == 1


@pytest.mark.parametrize("code", ALLOWED)
def test_their_files_programs_and_processes_beside_them_are_open(place: Path, code: str) -> None:
    with Work(END, there(place, code), files=[str(place / "mine.txt"), str(place / "folder")]) as work:
        assert len(list(work)) == 1


@files_guarded
@pytest.mark.parametrize("name", ["mine.txt", "other.txt"])
def test_a_process_that_it_starts_is_shut_in_as_well(place: Path, name: str) -> None:
    code = f"import subprocess; subprocess.run([sys.executable, '-c', 'open(\"{name}\")'], check=True, stderr=subprocess.DEVNULL)"
    with Work(END, there(place, code), files=[str(place / "mine.txt")]) as work:
        next(work)
        with pytest.raises(StopIteration if name == "mine.txt" else Ended):
            next(work)


@calls_guarded
@pytest.mark.parametrize("landlock", [0, 1, 2, 3])
@pytest.mark.parametrize("code", ["os.truncate('mine.txt', 0)", "os.open('mine.txt', os.O_RDONLY | os.O_TRUNC)"])
def test_no_file_is_emptied_before_landlock_guards_it(place: Path, landlock: int, code: str) -> None:
    if landlock > sandbox.version():
        pytest.skip("this kernel has no such Landlock")
    program = f"import os; from dpsynth_core.foundation import sandbox; sandbox.version = lambda: {landlock}; os.chdir({str(place)!r})"
    program += f"\nsandbox.close(['mine.txt'])\ntry:\n {code}\nexcept PermissionError:\n print(open('mine.txt').read())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "mine\n"


@pytest.mark.parametrize("call", ["syscall", "prctl"])
def test_a_kernel_that_refuses_to_shut_it_in_is_an_error(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    monkeypatch.setattr(sandbox, "version", lambda: 1)
    libc = SimpleNamespace(**{"syscall": lambda *_: 3, "prctl": lambda *_: 0, call: lambda *_: -1})
    monkeypatch.setattr(sandbox, "_libc", lambda: libc)
    monkeypatch.setattr(sys, "platform", "linux")
    refused(sandbox.close, [], saying="cannot be shut in, so it read nothing")


def test_what_the_machine_lacks_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "version", lambda: 0)
    assert "cannot shut the readers of files in" in sandbox.lacking()
