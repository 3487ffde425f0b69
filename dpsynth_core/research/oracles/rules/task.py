"""A learning task: a class of rules, the columns it uses, and the cost of a rule at a record. Public; the caller supplies the records.

target: None: a rule costs one for each record at which it holds. Otherwise the rule predicts that this column has its second value, and
costs one for each record where that is wrong. That is the first kind over relabelled records: a record with the second value counts -1,
another +1, up to the number of the former, which no choice of a rule changes. One person moves a rule's cost by their rows in both.

rivals: a public table that plays against the private one: a rule's cost is what it would be, less that of the rivals, which count for
`records` people together (OracleQuery's payoff q(D) - q(rivals), in people).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.research.oracles.rules.rule_oracle import LearningProblem
from dpsynth_core.research.oracles.rules.rules import Rule, RuleClass
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.occupied import Occupied

Integers = NDArray[np.int64]

STEPS = 16
"""Weights are multiples of 1/STEPS of a record: noise is drawn on that grid, g = 1/16."""


@dataclass(frozen=True, eq=False)
class Rivals:
    """codes: (rows, columns of the task), all of equal weight. records: how many people they stand for together."""

    codes: NDArray[np.int32]
    records: float

    def scaled(self, share: float) -> Rivals:
        """The same rows for a part of the people."""
        return Rivals(self.codes, self.records * share)


@dataclass(frozen=True, eq=False)
class Task:
    """columns: the features' columns, and the target, in domain order; every one binary. ValueError if the target is a feature."""

    rules: RuleClass
    columns: Clique
    target: str | None = None
    rivals: Rivals | None = None

    def __post_init__(self) -> None:
        if self.target in {feature.column for feature in self.rules.features}:
            raise ValueError("a column cannot predict itself")

    @classmethod
    def of(cls, domain: Domain, rules: RuleClass, target: str | None = None, rivals: Rivals | None = None) -> Task:
        named = {feature.column for feature in rules.features} | ({target} if target else set())
        return cls(rules, domain.clique(named), target, rivals)

    def problem(self, table: Occupied) -> LearningProblem:
        """The learning problem of a table over `columns`, weights in steps: distinct records, relabelled, and the rivals."""
        codes, weights = table.codes, table.records * STEPS
        seen = self.rules.seen(codes, self.columns)
        if self.target is not None:
            weights = np.where(codes[:, self.columns.index(self.target)] == 1, -weights, weights)
        if self.rivals is not None:
            each = round(self.rivals.records * STEPS / len(self.rivals.codes))
            seen = np.vstack([seen, self.rules.seen(self.rivals.codes, self.columns)])
            weights = np.concatenate([weights, np.full(len(self.rivals.codes), -each, dtype=np.int64)])
        return LearningProblem(self.rules, seen, weights)

    def costs(self, rules: Sequence[Rule], table: Occupied) -> Integers:
        """What each of these rules costs over a table over `columns`, in records; rivals left aside."""
        codes = table.codes
        seen = self.rules.seen(codes, self.columns)
        wanted = codes[:, self.columns.index(self.target)] == 1 if self.target is not None else np.zeros(len(codes), dtype=bool)
        return np.array([int(table.records @ (rule.holds(seen) != wanted)) for rule in rules], dtype=np.int64)
