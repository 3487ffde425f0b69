"""The errors a user may see: each says where, what, and what to do.

No message here may depend on a private value. A count, a cell, a category found in the data or a row number of an
offending record must never be put into one; column names, file structure and everything the curator declared may.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeVar

from dpsynth_core.foundation.visible import shortened

Value = TypeVar("Value", bound=Hashable)


LONGEST_PART = 400
"""Largest number of characters of a field, problem or remedy. Users' input can be of any length; an error stays one readable line."""
LONGEST_VALUE = 60


def shown(value: object) -> str:
    """Return a user's value as text for a message.

    A text is quoted and cut to 60 characters. Numbers, truth values and None are written as they are, a whole number
    of more than 60 digits as "a number of very many digits". A container, and anything else with a length, is described
    by its type alone, because it may be large or hold private values; any other value is treated like its text.
    """
    if isinstance(value, list | tuple | set | frozenset | dict):  # hundreds of megabytes of it, perhaps
        return "a list" if isinstance(value, list | tuple) else "an object"
    if hasattr(value, "__len__") and not isinstance(value, str):  # the text of a table would quote its cells
        return f"a {type(value).__name__}"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**LONGEST_VALUE:
        return "a number of very many digits"  # Python refuses to write down more than 4,300
    if value is None or isinstance(value, int | float):
        return str(value)
    text = value[: LONGEST_VALUE + 1] if isinstance(value, str) else str(value)
    return repr(shortened(text, LONGEST_VALUE))


def count_text(number: int) -> str:
    """Return a count as text for a message, with a comma for each thousand; "more than 10^18" from there on."""
    return f"{number:,}" if number < 10**18 else "more than 10^18"


def first_repeated(values: Iterable[Value]) -> Value | None:
    """Return the value whose second occurrence comes first, such as 2 for (1, 2, 2, 1); None if all values differ.

    It takes linear time, as lists may have millions of entries.
    """
    seen: set[Value] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


class InputError(ValueError):
    """An input that cannot be used. Long parts are shortened.

    Attributes:
        field: What to look at, such as ``"column 'age'"`` or ``"budget.epsilon"``.
        problem: One clause without a full stop.
        remedy: One clause that says what to do.
    """

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        field, problem, remedy = (shortened(part, LONGEST_PART) for part in (field, problem, remedy))
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field = field
        self.problem = problem
        self.remedy = remedy

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how another process makes the same error: from its parts, as it does not know the arguments."""
        return type(self).__new__, (type(self), str(self)), vars(self)


class CapacityError(InputError):
    """A valid request that is too large for this mechanism or machine; refused before any budget is spent."""


class ChargedError(InputError):
    """A failure after records were read: no release is made, and the run's charge stays spent."""


class OracleError(ChargedError):
    """A search for records without a usable answer: a process died or hung, or no record is possible.

    The input was not wrong, but the message is shown unchanged, as of other InputErrors. These searches use released values alone, so no
    failure depends on a record. Where the kernel calls an oracle on records, a failure is an answer ("no rule") and not an error.
    """

    def __init__(self, problem: str, remedy: str = "give it more time, or a smaller problem") -> None:
        super().__init__("oracle", problem, remedy)


class BudgetExceeded(RuntimeError):
    """An operation would have cost more than the remaining budget; it was refused before any private count was read."""


class ZoneError(RuntimeError):
    """A curator-only value was about to enter something that is published."""
