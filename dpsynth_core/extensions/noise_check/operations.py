"""The kernel operation of the noise check: is the noise of measured tables as large as was charged?

The test is a likelihood ratio. Under the charged noise, the ratio of the probabilities of the observed noise at another scale and at the
charged scale is a martingale of mean 1, also where a mechanism chooses tables, sigma and its end in the light of earlier answers. A
chi-square statistic would need the number of cells to be fixed beforehand. The statistic stays here, because with the answers it would be a
distance to the private table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.privacy.events import Event, check_positive
from dpsynth_core.privacy.operation import Asked, operation
from dpsynth_core.privacy.view import View
from dpsynth_core.vocabulary.measurement import Measurement

SCALES = (0.001, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.1, 1.25, 1.5, 2.0, 10.0)
"""Scales of wrong noise, as multiples of the charged noise, with which the charged noise is compared."""
MOST = 56.0
"""Largest limit: the false alarms that it allows are no rarer than the distance of the kernel's noise from rounded normal noise."""


@dataclass(frozen=True)
class Compared(Event):
    """A comparison of noise with what was charged: it costs no rho, and the probability `delta` (Proposition 29).

    Attributes:
        sealed: The rho of the whole run.
        delta: Probability with which the guarantee may fail.
    """

    sealed: float
    delta: float

    def __post_init__(self) -> None:
        check_positive(sealed=self.sealed, delta=self.delta)

    @property
    def cost(self) -> Fraction:
        """The exact rho of the event."""
        return Fraction(0)


def limit(sealed: float, delta: float) -> float:
    """Return the logarithm of the likelihood ratio from which on noise counts as wrong (Proposition 29).

    Args:
        sealed: The rho of the whole run.
        delta: Probability with which the guarantee may fail.

    Raises:
        ValueError: The limit is above 56, because rho is too large.
    """
    found = (math.sqrt(sealed) + math.sqrt(math.log(4 / delta))) ** 2
    if found > MOST:
        raise ValueError("rho is too large for a comparison of noise")
    return found


@operation(Compared, lambda _, sealed, delta, *_about: Compared(sealed, delta), digests=lambda *_: ("measured",))
def noise_as_charged(asked: Asked, measured: list[Measurement], sealed: float, delta: float) -> Callable[[View], bool | None]:
    """Say whether the noise of tables that this kernel measured has the charged size. It costs `delta` and no rho (Proposition 29).

    Callers pass a kernel in place of `asked`. It is charged, and the call returns the answer itself, which may be released:
    True if the noise agrees, False if not, None if `measured` is empty.

    Args:
        asked: The public facts of the call.
        measured: Tables that the kernel measured in this process, with `measure_marginals` over all records and single values.
        sealed: The rho of the whole run.
        delta: Probability with which the guarantee may fail.

    Returns:
        A function from the view of the private table to the answer, which the kernel calls.

    Raises:
        ValueError: A table has another shape than its marginal, or rho is too large.
    """
    most = limit(sealed, delta)
    if any(one.values.shape != asked.shape(one.clique) for one in measured):
        raise ValueError("a table has another shape than its marginal")

    def answer(view: View) -> bool | None:
        if not measured:
            return None
        counts = view.tables([one.clique for one in measured])
        logs = sum((log_ratios(one.values - counts[one.clique], one.sigma) for one in measured), np.zeros(len(SCALES)))
        return bool(scipy.special.logsumexp(logs) - math.log(len(SCALES)) < most)

    return answer


def log_ratios(noise: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """Return, for each of `SCALES`, the logarithm of the likelihood ratio of noise at this scale and at sigma, shape (scales,).

    Args:
        noise: Rounded normal noise, in counts, of any shape.
        sigma: Charged standard deviation before rounding, in counts.
    """
    sizes, often = np.unique(np.abs(noise), return_counts=True)
    charged = _log_probability(sizes, sigma)
    return np.array([float((often * (_log_probability(sizes, scale * sigma) - charged)).sum()) for scale in SCALES])


def _log_probability(sizes: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """Return ln Pr[round(Z) = k] for Z normal with this sigma, from the sizes |k|."""
    inner, outer = (scipy.special.log_ndtr(-(sizes + half) / sigma) for half in (-0.5, 0.5))
    return np.asarray(inner + np.log(-np.expm1(outer - inner)), dtype=np.float64)
