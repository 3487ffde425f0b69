"""The plan of a run that only learns the values of columns, so that the release itself can be planned from what is known.

It is an ordinary plan with a charge of its own: the mechanism Independent over the columns to learn, which counts each learnt column once
more. The noisy counts say how many people have a value outside the learnt ones, before more is spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.spec import Spec
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import LEARNT, Domain
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.registry import KINDS

MECHANISM = "independent"
SHARE = 0.75
"""Share of the budget that learns the values; the rest counts the people of each value and of none of them."""
OF_PLAN = 0.3
"""Epsilon of the run, as a share of the epsilon of the release that is planned after it."""
_KEPT = ("population", "data", "unit", "other_copies", "looks", "about")
"""The parts of a plan that describe the table and its people, which are the same for both runs. The origin of the plan's domain is none of
them, because it is said of columns that this run does not have."""
_MOST_NAME = 180


def usual_epsilon(of_release: float) -> float:
    """Return the default epsilon of a run that learns values: 0.3 times the epsilon of the release (`OF_PLAN`).

    Args:
        of_release: Epsilon of the release that is planned after it.
    """
    return OF_PLAN * of_release


def learning_spec(planned: Mapping[str, Any], name: str, columns: Sequence[Attribute], epsilon: float) -> Spec:
    """Return the spec of a run that only learns the values of columns and counts them.

    Args:
        planned: The spec of the release that is planned, as JSON, with its population, table and
            budget, from which delta is taken. Other parts may be missing.
        name: Name of the planned release; the run has its first 180 characters and ": values".
        columns: The columns to learn.
        epsilon: Epsilon of the run, charged on top of the planned release.

    Raises:
        InputError: `columns` is empty, or a field is wrong or missing.
        KeyError: `planned` has no budget, or the budget has no delta.
    """
    if not columns:
        raise InputError("domain", "no column has values to be learnt", "choose the columns whose values you do not know")
    attributes = [_counted_beyond(column) for column in Domain(tuple(columns)).to_json()["attributes"]]
    none = {claim.name: 0.0 for claim in CLAIMS}
    return Spec.from_json(
        {part: planned[part] for part in _KEPT if part in planned}
        | {
            "version": 1,
            "name": f"{name[:_MOST_NAME]}: values",
            "domain_origin": LEARNT,
            "domain": {"version": 1, "attributes": attributes},
            "workload": {"kind": "all", "k": 1},
            "budget": none | {"epsilon": epsilon, "delta": planned["budget"]["delta"], "discovery": SHARE, "inside": 0.0},
            "mechanism": {"name": MECHANISM, "settings": {}},
        }
    )


def _counted_beyond(column: Mapping[str, Any]) -> dict[str, Any]:
    """Return a column to be learnt, in JSON, whose numbers beyond the learnt bounds are counted in a cell of their own."""
    return {**column, "other": True} if KINDS[column["kind"]].form is Form.BINNED else dict(column)


def only_learns(spec: Spec) -> bool:
    """Return whether a spec is like the specs that `learning_spec` makes.

    Its run learns all columns with Independent, on 75 % of the budget (`SHARE`).
    """
    attributes = spec.domain.get("attributes")
    learns_all = isinstance(attributes, list) and all("discover" in one for one in attributes)
    return learns_all and spec.mechanism.name == MECHANISM and spec.budget.discovery == SHARE
