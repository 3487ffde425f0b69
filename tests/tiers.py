"""Three tiers of tests: `make check` after an edit, `make test` before a commit, `make test-all` with other random examples each time.

A test is in `check` unless it is marked `build` (it makes a whole release, drives a page, starts a process or a server, or takes longer
than a second) or `night` (what it looks at is also looked at by a quicker test; this one looks longer, or wider). `rest` is what `test`
leaves out.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

TIERS = {"check": 0.2, "test": 0.5, "rest": 2.0, "all": 2.0}
"""How many examples of a property a tier tries, as a multiple of what its test states."""
_now = "test"


def begin(tier: str) -> None:
    """Before any test is imported. With `all`, examples are drawn anew each time; --hypothesis-seed says which."""
    global _now
    _now = tier
    settings.register_profile(tier, derandomize=tier != "all", deadline=None, max_examples=_scaled(100), print_blob=True)
    settings.load_profile(tier)


def examples(usual: int, *, suppress_health_check: tuple[HealthCheck, ...] = ()) -> settings:
    """So many examples of a property, as the tier wants."""
    return settings(max_examples=_scaled(usual), deadline=None, suppress_health_check=suppress_health_check)


def runs(tier: str, marks: set[str]) -> bool:
    """Whether a test with these marks is of the tier."""
    if tier == "check":
        return not marks & {"browser", "build", "night", "slow"}
    return {"test": "night" not in marks, "rest": "night" in marks}.get(tier, True)


def _scaled(usual: int) -> int:
    return max(1, round(usual * TIERS[_now]))
