"""The one form in which a rule is written: a function of its values on the separators of its class, and so of the rule as a function.

Of conjunctions, disjunctions, parities and halfspaces each separator tells whether its feature is chosen, and the last one of a closed
class whether the rule is a negation. A decision list can be written in many ways: neighbouring entries that answer the same can change
places, and entries at its end that answer what the default does can be left out. Its separators tell the default, the answer of each
feature on its own, and which of two features with different answers comes first. So features stand in runs of equal answers; inside a run
they are in the order of the class, and a last run that answers what the default does is left out.
"""

from __future__ import annotations

import numpy as np

from dpsynth_core.research.oracles.rules.rules import CONJUNCTION, DECISION_LIST, Flags, Rule, RuleClass


def identified(rules: RuleClass, values: Flags) -> Rule:
    """The rule of the class that has these values on its separators, shape (m,)."""
    if rules.kind == DECISION_LIST:
        return _decision_list(rules, values)
    p, fails = len(rules.features), rules.kind == CONJUNCTION
    negated = rules.closed and bool(values[p]) != fails
    chosen = (values[:p] != fails) != negated
    return rules.rule(np.flatnonzero(chosen).tolist(), negated)


def _decision_list(rules: RuleClass, values: Flags) -> Rule:
    p = len(rules.features)
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
    return Rule(DECISION_LIST, rules.features, tuple(order), tuple(bool(answers[i]) for i in order), otherwise)
