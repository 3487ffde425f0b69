"""How many threads linear algebra has: one, unless the environment says otherwise.

Our products are many and small. Two threads of one product wait for each other in a loop, and where another process has one of their
processors, each of them waits for as long as that one is taken. NumPy's library reads these names when it is loaded, and only then.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""What makes it one, in a process that is started with it."""


def limit() -> None:
    """One thread here and in processes started from here, where the environment states no number. To be called before NumPy is loaded."""
    for name, number in ONE_THREAD.items():
        os.environ.setdefault(name, number)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread whatever the environment says, for libraries that are loaded already: where a sum must be rounded as it was before."""
    with _libraries(len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _libraries(_modules: int) -> ThreadpoolController:
    """The libraries that have threads: finding them takes longer than most products do, and no library comes without a further module."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
