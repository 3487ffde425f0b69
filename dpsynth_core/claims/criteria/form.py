"""The form of a kind of criterion: the entries of its JSON, with labels. It is read by this form, and the wizard draws it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Entry(Enum):
    """What an entry holds, which decides how it is drawn. The limit of a kind is the first entry with a `usual` value."""

    PERCENT = auto()
    """A share of people."""
    AMOUNT = auto()
    """A number above 0 in the unit of a column."""
    QUANTILE = auto()
    """A share of people below something; the median where nothing is stated."""
    NUMBER = auto()
    """A column of numbers."""
    NUMBERS = auto()
    """A few more columns of numbers."""
    PEOPLE = auto()
    """A condition on people (`conditions`)."""
    TABLES = auto()
    """Tables of the workload."""
    PREDICTED = auto()
    """A column that models can predict."""
    MODEL = auto()
    """A model of that column, by name."""
    NEAR = auto()
    """How near a guess of a number has to be."""


@dataclass(frozen=True)
class Field:
    """An entry. usual: what a new criterion says. least: of shares of people."""

    name: str
    label: str
    holds: Entry
    usual: float | None = None
    least: float = 0.0


OFF_BY = "Off by at most, in % of people"
AMONG = Field("among", "Among (all people if empty)", Entry.PEOPLE)
AGAINST = Field("against", "Compared with (nobody if empty)", Entry.PEOPLE)


def amount(usual: float) -> Field:
    return Field("tolerance", "Off by at most", Entry.AMOUNT, usual)
