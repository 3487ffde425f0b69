"""Combine the analyses of several sets of rows: Rubin's rule for missing data, around the released rows where they are given.

With B the variance between m sets and W the ordinary variance within a set, the variance of a result is
    (1 + 1/m) B       for the table that was released: its rows are fixed, and only the noise is uncertain;
    W + (1 + 1/m) B   for the population that the table was drawn from (Rubin 1987, Multiple Imputation for Nonresponse in Surveys, 3.1).
Rules for sets that are drawn from a model without noise (Raghunathan, Reiter and Rubin 2003, minus W) do not apply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from dpsynth_core.foundation.errors import InputError, shown

POPULATION, TABLE = "population", "table"
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Pooled:
    """Results of several sets of rows as one, with intervals.

    Attributes:
        value: The estimate of each result, shape (results,).
        low, high: Ends of its 95 % interval, shape (results,).
        variance: Its variance, of noise alone (`of` = "table") or of noise and sampling, shape (results,).
        degrees: Degrees of freedom of Student's t, shape (results,).
        noise: The standard deviation of the noise alone, sqrt((1 + 1/m) B), shape (results,).
        of: "population" or "table".
        sets: Number of sets, m.
    """

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    variance: NDArray[np.float64]
    degrees: NDArray[np.float64]
    noise: NDArray[np.float64]
    of: str
    sets: int


def pool(values: ArrayLike, variances: ArrayLike, of: str = POPULATION, *, released: ArrayLike | None = None) -> Pooled:
    """Combine the results of the same analysis in several sets of rows, and return 95 % intervals.

    Args:
        values: The result in each set, of shape (sets,) or (sets, results).
        variances: Its ordinary variance in each set (the squared standard error), of the same shape, or of shape
            (results,).
        of: "population" for the people that the table was drawn from, "table" for the table itself.
        released: The result in the released rows, around which intervals lie; by default, the mean of the sets.

    Returns:
        The pooled results.

    Raises:
        InputError: If there are fewer than two sets, shapes differ, a number is not finite, a variance is
            negative, or `of` is another text.

    Examples:
        >>> import dpsynth_core as dps
        >>> found = dps.pool([1.0, 1.2, 0.8], [0.04, 0.04, 0.04])
        >>> float(round(found.value[0], 2)), float(round(found.variance[0], 4))
        (1.0, 0.0933)
    """
    check_of(of)
    results, within = np.asarray(values, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    results = results[:, None] if results.ndim == 1 else results
    if results.ndim != 2 or len(results) < 2:
        raise InputError("values", "results of fewer than two sets say nothing of the noise", "give one row per set, two sets or more")
    if within.ndim == 1 and within.shape == results.shape[:1] and results.shape[1] == 1:
        within = within[:, None]
    if within.shape not in (results.shape, results.shape[1:]):
        raise InputError("variances", f"their shape is {within.shape}", f"give {results.shape}, as of the values, or {results.shape[1:]}")
    if not (np.isfinite(results).all() and np.isfinite(within).all() and (within >= 0).all()):
        raise InputError("values", "a value or variance is not a finite number, or a variance is negative", "leave that result out")
    own = results.mean(axis=0) if released is None else np.atleast_1d(np.asarray(released, dtype=np.float64))
    if own.shape != results.shape[1:]:
        raise InputError("released", f"its shape is {own.shape}", f"give one value per result, {results.shape[1:]}")
    return combined(own, results, within.mean(axis=0) if within.ndim == 2 else within, of)


def combined(value: NDArray[np.float64], results: NDArray[np.float64], within: NDArray[np.float64], of: str) -> Pooled:
    """Return results with 95 % intervals by Rubin's rule.

    With m sets and the variance B between the sets, the variance of a result is (1 + 1/m) B for the table, and W + (1 + 1/m) B for the
    population.

    Args:
        value: The estimates, shape (results,).
        results: The results in the sets, shape (sets, results), two sets or more.
        within: The ordinary variances W, shape (results,).
        of: "population" or "table".
    """
    m = len(results)
    noise = (1 + 1 / m) * results.var(axis=0, ddof=1)
    variance = noise + within if of == POPULATION else noise
    degrees = (m - 1) * np.maximum(1.0, np.divide(variance, noise, where=noise > 0, out=np.full(noise.shape, 1e6))) ** 2
    half = scipy.stats.t.ppf(0.5 + LEVEL / 2, degrees) * np.sqrt(variance)
    return Pooled(value, value - half, value + half, variance, degrees, np.sqrt(noise), of, m)


def check_of(of: Any) -> None:
    """Check that `of` is "population" or "table", and return nothing.

    Raises:
        InputError: It is something else.
    """
    if of not in (POPULATION, TABLE):
        raise InputError("of", f"{shown(of)} has no intervals", f'give "{POPULATION}" or "{TABLE}"')
