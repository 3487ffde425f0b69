"""One release says one number of the mean of a column: in release.json, report, data card, Results, explore.html, notebook and `ask`."""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core import report
from dpsynth_core.evaluation import wall
from dpsynth_core.evaluation.questions.answer import answer
from dpsynth_core.evaluation.questions.light import CLOSELY, ROUGHLY
from dpsynth_core.evaluation.questions.question import Question, cell_values
from dpsynth_core.release import document
from dpsynth_core.release.release import Release
from dpsynth_core.report.answers import decimals
from dpsynth_core.report.asking import Answer, Asked, ask
from dpsynth_core.vocabulary.digits import rounded
from dpsynth_core.vocabulary.ranges import cut_to
from tests.refusals import refused
from tests.report.explorable import generated, of_means
from tests.report.test_notebook import unpacked

CUT = {"household_size": "of values cut to 1 … 9", "income": "of values cut to 0 … 60,000", "age": ""}


def stated(release: Release) -> Mapping[str, tuple[str, ...]]:
    """Of release.json: the mean, both ends of its interval and the rows' mean of each column, as they are printed."""
    written = json.loads(document.document(release))["means"]
    return {
        one["column"]: tuple(rounded(one[name], decimals(release.domain[one["column"]])) for name in ("value", "low95", "high95", "rows"))
        for one in written
    }


def asked(release: Release, column: str, **more: Any) -> Answer:
    answer = ask(release, Asked("mean", column, **more))
    assert isinstance(answer, Answer)
    return answer


