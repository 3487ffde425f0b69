"""Hostile input, generated: thousands of commands that a careless or malicious person could give, each judged by the same few rules.

    python -m tests.hostile --cases 20000 --seed 7                     many cases, group by group
    python -m tests.hostile --group parquet --seed 7 --only 123        one of them alone, as a failure names it

`attempts` says what a case is, `trial` runs and judges one, the other files make them, each for some groups.
"""
