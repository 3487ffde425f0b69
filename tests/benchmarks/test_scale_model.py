"""The cost model of counting finds the constants of counts that follow it, and the benchmark's table is what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from benchmarks import counting
from benchmarks.scale_model import Model, fit
from dpsynth_core.sources.arrow import ArrowSource


def test_the_model_of_exact_times_is_exact() -> None:
    true = Model(0.5, 3e-8, 2e-9)
    counts = [
        {"engine": engine, "rows": rows, "blocks": blocks, "processor": true.processor(rows, blocks, processes)}
        for rows in (10**6, 10**7)
        for blocks in (15, 65)
        for engine, processes in (("arrow", 1), ("dask 1", 2), ("dask 2", 3))
    ]
    fitted = fit(counts)
    assert (fitted.start, fitted.row, fitted.block) == pytest.approx((true.start, true.row, true.block), rel=1e-6)


def test_the_people_of_the_benchmark_are_the_same_in_both_files(tmp_path: Path) -> None:
    paths = counting.people(tmp_path, 2000)
    domain = counting.people_domain()
    assert pq.read_table(paths["parquet"]).num_rows == pacsv.read_csv(paths["csv"]).num_rows == 2000
    clique = domain.names[:3]
    parquet, csv = (ArrowSource(domain, paths[kind], form).counts([clique])[clique] for kind, form in counting.FORMS.items())
    assert np.array_equal(parquet, csv)
    assert parquet.sum() == 2000
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".json") == ["people-2000.csv", "people-2000.parquet"]
