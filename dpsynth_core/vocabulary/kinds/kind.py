"""What a kind of column is. `registry` lists all kinds; code that needs to know what a kind does asks its entry there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from dpsynth_core.vocabulary.kinds.scale import Scale


class Form(Enum):
    LISTED = "its listed values"
    BINNED = "bins between two bounds"
    CODED = "the codes 0, 1, 2, ... that the table holds already"
    FILLED = "no cells: the rows get values that do not depend on any record"


@dataclass(frozen=True)
class Option:
    """Something that a column of the kind says beside bounds, bins and values. field: in its JSON. title, help, example: for people.
    choices: of which one is chosen, the usual one first; none for something that is typed.  lines: whether that has several lines.
    learnt: whether it is said of a column whose values are to be learnt, too."""

    field: str
    title: str
    help: str
    example: str = ""
    choices: tuple[str, ...] = ()
    lines: bool = False
    learnt: bool = False


@dataclass(frozen=True)
class Kind:
    """A kind of column.

    name: as domains name it.  title, help: for people; help is a sentence.
    fields: entries of a column's JSON beside name, kind and label.  dtype: of the released column; "" where the listed values have one.
    ordered: whether neighbouring cells are neighbours in meaning.  learnable: whether its cells can be learnt with noise.
    grouped: whether its values are codes, which count as their groups (`hierarchies.Hierarchy`).
    scale: of bins, by the precision that the column states ("" for kinds without one): how its values are numbers.
    precisions: that the column's values can be written to, from coarse to fine.
    examples: of a lower bound, an upper one and a width, as people type them.  options: what else a column of the kind says.
    """

    name: str
    title: str
    help: str
    form: Form
    fields: tuple[str, ...]
    dtype: str = ""
    ordered: bool = True
    learnable: bool = False
    grouped: bool = False
    scale: Callable[[str], Scale] | None = None
    precisions: tuple[str, ...] = ()
    examples: tuple[str, str, str] = ("", "", "")
    options: tuple[Option, ...] = ()
