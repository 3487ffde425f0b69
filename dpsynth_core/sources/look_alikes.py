"""Texts of a column that look the same and are written differently, for the curator, who states whether they count as the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from dpsynth_core.sources.characters import CASE, LOOK, fold


def groups(texts: Iterable[str], same: str) -> list[list[str]]:
    """Return groups of at least two different texts that count as the same, in order of first appearance; [] without any.

    Args:
        texts: Different texts.
        same: The rule by which texts count as the same: "look" (they look the same) or "case" (they also may differ
            in capitals); with "exact" there are no groups.
    """
    found = defaultdict[str, list[str]](list)
    for text in texts:
        found[fold(text, same)].append(text)
    return [group for group in found.values() if len(group) > 1]


def listed_as(texts: Iterable[str], categories: Iterable[str]) -> tuple[str, Mapping[str, str]]:
    """Return the rule under which most of the texts equal a category, and the category of each.

    Args:
        texts: The texts.
        categories: The listed values.

    Returns:
        "look" (equal if they look the same) or "case" (also if they differ in capitals), "look" if both are equally
        good; and a mapping from each text that equals a category under this rule to the category, {} if none does.
    """
    listed, every = list(categories), list(texts)
    ways = {}
    for same in (LOOK, CASE):
        known = {fold(category, same): category for category in listed}
        ways[same] = {text: known[fold(text, same)] for text in every if fold(text, same) in known}
    best = CASE if len(ways[CASE]) > len(ways[LOOK]) else LOOK
    return best, ways[best]
