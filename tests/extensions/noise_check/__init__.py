"""Tests of the comparison of noise with what was charged."""
