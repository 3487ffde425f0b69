"""The errors of a release as a table: measured by the certificate, and bounded beforehand; one line per marginal of the workload."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa

from dpsynth_core.evaluation.bounds import UNBOUNDED
from dpsynth_core.release.document import csv_bytes
from dpsynth_core.release.release import Release
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.statistics.evidence import label

COLUMNS = {
    "attributes": "string",
    "measured_error": "float64",
    "measured_bound95": "float64",
    "measured_simultaneous95": "float64",
    "support": "string",
    "prior_bound95": "float64",
    "paper_bound95": "float64",
}


_SHARES = [name for name, kind in COLUMNS.items() if kind == "float64"]
_NOTHING = (None, None, None)


def table(release: Release) -> pd.DataFrame:
    """Columns as in `COLUMNS`, all as L1 on fractions; largest bound first. Missing where nothing was measured or nothing is known."""
    certified = {one.attributes: one for one in release.certificate.marginals} if release.certificate else {}
    lines: list[tuple[str | float | None, ...]] = []
    for clique in dict.fromkeys([*certified, *release.bounds]):
        measured, prior = certified.get(clique), release.bounds.get(clique)
        errors = (measured.error, measured.bound95, measured.simultaneous95) if measured else _NOTHING
        bounds = (prior.tight, prior.paper) if prior and prior.support != UNBOUNDED else _NOTHING[:2]
        lines.append((label(clique), *errors, prior.support if prior else None, *bounds))
    frame = pd.DataFrame(lines, columns=list(COLUMNS)).astype(COLUMNS)
    frame[_SHARES] /= IN_WRONG_CELL
    return frame.sort_values(["measured_bound95", "prior_bound95"], ascending=False, kind="stable", ignore_index=True)


def csv(release: Release) -> bytes:
    """`table` as CSV. Texts that a spreadsheet would run get an apostrophe."""
    return csv_bytes(pa.Table.from_pandas(table(release), preserve_index=False))
