"""Synthetic rows whose values are drawn within their cells, one batch after the other, each time the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.sources.decoding import decode
from dpsynth_core.vocabulary.domain import Domain

BATCH_ROWS = 250_000


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """codes: int32, shape (rows, attributes of the domain).  state: of the generator that draws the first batch; every later batch has one
    of its own, made from `seed` and the batch's number."""

    domain: Domain
    codes: NDArray[np.int32]
    state: Mapping[str, Any]
    seed: int

    @property
    def num_rows(self) -> int:
        return len(self.codes)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        for start in range(0, max(1, len(self.codes)), BATCH_ROWS):
            batch = decode(self.domain, self.codes[start : start + BATCH_ROWS], self._generator(start // BATCH_ROWS), start)
            yield batch if columns is None else batch.select(columns)

    def _generator(self, batch: int) -> np.random.Generator:
        if batch:
            return np.random.default_rng((self.seed, batch))
        first = np.random.default_rng()
        first.bit_generator.state = dict(self.state)
        return first
