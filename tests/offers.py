"""A selection among all of some marginals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.privacy.scores import Offered
from dpsynth_core.vocabulary.measurement import Clique


def offered(
    answers: Mapping[Clique, Any], weights: Mapping[Clique, float] | None = None, offsets: Mapping[Clique, float] | None = None
) -> Offered:
    """weights, offsets: 1 and 0 unless given."""
    return Offered(answers, weights or dict.fromkeys(answers, 1.0), offsets or dict.fromkeys(answers, 0.0))


def selected(
    kernel: Kernel,
    answers: Mapping[Clique, Any],
    eps: float,
    weights: Mapping[Clique, float] | None = None,
    offsets: Mapping[Clique, float] | None = None,
) -> Clique:
    return kernel.select_offered_marginal(offered(answers, weights, offsets), eps, np.ones(len(answers), dtype=bool))
