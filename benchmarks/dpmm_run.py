"""One run of dpmm, as `compare` starts it, in dpmm's own environment: coded table in, coded rows out.

    .venv-dpmm/bin/python benchmarks/dpmm_run.py aim codes.csv domain.json --epsilon 1 --delta 1e-9 --out rows.csv

It imports nothing of this project. dpmm's binning is switched off and the size of every column is given, so that the whole
budget goes into the mechanism, as it does in ours; and so is the number of rows, which ours has to estimate. Everything else
is dpmm's default but for what its AIM is asked to answer (degree 3) and its largest model (80 MB, as in the AIM paper).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd


def main() -> None:
    options = _parser().parse_args()
    table = pd.read_csv(options.table, dtype=int)
    domain = json.loads(options.domain.read_text(encoding="utf-8"))
    pipeline = _pipeline(options)
    pipeline.fit(table[list(domain)], domain=domain)
    pipeline.generate(n_records=len(table))[list(domain)].to_csv(options.out, index=False)


def _pipeline(options: argparse.Namespace) -> Any:
    from dpmm.pipelines import AIMPipeline, MSTPipeline

    budget = {"epsilon": options.epsilon, "delta": options.delta, "disable_processing": True}
    if options.mechanism == "mst":
        return MSTPipeline(**budget)
    return AIMPipeline(**budget, max_model_size=80, gen_kwargs={"degree": options.degree, "max_cells": options.max_cells})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="One run of dpmm on a table of codes.")
    parser.add_argument("mechanism", choices=["aim", "mst"])
    parser.add_argument("table", type=Path, help="CSV of codes 0, 1, 2, ...")
    parser.add_argument("domain", type=Path, help='JSON such as {"age": 32, "sex": 2}')
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--delta", type=float, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--degree", type=int, default=3, help="of the marginals that AIM is asked for")
    parser.add_argument("--max-cells", type=int, default=10_000, help="AIM leaves larger marginals out of its workload (dpmm's default)")
    return parser


if __name__ == "__main__":
    main()
