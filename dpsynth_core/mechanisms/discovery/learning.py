"""The learning phase before a mechanism, on the discovery share of the budget: open values are learnt from the kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.mechanisms.discovery import numbers
from dpsynth_core.privacy import thresholds
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.keys import MISSING, PUBLIC
from dpsynth_core.vocabulary.measurement import ROUNDING, MarginalCounts

LEVELS = 3
LIKELY = 0.95
"""Probability with which a value is called likely to be found."""
_HEADROOM = 1 - 2.0**-30
"""Factor that keeps the sum of parts divided in floating point within the whole."""


@dataclass(frozen=True)
class Portion:
    """The part of the budget for learning the values of one column.

    Attributes:
        column: The column.
        sigma: Standard deviation of the noise of each count, in records.
        delta: Part of delta for a column of texts; 0 for numbers, which need none.
    """

    column: Attribute
    sigma: float
    delta: float

    def least(self, rows: int) -> int | None:
        """Return the noisy number of records from which on a text is published; None for a column of numbers.

        Args:
            rows: Largest number of rows per person.
        """
        return thresholds.threshold(self.sigma, self.delta, rows) if self.delta else None

    def shared_by(self, rows: int) -> int | None:
        """Return the number of records that a text needs to be found with 95 % probability; None for numbers.

        Args:
            rows: Largest number of rows per person.
        """
        return shared_by(self.sigma, self.delta, rows) if self.delta else None


def shared_by(sigma: float, delta: float, rows: int, chance: float = LIKELY) -> int:
    """Return the number of records that a text needs to be found with probability `chance`, at least 1.

    Args:
        sigma: Standard deviation of the noise, in records.
        delta: Part of delta for the column.
        rows: Largest number of rows per person.
        chance: The probability, a fraction.
    """
    return max(1, math.ceil(thresholds.threshold(sigma, delta, rows) - 0.5 + sigma * float(scipy.special.ndtri(chance))))


def texts(columns: Sequence[Attribute]) -> int:
    """Return the number of columns of texts, each of which needs a part of delta."""
    return sum(not column.is_number for column in columns)


def divided(columns: Sequence[Attribute], unit: Unit, rho: float, delta: float) -> tuple[Portion, ...]:
    """Divide the budget for learning among columns, before a run, as part of the sealed plan.

    Each column gets the same share of rho. A column of numbers or dates divides it evenly between
    3 looks (`LEVELS`), each finer than the one before. A column of texts spends it on one
    question (`privacy.thresholds`), for which delta is divided evenly between such columns.

    Args:
        columns: The columns to learn, at least one.
        unit: The unit of privacy.
        rho: Budget of all columns together, in rho.
        delta: Delta of all columns together.

    Returns:
        The sigma (in records) and delta of each column, in order.
    """
    each, own = rho / len(columns) * _HEADROOM, delta / max(1, texts(columns)) * _HEADROOM
    looks = [LEVELS if column.is_number else 1 for column in columns]
    return tuple(
        Portion(column, unit.marginal_l2 * math.sqrt(count / (2 * each)), 0.0 if column.is_number else own)
        for column, count in zip(columns, looks, strict=True)
    )


@dataclass(frozen=True, eq=False)
class Learnt:
    """A column whose cells were learnt.

    Attributes:
        column: The column with the cells that were found.
        counts: Noisy counts of these cells, in records.
    """

    column: Attribute
    counts: MarginalCounts


def learn(kernel: SealedKernel, portions: Sequence[Portion]) -> Iterator[Learnt]:
    """Learn the cells of columns from the kernel, and yield each: texts first, one by one, then all numbers together.

    Args:
        kernel: The kernel, which is charged for each column.
        portions: The columns with their parts of the budget; without any, nothing is yielded.
    """
    for portion in portions:
        if not portion.column.is_number:
            noisy = kernel.discover_values((portion.column.name,), portion.sigma, portion.delta)
            column = column_of(portion.column, noisy, portion.sigma)
            yield Learnt(column, counts_of(column, noisy, portion.sigma))
    yield from _numbers(kernel, [portion for portion in portions if portion.column.is_number])


def _numbers(kernel: SealedKernel, portions: Sequence[Portion]) -> Iterator[Learnt]:
    edges = [numbers.grid(portion.column) for portion in portions]
    counts: list[NDArray[np.float64]] = [np.zeros(0)] * len(portions)
    last = list(zip(edges, counts, strict=True))
    for level in range(LEVELS if portions else 0):
        if level:
            edges = [
                numbers.divided(p.column.scale, cuts, noisy, p.sigma, p.column.most)
                for p, cuts, noisy in zip(portions, edges, counts, strict=True)
            ]
        looks = [numbers.cells(p.column, cuts) for p, cuts in zip(portions, edges, strict=True)]
        kernel.prepare_cells(looks)
        for i, (portion, look) in enumerate(zip(portions, looks, strict=True)):
            noisy = kernel.measure_cells((look.name,), look, portion.sigma)
            last[i] = edges[i], noisy
            edges[i], counts[i] = numbers.trimmed(edges[i], noisy[:-1], portion.sigma)
    for i, portion in enumerate(portions):
        merged = numbers.merged(edges[i], counts[i], portion.sigma, portion.column.most - 1)
        bins = numbers.refined(merged, edges[i], counts[i], portion.sigma, portion.column.most - 1)
        yield Learnt(numbers.found(portion.column, bins), numbers.counts(portion.column, bins, *last[i], portion.sigma))


def column_of(unknown: Attribute, noisy: Mapping[str, int], sigma: float) -> Attribute:
    """Return a column with cells for the texts that were found, in alphabetical order, and for all other values.

    At most `unknown.most` - 2 texts have cells. If more were found, those with the largest noisy counts
    are kept, and the others count as "other". Empty values have a cell if their noisy number is more
    than twice the noise, or if the column would otherwise have a single cell; else they count as
    "other". Only noisy counts decide.

    Args:
        unknown: The column as declared, with the largest number of cells (`most`).
        noisy: Noisy number of records of each published text (`discover_values`).
        sigma: Standard deviation of the noise, in records.
    """
    frequent = sorted((text for text in noisy if text not in PUBLIC), key=lambda text: (-noisy[text], text))[: unknown.most - 2]
    missing = noisy[MISSING] > 2 * sigma or not frequent
    return replace(unknown, most=0, categories=tuple(sorted(frequent)), other=True, missing=missing)


def counts_of(learnt: Attribute, noisy: Mapping[str, int], sigma: float) -> MarginalCounts:
    """Return the noisy counts of a learnt column's cells, in the order of its cells.

    Each count has the variance sigma^2 plus the variance of rounding. The count of "other" is stated as 0 with
    infinite variance, because it is unknown. A text is published only if its noisy count reached the
    threshold T. This biases its count upwards, by 0.8 sigma if its true count is T and by 0.06 sigma if it
    is T + 2 sigma, which the variance leaves out.

    Args:
        learnt: The column with its cells.
        noisy: Noisy number of records of each text of the column, and of `MISSING` if the column has a
            cell for missing values.
        sigma: Standard deviation of the noise, in records.
    """
    variance = sigma**2 + ROUNDING
    noisy_cells = [(float(noisy[text]), variance) for text in learnt.categories]
    noisy_cells += [(0.0, math.inf), *([(float(noisy[MISSING]), variance)] if learnt.missing else [])]
    return MarginalCounts((learnt.name,), *np.array(noisy_cells).T)
