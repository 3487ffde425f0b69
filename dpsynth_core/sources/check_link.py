"""Whether the keys of two linked tables fit each other: exact counts of private records, for the curator's eyes alone.

On screen only, never in a file, an error message or a release: a limit that is chosen because of them is chosen after a look.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.foundation.zones import Zoned, curator_only
from dpsynth_core.sources import persons
from dpsynth_core.sources.files import Table


@dataclass(frozen=True)
class LinkCheck:
    """repeated: rows of the first table whose key an earlier one has. orphans: rows of the second whose key the first table lacks. beyond:
    rows of the second that are more than count for their key."""

    repeated: int
    orphans: int
    beyond: int

    def sentences(self) -> tuple[str, ...]:
        """What will not count, and why; none if everything does."""
        told = (
            (self.repeated, "of the first table repeat the key of an earlier one: the first of each key counts."),
            (self.orphans, "of the second table have a key that the first one lacks."),
            (self.beyond, "of the second table are beyond the limit for their key."),
        )
        return tuple(f"{number:,} row{'s' * (number != 1)} {why}" for number, why in told if number)


def check_link(first: Table, second: Table, key: str, most: int) -> Zoned[LinkCheck]:
    """Read the keys of both tables once. most: rows of the second that count for a key. Raises InputError if they cannot be read."""
    rows, owned = (_counts(table, key) for table in (first, second))
    orphans = sum(number for name, number in owned.items() if name not in rows)
    beyond = sum(max(0, number - most) for name, number in owned.items() if name in rows)
    return curator_only(LinkCheck(sum(rows.values()) - len(rows), orphans, beyond))


def _counts(table: Table, key: str) -> dict[str, int]:
    """Rows of each key; those that name nobody are told elsewhere (`check_records`)."""
    named = [persons.named(batch.column(key), table.form).dictionary_decode() for batch in table.batches((key,))]
    counted = pc.value_counts(pc.drop_null(pa.chunked_array(named, pa.string()))) if named else []
    return {str(one["values"]): one["counts"].as_py() for one in counted}
