"""Rows in every format, out and in again: values, types, days and labels stay; the same rows give the same bytes."""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from dpsynth_core.release import row_files
from dpsynth_core.release.row_formats import FORMATS, chosen
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.decoding import decode
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.kinds.registry import KINDS, LEARNABLE
from tests.additions import listed
from tests.domains import attributes
from tests.refusals import refused
from tests.row_files import ABOUT, READABLE, row_file
from tests.tiers import examples

LABELLED = Domain.from_json(
    {
        "version": 1,
        "attributes": [
            {"name": "sex", "kind": "categorical", "dtype": "int64", "categories": ["1", "2"], "labels": ["männlich", "weiblich"],
             "label": "Geschlecht der Person", "missing": True, "other": False},
            {"name": "region", "kind": "categorical", "categories": ["n", "s"], "labels": ["north", "south"], "other": True},
            {"name": "smokes", "kind": "categorical", "dtype": "bool", "categories": ["false", "true"], "missing": False, "other": False},
            {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "label": "Age in years", "missing": True},
            {"name": "pay", "kind": "numeric", "lower": 0.0, "upper": 10.0, "decimals": 2, "missing": True},
            {"name": "born", "kind": "date", "lower": "1900-03-01", "upper": "2030-12-31", "missing": True},
        ],
    }
)  # fmt: skip


def rows(domain: Domain, count: int = 60, seed: int = 3) -> tuple[np.ndarray, pa.Table]:
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, a.size, count) for a in domain]).astype(np.int32)
    return codes, decode(domain, codes, rng)


def cells(table: pa.Table, domain: Domain) -> np.ndarray:
    codes = encode(domain, table, Notation())
    return np.column_stack([codes[name] for name in domain.names])


def read_back(path: Path, domain: Domain) -> np.ndarray:
    """The cells of what a file says; columns by their place, because names may have changed."""
    form = default_format(path)
    opened(path, form).check()
    names = opened(path, form).column_names()[-len(domain.names) :]  # behind a column that says what the rows are
    table = pa.Table.from_batches(opened(path, form).batches(names)).rename_columns(list(domain.names))
    codes = encode(domain, table, form.notation)
    return np.column_stack([codes[name] for name in domain.names])


@pytest.mark.parametrize("name", READABLE)
def test_rows_come_back_with_their_values(tmp_path: Path, name: str) -> None:
    _, table = rows(LABELLED)
    path = tmp_path / f"rows{FORMATS[name].ending}"
    path.write_bytes(row_file(name, table, LABELLED))
    assert np.array_equal(read_back(path, LABELLED), cells(table, LABELLED))


OF_ALL_KINDS = [name for name in READABLE if not FORMATS[name].ending.endswith(".csv")]


