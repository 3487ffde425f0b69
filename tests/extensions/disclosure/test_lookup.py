"""What rows name to somebody who knows some columns: the lookup is what its definition says, and a person moves its counts by 1 at most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsynth_core.extensions.disclosure.lookup import named, predictor
from dpsynth_core.extensions.disclosure.operations import measure_named
from dpsynth_core.extensions.disclosure.questions import MOST_CELLS, Question, question, questions
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.predictors import Additive, Largest, Predictor, Within
from tests.privacy.tables import ArraySource, GlassNoise
from tests.refusals import refused

SIZES = {"a": 3, "b": 2, "c": 4, "t": 3}
DOMAIN = Domain.from_json(SIZES)
SMALL = Domain.from_json({"a": 2, "b": 2, "t": 2})
ANY = st.lists(st.tuples(*(st.integers(0, size - 1) for size in SIZES.values())), max_size=12)
KEYS = st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True).map(tuple)


def array(rows: Any, domain: Domain = DOMAIN) -> np.ndarray:
    return np.array(rows, dtype=np.int32).reshape(-1, len(domain))


def by_definition(rows: np.ndarray, people: np.ndarray, domain: Domain, asked: Question) -> list[tuple[bool, bool]]:
    """For each person, whether the rows name a value, and whether it is theirs: by looking at all rows that share the keys."""
    places, target = [domain.position(key) for key in asked.keys], domain.position(asked.target)
    said = defaultdict(set)
    for row in rows.tolist():
        said[tuple(row[place] for place in places)].add(row[target])
    values = [said[tuple(one[place] for place in places)] for one in people.tolist()]
    return [(len(found) == 1, found == {one[target]}) for found, one in zip(values, people.tolist(), strict=True)]


def counted(people: np.ndarray, predictors: list[Predictor], unit: Unit, domain: Domain = DOMAIN) -> tuple[np.ndarray, float]:
    """What noise is added to, and the sensitivity that is charged."""
    glass = GlassNoise()
    kernel = PrivacyKernel(ArraySource(domain, people), unit, 1e9, glass)
    measure_named(cast(Any, kernel), predictors, 1.0)
    (event,) = kernel.events
    assert isinstance(event, Gaussian)
    return glass.seen[0][0], event.l2


@settings(max_examples=200, deadline=None)
@given(ANY, ANY, KEYS)
def test_a_value_is_named_where_all_rows_that_share_the_keys_agree(rows: Any, people: Any, keys: tuple[str, ...]) -> None:
    asked, codes, persons = Question("t", keys), array(rows), array(people)
    columns = {name: np.ascontiguousarray(persons[:, place]) for place, name in enumerate(SIZES)}
    own = predictor(DOMAIN, codes, asked).right(columns, len(persons)).tolist()
    expected = by_definition(codes, persons, DOMAIN, asked)
    assert own == [right for _, right in expected]
    right, some = sum(right for _, right in expected), sum(some for some, _ in expected)
    assert counted(persons, [predictor(DOMAIN, codes, asked)], Unit())[0].tolist() == [[right, some - right]]
    table = named(DOMAIN, codes, asked)
    assert table.shape == tuple(SIZES[key] for key in keys)
    assert ((table >= 0) & (table <= SIZES["t"])).all()


def test_the_same_rows_in_another_order_make_the_same_lookup() -> None:
    codes = np.random.default_rng(1).integers(0, 2, (30, 4)).astype(np.int32)
    first, second, other = (predictor(DOMAIN, rows, Question("t", ("a", "c"))).sha256 for rows in (codes, codes[::-1], codes[:1]))
    assert first == second != other


def neighbours(people: tuple[int, ...], relation: str) -> Iterator[tuple[int, ...]]:
    """All tables that differ in one person. People are numbers of cells."""
    cells = range(8)
    for place in range(len(people)):
        others = people[:place] + people[place + 1 :]
        yield from ((*others, cell) for cell in cells) if relation == REPLACE else (others,)


@pytest.mark.parametrize("relation", ["add-remove", REPLACE])
def test_by_brute_force_one_person_moves_both_counts_by_what_is_charged(relation: str) -> None:
    """All tables of up to three people, all their neighbours, and the rows of all sets of cells: rightly and wrongly together move by the
    sensitivity that is charged at most, and attain it."""
    cells = array(list(product(range(2), repeat=3)), SMALL)
    unit, asked = Unit(relation), Question("t", ("a", "b"))
    together = 0.0
    for chosen in range(1, 2**8):
        made = [predictor(SMALL, cells[[cell for cell in range(8) if chosen >> cell & 1]], asked)]
        each = np.array([counted(cells[[cell]], made, unit, SMALL)[0][0] for cell in range(8)])
        for size in range(1, 4):
            for people in combinations_with_replacement(range(8), size):
                counts = each[list(people)].sum(axis=0)
                for other in neighbours(people, relation):
                    together = max(together, float(np.hypot(*(counts - (each[list(other)].sum(axis=0) if other else 0)))))
    assert together == pytest.approx(unit.marginal_l2)
    assert counted(cells, made, unit, SMALL)[1] == unit.marginal_l2
    assert counted(cells, made * 3, unit, SMALL)[1] == unit.marginals_l2(3)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=3, max_size=3),
    st.lists(st.integers(-4, 4), min_size=3, max_size=3),
)
def test_no_limits_make_a_record_right_and_wrong(limits: Any, scores: Any) -> None:
    """Whatever scores and limits a predictor has, each record adds (0, 0), (1, 0) or (0, 1)."""
    least, most = np.array(limits).T
    made = Predictor("t", Additive(np.zeros(1, dtype=np.int64), {"a": np.array(scores).reshape(3, 1)}), Within(least, most))
    for row in product(range(3), range(3)):
        found = counted(array([(row[0], 0, 0, row[1])]), [made], Unit())[0][0].tolist()
        assert found in ([0, 0], [1, 0], [0, 1])


def test_what_names_nothing_is_refused_before_the_charge() -> None:
    scores, kernel = Additive(np.zeros(3, dtype=np.int64), {}), PrivacyKernel(ArraySource(DOMAIN, array([])), Unit(), 1.0, GlassNoise())
    for asked in ([], [Predictor("t", scores, Largest(np.arange(3)))], [Predictor("nobody", scores, Largest(np.arange(3)))]):
        refused(measure_named, cast(Any, kernel), asked, 1.0, kind=ValueError)
    assert kernel.events == ()


@pytest.mark.parametrize(
    ("text", "target", "keys"),
    [
        ("job from age, sex", "job", ("age", "sex")),
        ("  job  from age,sex ", "job", ("age", "sex")),
        ('"a, b" from "say ""so""", age', "a, b", ('say "so"', "age")),
        ("far from home from age", "far from home", ("age",)),
        ("job from far from home, age", "job", ("far from home", "age")),
    ],
)
def test_a_question_names_a_target_and_keys(text: str, target: str, keys: tuple[str, ...]) -> None:
    domain = Domain.from_json(dict.fromkeys(["age", "sex", "job", "a, b", 'say "so"', "far from home"], 2))
    assert question(text, domain) == Question(target, keys)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("job", "does not name"),
        ("job from", "does not name"),
        ("job from nobody", "does not name"),
        ("job, sex from age", "does not name"),
        ('job from "age', "does not name"),
        ("job from age, job", "twice"),
        ("job from age, age", "twice"),
    ],
)
def test_a_text_that_is_no_question_is_refused(text: str, words: str) -> None:
    domain = Domain.from_json(dict.fromkeys(["age", "sex", "job"], 2))
    assert refused(question, text, domain, saying=words).field == "extensions.disclosure"


def test_keys_of_too_many_values_are_refused() -> None:
    domain = Domain.from_json({"a": 2000, "b": 1001, "t": 2})
    assert f"{MOST_CELLS:,}" in refused(question, "t from a, b", domain, saying="combinations").remedy
    assert questions({"disclosure": ["t from a"]}, domain) == (Question("t", ("a",)),)
    assert questions({}, domain) == ()
