"""What a charge promises, as a bound on every test that could tell two neighbouring tables apart, and that bound solved for its parameter.

A test is an event of the answer. Its false-positive rate is the event's probability without the person, its true-positive rate that with
the person. An audit knows both rates, or bounds of them, and asks: what is the smallest rho (epsilon) under which they are possible?
Above what was claimed, the promise is broken."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.accountant import GDP, ZCDP, Accountant
from dpsynth_core.privacy.events import Event, Thresholded, delta_of

Rates = NDArray[np.float64]

_THRESHOLDS = np.linspace(-3.0, 7.0, 401)


class Claim(Protocol):
    """claimed: the value of its parameter, rho or epsilon. name: what kind of promise, in words. least: the smallest value of the parameter
    under which tests with these rates are possible; 0 where tpr <= fpr. example: rates (false positive, true positive) against a mechanism
    that has exactly this parameter: the most an audit can show. stated: a value of the parameter in words."""

    @property
    def claimed(self) -> float: ...
    @property
    def name(self) -> str: ...
    def least(self, fpr: Rates, tpr: Rates) -> Rates: ...
    def example(self, parameter: float) -> tuple[Rates, Rates]: ...
    def stated(self, parameter: float) -> str: ...


@dataclass(frozen=True)
class Accounted:
    """rho under one of the accountants. slack: the probability with which steps may not keep their promise."""

    accountant: Accountant
    rho: float
    slack: float = 0.0

    @property
    def claimed(self) -> float:
        return self.rho

    def least(self, fpr: Rates, tpr: Rates) -> Rates:
        return meaning.least_rho(self.accountant, fpr, tpr, self.slack)

    def example(self, parameter: float) -> tuple[Rates, Rates]:
        """Gaussian noise, the one mechanism that spends exactly what it is charged in both accountants."""
        return ndtr(-_THRESHOLDS), ndtr(math.sqrt(2 * parameter) - _THRESHOLDS)

    def stated(self, parameter: float) -> str:
        """0 and infinity are no budgets that an accountant has words for."""
        return meaning.stated(self.accountant, parameter) if 0 < parameter < math.inf else f"rho = {parameter:g}"

    @property
    def name(self) -> str:
        return self.accountant.name + (f" except for {self.slack:.3g}" if self.slack else "")


@dataclass(frozen=True)
class Bounded:
    """(epsilon, delta)-differential privacy."""

    epsilon: float
    delta: float = 0.0

    @property
    def claimed(self) -> float:
        return self.epsilon

    def least(self, fpr: Rates, tpr: Rates) -> Rates:
        """tpr <= e^eps fpr + delta, and the same of the two complements (Kairouz, Oh and Viswanath 2015, Theorem 2.1)."""
        with np.errstate(divide="ignore", invalid="ignore"):  # a rate of 0 or 1: infinity, or nothing known
            rising = np.log(np.maximum(tpr - self.delta, 0.0)) - np.log(fpr)
            falling = np.log(np.maximum(1 - fpr - self.delta, 0.0)) - np.log(1 - tpr)
        return np.where(tpr > fpr, np.maximum(0.0, np.fmax(rising, falling)), 0.0)

    def example(self, parameter: float) -> tuple[Rates, Rates]:
        """Randomised response."""
        return np.array([expit(-parameter)]), np.array([expit(parameter)])

    def stated(self, parameter: float) -> str:
        return f"epsilon = {parameter:.4g}"

    @property
    def name(self) -> str:
        return f"DP at delta {self.delta:.3g}" if self.delta else "pure DP"


def of_charges(events: Sequence[Event]) -> Iterator[Claim]:
    """Everything that these charges promise, in each accountant and, where every step has one, as (epsilon, delta)."""
    slack = float(sum(map(delta_of, events), Fraction(0)))
    thresholds_alone = all(isinstance(event, Thresholded) or not delta_of(event) for event in events)
    for accountant in (ZCDP, GDP) if thresholds_alone else (ZCDP,):
        yield Accounted(accountant, float(sum(map(accountant.cost, events), Fraction(0))), slack)
    epsilons = [event.epsilon for event in events if event.epsilon is not None]
    if events and len(epsilons) == len(events):
        yield Bounded(math.fsum(epsilons), slack)
