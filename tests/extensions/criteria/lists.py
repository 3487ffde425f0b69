"""What tests of the core go through besides, so far as it is about these criteria. For `tests/additions.py`."""

CRITERIA = [
    {"kind": "quantile", "column": "age", "p": 0.5, "tolerance": 5.0},
    {"kind": "regression", "outcome": "age", "on": "income", "tolerance": 5.0},
    {"kind": "regression-sign", "outcome": "age", "on": "income"},
]
"""One of each kind, about the simulated people."""
