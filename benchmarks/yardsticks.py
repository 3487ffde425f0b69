"""How often do the intervals of yardsticks hold, and does the sample that is said to be as close err as much?

Makes releases of invented and public people with a certificate, each with noise of its own seed, and compares what they say with the true
tables: the mean of 1 - TVD, and the share of the people whose random sample, drawn without replacement, errs as much. The level is the
error of such a sample from the true tables over that from the rows' tables. Its range is not proved: this program measures how often it
holds. True errors are computed: the tables are public or invented.

The rows of a release may be certified several times: the first certificate is the release's own, further ones have normal noise of the same
size around the true distances. Shares of intervals that held are of all certificates.

    python -m benchmarks yardsticks --worlds skewed titanic --mechanisms aim --epsilons 1 --runs 40 --certificates 5
    python -m benchmarks yardsticks --worlds few values --mechanisms aim independent mst --epsilons 0.1 1 --runs 10
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import invented, record
from benchmarks.shapes import SHAPES
from benchmarks.table import ADULT_FOLDER, released, spec
from dpsynth_core.claims.certificate import Certificate
from dpsynth_core.extensions.evidence import yardsticks
from dpsynth_core.extensions.evidence.samples import Cells, error_of_sample, share_as_good
from dpsynth_core.planning.plan import Plan
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.statistics.distances import marginal_errors
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

NAME = "yardsticks"
_SKEWED = invented.Invented("skewed", 500, (12, 8, 6, 5, 4, 3))
_OTHERS = (
    invented.Invented("loose", 5_000, (16, 16, 10, 5, 4, 3, 2, 2), strength=0.4, seed=7),
    invented.Invented("seven", 2_000, (20, 12, 8, 6, 3, 2, 2), seed=5),
    invented.Invented("tight", 800, (30, 6, 6, 4, 2), strength=0.9, seed=6),
    *(  # listed before anything of them was seen, and run once the estimate stood
        invented.Invented("fresh-1000", 1_000, (10, 8, 6, 5, 4, 3), strength=0.7, seed=101),
        invented.Invented("fresh-3000", 3_000, (15, 10, 8, 5, 4, 3, 2), strength=0.7, seed=102),
        invented.Invented("fresh-8000", 8_000, (20, 10, 8, 6, 4, 3, 2, 2), strength=0.5, seed=103),
        invented.Invented("fresh-1500", 1_500, (25, 8, 5, 4, 3, 2), strength=0.9, seed=104),
    ),
)
_FEW = 4_000


def _invented(table: invented.Invented) -> CodesSource:
    return CodesSource(_domain(table), invented.codes(table))


WORLDS: dict[str, Callable[[], CodesSource]] = {
    "skewed": lambda: _invented(_SKEWED),
    "demo-4000": lambda: _first(SHAPES["demo"].read(ADULT_FOLDER), _FEW),
    "adult-3000": lambda: _first(SHAPES["adult"].read(ADULT_FOLDER), 3_000),
    "adult-10000": lambda: _first(SHAPES["adult"].read(ADULT_FOLDER), 10_000),
    **{one.name: partial(_invented, one) for one in _OTHERS},
    **{name: partial(SHAPES[name].read, ADULT_FOLDER) for name in ("titanic", "few", "demo", "adult", "values", "binary")},
}


def main(arguments: Sequence[str] | None = None) -> None:
    defaults: dict[str, Any] = {"worlds": ["skewed"], "mechanisms": ["aim"], "epsilons": [1.0], "runs": 40, "certificates": 5}
    options = record.parser(__doc__, {"worlds": WORLDS}, **defaults).parse_args(arguments)
    place = options.results / NAME
    for world in options.worlds:
        source = WORLDS[world]()
        for mechanism in options.mechanisms:
            for epsilon in options.epsilons:
                point = {"world": world, "mechanism": mechanism, "epsilon": epsilon}
                made = [one for one in record.earlier(place) if point.items() <= one.items()]
                for seed in range(len(made), options.runs):
                    run = {**point, "seed": seed, **_short(measured(source, mechanism, epsilon, seed, options.certificates))}
                    print(run, file=sys.stderr, flush=True)
                    record.keep(place, [*record.earlier(place), run], [])
    runs = record.earlier(place)
    record.write(place, runs, record.table(_HEAD, _rows(runs)))


def measured(source: CodesSource, mechanism: str, epsilon: float, seed: int, certificates: int) -> dict[str, Any]:
    """Make a release with this seed; return what it says and what is true. Its tables are all single columns and all pairs."""
    names = source.domain.names
    tables = [[name] for name in names] + [[a, b] for place, a in enumerate(names) for b in names[place + 1 :]]
    asked: dict[str, Any] = {"workload": {"kind": "marginals", "marginals": [{"attributes": one} for one in tables]}}
    budget = {"epsilon": epsilon, "certificate": 0.05}
    release = released(Plan.of(spec({"kind": "demo"}, source.domain, mechanism, budget, output={"seed": seed}, **asked)), source)
    if (certificate := release.certificate) is None or yardsticks.yardsticks(release) is None:
        return {"says": False}
    published, true = release.final.tables, source.counts(list(release.final.tables))
    shares = [published[one.attributes] for one in certificate.marginals]
    people, errors = int(next(iter(true.values())).sum()), marginal_errors(true, published)
    exact, rows = Cells.of([true[r] / people for r in published], people), Cells.of(shares, people)
    share = share_as_good(exact, statistics.fmean(errors.values()))
    size = min(max(1, round(share * people)), people - 1)
    return {
        "says": True,
        "people": people,
        "error": statistics.fmean(errors.values()),
        "level": error_of_sample(exact, size) / error_of_sample(rows, size),
        "share": share,
        "scores": [1 - statistics.fmean(off for clique, off in errors.items() if len(clique) == size) for size in (1, 2)],
        "certificates": [_stated(one, shares) for one in (certificate, *again(certificate, true, published, certificates - 1, seed))],
    }


def again(
    certificate: Certificate, true: Mapping[Clique, NDArray[Any]], published: Mapping[Clique, NDArray[np.float64]], times: int, seed: int
) -> Iterator[Certificate]:
    """Certificates of the same rows with other noise; of their numbers, only the errors of tables are new."""
    draw, total = np.random.default_rng((seed, 55)), certificate.total.value
    exact = [float(np.abs(true[r] - total * published[r]).sum()) for r in (one.attributes for one in certificate.marginals)]
    for _ in range(times):
        noisy = (np.array(exact) + draw.normal(0, certificate.sigma, len(exact))) / (2 * total)
        marginals = tuple(replace(one, error=float(error)) for one, error in zip(certificate.marginals, noisy, strict=True))
        yield replace(certificate, marginals=marginals)


def _stated(certificate: Certificate, shares: Sequence[NDArray[np.float64]]) -> dict[str, Any]:
    stated = yardsticks.from_certificate(certificate, shares)
    error, empty = yardsticks.mean_error(certificate, certificate.marginals), yardsticks.empty_share(shares, round(certificate.total.value))
    by = yardsticks.level(error, empty)
    return {"scores": [vars(one.closeness) for one in stated.scores], "sample": vars(stated.sample), "level": vars(by)}


def _domain(table: invented.Invented) -> Domain:
    return Domain.from_json(dict(zip(table.names, table.sizes, strict=True)))


def _first(source: CodesSource, rows: int) -> CodesSource:
    return CodesSource(source.domain, source.sample(rows))


def _short(value: Any) -> Any:
    """The same with numbers of few digits."""
    if isinstance(value, Mapping):
        return {name: _short(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_short(one) for one in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _held(true: float, stated: Mapping[str, float]) -> bool:
    return stated["low"] <= true <= stated["high"]


_HEAD = (
    *("table, people", "mechanism", "epsilon", "releases × certificates", "score held, single columns; pairs", "half width", "true share"),
    *("stated / true", "low to high", "share held", "level", "level in range"),
)


def _rows(runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Each point as a line: shares held in per cent, else medians; of the level the least and the largest."""
    points = defaultdict[tuple[str, str, float], list[Mapping[str, Any]]](list)
    for run in runs:
        points[run["world"], run["mechanism"], run["epsilon"]].append(run)
    for (world, mechanism, epsilon), every in points.items():
        each = [(run, stated) for run in every if run["says"] for stated in run["certificates"]]
        if not each:
            yield (world, mechanism, f"{epsilon:g}", len(every), *("says nothing", *[""] * 7))
            continue
        samples = [stated["sample"] for _, stated in each]
        low, high = (statistics.median(one[end] for one in samples) for end in ("low", "high"))
        true = statistics.median(run["share"] for run, _ in each)
        made = [run for run in every if run["says"]]
        yield (
            f"{world}, {made[0]['people']:,}",
            mechanism,
            f"{epsilon:g}",
            f"{len(made)} × {len(each) // len(made)}",
            "; ".join(f"{np.mean([_held(run['scores'][k], stated['scores'][k]) for run, stated in each]):.1%}" for k in range(2)),
            f"{statistics.median((stated['scores'][1]['high'] - stated['scores'][1]['low']) / 2 for _, stated in each):.2%}",
            f"{true:.1%}",
            f"{statistics.median(stated['sample']['estimate'] / run['share'] for run, stated in each):.2f}",
            f"{low:.1%} to {high:.1%}",
            f"{np.mean([_held(run['share'], stated['sample']) for run, stated in each]):.1%}",
            f"{min(run['level'] for run in made):.3f} to {max(run['level'] for run in made):.3f}",
            f"{np.mean([_held(run['level'], stated['level']) for run, stated in each]):.1%}",
        )
