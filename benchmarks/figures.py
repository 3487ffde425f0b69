"""The setting in which the papers of query release compare (Aydore et al. 2021, Figure 2; Vietri et al. 2020, Figure 1): 64 random k-way
marginals of Adult, delta = 1/N^2, and the largest error of any of their cells.

Several benchmarks share it, so that their numbers can be put side by side. It looks at true counts: right for a public table, and for
nothing else. Adult is binned as in the AIM paper (280 values in 15 columns; theirs has 588), so numbers are not the papers' own.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import record
from benchmarks.table import ADULT_FOLDER
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import UsesPublic
from dpsynth_core.mechanisms.steps import Finished, Model
from dpsynth_core.privacy.accountant import ZCDP, in_force
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.unit import ADD_REMOVE, Unit
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.opening import opened
from dpsynth_core.sources.source import MarginalSource
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import at_least
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import MAX_MARGINAL_CELLS, Workload

MARGINALS = 64
EPSILONS = (0.1, 0.15, 0.2, 0.25, 0.5, 1.0)
"""The papers' axis from 0.1 to 1."""
LESS, MORE, UNDECIDED = "less", "more", "undecided"
ENOUGH = 3
DECIDED = f"less: every run of one errs less than every run of the other, {ENOUGH} each at least; more: the other way round; or undecided"


