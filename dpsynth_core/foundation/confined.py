"""Work in a process of its own with limits, so that a hostile file or an endless search harms nothing else.

`Work` runs a generator, named "module:function", and yields what it yields: JSON values or bytes, and never a pickled object. The first
work starts a *starter*, a fresh Python that knows no file and no record. For each work the starter loads the module, once, and forks a
*keeper*, which forks the *worker*. The worker reads its arguments, limits itself, gives up all files but its own (`sandbox`) and answers
through a socket. The keeper kills it when the program that asked is gone or closes the work, also in the middle of a call in C, and says
how it ended.

Where the system cannot fork (Windows), each work has a fresh Python, which answers through a port of this machine (`_begin_alone`).
"""

from __future__ import annotations

import importlib
import json
import os
import secrets
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from dpsynth_core.foundation import confinement, sandbox
from dpsynth_core.foundation.causes import cause_of
from dpsynth_core.foundation.confinement import TOO_MUCH, Limits
from dpsynth_core.foundation.errors import CapacityError, InputError, OracleError

NEXT: Final = object()
"""A generator yields this to receive the next message of `Work.send`."""
MAX_JSON = 64 << 20
"""Largest JSON value accepted from a worker, in bytes; as objects it takes about thirty times as much memory."""

_JSON, _BYTES, _RAISED, _FAILED, _DONE = b"jbrfd"
_HEAD, _CODE = struct.Struct(">BQ"), struct.Struct(">i")
_LAST_WORDS = 10.0
"""Seconds for a keeper to report how its worker ended."""
_CONNECTING = 120.0
"""Seconds for a process that was started without forking to connect."""
_PROGRAM = f"import sys; from {__name__} import main; main(int(sys.argv[1]))"
_ALONE = f"import sys; from {__name__} import alone; alone(int(sys.argv[1]))"
_SECRET = 32
"""Bytes by which a process that connects to a port shows that it is the one that was started."""
_ERRORS = {kind.__name__: kind for kind in (OracleError, CapacityError, InputError)}


class Ended(Exception):
    """Work that ended without the expected answer.

    Attributes:
        problem: How it ended, as a clause after its name, such as "takes more than 1,024 MB of memory"; it quotes nothing.
        beyond: Whether it exceeded its limits.
    """

    def __init__(self, problem: str, beyond: bool = False) -> None:
        super().__init__(problem)
        self.problem, self.beyond = problem, beyond


