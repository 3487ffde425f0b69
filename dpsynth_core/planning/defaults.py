"""Defaults of a plan that the command line, Python and the pages share."""

DELTA = 1e-9
"""Probability that the guarantee fails."""
