"""Mechanisms whose result is a graphical model."""
