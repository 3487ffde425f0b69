"""What AIM loses or gains by cheaper rounds on wide tables: error and processor seconds on all pairs of an invented table.

    python -m benchmarks.wide_rounds                      # 50 columns, one marginal a round and as shipped, models of several sizes

Each case is a run of the mechanism alone, in this process, with seeded noise: the error is the model's against the true counts, as a share
of the people in a wrong cell of a table, over all pairs, over those of columns that depend on each other directly, and over the others.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.invented import codes
from benchmarks.programs import OURS, versions
from benchmarks.table import RESULTS
from benchmarks.wide import table_of
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.mechanisms.graphical import aim_strategies
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.mechanisms.steps import Finished, Fitted
from dpsynth_core.planning.plan import budgeted
from dpsynth_core.planning.spec import DEFAULT_CERTIFICATE, BudgetSpec
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway

CASES = ((1000.0, 16.0), (10.0, 16.0), (10.0, 4.0))
"""A round measures one marginal for each so many before it; megabytes of the model."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    target = options.results / "wide_rounds.json"
    runs = json.loads(target.read_text(encoding="utf-8")) if target.exists() else []
    for for_one_more, size in options.cases:
        for seed in options.seeds:
            run = measured(options.columns, for_one_more, size, options.epsilon, seed)
            same = ("columns", "for_one_more", "max_size_mb", "epsilon", "seed")
            runs = [*(one for one in runs if any(one[name] != run[name] for name in same)), run]
            options.results.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
            target.with_suffix(".md").write_text(_markdown(runs), encoding="utf-8")
            print(run, flush=True)
    return 0


def measured(columns: int, for_one_more: float, size: float, epsilon: float, seed: int) -> dict[str, Any]:
    """One run with a marginal a round for each so many before it, and a model of at most so many megabytes."""
    table = table_of(columns)
    domain = Domain.from_json(dict(zip(table.names, table.sizes, strict=True)))
    source, workload = CodesSource(domain, codes(table)), all_kway(domain, 2)
    mechanism = Aim(max_size_mb=size, strategies=replace(Aim.strategies, together=lambda before: max(1, int(before / for_one_more))))
    shares = budgeted(mechanism, BudgetSpec(epsilon=epsilon, delta=1e-9, certificate=DEFAULT_CERTIFICATE))
    kernel = PrivacyKernel(source, Unit(), shares.rho, SeededNoise(seed), shares.delta, shares.accountant)
    kernel.prepare([*workload.cliques, *((name,) for name in domain.names)])
    began = time.process_time()
    with patch.object(aim_strategies, "WIDE_CAPACITY", 1.0):
        *steps, finished = mechanism.steps(kernel.part(shares.mechanism), workload)
    seconds = time.process_time() - began
    assert isinstance(finished, Finished)
    assert isinstance(finished.model, GraphicalModel)
    true, answers = source.counts(workload.cliques), finished.model.marginals(workload.cliques)
    errors = np.array([np.abs(true[clique] - answers[clique]).sum() for clique in workload.cliques]) / (2 * table.rows)
    positions = [(domain.position(one) // table.group, domain.position(other) // table.group) for one, other in workload.cliques]
    inside = np.array([one == other for one, other in positions])
    return {
        **{"columns": columns, "for_one_more": for_one_more, "max_size_mb": size, "epsilon": epsilon, "seed": seed},
        **{"fits": sum(isinstance(step, Fitted) for step in steps), "cpu_seconds": round(seconds, 1)},
        **{"error": round(float(errors.mean()), 5), "inside": round(float(errors[inside].mean()), 5)},
        **{"across": round(float(errors[~inside].mean()), 5), "largest": round(float(errors.max()), 4), "versions": versions(OURS)},
    }


def _markdown(runs: list[dict[str, Any]]) -> str:
    lines = [
        "AIM on all pairs of an invented table of 50,000 rows, by how many tables allow a round one more and how large the model may be.",
        "Error: share of the people in a wrong cell of a table, on average; of columns that depend on each other directly; of the others.",
        "",
        "| columns | epsilon | seed | before one more | model MB | fits | processor seconds | error | inside groups | across | largest |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for run in sorted(runs, key=lambda run: (run["columns"], run["epsilon"], run["for_one_more"], run["max_size_mb"], run["seed"])):
        head = f"| {run['columns']} | {run['epsilon']:g} | {run['seed']} | {run['for_one_more']:g} | {run['max_size_mb']:g} "
        costs = f"| {run['fits']} | {run['cpu_seconds']:.0f} | {run['error']:.4f} | {run['inside']:.4f} | {run['across']:.4f} "
        lines.append(f"{head}{costs}| {run['largest']:.3f} |")
    return "\n".join([*lines, ""])


def _case(text: str) -> tuple[float, float]:
    for_one_more, size = text.split(":")
    return float(for_one_more), float(size)


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="benchmarks.wide_rounds", description=__doc__, formatter_class=raw)
    parser.add_argument("--columns", type=int, default=50, help=f"at least {aim_strategies.WIDE} (default: %(default)s)")
    parser.add_argument("--cases", type=_case, nargs="+", default=list(CASES), metavar="BEFORE:MB")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
