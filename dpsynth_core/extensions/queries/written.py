"""The grammar of queries that people write.

    all of age=20..39, sex=f                               a product: every condition is met
    any of smoker=yes, not sex=f                           at least one
    at least 2 of smoker=yes, bmi>=30, age>=60             a threshold
    at least 4 of 2*smoker=yes, bmi>=30, 3*age>=60         a halfspace: met conditions count with their whole weights, -3*sex=f too

A condition is COLUMN=VALUE, COLUMN=15..64, COLUMN>=66 or one of these after "not", which people with a missing value meet. One with a comma
or a quote is in double quotes, weight included. Every form is one thing inside: a whole number for each code of each column, and the limit
that a person's sum must reach. So a person meets a query or does not, whoever else is in the table.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.queries.relaxed import Halfspace
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.release.sampling import parse_where
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.zeros import cells_named

MOST_CONDITIONS, MOST_POINTS, MOST_CHARACTERS = 100, 1_000, 2_000
"""Limits of a query: its conditions, the sizes of its weights together, and its text."""
FORMS = 'write "all of age>=60, sex=f", "any of ..." or "at least 2 of 3*smoker=yes, bmi>=30, age>=60"'
_FORM = re.compile(r"\s*(?:(all|any)|at\s+least\s+([+-]?\d{1,9}))\s+of\s+(.*)", re.DOTALL | re.IGNORECASE)
_WEIGHT, _NOT = re.compile(r"([+-]?\d{1,9})\s*\*\s*(.*)", re.DOTALL), re.compile(r"not\s+(.*)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Written(Halfspace):
    """A query as somebody wrote it.

    Attributes:
        text: The text.
    """

    text: str

    def met(self, domain: Domain, codes: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return whether each row meets the query, shape (rows,).

        Args:
            domain: The domain.
            codes: Codes of the rows, shape (rows, attributes of the domain).
        """
        sums = np.zeros(len(codes), dtype=np.int64)
        for name, points in self.points.items():
            sums += points[codes[:, domain.position(name)]]
        return np.asarray(sums >= self.limit)


def written(domain: Domain, text: str, field: str = "query") -> Written:
    """Return the query that a text states.

    Args:
        domain: The domain.
        text: The text.
        field: Name of the text in errors.

    Raises:
        InputError: It is not such a text, a condition is not about a column and its values, a range cuts a group of values, the weights are
            too large, or everybody or nobody could meet the query.
        CapacityError: The columns have more than a million cells together.
    """
    form = None if len(text) > MOST_CHARACTERS else _FORM.fullmatch(text)
    if form is None:
        raise InputError(field, f"{shown(text)} is not a query", FORMS)
    word, least, conditions = form.groups()
    points, sizes = dict[str, NDArray[np.int64]](), list[int]()
    for weight, column, codes in _conditions(domain, conditions, field):
        added = points.setdefault(column, np.zeros(domain[column].size, dtype=np.int64))
        added[codes] += weight
        sizes.append(weight)
    if word and any(weight != 1 for weight in sizes):
        raise InputError(field, f"weights do not go with “{word.lower()} of”", 'write "at least NUMBER of" before them')
    if sum(map(abs, sizes)) > MOST_POINTS or len(sizes) > MOST_CONDITIONS:
        problem = f"its weights add up to {sum(map(abs, sizes)):,} in {len(sizes):,} conditions"
        raise InputError(field, problem, f"use at most {MOST_CONDITIONS:,} conditions whose weights add up to {MOST_POINTS:,} at most")
    limit = int(least) if least else {"all": len(sizes), "any": 1}[word.lower()]
    lowest, highest = (sum(int(end(table)) for table in points.values()) for end in (np.min, np.max))
    if not lowest < limit <= highest:
        everybody = limit <= lowest
        problem = f"{'everybody meets' if everybody else 'nobody can meet'} it: sums go from {lowest:,} to {highest:,}"
        raise InputError(field, problem, f"ask for a sum from {lowest + 1:,} to {highest:,}" if lowest < highest else FORMS)
    return Written({name: points[name] for name in domain.clique(points)}, limit, text.strip())


def queries(domain: Domain, texts: Sequence[str], field: str = "query") -> tuple[Written, ...]:
    """Return the queries that texts state, in order (`written`).

    Raises:
        InputError: There are none, or one is not valid; the error names its number if there are several.
        CapacityError: The columns of one have more than a million cells together.
    """
    if not texts:
        raise InputError(field, "there is none", FORMS)
    return tuple(written(domain, text, field if len(texts) == 1 else f"{field} {number}") for number, text in enumerate(texts, start=1))


def _conditions(domain: Domain, text: str, field: str) -> Iterator[tuple[int, str, list[int]]]:
    """Yield the weight, the column and the codes of each condition."""
    try:
        lines = list(csv.reader([" ".join(text.splitlines())], skipinitialspace=True, strict=True))
    except csv.Error:
        raise InputError(field, "a quote has no end, or something follows it", 'quote a whole condition: "job=cook, chef"') from None
    for one in (part.strip() for line in lines or [[""]] for part in line or [""]):
        if not one:
            raise InputError(field, "a condition is empty", "write conditions with single commas between them")
        weight, said, inverse = 1, one, False
        if not _is_known(domain, said) and (weighed := _WEIGHT.fullmatch(said)):
            weight, said = int(weighed[1]), weighed[2]
        if not _is_known(domain, said) and (negated := _NOT.fullmatch(said)):
            said, inverse = negated[1], True
        if weight == 0:
            raise InputError(field, f"{shown(one)} has the weight 0, and changes nothing", "leave it out, or give it another weight")
        ((column, values),) = parse_where(domain, [said], field).items()
        codes = cells_named(domain.attributes, {column: values}, field)[column]
        yield weight, column, sorted({*range(domain[column].size)} - {*codes}) if inverse else list(codes)


def _is_known(domain: Domain, text: str) -> bool:
    """Return whether a text begins with a column of the domain and a sign."""
    return any(sign in "=<>≤≥" and text[:place].rstrip() in domain for place, sign in enumerate(text))
