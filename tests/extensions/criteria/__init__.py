"""Tests of criteria on quantiles and coefficients."""
