"""Questions of a spec: which column somebody looks for, and which ones they know of a person; and with which columns people are alone."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpsynth_core.extensions.disclosure import SETTING, UNIQUES
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.extension import Stated
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.names import column_field

FIELD, UNIQUES_FIELD = f"extensions.{SETTING}", f"extensions.{UNIQUES}"
MOST_CELLS = 2_000_000
"""Most combinations of values of the keys, each with an entry in memory."""
UNSAID = 0.5
"""Width of an interval, as a share of the people, from which on nothing is said."""
FEWEST_ALONE = 50_000
"""Number of people below which it is not measured how many are alone: the interval would be wider than the share."""
_FROM = " from "


@dataclass(frozen=True)
class Question:
    """A question: the column that somebody looks for, and the columns that they know.

    Attributes:
        target: The column that they look for.
        keys: The columns that they know, in the order of the spec; at least one, without the target.
    """

    target: str
    keys: tuple[str, ...]


def questions(stated: Stated, domain: Domain) -> tuple[Question, ...]:
    """Return the questions of a spec, in order; () without any.

    Args:
        stated: The spec's section `extensions`.
        domain: The domain.

    Raises:
        InputError: A text is not a question about columns of the domain, a column is named twice, or the keys have too many
            combinations of values.
    """
    texts = stated.get(SETTING, [])
    return tuple(question(text, domain) for text in texts) if isinstance(texts, list) else ()


def question(text: str, domain: Domain) -> Question:
    """Return the question that a text states as "TARGET from KEY, KEY". A name with a comma or a quote is in double quotes.

    Args:
        text: The text.
        domain: The domain.

    Raises:
        InputError: It is not such a text, a column is unknown or named twice, or the keys have more than 2,000,000 combinations of values
            (`MOST_CELLS`).
    """
    found = next(_readings(text, domain), None)
    if found is None:
        problem = f"{text[:100]!r} does not name a column of the domain and the columns that are known"
        raise InputError(FIELD, problem, 'state it as "job from age, sex", with names of columns; quote names with a comma')
    if len({found.target, *found.keys}) <= len(found.keys):
        raise InputError(FIELD, f"{text[:100]!r} names a column twice", "name each column once")
    if (cells := math.prod(domain[name].size for name in found.keys)) > MOST_CELLS:
        problem = f"the known columns of {column_field(found.target)} have {cells:,} combinations of values"
        raise InputError(FIELD, problem, f"name fewer known columns, or merge their values, to have at most {MOST_CELLS:,}")
    return found


def key_lists(stated: Stated, domain: Domain) -> tuple[tuple[str, ...], ...]:
    """Return the lists of columns of a spec's questions about uniques, in order; () without any.

    Args:
        stated: The spec's section `extensions`.
        domain: The domain.

    Raises:
        InputError: A text is not a list of columns of the domain, a column or a list is named twice, or the columns have more than
            2,000,000 combinations of values (`MOST_CELLS`).
    """
    texts = stated.get(UNIQUES, [])
    lists = tuple(_key_list(text, domain) for text in texts) if isinstance(texts, list) else ()
    if len({*map(frozenset, lists)}) < len(lists):
        raise InputError(UNIQUES_FIELD, "two questions are about the same columns", "ask each question once")
    return lists


def _key_list(text: str, domain: Domain) -> tuple[str, ...]:
    names = _names(text)
    if not names or not all(name in domain for name in names):
        problem = f"{text[:100]!r} does not name columns of the domain"
        raise InputError(UNIQUES_FIELD, problem, 'state it as "age, sex", with names of columns; quote names with a comma')
    if len({*names}) < len(names):
        raise InputError(UNIQUES_FIELD, f"{text[:100]!r} names a column twice", "name each column once")
    if (cells := math.prod(domain[name].size for name in names)) > MOST_CELLS:
        problem = f"the columns have {cells:,} combinations of values"
        raise InputError(UNIQUES_FIELD, problem, f"name fewer columns, or merge their values, to have at most {MOST_CELLS:,}")
    return tuple(names)


def in_words(names: Sequence[str]) -> str:
    """Return names of columns as a list in words, such as "age, sex and region", unescaped."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _readings(text: str, domain: Domain) -> Iterator[Question]:
    """Yield the ways to read a text, of which a name that contains " from " allows several."""
    start = text.find(_FROM)
    while start >= 0:
        target, keys = _names(text[:start]), _names(text[start + len(_FROM) :])
        if len(target) == 1 and keys and all(name in domain for name in (*target, *keys)):
            yield Question(target[0], tuple(keys))
        start = text.find(_FROM, start + 1)


def _names(text: str) -> list[str]:
    try:
        lines = list(csv.reader([" ".join(text.splitlines())], skipinitialspace=True, strict=True))
    except csv.Error:  # such as a quote that nothing ends
        return []
    return [name.strip() for line in lines for name in line]
