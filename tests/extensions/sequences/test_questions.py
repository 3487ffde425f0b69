"""Questions about persons and their rows in order."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dpsynth_core.evaluation.questions import linked
from dpsynth_core.release.linked import pairs
from dpsynth_core.release.release import Release
from dpsynth_core.report.asking import Answer, Asked, ask, ask_typed
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.rows import Repeated
from tests.extensions.sequences.releases import MOST, link, spec
from tests.refusals import refused
from tests.releases import run


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return run(spec(tmp_path_factory.mktemp("stays")))


def told(release: Release, **asked: object) -> Answer:
    found = ask(release, Asked(**asked))  # type: ignore[arg-type]
    assert isinstance(found, Answer)
    return found


def histories(release: Release) -> list[str]:
    """The diagnoses of each synthetic person in order, a digit each."""
    made, codes = release.plan.link, release.codes
    assert made is not None
    assert isinstance(codes, Repeated)
    households, owners, rows = made.split(codes.codes)
    diagnosis = rows[:, len(made.households)]
    return ["".join(map(str, diagnosis[owners == one])) for one in range(len(households))]


def test_a_later_row_is_counted_in_the_rows_without_an_interval_and_said_so(release: Release) -> None:
    answer = told(release, statistic="share", of={"some row": {"diagnosis": "heart"}, "a later row": {"diagnosis": "lung"}})
    assert answer.value == pytest.approx(np.mean([bool(re.search("0.*2", text)) for text in histories(release)]))
    assert (answer.low, answer.kind) == (None, "guess")
    assert "of all people have some row with diagnosis “heart”, and later one with diagnosis “lung”" in str(answer)
    assert "the model's guess" in str(answer)
    typed = ask_typed(release, Asked("share", of=["some row diagnosis=heart", "a later row diagnosis=lung"]))
    assert isinstance(typed, Answer)
    assert typed.value == answer.value


def test_a_row_and_the_row_before_are_counted_in_the_rows_without_an_interval_and_said_so(release: Release) -> None:
    pairs_of = [text[place : place + 2] for text in histories(release) for place in range(len(text) - 1)]
    after = [pair[1] for pair in pairs_of if pair[0] == "0"]
    answer = told(release, statistic="share", of={"diagnosis": "heart"}, among={"diagnosis before": "heart"})
    assert answer.value == pytest.approx(after.count("0") / len(after))
    assert (answer.low, answer.kind) == (None, "guess")
    assert "rows with diagnosis before “heart”" in str(answer)
    assert "the model's guess" in str(answer)
    counted = ask(release, Asked("table", of=["diagnosis before", "diagnosis"]))
    assert len(counted.each) == 4 * 3  # type: ignore[union-attr]
    assert sum(one.value for one in counted.each) == pytest.approx(1)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("named", "place"),
    [({"last row": "yes"}, -1), ({"row of the person": "first"}, 0), ({"diagnosis before": "no row"}, 0)],
)
def test_the_place_of_a_row_can_be_asked_of(named: dict[str, str], place: int, release: Release) -> None:
    """Everybody has one first and one last row."""
    texts = histories(release)
    answer = told(release, statistic="share", of={"diagnosis": "hip"}, among=named)
    assert answer.value == pytest.approx(np.mean([text[place] == "1" for text in texts]), abs=0.1)
    typed = ask_typed(release, Asked("share", of=["diagnosis=hip"], among=[f"{name}={value}" for name, value in named.items()]))
    assert isinstance(typed, Answer)
    assert typed.value == answer.value


def test_counts_of_last_rows_have_an_interval_where_their_table_was_measured() -> None:
    """As many as there are persons, from noisy tables by the number of rows alone."""
    made, rng = link(), np.random.default_rng(1)
    sizes = rng.integers(1, MOST + 1, 400)
    owners = np.repeat(np.arange(400), sizes)
    rows = np.column_stack([rng.integers(0, 3, len(owners)), rng.integers(0, 2, len(owners))])
    codes = pairs(made, rng.integers(0, 2, (400, 1)), owners, rows)
    clique = made.domain.clique((NUMBER, "last row", "diagnosis"))
    counts = np.zeros(made.domain.sizes(clique))
    np.add.at(counts, tuple(codes.codes[:, [made.domain.position(name) for name in clique]].T), codes.times)
    (told_of,) = linked.of_members(made, codes, [Measurement(clique, counts, 10.0)], None).measurements
    assert told_of.values[1].sum() == pytest.approx(400)
    for two in (made, link(one_file=False)):
        described = [one.name for one in two.described]
        each = two.each(codes.codes) if two is made else two.each(pairs(two, np.zeros((400, 1), int), owners, rows).codes)
        assert each.shape == (len(owners), len(two.households) + len(described))
        assert each[:, 1 + described.index("last row")].sum() == 400


def test_some_row_and_no_row_add_up_to_all_people(release: Release) -> None:
    some, none = (told(release, statistic="share", of={word: {"diagnosis": "hip"}}) for word in ("some row", "no row"))
    assert isinstance(some.value, float)
    assert isinstance(none.value, float)
    assert some.value + none.value == pytest.approx(1)


def test_rows_are_counted_as_rows_and_people_as_people(release: Release) -> None:
    rows, people = told(release, statistic="share", of={"ward": "A"}), told(release, statistic="count", of=None, among={"sex": "f"})
    assert "of all rows have ward “A”" in str(rows)
    assert "people with sex “f”" in str(people)
    assert "People are" not in str(rows)


def test_what_is_not_answered_is_refused_in_words_of_rows(release: Release) -> None:
    refused(ask, release, Asked("share", of={"ward": "A"}, among={"ward two before": "B"}), saying="the row two before are not answered")
    refused(ask, release, Asked("share", of={"a later row": {"ward": "A"}}), saying="it is after one “some row”")
    of_both = Asked("share", of={"ward": "A"}, among={NUMBER: "2"})
    refused(ask, release, of_both, saying="it is of people, and other columns are of their rows")


def test_a_table_with_the_place_of_a_row_counts_rows_too() -> None:
    made, rng = link(), np.random.default_rng(0)
    sizes = rng.integers(1, MOST + 1, 400)
    owners = np.repeat(np.arange(400), sizes)
    rows = np.column_stack([rng.integers(0, 3, len(owners)), rng.integers(0, 2, len(owners))])
    codes = pairs(made, rng.integers(0, 2, (400, 1)), owners, rows)
    clique = made.domain.clique((NUMBER, "last row", "diagnosis"))
    places = [made.domain.position(name) for name in clique]
    counts = np.zeros(made.domain.sizes(clique))
    np.add.at(counts, tuple(codes.codes[:, places].T), codes.times)
    known = linked.of_members(made, None, [Measurement(clique, counts, 10.0)], None)
    assert known.measurements[0].clique == ("last row", "diagnosis")
    last = np.append(owners[1:] != owners[:-1], True).astype(int)
    np.testing.assert_allclose(known.measurements[0].values.ravel(), np.bincount(3 * last + rows[:, 0], minlength=6))
    norm = np.sqrt(sum(size**2 for size in range(1, MOST + 1)))
    assert known.measurements[0].sigma == pytest.approx(10.0 * norm / made.records_each)


CUT = f"Only the first {MOST} rows of a person count: later ones are not in this release."
CAPPED = f"A person with more than {MOST} rows counts as one with {MOST}."


@pytest.mark.parametrize(
    "asked",
    [
        {"statistic": "count", "of": {"ward": "A"}},
        {"statistic": "share", "of": {"ward": "A"}, "among": {"sex": "f"}},
        {"statistic": "share", "of": {"some row": {"ward": "A"}}},
        {"statistic": "count", "of": {"no row": {"ward": "A"}}},
        {"statistic": "share", "of": {"some row": {"ward": "A"}, "a later row": {"ward": "B"}}},
        {"statistic": "table", "of": ["ward", "sex"]},
        {"statistic": "count", "of": {"sex": "f"}, "by": "ward"},
    ],
)
def test_an_answer_about_rows_says_once_that_later_ones_do_not_count(release: Release, asked: dict[str, object]) -> None:
    """Else the true number, of all rows, is outside of the interval that is said to hold it."""
    assert str(ask(release, Asked(**asked))).count(CUT) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "asked",
    [
        {"statistic": "mean", "of": NUMBER},
        {"statistic": "count", "of": {NUMBER: str(MOST)}},
        {"statistic": "median", "of": NUMBER},
        {"statistic": "mean", "of": NUMBER, "by": "sex"},
        {"statistic": "share", "of": {"sex": "f"}, "among": {NUMBER: "1"}},
    ],
)
def test_an_answer_about_numbers_of_rows_says_once_that_more_count_as_the_most(release: Release, asked: dict[str, object]) -> None:
    said = str(ask(release, Asked(**asked)))  # type: ignore[arg-type]
    assert said.count(CAPPED) == 1
    assert CUT not in said


def test_an_answer_about_persons_alone_says_nothing_of_rows(release: Release) -> None:
    said = str(told(release, statistic="share", of={"sex": "f"}))
    assert CUT not in said
    assert CAPPED not in said


def test_what_is_not_answered_is_counted_in_the_file_of_rows_in_order(release: Release) -> None:
    refused(ask, release, Asked("share", of={"ward": "A"}, among={"ward two before": "B"}), saying="rows-in-order.csv")
    assert "members.csv" in link(one_file=False).words.elsewhere
