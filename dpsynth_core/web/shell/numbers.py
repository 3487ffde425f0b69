"""Reading numbers as people type them, with one clear error for other texts, and writing numbers for readers. Pure functions."""

from __future__ import annotations

import math
import re

from dpsynth_core.foundation.errors import InputError

_COMMA = re.compile(r"(?!0*[1-9]\d*,\d{3}$)\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
"""A decimal comma. Digits before it and three after it may be thousands, unless the number begins with 0."""
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def positive(text: str, field: str, example: str) -> float:
    """Return a finite number above 0 from a text with a decimal point or a decimal comma.

    Args:
        text: The text, of which 40 characters are read, without spaces around it.
        field: The name of the field, for the error.
        example: A valid text, for the error.

    Raises:
        InputError: The text is anything else: empty, words, nan, infinity, 0, or a text such as 1,000 and
            1.234,5, which means different numbers to different people.
    """
    entered = text.strip()[:40]
    try:
        number = float(entered if _COMMA.fullmatch(entered) is None else entered.replace(",", "."))
    except ValueError:
        remedy = f"write it without thousands separators, such as {example}" if "," in entered else f"write a number such as {example}"
        raise InputError(field, f"“{entered}” is not a number" if entered else "this is empty", remedy) from None
    if not math.isfinite(number):
        raise InputError(field, f"“{entered}” is not a finite number", f"write a number such as {example}")
    if number <= 0:
        raise InputError(field, f"{entered} is not above 0", f"write a positive number such as {example}")
    return number


def whole(text: str, field: str, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`, both included, from a text of digits.

    Args:
        text: The text; spaces around it are ignored.
        field: The name of the field, for the error.
        low: The smallest number that is allowed, at least 0.
        high: The largest number that is allowed.

    Raises:
        InputError: The text is anything else, also empty or with thousands separators.
    """
    entered = text.strip()[:40]
    if not entered.isascii() or not entered.isdigit() or not low <= int(entered) <= high:
        remedy = "write digits only, such as 3000" if low <= 3000 <= high else f"write one such as {low}"
        raise InputError(field, f"“{entered}” is not a whole number from {low} to {high:,}" if entered else "this is empty", remedy)
    return int(entered)


def optional(text: str, field: str, high: int) -> int | None:
    """Return a whole number from 1 to `high`, both included; None for an empty text.

    Commas and spaces between thousands are accepted.

    Raises:
        InputError: The text is anything else; the error is about `field`.
    """
    return whole(text.replace(",", "").replace(" ", ""), field, 1, high) if text.strip() else None


def people(number: float) -> str:
    """Return a number of people as text: 12,345, and below ten with one digit after the point."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


def short(number: float) -> str:
    """Return a number with at most six significant digits, as people write it: 1, 0.25, 1e-9."""
    text = f"{number:.6g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text


def more(releases: int) -> str:
    """Return a sentence on how many more releases of the same cost fit into an account.

    Args:
        releases: Their number; 0 if no other fits.
    """
    if releases > 1:
        return f"About {releases:,} more releases like this one fit."
    return "One more release like this fits." if releases else "No other release like this fits."


SLOWLY = "Losses add up more slowly than ε does, so the amounts do not simply subtract."


def count(number: float) -> str:
    """Return a size of at least 0 as text: 1,234,567 up to a million (rounded), then 3.4 million, then 1.2 × 10¹⁵."""
    if number >= 1e15:
        exponent, fraction = divmod(math.log10(number), 1)  # also for whole numbers far beyond the range of a float
        return f"{10**fraction:.1f} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"
    for limit, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if number >= limit:
            return f"{number / limit:.1f} {word}"
    return f"{number:,.0f}"


def duration(seconds: float) -> str:
    """Return a duration as text: "less than a second", "12 s" below 90 seconds, "3 min" below 90 minutes, "2 h 10 min".

    Args:
        seconds: The duration in seconds.
    """
    if seconds < 1:
        return "less than a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
