"""Records for given rules, against all records, whichever oracle finds them."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.research.oracles.pool import Pool
from dpsynth_core.extensions.research.oracles.rules import dual, hits, rule_oracle
from dpsynth_core.extensions.research.oracles.rules.dual import DUALLY_SEPARABLE, STEPS, RecordFinder
from dpsynth_core.extensions.research.oracles.rules.rules import DECISION_LIST
from dpsynth_core.extensions.research.oracles.search import Limit
from dpsynth_core.foundation.errors import InputError
from tests.extensions.research.oracles.test_rules import class_of


@pytest.mark.parametrize("kind", DUALLY_SEPARABLE)
@pytest.mark.parametrize("by_search", [False, True])
def test_the_record_found_is_the_best_of_all(kind: str, by_search: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(len(kind))
    rules = class_of(kind, 5, closed=True)
    given = [rule_oracle.numbered(rules, int(number)) for number in rng.integers(0, 64, 14)]
    costs = np.round(rng.laplace(0, 2, (4, 5)) * STEPS) / STEPS
    records = hits.subsets(5, np.arange(32))
    if by_search:
        monkeypatch.setattr(dual, "exhausts", lambda _: False)
        with Pool(1) as pool:
            answers = RecordFinder(rules, Limit(30), pool).best(given, costs)
    else:
        answers = RecordFinder(rules, Limit(30)).best(given, costs)
    for answer, cost in zip(answers, costs, strict=True):
        worth = [sum(int(rule.holds(x[None])[0]) for rule in given) - cost @ x for x in records]
        mine = sum(int(rule.holds(answer.codes[None] == 1)[0]) for rule in given) - cost @ answer.codes
        assert answer.certified
        assert answer.value == pytest.approx(mine) == pytest.approx(max(worth))
        assert answer.gap == pytest.approx(0)


def test_a_class_whose_dual_has_no_separators_is_refused() -> None:
    with pytest.raises(InputError, match="'decision_list' has no known separator set of its dual class; use one of conjunction"):
        dual.exhausts(class_of(DECISION_LIST, 3))


def test_no_rules_leave_the_perturbation_alone() -> None:
    answers = RecordFinder(class_of(DUALLY_SEPARABLE[0], 3), Limit(1)).best([], np.array([[1.0, -2.0, 3.0]]))
    assert answers[0].codes.tolist() == [0, 1, 0]
    assert answers[0].value == 2.0
