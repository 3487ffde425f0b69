"""Rows from protected tables made in a process that can open no file but programs, as bytes of the files of their bundle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpsynth_core.bundle import remade
from dpsynth_core.extensions.rows_from.document import writers
from dpsynth_core.extensions.rows_from.fitting import drawn
from dpsynth_core.extensions.rows_from.order import Order

WORK = f"{__name__}:work"
"""Import path of the generator that makes the files, in the process that is confined."""


def make(order: Order) -> dict[str, bytes]:
    """Return the files of the bundle of an order by name, with its manifest; nothing is written.

    A confined process makes them (`bundle.remade.make`).

    Args:
        order: The order.

    Raises:
        InputError: The process fails.
        CapacityError: The process exceeds its limits of time and memory (`bundle.remade.LIMITS`).
    """
    return remade.make(WORK, order.to_json(), "rows")


def work(stated: dict[str, Any]) -> Iterator[Any]:
    """Make the rows of an order, and yield, for each file, a dict with its name as "file" and then its content as bytes.

    Args:
        stated: The order as JSON.
    """
    order = Order.of(stated)
    yield from remade.parts(writers(order, drawn(order)))