@dataclass(frozen=True, eq=False)
class Setting:
    """codes: the true table, shape (N, columns)."""

    source: MarginalSource
    codes: NDArray[np.int32]
    workload: Workload

    @property
    def domain(self) -> Domain:
        return self.workload.domain

    @property
    def rows(self) -> int:
        return len(self.codes)

    @property
    def delta(self) -> float:
        return 1.0 / self.rows**2

    @cached_property
    def _true(self) -> dict[Clique, NDArray[np.float64]]:
        return {clique: self._fractions(clique, self.codes, None) for clique in self.workload.cliques}

    def asking(self, threshold: int) -> Setting:
        """The same marginals, of which is asked who agrees with a cell in at least so many columns."""
        return replace(self, workload=self.workload.asking(threshold))

    def errors(self, finished: Finished) -> dict[str, float]:
        """Of the model's own answers: the largest of a cell, and the mean over the marginals."""
        model, total = finished.model, finished.total
        return {"error": round(self.model_error(model, total), 5), "mean_error": round(self.mean_error(model, total), 5)}

    def zero_error(self) -> float:
        """Of the naive answer: 0 to every query. What is above it is of no use."""
        return max(float(true.max()) for true in self._true.values())

    def noise_error(self, epsilon: float) -> float:
        """Of Gaussian noise on every marginal, the same on every cell: the simplest unbiased answers, and a small largest error.

        Accounted in zCDP, as what it is compared with.
        """
        sigma = math.sqrt(len(self.workload.cliques) / (2 * ZCDP.rho_from(epsilon, self.delta)))
        return float(np.abs(np.random.default_rng().normal(0.0, sigma, self.workload.cells)).max()) / self.rows

    def laplace_error(self, epsilon: float) -> float:
        """The same of Laplace noise, under pure epsilon-differential privacy."""
        scale = len(self.workload.cliques) / epsilon
        return float(np.abs(np.random.default_rng().laplace(0.0, scale, self.workload.cells)).max()) / self.rows

    def rows_error(self, codes: NDArray[np.int32], weights: NDArray[np.float64] | None = None) -> float:
        """max over all cells of |q(D) - q(rows)| as fractions; rows may have weights."""
        return max(float(np.abs(true - self._fractions(r, codes, weights)).max()) for r, true in self._true.items())

    def mean_error(self, model: Model, total: float) -> float:
        """The mean over the marginals of the L1 distance of a model's own answers: AIM's workload error."""
        gaps = [float(np.abs(true - self._asked(model.marginal(r) / total)).sum()) for r, true in self._true.items()]
        return sum(gaps) / len(gaps)

    def model_error(self, model: Model, total: float) -> float:
        """The same of a model's own answers, in counts of `total` rows."""
        return max(float(np.abs(true - self._asked(model.marginal(r) / total)).max()) for r, true in self._true.items())

    def _fractions(self, clique: Clique, codes: NDArray[np.int32], weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        sizes = self.domain.sizes(clique)
        cells = np.ravel_multi_index(tuple(codes[:, self.domain.position(name)] for name in clique), sizes)
        counts = np.bincount(cells, weights, math.prod(sizes))
        return self._asked((counts / counts.sum()).reshape(sizes))

    def _asked(self, marginal: NDArray[np.float64]) -> NDArray[np.float64]:
        return at_least(marginal, self.workload.threshold or marginal.ndim).ravel()


@dataclass(frozen=True, eq=False)
class Outcome:
    """Wall and processor seconds of the run, without reading the table and without writing rows."""

    finished: Finished
    seconds: float
    cpu_seconds: float

    def costs(self) -> dict[str, float]:
        return {"seconds": round(self.seconds, 1), "cpu_seconds": round(self.cpu_seconds, 1)}


@dataclass(frozen=True)
class Program:
    """title: for people. mechanism: by name, "" for what is computed here; settings: what is not at its default."""

    title: str
    mechanism: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


@lru_cache(maxsize=1)
def adult(k: int, marginals: int = MARGINALS, seed: int = 0, folder: Path = ADULT_FOLDER) -> Setting:
    """`marginals` distinct random k-way marginals of Adult; the same seed gives the same ones.

    A marginal above the program's limit of cells is not drawn: none of the three-way ones, 3 % of the five-way ones.
    """
    data, domain = folder / "adult-binned.csv", load_domain(folder / "adult-binned-domain.json")
    form = default_format(data)
    columns = [encode(domain, batch, form.notation) for batch in opened(data, form).batches(domain.names)]
    codes = np.concatenate([np.stack([batch[name] for name in domain.names], axis=1) for batch in columns])
    workload = Workload(domain, dict.fromkeys(random_marginals(domain, k, marginals, seed), 1.0))
    return Setting(ArrowSource(domain, data, form), codes, workload)


def random_marginals(domain: Domain, k: int, count: int, seed: int) -> list[Clique]:
    """All of them, where there are fewer than `count`."""
    possible = [clique for clique in combinations(domain.names, k) if domain.cells(clique) <= MAX_MARGINAL_CELLS]
    return [possible[i] for i in np.random.default_rng(seed).permutation(len(possible))[:count]]


def refusal(name: str, setting: Setting, epsilon: float, given: Mapping[str, Any]) -> str:
    """Why a mechanism cannot answer these marginals; "" where it can."""
    mechanism = registry.configured(registry.get(name), given)
    accountant = in_force(mechanism.card.accountant, epsilon, setting.delta)
    forecast = registry.forecast(mechanism, setting.workload, accountant.rho_from(epsilon, setting.delta))
    return "" if forecast.fits else forecast.reason


def run(
    name: str, setting: Setting, epsilon: float, given: Mapping[str, Any], relation: str = ADD_REMOVE, public: PublicTable | None = None
) -> Outcome:
    """One run of a mechanism with fresh noise, all of (epsilon, delta) for itself; given: settings other than its defaults."""
    mechanism = registry.configured(registry.get(name), given)
    if public is not None and isinstance(mechanism, UsesPublic):
        mechanism = mechanism.informed_by(public)
    accountant = in_force(mechanism.card.accountant, epsilon, setting.delta)
    rho = accountant.rho_from(epsilon, setting.delta)
    kernel = PrivacyKernel(setting.source, Unit(relation), rho, OpenDPNoise(), accountant=accountant)
    kernel.prepare([*setting.workload.cliques, *((column,) for column in setting.domain.names)])
    wall, cpu = time.perf_counter(), _processor_seconds()
    *_, finished = mechanism.steps(kernel, setting.workload)
    if not isinstance(finished, Finished):
        raise RuntimeError("the mechanism ended without a result")
    return Outcome(finished, time.perf_counter() - wall, _processor_seconds() - cpu)


def table(about: str, programs: Mapping[str, str], frame: pd.DataFrame, across: str, told: Callable[[pd.DataFrame], str]) -> Iterator[str]:
    """A line for each program that was measured, a column for each value of `across`, and processor seconds at the last. programs: titles,
    by what the frame has in "program". told: the runs of one cell."""
    values = sorted(frame[across].unique())
    rows = []
    for name, title in programs.items():
        mine = frame[frame["program"] == name]
        if len(mine):
            seconds = mine.loc[mine[across] == values[-1], "cpu_seconds"].mean()
            rows.append([title, *(told(mine[mine[across] == value]) for value in values), "" if math.isnan(seconds) else f"{seconds:.0f}"])
    heads = ("program", *(f"{value:g}" for value in values), f"processor seconds at {values[-1]:g}")
    yield from (about, "", *record.table(heads, rows), "")


def told(digits: int) -> Callable[[pd.DataFrame], str]:
    """Says the mean error of some runs, and how many they are."""

    def say(cell: pd.DataFrame) -> str:
        if cell["refused"].notna().any():
            return "refused"
        return f"{cell['error'].mean():.{digits}f} ({len(cell)})" if len(cell) else ""

    return say


def verdict(one: Sequence[float], other: Sequence[float]) -> str:
    """LESS where every run of the one erred less than every run of the other: with three runs each, chance alone does that one time in
    twenty. MORE the other way round, else, and with fewer runs, UNDECIDED."""
    if min(len(one), len(other)) < ENOUGH:
        return UNDECIDED
    if max(one) < min(other):
        return LESS
    return MORE if min(one) > max(other) else UNDECIDED


def runs(kept: Mapping[str, Any]) -> pd.DataFrame:
    """Those of a record, a line each, with columns that all tables look at."""
    frame = pd.DataFrame(kept["runs"])
    return frame.assign(**{name: np.nan for name in ("error", "cpu_seconds", "refused") if name not in frame})


def days(kept: Mapping[str, Any]) -> str:
    """Where and when the runs of a record were made."""
    began = [run["began"][:10] for run in kept["runs"]]
    return f"{kept['cores']} cores, runs of {min(began)} to {max(began)}"


def _processor_seconds() -> float:
    """Of this process and of those it started and waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system
