"""Are tables that a release names what they are called? Counts the wrong ones among those named, and what bounds cover there.

Where single tables are beyond reach releases state instead how far off 80 % of a group of tables are (`claims.ranks`): how often that is
within 10, 15 and 20 %, how often they say so, and how often wrongly. Beside it: what the errors of single tables would say of the same, if
the whole budget for both measured them.

Releases of AIM, MST and Independent with fresh noise: Titanic as the file suggests (1,306 people), 100, 3,000 and 48,000 people of Adult's
first eight columns. Beside the rule of today stands CLs alone, the rule before. Looks at true counts without noise: for public tables only.

    python -m benchmarks naming --runs 200
    python -m benchmarks naming --runs 200 --tables titanic --mechanisms aim --epsilon 2
"""

from __future__ import annotations

import math
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import record
from benchmarks.table import ADULT_FOLDER, errors, file_section, released, spec, titanic
from dpsynth_core.claims import ranks
from dpsynth_core.claims.certificate import CONFIDENCE, Certificate, table_bounds
from dpsynth_core.cli.release_commands import parse_workload
from dpsynth_core.evaluation import naming
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import synthesis
from dpsynth_core.statistics.distances import IN_WRONG_CELL, possible
from dpsynth_core.statistics.naming import surely_below
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

TABLES = {"titanic": 1306, "few": 3000, "many": 48_000, "hundred": 100}
COLUMNS = 8
LIMITS = (0.1, 0.15, 0.2)
_POINT = ("table", "mechanism", "epsilon")


def main(arguments: Sequence[str] | None = None) -> None:
    mechanisms = ("aim", "mst", "independent")
    parser = record.parser(
        __doc__, {"tables": TABLES, "mechanisms": mechanisms}, tables=tuple(TABLES), mechanisms=mechanisms, epsilon=1.0, runs=200
    )
    options = parser.parse_args(arguments)
    place = options.results / "naming"
    points = [{"table": t, "mechanism": m, "epsilon": options.epsilon} for t in options.tables for m in options.mechanisms]
    with tempfile.TemporaryDirectory() as folder:
        plans = {(t, m): _plan(t, m, options.epsilon, Path(folder)) for t in options.tables for m in options.mechanisms}
        kept = record.opened(place)
        record.fill(kept, points, options.runs, lambda point: _run(plans[point["table"], point["mechanism"]]), _lines, place)


def _plan(table: str, mechanism: str, epsilon: float, folder: Path) -> Plan:
    if table == "titanic":
        data, domain = ADULT_FOLDER / "titanic.csv", titanic()
    else:
        data = folder / f"{table}.csv"
        some = pd.read_csv(ADULT_FOLDER / "adult-binned.csv").sample(TABLES[table], random_state=1)
        some.iloc[:, :COLUMNS].to_csv(data, index=False)
        domain = Domain(tuple(load_domain(ADULT_FOLDER / "adult-binned-domain.json"))[:COLUMNS])
    workload = parse_workload("all-2way", domain).to_json()
    budget = {"epsilon": epsilon, "delta": 1e-9, "certificate": 0.05}
    return synthesis.plan(spec(file_section(data), domain, mechanism, budget, domain_origin="public", workload=workload))


def _run(plan: Plan) -> dict[str, Any]:
    """Numbers of tables: truly good, named good or poor, how many of these wrongly, and bounds below the error among the good and all. How
    far off what was measured is, and the best estimates, squared and summed."""
    source = synthesis.open_source(plan)
    truth = source.counts(plan.workload.cliques)
    release = released(plan, source)
    assert release.certificate is not None
    true = errors(release, truth)
    spans = naming.spans(true, release.certificate, release.bounds)
    named = naming.named(spans)
    stated, alone = {one.attributes: one for one in release.certificate.marginals}, table_bounds(release.certificate, CONFIDENCE)
    chosen = [] if release.certificate.says_nothing else [r for r in true if alone[r] <= named.limit]
    return {
        "tables": len(true),
        "truly_good": sum(error <= named.limit for error in true.values()),
        "noise": release.certificate.deviation,
        "error": statistics.fmean(true.values()),
        "good": len(named.good),
        "good_wrong": sum(true[r] > named.limit for r in named.good),
        "good_bound_fails": sum(true[r] > spans[r][1] for r in named.good),
        "poor": len(named.poor),
        "poor_wrong": sum(true[r] <= named.limit for r in named.poor),
        "bound_fails": sum(true[r] > spans[r][1] for r in true),
        "alone": len(chosen),
        "alone_wrong": sum(true[r] > named.limit for r in chosen),
        "alone_bound_fails": sum(true[r] > alone[r] for r in chosen),
        "measured_off": math.fsum((possible(stated[r].error) - error) ** 2 for r, error in true.items()),
        **_groups(true, release.certificate),
        "likely_off": math.fsum((stated[r].likely - error) ** 2 for r, error in true.items()),
    }


