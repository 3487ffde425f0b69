"""How much of each column lies outside its declared domain: for the curator's eyes, before anything is spent.

A codebook whose labels are written a little differently from the file's sends every record to "other" or to the first cell, and the release
would say so with confidence. Counting that is a look at the private records without noise: curator-only, on request, kept nowhere.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.attribute import Attribute
from dpsynth_core.bins import day_number
from dpsynth_core.codec import day_numbers, encode_column, floats, texts
from dpsynth_core.domain import Domain
from dpsynth_core.sources import files
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.zones import Zoned, curator_only

MOST, SOME, NONE = "most values are not in the domain", "some values are not in the domain", ""
_MOST = 0.5


def shares(domain: Domain, source: str | pd.DataFrame, form: TableFormat) -> Zoned[pd.DataFrame]:
    """Columns: column, outside (share of the values that are not in the domain), remark; the worst first. Missing values count as inside.

    source: path or frame, read once from beginning to end. Raises InputError if it cannot be read or lacks a column.
    """
    counts, rows = dict.fromkeys(domain.names, 0), 0
    for batch in files.open_batches(source, form, domain.names):
        rows += batch.num_rows
        for attribute in domain:
            counts[attribute.name] += outside(attribute, batch.column(batch.schema.get_field_index(attribute.name)), form.missing_markers)
    found = pd.DataFrame({"column": domain.names, "outside": [counts[name] / max(1, rows) for name in domain.names]})
    found["remark"] = [MOST if share >= _MOST else SOME if share > 0 else NONE for share in found["outside"]]
    return curator_only(found.sort_values("outside", ascending=False, kind="stable", ignore_index=True))


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
