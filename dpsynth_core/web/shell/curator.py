"""The curator-only layer: true counts read from the private table, only for the screen they are drawn on.

Every result is tagged curator-only. It must not be cached, stored in session state, logged, or offered as a download.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.evaluation.comparison import Truth
from dpsynth_core.evaluation.truth import of_own_cells, true_counts, true_records
from dpsynth_core.foundation.zones import Zoned, combine
from dpsynth_core.planning.private_views import Look
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.store import recorded_views
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.web.shell import session


def note(look: Look, *projects: str) -> None:
    """Record in the store that values of the private table are shown; call it before any is shown.

    The look (a kind of view of private values) is recorded for the open project and for the projects
    with the ids `projects`. Releases of these projects state it.

    Raises:
        InputError: The visitor may not look, the house rules forbid looks, or a project was deleted
            meanwhile; then nothing may be shown.
        StoreFault: The store cannot be written.
    """
    project = session.current()
    for about in {project.id, *projects}:
        recorded_views.record(project.owner, about, look)


def was_seen(look: Look, project: str) -> bool:
    """Return whether a look is recorded for a project of the visitor.

    Args:
        look: The kind of view of private values.
        project: The id of the project.

    Raises:
        InputError: The visitor has no such project.
    """
    return look in recorded_views.of(session.current().owner, project)


FIRST_LOOK = (
    "You are about to see exact private values. From then on, all releases of this project say that they were shown. You cannot undo this."
)
WARNING = (
    "This screen shows exact private values: keep it out of screenshots, meetings and reports. If you choose a setting, a mechanism or a "
    "run because of them, you leak about the people in the table, and no ledger counts it. From now on, releases of this project say that "
    "they were shown."
)


def records(spec: Spec, domain: Domain, most: int) -> Zoned[NDArray[np.int32]]:
    """Return a random sample of a run's private records as cell codes, shape (records, attributes), curator-only.

    A code is the index, from 0, of a cell in the column's attribute.

    Args:
        spec: The run's spec, with the path of its table.
        domain: The domain that was released, which has learnt values.
        most: The largest number of records.

    Raises:
        InputError: The table is gone or cannot be read.
        ValueError: The table's source only counts cells, and has no records.
    """
    plan = synthesis.plan(spec)
    return true_records(synthesis.open_source(replace(plan, domain=domain)), most)


def truth(spec: Spec, cliques: Collection[Clique]) -> Truth:
    """Return a run's exact marginals by clique, curator-only.

    Counts are in records of everybody, also of people whom the release left out, because its errors are stated
    against everybody. Values that have no cell of their own in the domain are not counted. For two
    linked tables they are in households, with fractions, and such values count in the cell that the domain names.

    Args:
        spec: The run's spec, with the path of its table.
        cliques: The columns of each marginal.

    Raises:
        InputError: The table is gone or cannot be read.
    """
    plan = synthesis.plan(spec)
    if plan.link is not None:  # whose members no cell is added for; in households, as what is released, of which pairs are parts
        pairs = true_counts(synthesis.open_source(plan), cliques)
        return combine(lambda counts: {clique: cast(Any, count / plan.records_each) for clique, count in counts.items()}, pairs)
    source = synthesis.open_everybody(replace(plan, domain=plan.domain.unfolded()))
    counts = of_own_cells(plan.domain, true_counts(source, cliques))
    return Zoned(counts.zone, counts.value)


def kernel_counts(spec: Spec, domain: Domain, cliques: Collection[Clique]) -> Truth:
    """Return a run's exact marginals by clique as the kernel counts them, in records, curator-only.

    They include values that were moved into a cell. For two linked tables they are in records of pairs, of
    which a household has `Link.records_each`.

    Args:
        spec: The run's spec, with the path of its table.
        domain: The domain that was released, which has learnt values.
        cliques: The columns of each marginal.

    Raises:
        InputError: The table is gone or cannot be read.
    """
    counts = true_counts(synthesis.open_source(replace(synthesis.plan(spec), domain=domain)), cliques)
    return Zoned(counts.zone, counts.value)
