"""The same records with many perturbations: the cheapest rule for each, or None where it was not proved.

An oracle that cannot fail runs in this process. CP-SAT runs in processes of its own, so that Ctrl-C and a cancelled run do not wait
for a search, and a search that runs out of memory takes nothing else with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.research.oracles.answer import Limit
from dpsynth_core.research.oracles.pool import Pool
from dpsynth_core.research.oracles.rules import rule_oracle
from dpsynth_core.research.oracles.rules.rule_oracle import LearningProblem, Oracle
from dpsynth_core.research.oracles.rules.rules import Rule, RuleClass

Integers = NDArray[np.int64]
Ask = Callable[[LearningProblem, Integers], Sequence[Rule | None]]
"""noise: (questions, separators), in the units of the weights. One answer for each row."""


@contextmanager
def asking(oracle: Oracle, rules: RuleClass, questions: int) -> Iterator[Ask]:
    """The oracle, ready for `questions` perturbations. A call raises OracleError when one of its processes dies; after that it cannot be
    called again."""
    if not oracle.may_fail(rules):
        yield lambda problem, noise: rule_oracle.exhaust_many(problem, noise)
        return
    with Pool(1 if questions == 1 else None) as pool:

        def ask(problem: LearningProblem, noise: Integers) -> list[Rule | None]:
            written = pool.map(_searcher, (problem, oracle.limit), list(noise), oracle.limit.seconds)
            return [None if numbers is None else rules.read(np.array(numbers, dtype=np.int64)) for numbers in written]

        yield ask


def _searcher(shared: tuple[LearningProblem, Limit]) -> Callable[[Integers], list[int] | None]:
    """What a solver process does: `Rule.written`, where the rule was proved."""
    problem, limit = shared

    def search(noise: Integers) -> list[int] | None:
        learned = rule_oracle.solve(problem.perturbed(noise), limit)
        return learned.rule.written().tolist() if learned is not None and learned.certified else None

    return search
