"""What a few runs of two programs say about which errs less."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks import recycling
from benchmarks.claims import LESS, MORE, UNDECIDED, by_epsilon, verdict


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


def test_recycling_compares_the_best_settings_of_each_mechanism(tmp_path: Path) -> None:
    """Of two settings of DualQuery the one whose runs err less on average, though the other has the best single run."""
    errors = {("dualquery", 4): [0.1, 0.11, 0.12], ("dualquery", 1): [0.05, 0.3, 0.3], ("dqrs", 0.1): [0.2, 0.21, 0.22]}
    runs = [
        {"table": "demo", "epsilon": 1.0, "mechanism": name, "settings": {"eta": eta, "samples": 5}, "error": error, "rounds": 7}
        for (name, eta), those in errors.items()
        for error in those
    ]
    recycling.write({"runs": runs}, tmp_path / "recycling")
    assert "| demo | 1 | 4, 5 | 7 | 0.1100 (3) | 0.1, 5 | 7 | 0.2100 (3) | more |" in (tmp_path / "recycling.md").read_text()
