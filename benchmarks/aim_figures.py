"""Figures 1 and 2 of the AIM paper (McKenna et al. 2022) on our own tool: workload error against epsilon, all mechanisms, on the workloads
all-3way, target and skewed; delta = 1e-9.

    python -m benchmarks.aim_figures --tables adult --epsilons 0.1 1 10 --mechanisms aim mst independent hdmm privsyn --runs 1
    python -m benchmarks.aim_figures --tables titanic binary --workloads all-3way target --runs 5
    python -m benchmarks.aim_figures --tables titanic demo --mechanisms aim aim@paper mst mst@paper     # as published, beside our defaults

Errors are those of Definition 2: of the rows, or of the answers of mechanisms that write none; without certificate, with fresh noise.
What a mechanism refuses is recorded as refused. What is in the record is not measured again, so it can be run in slices. Of the paper's
tables, Adult and Titanic are here; Salary, MSNBC, Fire and NLTCS are not, and invented tables of other shapes stand beside them. It looks
at true counts: right for a public table, and for nothing else.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import figures, record
from benchmarks.shapes import SHAPES, rows_error
from benchmarks.table import ADULT_FOLDER
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.mechanisms.steps import Finished
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.statistics.distances import Marginals, workload_error
from dpsynth_core.vocabulary.drawn_marginals import PAPER_DRAWS, Draw
from dpsynth_core.vocabulary.drawn_marginals import SKEWED as SKEWED_KIND
from dpsynth_core.vocabulary.workload import Workload, all_kway, drawn, target

NAME = "aim_figures"
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
PUBLISHED = tuple(name + AS_PUBLISHED for name in MECHANISMS if name in registry.PUBLISHED)
EPSILONS = (0.01, 0.1, 1.0, 10.0, 100.0)
PRINTED = {"mst": 8.4, "mwem_pgm": 2.1, "privbayes": 2.6, "rap": 9.5, "gem": 2.3}
"""By how much AIM errs less than others on average, says section 6.2 (all-3way, six tables, nine epsilons)."""
AWARE = ("mwem_pgm", "gem", "rap")
LARGE_ENOUGH = 1.0
BEST_SHARE = 0.85


@dataclass(frozen=True)
class Point:
    """workload: one of WORKLOADS."""

    table: str
    workload: str
    epsilon: float
    mechanism: str

    @property
    def configured(self) -> Mechanism:
        return named(self.mechanism)


def named(name: str) -> Mechanism:
    """A mechanism with its defaults; as published where the name ends so."""
    plain = name.removesuffix(AS_PUBLISHED)
    return registry.configured(registry.get(plain), {registry.PRESET: registry.PAPER} if plain != name else {})


def main(arguments: Sequence[str] | None = None) -> None:
    options = record.parser(
        __doc__,
        {"tables": SHAPES, "workloads": WORKLOADS, "mechanisms": (*MECHANISMS, *PUBLISHED)},
        tables=["adult", "titanic"],
        workloads=["all-3way"],
        epsilons=list(EPSILONS),
        mechanisms=list(MECHANISMS),
        runs=5,
    ).parse_args(arguments)
    asked = [asdict(point) for point in points(options)]
    place = options.results / NAME
    record.fill(record.opened(place), asked, options.runs, lambda point: measure(Point(**point)), write, place)


def points(options: argparse.Namespace) -> Iterator[Point]:
    for table in options.tables:
        for workload in options.workloads:
            yield from (Point(table, workload, epsilon, name) for epsilon in options.epsilons for name in options.mechanisms)


def measure(point: Point) -> dict[str, Any]:
    """One run with fresh noise."""
    source, workload, true = _question(point.table, point.workload)
    mechanism = point.configured
    accountant = mechanism.card.accountant
    rho = accountant.rho_from(point.epsilon, DELTA)
    forecast = mechanism.forecast(workload, rho)
    if not forecast.fits:
        return {"refused": forecast.reason}
    begun, clock = time.process_time(), time.monotonic()
    *_, finished = mechanism.steps(PrivacyKernel(source, Unit(), rho, OpenDPNoise(), accountant=accountant), workload)
    assert isinstance(finished, Finished)
    error = _error(source, workload, true, finished, mechanism.card.makes_rows)
    return {"error": error, "cpu_seconds": round(time.process_time() - begun, 2), "seconds": round(time.monotonic() - clock, 2)}


def _error(source: CodesSource, workload: Workload, true: Marginals, finished: Finished, makes_rows: bool) -> float:
    if makes_rows:
        return rows_error(source, workload, true, finished, np.random.default_rng())
    answers = {clique: finished.model.marginal(clique) for clique in workload.cliques}
    return workload_error(workload, true, answers, int(true[workload.cliques[0]].sum()))


@lru_cache(maxsize=1)
def _question(table: str, name: str) -> tuple[CodesSource, Workload, Marginals]:
    source = SHAPES[table].read(ADULT_FOLDER)
    domain = source.domain
    if name == "target":
        workload = target(domain, TARGETS.get(table, domain.names[-1]), COLUMNS)
    else:
        workload = all_kway(domain, COLUMNS) if name == "all-3way" else drawn(domain, SKEWED)
    return source, workload, source.counts(workload.cliques)


def write(kept: Mapping[str, Any], place: Path) -> None:
    """The means as tables, and what they say about the paper's claims."""
    frame = pd.DataFrame(kept["runs"])
    for column in ("error", "cpu_seconds", "refused"):
        frame[column] = frame.get(column, np.nan)
    printed = frame["mechanism"].str.endswith(AS_PUBLISHED)
    plain = frame.assign(mechanism=frame["mechanism"].str.removesuffix(AS_PUBLISHED))
    text = [
        f"{figures.days(kept)}, delta {DELTA:g}. Workload error (Definition 2 of the AIM paper): mean over runs (their number), processor "
        "seconds.",
        *(line for (table, workload), part in frame.groupby(["table", "workload"]) for line in ("", *_table(table, workload, part))),
        *("", "## The paper's claims, with our defaults", "", *claims(frame[~printed])),
        *("", "## The paper's claims, all mechanisms as published", "", *claims(plain[printed])),
        *("", "## Our defaults beside what is published", "", *gains(frame, printed)),
    ]
    place.with_suffix(".md").write_text("\n".join(text) + "\n", encoding="utf-8")


