"""Classes of yes/no rules over binary columns, and the separator sets that make them learnable in private. Public vocabulary: no record.

A rule looks at *features*: "this column has this value". With `both` values of each column as features, a rule may also say that a column
does not have its second value; a separator then is a table of features that no record has, which the proofs allow: they only need that any
two rules of the class disagree on one of the separators (Neel, Roth, Wu 2019, Definition 2).

Let there be p features, A a set (or an order) of features, and x the features of a record:

    kind            holds at x                                separators (m)
    conjunction     every feature of A is there               all but one feature (p)
    disjunction     some feature of A is there                one feature alone (p)
    parity          an odd number of A are there              one feature alone (p)
    halfspace       more of A are there than of the others    one feature alone (p)
    decision_list   the first listed feature that is there    none, one, and two features (1 + p + p(p-1)/2)
                    says so, or else the default

For the first four a separator tells whether its feature is in A. A decision list may list every feature (those it lacks come last, with
the default as answer); no feature shows the default, one alone shows its answer, two show which comes first where their answers differ,
and a list holds at x exactly if some feature of x that says yes comes before all features of x that say no.

Prediction of a column y by a rule q costs 1 where q(x) differs from y. At (separator, y = 0) the cost is q itself, so the separators of a
class separate its losses as well (the paper's Appendix A), and they are as many.

closed: the class together with the negations of its rules. One more separator then tells a rule from a negation: the record at which all
rules of the class agree (no feature; for conjunctions, all features). Decision lists are closed already.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.vocabulary.domain import Domain

CONJUNCTION, DISJUNCTION, PARITY, HALFSPACE, DECISION_LIST = "conjunction", "disjunction", "parity", "halfspace", "decision_list"
KINDS = (CONJUNCTION, DISJUNCTION, PARITY, HALFSPACE, DECISION_LIST)

MAX_COLUMNS = {CONJUNCTION: 60, DISJUNCTION: 60, PARITY: 20, HALFSPACE: 20, DECISION_LIST: 20}
"""Largest number of columns that rules may look at, by kind. All sets of 20 are enumerated, or searched. Beyond that CP-SAT proves the best
conjunction or disjunction of some ten thousand distinct records (`docs/accuracy.md`); of the other kinds it proves little.
"""

WIDTHS = f"{MAX_COLUMNS[CONJUNCTION]} at most for all or any of some columns, {MAX_COLUMNS[PARITY]} for other rules"
"""MAX_COLUMNS in words."""

_UNSEPARATED = {
    "decision_tree": "two decision trees can agree on all but one of the 2^d records",
    "dnf": "two formulas in disjunctive normal form can agree on all but one of the 2^d records",
    "real_halfspace": "halfspaces with arbitrary weights have no small separator set that we know of",
}
"""Classes that users may expect and that cannot be learnt this way, with the reason."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Feature:
    """The condition that a binary column has the value with code `value`, 0 or 1."""

    column: str
    value: int


def features(domain: Domain, columns: Collection[str], both: bool = False) -> tuple[Feature, ...]:
    """Return the feature "has its second value" of each column.

    Args:
        domain: The domain.
        columns: The columns.
        both: Whether the feature "has its first value" of each column follows, after all of these.

    Raises:
        InputError: A column is not in the domain, or does not have exactly two values.
    """
    for name in columns:
        if domain[name].size != 2:
            problem = f"it has {domain[name].size:,} values, and rules are learnt over columns with two"
            raise InputError(f"column {name!r}", problem, "merge its values into two, or drop it from the domain")
    return tuple(Feature(name, value) for value in ((1, 0) if both else (1,)) for name in columns)


