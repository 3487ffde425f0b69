"""What a release of rows in order says: persons and rows, and what follows what."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpsynth_core import report
from dpsynth_core.extensions.sequences.layout import linked
from dpsynth_core.extensions.sequences.sections import transitions
from dpsynth_core.inference.households import KINDS, kinds
from dpsynth_core.interface.shown import release_line
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release.release import Release
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link_words import HOUSEHOLDS
from dpsynth_core.vocabulary.workload import Workload
from tests.extensions.sequences.releases import GAP, MOST, PERSONS, STAYS, link, spec
from tests.refusals import refused
from tests.releases import run

RULE = {"never": {"diagnosis": ["hip"], "ward": ["A"]}}


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return run(spec(tmp_path_factory.mktemp("stays"), rules=(RULE,)))


@pytest.fixture(scope="module")
def files(release: Release) -> dict[str, str]:
    return {name: unescape(part.value.decode()) for name, part in report.parts(release).items() if not name.endswith(".parquet")}


def test_nothing_that_is_said_speaks_of_households_or_members_of_them(files: dict[str, str]) -> None:
    for name in ("report.html", "DATA_CARD.md", "codebook.csv", "data_card.json"):
        found = re.findall(
            r"[^.]{0,40}(?:household|of another|(?:some|no|of the) members?\b)[^.]{0,40}", files.get(name, ""), re.IGNORECASE
        )
        assert not found, name


def test_each_person_counts_once_is_said_once_in_report_and_card(files: dict[str, str]) -> None:
    for name in ("report.html", "DATA_CARD.md"):
        assert files[name].replace("\\", "").count("each person counts once") == 1


def test_only_rules_that_somebody_stated_are_called_declared(files: dict[str, str]) -> None:
    assert files["report.html"].count("The plan declares that this is impossible") == 1
    assert "row of the person, last row cannot occur" not in files["report.html"]


def test_the_maps_are_the_released_tables_with_their_bounds(release: Release) -> None:
    (section,) = transitions(release)
    assert section.title == "What follows what?"
    clique = release.domain.clique(("diagnosis", "diagnosis before"))
    table = release.statements.published([clique])[clique][:, :-1].T
    drawn = next(one for one in section.maps if "diagnosis" in one.title)
    np.testing.assert_allclose(np.array(drawn.shares), table / table.sum(axis=1, keepdims=True))
    assert f"at most {report.percent(release.statements.limits[clique])} of people" in section.lines[0]
    assert np.trace(table) / table.sum() > 0.6  # as the invented stays


def test_kinds_of_tables_have_plain_names() -> None:
    for words in (HOUSEHOLDS, link().words, link(one_file=False).words):
        assert len(words.kinds) == len(KINDS)
    assert [title for title, _ in link().words.kinds] == ["Of persons", "Of rows", "Person and row", "A row and the row before"]


def test_the_words_of_one_file_and_of_two_say_which_tables_there_are() -> None:
    assert "both tables" not in link().words.person + link().words.key
    assert "both tables" in link(one_file=False).words.person
    assert "“admitted”" in link().words.used


def test_the_codebook_says_what_the_made_columns_are(files: dict[str, str]) -> None:
    lines = files["codebook.csv"].splitlines()
    assert any("The number of rows of the person" in line for line in lines)
    stays = Domain.from_json(STAYS | {"attributes": [*STAYS["attributes"], GAP]})  # type: ignore[list-item]
    timed = linked(Domain.from_json(PERSONS), stays, MOST, (), {"order": ["admitted"], "gap": ["gap"]})
    assert "since the person's row before" in timed.words.columns["gap"]


@pytest.mark.parametrize(
    ("of", "who"),
    [
        ({"sex": ["f"]}, "people"),
        ({"members": ["1"]}, "people"),
        ({"diagnosis": ["heart"]}, "rows"),
        ({"last row": ["yes"]}, "rows (each person counts once)"),
        ({"diagnosis before": ["heart"]}, "rows (each person counts once)"),
    ],
)
def test_a_criterion_says_whom_it_counts(of: dict[str, list[str]], who: str, tmp_path: Path) -> None:
    (criterion,) = Plan.of(spec(tmp_path, criteria=[{"kind": "share", "of": of, "tolerance": 0.05}])).criteria
    assert criterion.unit_of_error == f"of the {who}"


def test_a_mean_of_rows_is_refused_in_words_of_rows(tmp_path: Path) -> None:
    wanted = {"kind": "mean", "column": "diagnosis", "tolerance": 1.0}
    refused(Plan.of, spec(tmp_path, criteria=[wanted]), saying="it is of rows, of which no ranges, means or quantiles are measured")


def test_a_release_warns_that_later_rows_of_many_people_are_not_in_it(release: Release, files: dict[str, str]) -> None:
    """Two fifths of the invented patients have as many stays as count, or more."""
    said = f"of people have {MOST} rows or more, of which {MOST} count: further ones, if any, are not in this release."
    (warning,) = [one for one in report.warnings(release) if said in one]
    assert 30 < int(warning.partition("%")[0]) < 50
    for name in ("report.html", "DATA_CARD.md"):
        assert said in files[name].replace("\\", "")


def test_a_release_without_such_people_does_not_warn(tmp_path: Path) -> None:
    wide = spec(tmp_path)
    more = wide.unit.model_copy(update={"max_rows_per_person": 10}).model_dump()
    made = linked(Domain.from_json(PERSONS), Domain.from_json(STAYS), 10, (), {"order": ["admitted"], "constant": ["sex"]})
    tables = Workload(made.domain, dict.fromkeys(kinds(made), 1.0)).to_json()
    assert not report.warnings(run(spec(tmp_path, unit=more, workload=tables)))


def test_the_codebook_says_what_capped_people_have(files: dict[str, str]) -> None:
    assert (
        link().words.columns["last row"]
        == f"Whether it is the person's last row that counts: number {MOST} of a person with more than {MOST} rows."
    )
    assert f"A person with more has {MOST}." in files["codebook.csv"]
    assert "no row" in files["codebook.csv"]
    assert "nobody" not in files["codebook.csv"]


def test_what_follows_what_says_what_is_not_bounded_and_where_plain_shares_are(release: Release) -> None:
    (section,) = transitions(release)
    assert "nothing bounds a single square" in section.reading
    assert "Each person counts once" in section.reading
    assert "rows-in-order.csv" in section.reading


def test_a_release_is_of_persons_and_rows_in_a_line_and_in_the_facts(release: Release) -> None:
    line = release_line(release)
    assert re.search(r"synthetic persons of \d columns, with [\d,]+ rows in order of \d columns", line)
    assert dict(report.facts(release))["Columns"].startswith("2 of people, 3 of rows")


def test_no_column_that_the_link_makes_is_ever_called_unread_or_undeclared(tmp_path: Path) -> None:
    """Nearly everybody has one row, so that row numbers are nearly all "first", and gaps and rows before are nearly all missing."""
    spec(tmp_path)  # writes the table
    stays = pd.read_csv(tmp_path / "stays.csv")
    few = stays[(stays.groupby("patient").cumcount() == 0) | stays["patient"].isin(["P1", "P2", "P3", "P4"])]
    few.to_csv(path := tmp_path / "few.csv", index=False)
    rows = {**STAYS, "attributes": [*STAYS["attributes"], GAP]}
    stated = {"order": ["admitted"], "constant": ["sex"], "gap": ["gap"]}
    made = linked(Domain.from_json(PERSONS), Domain.from_json(rows), MOST, (), stated)
    cliques = [*kinds(made), ("row of the person",), ("last row",), ("diagnosis before",), ("gap",)]
    workload = Workload(made.domain, dict.fromkeys(map(made.domain.clique, cliques), 1.0)).to_json()
    members = {"path": str(path), "domain": rows, "rules": []}
    release = run(spec(tmp_path, data={"path": str(path)}, members=members, workload=workload, extensions=stated))
    told = release.statements
    assert {"gap", "row of the person", "last row", "diagnosis before", "diagnosis two before"} <= told.made
    assert not told.made & {"sex", "diagnosis", "ward"}
    assert replace(told, made=frozenset()).unread, "the table is one where they would be"
    assert told.unread == ()
    assert told.silent == frozenset()
    assert not told.made & {one.column for one in told.undeclared}
    assert not [one for one in report.warnings(release) if "may not have been read" in one or "was not read" in one or "before" in one]


def test_a_column_of_rows_that_was_not_read_silences_the_rows_before_it_too(tmp_path: Path) -> None:
    spec(tmp_path)  # writes the table
    pd.read_csv(tmp_path / "stays.csv").assign(ward="a").to_csv(path := tmp_path / "small.csv", index=False)
    opened = {"version": 1, "attributes": [STAYS["attributes"][0], {**STAYS["attributes"][1], "other": True}]}
    made = linked(Domain.from_json(PERSONS), Domain.from_json(opened), MOST, (), {"order": ["admitted"], "constant": ["sex"]})
    workload = Workload(made.domain, dict.fromkeys(kinds(made), 1.0)).to_json()
    members = {"path": str(path), "domain": opened, "rules": []}
    told = run(spec(tmp_path, data={"path": str(path)}, members=members, workload=workload)).statements
    assert [one.column for one in told.unread] == ["ward"]
    assert told.silent == {"ward", "ward before", "ward two before"}


def test_no_sentence_reports_trials_with_single_tables(files: dict[str, str]) -> None:
    assert not [name for name, text in files.items() if "In trials with" in text]
