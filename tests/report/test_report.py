"""The report says what the release says, to people, whatever its names and values try."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from unittest.mock import Mock
from weakref import ref

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from dpsynth_core import report
from dpsynth_core.evaluation.quality import pair_map
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.release.release import Release
from dpsynth_core.release.synthesis import open_source, plan, synthesize
from dpsynth_core.report import table_files
from dpsynth_core.report.facts import byline
from dpsynth_core.report.table_files import group_labels
from dpsynth_core.sources import demo
from dpsynth_core.vocabulary.groups import Groups
from tests.specs import usual

HOSTILE = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("http://x")'


def make(monkeypatch: pytest.MonkeyPatch, first: str = HOSTILE, **fields: Any) -> Release:
    """A release of three demo columns, two of them with hostile names, and a hostile category."""
    people = demo.simulate(rows=400)[["sex", "region", "health"]].rename(columns={"sex": first, "region": FORMULA})
    people[first] = people[first].replace("female", "=1+1")
    monkeypatch.setattr(demo, "simulate", lambda rows=400: people.head(rows))
    domain = [
        {"name": first, "kind": "categorical", "categories": ["=1+1", "male"], "dtype": "string", "other": False, "missing": False},
        {"name": FORMULA, "kind": "categorical", "categories": sorted(people[FORMULA].unique()), "other": False, "missing": False},
        {
            "name": "health",
            "kind": "categorical",
            "categories": ["good", "<img src=x onerror=alert(1)>"],
            "dtype": "string",
            "other": True,
            "missing": True,
        },
    ]
    document = usual(
        {"kind": "demo"},
        {"version": 1, "attributes": domain},
        population=f"people [x](javascript:alert(1)) {HOSTILE}",
        epsilon=5.0,
        mechanism="independent",
        name=f"trial {HOSTILE}",
        output={"rows": 300, "seed": 1},
    )
    ready = plan(Spec.from_json({**document, **fields}))
    return synthesize(ready, open_source(ready), SeededNoise(1), lambda _: None)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Release:
    return make(monkeypatch)


def test_a_release_is_judged_once_and_forgotten_with_it(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Mock(wraps=report.quality.headline)
    monkeypatch.setattr(report.quality, "headline", judge)
    for release in (made, made, replace(made, despite="for a reason")):
        report.parts(release)
        report.verdict_facts(release)
    assert judge.call_count == 2
    alive = ref(release)
    del release
    judge.reset_mock()  # it keeps what it was given
    assert alive() is None


def page_of(made: Release) -> str:
    quality = report.quality_of(made).value
    return report.html(made, quality.headline, quality.table, pair_map(report.statements(made)).value, quality.verdict)


class Page(HTMLParser):
    """Tags and attributes of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_page_runs_nothing_and_loads_nothing(made: Release) -> None:
    text = page_of(made)
    page = Page(text)
    assert page.tags.isdisjoint({"script", "img", "iframe", "link", "object", "a", "form"})
    assert not any(name.startswith("on") or name in {"src", "href"} for name in page.attributes)
    assert "default-src 'none'" in text


def test_the_page_shows_hostile_names_as_they_are(made: Release) -> None:
    words = Page(page_of(made)).words
    assert f"{HOSTILE} × {FORMULA}" in words
    assert "<img src=x onerror=alert(1)>" in words


def test_no_name_turns_the_direction_of_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    files = report.parts(make(monkeypatch, first="left\u202eright"))
    for name in (report.REPORT, report.CARD):
        text = files[name].value.decode()
        assert "left right" in text
        assert "\u202e" not in text


def test_the_page_states_guarantee_warnings_and_facts(made: Release) -> None:
    words = Page(page_of(made)).words
    assert made.statement in words
    assert all(brand.sentence in words for brand in made.brands)
    assert made.spec.digest() in words
    assert "NOT PRIVATE" in words  # a seed was set


def test_the_first_lines_say_what_this_is_a_release_of(made: Release) -> None:
    words = Page(page_of(made)).words
    assert byline(made) in words
    assert f"“{made.spec.population}”" in byline(made)
    assert words.index("300 synthetic rows") < words.index(report.protected(made)[-1])


def test_tables_that_are_far_off_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(monkeypatch, **CERTIFIED)
    quality = report.quality_of(made).value
    pairs = pair_map(report.statements(made)).value
    rough, fine = (quality.table.assign(limit=[0.5, limit, limit]) for limit in (0.2, 0.01))
    names = quality.table["marginal"].tolist()
    tables = (rough, fine, fine.assign(limit=0.01))
    shown = [Page(report.html(made, quality.headline, table, pairs, quality.verdict)).words for table in tables]
    assert f": {', '.join(names)}." in shown[0]
    assert f": {names[0]}." in shown[1]
    assert not any(f": {name}" in shown[2] for name in names)


def test_the_card_is_markdown_in_which_no_name_is_markup(made: Release) -> None:
    text = report.card(made, report.quality_of(made).value.headline, report.quality_of(made).value.verdict)
    unescaped = re.sub(r"\\.", "", text)
    assert "<" not in unescaped
    assert "](" not in unescaped
    assert re.sub(r"\\(.)", r"\1", text).count(HOSTILE) >= 3


def test_all_parts_are_released(made: Release) -> None:
    parts = report.parts(made)
    assert {part.zone for part in parts.values()} == {Zone.RELEASED}
    assert json.loads(parts[report.SPEC].value) == made.spec.published()


