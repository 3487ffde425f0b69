"""What each operation of the kernel has to cost, computed from the question and the answer alone, without the kernel or a table.

For whoever checks a release or repeats one: the charge that stands beside an answer must be the one that the kernel makes for it. An
operation without an entry has no price and is refused; a test compares the table with the kernel, operation by operation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.privacy import questions, residuals
from dpsynth_core.privacy.events import (
    Approximate,
    Event,
    Gaussian,
    Laplace,
    PermuteAndFlip,
    PerturbedMinimum,
    Residual,
    Retention,
    Selection,
    Thresholded,
)
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.research.privacy import best_mixture
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

_NEAR = 1e-9
"""Relative difference of two numbers that count as the same."""


@dataclass(frozen=True)
class Call:
    """A question to the kernel and its answer. arguments: names of columns and numbers, in the order of the operation's parameters, and
    what else `questions` tells of it."""

    unit: Unit
    domain: Domain
    operation: str
    arguments: tuple[Any, ...]
    answer: Any


def due(call: Call) -> Event | None:
    """What the call must have been charged as; None where it is free. Raises InputError for an unknown operation or a question that
    does not fit it."""
    if call.arguments and questions.is_group(call.arguments[-1]):
        call = replace(call, unit=replace(call.unit, rows_may_not_count=True), arguments=call.arguments[:-1])
    call = replace(call, arguments=tuple(one for one in call.arguments if not questions.is_about(one)))
    price = PRICES.get(call.operation)
    if price is None:
        raise InputError("transcript", f"nothing is known of an operation {call.operation[:40]!r}", "use the version that made it")
    try:
        return price(call, *call.arguments)
    except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        problem = f"a call of {call.operation} has arguments that cannot be"
        raise InputError("transcript", problem, "the release is damaged") from None


def pays(event: Event, needed: Event) -> bool:
    """Whether an event is the one that is due: the same kind, noise and sensitivity, up to rounding on another machine."""
    if type(event) is not type(needed):
        return False
    if isinstance(event, PerturbedMinimum):  # its sensitivity depends on the class of rules; what counts is eps = l1 / scale
        return math.isclose(event.rho, needed.rho, rel_tol=_NEAR)
    return all(math.isclose(getattr(event, f.name), getattr(needed, f.name), rel_tol=_NEAR) for f in fields(needed))


def _free(_: Call, *_question: Any) -> None:
    return None


def _marginal(call: Call, _clique: Clique, sigma: float) -> Event:
    return Gaussian(sigma, call.unit.marginal_l2)


def _residual(call: Call, clique: Clique, sigma: float) -> Event:
    return Residual(sigma, residuals.sensitivity(call.unit, call.domain.sizes(clique), sigma))


def _queries(call: Call, sigma: float, *_digests: Any) -> Event:
    return Gaussian(sigma, call.unit.queries_l2(len(call.answer)))


def _selection(_: Call, eps: float, *count: int) -> Event:
    return Selection(eps, *count)


def _approximate(_: Call, eps: float, delta: float) -> Event:
    return Approximate(eps, delta)


def _bits(call: Call, eta: float, gamma: float, records: float) -> Event | None:
    return Retention(eta, gamma, records, call.unit.query_l1, len(call.answer)) if len(call.answer) else None


def _mixture(call: Call, records: float, _floor: float, scale: float) -> Event:
    return Laplace(scale, call.unit.max_rows_per_person + best_mixture.gap(records))


PRICES: Mapping[str, Callable[..., Event | None]] = {
    "seed": _free,
    "residual_l2": _free,
    "mixture_l1": _free,
    "measure_marginal": _marginal,
    "measure_residual": _residual,
    "measure_cells": _marginal,
    "discover_values": lambda call, _clique, sigma, delta: Thresholded(sigma, call.unit.marginal_l2, delta),
    "measure_total": lambda call, sigma: None if call.unit.total_is_public else Gaussian(sigma, float(call.unit.total_l2)),
    "measure_errors": lambda call, sigma: Gaussian(sigma, call.unit.errors_l2(len(call.answer))),
    "measure_largest_error": lambda call, sigma, *_threshold: Gaussian(sigma, float(call.unit.query_l1)),
    "measure_sum": lambda call, _clique, low, high, sigma, *_digests: Gaussian(sigma, call.unit.sum_l2(low, high)),
    "measure_queries": _queries,
    "measure_rules": _queries,
    "measure_right": _queries,
    "select_worst_marginal": _selection,
    "select_signed_query": _selection,
    "select_worst_queries": _selection,
    "select_rule": _selection,
    "permute_and_flip": lambda _, eps: PermuteAndFlip(eps),
    "keep_queries": _bits,
    "learn_rule": lambda _, eps: PerturbedMinimum(1 / eps, 1.0),
    "learn_rule_gaussian": _approximate,
    "learn_rule_robustly": _approximate,
    "best_mixture_error": _mixture,
}
"""By the name of the operation, from the call and its arguments. All but `prepare`, `prepare_cells`, `part`, `over` and `among`, which
answer nothing. What is asked of a group costs what it costs of everybody."""
