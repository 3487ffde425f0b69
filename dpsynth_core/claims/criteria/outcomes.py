"""Names of the outcomes of criteria and of their importance."""

from __future__ import annotations

from typing import Literal

MUST, SHOULD = "must", "should"
MET, NOT_MET, UNDECIDED, UNMEASURED = OUTCOMES = ("met", "not met", "undecided", "not measured")
TOO_SMALL = "Too small a group to measure at this budget."
Importance = Literal["must", "should"]
