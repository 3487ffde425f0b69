"""Which rooms may not import what, so far as it is about attacks. For `tests/test_house.py`."""

HERE = "extensions.attacks"

RULES = [
    ("layers", f"dpsynth_core.{HERE}.outcomes", (), ("extensions",)),
    *[("attacks", f"dpsynth_core.{room}", (HERE,), ()) for room in ("report", "bundle", "cli", "interface")],
]
"""The contract, what a trespasser imports, and the rooms that it is put into: those within, without those of the last."""
