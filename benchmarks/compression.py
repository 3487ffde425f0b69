"""Whether models are better that do not tell rare values apart (`inference/folding.py`): each run with and without, the same seeds.

    python -m benchmarks.compression --tables demo demo-cells titanic --epsilons 1 --runs 5
    python -m benchmarks.compression --tables adult-binned --epsilons 0.1 1 10 --mechanisms aim mst

Tables: the simulated demo; the same with a cell for missing and for other values in every column, most of which are empty; Adult as the AIM
paper bins it, where nothing is missing, and from its raw file by its codebook, with such cells; Titanic with the kinds that `sources.guess`
proposes, with such cells too. The error is that of the rows, AIM's Definition 2; a change is the mean over the seeds of the ratio. True
errors are computed: the tables are public or invented.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.discovery import adult
from benchmarks.programs import OURS, versions
from benchmarks.table import ADULT_FOLDER, RESULTS
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.mechanisms.steps import Finished
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.demo import demo_domain, simulate
from dpsynth_core.sources.files import TableSource, opened
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.guess import propose
from dpsynth_core.sources.sniff import sniff
from dpsynth_core.statistics.distances import Marginals, scaled, workload_error
from dpsynth_core.vocabulary.domain import Domain, load_domain
from dpsynth_core.vocabulary.tally import row_marginals
from dpsynth_core.vocabulary.workload import Workload, all_kway

DELTA = 1e-9


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    missing = [name for name in options.tables if TABLES[name].file and not (options.data / TABLES[name].file).exists()]
    if missing:
        print(f"without {', '.join(missing)}, which {options.data} does not hold", file=sys.stderr)
    for name in options.tables:
        if name in missing:
            continue
        source = TABLES[name].read(options.data / TABLES[name].file)
        for mechanism in options.mechanisms:
            for epsilon in options.epsilons:
                _keep(measured(name, source, mechanism, epsilon, options), options.results)
    print("\n".join(_lines(options.results)))
    return 0


def measured(name: str, source: CodesSource, mechanism: str, epsilon: float, options: argparse.Namespace) -> dict[str, Any]:
    """One table, mechanism and budget: the errors of each seed, without merging and with it."""
    workload = all_kway(source.domain, options.k)
    true = source.counts(workload.cliques)
    errors: dict[str, list[float]] = {}
    for seed in range(options.runs):
        for label, below in (("told_apart", 0.0), ("merged", options.below)):
            chosen = registry.configured(registry.get(mechanism), {"merge_below": below})
            errors.setdefault(label, []).append(round(error(source, workload, true, chosen, epsilon, seed), 5))
    run = {"table": name, "mechanism": mechanism, "k": options.k, "epsilon": epsilon, **errors}
    print(_line(run), file=sys.stderr)
    return run


def error(source: CodesSource, workload: Workload, true: Marginals, mechanism: Mechanism, epsilon: float, seed: int) -> float:
    """Workload error of one run's rows."""
    people = int(true[workload.cliques[0]].sum())
    return workload_error(workload, true, answers(source, workload, mechanism, epsilon, seed, people), people)


def answers(source: CodesSource, workload: Workload, mechanism: Mechanism, epsilon: float, seed: int, people: int) -> Marginals:
    """The workload's marginals of one run's rows, scaled to so many people."""
    accountant = mechanism.card.accountant
    kernel = PrivacyKernel(source, Unit(), accountant.rho_from(epsilon, DELTA), SeededNoise(seed), accountant=accountant)
    *_, finished = mechanism.steps(kernel, workload)
    assert isinstance(finished, Finished)
    codes = finished.model.rows(round(finished.total), workload.weights, np.random.default_rng(seed))  # type: ignore[attr-defined]
    return scaled(row_marginals(source.domain, codes, workload.cliques), people)


@dataclass(frozen=True)
class _Table:
    """file: in the folder of public tables; "" for one that is invented."""

    file: str
    read: Callable[[Path], CodesSource]


def _coded(domain: Domain, table: TableSource, form: TableFormat) -> CodesSource:
    batches = [encode(domain, batch, form.notation) for batch in opened(table, form).batches(domain.names)]
    return CodesSource(domain, np.concatenate([np.stack([batch[name] for name in domain.names], axis=1) for batch in batches]))


def _celled(domain: Domain) -> Domain:
    """With cells for missing and for other values in every column."""
    return Domain(tuple(attribute.unfolded() for attribute in domain))


def _titanic(path: Path) -> CodesSource:
    guesses = propose(path, sniff(path), is_public=True).value
    return _coded(_celled(Domain(tuple(g.attribute for g in guesses if g.attribute is not None))), path, sniff(path))


TABLES = {
    "demo": _Table("", lambda _: _coded(demo_domain(), simulate(), TableFormat())),
    "demo-cells": _Table("", lambda _: _coded(_celled(demo_domain()), simulate(), TableFormat())),
    "adult-binned": _Table(
        "adult-binned.csv", lambda path: _coded(load_domain(path.with_name("adult-binned-domain.json")), path, sniff(path))
    ),
    "adult": _Table("adult.csv", lambda path: _coded(adult(), path, TableFormat("csv", missing_markers=frozenset({"?"})))),
    "titanic": _Table("titanic.csv", _titanic),
}


def _keep(run: Mapping[str, Any], results: Path) -> None:
    """Add a run to what is written, in place of one of the same table, mechanism, workload and budget."""
    path, same = results / "compression.json", ("table", "mechanism", "k", "epsilon")
    results.mkdir(parents=True, exist_ok=True)
    before = json.loads(path.read_text(encoding="utf-8"))["runs"] if path.exists() else []
    runs = [one for one in before if any(one[key] != run[key] for key in same)] + [run]
    runs.sort(key=lambda one: (list(TABLES).index(one["table"]), one["mechanism"], one["k"], one["epsilon"]))
    record = {"delta": DELTA, "versions": versions(OURS), "runs": runs}
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (results / "compression.md").write_text("\n".join(_lines(results)) + "\n", encoding="utf-8")


def _lines(results: Path) -> Iterator[str]:
    """What is written as a table in Markdown."""
    yield "| table | mechanism | columns a marginal | epsilon | seeds | told apart | merged | change |"
    yield "|---|---|---|---|---|---|---|---|"
    yield from map(_line, json.loads((results / "compression.json").read_text(encoding="utf-8"))["runs"])


def _line(run: Mapping[str, Any]) -> str:
    apart, merged = run["told_apart"], run["merged"]
    change = statistics.fmean(b / a for a, b in zip(apart, merged, strict=True)) - 1
    title = registry.get(run["mechanism"]).card.title
    about = f"| {run['table']} | {title} | {run['k']} | {run['epsilon']:g} | {len(apart)} "
    return about + f"| {statistics.fmean(apart):.4f} | {statistics.fmean(merged):.4f} | {change:+.1%} |"


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="benchmarks.compression", description=__doc__, formatter_class=form)
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--mechanisms", nargs="+", default=["aim"], metavar="NAME")
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 1.0, 10.0])
    parser.add_argument("--k", type=int, default=3, help="columns of a marginal (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--below", type=float, default=3.0, help="as the mechanisms' merge_below (default: %(default)s)")
    parser.add_argument("--data", type=Path, default=ADULT_FOLDER)
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
