"""The steps that a run yields, and the model at its end. Released values only.

The caller of a mechanism may stop taking steps at any moment, which cancels the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.measurement import Clique, Measurement


class Model(Protocol):
    """The result of a mechanism: an estimate of the table's distribution, in counts."""

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the model's marginal over `clique`: estimated counts with one axis per attribute.

        Raises:
            KeyError: The model cannot answer this marginal.
        """


class RowModel(Model, Protocol):
    """A model that can also write rows."""

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return codes of n synthetic rows drawn at random, shape (n, attributes of the domain).

        Args:
            n: Number of rows.
            marginals: The marginals in which rows should be as close to the model as n rows can be,
                with their weights c_r.
            rng: Source of randomness.
        """


@dataclass(frozen=True, eq=False)
class Unmoved:
    """A model whose rows stay as rounding leaves them: no value is changed afterwards to bring them closer to the model."""

    model: RowModel

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the model's marginal over `clique`: estimated counts with one axis per attribute.

        Raises:
            KeyError: The model cannot answer this marginal.
        """
        return self.model.marginal(clique)

    def rows(self, n: int, _marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return codes of n rows drawn from the model without refinement; the given marginals are ignored."""
        return self.model.rows(n, {}, rng)


Finish = Callable[[RowModel], RowModel]
"""Returns the final model from the fitted one."""


def as_it_is(model: RowModel) -> RowModel:
    """Return the fitted model unchanged; a `Finish`."""
    return model


@dataclass(frozen=True)
class Measured:
    """A step: a measurement was taken.

    Attributes:
        round: Number of the round, 0 before the adaptive rounds.
        measurement: The measurement.
        rho_spent: Budget spent so far, in rho.
        done: Fraction of the work that is done, from 0 to 1.
    """

    round: int
    measurement: Measurement
    rho_spent: float
    done: float


@dataclass(frozen=True)
class Fitted:
    """A step: the model was estimated anew.

    Attributes:
        round: Number of the round, 0 before the adaptive rounds.
        message: What happened, in words.
        rho_spent: Budget spent so far, in rho.
        done: Fraction of the work that is done, from 0 to 1.
    """

    round: int
    message: str
    rho_spent: float
    done: float


@dataclass(frozen=True, eq=False)
class Candidate:
    """A marginal as it was offered to a selection; its score was weight * (||M_r(D) - answer||_1 - offset).

    Attributes:
        weight: Weight w_r.
        offset: Number of counts that is subtracted from the distance.
        answer: The model's answer, in counts.
    """

    weight: float
    offset: float
    answer: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SelectionRecord:
    """One round that selected a marginal by the exponential mechanism and measured it; released values only.

    Attributes:
        chosen: The marginal as the selection saw it.
        measurement: Its measurement.
        eps: Privacy parameter of the selection.
        sensitivity: Delta_t, the largest change of a score by one person, in counts times weight.
        candidates: |C_t|, the number of tables that could be selected.
    """

    chosen: Candidate
    measurement: Measurement
    eps: float
    sensitivity: float
    candidates: int


@dataclass(frozen=True)
class Finished:
    """The last step.

    Attributes:
        model: The model.
        total: Estimated (or public) number of rows.
        details: Public facts for the report, by name.
        selections: The selections, from which error bounds are computed (`evaluation.bounds`); () for a mechanism without rounds.
        considered: Every marginal that was ever a candidate, with the index (from 0) in `selections` of the last time and its state then.
    """

    model: Model
    total: float
    details: Mapping[str, Any]
    selections: tuple[SelectionRecord, ...] = ()
    considered: Mapping[Clique, tuple[int, Candidate]] = field(default_factory=dict)


Step = Measured | Fitted | Finished
