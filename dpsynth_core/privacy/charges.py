"""Events as a release writes them, and back: so that a reader can add up for himself what an operation cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, get_args

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.privacy.accountant import Accountant
from dpsynth_core.privacy.events import Event

_KINDS = {kind.__name__: kind for kind in get_args(Event)}


def to_json(event: Event, accountant: Accountant) -> dict[str, Any]:
    """The operation, what its cost is computed from, and the cost as rho."""
    return {"operation": type(event).__name__, **asdict(event), "rho": float(accountant.cost(event))}


def read(charge: Mapping[str, Any]) -> Event:
    """The event; its stated rho is not looked at. Raises InputError for an unknown operation, and for numbers that are none."""
    kind = _KINDS.get(str(charge.get("operation")))
    if kind is None:
        raise InputError("charges", f"{str(charge.get('operation'))[:40]!r} is unknown", "use the version that made the release")
    try:
        return kind(**{field.name: charge[field.name] for field in fields(kind) if field.name in charge})
    except (TypeError, ValueError, ArithmeticError):
        raise InputError("charges", f"a {kind.__name__} has numbers that cannot be", "the release is damaged") from None
