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
        measured = rule["wrong"]
        return (
            f"It is wrong for {measured['share']:.1%} of the people, ± {measured['within']:.1%} with 95% confidence; always giving the "
            f"more common answer would be wrong for about {rule['wrong_without_rule']:.1%}."
        )
    if "holds" in rule:
        measured = rule["holds"]
        return f"It holds for {measured['share']:.1%} of the people, ± {measured['within']:.1%} with 95% confidence."
    return "There is no rule."


def _guarantee(rule: Mapping[str, Any]) -> str:
    return f"{rule['guarantee'][0].upper()}{rule['guarantee'][1:]}."
