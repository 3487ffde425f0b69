"""Helpers for tests: noise that repeats, and the checks that mechanisms of other packages must pass.

A release with repeated noise protects no data and is marked as not private.
"""

from __future__ import annotations

import ast
import inspect
import math
import sys
from dataclasses import replace
from itertools import product

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.interface.given_values import plain
from dpsynth_core.interface.plan import Plan, plan
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.release.transcript import replaying

_MAY_KNOW = ("foundation", "inference", "mechanisms", "privacy", "vocabulary")
_NOT_OF_PRIVACY = ("counts", "kernel", "noise", "seeded_noise")
_VALUES: dict[str, list[object]] = {"age": [*range(10)], "sex": ["f", "m"], "region": ["east", "north", "south"]}
_COLUMNS = {**_VALUES, "age": (0, 9)}


def seeded(plan: Plan, seed: int) -> Plan:
    """Return the same plan with noise from a fixed seed.

    On one machine its release is always the same. The release is not private and is marked so.

    Args:
        plan: The plan, which is not changed.
        seed: A whole number from 0.

    Raises:
        InputError: The seed is invalid.

    Examples:
        >>> import dpsynth_core as dps
        >>> plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, mechanism="independent", tables=1)
        >>> plan = dps.testing.seeded(plan, 7)
    """
    document = plan.sealed.spec.model_dump(mode="json")
    spec = Spec.from_json({**document, "output": {**document["output"], "seed": plain(seed)}})
    return replace(plan, sealed=synthesis.plan(spec))


def check_mechanism(name: str) -> None:
    """Try a mechanism on invented people, under both relations, small and large budgets, many people and a single one.

    This finds mistakes, not malice: Python cannot keep hostile code from looking past the kernel, and the truth of the mechanism's card
    is not checked. `python -m dpsynth_core audit --mechanism NAME` tries to break its promise.

    It makes eight releases, which are stored in DPSYNTH_HOME.

    Args:
        name: Name of the mechanism as in specs: "NAME", or "PACKAGE:NAME" for one of another package.

    Raises:
        InputError: With the first fault that is found, or if the mechanism is unknown.

    Examples:
        >>> import dpsynth_core as dps
        >>> dps.testing.check_mechanism("independent")
    """
    _check_imports(registry.get(name))
    for relation, epsilon, people in product(("add-remove", "replace"), (0.1, 10.0), (1, 300)):
        codes = range(people)
        table = pa.table({column: [values[(7 * at + at // 5) % len(values)] for at in codes] for column, values in _VALUES.items()})
        options = {"tables": 2, "mechanism": name, "certificate": 0.0, "inside": 0.0, "means": 0.0, "relation": relation}
        tried = seeded(plan(table, _COLUMNS, epsilon=epsilon, **options), 1)  # type: ignore[arg-type]
        _check_split(tried)
        _check_replay(tried, tried.run(progress=False).made)


def _check_imports(mechanism: Mechanism) -> None:
    """Raise InputError if the mechanism's own file imports a module that our import rules forbid. Indirect imports are not seen."""
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[type(mechanism).__module__]))):
        named = [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in getattr(node, "names", ())]
        for module in named if isinstance(node, ast.Import | ast.ImportFrom) else ():
            first, *rooms = module.split(".")
            if first != "dpsynth_core" or not rooms:
                continue
            if rooms[0] not in _MAY_KNOW or (rooms[0] == "privacy" and rooms[1:2] and rooms[1] in _NOT_OF_PRIVACY):
                raise InputError("mechanism", f"its file imports {module}", f"ask the kernel alone: use {', '.join(_MAY_KNOW)}")


def _check_split(tried: Plan) -> None:
    sealed = tried.sealed
    shares = [share for _, share in sealed.mechanism.split(sealed.workload, sealed.unit.total_is_public)]
    if min(shares) < 0 or not math.isclose(sum(shares), 1.0, rel_tol=1e-9):
        raise InputError("mechanism", "the shares of its split do not add up to 1", "correct its split")


def _check_replay(tried: Plan, made: Release) -> None:
    """Raise InputError unless a replay on the recorded kernel answers gives the same result.

    The replay has no access to the table; rows and measurements must both be equal.

    Args:
        tried: The plan.
        made: The release of that plan.
    """
    sealed = tried.sealed
    kernel = replaying(sealed.domain, sealed.unit, sealed.shares, made.transcript, made.charges)
    again = synthesis.carry_out(sealed, kernel, made.private, lambda _: None)
    tables = [[one.values.tolist() for one in measured] for measured in (made.measurements, again.measurements)]
    if made.table != again.table or tables[0] != tables[1]:
        problem = "run again on the same answers of the kernel it makes something else"
        raise InputError("mechanism", problem, "let it depend on nothing but these: draw what is random with the kernel's seed")