def _table(table: Any, workload: Any, frame: pd.DataFrame) -> Iterator[str]:
    epsilons, rows = sorted(set(frame["epsilon"])), []
    for name, own in frame.groupby("mechanism", sort=False):
        card = named(str(name)).card
        cells = [_cell(own[own["epsilon"] == epsilon]) for epsilon in epsilons]
        rows.append([f"{card.title}{'' if card.makes_rows else ' (answers)'}", *cells])
    heads = ("mechanism", *(f"epsilon {epsilon:g}" for epsilon in epsilons))
    yield from (f"## {table}, {workload}: {SHAPES[str(table)].about}", "", *record.table(heads, rows))


def _cell(runs: pd.DataFrame) -> str:
    if runs.empty:
        return ""
    measured = runs.dropna(subset=["error"])
    if measured.empty:
        return "refused"
    return f"{measured['error'].mean():.4f} ({len(measured)}), {measured['cpu_seconds'].mean():.0f} s"


def claims(frame: pd.DataFrame) -> Iterator[str]:
    """Of the mechanisms that write rows. One line per claim, with what was measured, and whether it holds."""
    rows = frame.dropna(subset=["error"])
    rows = rows.loc[[registry.get(name).card.makes_rows for name in rows["mechanism"]]]  # of an empty table too
    means = rows.groupby(["table", "workload", "epsilon", "mechanism"])["error"].mean().unstack("mechanism")
    means = means[means["aim"].notna() & (means.notna().sum(axis=1) > 1)] if "aim" in means else means.head(0)
    if means.empty:
        yield "- AIM and another mechanism were not measured in the same setting."
        return
    best = means.idxmin(axis=1) == "aim"
    large = best[[epsilon >= LARGE_ENOUGH for epsilon in best.index.get_level_values("epsilon")]]
    yield _claim(f"AIM is best in {BEST_SHARE:.0%} of settings or more", best.mean() >= BEST_SHARE, _share(best))
    every = bool(len(large)) and bool(large.all())
    yield _claim(f"AIM is best in all settings with epsilon of {LARGE_ENOUGH:g} or more", every, _share(large))
    for name, times in PRINTED.items():
        if name in means:
            factors = (means[name] / means["aim"]).dropna().tolist()
            mean = statistics.fmean(factors) if factors else 0.0
            measured = f"{mean:.1f} on average, {min(factors):.2f} to {max(factors):.1f}" if factors else "not measured"
            measured += f"; the paper's mean over six tables and nine epsilons is {times:g} times"
            yield _claim(f"{registry.get(name).card.title} errs more than AIM on average", mean > 1, measured)
    for place in means.index[~best]:
        row, (table, workload, epsilon) = means.loc[place], place
        yield f"- Not AIM: {table}, {workload}, epsilon {epsilon:g}: {row.idxmin()} {row.min():.4f}, AIM {row['aim']:.4f}."
    aware = means.reindex(columns=list(AWARE)).dropna()
    if len(aware):
        shares = ", ".join(f"{registry.get(name).card.title} in {_share(aware.idxmin(axis=1) == name)}" for name in AWARE)
        yield f"- Best of those before AIM that know the workload: {shares}; the paper says 65 %, 35 % and 0 % of settings."


def gains(frame: pd.DataFrame, printed: pd.Series[bool]) -> Iterator[str]:
    """For each mechanism that was measured both ways, the error of its default as a multiple of the published one's."""
    measured = frame.dropna(subset=["error"]).assign(printed=printed)
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
        yield f"- {registry.get(str(name)).card.title}: {ratios.mean():.2f} times the error on average, {better} ({places})."


def _claim(words: str, holds: bool, measured: str) -> str:
    return f"- {words}: **{'holds' if holds else 'does not hold'}** here ({measured})."


def _share(best: pd.Series[bool]) -> str:
    return f"{int(best.sum())} of {len(best)}"


if __name__ == "__main__":
    main()
