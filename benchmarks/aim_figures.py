"""The figures of the AIM paper (McKenna et al. 2022) on our own tool, delta = 1e-9: workload error against epsilon on the workloads
all-3way, target and skewed (Figures 1 to 3), against the capacity of the model (4a, 4b), confidence bounds beside errors (4c), the share of
the people of whom a sample errs as much (5), processor time (6), Private-PGM beside relaxed projection (7), structural zeros (Table 3).

    python -m benchmarks aim_figures --tables titanic --workloads all-3way target --epsilons 0.1 1 10 --runs 3
    python -m benchmarks aim_figures --tables titanic demo --mechanisms aim aim@paper mst mst@paper     # as published, beside our defaults
    python -m benchmarks aim_figures --tables demo --epsilons 1 --mechanisms aim@paper --capacities 1.25 5 20 80

Errors are those of Definition 2: of the rows, or of the answers of mechanisms that write none; without certificate, with fresh noise.
What a mechanism refuses is recorded as refused. What is in the record is not measured again, so it can be run in slices. Of the paper's
tables, Adult and Titanic are here; Salary, MSNBC, Fire and NLTCS are not, and invented tables of other shapes stand beside them. It looks
at true counts: right for a public table, and for nothing else.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import gammaln

from benchmarks import figures, record
from benchmarks.shapes import FEW_ROWS, SHAPES, Shape
from benchmarks.table import ADULT_FOLDER
from dpsynth_core.evaluation.bounds import UNBOUNDED, bounds
from dpsynth_core.extensions.research.inference.relaxed.losses import Descent, MarginalLoss, Sum, project
from dpsynth_core.extensions.research.inference.relaxed.onehot import OneHot
from dpsynth_core.extensions.research.inference.relaxed.relaxed_table import RelaxedTable
from dpsynth_core.inference.estimation import Stopping
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.mechanisms.rounds import total_from
from dpsynth_core.mechanisms.steps import Finished, Measured
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.statistics.distances import Marginals, marginal_errors, scaled, workload_error
from dpsynth_core.statistics.totals import known_total
from dpsynth_core.vocabulary.drawn_marginals import PAPER_DRAWS, Draw
from dpsynth_core.vocabulary.drawn_marginals import SKEWED as SKEWED_KIND
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import Workload, all_kway, drawn, target
from dpsynth_core.vocabulary.zeros import StructuralZeros

DELTA = 1e-9
COLUMNS = 3
TARGETS = {"adult": "income>50K", "titanic": "Survived"}
"""The paper's; of other tables, the last column."""
WORKLOADS = ("all-3way", "target", "skewed")
SKEWED = Draw(SKEWED_KIND, COLUMNS, PAPER_DRAWS, seed=0)
MECHANISMS = (
    *("aim", "mwem_pgm", "mst", "privmrf", "privbayes", "hdmm", "hdmm_pgm", "privsyn", "rap", "gem", "independent"),
    *("gaussian", "residual_planner"),
)
AS_PUBLISHED = "@paper"
"""Behind the name of a mechanism: with its paper's constants."""
RELAXED = "mwem_rp"
"""MWEM+PGM with relaxed projection in place of Private-PGM (appendix F)."""
PUBLISHED = tuple(name + AS_PUBLISHED for name in MECHANISMS if name in registry.PUBLISHED)
EPSILONS = (0.01, 0.1, 1.0, 10.0, 100.0)
WITH_BOUNDS, BOUNDED_AT = ("aim", "aim@paper"), 10.0
"""Of all-3way (Figure 4c)."""
_SAMPLES = np.geomspace(1e-3, 1.0, 13)
_RELAXED_ROWS = 1000
_PAIR = ("education", "education-num")
"""Columns of Adult that say the same."""


@dataclass(frozen=True)
class Point:
    """workload: one of WORKLOADS.  max_size_mb: the model's capacity, 0 where it is the mechanism's own."""

    table: str
    workload: str
    epsilon: float
    mechanism: str
    max_size_mb: float = 0.0

    @property
    def configured(self) -> Mechanism:
        return named(self.mechanism, {"max_size_mb": self.max_size_mb} if self.max_size_mb else {})


def named(name: str, given: Mapping[str, Any] = MappingProxyType({})) -> Mechanism:
    """A mechanism with its defaults, or as published where the name ends so, and with these settings."""
    plain = name.removesuffix(AS_PUBLISHED)
    preset = {registry.PRESET: registry.PAPER} if plain != name else {}
    if plain != RELAXED:
        return registry.configured(registry.get(plain), {**preset, **given})
    mwem = registry.configured(registry.get("mwem_pgm"), {**preset, "max_size_mb": 4096.0})
    card = replace(mwem.card, title=mwem.card.title.replace("PGM", "relaxed projection"))
    return replace(mwem, fit=_relaxed, card=card)


def points(options: argparse.Namespace) -> Iterator[record.Point]:
    chosen = (options.tables, options.workloads, options.epsilons, options.mechanisms, options.capacities)
    yield from (asdict(Point(*one)) for one in product(*chosen))


