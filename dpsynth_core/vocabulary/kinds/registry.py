"""Every kind of column, one entry each: the only place that lists them."""

from __future__ import annotations

from collections.abc import Mapping

from dpsynth_core.vocabulary.kinds.dates import DATE
from dpsynth_core.vocabulary.kinds.fillings import CONSTANT, IDENTIFIER
from dpsynth_core.vocabulary.kinds.hierarchies import HIERARCHICAL
from dpsynth_core.vocabulary.kinds.kind import Form, Kind
from dpsynth_core.vocabulary.kinds.listed import CATEGORICAL, CODED, ORDINAL
from dpsynth_core.vocabulary.kinds.numbers import INTEGER, NUMERIC
from dpsynth_core.vocabulary.kinds.times import DURATION, TIME, TIMESTAMP

_ALL = (CATEGORICAL, ORDINAL, HIERARCHICAL, INTEGER, NUMERIC, DATE, TIMESTAMP, TIME, DURATION, CONSTANT, IDENTIFIER, CODED)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}
"""By the name that domains have for them, in the order in which people are offered them."""
LEARNABLE = tuple(kind.name for kind in KINDS.values() if kind.learnable)


def of_form(form: Form) -> tuple[str, ...]:
    """The names of the kinds with such cells."""
    return tuple(kind.name for kind in KINDS.values() if kind.form is form)