class Work(Iterator[Any]):
    """An iterator over the answers of a generator that runs in a process of its own. Leaving the `with` block kills the process.

    Args:
        function: The generator function, as "module:function".
        *arguments: JSON values or bytes.
        limits: Limits of the process, and of each process that it starts; None for no limits.
        files: The only files that the process may read besides programs, without a network; None for no such confinement.
        patience: Seconds by the clock to wait for each answer; None for no limit.
        load: Further modules to load, once for all work.

    Raises:
        InputError: The function raises it, no process can be started, or a package is missing.
        Ended: The work ended without an answer.
    """

    def __init__(
        self,
        function: str,
        *arguments: Any,
        limits: Limits | None = None,
        files: Sequence[str] | None = None,
        patience: float | None = None,
        load: Sequence[str] = (),
    ) -> None:
        self._limits = limits
        asked = [[*load, function], len(arguments), None if limits is None else asdict(limits)]
        self._status, status = socket.socketpair()
        if hasattr(os, "fork"):
            self._socket, answers = socket.socketpair()
            with answers, status:
                self.send(asked)
                try:
                    (_STARTER if files is None else _SHUT_IN).begin(answers, status)
                except BaseException:
                    self.close()
                    raise
        else:
            self._socket = _begin_alone(status, whole=files is None)
            self.send(asked)
        self._socket.settimeout(patience)
        self._status.settimeout(_LAST_WORDS)
        for argument in (files, *arguments):  # some are too large to wait in a socket that nobody reads yet
            self.send(argument)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __next__(self) -> Any:
        try:
            kind, content = _read(self._socket, MAX_JSON if self._limits is None else self._limits.megabytes << 20)
        except TimeoutError:
            raise Ended(f"has not come to an end in {self._socket.gettimeout():,.0f} seconds", beyond=True) from None
        except OSError:
            raise self._ended() from None
        if kind == _BYTES:
            return content
        if kind == _DONE:
            raise StopIteration
        try:
            value = json.loads(content)
            if kind == _RAISED:
                name, *parts = value
                value = _ERRORS[name](*map(str, parts[name == OracleError.__name__ :]))
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError):
            raise Ended("gives an answer that cannot be read") from None
        if kind == _RAISED:
            raise value
        if kind == _FAILED:
            raise Ended(f"failed with {str(value)[:80]}")
        return value

    def send(self, message: Any) -> None:
        """Send a message, a JSON value or bytes, to the generator, which receives it by yielding `NEXT`.

        If the process has ended, nothing is raised here; the next answer then raises Ended.
        """
        with suppress(OSError):
            _write(self._socket, message)

    def fileno(self) -> int:
        """Return the descriptor of the socket; it is readable once an answer begins or the work has ended."""
        return self._socket.fileno()

    def kill(self) -> None:
        """Kill the process, wait until it has ended (at most 10 seconds), and close the connection."""
        with suppress(OSError):
            self._status.shutdown(socket.SHUT_WR)
            self._status.recv(_CODE.size)
        self.close()

    def close(self) -> None:
        """Close the connection, whereupon the process is killed; does not wait for that."""
        self._socket.close()
        self._status.close()

    def _ended(self) -> Ended:
        try:
            (code,) = _CODE.unpack(self._status.recv(_CODE.size))
        except (OSError, struct.error):
            return Ended("was ended from outside")
        beyond = "" if self._limits is None else self._limits.exceeded(code)
        return Ended(beyond or confinement.fate(code), bool(beyond))


def answer(
    function: str, *arguments: Any, limits: Limits | None = None, files: Sequence[str] | None = None, patience: float | None = None
) -> Any:
    """Run a generator in a process of its own, and return the only value that it yields, a JSON value or bytes.

    Args:
        function: The generator function, as "module:function".
        *arguments: JSON values or bytes.
        limits: Limits of the process; None for no limits.
        files: The only files that the process may read besides programs, without a network; None for no such
            confinement.
        patience: Seconds by the clock to wait for the value; None for no limit.

    Raises:
        InputError: The function raises it, no process can be started, or a package is missing.
        Ended: The work ended without an answer.
        ValueError: The generator yields no value, or several.
    """
    with Work(function, *arguments, limits=limits, files=files, patience=patience) as work:
        (value,) = work
        return value


def prepare(*modules: str) -> None:
    """Start loading modules for later confined work (`files`) in the background, and return at once; no error is raised.

    Args:
        *modules: Names of the modules.
    """
    if not hasattr(os, "fork"):
        return
    with suppress(InputError):  # the work itself will say so
        Work(":", load=modules, files=()).close()


class _Starter:
    """The process that forks a process for each `Work`; it is started when it is first needed.

    Args:
        whole: Whether its environment includes variables that may hold secrets.
    """

    def __init__(self, whole: bool = True) -> None:
        self._whole = whole
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self.process: subprocess.Popen[bytes] | None = None

    def begin(self, *theirs: socket.socket) -> None:
        """Send the starter the process's ends of two sockets, and start it first if it does not run.

        Args:
            *theirs: The sockets for answers and for the status.

        Raises:
            InputError: It cannot be started.
        """
        with self._lock:
            try:
                self._send(theirs)
            except OSError:  # it is not there yet, or it died
                try:
                    self._start()
                    self._send(theirs)
                except OSError:
                    remedy = "free memory or end other programs, then try again"
                    raise InputError("memory", "the process for this work cannot be started", remedy) from None

    def _send(self, theirs: tuple[socket.socket, ...]) -> None:
        if self._control is None:
            raise OSError
        socket.send_fds(self._control, [b"."], [one.fileno() for one in theirs])

    def _start(self) -> None:
        if self._control is not None:
            self._control.close()
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self._control, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # a traceback quotes what the work is about
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the program that asked, which ends the work
                env=confinement.environment(self._whole),
            )


