"""The group of a code, such as ICD-10's or a postcode: its first characters, or what a table of beginnings says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Hierarchy:
    """The grouping of codes, by one of two rules: a level, or a table of groups.

    Attributes:
        level: A code counts as its first `level` letters and digits; signs between them are kept,
            so that "01.1" is level 3 of "01.11".
        groups: Beginnings of codes with their groups; the longest beginning of a code decides.
        digits: Codes of digits alone that are shorter than this have lost leading zeros, which are
            put back, unless the code is a group or has the length of the level. 0 for codes of any
            length.
    """

    level: int = 0
    groups: tuple[tuple[str, str], ...] = ()
    digits: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The groups of a table, in the order in which it names them first; () for a grouping by level."""
        return tuple(dict.fromkeys(group for _, group in self.groups))

    def group(self, code: str) -> str:
        """Return the group of a code; "" for a code that the table of groups does not know.

        The name of a group, or a code of exactly `level` characters, is its own group. For any other code of digits alone,
        lost leading zeros are put back first (`digits`). A code with fewer letters and digits than `level` then is its own
        group as well.
        """
        if code in self._names or len(code) == self.level:
            return code
        whole = code.zfill(self.digits) if code.isascii() and code.isdigit() else code
        return self._longest(whole) if self.groups else _beginning(whole, self.level)

    def _longest(self, code: str) -> str:
        known = self._by_beginning
        return next((known[code[:length]] for length in self._lengths if code[:length] in known), "")

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.names)

    @cached_property
    def _by_beginning(self) -> dict[str, str]:
        return dict(self.groups)

    @cached_property
    def _lengths(self) -> list[int]:
        """Lengths of the beginnings, the longest first."""
        return sorted({len(beginning) for beginning, _ in self.groups}, reverse=True)

    def in_words(self) -> str:
        """Return the grouping rule as a sentence, which names no code or group."""
        if self.groups:
            return "A code counts as the group of the longest beginning that the table of groups has for it."
        return f"A code counts as its first {self.level} letters and digits." if self.level > 1 else "A code counts as its first character."


def _beginning(code: str, level: int) -> str:
    counted = 0
    for place, character in enumerate(code, start=1):
        counted += character.isalnum()
        if counted == level:
            return code[:place]
    return code
