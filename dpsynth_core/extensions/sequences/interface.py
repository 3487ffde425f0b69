"""Functions for Python programs about a release with rows in order."""

from __future__ import annotations

from typing import Any

from dpsynth_core.extensions.sequences.in_order import joined
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.interface.release import Release
from dpsynth_core.release.rows import as_table


def rows_in_order(release: Release) -> Any:
    """Return the synthetic rows as one table like the one that was given: each row with its person's key and columns.

    Rows of a person are together and in order. The bundle of a release of one table has the same as rows-in-order.csv.

    Args:
        release: A release with rows in order (``dps.plan(..., order="admitted")``).

    Returns:
        The kind of table that was given; a pandas frame for files.

    Raises:
        InputError: If the release has no rows in order.

    Examples:
        >>> import dpsynth_core as dps
        >>> dps.rows_in_order(dps.open("release.zip"))  # doctest: +SKIP
    """
    rows = joined(release.made)
    if rows is None:
        raise InputError("release", "it has no rows of persons in order", "state the order in its plan")
    return release.back(as_table(rows), release.made.domain)
