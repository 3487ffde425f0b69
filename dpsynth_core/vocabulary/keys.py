"""Keys of a column's texts: the texts that may become values of a domain when values are learnt (`privacy.thresholds`).

Everything here is public, and a key follows from its cell alone, so that one person's records change at most as many keys. Two keys are
public, and count every record without a key of its own: MISSING and OTHER.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Set as AbstractSet

from dpsynth_core.vocabulary.attribute import OTHER_LABEL

MISSING = ""
OTHER = OTHER_LABEL
"""A text "other" is counted here too: a domain cannot have a value of that name beside the cell."""
PUBLIC = (MISSING, OTHER)

LONGEST = 120
"""Largest length in bytes of UTF-8. A longer text counts as OTHER. It is not cut, because its beginning would be a value that no record
has.
"""

_UNPRINTED = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Unicode's categories of control characters, surrogates and line breaks."""


def key(text: str | None, missing_markers: AbstractSet[str]) -> str:
    """Return the key of a text: the text itself, MISSING ("") or OTHER ("other").

    OTHER stands for texts that have more than 120 bytes in UTF-8 (`LONGEST`), spaces around them, control
    characters or line breaks.

    Args:
        text: The text, trimmed as a rule; None for a missing value.
        missing_markers: Texts that mean a missing value, besides "".
    """
    if not text or text in missing_markers:
        return MISSING
    usable = text == text.strip() and len(text.encode(errors="replace")) <= LONGEST
    return text if usable and not any(unicodedata.category(c) in _UNPRINTED for c in text) else OTHER
