"""Releases of invented people for tests of intervals, made once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from dpsynth_core.extensions.intervals.sets import Sets
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from tests.specs import usual

DOMAIN = Domain(
    (
        Attribute.integer("age", 20, 59, bins=4),
        Attribute.categorical("sex", ["f", "m"]),
        Attribute.categorical("sick", ["no", "yes"], missing=True),
        Attribute.integer("visits", 0, 4),
    )
)


def codes(people: int = 4000) -> np.ndarray[Any, np.dtype[np.int32]]:
    """People of whom the old and women are sick more often, and the sick have more visits; few do not say."""
    rng = np.random.default_rng(11)
    age, sex = rng.integers(0, 4, people), rng.integers(0, 2, people)
    sick = (rng.random(people) < 0.1 + 0.15 * age + 0.1 * (sex == 0)).astype(int)
    visits = np.minimum(rng.poisson(0.5 + sick), 4)
    sick[rng.random(people) < 0.03] = 2
    return np.column_stack([age, sex, sick, visits]).astype(np.int32)


@cache
def released(mechanism: str = "aim", epsilon: float = 2.0, k: int = 2, seed: int = 3, people: int = 4000, **unit: Any) -> Release:
    """A release with repeatable noise."""
    stated = usual({"kind": "demo"}, DOMAIN.to_json(), k=k, epsilon=epsilon, mechanism=mechanism, output={"seed": seed})
    plan = Plan.of(Spec.from_json(stated | {"domain_origin": "public"} | ({"unit": unit} if unit else {})))
    source = CodesSource(plan.domain, codes(people))
    return synthesis.synthesize(plan, source, synthesis.noise_for(plan.spec), lambda _: None)


@cache
def sets_of(mechanism: str = "aim") -> Sets:
    """The sets of such a release."""
    return Sets.of(released(mechanism))


@cache
def drawn(mechanism: str = "aim", m: int = 6) -> tuple[np.ndarray[Any, np.dtype[np.integer[Any]]], ...]:
    """The cells of the rows of its first sets."""
    return tuple(one.codes for one in sets_of(mechanism).first(m))
