"""Whether one program errs less than another, as far as a few runs of each can tell."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

LESS, MORE, UNDECIDED = "less", "more", "undecided"
ENOUGH = 3
DECIDED = f"less: every run of one errs less than every run of the other, {ENOUGH} each at least; more: the other way round; or undecided"


def verdict(one: Sequence[float], other: Sequence[float]) -> str:
    """LESS where every run of the one erred less than every run of the other: with three runs each, chance alone does that one time in
    twenty. MORE the other way round, else, and with fewer runs, UNDECIDED."""
    if min(len(one), len(other)) < ENOUGH:
        return UNDECIDED
    if max(one) < min(other):
        return LESS
    return MORE if min(one) > max(other) else UNDECIDED


def by_epsilon(one: pd.DataFrame, other: pd.DataFrame, field: str = "error") -> str:
    """The verdicts in words: "less at epsilon 0.1, 1". one, other: runs, one a row; "" where they have no epsilon in common."""
    verdicts: dict[str, list[str]] = {}
    for epsilon in sorted(set(one["epsilon"]) & set(other["epsilon"])):
        runs = [frame.loc[frame["epsilon"] == epsilon, field].tolist() for frame in (one, other)]
        verdicts.setdefault(verdict(*runs), []).append(f"{epsilon:g}")
    return "; ".join(f"{word} at epsilon {', '.join(epsilons)}" for word, epsilons in verdicts.items())
