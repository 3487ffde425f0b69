"""How many values of a column its declared attribute does not know: written differently, beyond the bounds, or no number at all."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.sources.codec import day_numbers, encode_column, floats, texts
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.bins import day_number


def outside(attribute: Attribute, column: pa.Array, markers: frozenset[str]) -> int:
    """How many values are neither missing nor in the attribute's domain: unlisted, beyond the bounds, or no number at all."""
    if attribute.kind in ("categorical", "ordinal"):
        probe = Attribute.categorical(attribute.name, attribute.categories, dtype=attribute.dtype, other=True, missing=True)
        return int(np.count_nonzero(encode_column(probe, column, markers) == probe.code_for_unlisted))
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    numbers = day_numbers(plain) if attribute.kind == "date" else floats(plain, markers)
    said = texts(plain)
    written = pc.and_(pc.is_valid(said), pc.invert(pc.is_in(said, pa.array(sorted({*markers, ""}), pa.string())))).fill_null(False)
    unreadable = np.isnan(numbers) & written.to_numpy(zero_copy_only=False)
    low, high = _bounds(attribute)
    return int(np.count_nonzero(unreadable | (numbers < low) | (numbers > high)))


def _bounds(attribute: Attribute) -> tuple[float, float]:
    if attribute.kind == "date":
        return float(day_number(attribute.lower)), float(day_number(attribute.upper))
    return float(attribute.lower), float(attribute.upper)
