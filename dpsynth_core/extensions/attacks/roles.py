"""Proposals of what an attacker knows and looks for, from the names of columns alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpsynth_core.vocabulary.domain import Domain

MOST_KEYS = 5
"""Most keys that are proposed."""
_KNOWN = (
    "age birth born year sex gender region state county district city town zip postcode country nationality citizenship race ethnicity "
    "marital married family household relationship children education alter geburtsjahr geschlecht land kreis stadt plz familienstand "
    "haushalt"
)
"""Words of columns that people often know of others, those known most widely first."""
_SENSITIVE = (
    "diagnosis disease icd health hiv cancer therapy drug medication smoker disability death survived income salary wage debt benefit "
    "religion party vote orientation crime offence occupation job diagnose krankheit gesundheit einkommen gehalt beruf"
)
"""Words of columns that people often keep from others."""


def proposed(domain: Domain) -> tuple[tuple[str, ...], str]:
    """Return the names of up to five keys (`MOST_KEYS`), in the order of the domain, and of a target.

    Keys are columns whose names say that others often know their values; else the first columns. The target
    is a column that people often keep to themselves; else the last column. The target is not among the keys.
    Only the names of columns are looked at.

    Args:
        domain: A domain of two columns or more.
    """
    names = list(domain.names)
    target = next((name for name in _by_word(names, _SENSITIVE)), "")
    keys = [name for name in _by_word(names, _KNOWN) if name != target][:MOST_KEYS]
    target = target or next(name for name in reversed(names) if name not in keys or len(names) == len(keys))
    keys = [name for name in keys if name != target] or [name for name in names if name != target][:MOST_KEYS]
    return tuple(name for name in names if name in keys), target


def _by_word(names: Sequence[str], words: str) -> list[str]:
    """Return the names that have one of the words (with spaces between), in the order of the words."""
    parts = {name: set(re.findall("[a-z]+", re.sub("([a-z])([A-Z])", r"\1 \2", name).lower())) for name in names}
    return list(dict.fromkeys(name for word in words.split() for name in names if word in parts[name]))
