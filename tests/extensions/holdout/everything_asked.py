"""What the extension may be asked for a table of people. For `tests/bundle/test_from_answers.py`."""

OPTIONS = {"holdout": 5}