@dataclass(frozen=True)
class RuleClass:
    """All rules of one kind over some features.

    Attributes:
        kind: "conjunction", "disjunction", "parity", "halfspace" or "decision_list".
        features: The features that rules look at.
        closed: Whether the negations of the rules belong to the class.

    Raises:
        InputError: The kind has no separator set.
        CapacityError: The features are of more columns than the kind allows: 60 for conjunctions and disjunctions, otherwise 20.
        ValueError: A class of decision lists is to be closed, which it is by itself.
    """

    kind: str
    features: tuple[Feature, ...]
    closed: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            why = _UNSEPARATED.get(self.kind, "it is unknown")
            raise InputError("class of rules", f"{self.kind!r} cannot be learnt in private here: {why}", f"use one of {', '.join(KINDS)}")
        if self.closed and self.kind == DECISION_LIST:
            raise ValueError("decision lists are closed under negation as they are")
        columns = len({feature.column for feature in self.features})
        if columns > MAX_COLUMNS[self.kind]:
            problem = f"{columns} columns are more than the {MAX_COLUMNS[self.kind]} over which a {self.kind} can be learnt"
            raise CapacityError("domain", problem, f"drop columns: {WIDTHS}")

    @cached_property
    def separators(self) -> Flags:
        """The separators as rows of features, shape (m, features): any two rules of the class disagree on at least one separator."""
        p = len(self.features)
        one = np.eye(p, dtype=bool)
        if self.kind == CONJUNCTION:
            return np.vstack([~one, np.ones((int(self.closed), p), dtype=bool)])
        if self.kind == DECISION_LIST:
            first, second = np.triu_indices(p, 1)
            return np.vstack([np.zeros((1, p), dtype=bool), one, one[first] | one[second]])
        return np.vstack([one, np.zeros((int(self.closed), p), dtype=bool)])

    @property
    def log2_size(self) -> float:
        """An upper bound of the binary logarithm of the number of rules, negations included where the class is closed."""
        p = len(self.features)
        if self.kind != DECISION_LIST:
            return p + self.closed
        return min(len(self.separators), math.lgamma(p + 1) / math.log(2) + p + 1)

    def seen(self, codes: NDArray[np.integer], columns: Collection[str]) -> Flags:
        """Return which features each row has, shape (rows, features).

        Args:
            codes: Codes of the rows, shape (rows, columns).
            columns: Names of the columns of `codes`, in order.
        """
        place = {name: i for i, name in enumerate(columns)}
        return np.stack([codes[:, place[f.column]] == f.value for f in self.features], axis=1)

    def read(self, numbers: NDArray[np.int64]) -> Rule:
        """Return the rule that `Rule.written` wrote as numbers, which must be of a rule of this class.

        The empty array, which stands for "no rule" in releases, is refused.

        Raises:
            IndexError: The array is empty.
        """
        flags, entries = int(numbers[0]), numbers[1:].reshape(-1, 2)
        answers = tuple(bool(answer) for answer in entries[:, 1]) if self.kind == DECISION_LIST else ()
        chosen = tuple(int(number) for number in entries[:, 0])
        return Rule(self.kind, self.features, chosen, answers, otherwise=bool(flags & 1), negated=bool(flags & 2))

    def rule(self, chosen: Collection[int], negated: bool = False) -> Rule:
        """Return the rule that consists of the features with these numbers; not for decision lists.

        Args:
            chosen: Indices of the features in `features`, from 0 and in any order.
            negated: Whether the rule is a negation.
        """
        return Rule(self.kind, self.features, tuple(sorted(chosen)), negated=negated)

    def identified(self, values: Flags) -> Rule:
        """Return the rule with these values on the separators, in its canonical form.

        Rules with the same values everywhere have the same canonical form. For conjunctions,
        disjunctions, parities and halfspaces each separator tells whether its feature is chosen,
        and the last one of a closed class whether the rule is a negation. A decision list can be
        written in many ways: neighbouring entries with the same answer can change places, and
        entries at its end with the default answer can be left out. In canonical form features stand
        in runs of equal answers; inside a run they are in the order of the class, and a last run
        with the default answer is left out.

        Args:
            values: Whether the rule holds at each separator, shape (m,).
        """
        if self.kind == DECISION_LIST:
            return self._identified_list(values)
        p, fails = len(self.features), self.kind == CONJUNCTION
        negated = self.closed and bool(values[p]) != fails
        chosen = (values[:p] != fails) != negated
        return self.rule(np.flatnonzero(chosen).tolist(), negated)

    def _identified_list(self, values: Flags) -> Rule:
        p = len(self.features)
        otherwise, answers = bool(values[0]), values[1 : p + 1]
        first, second = np.triu_indices(p, 1)
        leads = np.zeros((p, p), dtype=bool)  # [i, j]: i comes before j, where their answers differ
        differ = answers[first] != answers[second]
        leads[first, second] = differ & (values[p + 1 :] == answers[first])
        leads[second, first] = differ & (values[p + 1 :] == answers[second])
        before = leads.sum(axis=0)  # of the other answer; equal in a run, and larger in later runs of the same answer
        earlier = before + ((answers[:, None] == answers) & (before[:, None] < before)).sum(axis=0)
        kept = (answers != otherwise) | (earlier < earlier.max(initial=0))
        order = sorted(np.flatnonzero(kept).tolist(), key=lambda i: (int(earlier[i]), i))
        return Rule(DECISION_LIST, self.features, tuple(order), tuple(bool(answers[i]) for i in order), otherwise)


