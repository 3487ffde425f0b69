"""The number of threads of linear algebra: one, unless the environment sets another.

Our products are many and small. Two threads of one product wait for each other in a loop, and if another process occupies one of their
processors, each waits for as long. NumPy's library reads these variables when it is loaded, and only then.
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
"""Environment of a process with one thread."""


def limit() -> None:
    """Limit linear algebra to one thread, here and in child processes, unless the environment sets a number. Call it before NumPy loads."""
    for name, number in ONE_THREAD.items():
        os.environ.setdefault(name, number)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit the loaded linear algebra libraries to one thread while the body runs.

    Sums are rounded differently with another number of threads, and repeated results must be equal.
    """
    with _libraries(len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _libraries(_modules: int) -> ThreadpoolController:
    """Return the controller of the loaded libraries that have threads.

    It is cached by the number of loaded modules, because a search for libraries takes longer than
    most products, and new libraries come with new modules.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
