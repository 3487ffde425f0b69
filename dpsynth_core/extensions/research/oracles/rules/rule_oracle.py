"""The learning oracle: the rule of a class that holds for the least weight of the given records.

It is a weighted optimisation oracle in the sense of Neel, Roth, Wu 2019, Definition 5. Weights are whole numbers of either sign; only a
proved minimum is *certified*.

Two methods give the same answer: `solve` hands a problem to CP-SAT, which may reach its limit; `exhaust` enumerates all sets of features,
which is possible up to `exhaustible`, and then cannot fail. The cost of every single rule is known up to `enumerable`. This module knows
nothing of privacy: the kernel calls it with private records, mechanisms with public ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.pool import Pool
from dpsynth_core.extensions.research.oracles.rules import hits, lists
from dpsynth_core.extensions.research.oracles.rules.hits import Hits
from dpsynth_core.extensions.research.oracles.rules.rules import CONJUNCTION, DECISION_LIST, DISJUNCTION, HALFSPACE, PARITY, Rule, RuleClass
from dpsynth_core.extensions.research.oracles.search import Limit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.occupied import Occupied

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

AUTO, CP_SAT, EXHAUSTIVE = "auto", "cp-sat", "exhaustive"
ORACLES = (AUTO, CP_SAT, EXHAUSTIVE)
"""auto: exhaustive where that is possible, CP-SAT elsewhere. The class alone decides, never a record."""

Ask = Callable[["LearningProblem", Integers], Sequence[Rule | None]]
"""Answers questions. Its argument is noise of shape (questions, separators), in the units of the weights; one answer per row."""

_PRODUCTS_AT_ONCE = 2**22
"""Numbers in memory at a time when many perturbations are answered: 32 MB."""

_HOW = {CONJUNCTION: hits.ANY, DISJUNCTION: hits.ANY, PARITY: hits.ODD, HALFSPACE: hits.MOST_OF_ROW}


@dataclass(frozen=True, eq=False)
class LearningProblem:
    """The problem: minimise the cost sum_r weights_r q(seen_r) over the rules q of a class.

    Attributes:
        rules: The class of rules.
        seen: Features of the records, shape (r, p).
        weights: Weights of the records, of either sign, shape (r,).
    """

    rules: RuleClass
    seen: Flags
    weights: Integers

    def value(self, rule: Rule) -> int:
        """Return the cost of a rule: the total weight of the records for which it holds."""
        return int(self.weights @ rule.holds(self.seen))

    def perturbed(self, noise: Integers) -> LearningProblem:
        """Return the problem with each separator as one more record, whose weight is its noise.

        Args:
            noise: Noise of each separator, in the unit of the weights, shape (separators,).
        """
        return LearningProblem(self.rules, np.vstack([self.seen, self.rules.separators]), np.concatenate([self.weights, noise]))


@dataclass(frozen=True, eq=False)
class Learned:
    """A learnt rule.

    Attributes:
        rule: The rule.
        value: Its cost, in the unit of the weights.
        bound: Lower bound on the cost of every rule.
        certified: Whether the rule is proved to be a minimum.
    """

    rule: Rule
    value: int
    bound: float
    certified: bool


@dataclass(frozen=True)
class Oracle:
    """An oracle's name and limit.

    It has no limit of wall time, because answers about private records must not depend on how busy a machine is.

    Attributes:
        name: "auto", "cp-sat" or "exhaustive"; auto is exhaustive for classes where that is possible, otherwise CP-SAT.
        work: Work per question for CP-SAT (`Limit.work`), about a second per unit on a fast machine.
    """

    name: str
    work: float

    @property
    def limit(self) -> Limit:
        """The limit of CP-SAT's work per question, without a limit of time.

        Raises:
            ValueError: The work is not above 0 and finite.
        """
        return Limit.of_work(self.work)

    def may_fail(self, rules: RuleClass) -> bool:
        """Return whether the oracle may answer without a proof.

        It cannot where it enumerates all sets of features.
        """
        return self.name == CP_SAT or (self.name == AUTO and not exhaustible(rules))

    def check(self, rules: RuleClass) -> None:
        """Check that the oracle can answer about a class of rules.

        Raises:
            ValueError: It is set to be exhaustive, and the class is not `exhaustible`.
        """
        if self.name == EXHAUSTIVE and not exhaustible(rules):
            raise ValueError(f"{len(rules.features)} features are too many for all rules to be tried")


def exhaustible(rules: RuleClass) -> bool:
    """Return whether the rule of least cost can be computed without a solver, in memory and within seconds.

    That is so up to 20 features, or 14 for halfspaces.
    """
    most = lists.MAX_FEATURES if rules.kind == DECISION_LIST else hits.MAX_EXHAUSTIVE[_HOW[rules.kind]]
    return len(rules.features) <= most


def enumerable(rules: RuleClass) -> bool:
    """Return whether the cost of every single rule can be computed (`all_values`).

    For decision lists this allows fewer features than `exhaustible`: 7 in place of 20.
    """
    return len(rules.features) <= lists.MAX_LISTED if rules.kind == DECISION_LIST else exhaustible(rules)


def solve(problem: LearningProblem, limit: Limit) -> Learned | None:
    """Find the rule of least cost by CP-SAT.

    A class that is closed under negation takes two searches, each with half the limit.

    Args:
        problem: The problem.
        limit: The limit of all searches together.

    Returns:
        The best rule found, which may lack a proof (`Learned.certified`); None if a search failed or the
        problem is too large for CP-SAT, with more than 2,097,152 features of distinct records (MAX_LITERALS).
    """
    if problem.rules.kind == DECISION_LIST:
        merged = hits.gathered(Hits(hits.ANY, problem.seen, problem.weights, np.zeros(problem.seen.shape[1], dtype=np.int64)))
        found = lists.solve(problem.rules, merged.rows, merged.weights, limit)
        return None if found is None else Learned(found[0], problem.value(found[0]), *found[1:])
    signs = (False, True) if problem.rules.closed else (False,)
    share = replace(limit, seconds=limit.seconds / len(signs), work=limit.work / len(signs))
    learned = []
    for negated in signs:
        found_set, shift = hits.solve(_as_hits(problem, negated), share), _shift(problem, negated)
        if found_set is None:
            return None
        rule = _rule(problem.rules, found_set.v, negated)
        learned.append(Learned(rule, found_set.value + shift, found_set.bound + shift, found_set.certified))
    best = min(learned, key=lambda answer: answer.value)
    bound = min(answer.bound for answer in learned)
    return Learned(best.rule, best.value, bound, all(a.certified for a in learned))


def exhaust(problem: LearningProblem, noise: Integers) -> list[Rule]:
    """Return the rule of least cost for each of many perturbations of the separators, in order.

    All rules except decision lists are enumerated once; a product of small matrices gives what each
    perturbation adds to the cost of each rule.

    Args:
        problem: The problem without perturbation.
        noise: Noise of each separator in each perturbation, in the unit of the weights, shape (questions, separators).

    Raises:
        ValueError: The class is not `exhaustible`.
    """
    if problem.rules.kind == DECISION_LIST:
        return [lists.cheapest(one.rules, one.seen, one.weights) for one in map(problem.perturbed, noise)]
    base, single = all_values(problem), np.eye(len(problem.rules.separators), dtype=np.int64)
    held = np.stack([all_values(LearningProblem(problem.rules, problem.rules.separators, row)) for row in single])  # (separators, rules)
    cheapest, rules = [], dict[int, Rule]()
    at_once = max(1, _PRODUCTS_AT_ONCE // len(base))
    for start in range(0, len(noise), at_once):
        for best in (noise[start : start + at_once] @ held + base).argmin(axis=1).tolist():
            if best not in rules:
                rules[best] = numbered(problem.rules, best)
            cheapest.append(rules[best])
    return cheapest


def all_values(problem: LearningProblem) -> Integers:
    """Return the cost of each rule of the class, in the order of `numbered` and the unit of the weights.

    Raises:
        ValueError: The class is not `enumerable`.
    """
    if problem.rules.kind == DECISION_LIST:
        return lists.all_costs(problem.rules, problem.seen, problem.weights)
    plain = hits.all_values(_as_hits(problem, negated=False)) + _shift(problem, negated=False)
    return np.concatenate([plain, int(problem.weights.sum()) - plain]) if problem.rules.closed else plain


def numbered(rules: RuleClass, number: int) -> Rule:
    """Return the rule whose cost has this index, counted from 0, in the result of `all_values`."""
    if rules.kind == DECISION_LIST:
        return next(islice(lists.every(rules), number, None))
    p = len(rules.features)
    negated, subset = divmod(number, 1 << p)
    return _rule(rules, hits.subsets(p, np.array([subset]))[0], bool(negated))


def _as_hits(problem: LearningProblem, negated: bool) -> Hits:
    """Return the learning problem as a problem of `hits`, of which `_shift` is the constant difference.

    A set of `hits` is the set of a rule's features. For conjunctions a hit is a record without some
    feature of the set, at which the rule does not hold, so that weights change their sign.

    Args:
        problem: The learning problem.
        negated: Whether the rules are the negations of the class, for which weights change their
            sign.
    """
    conjunction = problem.rules.kind == CONJUNCTION
    weights = -problem.weights if conjunction != negated else problem.weights
    rows = ~problem.seen if conjunction else problem.seen
    return Hits(_HOW[problem.rules.kind], rows, weights, np.zeros(rows.shape[1], dtype=np.int64))


def _shift(problem: LearningProblem, negated: bool) -> int:
    """Return the cost of any rule less the cost of its hits (`_as_hits`), a constant."""
    return int(problem.weights.sum()) if (problem.rules.kind == CONJUNCTION) != negated else 0


def _rule(rules: RuleClass, v: Flags, negated: bool) -> Rule:
    return rules.rule(np.flatnonzero(v).tolist(), negated)


@contextmanager
def batch_oracle(oracle: Oracle, rules: RuleClass, questions: int) -> Iterator[Ask]:
    """Open an oracle for a `with` block, which gets the function that answers perturbations of one learning problem (`Ask`).

    It returns, for each perturbation, the rule of least cost, or None if that is not proved. An
    oracle that cannot fail runs in this process. CP-SAT runs in processes of its own, so that
    Ctrl-C and a cancelled run do not wait for a search, and a search that runs out of memory harms
    nothing else.

    The function raises OracleError if a process dies; afterwards it cannot be called again. It raises ValueError
    if the oracle is set to be exhaustive and the class is too large (`exhaustible`).

    Args:
        oracle: The oracle's name and limit.
        rules: The class of rules.
        questions: Number of perturbations; with one, a single process is started.
    """
    if not oracle.may_fail(rules):
        yield exhaust
        return
    with Pool(1 if questions == 1 else None) as pool:

        def ask(problem: LearningProblem, noise: Integers) -> list[Rule | None]:
            written = pool.map(_searcher, (problem, oracle.limit), list(noise), oracle.limit.seconds)
            return [None if numbers is None else rules.read(np.array(numbers, dtype=np.int64)) for numbers in written]

        yield ask


def _searcher(shared: tuple[LearningProblem, Limit]) -> Callable[[Integers], list[int] | None]:
    """Return the function with which a solver process finds the best rule for one noise vector.

    It returns the numbers of `Rule.written`, or None if the search failed or did not prove that no
    rule costs less.

    Args:
        shared: The learning problem without noise, and the limit of each search.
    """
    problem, limit = shared

    def search(noise: Integers) -> list[int] | None:
        learned = solve(problem.perturbed(noise), limit)
        return learned.rule.written().tolist() if learned is not None and learned.certified else None

    return search

STEPS = 16
"""Weights are multiples of 1/STEPS of a record: noise is drawn on that grid, g = 1/16."""


@dataclass(frozen=True, eq=False)
class Rivals:
    """A public table whose cost is subtracted from a rule's cost on the private table.

    In OracleQuery the difference is the payoff q(D) - q(rivals), in people.

    Attributes:
        codes: Codes of the rows, shape (rows, columns of the task), all of equal weight.
        records: Number of people that all rows together stand for.
    """

    codes: NDArray[np.int32]
    records: float


@dataclass(frozen=True, eq=False)
class Task:
    """A class of rules, the columns it uses, and the cost of a rule at a record.

    Without a target, a rule costs one for each record at which it holds. With a target, the rule predicts that this column has its second
    value, and costs one for each record where that is wrong. The second kind equals the first over relabelled records: a record with the
    second value counts -1, another +1, up to the number of the former, which no choice of a rule changes. One person moves a rule's cost by
    their rows in both.

    Attributes:
        rules: The class.
        columns: The features' columns and the target, in domain order; every one binary.
        target: The predicted column, or None.
        rivals: A public table whose cost is subtracted, or None.

    Raises:
        ValueError: The target is a feature.
    """

    rules: RuleClass
    columns: Clique
    target: str | None = None
    rivals: Rivals | None = None

    def __post_init__(self) -> None:
        if self.target in {feature.column for feature in self.rules.features}:
            raise ValueError("a column cannot predict itself")

    @classmethod
    def of(cls, domain: Domain, rules: RuleClass, target: str | None = None, rivals: Rivals | None = None) -> Task:
        """Return the task over the columns that the features and the target name.

        Args:
            domain: The domain, which orders the columns.
            rules: The class of rules.
            target: The predicted column, or None.
            rivals: A public table to subtract, or None.

        Raises:
            ValueError: The target is a feature.
        """
        named = {feature.column for feature in rules.features} | ({target} if target else set())
        return cls(rules, domain.clique(named), target, rivals)

    def problem(self, table: Occupied) -> LearningProblem:
        """Return the learning problem of a table, with weights in steps of 1/16 of a record.

        Its records are the distinct records of the table, with the sign that the target requires, and then
        the rivals' rows. Each rival has the weight -(rivals.records / rows), rounded to 1/16, also if there is
        a target.

        Args:
            table: The table over `columns`.
        """
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
        """Return the cost of each of these rules on a table, in order, in records, without noise and without rivals.

        With a target, that is the number of records that a rule predicts wrongly; without a target,
        the number of records for which it holds.

        Args:
            rules: The rules.
            table: The table over `columns`.
        """
        codes = table.codes
        seen = self.rules.seen(codes, self.columns)
        wanted = codes[:, self.columns.index(self.target)] == 1 if self.target is not None else np.zeros(len(codes), dtype=bool)
        return np.array([int(table.records @ (rule.holds(seen) != wanted)) for rule in rules], dtype=np.int64)
