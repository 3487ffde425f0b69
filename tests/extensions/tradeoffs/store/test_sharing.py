"""Who may delete a sweep of a project that people share."""

from __future__ import annotations

from collections.abc import Callable

from dpsynth_core.extensions.tradeoffs import sweeps
from dpsynth_core.extensions.tradeoffs.sweep import Sweep
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import sharing
from tests.refusals import refused


def test_only_the_owner_deletes_what_was_started_in_a_project(project: str, make_spec: Callable[..., Spec]) -> None:
    sharing.share("ann", project, ["ben"])
    base = make_spec(data={"kind": "standin", "standin": {"rows": 100}})
    sweep = sweeps.submit("ben", project, Sweep(base, "standin", ("independent",), (1.0,), (3,), 1))
    refused(sweeps.delete, "ben", sweep, saying="it belongs to another person")
    assert sweeps.get("ben", sweep).active
    sweeps.delete("ann", sweep)
