"""Analyses as text: what people write, and how it is read.

    mean(income), mean(income | sex == "f"), median(income), quantile(income, 0.9)
    share(sick == "yes"), share(sick == "yes" | age >= 60)
    difference(sick == "yes", smoker == "yes"), difference(income, sex == "f")
    correlation(age, income), odds_ratio(smoker == "yes", urban == "yes")
    income ~ age + edu + sex            linear regression, for a column of numbers
    sick == "yes" ~ age + sex           logistic regression, for a condition
    poisson(visits ~ age + sex), linear(...), logistic(...)

A term is a column, a condition, or a product of two terms (age:sex). A column of values stands for an indicator of each value but the
first. Names that are not plain words stand in backticks. The grammar is a part of R's model formulas (Wilkinson and
Rogers 1973).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from dpsynth_core.foundation.errors import InputError, shown

FIELD = "analysis"
LONGEST = 2000
EXAMPLES = 'write for example mean(income), share(sick == "yes" | age >= 60) or income ~ age + sex'
REGRESSIONS = ("linear", "logistic", "poisson")
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<name>[^\W\d][\w.]*) | `(?P<quoted>[^`]+)` | (?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
        | "(?P<double>[^"]*)" | '(?P<single>[^']*)' | (?P<sign>==|!=|>=|<=|[~+:(),|<>])
    )""",
    re.VERBOSE,
)
COMPARISONS = ("==", "!=", ">=", "<=", ">", "<")


@dataclass(frozen=True)
class Condition:
    """A condition on a column, such as age >= 60.

    Attributes:
        column: The column.
        sign: One of `COMPARISONS`.
        value: A value of the column, as text.
    """

    column: str
    sign: str
    value: str

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.value}"


Variable = str | Condition
"""A column, or a condition on one, which is 1 or 0."""
Term = tuple[Variable, ...]
"""A product of variables, mostly of a single one."""


@dataclass(frozen=True)
class Statistic:
    """A statistic of one or two variables.

    Attributes:
        name: "mean", "share", "difference", "quantile", "correlation" or "odds_ratio".
        of: Its variables.
        among: The condition that restricts it to a group, or None.
        level: The level of a quantile, between 0 and 1.
    """

    name: str
    of: tuple[Variable, ...]
    among: Condition | None = None
    level: float = 0.5


@dataclass(frozen=True)
class Regression:
    """A regression of an outcome on terms.

    Attributes:
        family: "linear", "logistic", "poisson", or "" to follow from the outcome.
        outcome: The outcome.
        terms: The terms.
    """

    family: str
    outcome: Variable
    terms: tuple[Term, ...]


Analysis = Statistic | Regression


def variables(analysis: Analysis) -> tuple[Variable, ...]:
    """Return all variables of an analysis, each once.

    The outcome of a regression comes first, then the variables of its terms; the variables of a statistic come
    first, then the condition of its group.
    """
    if isinstance(analysis, Regression):
        every = (analysis.outcome, *(one for term in analysis.terms for one in term))
    else:
        every = (*analysis.of, *(() if analysis.among is None else (analysis.among,)))
    return tuple(dict.fromkeys(every))


def columns(analysis: Analysis) -> tuple[str, ...]:
    """Return the names of all columns of an analysis, each once, in the order of `variables`."""
    return tuple(dict.fromkeys(one if isinstance(one, str) else one.column for one in variables(analysis)))


