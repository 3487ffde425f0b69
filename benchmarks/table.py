"""The table that a benchmark measures, and its answers without noise: right for a public table, and for nothing else.

Adult as the field codes it, where it lies in ../shared/data, or any table and domain that are named.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsynth_core.cli.release_commands import parse_workload
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.guess import propose
from dpsynth_core.sources.opening import opened
from dpsynth_core.sources.source import MarginalSource
from dpsynth_core.statistics.distances import marginal_errors
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import Workload

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
ADULT_FOLDER = ROOT.parent / "shared" / "data"


@dataclass(frozen=True)
class Table:
    """workload_name: as the command line writes it."""

    data: Path
    domain_file: Path
    domain: Domain
    workload_name: str
    workload: Workload

    @cached_property
    def true(self) -> Mapping[Clique, NDArray[np.int64]]:
        """Counts of every marginal of the workload and, under (), the number of rows."""
        return self.counts(self.data)

    @property
    def rows(self) -> int:
        return int(self.true[()])

    @property
    def sizes(self) -> dict[str, int]:
        """Cells of each column: the domain of `codes`."""
        return {attribute.name: attribute.size for attribute in self.domain}

    def counts(self, data: Path, *, codes: bool = False) -> Mapping[Clique, NDArray[np.int64]]:
        """The same counts of another table, such as synthetic rows; codes: it is written as `codes` would be."""
        domain = Domain.from_json(self.sizes) if codes else self.domain
        return ArrowSource(domain, data, default_format(data)).counts([*self.workload.cliques, ()])

    def codes(self) -> pd.DataFrame:
        """The table as whole numbers 0, 1, 2, ..., for programs that know no other domain."""
        form = default_format(self.data)
        batches = opened(self.data, form).batches(self.domain.names)
        return pd.concat([pd.DataFrame(encode(self.domain, batch, form.notation)) for batch in batches], ignore_index=True)


def spec(data: Mapping[str, Any], domain: Domain, mechanism: str, budget: dict[str, Any], **more: Any) -> Spec:
    """A spec of all pairs of columns, at delta 1e-9; more: its other fields, in place of these."""
    stated = {"population": "benchmark", "data": data, "domain": domain.to_json(), "workload": {"kind": "all", "k": 2}}
    return Spec.from_json(stated | {"budget": {"delta": 1e-9} | budget, "mechanism": {"name": mechanism}} | more)


def file_section(path: Path) -> dict[str, Any]:
    """What a spec says of a file, as its first bytes suggest."""
    return default_format(path).section(path.resolve())


def released(plan: Plan, source: MarginalSource | None = None) -> Release:
    """One release with the noise that its spec asks for. source: other records than those that the spec names."""
    return synthesis.synthesize(plan, source or synthesis.open_source(plan), synthesis.noise_for(plan.spec), lambda _: None)


def errors(made: Release, true: Mapping[Clique, NDArray[np.int64]]) -> dict[Clique, float]:
    """How far each of these tables is off in the rows of a release. Ends the program where it makes none."""
    if made.codes is None:
        raise SystemExit("this mechanism writes no rows; choose another one")
    return marginal_errors(true, row_marginals(made.domain, made.codes, tuple(true)))


def titanic(folder: Path = ADULT_FOLDER) -> Domain:
    """The domain that the file of passengers suggests, for it is public."""
    path = folder / "titanic.csv"
    guesses = propose(path, default_format(path), is_public=True).value
    return Domain(tuple(guess.attribute for guess in guesses if guess.attribute is not None))


def add_table_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, default=ADULT_FOLDER / "adult-binned.csv", help="a public table (default: Adult)")
    parser.add_argument("--domain", type=Path, default=ADULT_FOLDER / "adult-binned-domain.json", help="its columns and their values")
    parser.add_argument("--workload", default="all-3way", help="as on the command line (default: %(default)s)")


def load_table(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Table:
    """The table that the options name; ends the program with one line, as argparse does, if there is none."""
    for path in (options.data, options.domain):
        if not path.exists():
            parser.error(f"{path} does not exist; name a public table and its domain with --data and --domain")
    try:
        domain = load_domain(options.domain)
        workload = parse_workload(options.workload, domain)
    except InputError as error:
        parser.error(str(error))
    return Table(options.data.resolve(), options.domain.resolve(), domain, options.workload, workload)
