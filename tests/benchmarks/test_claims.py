"""What a few runs of two programs say about which errs less."""

from __future__ import annotations

import pandas as pd

from benchmarks.figures import LESS, MORE, UNDECIDED, by_epsilon, verdict


def test_only_runs_that_do_not_overlap_decide() -> None:
    assert verdict([1.0, 2.0, 3.0], [3.5, 4.0, 5.0]) == LESS
    assert verdict([3.5, 4.0, 5.0], [1.0, 2.0, 3.0]) == MORE
    assert verdict([1.0, 2.0, 3.6], [3.5, 4.0, 5.0]) == UNDECIDED
    assert verdict([1.0, 1.0, 1.0], [1.0, 1.0, 1.0]) == UNDECIDED
    assert verdict([1.0, 2.0, 3.0], [3.5, 4.0]) == UNDECIDED


def test_verdicts_are_told_by_epsilon_and_only_where_both_were_measured() -> None:
    one = pd.DataFrame({"epsilon": [0.1] * 3 + [0.5] * 3 + [1.0] * 3, "error": [0.2, 0.3, 0.1, 0.0, 0.0, 0.0, 0.1, 0.1, 0.1]})
    other = pd.DataFrame({"epsilon": [0.1] * 3 + [1.0] * 3, "error": [0.4, 0.5, 0.4, 0.05, 0.2, 0.2]})
    assert by_epsilon(one, other) == "less at epsilon 0.1; undecided at epsilon 1"
    assert by_epsilon(one.head(0), other) == ""
