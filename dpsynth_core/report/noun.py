"""Whether numbers count people or records. Report, data card, explore.html and the Results page show this one sentence."""

from __future__ import annotations

from dpsynth_core.planning.unit_spec import UnitSpec


def counted(unit: UnitSpec) -> str:
    """What is meant by people where a person may own several records; "" where everybody owns one."""
    if unit.max_rows_per_person == 1:
        return ""
    return (
        f"Counts, shares and means are of records, at most {unit.max_rows_per_person:,} of a person, also where they say people: whoever "
        "owns more records counts for more. The guarantee is for people."
    )
