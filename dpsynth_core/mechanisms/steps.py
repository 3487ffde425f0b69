"""What a run yields: its steps, and at the end the model. Released values only.

The caller of a mechanism may stop taking steps at any moment: that is how a run is cancelled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.measurement import Clique, Measurement


class Model(Protocol):
    """What a mechanism ends with: an estimate of the table's distribution, in counts."""

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Estimated counts with one axis per attribute. Raises KeyError if this model cannot answer it."""


class RowModel(Model, Protocol):
    """A model that can also write rows."""

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Codes, shape (n, attributes of the domain), as close to the model's answers to `marginals` (weights c_r) as n rows can be."""


@dataclass(frozen=True, eq=False)
class Unmoved:
    """A model that writes its rows as rounding leaves them: afterwards no value is changed to bring them closer to the model."""

    model: RowModel

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        return self.model.marginal(clique)

    def rows(self, n: int, _marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        return self.model.rows(n, {}, rng)


Finish = Callable[[RowModel], RowModel]
"""What a mechanism does to its model at the end."""


def as_it_is(model: RowModel) -> RowModel:
    return model


@dataclass(frozen=True)
class Measured:
    """A measurement was taken. `round` counts from 0 (0: before the adaptive rounds); `done` is a fraction in [0, 1]."""

    round: int
    measurement: Measurement
    rho_spent: float
    done: float


@dataclass(frozen=True)
class Fitted:
    """The model was re-estimated after a round; shown as progress."""

    round: int
    message: str
    rho_spent: float
    done: float


@dataclass(frozen=True, eq=False)
class Candidate:
    """A marginal as a selection saw it: its score was weight * (||M_r(D) - answer||_1 - offset). answer: counts, the model's then."""

    weight: float
    offset: float
    answer: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SelectionRecord:
    """One round that chose a marginal by the exponential mechanism at `eps` and measured it; released values only. sensitivity: Delta_t,
    what one person changes any score by at most. candidates: |C_t|. chosen: what `measurement` was chosen as."""

    chosen: Candidate
    measurement: Measurement
    eps: float
    sensitivity: float
    candidates: int


@dataclass(frozen=True)
class Finished:
    """The last step. total: estimated (or public) number of rows. details: public facts for the report. selections, considered: what error
    bounds are computed from (evaluation.bounds), where the mechanism selects. considered: every marginal that was ever a candidate, with
    the index in `selections` of the last time and what it was then."""

    model: Model
    total: float
    details: Mapping[str, Any]
    selections: tuple[SelectionRecord, ...] = ()
    considered: Mapping[Clique, tuple[int, Candidate]] = field(default_factory=dict)


Step = Measured | Fitted | Finished
