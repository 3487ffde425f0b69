"""How much of each column lies outside its declared domain: for the curator's eyes, before anything is spent.

A codebook whose labels are written a little differently from the file's sends every record to "other" or to the first cell, and the release
would say so with confidence. Counting that is a look at the private records without noise: curator-only, on request, kept nowhere.
"""

from __future__ import annotations

import pandas as pd

from dpsynth_core.foundation.zones import Zoned, curator_only
from dpsynth_core.sources import files
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.outside import outside
from dpsynth_core.vocabulary.domain import Domain

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
