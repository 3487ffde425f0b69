"""Relaxed tables, their losses and their optimisation."""