def page_data(release: Release) -> Any:
    found = re.search(r'id="data">(.*?)<', report.parts(release)[report.EXPLORE].value.decode(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def printed(release: Release, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the notebook prints on its bundle."""
    monkeypatch.chdir(unpacked(release, folder))
    cells = json.loads((folder / report.NOTEBOOK).read_text(encoding="utf-8"))["cells"]
    out, space = io.StringIO(), dict[str, Any]()
    with contextlib.redirect_stdout(out):
        for cell in cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), space)
    return out.getvalue()


def assert_means_agree(release: Release, told: str) -> None:
    """Every place that states a mean of numbers states that of release.json, to the printed digit. told: what the notebook prints."""
    parts, page = report.parts(release), {one["name"]: one for one in page_data(release)["columns"]}
    for column, (value, low, high, rows) in stated(release).items():
        if cell_values(release.domain[column]) is None:
            continue
        cut = cut_to(release.domain[column])
        where = f"{column}, {cut}" if cut else column
        for name in (report.REPORT, report.CARD):
            text = parts[name].value.decode().replace("\\", "")
            assert f"{where}: {rows} in the rows; {value} among the people as measured, from {low} to {high}." in text
        short = report.column_in_short(release, column)
        assert short.startswith(f"The mean{cut and f', {cut},'} is {value} ({low} to {high} with 95%")
        said = str(asked(release, column))
        assert f"{value} for everybody" in said
        span = f"between {low} and {high}" if low != high else low
        assert f"The true number is {span}, with 95% confidence" in said
        assert f"mean of {where}" in said
        digits = page[column]["decimals"]
        assert tuple(rounded(page[column]["mean"][name], digits) for name in ("value", "low", "high", "rows")) == (value, low, high, rows)
        assert page[column]["mean_of"].rstrip(",") == where
        assert f"mean of {where}: {value}; true: between {low} and {high}, with 95 % confidence; in the rows: {rows}\n" in told


def test_all_places_say_the_same_number_to_the_printed_digit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = of_means()
    assert {column: cut_to(release.domain[column]) for column in stated(release)} == CUT
    assert_means_agree(release, printed(release, tmp_path, monkeypatch))


@pytest.mark.parametrize("seed", range(6))
def test_all_places_agree_on_releases_of_drawn_tables(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On means to the printed digit, and on shares: the page's bar is what the notebook says of the rows, and all intervals hold a number
    in common. The mean of a day is stated in report and data card alone, and how far apart two days in order are, nowhere."""
    release = generated(seed, tmp_path)
    told, parts = printed(release, tmp_path, monkeypatch), report.parts(release)
    texts = [parts[name].value.decode().replace("\\", "") for name in (report.REPORT, report.CARD)]
    assert len([column for column in stated(release) if cell_values(release.domain[column]) is not None]) == 3
    assert_means_agree(release, told)

    said = re.search(r"“.+” in (.+): ([\d.]+)%; true: between ([\d.]+)% and ([\d.]+)%, with 95 %", told)
    assert said is not None
    column, *numbers = said.groups()
    rows, low, high = (float(number) / 100 for number in numbers)
    bars = wall.bars(report.evidence(release), [column]).value
    assert bars["count"].iloc[0] / bars["count"].sum() == pytest.approx(rows, abs=0.001)
    of_core = answer(report.knowledge(release), Question("share", cells={column: (0,)})).stated
    assert of_core.low is not None
    assert of_core.high is not None
    assert max(low, of_core.low) <= min(high, of_core.high) + 0.001

    means = {one["column"]: one for one in json.loads(document.document(release))["means"]}
    for day in ("came", "went"):
        value = release.domain[day].scale.text(round(means[day]["value"]))
        for text in texts:
            assert re.search(rf"{day}, of values cut to 2020-01-01 … 2020-12-31: [-\d]+ in the rows; {value} among", text)
        refused(ask, release, Asked("mean", day), saying="its cells have no numbers")
        assert f"mean of {day}" not in told
        assert not report.column_in_short(release, day).startswith("The mean")
    verdict = report.quality_of(release).value.verdict
    assert verdict is not None
    assert "How far apart “came” and “went” are: " in " ".join(report.unfit_for(verdict))
    assert "not how far apart they are: “came” and “went”" in report.reasons(replace(verdict, private=True))


def test_a_mean_of_values_that_were_cut_says_so_and_is_never_known_closely() -> None:
    release = of_means()
    assert asked(release, "household_size").light == ROUGHLY
    assert asked(release, "age").light == CLOSELY
    for more in ({"among": {"sex": "female"}}, {}):
        assert "of values cut to 1 … 9" in str(asked(release, "household_size", **more))
        assert "cut" not in str(asked(release, "age", **more))
    parted = ask(release, Asked("mean", "income", by="sex"))
    assert "of values cut to 0 … 60,000" in str(parted)
    difference = ask(release, Asked("difference", "household_size", {"sex": "female"}, {"sex": "male"}))
    assert "of values cut to 1 … 9" in str(difference)
    assert [one["cut"] for one in page_data(release)["columns"]] == [True, True, False, False]
    quality = report.quality_of(release).value.verdict
    assert quality is not None
    fit = [line for line in report.fit_for(replace(quality, private=True)) if line.startswith("The mean of")]
    assert all(("household_size" not in line) or "of values cut to 1 … 9" in line for line in fit)
    assert fit


def test_a_mean_whose_interval_leaves_out_noise_inside_cells_is_never_known_closely() -> None:
    """That of a group, or of everybody where no mean was measured."""
    release = of_means()
    assert asked(release, "age", among={"sex": "female"}).light == ROUGHLY
    assert asked(replace(release, claims={**release.claims, "means": ()}), "age").light == ROUGHLY


def test_rows_that_are_off_do_not_change_what_was_measured() -> None:
    """The statement is of the people; a mean of the rows outside of its interval is said beside it, and widens nothing."""
    release = of_means()
    off = tuple(replace(one, rows=one.high95 + 1) for one in release.claims["means"])
    answer = asked(replace(release, claims={**release.claims, "means": off}), "age")
    assert (answer.low, answer.high) == (off[2].low95, off[2].high95)
    assert "In the synthetic rows" in str(answer)


def test_without_such_statements_answers_rest_on_noisy_counts() -> None:
    release = of_means()
    bare = replace(release, claims={**release.claims, "means": ()})
    answer = asked(bare, "household_size")
    assert "noisy counts" in str(answer)
    assert page_data(bare)["columns"][0]["mean"] is None
    assert isinstance(answer.value, float)
    assert answer.value == pytest.approx(release.claims["means"][0].value, abs=0.5)
