"""Which rooms may not import what, so far as it is about databases. For `tests/test_house.py`."""

HERE = "extensions.databases"

RULES = [
    ("layers", f"dpsynth_core.{HERE}.address", (), ("extensions",)),
    ("engines", "duckdb", (), (HERE,)),
    ("engines", "sqlglot", (), (HERE,)),
]
"""The contract, what a trespasser imports, and the rooms that it is put into: those within, without those of the last."""
