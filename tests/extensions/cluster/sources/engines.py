"""A Dask cluster as an engine. For `tests/sources/engines.py`."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpsynth_core.extensions.cluster.dask_cluster import Cluster, DaskSource
from dpsynth_core.sources.opening import opened
from dpsynth_core.sources.records import Records
from dpsynth_core.sources.source import MarginalSource
from dpsynth_core.vocabulary.domain import Domain
from tests.extensions.cluster.clusters import a_cluster
from tests.sources.engines import MANY, PARQUET, Engine, cut_off


def on_dask(folder: Path, records: pa.Table, domain: Domain, person: str | None, rows: int) -> MarginalSource:
    path = folder / "records.parquet"
    pq.write_table(records, path, row_group_size=max(2, len(records) // 4))
    return DaskSource(domain, Records(opened(path, PARQUET), person, rows, MANY), Cluster(a_cluster()))


ENGINES: dict[str, Engine] = {"dask": Engine(on_dask, cut_off)}
