"""What a solver process of `pool` does: it prepares itself, and then answers one argument after the other."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator
from typing import Any

from ortools.sat.python import cp_model  # noqa: F401  # takes a while to load: once, before the processes are made

from dpsynth_core.foundation.confined import NEXT
from dpsynth_core.research.oracles.pool import Setup


def solve() -> Generator[Any, Any, None]:
    """Takes pickles of a `Setup`, and after it of arguments. Answers each argument."""
    answer: Callable[[Any], Any] | None = None
    while True:
        message = pickle.loads((yield NEXT))
        if isinstance(message, Setup):
            answer = message.prepare(message.shared)
        elif answer is not None:
            yield answer(message)
