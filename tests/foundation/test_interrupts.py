"""A signal is noted wherever it arrives, and obeyed at the next place where a run can end in order."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from dpsynth_core.foundation import interrupts


@pytest.fixture(autouse=True)
def handled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The program's handlers, in a run under way, also where these tests were started with `nohup`; afterwards everything is as it was."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in interrupts.SIGNALS}
    monkeypatch.setattr(interrupts, "_deferred", False)
    monkeypatch.setattr(interrupts, "_requested", False)
    interrupts.handle()
    interrupts.defer()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


class Dying:
    """Python prints and drops whatever is raised in here."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)  # to this thread: any other may get what is sent to the process, and be late
        for _ in range(10):  # between two steps of the interpreter the handler runs
            pass


@pytest.mark.parametrize("number", interrupts.SIGNALS)
def test_a_signal_that_arrives_in_a_destructor_is_not_lost(number: signal.Signals) -> None:
    interrupts.check()
    dying = Dying(number)
    del dying
    with pytest.raises(interrupts.Interrupted):
        interrupts.check()


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    interrupts.handle()
    signal.raise_signal(signal.SIGHUP)
    interrupts.check()


def test_without_a_signal_nothing_ends() -> None:
    interrupts.check()
