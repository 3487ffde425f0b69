"""What the extension may be asked for any table. For `tests/bundle/test_from_answers.py`."""

OPTIONS = {"noise": 1}
ON_PAGES = {"noise": 1}
