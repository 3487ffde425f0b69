"""The process with limits in which a bundle that may be hostile answers written queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.checks.opened import release_with_rows
from dpsynth_core.extensions.queries.answering import answers


def answered(place: str, texts: Sequence[str], statistic: str) -> Iterator[str]:
    """Yield the answer to each query as text, in order.

    Args:
        place: Path of the bundle.
        texts: The queries.
        statistic: "share" or "count".

    Raises:
        InputError: A query is not valid, or the bundle cannot be read or cannot answer.
        CapacityError: The columns of a query have more than a million cells together.
    """
    yield from map(str, answers(release_with_rows(unpack.read(Path(place))), texts, statistic))
