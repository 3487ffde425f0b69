"""A public table of the same columns: records that anyone may see, as codes of the domain. Mechanisms may use it at no cost.

The curator declares it public. Nothing here can check that its people agreed, so a release that used one states "assumed public".
This module reads no file; `sources.public` does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain


@dataclass(frozen=True, eq=False)
class PublicTable:
    """A public table.

    Attributes:
        domain: The domain.
        codes: int32 codes from 0, shape (rows, attributes of the domain), every code a cell of its attribute.
        name: Name of the file, without its folder.
        digest: SHA-256 of the file's content, as hex.
    """

    domain: Domain
    codes: NDArray[np.int32]
    name: str
    digest: str

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def support(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the distinct rows that the domain calls possible, and how often each occurs.

        Returns:
            Codes, int32 of shape (distinct rows, columns), in ascending order, and numbers of rows, int64 of shape
            (distinct rows,). Both are empty if no row is possible.
        """
        rows, counts = np.unique(self.codes, axis=0, return_counts=True)
        possible = np.ones(len(rows), dtype=bool)
        for clique, impossible in self.domain.zeros.items():
            possible &= ~impossible[tuple(rows[:, self.domain.position(name)] for name in clique)]
        return rows[possible], counts[possible]