_STARTER, _SHUT_IN = _Starter(), _Starter(whole=False)
"""Starters for work that may read everything this program may, including credentials in its environment, and for work with given files."""


def _begin_alone(status: socket.socket, whole: bool) -> socket.socket:
    """Start a process for one work without forking, and return the socket of its answers.

    Args:
        status: The socket to which the exit code is sent; when its other end is closed, the process is killed.
        whole: Whether its environment includes variables that may hold secrets.

    Raises:
        InputError: It cannot be started, or does not connect.
    """
    secret = secrets.token_bytes(_SECRET)
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(_CONNECTING)
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _ALONE, str(server.getsockname()[1])],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=confinement.environment(whole),
            )
            for watch in (_tell_end, _end_when_closed):
                threading.Thread(target=watch, args=(process, status), daemon=True).start()
            assert process.stdin is not None
            process.stdin.write(secret)
            process.stdin.flush()  # it stays open: its end tells the process that this program is gone
            while True:
                answers, _ = server.accept()
                answers.settimeout(_CONNECTING)
                if secrets.compare_digest(_exactly(answers, _SECRET), secret):
                    return answers
                answers.close()  # another process of this machine found the port
    except OSError:
        remedy = "free memory or end other programs, then try again"
        raise InputError("memory", "the process for this work cannot be started", remedy) from None


def _tell_end(process: subprocess.Popen[bytes], status: socket.socket) -> None:
    code = process.wait()
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
        status.sendall(_CODE.pack(min(code, 2**31 - 1)))  # codes of Windows may be larger
        status.shutdown(socket.SHUT_RDWR)


def _end_when_closed(process: subprocess.Popen[bytes], status: socket.socket) -> None:
    with suppress(OSError):
        status.recv(1)
    process.kill()


def _write(to: socket.socket, message: Any, kind: int = _JSON) -> None:
    kind, content = (_BYTES, message) if isinstance(message, bytes) else (kind, json.dumps(message).encode())
    to.sendall(_HEAD.pack(kind, len(content)))
    to.sendall(content)


def _read(source: socket.socket, most: int | None = None) -> tuple[int, bytes]:
    """Return the kind (such as `_JSON`) and the content of the next message.

    Args:
        source: The socket.
        most: Largest number of bytes; `MAX_JSON` by default.

    Raises:
        ConnectionError: The stream ended.
        Ended: The message is larger.
    """
    kind, size = _HEAD.unpack(_exactly(source, _HEAD.size))
    if most is not None and size > (most if kind == _BYTES else MAX_JSON):
        raise Ended("gives an answer that is too large", beyond=True)
    return kind, _exactly(source, size)


def _exactly(source: socket.socket, size: int) -> bytes:
    content = bytearray(size)
    left = memoryview(content)
    while left:
        if not (count := source.recv_into(left)):
            raise ConnectionError
        left = left[count:]
    return bytes(content)