@examples(25, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(attribute=attributes(), name=st.sampled_from(OF_ALL_KINDS), seed=st.integers(0, 99))
def test_every_kind_of_column_comes_back_from_every_format(tmp_path: Path, attribute: Attribute, name: str, seed: int) -> None:
    """Beside a column that is never blank, because a blank row of a workbook is none."""
    domain = Domain((Attribute.coded("place", 3), attribute)) if attribute.name != "place" else Domain((attribute,))
    _, table = rows(domain, 20, seed)
    assume(attribute.precision != "microsecond" or name in ("parquet", "feather", "jsonl"))  # the others know milliseconds
    path = tmp_path / f"rows{FORMATS[name].ending}"
    path.write_bytes(row_file(name, table, domain))
    assert np.array_equal(read_back(path, domain), cells(table, domain))


def checked_to_say_what_it_is(text: str) -> None:
    """A file with this description says that its rows are synthetic, of which plan and budget, and under which licence."""
    assert "nobody in them is a real person" in text
    assert "epsilon 1, delta 1e-09" in text
    assert ABOUT.seal[:32] in text
    assert "Licence: CC-BY-4.0" in text


@pytest.mark.parametrize("name", ["feather", "parquet"])
def test_a_file_that_lost_its_bundle_says_what_it_is(tmp_path: Path, name: str) -> None:
    """CSV and JSON lines have no place for it."""
    (tmp_path / "rows").write_bytes(row_file(name, rows(LABELLED)[1], LABELLED))
    schema = pa.ipc.open_file(tmp_path / "rows").schema if name == "feather" else pq.read_schema(tmp_path / "rows")
    checked_to_say_what_it_is(schema.metadata[b"description"].decode())
    assert schema.metadata[b"title"].decode() == ABOUT.label
    assert schema.field("age").metadata[b"label"] == b"Age in years"
    assert json.loads(schema.field("sex").metadata[b"value_labels"]) == {"1": "männlich", "2": "weiblich"}
    assert len(ABOUT.label) <= 40
    assert max(map(len, ABOUT.lines)) <= 80


def test_pandas_finds_in_parquet_what_the_rows_are(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_bytes(row_file("parquet", rows(LABELLED)[1], LABELLED))
    said = pd.read_parquet(tmp_path / "rows.parquet").attrs
    assert (said["synthetic"], said["plan_sha256"], said["epsilon"], said["delta"]) == (True, ABOUT.seal, 1.0, 1e-9)
    assert said["labels"]["sex"] == "Geschlecht der Person"
    assert said["value_labels"]["region"] == {"n": "north", "s": "south"}


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_rows_give_the_same_bytes_whenever_they_are_written(name: str) -> None:
    _, table = rows(LABELLED)
    first = row_file(name, table, LABELLED)
    time.sleep(1.05 if name in listed("IN_ONE_STEP") else 0)  # formats that tell the time tell seconds
    assert row_file(name, table, LABELLED) == first


def columns(*entries: dict[str, Any]) -> Domain:
    return Domain.from_json({"version": 1, "attributes": [dict(LISTED), *entries]})


LISTED = {"name": "place", "kind": "categorical", "categories": ["p", "q"], "missing": False, "other": False}
WORDS = ("ALL", "and", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "Or", "TO", "WITH")
WORDS_OF_STATA = ("if", "in", "int", "byte", "str5", "strL", "using", "class", "export", "long")
NUMBER = {"name": "y", "kind": "numeric", "bins": 3}
STRANGE = {
    "words that SPSS and Stata reserve": columns(*({**LISTED, "name": one, "label": f"about {one}"} for one in (*WORDS, *WORDS_OF_STATA))),
    "names that are cut alike": columns(*({**LISTED, "name": name} for name in ("n" * 300 + "a", "n" * 300 + "b", "N" * 300 + "a"))),
    "letters of four bytes": columns(
        {"name": "\U0001f600" * 100, "kind": "categorical", "categories": ["\U0001f600", "\u00e9" * 300],
         "labels": ["\U0001f600" * 400, "\U0001f600" * 400 + "b"], "label": "\U0001f600" * 500}),
    "labels of 32,000 letters": columns(
        {**LISTED, "name": "x", "labels": ["L" * 32_000, "L" * 31_999 + "M"], "label": "Q" * 2000},
        {**LISTED, "name": "y", "dtype": "int64", "categories": ["1", "2"], "labels": ["L" * 40_000, "L" * 39_999 + "M"]}),
    "control characters in labels": columns({**LISTED, "name": "a\tb", "labels": ["\x02", "\x03"], "label": "a\x1bb"}),
    "codes that Stata has no labels for": columns(
        {**LISTED, "name": "x", "dtype": "int64", "categories": ["4000000001", "-2147483648", "2147483621", "7"], "labels": list("ABCD")},
        {**LISTED, "name": "y", "dtype": "int64", "categories": ["9007199254740991", "-9007199254740991"], "labels": list("AB")}),
    "days before 1900": columns({"name": "y", "kind": "date", "lower": "1850-01-01", "upper": "1949-12-31", "width": "10 years"}),
    "all days there are": columns({"name": "y", "kind": "date", "lower": "0001-01-01", "upper": "9998-12-31", "bins": 5}),
    "times before 1900": columns({"name": "y", "kind": "timestamp", "lower": "1850-01-01", "upper": "1949-12-31", "bins": 4}),
    "negative durations": columns({"name": "y", "kind": "duration", "lower": "-100:00:00", "upper": "900:00:00", "bins": 3}),
    "one truth value": columns({**LISTED, "name": "x", "dtype": "bool", "categories": ["true"], "labels": ["yes"]}),
    "formulas": columns({**LISTED, "name": "=1+1", "categories": ["=1+1", "+1", "-1", "@x"], "labels": ["=a", "+b", "-c", "@d"]}),
    "large and small numbers": columns({**NUMBER, "lower": -1e70, "upper": 1e70}, {**NUMBER, "name": "z", "lower": 0, "upper": 1e-70}),
    "kinds that are all missing": columns(
        {"name": "a", "kind": "date", "lower": "2000-01-01", "upper": "2001-01-01"},
        {"name": "b", "kind": "timestamp", "lower": "2000-01-01", "upper": "2001-01-01"},
        {"name": "c", "kind": "duration", "lower": "00:00", "upper": "23:00"},
        {"name": "d", "kind": "categorical", "dtype": "int64", "categories": ["1"], "labels": ["A"]},
        {"name": "e", "kind": "categorical", "dtype": "bool", "categories": ["true"]},
        {"name": "f", "kind": "categorical", "categories": ["a"], "labels": ["A"]}),
}  # fmt: skip


@pytest.mark.parametrize("name", READABLE)
@pytest.mark.parametrize("case", STRANGE)
def test_strange_but_valid_columns_come_back_from_every_format(tmp_path: Path, case: str, name: str) -> None:
    domain = STRANGE[case]
    row_files.check(domain, ABOUT, [name])
    rng = np.random.default_rng(3)
    codes = np.column_stack([rng.integers(0, a.size, 40) for a in domain]).astype(np.int32)
    if case == "kinds that are all missing":
        codes = np.column_stack([np.full(40, a.missing_code or 0) for a in domain]).astype(np.int32)
    table = decode(domain, codes, rng)
    path = tmp_path / f"rows{FORMATS[name].ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.InvalidColumnName)
        path.write_bytes(row_file(name, table, domain))
    assert np.array_equal(read_back(path, domain), cells(table, domain))


@pytest.mark.parametrize("kind", [kind.name for kind in KINDS.values() if kind.name in LEARNABLE])
@pytest.mark.parametrize("name", FORMATS)
def test_values_that_are_to_be_learnt_are_no_reason_to_refuse(kind: str, name: str) -> None:
    level = {"level": 2} if kind == "hierarchical" else {}
    row_files.check(columns({"name": "x", "kind": kind, "discover": True, **level}), ABOUT, [name])


def test_the_column_that_a_library_fails_for_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = FORMATS["feather"].write

    def failing(table: Any, domain: Domain, *others: Any) -> None:
        if "c" in domain.column_names:
            raise OverflowError("of the library")
        real(table, domain, *others)

    monkeypatch.setitem(FORMATS, "feather", replace(FORMATS["feather"], write=failing))  # type: ignore[index]  # a dict, of which no code but this knows
    domain = columns({**LISTED, "name": "b"}, {**LISTED, "name": "c"})
    refused(row_files.check, domain, ABOUT, ["feather"], saying="column 'c': a file for Feather cannot hold this column")
    row_files.check(domain, ABOUT, ["csv", "jsonl"])


def test_formats_are_chosen_by_name() -> None:
    assert chosen("csv, PARQUET,csv") == ("csv", "parquet")
    for text in ("", "docx", "csv,,jsonl"):
        refused(chosen, text, saying="--format")
