"""The extension's operation of the kernel: how many cells have one record. Callers pass a kernel in place of `asked`."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.privacy.operation import Asked, operation
from dpsynth_core.privacy.operations import Answer, Float, measure
from dpsynth_core.privacy.view import Integers, View
from dpsynth_core.vocabulary.measurement import Clique


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