def main(descriptor: int) -> None:
    """Run the starter, which forks a process for each work, until its control socket is closed.

    Args:
        descriptor: Descriptor of the control socket, which delivers the two sockets of each work.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a keeper says all there is to say
    with socket.socket(fileno=descriptor) as control:
        while True:
            mark, descriptors, _, _ = socket.recv_fds(control, 1, 2)
            if not mark:
                return
            answers, status = (socket.socket(fileno=one) for one in descriptors)
            with answers, status, suppress(OSError):
                work = _loaded(answers)
                if work is not None and os.fork() == 0:
                    control.close()
                    os._exit(_keep(answers, status, work))


def alone(port: int) -> None:
    """Do one work, and end this process.

    Args:
        port: Port of this machine where the program that asked waits; the secret that it expects comes by standard input.
    """
    code = 0
    with socket.create_connection(("127.0.0.1", port)) as answers:
        answers.sendall(sys.stdin.buffer.read(_SECRET))
        threading.Thread(target=_end_with_standard_input, daemon=True).start()
        if (work := _loaded(answers)) is not None:
            code = work()
    os._exit(code)


def _end_with_standard_input() -> None:
    """End this process when the program that started it is gone."""
    sys.stdin.buffer.read()
    os._exit(1)


def _loaded(answers: socket.socket) -> Callable[[], int] | None:
    """Load the modules that the next message names, and return the work that it asks for.

    Returns None if it asks for none, or if a module cannot be loaded, which is sent as an answer.
    """
    (*modules, name), count, limits = json.loads(_read(answers)[1])
    module, _, function = name.partition(":")
    try:
        loaded = [importlib.import_module(one) for one in (*modules, module) if one]
    except Exception as error:  # noqa: BLE001 (named to the parent, never shown with its text)
        _say(answers, error)
        return None
    return partial(_work, answers, getattr(loaded[-1], function), count, limits) if function else None


def _keep(answers: socket.socket, status: socket.socket, work: Callable[[], int]) -> int:
    """Run a keeper: fork a worker, wait until it ends, and report its exit code.

    The worker is killed if the other end of `status` is closed.

    Args:
        answers: The socket of the worker's answers.
        status: The socket to which the exit code is sent.
        work: Runs in the worker, and returns its exit code.

    Returns:
        0, the keeper's own exit code.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sandbox.adopt_orphans()
    lives, life = os.pipe()
    if (worker := os.fork()) == 0:
        status.close()
        os.close(lives)
        os._exit(work())
    answers.close()
    os.close(life)
    events = select.poll()
    events.register(lives, select.POLLIN)  # of both, the end is all that ever comes
    events.register(status, select.POLLIN)
    if lives not in dict(events.poll()):
        os.kill(worker, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    _end_children()
    with suppress(OSError):
        status.sendall(_CODE.pack(code))
    return 0


def _end_children() -> None:
    """Kill all processes that the worker and its descendants left behind."""
    with suppress(OSError):  # there are none, or the system does not list them
        while children := Path("/proc/thread-self/children").read_text().split():
            for child in map(int, children):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def _work(answers: socket.socket, function: Callable[..., Generator[Any, Any, None]], count: int, limits: dict[str, int] | None) -> int:
    """Call `function` with `count` arguments read from the socket, send its answers, and return the exit code."""
    try:
        files, *arguments = [_message(answers) for _ in range(1 + count)]
        if limits is not None:
            confinement.limit(Limits(**limits))
        if files is not None:
            sandbox.close(files)
        generator, message = function(*arguments), None
        with suppress(StopIteration):
            while True:
                value, message = generator.send(message), None
                if value is NEXT:
                    message = _message(answers)
                else:
                    _write(answers, value)
        _write(answers, None, _DONE)
    except (MemoryError, RecursionError, BrokenPipeError):
        return TOO_MUCH
    except Exception as error:  # noqa: BLE001 (named to the parent, never shown with its text)
        _say(answers, error)
    except BaseException:  # noqa: BLE001 (such as a panic of a library in Rust)
        return 1
    return 0


def _message(answers: socket.socket) -> Any:
    kind, content = _read(answers)
    return content if kind == _BYTES else json.loads(content)


def _say(answers: socket.socket, error: Exception) -> None:
    """Send an InputError in full, but only the type of any other error, whose text may quote private content."""
    ours = error if isinstance(error, InputError) else cause_of(error)
    if ours is None:
        _write(answers, type(error).__name__, _FAILED)
    else:
        name = next(name for name, kind in _ERRORS.items() if isinstance(ours, kind))
        _write(answers, [name, ours.field, ours.problem, ours.remedy], _RAISED)
