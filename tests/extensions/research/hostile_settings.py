"""Parameters that careless people set beyond their range. For `tests/hostile/commands.py`."""

KNOBS = {"privbayes": ["max_size_mb", "usefulness", "max_parents", "measure_share"]}
