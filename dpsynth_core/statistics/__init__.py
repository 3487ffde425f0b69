"""Arithmetic of released numbers that several rooms share: distances, quantiles, intervals, totals, published tables."""
