"""Code that runs on dummy rows runs on a release of the same plan: the columns, types and values are of the same kinds."""

from __future__ import annotations

import io

import pandas as pd
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dpsynth_core.extensions.dummy.document import writers
from dpsynth_core.extensions.dummy.drawing import drawn
from dpsynth_core.extensions.dummy.order import Order
from dpsynth_core.interface.frames import pandas_of
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import document as releases
from dpsynth_core.release.release import Release
from dpsynth_core.sources.decoding import strays
from dpsynth_core.vocabulary.domain import Domain
from tests.domains import domains
from tests.releases import run
from tests.specs import usual
from tests.tiers import examples

DOMAINS = 20


def released(domain: Domain, seed: int) -> Release:
    """A release of people who are invented over the domain."""
    data = {"kind": "standin", "standin": {"rows": 300, "strength": 0.5, "seed": seed}}
    budget = {"epsilon": 1.0, "delta": 1e-9, "certificate": 0.0}
    spec = usual(data, domain.to_json(), k=1, budget=budget, mechanism="independent", output={"rows": 150})
    return run(Spec.from_json(spec))


def analysis(frame: pd.DataFrame) -> dict[str, object]:
    """Code as people write it on rows whose columns they know; of its results, the forms."""
    forms: dict[str, object] = {}
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            forms[name] = ("number", float(column.astype("float64").mean()) is not None, len(pd.cut(column.astype("float64"), 3)))
        elif pd.api.types.is_datetime64_any_dtype(column):
            forms[name] = ("time", column.dt.year.dropna().between(1, 9999).all())
        elif pd.api.types.is_timedelta64_dtype(column):
            forms[name] = ("duration", column.dt.days.notna().any())
        else:
            forms[name] = ("value", column.value_counts().ge(0).all(), len(frame.groupby(name, dropna=False).size()) > 0)
    return forms


@examples(DOMAINS, suppress_health_check=(HealthCheck.too_slow,))
@given(domain=domains(most=4), seed=st.integers(0, 1_000))
def test_dummy_rows_have_the_columns_types_and_values_of_a_release(domain: Domain, seed: int) -> None:
    order = Order.of({"domain": domain.to_json(), "rows": 150, "seed": seed})
    files: dict[str, bytes] = {}
    for name, write in writers(order, drawn(order)).items():
        stream = io.BytesIO()
        write(stream)
        files[name] = stream.getvalue()
    release = released(domain, seed)
    ours, table = pq.read_table(io.BytesIO(files["dummy.parquet"])), release.table
    assert table is not None
    assert ours.schema.equals(table.schema)
    fields = [dict(field.metadata or {}) for field in ours.schema]
    assert fields == [dict(field.metadata or {}) for field in release.about.described(table.schema, release.domain)]
    assert strays(domain, ours) == strays(domain, table) == []
    first, second = (io.BytesIO(content) for content in (files["dummy.csv"], releases.content_of(release.values, releases.write_csv)))  # type: ignore[arg-type]
    assert first.readline() == second.readline()
    assert analysis(pandas_of(ours)) == analysis(pandas_of(table))
