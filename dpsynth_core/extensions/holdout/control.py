"""The people left out of a release, with whom attacks on its rows are compared; for the curator alone (`attacks`)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.attacks.controls import Control
from dpsynth_core.extensions.holdout import SETTING, coin
from dpsynth_core.foundation.zones import Zoned, curator_only
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.domain import Domain


def has_people_left_out(spec: Spec) -> bool:
    """Return whether a release of this spec leaves people out, who can be attacked."""
    return SETTING in spec.extensions and spec.data.standin is None


def left_out(spec: Spec, domain: Domain, most: int) -> Zoned[NDArray[np.int32]]:
    """Return a random sample of the records of the people left out, as codes, shape (records, columns); curator-only.

    Args:
        spec: The run's spec, with the path of its table.
        domain: The domain that was released, which has learnt values.
        most: The largest number of records.

    Raises:
        InputError: The table is gone or cannot be read, or this home's secret key is damaged or lost.
    """
    plan = replace(synthesis.plan(spec), domain=domain)
    return curator_only(coin.those_out(plan, cast(Any, synthesis.open_source(plan))).sample(most))


CONTROL = Control(
    "People left out",
    "This release left people out by a coin. They are like those who take part but for chance, and the rows attacked are those of this "
    "release.",
    has_people_left_out,
    left_out,
)
