"""Which rooms may not import what, so far as it is about clusters. For `tests/test_house.py`."""

RULES = [("layers", "dpsynth_core.extensions.cluster.dask_cluster", (), ("extensions",))]
"""The contract, what a trespasser imports, and the rooms that it is put into: those within, without those of the last."""
