"""What tables of counts are for, in words: the same nouns where they are asked for and where a release is judged."""

from __future__ import annotations

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def of_columns(size: int) -> str:
    """All tables of so many columns."""
    return "Single columns" if size == 1 else f"Tables of {in_letters(size)} columns"


def with_column(name: str) -> str:
    """All tables with this column and others. The name is hostile text."""
    return f"Tables with “{name}”"


def in_letters(count: int) -> str:
    """A small number as a word, a larger one in digits."""
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
