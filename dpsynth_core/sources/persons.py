"""Rows per person: whom a record names, and which of a person's records count.

A person is a value of the person column. A record counts if it names a person and is among the first m, in file order, that name the same
person; a record without a person, which every malformed line is, does not count.

Neighbouring files differ in the lines of one person: lines that name this person, and lines without a person, of any number and content.
*Then the records that count differ by at most m: m lost, or m gained, or (replace) m lost and m gained.* For whether a record counts
depends on the records before it that name the same person and on no others: the records of all other persons count as before, and of the
one person at most m count in each of the two files.

Why not count records without a person? Every rule that lets them count is wrong for a person with m records that name them and one more
that does not, like a malformed line: without this person m + 1 records are gone (all these records as one person: up to 2 m; each as a
person of its own: any number). The price is that the number of records that count depends on the content of records. So this number is
measured with noise under both relations wherever there is a person column (`Unit.total_is_public`).

**Some persons alone.** A function of names may choose whose records count (`of_chosen`), for people who are left out of a release. It is
asked after the above and about one name at a time, so it takes away all records of a person or none, and nobody else has a part in it.

**Parts.** Where a table is counted in parts (`parts`), the same records count as in one stream. Each part counts its rows of every person,
at most m (`turnout`); the numbers of one person meet in one place, by a hash, where sums over the earlier parts in file order are made
(`earlier`); and each part is then read like the rest of a stream in which these rows of its persons came before. *Proof.* A record is among
the first m of its person if and only if fewer than m rows of that person come before it, in the earlier parts and in its own part; and
min(m, sum of min(m, rows)) = min(m, sum of rows). So whether a record counts is a fact about the file, and the above holds though
neighbouring files are cut at different places: at most m records differ, or 2 m with replace. The number of parts, the place where each is
counted, and a second count because a machine died do not matter: each number is a function of the file, and is used once.

Persons meet as 128 bits of a keyed hash (SipHash twice), with keys that are drawn for each count. Any two of a billion persons have the
same hash with a probability below 2^-68; they would be taken for one person.
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
    """Check that the number of rows of a person that count is at least 1.

    Raises:
        InputError: It is below 1.
    """
    if max_rows_per_person < 1:
        raise InputError("unit.max_rows_per_person", "it is below 1", "give a whole number from 1 up")


def named(column: pa.Array, form: TableFormat) -> pa.DictionaryArray:
    """Return the person whom each record names; null for records without a person.

    Spellings such as 12.0 and 12 name one person, because programs write a column of whole numbers
    with gaps as decimals. So zeros behind the decimal mark of a whole number are removed.

    Args:
        column: The person column.
        form: The format of the table, with the missing markers and the decimal mark.
    """
    distinct = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    written = texts(distinct.dictionary)
    names = pc.replace_substring_regex(written, rf"^(-?[0-9]+){re.escape(form.decimal)}0+$", r"\1")
    nobody = pc.or_(form.notation.absent(written), form.notation.absent(names))
    once = pc.if_else(nobody, None, names).dictionary_encode()  # two spellings may have become one person
    return pa.DictionaryArray.from_arrays(once.indices.take(distinct.indices), once.dictionary)


Before = Callable[[pa.Array], NDArray[np.int64]]
"""Returns how many rows of these persons come before the rows that are read."""


def nobody(people: pa.Array) -> NDArray[np.int64]:
    """Return 0 for each person: the `Before` of a part without earlier parts."""
    return np.zeros(len(people), dtype=np.int64)


def within_limit(persons: pa.DictionaryArray, seen: dict[object, int], limit: int, before: Before = nobody) -> NDArray[np.bool_]:
    """Return which records are among their person's first `limit`, a mask of shape (records,); False without a person.

    Batches have to be passed in file order.

    Args:
        persons: The person of each record of a batch (`named`).
        seen: The number of rows of each person in the batches so far, at most `limit`. This batch
            is added to it, in place.
        limit: The number of rows of each person that are counted.
        before: A function that returns the number of rows of each person in the earlier parts.
    """
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


Chosen = Callable[[str], bool]
"""Returns whether the records of a person are counted, from the person's name alone."""


def of_chosen(persons: pa.DictionaryArray, chosen: Chosen) -> NDArray[np.bool_]:
    """Return which records are of persons who are chosen, a mask of shape (records,); False without a person.

    Args:
        persons: The person of each record of a batch (`named`).
        chosen: A function that is asked about one name at a time, and must not depend on anything else in the table.
    """
    counted = np.array([*map(chosen, persons.dictionary.to_pylist()), False], dtype=np.bool_)
    return counted[pc.fill_null(persons.indices.cast(pa.int64()), len(counted) - 1).to_numpy(zero_copy_only=False)]


