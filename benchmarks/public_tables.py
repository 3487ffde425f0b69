"""Whether a public table ever does harm: AIM that starts from one beside AIM without, on tables of every shape.

    python -m benchmarks.public_tables --runs 3
    python -m benchmarks.public_tables --tables titanic values --kinds invented --epsilons 0.1

A tenth of the people of each table are the public ones, the others the private ones. They are published as they are; or those in the lower
half of the first column's values alone; or with the values of each column shuffled among them, so that single columns are right and nothing
else is; or shuffled with the values of each column in the order of the first's, which invents dependence; or a stand-in of the same domain,
of which nothing is right. Errors of the rows by AIM's Definition 2 and the largest error of any count, as shares of the people; no
certificate; seeds that count upwards.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import compression
from benchmarks.shapes import SHAPES, keep
from benchmarks.table import ADULT_FOLDER, RESULTS
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.graphical.aim_public import AimPublic
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.sources import standin
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.statistics.distances import largest_error, workload_error
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import all_kway

Codes = NDArray[np.int32]
MOST = 1_000_000
"""People of a table."""
TABLES = ("titanic", "demo", "few", "values", "dense", "binary")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    for name in options.tables:
        everyone = SHAPES[name].read(options.data)
        people, public = _divided(everyone.sample(MOST))
        private = CodesSource(everyone.domain, people)
        for epsilon in options.epsilons:
            without = _errors(private, SHAPES[name].k, registry.get("aim"), epsilon, options.runs)
            for kind in options.kinds:
                table = PublicTable(everyone.domain, KINDS[kind](everyone.domain, public), kind, "")
                given = _errors(private, SHAPES[name].k, AimPublic().informed_by(table), epsilon, options.runs)
                run = {"table": name, "epsilon": epsilon, "kind": kind, "without": without, "with": given}
                keep(run, options.results / "public_tables.json", ("table", "epsilon", "kind"), _order)
                print(_line(run), file=sys.stderr, flush=True)
    lines = "\n".join(_lines(options.results))
    (options.results / "public_tables.md").write_text(lines + "\n", encoding="utf-8")
    print(lines)
    return 0


def _divided(codes: Codes) -> tuple[Codes, Codes]:
    """Nine tenths of the people, and the others. codes: in random order."""
    tenth = len(codes) // 10
    return codes[tenth:], codes[:tenth]


def _as_they_are(_domain: Domain, codes: Codes) -> Codes:
    return codes


def _lower_half(domain: Domain, codes: Codes) -> Codes:
    """Those with one of the first column's values in the lower half, or all where nobody has one."""
    chosen = codes[codes[:, 0] < domain.sizes(domain.names)[0] / 2]
    return chosen if len(chosen) else codes


def _shuffled(_domain: Domain, codes: Codes) -> Codes:
    return np.random.default_rng(1).permuted(codes, axis=0)


def _sorted(_domain: Domain, codes: Codes) -> Codes:
    """The largest values of all columns belong to the same people."""
    return np.sort(codes, axis=0)


def _stand_in(domain: Domain, codes: Codes) -> Codes:
    return standin.simulate(domain, len(codes), strength=0.8, seed=99)


KINDS: Mapping[str, Callable[[Domain, Codes], Codes]] = {
    "same": _as_they_are,
    "half": _lower_half,
    "shuffled": _shuffled,
    "sorted": _sorted,
    "invented": _stand_in,
}


def _errors(source: CodesSource, k: int, mechanism: Mechanism, epsilon: float, runs: int) -> dict[str, list[float]]:
    """Of each seed, in both measures."""
    workload = all_kway(source.domain, k)
    true = source.counts(workload.cliques)
    people = int(true[workload.cliques[0]].sum())
    answers = [compression.answers(source, workload, mechanism, epsilon, seed, people) for seed in range(runs)]
    return {
        "error": [round(workload_error(workload, true, one, people), 5) for one in answers],
        "largest": [round(largest_error(true, one), 5) for one in answers],
    }


def _order(run: Mapping[str, Any]) -> tuple[int, float, int]:
    return TABLES.index(run["table"]), run["epsilon"], list(KINDS).index(run["kind"])


def _lines(results: Path) -> Iterator[str]:
    yield "| table | epsilon | public table | runs | error without | with | ratio | largest error without | with | ratio |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    yield from map(_line, json.loads((results / "public_tables.json").read_text(encoding="utf-8")))


def _line(run: Mapping[str, Any]) -> str:
    cells = [run["table"], f"{run['epsilon']:g}", run["kind"], str(len(run["with"]["error"]))]
    for measure in ("error", "largest"):
        without, given = (statistics.fmean(run[side][measure]) for side in ("without", "with"))
        cells += [f"{without:.4f}", f"{given:.4f}", f"{given / without:.2f}"]
    return f"| {' | '.join(cells)} |"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 1.0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--data", type=Path, default=ADULT_FOLDER)
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
