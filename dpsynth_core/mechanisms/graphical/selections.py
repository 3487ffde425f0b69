"""Selecting marginals that a model answers badly, and the record of it that error bounds are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.mechanisms.steps import Candidate, SelectionRecord
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.measurement import Clique, Measurement

Answers = Mapping[Clique, NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Choice:
    """What a selection chose, at which eps, and every candidate as it was seen. answers: the model's, as they came."""

    clique: Clique
    eps: float
    sensitivity: float
    seen: Mapping[Clique, Candidate]
    answers: Answers

    def taught_little(self, model: GraphicalModel) -> bool:
        """Whether measuring what was chosen changed the model's answer by no more than the noise alone would (AIM, Algorithm 3)."""
        before = self.seen[self.clique]
        return float(np.abs(model.marginal(self.clique) - before.answer).sum()) <= before.offset


def choose(kernel: Kernel, answers: Answers, weights: Mapping[Clique, float], offsets: Mapping[Clique, float], eps: float) -> Choice:
    """Select a marginal with score w_r * (||M_r(D) - answers_r||_1 - offset_r); see `Kernel.select_worst_marginal`."""
    return _choose(kernel, answers, {r: Candidate(weights[r], offsets[r], answer.astype(np.float32)) for r, answer in answers.items()}, eps)


def choose_again(kernel: Kernel, before: Choice, pool: Iterable[Clique]) -> Choice:
    """Another of the same candidates, with the same scores and eps. pool: those that are left."""
    left = list(pool)
    return _choose(kernel, {r: before.answers[r] for r in left}, {r: before.seen[r] for r in left}, before.eps)


def _choose(kernel: Kernel, answers: Answers, seen: Mapping[Clique, Candidate], eps: float) -> Choice:
    weights, offsets = {r: one.weight for r, one in seen.items()}, {r: one.offset for r, one in seen.items()}
    chosen = kernel.select_worst_marginal(answers, weights, offsets, eps)
    return Choice(chosen, eps, max(weights.values()) * kernel.unit.marginal_l1, seen, answers)


def apart(chosen: Clique, pool: Iterable[Clique]) -> list[Clique]:
    """Those that share no two columns with the chosen table, and are no part of it: what it shows is not in the model yet."""
    return [r for r in pool if len(set(chosen).intersection(r)) < min(2, len(r))]


def choose_worst(kernel: Kernel, answers: Answers, eps: float) -> Choice:
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
