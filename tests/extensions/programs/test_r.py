"""analysis.R runs on a bundle of each kind: its numbers are those of `Release.ask`, and rows come out as they went in."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core.extensions.programs.layout import empty_code
from dpsynth_core.vocabulary.attribute import Attribute
from tests.extensions.programs.examples import EXAMPLES, bundle
from tests.extensions.programs.rscript import run_r

ROUNDED = 1e-9
"""What 12 written digits and two programs that add up the same numbers may differ by, relative to the larger number."""


def unpacked(kind: str, place: Path) -> Path:
    with zipfile.ZipFile(BytesIO(bundle(kind))) as archive:
        archive.extractall(place)
    return place


def released(kind: str, place: Path, **environment: str) -> pd.DataFrame:
    """What analysis.R calls `released`."""
    written = 'write.csv(released, "released.csv", row.names = FALSE, na = "", fileEncoding = "UTF-8")'
    run_r(f'source("analysis.R"); {written}', unpacked(kind, place), **environment)
    return pd.read_csv(place / "released.csv", keep_default_na=False, dtype=str)


def number(text: str) -> float | None:
    return float(text) if text else None


def column_of(release: dps.Release, name: str) -> Attribute:
    link = release.made.plan.link
    domains = [release.made.domain] if link is None else [link.households, link.members]
    return next(domain[name] for domain in domains if name in domain)


def asked(release: dps.Release, line: Any) -> Any:
    """The answer of `Release.ask` that a line of `released` must equal."""
    weighted = line.weighted == "TRUE"
    if line.statistic == "mean":
        return release.ask("mean", of=line.column, weighted=weighted)
    column = column_of(release, line.column)
    value = None if line.cell == "missing" and column.missing else line.cell
    return release.ask("share", of={line.column: value}, weighted=weighted)


@pytest.mark.slow
@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_numbers_are_those_of_ask(kind: str, tmp_path: Path) -> None:
    lines, release = released(kind, tmp_path), dps.open(bundle(kind))
    assert set(lines["statistic"]) == ({"share"} if kind == "survey" else {"share", "mean"})
    for line in lines.itertuples():
        answer = asked(release, line)
        assert line.known == answer.kind
        for stated, expected in ((line.value, answer.value), (line.low, answer.low), (line.high, answer.high)):
            assert number(stated) == (None if expected is None else pytest.approx(expected, rel=ROUNDED, abs=ROUNDED)), line


@pytest.mark.slow
@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_same_numbers_are_counted_in_the_rows(kind: str, tmp_path: Path) -> None:
    lines, release = released(kind, tmp_path), dps.open(bundle(kind))
    for line in lines.itertuples():
        each = [counted(release, tmp_path / name, line) for name in rows_of(tmp_path, line.table)]
        assert float(line.in_rows) == pytest.approx(np.mean(each), rel=ROUNDED, abs=ROUNDED), line
        assert number(line.spread) == (pytest.approx(np.std(each, ddof=1), abs=ROUNDED) if len(each) > 1 else None)


def rows_of(place: Path, table: str) -> list[str]:
    return [table, *sorted(path.name for path in place.glob("synthetic-*.csv"))] if table == "synthetic.csv" else [table]


def counted(release: dps.Release, path: Path, line: Any) -> float:
    """The share or the mean in a file of rows, by the codes of the project's own codec."""
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    column, texts = column_of(release, line.column), rows[line.column]
    weights = rows["w_calibrated"].astype(float) if line.weighted == "TRUE" else pd.Series(1.0, index=rows.index)
    if line.statistic == "mean":
        values = pd.to_numeric(texts)
        return float((values * weights).sum() / weights[values.notna()].sum())
    code = column.cell_labels().index(line.cell)
    if code == empty_code(column):
        inside = texts == ""
    elif code >= column.values:
        inside = texts == (column.other_text if column.dtype == "string" and column.is_listed else "no such value")
    elif column.is_number:
        numbers = texts.map(lambda text: np.nan if text == "" else on_scale(column, text))
        last = code == column.values - 1
        inside = (numbers >= column.edges[code]) & ((numbers <= column.edges[code + 1]) if last else (numbers < column.edges[code + 1]))
    elif column.is_coded:
        inside = texts == str(code)
    else:
        inside = pd.to_numeric(texts) == float(column.categories[code]) if "64" in column.dtype else texts == column.categories[code]
    return float(weights[inside].sum() / weights.sum())


def on_scale(column: Attribute, text: str) -> float:
    return float(column.scale.number(column.scale.typed(column.name, float(text) if column.kind in ("integer", "numeric") else text)))


@pytest.mark.slow
def test_rows_have_their_types_labels_and_levels_in_order(tmp_path: Path) -> None:
    place = unpacked("kinds", tmp_path)
    code = """
    source("analysis.R")
    about <- function(x) list(class = class(x), levels = levels(x), label = attr(x, "label"), missing = sum(is.na(x)))
    cat("\\n=>", jsonish(lapply(rows, about)), "\\n")
    """
    jsonish = """
    jsonish <- function(x) {
      quoted <- function(x) paste0("[", paste(encodeString(x, quote = "\\""), collapse = ", "), "]")
      paste0("{", paste(vapply(names(x), function(name) paste0(encodeString(name, quote = "\\""),
        ": {\\"class\\": ", quoted(x[[name]]$class),
        ", \\"levels\\": ", quoted(as.character(x[[name]]$levels)), ", \\"label\\": ", quoted(as.character(x[[name]]$label)),
        ", \\"missing\\": ", x[[name]]$missing, "}"), ""), collapse = ", "), "}")
    }
    """
    said = json.loads(run_r(jsonish + code, place).split("\n=> ")[1].replace("\\a", "\\u0007"))
    rows = pd.read_csv(place / "synthetic.csv", dtype=str, keep_default_na=False)
    assert list(said) == list(rows.columns)
    assert {name: one["missing"] for name, one in said.items()} == (rows == "").sum().to_dict()
    assert said["sex"]["levels"] == ["female", "male"]
    assert said["health"]["levels"] == ["good", "other"]
    assert (said["code"]["class"], said["code"]["levels"]) == (["ordered", "factor"], ["poor", "best"])
    assert said["born"]["class"] == ["Date"]
    assert said["seen"]["class"] == ["POSIXct", "POSIXt"]
    assert said["age"]["class"] == ["numeric"]
    assert said['pay <&"']["label"] == ["Pay,\x07 <b>"]
    assert said["person"]["class"] == ["character"]


@pytest.mark.slow
def test_it_runs_where_the_locale_has_ascii_alone(tmp_path: Path) -> None:
    assert released("people", tmp_path / "c", LC_ALL="C").equals(released("people", tmp_path / "utf8"))


@pytest.mark.slow
def test_a_file_of_other_rows_is_refused(tmp_path: Path) -> None:
    place = unpacked("people", tmp_path)
    (place / "synthetic.csv").write_text('"sex","age"\n"female",3\n')
    said = run_r('cat(conditionMessage(tryCatch(source("analysis.R"), error = identity)))', place)
    assert said == "the file synthetic.csv has other columns than this release"
