"""Confined work: its answers arrive, and no way of ending leaves a process behind or the caller without a message."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.foundation import confined
from dpsynth_core.foundation.confined import Ended, Work
from dpsynth_core.foundation.confinement import Limits
from tests.foundation import confined_work
from tests.foundation.processes import children, lives, workers
from tests.patience import wait_until
from tests.refusals import refused

HERE = "tests.foundation.confined_work:"
SMALL = Limits(megabytes=200, seconds=1)


def one(function: str, *arguments: object, limits: Limits | None = None) -> Any:
    return confined.answer(HERE + function, *arguments, limits=limits)


def test_answers_arrive_as_they_were() -> None:
    arguments = [None, 1.5, "é", b"\0\xff", {"a": [1, {}]}, b"", float("inf"), b"x" * (3 << 20), "y" * (1 << 20)]
    with Work(HERE + "echo", *arguments) as work:
        assert list(work) == arguments == list(confined_work.echo(*arguments))


def test_work_may_ask_for_more() -> None:
    with Work(HERE + "double") as work:
        for number in range(50):
            work.send(number)
            assert next(work) == 2 * number


@pytest.mark.parametrize("how", ["input", "capacity", "oracle"])
def test_an_error_of_ours_is_raised_as_it_is(how: str) -> None:
    error = confined_work.ERRORS[how]
    with Work(HERE + "fail", how) as work:
        assert next(work) == "before"
        raised = refused(next, work)
    assert (type(raised), str(raised)) == (type(error), str(error))


def test_a_missing_package_is_not_too_much_memory() -> None:
    refused(one, "fail", "package", saying="packages: numpy is missing; pip install dpsynth-studio")
    with pytest.raises(Ended, match="failed with ModuleNotFoundError"), Work("dpsynth_core.no_such_module:f") as work:
        next(work)


@pytest.mark.parametrize(("how", "kind"), [("bug", "LookupError"), ("system", "OSError")])
def test_another_error_is_its_kind_and_never_its_text(how: str, kind: str) -> None:
    with pytest.raises(Ended) as raised:
        one("fail", how)
    assert (raised.value.problem, raised.value.beyond) == (f"failed with {kind}", False)


@pytest.mark.parametrize("how", ["memory", "depth"])
def test_a_lack_of_memory_is_said_with_the_limit(how: str) -> None:
    with pytest.raises(Ended, match="takes more than 200 MB of memory") as raised:
        one("fail", how, limits=SMALL)
    assert raised.value.beyond


ENDINGS = {
    "os.kill(os.getpid(), signal.SIGSEGV)": r"was ended by signal 11 \(SIGSEGV\)",
    "os.kill(os.getpid(), signal.SIGKILL)": r"was ended by signal 9 \(SIGKILL\), as the system does where memory is used up",
    "os._exit(3)": "failed with exit code 3",
    "raise KeyboardInterrupt": "failed with exit code 1",
    "sys.exit(4)": "failed with exit code 1",
}


@pytest.mark.parametrize("code", ENDINGS)
def test_what_ended_it_is_said(code: str) -> None:
    with pytest.raises(Ended, match=ENDINGS[code]) as raised:
        one("end", code, limits=SMALL)
    assert not raised.value.beyond


@pytest.mark.parametrize("code", ["while True: pass", "signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"])
def test_too_much_work_is_said_with_the_limit(code: str) -> None:
    with pytest.raises(Ended, match="takes more than 1 seconds of work") as raised:
        one("end", code, limits=SMALL)
    assert raised.value.beyond


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep to a limit on memory")
def test_memory_is_limited() -> None:
    with pytest.raises(Ended, match="takes more than 200 MB of memory"):
        one("end", "bytes(400 << 20)", limits=SMALL)


def test_arguments_do_not_count_as_memory_of_the_work() -> None:
    with Work(HERE + "echo", bytes(150 << 20), limits=SMALL) as work:
        assert len(next(work)) == 150 << 20


def test_work_that_hangs_is_ended() -> None:
    assert one("echo", 1) == 1  # what is loaded for the first work of all is not a part of the patience
    with Work(HERE + "end", "time.sleep(60)", patience=2) as work:
        pid = next(work)
        with pytest.raises(Ended, match="has not come to an end in 2 seconds") as raised:
            next(work)
        assert raised.value.beyond
    wait_until(lambda: not lives(pid))


def test_an_answer_that_is_too_large_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Ended, match="an answer that is too large") as raised:
        one("many_bytes", 201 << 20, 1)
    assert raised.value.beyond
    monkeypatch.setattr(confined, "MAX_JSON", 1 << 20)
    with pytest.raises(Ended, match="an answer that is too large"):
        one("text", 2 << 20)


def test_the_limits_are_the_other_process_s_alone_and_its_own_processes() -> None:
    whats = (resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE)
    before = [resource.getrlimit(what)[0] for what in whats]
    memory, seconds, core = one("limits", limits=Limits(megabytes=300, seconds=7))
    assert 0 < memory < 8 << 30
    assert 7 <= seconds < 60
    assert core == 0
    ((below, *_),) = one("beside", limits=Limits(megabytes=3000, seconds=7))
    assert 0 < below < 8 << 30
    assert [resource.getrlimit(what)[0] for what in whats] == before


def test_closing_it_ends_it_and_what_it_started() -> None:
    with Work(HERE + "endless_beside") as work:
        inner = next(work)
        assert lives(inner)
    wait_until(lambda: not lives(inner))


@pytest.mark.parametrize("code", ["time.sleep(60)", "import re; re.match('(a+)+$', 'a' * 60 + 'b')"], ids=["waiting", "in a call in C"])
def test_no_process_outlives_a_program_that_is_killed(code: str) -> None:
    program = f"""
