"""Which rooms may not import what, so far as it is about the extension. For `tests/test_house.py`."""

from tests.extensions.research.lists import ASKING

HERE = "extensions.research"
BELOW_MECHANISMS = tuple(room for room in ASKING if not room.endswith("mechanisms"))

RULES = [
    ("layers", f"dpsynth_core.{HERE}.operations", (), ("extensions",)),
    ("research", f"dpsynth_core.{HERE}.mechanisms", BELOW_MECHANISMS, ()),
    ("research_below", "dpsynth_core.release.release", (HERE,), ()),
    ("solvers", "ortools", (), (HERE,)),
]
"""The contract, what a trespasser imports, and the rooms that it is put into: those within, without those of the last."""
