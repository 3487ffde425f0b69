"""What the extension may be asked for a table with age, sex, income and region. For `tests/bundle/test_from_answers.py`."""

OPTIONS = {"disclosure": ["income from age, sex"], "uniques": ["age, sex"]}
ON_PAGES = {"disclosure": ["health from age, sex"]}
