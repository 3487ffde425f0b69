"""Days as people write them: read where only one order gives a month, and left alone where two do."""

from __future__ import annotations

import pytest

from dpsynth_core.vocabulary.kinds.dates import as_written_by_people


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("31.12.2024", "2024-12-31"),
        ("03.04.2024", "2024-04-03"),
        ("12/31/2024", "2024-12-31"),
        ("31/12/2024", "2024-12-31"),
        ("04/04/2024", "2024-04-04"),
        ("03/04/2024", "03/04/2024"),
        ("3.4.2024 12:30", "2024-04-03 12:30"),
    ],
)
def test_a_day_is_read_where_its_order_is_certain(text: str, iso: str) -> None:
    assert as_written_by_people(text) == iso
