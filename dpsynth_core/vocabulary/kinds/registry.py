"""Every kind of column, one entry each: the only place that lists them.

Kinds whose values are neither numbers nor codes in groups are written here: listed values, columns that hold codes already, and columns of
the rows that say nothing of any record.
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsynth_core.vocabulary.kinds.dates import DATE
from dpsynth_core.vocabulary.kinds.hierarchies import HIERARCHICAL
from dpsynth_core.vocabulary.kinds.kind import Form, Kind, Option
from dpsynth_core.vocabulary.kinds.numbers import INTEGER, NUMERIC
from dpsynth_core.vocabulary.kinds.times import DURATION, TIME, TIMESTAMP

_LISTED = ("categories", "dtype", "other", "missing", "labels", "user_missing")

CATEGORICAL = Kind(
    "categorical",
    "Categories",
    "Listed values without an order, such as countries; yes and no are such values, too.",
    Form.LISTED,
    _LISTED,
    ordered=False,
    learnable=True,
)
ORDINAL = Kind("ordinal", "Ordered categories", "Listed values in their order, such as levels of education.", Form.LISTED, _LISTED)
CODED = Kind(
    "coded",
    "Codes 0, 1, 2…",
    "A column that holds the codes 0, 1, 2, ... of its cells already, as benchmark files do.",
    Form.CODED,
    ("size",),
    dtype="int64",
)
CONSTANT = Kind(
    "constant",
    "One value",
    "A column in which every row has the same value. It is not measured, costs nothing, and comes back in the rows.",
    Form.FILLED,
    ("value", "dtype"),
    options=(Option("value", "The value of every row", "From public knowledge: it is written as it stands here.", "2024"),),
)
IDENTIFIER = Kind(
    "identifier",
    "Identifier",
    "A column that tells people apart. The rows get new identifiers of the same shape, which depend on no record.",
    Form.FILLED,
    ("pattern",),
    options=(
        Option("pattern", "The first new one", "Its last number is counted up: P000001, P000002, … Choose one that nobody has.", "P000001"),
    ),
)

_ALL = (CATEGORICAL, ORDINAL, HIERARCHICAL, INTEGER, NUMERIC, DATE, TIMESTAMP, TIME, DURATION, CONSTANT, IDENTIFIER, CODED)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}
"""Kinds by their names in domains, in the order in which people are offered them."""
LEARNABLE = tuple(kind.name for kind in KINDS.values() if kind.learnable)


def of_form(form: Form) -> tuple[str, ...]:
    """Return the names of the kinds whose cells have this form, in the order of KINDS."""
    return tuple(kind.name for kind in KINDS.values() if kind.form is form)
