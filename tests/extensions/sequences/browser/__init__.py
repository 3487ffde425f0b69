"""Rows of a person in order, in front of a real browser."""
