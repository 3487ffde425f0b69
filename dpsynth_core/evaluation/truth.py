"""True counts for the curator's own eyes: the only reader of the private table besides the kernel, and curator-only by type.

No mechanism may import this module (checked by the import contracts).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.zones import Zoned, combine, curator_only
from dpsynth_core.sources.sampling import SampledSource
from dpsynth_core.sources.source import MarginalSource, counted
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique


def of_own_cells(domain: Domain, unfolded: Zoned[dict[Clique, NDArray[np.int64]]]) -> Zoned[dict[Clique, NDArray[np.int64]]]:
    """Return counts of the domain's cells that leave out values which were recoded into a cell, by clique, curator-only.

    A domain without a cell for unlisted or missing values recodes them into a listed value's cell.
    The unfolded domain gives such values cells of their own, which are dropped here.

    Args:
        domain: The domain.
        unfolded: By clique, the counts over `domain.unfolded()`, in records.
    """
    kept = dict[str, NDArray[np.intp]]()  # of each column, where its cells are among the unfolded ones
    for attribute in domain:
        whole = attribute.unfolded()
        extra = [code for code, wanted in ((whole.other_code, attribute.other), (whole.missing_code, attribute.missing)) if wanted]
        kept[attribute.name] = np.array([*range(attribute.values), *extra], dtype=np.intp)
    return combine(lambda counts: {r: table[np.ix_(*(kept[name] for name in r))] for r, table in counts.items()}, unfolded)


def true_records(source: MarginalSource, most: int) -> Zoned[NDArray[np.int32]]:
    """Return a random sample of at most `most` private records, marked curator-only.

    The records are codes, shape (records, attributes of the domain).

    Raises:
        ValueError: The source only counts cells, and cannot return records.
    """
    if not hasattr(source, "sample"):
        raise ValueError("this source counts cells, and has no records in its hands")
    return curator_only(cast(SampledSource, source).sample(most))


def true_counts(source: MarginalSource, cliques: Collection[Clique]) -> Zoned[dict[Clique, NDArray[np.int64]]]:
    """Return the exact marginals by clique, in records, one axis per column, marked curator-only.

    The source is read in one pass if all tables fit into memory together.

    Args:
        source: The private table.
        cliques: The columns of each marginal.
    """
    return curator_only(counted(source, cliques))
