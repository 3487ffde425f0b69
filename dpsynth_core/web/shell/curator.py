"""The curator-only layer: true counts read from the private table, for the screen they are drawn on and nothing else.

Whatever comes out of here is tagged curator-only. It must not be cached, kept in session state, logged, or offered as a download.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from dpsynth_core.evaluation.comparison import Truth
from dpsynth_core.evaluation.truth import true_counts
from dpsynth_core.foundation.zones import Zoned
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.measurement import Clique

WARNING = (
    "Exact private values are on this screen: not for screenshots, meetings or reports. Choosing a setting, a mechanism or a run because of"
    " them leaks about the people in the table, and no ledger counts it."
)


def truth(spec: Mapping[str, Any], cliques: Collection[Clique]) -> Truth:
    """The exact marginals of a run's table. spec: as the run's row holds it, with the path. Raises InputError if the table is gone."""
    plan = synthesis.plan(Spec.from_json(dict(spec)))
    counts = true_counts(synthesis.open_source(plan), cliques)
    return Zoned(counts.zone, counts.value)
