"""Tests of the claim about disclosure."""