def test_noisy_marginals_are_complete_in_both_forms(made: Release) -> None:
    parts = report.parts(made)
    long = pq.read_table(io.BytesIO(parts["marginals.parquet"].value)).to_pandas()
    index = pd.read_csv(io.BytesIO(parts["marginals/index.csv"].value))
    assert len(index) == len(made.measurements) == long["measurement"].nunique()
    for number, m in enumerate(made.measurements):
        wide = pd.read_csv(io.BytesIO(parts[index["file"][number]].value))
        assert wide.iloc[:, -1].to_numpy() == pytest.approx(m.values.ravel())
        assert long[long["measurement"] == number + 1]["noisy_count"].to_numpy() == pytest.approx(m.values.ravel())
        assert long[long["measurement"] == number + 1]["noise_standard_deviation"].unique() == pytest.approx([m.deviation])
        assert index["noise_standard_deviation"][number] == pytest.approx(m.deviation, rel=1e-12)
        assert m.deviation > m.sigma  # the noise is rounded to whole people, which adds to it


def test_no_cell_of_the_tables_for_people_starts_a_formula(made: Release) -> None:
    for name, part in report.parts(made).items():
        if name.endswith(".csv"):
            for row in csv.reader(io.StringIO(part.value.decode())):
                assert not any(cell.startswith(("=", "@", "\t")) for cell in row), name


CERTIFIED = {"budget": {"epsilon": 50.0, "delta": 1e-9, "certificate": 0.2}}


def test_measured_errors_and_bounds_are_there_for_people_and_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(monkeypatch, **CERTIFIED)
    frame = pd.read_csv(io.BytesIO(report.parts(made)["errors.csv"].value))
    stated = sorted((one.bound95 for one in made.certificate.marginals), reverse=True)
    assert frame["share_at_most_95"].to_list() == pytest.approx(stated)  # the shares of pages, not distances
    assert set(frame["known"]) == {"not bounded"}  # single columns were measured, pairs were asked for
    assert frame["bound_share_95"].isna().all()
    earlier = pd.read_csv(io.BytesIO(table_files.earlier_errors_csv(made)))
    assert earlier["measured_bound95"].to_list() == pytest.approx([2 * share for share in stated])
    assert set(earlier["support"]) == {"unbounded"}
    words = Page(page_of(made)).words
    assert f"{made.certificate.mean_bound95:.1%} at most" in words
    assert all(f"{share:.1%}" in words for share in stated)
    assert "of people are in the wrong group" in dict(report.facts(made))["Certificate"]


def test_without_a_certificate_the_report_says_so(made: Release) -> None:
    assert dict(report.facts(made))["Certificate"].startswith("none")
    frame = pd.read_csv(io.BytesIO(report.parts(made)["errors.csv"].value))
    assert len(frame) == 3
    assert frame["measured_share"].isna().all()


def test_a_certificate_of_answers_speaks_of_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(monkeypatch, **CERTIFIED, mechanism={"name": "gaussian"}, output={"seed": 1})
    shown = dict(report.facts(made))["Certificate"]
    assert "how far the answers are" in shown
    assert set(pd.read_csv(io.BytesIO(report.parts(made)["errors.csv"].value))["known"]) == {"measured"}


def test_a_column_called_like_ours_does_not_hide_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(monkeypatch, first="noisy_count")
    header = report.parts(made)["marginals/0001.csv"].value.decode().splitlines()[0]
    assert header == '"noisy_count","noisy_count_"'


def test_the_sentence_says_that_nothing_is_known_or_names_the_worst_table(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "%" not in report.sentence(report.quality_of(made).value.headline)
    monkeypatch.undo()
    certified = make(monkeypatch, **CERTIFIED)
    judged = report.quality_of(certified).value
    text = report.sentence(judged.headline)
    assert judged.table["marginal"][0] in text
    assert f"{certified.certificate.mean_bound95:.1%}" in text


def test_the_largest_error_is_said_of_cells_or_of_the_thresholds_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    certified = make(monkeypatch, **CERTIFIED)
    head = report.quality_of(certified).value.headline
    most = report.percent(certified.certificate.max_bound95)
    measured = report.percent(head.largest)
    assert report.sentence(head).index(f" {most} ") < report.sentence(head).index(f" {measured} ")
    assert "at least 2" in report.sentence(replace(head, threshold=2))


def test_trust_is_counted_with_the_confidence_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(monkeypatch, **CERTIFIED)
    table = report.quality_of(made).value.table
    for together, name in ((False, "bound95"), (True, "simultaneous95")):
        limits = sorted(getattr(one, name) for one in made.certificate.marginals)
        assert report.trusted(table, limits[1], together).startswith("2 of the 3 tables")
    assert "can be trusted" not in report.trusted(table, 0.0) + report.trusted(table.head(1), 0.0)
    assert report.trusted(table, 1.0).startswith("All 3 tables")
    assert report.trusted(table.head(1), 1.0).startswith("The one table can be trusted")


def test_facts_and_numbers_agree_with_the_release(made: Release) -> None:
    facts = dict(report.facts(made))
    assert facts["Synthetic rows"].startswith("300 ")
    assert "epsilon 5, delta 1e-09" in facts["Privacy budget"]
    assert np.isclose(float(re.findall(r"rho ([0-9.]+)", facts["Privacy budget"])[0]), made.rho, rtol=1e-4)


def test_groups_are_called_by_their_values() -> None:
    ages = ["0 to 9", "10 to 19", "20 to 29", "30 to 39", "40 to 49", "missing"]
    neighbours = Groups("ages", "age", (0, 0, 1, 1, 1, 2))
    assert group_labels(neighbours, ages, True) == ["0 to 9 … 10 to 19", "20 to 29 … 40 to 49", "missing"]
    assert group_labels(Groups("towns", "town", (1, 0, 1, 2)), list("pqrs"), False) == ["q", "p | r", "s"]
    many = Groups("many", "x", (0, *[1] * 1000))
    assert group_labels(many, [str(i) for i in range(1001)], False) == ["0", "1,000 other values"]