def read(text: str) -> Analysis:
    """Return the analysis that a text states, such as `mean(age | sex == "f")` or `income ~ age + sex`.

    Args:
        text: The text, in the grammar at the top of this file; at most 2,000 characters.

    Raises:
        InputError: It is not in the grammar, or too long.
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(FIELD, f"{shown(text)} is not an analysis", EXAMPLES)
    if len(text) > LONGEST:
        raise InputError(FIELD, f"it has more than {LONGEST:,} characters", "ask for fewer terms")
    return _Reader(text, _tokens(text)).analysis()


def _tokens(text: str) -> list[tuple[str, str]]:
    found, place = list[tuple[str, str]](), 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if match is None:
            raise InputError(FIELD, f"it cannot be read from {text[place:].strip()[:40]!r} on", EXAMPLES)
        kind = str(match.lastgroup)
        found.append(({"quoted": "name", "double": "text", "single": "text"}.get(kind, kind), match[kind]))
        place = match.end()
    return found


class _Reader:
    """A reader of tokens, from left to right."""

    def __init__(self, text: str, tokens: list[tuple[str, str]]) -> None:
        self._text, self._left = text, tokens

    def analysis(self) -> Analysis:
        """Return the whole text as an analysis."""
        function = self._left[0][1] if len(self._left) > 1 and self._left[0][0] == "name" and self._left[1] == ("sign", "(") else ""
        if not function:
            found: Analysis = self._regression("")
        else:
            del self._left[:2]
            found = self._regression(function) if function in REGRESSIONS else self._statistic(function)
            self._expect(")")
        if self._left:
            raise InputError(FIELD, f"{self._left[0][1]!r} stands behind its end", EXAMPLES)
        return found

    def _statistic(self, name: str) -> Statistic:
        counts = {"mean": 1, "median": 1, "quantile": 1, "share": 1, "difference": 2, "correlation": 2, "odds_ratio": 2}
        if name not in counts:
            raise InputError(FIELD, f"{name!r} is not a known statistic", f"use one of {', '.join((*counts, *REGRESSIONS))}")
        of, level = [self._variable()], 0.5
        for _ in range(counts[name] - 1):
            self._expect(",")
            of.append(self._variable())
        if name == "quantile":
            self._expect(",")
            level = float(self._take("number", "a level such as 0.9"))
            if not 0 < level < 1:
                raise InputError(FIELD, f"{level} is not the level of a quantile", "give a number between 0 and 1")
        among = None
        if self._next("|"):
            among = self._condition(self._take("name", "a condition on a column"))
        if name == "share" and isinstance(of[0], str):
            raise InputError(FIELD, "a share needs a condition", 'write for example share(sex == "f")')
        return Statistic("quantile" if name == "median" else name, tuple(of), among, level)

    def _regression(self, family: str) -> Regression:
        outcome = self._variable()
        self._expect("~")
        terms = [self._term()]
        while self._next("+"):
            terms.append(self._term())
        if len({*terms}) < len(terms):
            raise InputError(FIELD, "a term stands there twice", "name each term once")
        return Regression(family, outcome, tuple(terms))

    def _term(self) -> Term:
        factors = [self._variable()]
        while self._next(":"):
            factors.append(self._variable())
        return tuple(factors)

    def _variable(self) -> Variable:
        name = self._take("name", "a column")
        return self._condition(name) if self._left and self._left[0][1] in COMPARISONS and self._left[0][0] == "sign" else name

    def _condition(self, column: str) -> Condition:
        if not self._left or self._left[0] not in [("sign", sign) for sign in COMPARISONS]:
            raise InputError(FIELD, f"{column!r} is compared with nothing", f"write for example {column} == 1")
        sign = self._left.pop(0)[1]
        kind, value = self._left.pop(0) if self._left else ("", "")
        if kind not in ("text", "number", "name"):
            raise InputError(FIELD, f"{column} {sign} is followed by no value", 'write a number, or a text in quotes: sex == "f"')
        return Condition(column, sign, value)

    def _take(self, kind: str, what: str) -> str:
        if not self._left or self._left[0][0] != kind:
            there = repr(self._left[0][1]) if self._left else "its end"
            raise InputError(FIELD, f"{what} is missing before {there}", EXAMPLES)
        return self._left.pop(0)[1]

    def _next(self, sign: str) -> bool:
        found = bool(self._left) and self._left[0] == ("sign", sign)
        if found:
            del self._left[0]
        return found

    def _expect(self, sign: str) -> None:
        if not self._next(sign):
            there = repr(self._left[0][1]) if self._left else "its end"
            raise InputError(FIELD, f"{sign!r} is missing before {there}", EXAMPLES)
