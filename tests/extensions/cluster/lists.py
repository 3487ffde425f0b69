"""What tests of the core go through besides, so far as it is about clusters. For `tests/additions.py`."""

OPENERS = ("extensions.cluster",)
ELSEWHERE = [{"kind": "csv", "path": "people.csv", "engine": "dask", "scheduler": "tcp://elsewhere:8786"}]
