"""User-missing codes of a file of SPSS survive in every program, and from a file of SPSS to the next."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

import dpsynth_core as dps
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.files import declared_domain
from dpsynth_core.vocabulary.domain import Domain
from tests.bundle.bundles import files
from tests.extensions.programs.examples import bundle
from tests.extensions.programs.rscript import run_r
from tests.extensions.programs.test_others import MISSING
from tests.extensions.programs.test_r import unpacked
from tests.extensions.survey_files.programs.examples import survey_file
from tests.row_files import row_file


def test_stata_and_sas_have_codes_of_their_own_for_user_missing_answers() -> None:
    held = files(bundle("survey"))
    stata, sas = held["analysis.do"].decode(), held["rows.sas"].decode()
    for code, raw, label in ((".a", "8", '"don" + char(39) + "t know"'), (".b", "9", '"refused"')):
        assert f"replace trust = {code} if real(dp_raw1) == {raw}\n" in stata
        assert f'mata: st_vlmodify("trust", {code}, {label})\n' in stata
    assert "  if trust = 8 then trust = .A;\n  if trust = 9 then trust = .B;\n" in sas
    assert "    .B = 'refused'\n" in sas


def test_user_missing_codes_survive_from_a_file_of_spss_to_the_next(tmp_path: Path) -> None:
    release = dps.open(bundle("survey")).made
    content = row_file("sav", release.table, release.domain)
    (tmp_path / "rows.sav").write_bytes(content)
    _, before = pyreadstat.read_sav(survey_file(tmp_path), user_missing=True)
    frame, after = pyreadstat.read_sav(tmp_path / "rows.sav", user_missing=True)
    assert after.missing_ranges == before.missing_ranges == MISSING
    assert after.variable_value_labels == before.variable_value_labels
    assert (frame["trust"] == 9.0).sum() == (pd.to_numeric(pd.Series(release.table["trust"].to_pylist())) == 9).sum() > 0
    again = Domain.from_json(declared_domain(tmp_path / "rows.sav", default_format(tmp_path / "rows.sav")))
    expected = [("8", "9"), ("95", "96", "97", "98"), ("ref", "dk")]
    assert [one.user_missing for one in again] == [one.user_missing for one in release.domain] == expected


@pytest.mark.slow
def test_user_missing_codes_are_levels_that_can_be_left_out_and_survive_in_haven(tmp_path: Path) -> None:
    place = unpacked("survey", tmp_path)
    code = """
    source("analysis.R")
    answers <- without_user_missing(rows$trust)
    cat("\n=>", attr(rows$trust, "user_missing"), is.ordered(answers), levels(answers), sum(is.na(answers)), sep = "|")
    haven::write_sav(labelled(1), "rows.sav")
    """
    said = run_r(code, place).split("\n=>|")[1].split("|")
    rows = pd.read_csv(place / "synthetic.csv", dtype=str, keep_default_na=False)
    missing = rows["trust"].isin(["8", "9", ""]).sum()
    assert said == ["don't know", "refused", "TRUE", "not at all", "a little", "fully", str(missing)]
    frame, meta = pyreadstat.read_sav(place / "rows.sav", user_missing=True)
    assert meta.missing_ranges["trust"] == [{"lo": 8.0, "hi": 8.0}, {"lo": 9.0, "hi": 9.0}]
    assert meta.missing_ranges["party"] == [{"lo": 95.0, "hi": 98.0}]
    assert meta.missing_ranges["word"] == [{"lo": "ref", "hi": "ref"}, {"lo": "dk", "hi": "dk"}]
    assert meta.variable_value_labels["trust"][9.0] == "refused"
    assert meta.column_names_to_labels["trust"] == 'How far do you trust "them"?'
    assert frame["trust"].value_counts().to_dict() == pd.to_numeric(rows["trust"]).value_counts().to_dict()
