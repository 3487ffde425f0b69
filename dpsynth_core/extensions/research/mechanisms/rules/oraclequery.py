"""OracleQuery: synthetic rows from a game between records and rules (Neel, Roth, Wu 2019, section IV).

The queries are all rules of one class over the columns of a binary table, negations included: all 2^d conjunctions, say, of any number of
columns. A query player names the rule that the present records answer most wrongly. That needs the private table: one of the private
learners learns it as the cheapest rule of q(D) - q(records). A data player follows the perturbed leader: it draws s records, each the best
one against all rules named so far less a fresh Laplace perturbation of the columns. The records of all rounds together are the table. The
private learner distinguishes Theorem 10's three variants: Gaussian RSPM, PRSMA, and a private learner as accurate as the exponential
mechanism. RSPM with Laplace noise is offered as well.

Differences from the paper are on the card. Where rules are learnt by RSPM and both searches are CP-SAT's, beyond 20 columns, a round takes
seconds and half as many rounds are played (`docs/accuracy.md`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
from typing_extensions import override

from dpsynth_core.extensions.research.mechanisms.games import query_game
from dpsynth_core.extensions.research.mechanisms.rules import learners
from dpsynth_core.extensions.research.oracles.pool import Pool
from dpsynth_core.extensions.research.oracles.rules.dual import DUALLY_SEPARABLE, RecordFinder, exhausts
from dpsynth_core.extensions.research.oracles.rules.rule_oracle import Rivals, Task
from dpsynth_core.extensions.research.oracles.rules.rules import WIDTHS, Rule, RuleClass, features
from dpsynth_core.mechanisms.mechanism import Card, Forecast, printed
from dpsynth_core.mechanisms.parameters import choice, real, whole
from dpsynth_core.mechanisms.rounds import count_people, people
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import Workload

ROUNDS, ROUNDS_OF_SEARCHES = 160, 80
"""Default T: where all sets of columns are enumerated, and where they are searched."""
_HALF = "The records of the first half of the rounds are left out; the theorem averages all."
_KEPT = (
    "All rounds cost the same; the paper's text leaves the algorithm's details to an appendix.",
    "The learner is asked about the class closed under negation at once; the paper asks it twice.",
    "T and s come from a search on invented people.",
    "The learner is Gaussian RSPM, the first of Theorem 10's three.",
)


@dataclass(frozen=True)
class OracleQuery(learners.RuleLearner):
    """OracleQuery: rows from a game between records and rules.

    In each round records are drawn against all rules so far, and one rule is learnt in private that they answer wrongly.
    """

    card: Card = Card(
        "oraclequery", "OracleQuery", ZCDP,
        summary=(
            "Rows that answer a whole class of rules, such as every combination of any number of columns, by naming the worst answered "
            f"rule again and again. For tables of two-valued columns: {WIDTHS}."
        ),
        paper="Neel, Roth, Wu: How to Use Heuristics for Differential Privacy (FOCS 2019), OracleQuery",
        privacy=(
            "Measures the number of people, where it is secret; then every round learns one rule in private: by the exponential mechanism "
            "(rho = eps^2/8), or by RSPM with Laplace noise (rho = eps^2/2), Gaussian RSPM or PRSMA (rho = eps^2/2 and a delta). The "
            "records are found from the named rules alone. Rounds compose adaptively."
        ),
        differences=(
            "The learner is the exponential mechanism over all rules where they can be gone through, in Theorem 10 one of three; beyond "
            "20 columns RSPM with Laplace noise, half as many rounds, and up to 9 seconds for each of them.",
            *_KEPT[:-1],
            _HALF,
            learners.NUMBERS_OF_PRSMA,
        ),
    )
    rule: str = choice(DUALLY_SEPARABLE, text="Queries: all of some columns, any of them, an odd number, more than of the others.")
    learner: str = learners.learner_choice()
    rounds: int = whole(0, least=0, most=1000, text="Number of rounds T; each names one rule. 0: 160 up to 20 columns, 80 beyond.")
    records: int = whole(50, least=1, most=1000, text="Records that are drawn in each round, s.")
    perturbation: float = real(
        0.25, least=0.0, most=100.0, text="Scale of the noise on each column, as a multiple of the square root of T."
    )
    oracle: str = learners.oracle_choice()
    oracle_work: float = learners.oracle_work()
    solve_seconds: float = query_game.solve_seconds()
    skip: float = query_game.skip(0.5)

    split = staticmethod(query_game.split)

    def rules(self, domain: Domain) -> RuleClass:
        """Return all rules of the kind `self.rule` over all columns, and their negations.

        Raises:
            InputError: A column does not have exactly two values.
            CapacityError: There are more columns than rules of this kind can be learnt over.
        """
        return RuleClass(self.rule, features(domain, domain.names), closed=True)

    @override
    def asked(self, rules: RuleClass) -> tuple[float, int]:
        """Return the share of the budget that learns rules, 1.0, and the number of questions, one for each round.

        The count of people, where it is secret, is taken from the same budget first.
        """
        return 1.0, self.rounds_for(rules)

    @override
    def needed(self, domain: Domain, rules: RuleClass) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or refuse a domain with impossible combinations."""
        tied = "it looks for records among all combinations, impossible ones too; remove those rules, or choose another mechanism"
        sets = 2 ** len(domain) if exhausts(rules) else 0
        search, search_mb = self.searching(rules)
        finding = 0.0 if sets else self.records * self.solve_seconds / 10
        seconds = 2.0 + self.rounds_for(rules) * (0.04 + search + finding + sets * (1.3e-8 * self.records + 8e-7))
        return Forecast(not domain.impossible, seconds, 200.0 + search_mb + 150e-6 * sets, tied if domain.impossible else "")

    def steps(self, kernel: Kernel, _workload: Workload) -> Iterator[Step]:
        """Play T rounds with the kernel's whole budget; yield the steps.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for the number of people if it is secret, a Fitted for each round, then a
            Finished with the records as its model.

        Raises:
            InputError: The domain does not have such a class of rules (`rules`).
            OracleError: A solver process that looks for records failed.
            CapacityError: The learner is PRSMA, and the table has fewer records than its parts.
        """
        rules = self.rules(kernel.domain)
        rounds, columns = self.rounds_for(rules), len(kernel.domain)
        with ExitStack() as closing:
            pool = None if exhausts(rules) else closing.enter_context(Pool())
            finder = RecordFinder(rules, query_game.search_limit(self.solve_seconds), pool)
            rng = np.random.default_rng(kernel.seed())
            total = people((yield from count_people(kernel, query_game.TOTAL_SHARE)))
            question = learners.Question.spending(self.chosen(rules), kernel.rho_left / rounds, kernel.delta_total / rounds)
            scale = self.perturbation * rounds**0.5
            named, drawn, searches = list[Rule](), list[query_game.Codes](), query_game.Searches()
            for number in range(1, rounds + 1):
                answers = finder.best(named, rng.laplace(0.0, scale, (self.records, columns)))
                # where a search found no record in its time, one of the round before stands in, and in the first round any
                before = drawn[-1] if drawn else rng.integers(0, 2, (self.records, columns), dtype=np.int32)
                drawn.append(np.stack([a.codes if a.status != "failed" else other for a, other in zip(answers, before, strict=True)]))
                rule = question.put(kernel, Task.of(kernel.domain, rules, rivals=Rivals(drawn[-1], total)), self.solver)
                named += [] if rule is None else [rule.negation()]
                searches.add(answers)
                yield query_game.played(kernel, number, query_game.Searches.of(answers))
        guarantee = f"each round: {question.guarantee(self.solver.may_fail(rules))}"
        details = {"rounds": rounds, "rules_named": len(named), "guarantee": guarantee, **searches.to_json()}
        yield Finished(query_game.together(kernel.domain, drawn, self.skip, total), total, details)

    def rounds_for(self, rules: RuleClass) -> int:
        """Return the number of rounds T: the parameter `rounds`, or a default if that is 0.

        The default is 160 if all combinations of values can be tried, and 80 if a solver searches.

        Raises:
            InputError: The class has no known separator set of its dual, as decision lists.
        """
        return self.rounds or (ROUNDS if exhausts(rules) else ROUNDS_OF_SEARCHES)


PUBLISHED = OracleQuery(card=printed(OracleQuery.card, *_KEPT, learners.NUMBERS_OF_PRSMA), learner=learners.GAUSSIAN, skip=0.0)
"""Theorem 10, first part (Neel, Roth and Wu 2019)."""
