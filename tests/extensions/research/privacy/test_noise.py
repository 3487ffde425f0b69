"""OpenDP's own maps put the stated price on the extension's noise, and bits kept cost their closed form."""

from __future__ import annotations

import math
from fractions import Fraction

import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.extensions.research.privacy.events import Laplace, Retention

scales = st.floats(-3, 6).map(lambda x: 10.0**x)


@given(scales, st.integers(1, 20))
def test_laplace_costs_what_opendp_says(scale: float, l1: int) -> None:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    epsilon = dp.m.make_laplace(*space, scale=scale).map(l1)
    assert Laplace(scale, l1).rho == pytest.approx(epsilon**2 / 2, rel=1e-12)


@given(st.floats(1e-6, 10), st.floats(1e-6, 20), st.floats(1, 1e8), st.integers(1, 5), st.integers(1, 1000))
def test_retention_costs_its_closed_form_and_no_less(eta: float, gamma: float, records: float, rows: int, count: int) -> None:
    exact = count * (eta * rows / records * (1 + 1 / math.expm1(gamma))) ** 2 / 8
    assert Retention(eta, gamma, records, rows, count).rho == pytest.approx(exact, rel=1e-12)
    slope = Fraction(-1 / math.expm1(-gamma)) * (1 - Fraction(1, 2**51))  # what rounding may have taken from the slope at most
    assert Retention(eta, gamma, records, rows, count).cost > count * (Fraction(eta) * rows / Fraction(records) * slope) ** 2 / 8
