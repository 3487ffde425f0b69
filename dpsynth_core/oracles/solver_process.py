"""A solver process of `pool`: runs the jobs that arrive on its socket.

It ends the moment the socket closes, also in the middle of a search, so that it never outlives the program that started it. It prints
nothing. Of an exception it sends only the type, because the text may quote the question.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any


@dataclass(frozen=True, eq=False)
class Setup:
    """What the following jobs have in common: prepare(shared) returns the function that runs them. prepare: pickled by its name."""

    prepare: Callable[[Any], Callable[[Any], Any]]
    shared: Any


@dataclass(frozen=True, eq=False)
class SolverJob:
    """Answered by (number, result); or by (number, Failed)."""

    number: int
    argument: Any


@dataclass(frozen=True)
class Failed:
    """The type of an exception."""

    kind: str


def main(descriptor: int) -> None:
    """descriptor: of the socket, inherited. Does not return."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent process ends this one
    connection = Connection(descriptor)
    inbox: queue.SimpleQueue[Setup | SolverJob] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(connection, inbox), daemon=True).start()
    do: Callable[[Any], Any] = _nothing
    while True:
        message = inbox.get()
        if isinstance(message, Setup):
            do = _prepared(message)
        else:
            connection.send((message.number, _result(do, message.argument)))


def _listen(connection: Connection, inbox: queue.SimpleQueue[Setup | SolverJob]) -> None:
    """Receive messages in a thread, so that a closed socket is noticed during a search. It ends this process, as does any error."""
    try:
        while True:
            inbox.put(connection.recv())
    finally:
        os._exit(1)


def _prepared(setup: Setup) -> Callable[[Any], Any]:
    """The function for the jobs after a setup. If preparing fails: one that answers each of them with that failure."""
    try:
        return setup.prepare(setup.shared)
    except Exception as error:  # noqa: BLE001 (named to the parent)
        failed = Failed(type(error).__name__)
        return lambda _: failed


def _result(do: Callable[[Any], Any], argument: Any) -> Any:
    try:
        return do(argument)
    except Exception as error:  # noqa: BLE001 (named to the parent)
        return Failed(type(error).__name__)


def _nothing(_: Any) -> Any:
    raise RuntimeError("a job came before its setup")
