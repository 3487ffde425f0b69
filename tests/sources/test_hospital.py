"""A hospital's export as it comes out of a German Excel."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpsynth_core.sources.detect import public_format
from tests import hospital


def test_the_suggestion_is_how_a_german_export_is_written(tmp_path: Path) -> None:
    form = public_format(hospital.write_csv(tmp_path / "stays.csv"), "table")  # takes every clear suggestion
    assert (form.delimiter, form.decimal, form.date_format, form.encoding) == (";", ",", "dd.mm.yyyy", "cp1252")


def test_the_invented_stays_are_the_same_every_time() -> None:
    one, other = hospital.table(), hospital.table()
    assert one.equals(other)
    assert len(hospital.USABLE) == 26
    assert np.mean(one["patient"].duplicated()) > 0.2  # several stays of one patient
