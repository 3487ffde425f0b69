"""Scores by SDMetrics, in its own environment: it needs pandas below 3, so it cannot be installed beside the program.

    python benchmarks/sdmetrics_run.py PRIVATE.csv ROWS.csv

prints its TVComplement of each column and its ContingencySimilarity of each pair, as JSON. All values are taken as categories.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from itertools import combinations

import pandas as pd

if __name__ == "__main__":
    private, rows = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in sys.argv[1:])
    alone, pairs = import_module("sdmetrics.single_column").TVComplement, import_module("sdmetrics.column_pairs").ContingencySimilarity
    scores = {name: float(alone.compute(private[name], rows[name])) for name in private}
    for both in combinations(map(str, private), 2):
        scores[",".join(both)] = float(pairs.compute(private[[*both]], rows[[*both]]))
    print(json.dumps({"version": import_module("sdmetrics").__version__, "scores": scores}))
