"""Sentences about a rule that was learnt: the rule, how good it is, what its guarantee rests on. Names and labels are hostile text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsynth_core.release.release import Release


def learnt(release: Release) -> str:
    """The rule as a sentence; "" where none was asked for."""
    return str(release.details.get("rule", {}).get("sentence", ""))


def rule_facts(release: Release) -> list[tuple[str, str]]:
    """Pairs of name and text for the list of facts; none where no rule was asked for."""
    rule = release.details.get("rule")
    if rule is None:
        return []
    return [("Rule", learnt(release)), ("How good the rule is", goodness(rule)), ("What was guaranteed", _guarantee(rule))]


def goodness(rule: Mapping[str, Any]) -> str:
    """How often the rule is wrong or holds, as measured with noise."""
    if "wrong" in rule:
        without = _percent(rule["wrong_without_rule"])
        return f"It is wrong for {_measured(rule['wrong'])}; always giving the more common answer would be wrong for about {without}."
    if "holds" in rule:
        return f"It holds for {_measured(rule['holds'])}."
    return "There is no rule."


def _measured(stated: Mapping[str, Any]) -> str:
    if stated["within"] >= 1:
        return "nobody knows how many of the people: the noise is larger than the table"
    return f"{_percent(stated['share'])} of the people, ± {_percent(stated['within'])} with 95% confidence"


def _percent(share: float) -> str:
    """Of the part of an estimate that can be."""
    return f"{min(1.0, max(0.0, share)):.1%}"


def _guarantee(rule: Mapping[str, Any]) -> str:
    return f"{rule['guarantee'][0].upper()}{rule['guarantee'][1:]}."
