"""Dummy rows made in a process that can open no file but programs, as bytes of the files of their bundle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpsynth_core.bundle import remade
from dpsynth_core.extensions.dummy.document import writers
from dpsynth_core.extensions.dummy.drawing import drawn
from dpsynth_core.extensions.dummy.order import Order
from dpsynth_core.foundation.confinement import Limits

WORK = f"{__name__}:work"
"""Import path of the generator that makes the files, in the process that is confined."""


def make(order: Order, limits: Limits = remade.LIMITS) -> dict[str, bytes]:
    """Return the files of the bundle of dummy rows by name, with its manifest (`bundle.remade.make`).

    Args:
        order: The order.
        limits: Limits of the process.

    Raises:
        InputError: The rules leave no household, or the process fails.
        CapacityError: The process exceeds the limits.
    """
    return remade.make(WORK, order.to_json(), "dummy rows", limits)


def work(stated: dict[str, Any]) -> Iterator[Any]:
    """Make the rows of an order, and yield for each file {"file": name} and then its bytes, part by part.

    Args:
        stated: The order as JSON.
    """
    order = Order.of(stated)
    yield from remade.parts(writers(order, drawn(order)))
