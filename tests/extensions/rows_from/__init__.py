"""Tests of rows from protected tables."""
