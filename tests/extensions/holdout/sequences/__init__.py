"""Attacks beside people who were left out by a coin."""
