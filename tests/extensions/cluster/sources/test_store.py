"""Workers of a cluster read tables of an object store by their addresses."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.cluster.dask_cluster import Cluster, DaskSource
from dpsynth_core.sources import opening
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.records import Records
from tests.extensions.cluster.clusters import a_cluster
from tests.sources.test_locations import DOMAIN, MANY, NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_table_in_a_store_counts_as_on_disk(bucket: str, expected: np.ndarray, name: str) -> None:
    table = opening.opened(f"{bucket}/{name}", default_format(f"{bucket}/{name}"))
    table.check()
    counts = DaskSource(DOMAIN, Records(table, "who", 2, MANY), Cluster(a_cluster())).counts([("a", "b")])
    assert np.array_equal(counts[("a", "b")], expected)
