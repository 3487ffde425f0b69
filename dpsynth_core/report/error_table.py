"""The errors of a release as a table: measured by the certificate, and bounded beforehand; one line per marginal of the workload."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from dpsynth_core.evaluation.comparison import label
from dpsynth_core.release.document import Release, csv_bytes

COLUMNS = {
    "attributes": "string",
    "measured_error": "float64",
    "measured_bound95": "float64",
    "measured_simultaneous95": "float64",
    "support": "string",
    "prior_bound95": "float64",
    "paper_bound95": "float64",
}


def table(release: Release) -> pd.DataFrame:
    """Columns as in `COLUMNS`, all as L1 on fractions; largest bound first. Missing where nothing was measured or nothing is known."""
    certified = {tuple(one["attributes"]): one for one in release.certificate["marginals"]} if release.certificate else {}
    bounded = {tuple(one["attributes"]): one for one in release.bounds}
    found = []
    for clique in dict.fromkeys([*certified, *bounded]):
        measured, prior = certified.get(clique, {}), bounded.get(clique, {})
        said = (measured.get("error"), measured.get("bound95"), measured.get("simultaneous95"))
        found.append((label(clique), *said, prior.get("support"), prior.get("bound95"), prior.get("paper95")))
    frame = pd.DataFrame(found, columns=list(COLUMNS)).astype(COLUMNS)
    return frame.sort_values(["measured_bound95", "prior_bound95"], ascending=False, kind="stable", ignore_index=True)


def csv(release: Release) -> bytes:
    """`table` as CSV. Texts that a spreadsheet would run get an apostrophe."""
    return csv_bytes(pa.Table.from_pandas(table(release), preserve_index=False), for_spreadsheets=True)
