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

**Parts.** Where a table is counted in parts (`parts`), the same records count as in one stream. Each part counts its rows of every person,
at most m (`turnout`); the numbers of one person meet in one place, by a hash, where sums over the earlier parts in file order are made
(`earlier`); and each part is then read as the stream would read it that has seen so many rows of its persons. *Proof.* A record is among
the first m of its person if and only if fewer than m rows of that person come before it: those of the earlier parts and those before it in
its own; and min(m, sum of min(m, rows)) = min(m, sum of rows). So whether a record counts is a fact about the file, and the above holds
though neighbouring files are cut at different places: at most m records differ, or 2 m with replace. How many parts there are, which of
them are counted where, or again because a machine died, does not come into it: each number is a function of the file, and is used once.

Persons meet as 128 bits of a keyed hash (SipHash twice), with keys that are drawn for each count. Two persons among a billion have the same
with a probability below 2^-68; they would be taken for one.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.arrays import texts
from dpsynth_core.sources.formats import TableFormat


def check_limit(max_rows_per_person: int) -> None:
    """InputError unless it lets a person have a row."""
    if max_rows_per_person < 1:
        raise InputError("unit.max_rows_per_person", "it is below 1", "give a whole number from 1 up")


def named(column: pa.Array, form: TableFormat) -> pa.DictionaryArray:
    """Return whom each record names; null for nobody.

    A person has one name, though a program that lost an identifier in between wrote the others as 12.0 from there on: a text of digits
    with nothing but zeros behind the decimal mark names the whole number.

    Args:
        column: The person column.
        form: How the table is written.
    """
    distinct = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    written = texts(distinct.dictionary)
    names = pc.replace_substring_regex(written, rf"^(-?[0-9]+){re.escape(form.decimal)}0+$", r"\1")
    nobody = pc.or_(form.notation.absent(written), form.notation.absent(names))
    once = pc.if_else(nobody, None, names).dictionary_encode()  # two spellings may have become one person
    return pa.DictionaryArray.from_arrays(once.indices.take(distinct.indices), once.dictionary)


Before = Callable[[pa.Array], NDArray[np.int64]]
"""How many rows of these persons come before those that are read."""


def nobody(people: pa.Array) -> NDArray[np.int64]:
    """The `Before` of a table that is read from its beginning."""
    return np.zeros(len(people), dtype=np.int64)


def within_limit(persons: pa.DictionaryArray, seen: dict[object, int], limit: int, before: Before = nobody) -> NDArray[np.bool_]:
    """Which records are among the first `limit` of the person they name, over all batches so far; counts this batch in `seen`."""
    people = persons.dictionary.to_pylist()
    begun = zip(people, before(persons.dictionary).tolist(), strict=True)
    earlier_rows = np.array([seen.get(person, rows) for person, rows in begun] + [limit], dtype=np.int64)
    person = pc.fill_null(persons.indices.cast(pa.int64()), len(people)).to_numpy(zero_copy_only=False)
    order = np.argsort(person, kind="stable")
    grouped = person[order]
    first = np.searchsorted(grouped, grouped, side="left")
    rank = np.empty(len(person), dtype=np.int64)
    rank[order] = np.arange(len(person)) - first
    rows = np.bincount(person, minlength=len(people) + 1)
    seen.update(zip(people, np.minimum(earlier_rows + rows, limit)[: len(people)].tolist(), strict=True))
    return earlier_rows[person] + rank < limit


@dataclass(frozen=True, eq=False, repr=False)
class Turnout:
    """How many rows some persons have. hashes: of the persons, shape (n,) of 16 bytes, rising once `together`. rows: shape (n,)."""

    hashes: NDArray[np.bytes_]
    rows: NDArray[np.int64]

    def before(self, keys: Keys) -> Before:
        """As what came before a part; nothing of a person who is not here."""

        def rows_of(people: pa.Array) -> NDArray[np.int64]:
            wanted = hashes(people, keys)
            at = np.minimum(np.searchsorted(self.hashes, wanted), max(len(self.hashes) - 1, 0))
            return np.where(self.hashes[at] == wanted, self.rows[at], 0) if len(self.hashes) else nobody(people)

        return rows_of

    def bucket(self, number: int, of: int) -> Turnout:
        """Those persons whose counts meet in this one of so many places."""
        chosen = self.hashes.view(np.uint8).reshape(-1, _BYTES)[:, 0] % of == number
        return Turnout(self.hashes[chosen], self.rows[chosen])


Keys = tuple[str, str]
_BYTES = 16


def new_keys() -> Keys:
    """For the hashes of one count."""
    return secrets.token_hex(_BYTES // 2), secrets.token_hex(_BYTES // 2)


def hashes(people: pa.Array, keys: Keys) -> NDArray[np.bytes_]:
    """16 bytes for each name; no nulls."""
    names = people.to_numpy(zero_copy_only=False).astype(object)
    from pandas.util import hash_array  # takes a while to load, and only tables with a column of persons need it

    halves = [hash_array(names, hash_key=key, categorize=False) for key in keys]
    return np.stack(halves, axis=1).astype("<u8").view(f"S{_BYTES}").ravel()


def turnout(batches: Iterable[pa.DictionaryArray], keys: Keys, limit: int) -> Turnout:
    """The rows of each person in a part. batches: whom its records name (`named`)."""
    turned_out = together([], limit)
    for persons in batches:
        present = np.bincount(persons.indices.drop_null().to_numpy(), minlength=len(persons.dictionary))
        turned_out = together([turned_out, Turnout(hashes(persons.dictionary, keys), present)], limit)
    return turned_out


def together(turnouts: Sequence[Turnout], limit: int) -> Turnout:
    """The rows of each person in all of them."""
    everybody = np.concatenate([np.empty(0, f"S{_BYTES}"), *(one.hashes for one in turnouts)])
    different, person = np.unique(everybody, return_inverse=True)
    rows = np.zeros(len(different), dtype=np.int64)
    np.add.at(rows, person, np.concatenate([np.empty(0, np.int64), *(one.rows for one in turnouts)]))
    return Turnout(different, np.minimum(rows, limit))


def earlier(turnouts: Sequence[Turnout], limit: int) -> list[Turnout]:
    """For each part how many rows of its persons come in the parts before it, where there are any. turnouts: of the parts in file order."""
    everybody = np.concatenate([np.empty(0, f"S{_BYTES}"), *(one.hashes for one in turnouts)])
    rows = np.concatenate([np.empty(0, np.int64), *(one.rows for one in turnouts)])
    order = np.argsort(everybody, kind="stable")  # of one person, the parts keep their order
    grouped, sums = everybody[order], np.cumsum(rows[order]) - rows[order]
    first = np.searchsorted(grouped, grouped, side="left")
    before = np.empty_like(rows)
    before[order] = np.minimum(sums - sums[first], limit)
    split = np.split(before, np.cumsum([len(one.rows) for one in turnouts])[:-1])
    return [Turnout(one.hashes[some > 0], some[some > 0]) for one, some in zip(turnouts, split, strict=True)]