from dpsynth_core.foundation import confined
work = confined.Work({HERE + "end"!r}, {code!r})
print(next(work), confined._STARTER.process.pid, flush=True)
next(work)
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    time.sleep(0.5)
    assert all(map(lives, pids))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not any(map(lives, pids)))


def test_a_signal_for_the_terminal_s_group_reaches_no_worker() -> None:
    """Ctrl-C is for the program that asked, which ends its work."""
    with Work(HERE + "end", "time.sleep(60)") as work:
        assert os.getpgid(next(work)) != os.getpgid(0)


def test_a_starter_that_died_is_started_again() -> None:
    assert one("echo", 1) == 1
    starter = confined._STARTER.process
    assert starter is not None
    starter.kill()
    starter.wait()
    assert one("echo", 2) == 2


def test_where_no_process_can_be_started_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(confined, "_STARTER", confined._Starter())
    monkeypatch.setattr(confined, "_SHUT_IN", confined._Starter(whole=False))
    monkeypatch.setattr(subprocess, "Popen", failing)
    confined.prepare("tests.foundation.confined_work")
    refused(Work, HERE + "echo", saying="cannot be started; free memory")


def test_getting_ready_waits_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confined, "_SHUT_IN", confined._Starter(whole=False))
    confined.prepare("tests.foundation.confined_work")
    assert confined._SHUT_IN.process is not None
    assert confined.answer(HERE + "echo", 1, files=[]) == 1


def test_a_worker_holds_no_file_of_other_work_and_one_thread() -> None:
    with Work(HERE + "end", "time.sleep(60)"), Work(HERE + "end", "time.sleep(60)") as second:
        links = [os.readlink(link) for link in Path(f"/proc/{next(second)}/fd").iterdir()]
    assert sum("socket:" in link for link in links) == 1
    assert one("threads") == 1


def test_work_that_died_in_the_middle_of_an_answer_is_no_answer() -> None:
    with Work(HERE + "half_an_answer", limits=Limits(megabytes=400)) as work:
        pid = next(work)
        wait_until(lambda: not lives(pid))  # the socket is full, and the rest is not written any more
        with pytest.raises(Ended, match="SIGALRM"):
            next(work)


def test_work_that_is_killed_is_gone() -> None:
    work = Work(HERE + "end", "time.sleep(60)")
    pid = next(work)
    wait_until(lambda: workers() == [pid])  # what other tests closed may still be ending
    work.kill()
    assert not lives(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what a process started")
@pytest.mark.parametrize("apart", ["", "os.setsid()"])
def test_what_it_forked_is_gone_too(apart: str) -> None:
    code = f"r, w = os.pipe()\nif os.fork() == 0:\n {apart or 'pass'}\n if os.fork():\n  os._exit(0)\n os.write(w, b'x'); time.sleep(60)\n"
    work = Work(HERE + "end", f"{code}os.read(r, 1); time.sleep(60)", files=[])
    stat = Path(f"/proc/{next(work)}/stat").read_text()
    keeper = int(stat.rpartition(")")[2].split()[1])  # of this work alone: what other tests closed may still be ending
    wait_until(lambda: len(children(keeper)) == 2)  # it has adopted the other one
    left = children(keeper)
    work.kill()
    assert not any(map(lives, left))


@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff", b"{", b"1" * 10_000])
@pytest.mark.parametrize("kind", [confined._JSON, confined._RAISED, confined._FAILED])
def test_an_answer_that_is_no_answer_is_an_end(content: bytes, kind: int) -> None:
    code = "import gc, socket\nto = next(o for o in gc.get_objects() if type(o) is socket.socket and o.fileno() >= 0)\n"
    code += f"to.sendall({confined._HEAD.pack(kind, len(content))!r} + {content!r}); os._exit(0)"
    with Work(HERE + "end", code) as work:
        next(work)
        with pytest.raises(Ended, match="gives an answer that cannot be read"):
            next(work)


def test_what_may_be_a_secret_stays_with_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(confined, "_SHUT_IN", confined._Starter(whole=False))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "Alice")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", ".", os.environ.get("PYTHONPATH", "")]))
    code = "assert 'Alice' not in open('/proc/self/environ').read(); assert os.getcwd() not in sys.path"
    with Work(HERE + "end", code, files=[]) as work:
        assert len(list(work)) == 1
