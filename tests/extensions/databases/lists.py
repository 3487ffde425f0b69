"""What tests of the core go through besides, so far as it is about databases. For `tests/additions.py`."""

OPENERS = ("extensions.databases",)
ELSEWHERE = [{"kind": "database", "path": "postgresql://elsewhere/db", "table": "t"}]