@dataclass(frozen=True)
class Rule:
    """One rule of a class.

    Attributes:
        kind: Kind of the class.
        features: Features of the class.
        chosen: Indices of its features in `features`, from 0; ascending, but of a decision list in the list's order.
        answers: Answers of a decision list's features, in the order of `chosen`; () for other kinds.
        otherwise: Default of a decision list.
        negated: Whether the rule is negated.
    """

    kind: str
    features: tuple[Feature, ...]
    chosen: tuple[int, ...]
    answers: tuple[bool, ...] = ()
    otherwise: bool = False
    negated: bool = False

    def written(self) -> NDArray[np.int64]:
        """Return the rule as whole numbers, shape (1 + 2 * chosen features,), from which `RuleClass.read` restores it.

        The numbers are otherwise + 2 * negated, and then, for each chosen feature, its index and
        its answer (1 except in decision lists).
        """
        answers = self.answers or (True,) * len(self.chosen)
        entries = [part for entry in zip(self.chosen, map(int, answers), strict=True) for part in entry]
        return np.array([self.otherwise + 2 * self.negated, *entries], dtype=np.int64)

    def negation(self) -> Rule:
        """Return the rule that holds exactly where this rule does not."""
        if self.kind == DECISION_LIST:
            return Rule(self.kind, self.features, self.chosen, tuple(not a for a in self.answers), not self.otherwise)
        return Rule(self.kind, self.features, self.chosen, negated=not self.negated)

    def holds(self, seen: Flags) -> Flags:
        """Return a mask of the rows at which the rule holds, shape (rows,).

        Args:
            seen: Which features each row has, shape (rows, features).
        """
        return self._plain(seen) != self.negated

    def _plain(self, seen: Flags) -> Flags:
        mine = seen[:, list(self.chosen)]
        if self.kind == CONJUNCTION:
            return np.asarray(mine.all(axis=1))
        if self.kind == DISJUNCTION:
            return np.asarray(mine.any(axis=1))
        if self.kind == PARITY:
            return np.asarray(mine.sum(axis=1) % 2 == 1)
        if self.kind == HALFSPACE:
            return np.asarray(2 * mine.sum(axis=1) > seen.sum(axis=1))
        holds = np.full(len(seen), self.otherwise)
        for number, answer in reversed(list(zip(self.chosen, self.answers, strict=True))):
            holds[seen[:, number]] = answer
        return holds

    def in_words(self, domain: Domain) -> str:
        """Return when the rule holds, as the second half of a sentence, such as "if smoker is 'yes'".

        Labels in the text come from the domain and are untrusted.
        """
        names = [f"{f.column} is {domain[f.column].cell_labels()[f.value]!r}" for f in self.features]
        mine = [names[number] for number in self.chosen]
        if self.kind == DECISION_LIST:
            steps = [f"{'yes' if answer else 'no'} if {name}" for name, answer in zip(mine, self.answers, strict=True)]
            if not steps:
                return "always" if self.otherwise else "never"
            return f"{'; else '.join(steps)}; otherwise {'yes' if self.otherwise else 'no'}"
        text = self._plain_words(mine, [name for i, name in enumerate(names) if i not in self.chosen])
        opposite = {"always": "never", "never": "always"}
        return opposite.get(text, f"unless {text}") if self.negated else text if text in opposite else f"if {text}"

    def _plain_words(self, mine: list[str], others: list[str]) -> str:
        if not mine:
            return "always" if self.kind == CONJUNCTION else "never"
        if self.kind == CONJUNCTION:
            return " and ".join(mine)
        if self.kind == DISJUNCTION:
            return " or ".join(mine)
        if self.kind == PARITY:
            return mine[0] if len(mine) == 1 else f"an odd number of these hold: {', '.join(mine)}"
        rest = f"more of these hold ({', '.join(mine)}) than of these ({', '.join(others)})"
        return rest if others else f"one of these holds: {', '.join(mine)}"

    def to_json(self, domain: Domain) -> dict[str, Any]:
        """Return the rule for the release as JSON values: everything needed to apply it, by column and label.

        These are kind, features (the chosen ones, each with column and value) and negated; for halfspaces also against, the
        other features; for decision lists also answers and otherwise.

        Args:
            domain: The domain, for the labels.
        """

        def named(number: int) -> dict[str, str]:
            feature = self.features[number]
            return {"column": feature.column, "value": domain[feature.column].cell_labels()[feature.value]}

        described: dict[str, Any] = {"kind": self.kind, "features": [named(number) for number in self.chosen], "negated": self.negated}
        if self.kind == HALFSPACE:
            described["against"] = [named(number) for number in range(len(self.features)) if number not in self.chosen]
        if self.kind == DECISION_LIST:
            described |= {"answers": list(self.answers), "otherwise": self.otherwise}
        return described
