"""Mechanisms that move rows towards noisy tables."""
