"""Exact counts of the records with each text of a column, in bounded memory.

Why not drop keys when there are too many? A cap that keeps the first keys up to a number, or the most frequent keys, lets one person's
record decide whether another key is kept, with all of its records: the counts of neighbouring tables then differ by any number, and no
proof about keyed counts (`privacy.thresholds`) holds. So nothing is dropped. If a table has more distinct keys than memory holds, the first
pass counts the keys whose hashes end in a 0, a further pass those that end in a 1; and so on with more digits. The division of the keys
changes the time, never the counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.sources.arrays import texts
from dpsynth_core.sources.characters import EXACT, folded
from dpsynth_core.sources.codec import dictionary
from dpsynth_core.vocabulary.hierarchy import Hierarchy
from dpsynth_core.vocabulary.keys import MISSING, PUBLIC, key

MOST_KEYS = 1_000_000
"""Distinct keys in memory: at most about 300 MB."""


def keyed_counts(
    columns: Callable[[], Iterable[pa.Array]],
    missing_markers: AbstractSet[str],
    most: int = MOST_KEYS,
    hierarchy: Hierarchy | None = None,
    same_text: str = EXACT,
) -> Iterator[Mapping[str, int]]:
    """Yield the exact number of records of each key of a column, in parts that have no key in common; private.

    At least one part is yielded, which is empty without records. "" is the key of missing values, and "other" of texts
    that cannot be keys (`vocabulary.keys`).

    Args:
        columns: A function that starts a new pass over the table and yields the column's batches.
            It is called once for each part.
        missing_markers: Texts that mean missing.
        most: The largest number of keys in a part, which bounds the memory.
        hierarchy: The hierarchy of a column of codes in groups, or None. With it, the key of a code is
            its group.
        same_text: The rule by which texts count as the same and share a key
            (`characters.SAME_TEXTS`).
    """
    waiting = [(1, 0)]  # modulus and rest of the hashes that are still to be counted
    while waiting:
        modulus, rest = waiting.pop()
        counts: Counter[str] = Counter()
        for column in columns():
            for text, rows in _keyed(column, missing_markers, hierarchy, same_text):
                if hash(text) % modulus == rest:
                    counts[text] += rows
            while len(counts) > most:
                waiting.append((2 * modulus, rest + modulus))
                modulus *= 2
                counts = Counter({text: rows for text, rows in counts.items() if hash(text) % modulus == rest})
        yield counts


def _keyed(
    column: pa.Array, missing_markers: AbstractSet[str], hierarchy: Hierarchy | None, same_text: str
) -> Iterator[tuple[str, int]]:
    """Yield pairs of a key and its number of records in one batch; a key may come more than once."""
    if pa.types.is_null(column.type) or pa.types.is_nested(column.type):
        yield MISSING, len(column)
        return
    encoded = dictionary(column)
    written = texts(encoded.dictionary)
    names = [*zip(written.to_pylist(), folded(written, same_text).to_pylist(), strict=True), (None, None)]
    rows = np.bincount(pc.fill_null(encoded.indices.cast(pa.int64()), len(names) - 1).to_numpy(zero_copy_only=False), minlength=len(names))
    for name, number in zip(names, rows.tolist(), strict=True):
        if number:
            yield _key(*name, missing_markers, hierarchy), number


def _key(written: str | None, text: str | None, missing_markers: AbstractSet[str], hierarchy: Hierarchy | None) -> str:
    """Return the key of a text, or the key of its group if the column has a hierarchy.

    Args:
        written: The trimmed text in the file, which decides whether the value is missing; None for
            null.
        text: The same text rewritten so that texts that count as the same are equal.
        missing_markers: Texts that mean missing.
        hierarchy: The hierarchy of a column of codes in groups.
    """
    own_key = MISSING if key(written, missing_markers) == MISSING else key(text, frozenset())
    return own_key if hierarchy is None or own_key in PUBLIC else key(hierarchy.group(own_key), frozenset())
