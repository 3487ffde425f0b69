"""The document of a spec, as plain as one can be: what a test leaves out does not matter to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def usual(data: Mapping[str, Any], domain: Any, *, k: int = 2, epsilon: float = 1.0, delta: float = 1e-9, **more: Any) -> dict[str, Any]:
    """All marginals of k columns of some people. more: other parts, in place of these where they have their names; of a mechanism its
    name is enough."""
    parts = {"population": "people", "data": dict(data), "domain": domain, "workload": {"kind": "all", "k": k}}
    if isinstance(more.get("mechanism"), str):
        more["mechanism"] = {"name": more["mechanism"]}
    return parts | {"budget": {"epsilon": epsilon, "delta": delta}} | more