def measure(point: Point) -> dict[str, Any]:
    """One run with fresh noise. sample: of the people, as many as err as much where they are drawn at random."""
    question = _question(point.table, point.workload)
    source, workload, mechanism = question.source, question.workload, point.configured
    accountant = mechanism.card.accountant
    rho = accountant.rho_from(point.epsilon, DELTA)
    forecast = mechanism.forecast(workload, rho)
    if not forecast.fits:
        return {"refused": forecast.reason}
    begun, clock = time.process_time(), time.monotonic()
    steps = list(mechanism.steps(PrivacyKernel(source, Unit(), rho, OpenDPNoise(), accountant=accountant), workload))
    finished = steps[-1]
    assert isinstance(finished, Finished)
    answers = question.answers(finished, mechanism.card.makes_rows)
    error = workload_error(workload, question.true, answers, question.people)
    found: dict[str, Any] = {
        "error": error,
        "cpu_seconds": round(time.process_time() - begun, 2),
        "seconds": round(time.monotonic() - clock, 2),
    }
    if point.mechanism in WITH_BOUNDS and point.epsilon == BOUNDED_AT and point.workload == "all-3way":
        of_columns = (step.measurement for step in steps if isinstance(step, Measured))
        names = set(question.source.domain.names)  # without tables of groups of values, which bound none of these
        found["bounds"] = _bounds(question, finished, [one for one in of_columns if names.issuperset(one.clique)])
    return found | {"sample": question.sample(error)}


@dataclass(frozen=True, eq=False)
class Question:
    """true: counts of the workload's closure."""

    source: CodesSource
    workload: Workload
    true: Marginals

    @cached_property
    def people(self) -> int:
        return int(self.true[self.workload.cliques[0]].sum())

    def answers(self, finished: Finished, makes_rows: bool) -> Marginals:
        """Of rows, to all of the closure, scaled to the people that there are."""
        if not makes_rows:
            return {clique: finished.model.marginal(clique) for clique in self.workload.cliques}
        codes = finished.model.rows(round(finished.total), self.workload.weights, np.random.default_rng())  # type: ignore[attr-defined]
        return scaled(row_marginals(self.source.domain, codes, tuple(self.true)), self.people)

    def sample(self, error: float) -> float:
        """The share of the people of whom a sample with replacement is expected to err so much: at most 1, and at least the least that is
        looked at. In between by straight lines of the logarithms."""
        return round(float(np.exp(np.interp(-math.log(error), -np.log(self._sample_errors), np.log(_SAMPLES)))), 4)

    @cached_property
    def _sample_errors(self) -> NDArray[np.float64]:
        """By share: Theorem 1 of appendix C."""
        sizes = np.maximum(1, np.rint(_SAMPLES * self.people))
        expected = [[_deviation(self.true[clique] / self.people, size) for clique in self.workload.cliques] for size in sizes]
        return np.average(expected, axis=1, weights=list(self.workload.weights.values()))


def _deviation(shares: NDArray[np.float64], size: float) -> float:
    """The expected L1 distance of a marginal to that of so many people drawn with replacement."""
    mu = shares[(shares > 0) & (shares < 1)]
    s = np.ceil(size * mu)
    log_choose = gammaln(size + 1) - gammaln(s + 1) - gammaln(size - s + 1)
    return float(2 / size * (s * np.exp(log_choose + s * np.log(mu) + (size - s + 1) * np.log1p(-mu))).sum())


def _bounds(question: Question, finished: Finished, measurements: Sequence[Measurement]) -> dict[str, dict[str, list[float]]]:
    """By support: errors, the paper's bounds and the tight ones of all marginals of the closure, as shares of people."""
    codes = finished.model.rows(round(finished.total), question.workload.weights, np.random.default_rng())  # type: ignore[attr-defined]
    rows = row_marginals(question.source.domain, codes, tuple(question.true))
    errors = marginal_errors(question.true, rows)
    total = known_total(measurements, None)
    assert total is not None
    published = {clique: table / len(codes) for clique, table in rows.items()}
    stated = bounds(question.source.domain, published, total, measurements, finished.selections, finished.considered)
    found: dict[str, dict[str, list[float]]] = {}
    for clique, bound in stated.items():
        if bound.support != UNBOUNDED:
            of = found.setdefault(bound.support, {"error": [], "paper": [], "tight": []})
            for name, value in (("error", errors[clique]), ("paper", bound.paper), ("tight", bound.tight)):
                of[name].append(round(value, 5))
    return found


def _relaxed(
    kernel: Kernel, measurements: Sequence[Measurement], before: Any, _stopping: Stopping, counted: Sequence[Measurement]
) -> _Relaxed:
    """Relaxed projection of what was measured (Aydore et al. 2021, Algorithm 1), from where the table was before."""
    space, total = OneHot(kernel.domain), total_from(kernel, [*counted, *measurements])
    start = before.columns if isinstance(before, _Relaxed) else space.random(_RELAXED_ROWS, np.random.default_rng(kernel.seed()))
    parts = [MarginalLoss([space.blocks(m.clique)], [m.values / total], (total / m.deviation) ** 2) for m in measurements]
    *_, fit = project(space, start, Sum(parts), Descent())
    return _Relaxed(kernel.domain, space.sparsemax(fit.free), total)


