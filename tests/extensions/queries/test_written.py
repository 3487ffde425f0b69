"""The grammar of written queries: what a text means, record by record, and how it is refused."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.extensions.queries.written import MOST_CONDITIONS, MOST_POINTS, queries, written
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.domain import Domain
from tests.refusals import refused

DOMAIN = Domain.from_json({
    "version": 1,
    "attributes": [
        {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 79, "bins": 4, "other": False, "missing": True},
        {"name": "job", "kind": "categorical", "categories": ["cook, chef", "2*nurse"], "other": True, "missing": False},
        {"name": "2*not x", "kind": "categorical", "categories": ["no", "yes"], "other": False, "missing": False},
    ],
})  # fmt: skip
EVERYBODY = np.array(list(product(*(range(size) for size in DOMAIN.sizes(DOMAIN.names)))))
SEX, AGE, JOB, ODD = range(4)
CONDITIONS: dict[str, Any] = {
    "sex=f": lambda row: row[SEX] == 0,
    "not sex=f": lambda row: row[SEX] != 0,
    "age=20..59": lambda row: row[AGE] in (1, 2),
    "age>=60": lambda row: row[AGE] == 3,
    "NOT age<20": lambda row: row[AGE] != 0,
    '"job=cook, chef"': lambda row: row[JOB] == 0,
    "job=2*nurse": lambda row: row[JOB] == 1,
    "2*not x=yes": lambda row: row[ODD] == 1,
}
"""Conditions as they are written, each with what it means for the codes of a person; "not" includes who has no age."""


def meets(text: str) -> list[bool]:
    return written(DOMAIN, text).met(DOMAIN, EVERYBODY).tolist()


def test_products_and_alternatives_are_of_conditions() -> None:
    for first, second in product(CONDITIONS, repeat=2):
        if first == second:
            continue
        holds = [[CONDITIONS[one](row) for one in (first, second)] for row in EVERYBODY]
        for word, of in (("all", all), ("any", any)):
            meant = [of(one) for one in holds]
            if any(meant) and not all(meant):
                assert meets(f"{word} of {first}, {second}") == meant


@given(st.lists(st.tuples(st.integers(-5, 5).filter(bool), st.sampled_from([*CONDITIONS])), min_size=1, max_size=6), st.integers(-8, 8))
def test_a_halfspace_adds_the_weights_of_what_is_met(weighed: list[tuple[int, str]], limit: int) -> None:
    def typed(weight: int, condition: str) -> str:
        quoted = condition.startswith('"')
        return f'"{weight}*{condition[1:]}' if quoted else condition if weight == 1 else f"{weight} * {condition}"

    text = f"at least {limit} of {', '.join(typed(*one) for one in weighed)}"
    sums = [sum(weight for weight, condition in weighed if CONDITIONS[condition](row)) for row in EVERYBODY]
    meant = [total >= limit for total in sums]
    if any(meant) and not all(meant):
        query = written(DOMAIN, text)
        assert query.met(DOMAIN, EVERYBODY).tolist() == meant
        cells = EVERYBODY[:, [DOMAIN.position(name) for name in query.columns]]
        assert query.table[tuple(cells.T)].tolist() == meant
    else:
        refused(written, DOMAIN, text, saying="meets? it|weights")


def test_who_meets_a_query_does_not_depend_on_others() -> None:
    query = written(DOMAIN, "at least 2 of 2*sex=f, age>=60, -1*2*not x=yes")
    alone = [bool(query.met(DOMAIN, row[None])[0]) for row in EVERYBODY]
    assert alone == query.met(DOMAIN, EVERYBODY).tolist()


@pytest.mark.parametrize(
    ("text", "saying"),
    [
        ("", "not a query; write"),
        ("sex=f", 'not a query; write "all of'),
        ("at least of sex=f", "not a query"),
        ("at least 1.5 of sex=f", "not a query"),
        ("all of ", "condition is empty"),
        ("all of sex=f,, age>=60", "condition is empty"),
        ("all of sex", "not COLUMN=VALUE"),
        ("all of size=f", "size"),
        ("all of sex=x", "sex.*f"),
        ("all of age=25..59", "cuts the group"),
        ("all of age>=x", "age"),
        ("all of job>=cook", "no value"),
        ("all of 2*sex=f, age>=60", "weights do not go with “all of”"),
        ("any of 2*sex=f, age>=60", "weights do not go with “any of”"),
        ("at least 1 of 0*sex=f", "changes nothing"),
        ("at least 3 of sex=f, age>=60", "nobody can meet it: sums go from 0 to 2; ask for a sum from 1 to 2"),
        ("at least 0 of sex=f", "everybody meets it"),
        ("all of sex=f, sex=m", "nobody can meet it"),
        ('all of "job=cook, chef', "a quote has no end"),
        (f"at least 1 of {MOST_POINTS + 1}*sex=f", "use at most"),
        (f"any of {', '.join(['sex=f'] * (MOST_CONDITIONS + 1))}", "use at most"),
        (f"any of {'sex=f, ' * 500} sex=f", "not a query"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_remedy(text: str, saying: str) -> None:
    error = refused(written, DOMAIN, text, "extensions.queries", saying=saying)
    assert error.field in ("extensions.queries", "column 'age'")
    assert error.remedy


def test_the_query_at_fault_is_named_by_its_number() -> None:
    assert len(queries(DOMAIN, ["all of sex=f", "any of sex=m"])) == 2
    assert refused(queries, DOMAIN, ["all of sex=f", "sex"]).field == "query 2"
    refused(queries, DOMAIN, [], saying="there is none")


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    for one in (text, f"all of {text}", f"at least 1 of {text}"):
        with suppress(InputError):
            written(DOMAIN, one)