def _groups(true: Mapping[Clique, float], stated: Certificate) -> dict[str, int]:
    """Numbers of groups: all, whose bound fails, and for each limit truly within it, said to be, wrongly; by single errors, wrongly."""
    counted: Counter[str] = Counter(groups=len(stated.most))
    sigma, total = stated.sigma * math.sqrt(1 - ranks.RANKED), stated.total
    share, failure = IN_WRONG_CELL / total.value, 1 - CONFIDENCE
    drawn = np.array(list(true.values())) / share + sigma * np.random.default_rng().standard_normal(len(true))
    single = dict(zip(true, (share * surely_below(drawn, sigma, total.sigma, failure)).tolist(), strict=True))
    for one in stated.most:
        error, today = (ranks.at_ranks([one.group], numbers)[one.group] for numbers in (true, single))
        counted["group_bound_fails"] += error > one.bound95
        for limit in LIMITS:
            counted[f"within_{limit}"] += error <= limit
            counted[f"said_{limit}"] += one.bound95 <= limit
            counted[f"said_wrong_{limit}"] += one.bound95 <= limit < error
            counted[f"single_{limit}"] += today <= limit
            counted[f"single_wrong_{limit}"] += today <= limit < error
    return dict(counted)


def _lines(kept: Mapping[str, Any]) -> Iterator[str]:
    runs = kept["runs"]
    yield (
        "Tables that releases name, limit 10 % of the people in a wrong cell. *Alone*: by CLs alone, the rule before. "
        "*Off*: root of the mean squared difference from the true error, of what was measured and of the best estimate."
    )
    yield ""
    about = ("named good", "of these wrong", "bound fails there")
    heads = (*_POINT, "releases", "noise", "truly good", *about, "named poor", "of these wrong", "bound fails in all")
    rows = []
    for point in dict.fromkeys(tuple(run[name] for name in _POINT) for run in runs):
        some = [run for run in runs if tuple(run[name] for name in _POINT) == point]
        total = {name: sum(run[name] for run in some) for name in some[0] if isinstance(some[0][name], int)}
        noise, every = statistics.fmean(run["noise"] for run in some), total["tables"]
        cells = (
            *(*point, f"{len(some):,}", f"{noise:.1%}"),
            *(_share(total["truly_good"], every), _share(total["good"], every)),
            *(_share(total["good_wrong"], total["good"]), _share(total["good_bound_fails"], total["good"])),
            *(_share(total["poor"], every), _share(total["poor_wrong"], total["poor"]), _share(total["bound_fails"], every)),
            *(_share(total["alone"], every), _share(total["alone_wrong"], total["alone"])),
            _share(total["alone_bound_fails"], total["alone"]),
            *(f"{math.sqrt(math.fsum(run[name] for run in some) / every):.1%}" for name in ("measured_off", "likely_off")),
        )
        rows.append(cells)
    yield from record.table((*heads, *(f"alone: {words}" for words in about), "measured off", "best estimate off"), rows)
    yield ""
    yield "Groups of tables of which 80 % are measured together."
    yield ""
    yield from _of_groups([run for run in runs if run["groups"]])


def _of_groups(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    heads = (*_POINT, "limit", "groups", "bound fails", "truly within", "said", "of these wrong")
    rows = []
    for point in dict.fromkeys(tuple(run[name] for name in _POINT) for run in runs):
        some = [run for run in runs if tuple(run[name] for name in _POINT) == point]
        total = Counter[str]()
        for run in some:
            total.update({name: number for name, number in run.items() if isinstance(number, int)})
        for limit in LIMITS:
            said, single = (f"{total[f'{how}_{limit}']:,}" for how in ("said", "single"))
            numbers = total["groups"], total["group_bound_fails"], total[f"within_{limit}"], said, total[f"said_wrong_{limit}"], single
            rows.append((*point, f"{limit:.0%}", *numbers, total[f"single_wrong_{limit}"]))
    yield from record.table((*heads, "by single errors", "of these wrong"), rows)


def _share(some: int, of: int) -> str:
    return f"{some:,} of {of:,} ({some / of:.1%})" if of else "none"
