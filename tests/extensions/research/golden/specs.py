"""The plans of the golden releases of the extension's mechanisms. See `tests/golden/goldens.py`."""

from __future__ import annotations

from typing import Any

from tests.golden.goldens import BINARY, SEVERAL_ROWS, spec


def specs() -> dict[str, dict[str, Any]]:
    return {
        "learn": spec("learn", domain=BINARY, settings={"learner": "gaussian", "rule": "conjunction"}, epsilon=5.0),
        "oraclequery": spec("oraclequery", domain=BINARY, epsilon=3.0, certificate=0.05),
        "mwem": spec("mwem", unit=SEVERAL_ROWS, workload={"kind": "all", "k": 2, "threshold": 1}, certificate=0.2),
    }
