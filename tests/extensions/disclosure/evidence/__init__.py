"""Tests of the part of evidence.json about disclosure."""
