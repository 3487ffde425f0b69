"""The errors a user may see: each says where, what, and what to do.

No message here may depend on a private value. A count, a cell, a category found in the data or a row number of an
offending record must never be put into one; column names, file structure and everything the curator declared may.
"""

from __future__ import annotations


class InputError(ValueError):
    """Something the curator gave us cannot be used.

    field: what to look at, e.g. ``"column 'age'"`` or ``"budget.epsilon"``.
    problem: one clause, no full stop.  remedy: one clause that says what to do.
    """

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field = field
        self.problem = problem
        self.remedy = remedy


class CapacityError(InputError):
    """The request is well formed but too large for this mechanism or machine; refused before any budget is spent."""


class ChargedError(InputError):
    """Something proved unusable after records were read: no release is made, and what the run was charged stays spent."""


class OracleError(ChargedError):
    """A search for records gave no answer that can be used: a process of it died or hung, or no record is possible.

    The input was not wrong, but like other InputErrors the message is shown unchanged. These searches use released values alone, so no
    failure depends on a record. Where the kernel calls an oracle on records, a failure is an answer ("no rule") and not an error.
    """

    def __init__(self, problem: str, remedy: str = "give it more time, or a smaller problem") -> None:
        super().__init__("oracle", problem, remedy)


class BudgetExceeded(RuntimeError):
    """An operation would have cost more than what is left; it was refused before any private count was read."""


class ZoneError(RuntimeError):
    """A curator-only value was about to enter something that is published."""