@dataclass(frozen=True, eq=False, repr=False)
class Turnout:
    """The number of rows of each of some persons, who are identified by hashes.

    Attributes:
        hashes: The hashes of the persons, shape (n,), 16 bytes each, ascending in results of
            `together`.
        rows: The number of rows of each person, shape (n,).
    """

    hashes: NDArray[np.bytes_]
    rows: NDArray[np.int64]

    def before(self, keys: Keys) -> Before:
        """Return a function that returns the rows that this turnout has of each of some persons; 0 for a person not found.

        The hashes of the turnout must be ascending.

        Args:
            keys: The keys with which the hashes were made.
        """

        def rows_of(people: pa.Array) -> NDArray[np.int64]:
            wanted = hashes(people, keys)
            at = np.minimum(np.searchsorted(self.hashes, wanted), max(len(self.hashes) - 1, 0))
            return np.where(self.hashes[at] == wanted, self.rows[at], 0) if len(self.hashes) else nobody(people)

        return rows_of

    def bucket(self, number: int, of: int) -> Turnout:
        """Return the turnout of the persons whose hash falls into bucket `number`, counted from 0, among `of` buckets."""
        chosen = self.hashes.view(np.uint8).reshape(-1, _BYTES)[:, 0] % of == number
        return Turnout(self.hashes[chosen], self.rows[chosen])


Keys = tuple[str, str]
_BYTES = 16


def new_keys() -> Keys:
    """Return two new random keys of 16 characters for the hashes of one count; they must be kept secret."""
    return secrets.token_hex(_BYTES // 2), secrets.token_hex(_BYTES // 2)


def hashes(people: pa.Array, keys: Keys) -> NDArray[np.bytes_]:
    """Return a keyed hash of 16 bytes for each name, shape (names,).

    Args:
        people: Names of persons; nulls are not allowed.
        keys: The two keys (`new_keys`).
    """
    names = people.to_numpy(zero_copy_only=False).astype(object)
    from pandas.util import hash_array  # takes a while to load, and only tables with a column of persons need it

    halves = [hash_array(names, hash_key=key, categorize=False) for key in keys]
    return np.stack(halves, axis=1).astype("<u8").view(f"S{_BYTES}").ravel()


def turnout(batches: Iterable[pa.DictionaryArray], keys: Keys, limit: int) -> Turnout:
    """Return the number of rows of each person in a part, at most `limit`, with ascending hashes; private.

    Records without a person are left out.

    Args:
        batches: The person of each record (`named`), batch by batch.
        keys: The keys of the hash.
        limit: The number of rows of each person that are counted.
    """
    turned_out = together([], limit)
    for persons in batches:
        present = np.bincount(persons.indices.drop_null().to_numpy(), minlength=len(persons.dictionary))
        turned_out = together([turned_out, Turnout(hashes(persons.dictionary, keys), present)], limit)
    return turned_out


def together(turnouts: Sequence[Turnout], limit: int) -> Turnout:
    """Return the sum of the turnouts by person, at most `limit` rows each, with ascending hashes."""
    everybody = np.concatenate([np.empty(0, f"S{_BYTES}"), *(one.hashes for one in turnouts)])
    different, person = np.unique(everybody, return_inverse=True)
    rows = np.zeros(len(different), dtype=np.int64)
    np.add.at(rows, person, np.concatenate([np.empty(0, np.int64), *(one.rows for one in turnouts)]))
    return Turnout(different, np.minimum(rows, limit))


def earlier(turnouts: Sequence[Turnout], limit: int) -> list[Turnout]:
    """Return for each part the rows that its persons have in the parts before it, at most `limit`.

    Persons without rows in earlier parts are left out, so the first part's turnout is empty.

    Args:
        turnouts: The turnouts of the parts, in file order, each with distinct persons.
        limit: The number of rows of each person that are counted.
    """
    everybody = np.concatenate([np.empty(0, f"S{_BYTES}"), *(one.hashes for one in turnouts)])
    rows = np.concatenate([np.empty(0, np.int64), *(one.rows for one in turnouts)])
    order = np.argsort(everybody, kind="stable")  # of one person, the parts keep their order
    grouped, sums = everybody[order], np.cumsum(rows[order]) - rows[order]
    first = np.searchsorted(grouped, grouped, side="left")
    before = np.empty_like(rows)
    before[order] = np.minimum(sums - sums[first], limit)
    split = np.split(before, np.cumsum([len(one.rows) for one in turnouts])[:-1])
    return [Turnout(one.hashes[some > 0], some[some > 0]) for one, some in zip(turnouts, split, strict=True)]
