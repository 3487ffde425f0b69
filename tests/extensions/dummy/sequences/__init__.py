"""Dummy rows of plans with rows in order."""
