"""People who took no part in a release, of whom another extension knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.zones import Zoned
from dpsynth_core.planning.spec import Spec
from dpsynth_core.vocabulary.domain import Domain


@dataclass(frozen=True)
class Control:
    """People with whom attacks on a release are compared. Another extension states them as `CONTROL` in its part for this one.

    Attributes:
        title: Who they are, in a few words.
        reading: Who they are, in sentences.
        are_there: Returns whether a release of this spec has such people.
        records: Returns a random sample of their records as codes, shape (records, columns), curator-only. It takes the spec, the domain
            that was released, and the largest number of records, and raises InputError if the table cannot be read.
    """

    title: str
    reading: str
    are_there: Callable[[Spec], bool]
    records: Callable[[Spec, Domain, int], Zoned[NDArray[np.int32]]]
