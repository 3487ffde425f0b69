"""Listed values, without and with an order, and columns that hold codes already."""

from __future__ import annotations

from dpsynth_core.vocabulary.kinds.kind import Form, Kind

_FIELDS = ("categories", "dtype", "other", "missing", "labels")

CATEGORICAL = Kind(
    "categorical",
    "Categories",
    "Listed values without an order, such as countries; yes and no are such values, too.",
    Form.LISTED,
    _FIELDS,
    ordered=False,
    learnable=True,
)
ORDINAL = Kind("ordinal", "Ordered categories", "Listed values in their order, such as levels of education.", Form.LISTED, _FIELDS)
CODED = Kind(
    "coded",
    "Codes 0, 1, 2…",
    "A column that holds the codes 0, 1, 2, ... of its cells already, as benchmark files do.",
    Form.CODED,
    ("size",),
    dtype="int64",
)
