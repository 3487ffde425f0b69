"""The extension's operations of the kernel: right and wrong guesses, and cells with one record. Callers pass a kernel for `asked`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.privacy.operation import Asked, operation
from dpsynth_core.privacy.operations import Answer, Float, measure
from dpsynth_core.privacy.view import Integers, View
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.predictors import Predictor, Within


def _guesses(predictors: Sequence[Predictor], _sigma: float) -> tuple[str, ...]:
    return tuple(predictor.sha256 for predictor in predictors)


@operation(
    Gaussian,
    lambda asked, sigma, *_hashes: Gaussian(sigma, asked.unit.marginals_l2(asked.count)),
    lambda question: len(question["predictors"]),
    _guesses,
)
def measure_named(asked: Asked, predictors: Sequence[Predictor], sigma: float) -> Answer[Float]:
    """Measure how many records each of k predictors names the right value of, and how many a wrong one.

    A predictor names a value of a record if its score is from the smallest to the largest that is right about any value. So the
    records with a right value, with a wrong one and with none are a marginal of three cells, two of which are measured: l2 =
    sqrt(k) marginal_l2 (Proposition 32). Callers pass a kernel in place of `asked`. It is charged rho = l2^2 / (2 sigma^2), and the
    call returns the numbers themselves.

    Args:
        asked: The public facts of the call, which the kernel gives.
        predictors: The predictors, each with limits for scores (`Within`), made of released values alone.
        sigma: Standard deviation of the noise of each number, in records.

    Returns:
        A function of the view that returns the noisy numbers, rightly and wrongly, shape (k, 2); they may be negative.

    Raises:
        ValueError: `predictors` is empty, one has no limits or is about a column outside the domain, sigma is not positive, or the source
            cannot apply predictors.
    """
    if not predictors or any(name not in asked.domain for one in predictors for name in one.columns):
        raise ValueError("predictors are about columns of the domain, and there is at least one")
    asked.require("right")
    each = [made for one in predictors for made in (one, replace(one, decision=_any(one)))]

    def named(view: View) -> Integers:
        right, some = view.right(each).reshape(-1, 2).T
        return np.stack([right, some - right], axis=1)

    return measure(named, sigma)


def _any(predictor: Predictor) -> Within:
    """Return limits within which a score is right about any of the target's values."""
    if not isinstance(predictor.decision, Within):
        raise ValueError("such a predictor has limits for scores")
    least, most = predictor.decision.least, predictor.decision.most
    return Within(np.full_like(least, least.min()), np.full_like(most, most.max()))


def _hashes(cells: Mapping[Clique, NDArray[np.bool_]], _sigma: float) -> tuple[str, ...]:
    """Return the SHA-256 of each marginal's names and chosen cells, so that a recipient can make them again from the rows."""
    return tuple(sha256(repr(clique).encode() + np.packbits(chosen).tobytes()).hexdigest() for clique, chosen in cells.items())


@operation(
    Gaussian,
    lambda asked, sigma, *_hashes: Gaussian(sigma, asked.unit.errors_l2(asked.count)),
    lambda question: len(question["cells"]),
    _hashes,
)
def measure_alone(asked: Asked, cells: Mapping[Clique, NDArray[np.bool_]], sigma: float) -> Answer[Float]:
    """Measure, for each of k marginals, how many of its public cells have exactly one record.

    Each number moves by marginal_l1 at most: l2 = sqrt(k) marginal_l1 (Proposition 31). Callers pass a kernel in place of
    `asked`. It is charged rho = l2^2 / (2 sigma^2), and the call returns the numbers themselves.

    Args:
        asked: The public facts of the call, which the kernel gives.
        cells: By clique, which cells are counted, shaped like the marginal; made of released values alone.
        sigma: Standard deviation of the noise of each number, in cells.

    Returns:
        A function of the view that returns the noisy numbers, shape (k,), in the order of `cells`; they may be negative.

    Raises:
        ValueError: `cells` is empty, an array has another shape than its marginal or is not of truth values, or sigma is not positive.
        InputError: A name is not in the domain.
    """
    if not cells or any(chosen.shape != asked.shape(clique) or chosen.dtype != np.bool_ for clique, chosen in cells.items()):
        raise ValueError("there is at least one marginal, and its cells are chosen by truth values, shaped like it")

    def alone(view: View) -> Integers:
        tables = view.tables(cells)
        return np.array([np.count_nonzero((tables[clique] == 1) & chosen) for clique, chosen in cells.items()], dtype=np.int64)

    return measure(alone, sigma)
