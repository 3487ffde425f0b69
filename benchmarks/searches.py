"""What CP-SAT proves of conjunctions and disjunctions over more columns than can be gone through, on several invented tables.

    python -m benchmarks.searches

One question of RSPM at epsilon 1, with the default limit of work: the best rule that predicts the last column, under Laplace noise on the
separators. The tables: *signal*, in which a rule over three independent columns of the class is right but for one in ten; *rare*, the same
where fewer people have each feature; *chain*, where columns follow the one before; *groups*, ten kinds of people who resemble each other;
*noise*, in which no column says anything. Written is how many processor seconds the proof took, or after how many there was none, and in
brackets the features of all distinct records together. What is in the record is not measured again: interrupt it, and go on; empty is
what was not measured yet.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy.noise import SeededNoise
from dpsynth_core.research.mechanisms.rules.learn import Learn
from dpsynth_core.research.oracles.answer import Limit
from dpsynth_core.research.oracles.rules import rule_oracle
from dpsynth_core.research.oracles.rules.rule_oracle import LearningProblem
from dpsynth_core.research.oracles.rules.rules import CONJUNCTION, DISJUNCTION, Feature, RuleClass
from dpsynth_core.research.oracles.rules.task import STEPS
from dpsynth_core.research.privacy import rspm

TABLES = ("signal", "rare", "chain", "groups", "noise")
WIDE = ((2_000, 25), (2_000, 60), (10_000, 25), (10_000, 60), (50_000, 25))
"""Records and columns."""
RESULTS = Path(__file__).with_name("results") / "searches.json"

Flags = NDArray[np.bool_]


def features(table: str, records: int, columns: int, rng: np.random.Generator) -> Flags:
    """Of invented people, shape (records, columns)."""
    if table == "groups":
        shares = rng.beta(0.4, 0.6, (10, columns))
        return np.asarray(rng.random((records, columns)) < shares[rng.integers(0, 10, records)])
    seen = rng.random((records, columns)) < rng.uniform(*((0.1, 0.6) if table == "rare" else (0.2, 0.8)), columns)
    if table == "chain":
        follows = rng.random((records, columns)) < 0.6
        for i in range(3, columns):
            seen[:, i] = np.where(follows[:, i], seen[:, i - 1], seen[:, i])
    return np.asarray(seen)


def question(kind: str, table: str, records: int, columns: int) -> LearningProblem:
    """What RSPM asks its oracle."""
    rng = np.random.default_rng(columns)
    rules = RuleClass(kind, tuple(Feature(f"c{i}", 1) for i in range(columns)))
    seen = features(table, records, columns, rng)
    three = RuleClass(kind, rules.features[:3])
    target = rng.random(records) < 0.3 if table == "noise" else three.rule((0, 1, 2)).holds(seen[:, :3]) ^ (rng.random(records) < 0.1)
    noise = rspm.laplace_noise(rules, rspm.perturbation(len(rules.separators), 1, 1.0).scale, SeededNoise(records))[0]
    return LearningProblem(rules, seen, np.where(target, -STEPS, STEPS)).perturbed(noise)


def trial(kind: str, table: str, records: int, columns: int) -> dict[str, Any]:
    """The setting, whether the best rule was proved, processor seconds, and how large the question was."""
    asked, started = question(kind, table, records, columns), time.process_time()
    learned = rule_oracle.solve(asked, Limit.of_work(Learn().oracle_work))
    seconds = round(time.process_time() - started, 1)
    size = int(np.unique(asked.seen, axis=0).sum())
    setting = {"kind": kind, "table": table, "records": records, "columns": columns}
    return setting | {"features": size, "proved": learned is not None and learned.certified, "seconds": seconds}


def settings() -> Iterator[tuple[str, str, int, int]]:
    """Those that end soon first."""
    for records, columns in WIDE:
        yield from ((kind, table, records, columns) for table, kind in product(TABLES, (CONJUNCTION, DISJUNCTION)))


def main() -> None:
    trials: dict[tuple[Any, ...], dict[str, Any]] = {}
    for one in json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else []:
        trials[one["kind"], one["table"], one["records"], one["columns"]] = one
    for setting in settings():
        if setting not in trials:
            trials[setting] = trial(*setting)
            RESULTS.write_text(json.dumps(list(trials.values()), indent=1) + "\n", encoding="utf-8")
            RESULTS.with_suffix(".md").write_text("\n".join(lines(trials)) + "\n", encoding="utf-8")


def lines(trials: Mapping[tuple[Any, ...], Mapping[str, Any]]) -> Iterator[str]:
    """The table, a line for each class, number of columns and of records."""
    yield f"| class | columns | records | {' | '.join(TABLES)} |"
    yield "|---" * (3 + len(TABLES)) + "|"
    for kind, records, columns in dict.fromkeys((kind, records, columns) for kind, _, records, columns in trials):
        cells = (trials.get((kind, table, records, columns)) for table in TABLES)
        yield f"| {kind} | {columns} | {records:,} | {' | '.join(map(_cell, cells))} |"


def _cell(trial: Mapping[str, Any] | None) -> str:
    if trial is None:
        return ""
    proof = f"{trial['seconds']:g} s" if trial["proved"] else f"no proof in {trial['seconds']:g} s"
    return f"{proof} ({trial['features']:,})"


if __name__ == "__main__":
    main()