class _Relaxed(RelaxedTable):
    def marginals(self, cliques: Iterable[Clique]) -> dict[Clique, NDArray[np.float64]]:
        return {clique: self.marginal(clique) for clique in cliques}


@lru_cache(maxsize=1)
def _question(table: str, name: str) -> Question:
    source = TABLES[table].read(ADULT_FOLDER)
    domain = source.domain
    if name == "target":
        workload = target(domain, TARGETS.get(table, domain.names[-1]), COLUMNS)
    else:
        workload = all_kway(domain, COLUMNS) if name == "all-3way" else drawn(domain, SKEWED)
    return Question(source, workload, source.counts(workload.closure()))


def _with_zeros(folder: Path) -> CodesSource:
    """The few people of Adult; of each education only its own number is possible, as all of Adult shows."""
    few, everybody = SHAPES["few"].read(folder), SHAPES["adult"].read(folder)
    possible = everybody.counts([_PAIR])[_PAIR] > 0
    boxes = tuple(((code,), tuple(map(int, np.flatnonzero(~row)))) for code, row in enumerate(possible))
    domain = replace(few.domain, impossible=(StructuralZeros(_PAIR, boxes),))
    return CodesSource(domain, few.sample(FEW_ROWS))


TABLES = {**SHAPES, "few-zeros": Shape("2,000 people of Adult, with structural zeros", 2, _with_zeros)}


def lines(kept: Mapping[str, Any]) -> Iterator[str]:
    """The means as tables."""
    frame = figures.runs(kept)
    yield (
        f"{figures.days(kept)}, delta {DELTA:g}. Workload error (Definition 2 of the AIM paper): mean over runs (their number), processor "
        "seconds."
    )
    for setting, part in frame.groupby(["table", "workload", "max_size_mb"]):
        yield from ("", *_table(setting, part))
    yield from ("", "## Our defaults beside what is published", "", *gains(frame[frame["max_size_mb"] == 0]))


def _table(setting: Any, frame: pd.DataFrame) -> Iterator[str]:
    table, workload, capacity = setting
    epsilons, rows = sorted(set(frame["epsilon"])), []
    for name, own in frame.groupby("mechanism", sort=False):
        card = named(str(name)).card
        cells = [_cell(own[own["epsilon"] == epsilon]) for epsilon in epsilons]
        rows.append([f"{card.title}{'' if card.makes_rows else ' (answers)'}", *cells])
    heads = ("mechanism", *(f"epsilon {epsilon:g}" for epsilon in epsilons))
    size = f", {capacity:g} MB" if capacity else ""
    yield from (f"## {table}, {workload}{size}: {TABLES[str(table)].about}", "", *record.table(heads, rows))


def _cell(runs: pd.DataFrame) -> str:
    if runs.empty:
        return ""
    measured = runs.dropna(subset=["error"])
    if measured.empty:
        return "refused"
    return f"{measured['error'].mean():.4f} ({len(measured)}), {measured['cpu_seconds'].mean():.0f} s"


def gains(frame: pd.DataFrame) -> Iterator[str]:
    """For each mechanism that was measured both ways, the error of its default as a multiple of the published one's."""
    measured = frame.dropna(subset=["error"]).assign(printed=frame["mechanism"].str.endswith(AS_PUBLISHED))
    measured["mechanism"] = measured["mechanism"].str.removesuffix(AS_PUBLISHED)
    setting = ["mechanism", "table", "workload", "epsilon"]
    means = measured.groupby([*setting, "printed"])["error"].mean().unstack("printed")
    if len(means.columns) < 2:
        yield "- No mechanism was measured both ways."
        return
    for name, both in means.dropna().groupby("mechanism"):
        ratios = both[False] / both[True]
        better = f"lower in {int((ratios < 1).sum())} of {len(ratios)} settings"
        settings = ratios.reset_index(name="ratio").to_dict("records")
        places = ", ".join(f"{one['table']} {one['workload']} {one['epsilon']:g}: {one['ratio']:.2f}" for one in settings)
        yield f"- {named(str(name)).card.title}: {ratios.mean():.2f} times the error on average, {better} ({places})."


_DEFAULTS = {
    **{"tables": ["adult", "titanic"], "workloads": ["all-3way"], "epsilons": list(EPSILONS), "mechanisms": list(MECHANISMS)},
    **{"capacities": [0.0], "runs": 5},
}
_AMONG = {"tables": TABLES, "workloads": WORKLOADS, "mechanisms": (*MECHANISMS, *PUBLISHED, RELAXED, RELAXED + AS_PUBLISHED)}
PROGRAM = record.Program("aim_figures", __doc__, points, lambda point: measure(Point(**point)), lines, _DEFAULTS, _AMONG)
main = PROGRAM.main
