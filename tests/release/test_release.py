"""What leaves the tool holds released values only, all of them, and opens elsewhere as it should."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsynth_core.claims.certificate import Certificate, Certified
from dpsynth_core.evaluation.bounds import Bound
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.release import document as releases
from dpsynth_core.release.release import Brand, Progress, Release
from dpsynth_core.release.rows import HeldRows
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.measurement import Measurement
from tests.refusals import refused
from tests.row_files import parquet_of
from tests.specs import usual

CERTIFIED = Certified(("a", "b"), error=-0.1, likely=0.02, low95=0.0, bound95=0.2, simultaneous95=0.3)


@pytest.fixture
def release() -> Release:
    spec = usual(
        {"kind": "csv", "path": "/home/ann/people.csv"}, {"a": 2, "b": 3}, mechanism="independent",
        unit={"relation": "replace", "max_rows_per_person": 1},
    )
    taken = Measurement(("a", "b"), np.array([[1.0, -2.0, 3.0], [4.0, 5.5, 6.0]]), 2.5)
    codes = np.array([[0, 2], [1, 1], [1, 0]], dtype=np.int32)
    return Release(
        plan=Plan.of(Spec.from_json(spec)),
        codes=codes,
        values=HeldRows(pa.table({"a": ["x", None, "=1+1"], "b": pa.array([2, 1, -7], pa.int64())})),
        total=3.0,
        measurements=(taken,),
        history=(Progress("phase", message="start"), Progress("measured", 1, ("a", "b"), 2.5, 0.01, 0.5)),
        charges=(Gaussian(2.5, 1.0),),
        rho=0.1,
        rho_spent=0.08,
        private=True,
        statement="words",
        brands=(Brand("budget", "careful"),),
        row_policy="as asked",
        details={"rounds": np.int64(3), "share": np.float64(0.5), "sizes": np.array([1, 2])},
        versions={"python": "3.11"},
        created="2024-01-01",
        bounds={("a", "b"): Bound("supported", 0.5, 0.25), ("a",): Bound("unbounded", math.inf, math.inf)},
        claims={
            "certificate": Certificate(
                of="rows",
                marginals=(CERTIFIED,),
                mean_error=-0.1,
                mean_bound95=0.1,
                total=Total(3.0, 1.0),
                sigma=2.0,
                rho=0.01,
                max_error=0.2,
                max_bound95=0.4,
                max_sigma=3.0,
            ),
            "models": (),
            "means": (),
            "criteria": (),
            "ranges": None,
            "weighted": None,
        },
        row_seed=7,
        ledger={"population": "people", "entry": 2},
    )


def as_json(release: Release) -> dict[str, object]:
    return json.loads(releases.document(release))


def test_what_is_saved_is_loaded_again(release: Release, tmp_path: Path) -> None:
    releases.save(release, tmp_path)
    loaded = releases.load(tmp_path)
    assert as_json(loaded) == as_json(release)
    np.testing.assert_array_equal(loaded.codes, release.codes)
    assert loaded.codes.dtype == np.int32
    assert loaded.table.equals(release.table)
    assert loaded.measurements[0].clique == ("a", "b")
    np.testing.assert_array_equal(loaded.measurements[0].values, release.measurements[0].values)


def test_answers_without_rows_are_saved_and_loaded_too(release: Release, tmp_path: Path) -> None:
    answers = replace(release, codes=None, values=None)
    releases.save(answers, tmp_path)
    assert releases.load(tmp_path).codes is None
    assert releases.load(tmp_path).rows == 0
    assert releases.row_writers(answers) == {}


def test_measured_cells_are_flat_in_c_order(release: Release) -> None:
    assert as_json(release)["measurements"] == [{"attributes": ["a", "b"], "sigma": 2.5, "values": [1.0, -2.0, 3.0, 4.0, 5.5, 6.0]}]


def test_a_measurement_with_correlated_noise_keeps_its_spread(release: Release, tmp_path: Path) -> None:
    total = Measurement((), np.array(5.25), 2.0, 3.0)
    answers = replace(release, measurements=(total, *release.measurements))
    assert as_json(answers)["measurements"][0] == {"attributes": [], "sigma": 2.0, "spread": 3.0, "values": [5.25]}
    releases.save(answers, tmp_path)
    assert [m.spread for m in releases.load(tmp_path).measurements] == [3.0, None]
    assert releases.load(tmp_path).measurements[0].values.shape == ()


def test_whole_noisy_counts_are_written_as_integers(release: Release) -> None:
    whole = replace(release, measurements=(Measurement(("a",), np.array([-3.0, 1e15]), 1.0),))
    assert as_json(whole)["measurements"][0]["values"] == [-3, 10**15]
    assert b".0" not in json.dumps(as_json(whole)["measurements"][0]["values"]).encode()


def test_the_document_says_all_that_was_promised(release: Release) -> None:
    stored = as_json(release)
    assert stored["budget"] == {
        "epsilon": 1.0,
        "delta": 1e-9,
        "relation": "replace",
        "max_rows_per_person": 1,
        "accountant": "GDP",
        "rho": 0.1,
        "rho_spent": 0.08,
    }
    assert stored["charges"] == [{"operation": "Gaussian", "sigma": 2.5, "l2": 1.0, "rho": 0.08}]
    assert stored["brands"] == [{"code": "budget", "sentence": "careful"}]
    assert stored["rows"] == {"count": 3, "policy": "as asked", "estimated_total": 3.0, "seed": 7, "tables": 1}
    assert stored["history"][1]["attributes"] == ["a", "b"]
    assert stored["details"] == {"rounds": 3, "share": 0.5, "sizes": [1, 2]}
    assert {"private", "statement", "spec", "spec_sha256", "versions", "ledger", "created", "format"} <= stored.keys()


def test_the_document_has_one_line_for_each_measurement(release: Release) -> None:
    lines = releases.document(replace(release, measurements=release.measurements * 3)).decode().splitlines()
    assert sum('"sigma": 2.5, "values"' in line for line in lines) == 3


def test_the_document_is_strict_json(release: Release) -> None:
    refused(releases.document, replace(release, total=float("nan")), kind=ValueError, saying="JSON")
    refused(releases.document, replace(release, details={"x": object()}), kind=TypeError, saying="no place in a release")


def test_the_csv_opens_in_pandas_with_columns_types_and_labels() -> None:
    table = pa.table(
        {
            "n": pa.array([1, 2], pa.int64()),
            "x": [0.25, 1e-9],
            'he said "hi", twice': ["a,b", 'line\nbreak "q"'],
            "flag": [True, False],
            "empty": pa.array([None, "é <script>"]),
        }
    )
    frame = pd.read_csv(io.BytesIO(releases.content_of(HeldRows(table), releases.write_csv)))
    assert list(frame.columns) == table.column_names
    assert frame["n"].dtype == "int64"
    assert frame["flag"].dtype == "bool"
    assert frame["x"].tolist() == [0.25, 1e-9]
    assert frame.iloc[:, 2].tolist() == ["a,b", 'line\nbreak "q"']
    assert frame["empty"].isna().tolist() == [True, False]
    assert frame["empty"][1] == "é <script>"


FORMULAS = ["=HYPERLINK(1)", "+1", "-2+3", "@SUM(A1)", "\tx", "\rx", "\nx", "\uff1d1", "\uff0b1", "\uff0d1", "\uff20A1"]


def test_a_csv_for_spreadsheets_runs_no_formula_and_keeps_numbers() -> None:
    table = pa.table({"=evil()": FORMULAS, "n": [-1, -2, *range(9)], "t": ["a=b", "1-2", "", None, "é", "'", *"uvwxy"]})
    frame = pd.read_csv(io.BytesIO(releases.csv_bytes(table)), keep_default_na=False)
    assert list(frame.columns) == ["'=evil()", "n", "t"]
    assert frame.iloc[:, 0].tolist() == [f"'{formula}" for formula in FORMULAS]
    assert frame["n"].tolist() == [-1, -2, *range(9)]
    assert frame["t"].tolist() == ["a=b", "1-2", "", "", "é", "'", *"uvwxy"]


def test_a_csv_for_programs_is_left_as_it_is() -> None:
    table = pa.table({"t": FORMULAS})
    frame = pd.read_csv(io.BytesIO(releases.content_of(HeldRows(table), releases.write_csv)))
    assert frame["t"].tolist() == FORMULAS


def test_parquet_keeps_types(release: Release) -> None:
    assert pq.read_table(io.BytesIO(parquet_of(release))).equals(release.table)


def test_write_leaves_the_document_and_nothing_else(release: Release, tmp_path: Path) -> None:
    (tmp_path / "release.json").write_text("old")
    releases.write_document(release, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["release.json"]
    assert json.loads((tmp_path / "release.json").read_text()) == as_json(release)


def test_what_a_notebook_or_a_traceback_prints_names_no_path_and_no_people(release: Release) -> None:
    assert repr(release.plan) == "Plan(Independent, epsilon 1, 2 columns)"
    assert repr(release) == "Release(Plan(Independent, epsilon 1, 2 columns), 3 rows)"
    for text in (repr(release.spec), str(release.spec), repr(release.spec.data), f"{[release]}"):
        assert "people" not in text
        assert "ann" not in text
