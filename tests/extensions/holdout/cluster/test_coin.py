"""The workers of a cluster toss the same coins as this process, in whatever parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dpsynth_core.extensions.cluster.dask_cluster import Cluster, DaskSource
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import opened
from dpsynth_core.sources.parts import Sizes
from dpsynth_core.sources.records import Records
from tests.extensions.cluster.clusters import a_cluster
from tests.extensions.holdout.test_coin import DOMAIN, KEY, Coin, many


def test_workers_leave_out_the_same_people(tmp_path: Path) -> None:
    table = pa.Table.from_pandas(many(), preserve_index=False)
    table = table.set_column(0, "person", pc.cast(table["person"], pa.string()))
    path, form = tmp_path / "people.parquet", TableFormat(kind="parquet")
    pq.write_table(table, path, row_group_size=100)
    there = DaskSource(DOMAIN, Records(opened(path, form), "person", 2, Sizes(1, 100, 1)), Cluster(a_cluster()))
    here = ArrowSource(DOMAIN, path, form, "person", 2)
    for out in (False, True):
        one = Coin(KEY, 30, out)
        found, wanted = (source.of_chosen(one).counts([("a", "b")])[("a", "b")] for source in (there, here))
        assert np.array_equal(found, wanted)
        assert wanted.sum() < here.counts([()])[()]
