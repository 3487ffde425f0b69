"""Whether the keys of two linked tables fit: what does not count, as the source leaves it out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.sources.check_records import LinkCheck, check_link
from dpsynth_core.sources.files import opened
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.linked import LinkedSource
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER, Link

FORM = TableFormat(missing_markers=frozenset({""}))


def test_what_does_not_count_is_what_the_source_leaves_out(tmp_path: Path) -> None:
    """Key 1 twice and nobody once in the first table; in the second three of key 1, one of a key that is nowhere, one of nobody."""
    (tmp_path / "homes.csv").write_text("id,region\n1,0\n1,1\n2,1\n,0\n")
    (tmp_path / "people.csv").write_text("id,sex\n1,0\n1,1\n1,1\n2,0\n7,0\n,1\n")
    first, second = (opened(tmp_path / name, FORM) for name in ("homes.csv", "people.csv"))
    found = check_link(first, second, "id", 2)
    assert (found.zone, found.value) == (Zone.CURATOR, LinkCheck(repeated=1, orphans=1, beyond=1))
    assert [sentence.split(" ", 1)[0] for sentence in found.value.sentences()] == ["1", "1", "1"]
    link = Link(Domain.from_json({"region": 2}), Domain.from_json({"sex": 2}), 2)
    sizes = LinkedSource(link, first, second, "id").counts([(NUMBER,)])[(NUMBER,)] // link.whole
    assert np.array_equal(sizes, [0, 1, 1])  # of two households, with the members that are left


def test_nothing_is_said_where_all_rows_count(tmp_path: Path) -> None:
    (tmp_path / "homes.csv").write_text("id\n1\n2\n")
    (tmp_path / "people.csv").write_text("id\n2\n2\n")
    first, second = (opened(tmp_path / name, FORM) for name in ("homes.csv", "people.csv"))
    assert check_link(first, second, "id", 2).value.sentences() == ()
