"""Fewer cells for a picture: which cells of an attribute to show together when it has more than fit.

Public by construction when it is given public or released counts; it must never be given private ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Attribute


@dataclass(frozen=True)
class CellGroups:
    """`cells[i]` are the codes shown under `labels[i]`; every code of the attribute is in exactly one group."""

    labels: tuple[str, ...]
    cells: tuple[NDArray[np.intp], ...]

    @property
    def widths(self) -> NDArray[np.float64]:
        return np.array([len(codes) for codes in self.cells], dtype=np.float64)

    def sum(self, counts: NDArray[np.float64], axis: int = 0) -> NDArray[np.float64]:
        """Counts added up within each group along one axis."""
        order = np.concatenate(self.cells)
        starts = np.concatenate([[0], np.cumsum([len(codes) for codes in self.cells])[:-1]])
        return np.add.reduceat(np.take(counts, order, axis=axis), starts, axis=axis)


def is_ordered(attribute: Attribute) -> bool:
    """Whether neighbouring cells of the attribute lie next to each other in meaning."""
    return attribute.about.ordered


def group(attribute: Attribute, counts: NDArray[np.float64], limit: int) -> CellGroups:
    """At most `limit` groups: neighbours together for ordered attributes, the smallest cells together for the others.

    counts: public or released counts per cell, used only to find which categories are the largest.
    """
    labels = attribute.cell_labels()
    if len(labels) <= limit:
        return CellGroups(labels, tuple(np.array([code]) for code in range(len(labels))))
    return _neighbours(attribute, labels, limit) if is_ordered(attribute) else _largest(labels, counts, limit)


def _neighbours(attribute: Attribute, labels: Sequence[str], limit: int) -> CellGroups:
    """Runs of equal length; the cells for other and missing values stay alone at the end."""
    special = [np.array([code]) for code in range(attribute.values, attribute.size)]
    length = -(-attribute.values // (limit - len(special)))
    runs = [np.arange(start, min(start + length, attribute.values)) for start in range(0, attribute.values, length)]
    cells = (*runs, *special)
    return CellGroups(tuple(_span(labels, codes) for codes in cells), cells)


def _span(labels: Sequence[str], codes: NDArray[np.intp]) -> str:
    return labels[codes[0]] if len(codes) == 1 else f"{labels[codes[0]]} … {labels[codes[-1]]}"


def _largest(labels: Sequence[str], counts: NDArray[np.float64], limit: int) -> CellGroups:
    order = np.argsort(-counts, kind="stable")
    kept, rest = np.sort(order[: limit - 1]), np.sort(order[limit - 1 :])
    return CellGroups((*(labels[code] for code in kept), f"({len(rest):,} smaller cells)"), (*(np.array([code]) for code in kept), rest))
