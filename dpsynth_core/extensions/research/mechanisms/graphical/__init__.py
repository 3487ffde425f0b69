"""Mechanisms with graphical models."""
