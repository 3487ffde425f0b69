"""Rows per person: whom a record names, and which of a person's records count.

A person is a value of the person column. A record counts if it names somebody and is among the first m, in file order, that name the same
person; a record that names nobody, which every malformed line is, does not count.

Neighbouring files differ in the lines of one person: lines that name this person, and lines that name nobody, of any number and content.
*Then the records that count differ by at most m: m lost, or m gained, or (replace) m lost and m gained.* For whether a record counts
depends on the records before it that name the same person and on no others: those of everybody else count as before, and of the one
person at most m count in each of the two files.

Why not count records that name nobody? Whatever rule lets them count is wrong for a person with m records that name them and one more
that does not, such as a malformed line: without this person m + 1 records are gone (all such records as one person: up to 2 m; each as a
person of its own: any number). The price is that how many records count depends on what a record says. So their number is measured with
noise under both relations wherever there is a person column (`Unit.total_is_public`).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.sources.arrays import texts
from dpsynth_core.sources.formats import TableFormat


def named(column: pa.Array, form: TableFormat) -> pa.DictionaryArray:
    """Whom each record names; null for nobody. column: the person column."""
    distinct = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    names = texts(distinct.dictionary)
    nobody = form.notation.absent(names)
    once = pc.if_else(nobody, None, names).dictionary_encode()  # trimming may have made two spellings one person
    return pa.DictionaryArray.from_arrays(once.indices.take(distinct.indices), once.dictionary)


def within_limit(persons: pa.DictionaryArray, seen: dict[object, int], limit: int) -> NDArray[np.bool_]:
    """Which records are among the first `limit` of the person they name, over all batches so far; counts this batch in `seen`."""
    people = persons.dictionary.to_pylist()
    before = np.array([seen.get(person, 0) for person in people] + [limit], dtype=np.int64)
    person = pc.fill_null(persons.indices.cast(pa.int64()), len(people)).to_numpy(zero_copy_only=False)
    order = np.argsort(person, kind="stable")
    grouped = person[order]
    first = np.searchsorted(grouped, grouped, side="left")
    rank = np.empty(len(person), dtype=np.int64)
    rank[order] = np.arange(len(person)) - first
    rows = np.bincount(person, minlength=len(people) + 1)
    seen.update(zip(people, np.minimum(before + rows, limit)[: len(people)].tolist(), strict=True))
    return before[person] + rank < limit
