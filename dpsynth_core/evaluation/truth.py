"""True counts for the curator's own eyes: the only reader of the private table besides the kernel, and curator-only by type.

No mechanism may import this module (checked by the import contracts).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.zones import Zoned, curator_only
from dpsynth_core.sources.source import MarginalSource
from dpsynth_core.vocabulary.measurement import Clique


def true_counts(source: MarginalSource, cliques: Collection[Clique]) -> Zoned[dict[Clique, NDArray[np.int64]]]:
    """The exact marginals, in one pass over the source, marked curator-only."""
    return curator_only(source.counts(cliques))
