"""The audit of the noise check: a question about a table that was measured on one of two neighbouring tables (`audit`)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpsynth_core.extensions.audit.cases import Case, Question
from dpsynth_core.extensions.audit.evidence import Draw
from dpsynth_core.extensions.audit.losses import Arguments, Guess, Losses, Maker, key
from dpsynth_core.extensions.audit.neighbours import Neighbours
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.vocabulary.measurement import ROUNDING, Measurement

_SIGMA, _SEALED, _DELTA = 3.0, 1.0, 1e-12


def _measured(_: object, neighbours: Neighbours) -> Question:
    """Return a question about one noisy table of the first of the two tables."""
    counts = neighbours.tables[0].counts([("b",)])[("b",)]
    noisy = SeededNoise(0).gaussian(np.asarray(counts, dtype=np.int64), _SIGMA).astype(np.float64)
    return {"measured": [Measurement(("b",), noisy, _SIGMA, None, ROUNDING)], "sealed": _SEALED, "delta": _DELTA}


def _labelled(_losses: Losses, _arguments: Arguments) -> Guess:
    """Return the guess that assumes no privacy loss and keeps the answer as the label of a draw."""
    return lambda answer: Draw(0.0, key(answer))


CASES = (Case("noise_as_charged", _measured, finite=True),)
GUESSES: Mapping[str, Maker] = {"noise_as_charged": _labelled}
