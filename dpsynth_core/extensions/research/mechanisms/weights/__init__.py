"""Mechanisms with multiplicative weights: MWEM, PMW^Pub and the check of a public table."""
