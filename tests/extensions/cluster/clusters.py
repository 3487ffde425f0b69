"""A Dask cluster for tests."""

from __future__ import annotations

import atexit
import logging
from functools import cache

from distributed import LocalCluster


@cache
def a_cluster() -> str:
    """The address of a scheduler with two workers in this process, which is quick to start and ends with it."""
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=logging.CRITICAL)
    atexit.register(cluster.close)
    return str(cluster.scheduler_address)
