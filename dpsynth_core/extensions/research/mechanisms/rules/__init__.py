"""Mechanisms that learn rules over binary columns."""
