"""What a condition of the guarantee is told of. For `tests/planning/test_leaks.py`."""

SEARCHED = {"learner": "laplace", "oracle": "cp-sat"}
LEAKS = [("conditional", {"domain": {"a": 2, "b": 2}, "mechanism": {"name": "learn", "settings": SEARCHED}})]
