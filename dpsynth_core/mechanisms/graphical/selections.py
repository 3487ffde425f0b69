"""Selecting marginals that a model answers badly, and the record of it that error bounds are computed from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.steps import Candidate, SelectionRecord
from dpsynth_core.vocabulary.measurement import Clique, Measurement


@dataclass(frozen=True, eq=False)
class Choice:
    """What a selection chose, at which eps, and every candidate as it was seen. answers: the model's, as they came. offsets: of these at
    least."""

    clique: Clique
    eps: float
    sensitivity: float
    seen: Mapping[Clique, Candidate]
    answers: Mapping[Clique, NDArray[np.float64]]
    offsets: Mapping[Clique, float]


def choose(
    kernel: Kernel,
    answers: Mapping[Clique, NDArray[np.float64]],
    weights: Mapping[Clique, float],
    offsets: Mapping[Clique, float],
    eps: float,
    before: Choice | None = None,
) -> Choice:
    """Select a marginal with score w_r * (||M_r(D) - answers_r||_1 - offset_r); see `Kernel.select_worst_marginal`.

    before: an earlier choice among the same answers, or more of them, at the same offsets; the candidates are shared with it."""
    chosen = kernel.select_worst_marginal(answers, weights, offsets, eps)
    if before is None:
        seen = {r: Candidate(weights[r], offsets[r], answer.astype(np.float32)) for r, answer in answers.items()}
    else:
        seen = {r: before.seen[r] for r in answers}
    return Choice(chosen, eps, max(map(weights.__getitem__, answers)) * kernel.unit.marginal_l1, seen, answers, offsets)


def choose_worst(kernel: Kernel, answers: Mapping[Clique, NDArray[np.float64]], eps: float) -> Choice:
    """Select by ||M_r(D) - answers_r||_1 alone."""
    return choose(kernel, answers, dict.fromkeys(answers, 1.0), dict.fromkeys(answers, 0.0), eps)


@dataclass
class Selections:
    """What was selected and then measured; error bounds are computed from it (see `Finished`)."""

    selections: list[SelectionRecord] = field(default_factory=list)
    considered: dict[Clique, tuple[int, Candidate]] = field(default_factory=dict)

    def add(self, choice: Choice, measurement: Measurement) -> None:
        """`measurement`: of the chosen marginal, with fresh noise."""
        self.considered.update((clique, (len(self.selections), candidate)) for clique, candidate in choice.seen.items())
        chosen = choice.seen[choice.clique]
        self.selections.append(SelectionRecord(chosen, measurement, choice.eps, choice.sensitivity, len(choice.seen)))
