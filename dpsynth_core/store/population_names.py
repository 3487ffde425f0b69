"""Names of populations as people see them, so that two names that look the same do not get two caps.

A population that the ledger has is found by its exact name; names are compared when a population is opened.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from dpsynth_core.foundation.errors import InputError

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Code points that fonts show as nothing: Unicode's Default_Ignorable_Code_Point, but for fillers that take a space."""
_BLANK = re.compile("[\u2800\u3164\uffa0\U00016fe4\U0001d159]")
"""Letters and signs that fonts show as a space."""
_ALIKE = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
"""Scripts with letters that look like those of another one."""


def check_new(name: str, others: Iterable[str]) -> None:
    """Check that the name of a new population can be seen and does not look like another population's name.

    Names look alike if they differ only in case, spaces, invisible characters or the form of letters, such as full
    width. Like letters of two scripts are not found here (`mixed_scripts`).

    Args:
        name: The name.
        others: Names of the existing populations.

    Raises:
        InputError: It is invisible, or looks like another name.
    """
    if not _plain(name):
        raise InputError("population", "its name has no letter that can be seen", "say in a few words whose records these are")
    if alike := [other for other in others if same_name(other, name)]:
        raise InputError(f"population {name!r}", f"there is one called {alike[0]!r}", "use that name, or one that differs more")


def same_name(one: str, other: str) -> bool:
    """Return whether two names look the same apart from case, spaces, invisible characters and forms of letters.

    Full width is such a form. Like letters of two scripts count as different.
    """
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    """Return a name in a form that is equal for names that look alike.

    Case, spaces, the compatibility form of letters and invisible code points are removed.
    """
    seen = _UNSEEN.sub("", _BLANK.sub(" ", name))
    folded = unicodedata.normalize("NFKC", seen).casefold()
    return " ".join(unicodedata.normalize("NFKC", _UNSEEN.sub("", folded)).split())


def mixed_scripts(name: str) -> str:
    """Return a warning if a word of the name mixes letters of similar scripts, such as Latin and Cyrillic; else ""."""
    for word in re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", name)):
        scripts = sorted({script for letter in word if (script := unicodedata.name(letter, "").split(" ")[0]) in _ALIKE})
        if len(scripts) > 1:
            mix = " and ".join(script.capitalize() for script in scripts)
            return f"the name of the population {name!r} mixes {mix} letters in one word; another name that looks the same has another cap"
    return ""
