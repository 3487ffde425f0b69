"""How often is an attack on sound rows said to be more than epsilon allows, and how often are copied people found?

Divides invented and public people at random in each run, makes a release of two thirds of them, and attacks its rows beside the others.
Then a share of the rows is replaced by people of the table, as a broken program would do, and the rows are attacked again. A copy of the
table is attacked in each comparison. True records are looked at: the tables are public or invented.

    python -m benchmarks attacks --worlds skewed titanic --mechanisms independent mst --runs 50
    python -m benchmarks attacks --worlds demo --mechanisms independent aim --runs 20 --real 0.05
"""

from __future__ import annotations

import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks import record
from benchmarks.table import spec
from benchmarks.yardsticks import WORLDS
from dpsynth_core.extensions.attacks.comparing import Beside, compared
from dpsynth_core.extensions.attacks.measures import ATTACKS, People, Roles
from dpsynth_core.extensions.attacks.outcomes import ABOVE, ALLOWED, NOTHING, Count
from dpsynth_core.extensions.attacks.roles import proposed
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy import meaning
from dpsynth_core.release import synthesis
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain

NAME = "attacks"
MOST = 6_000
"""People of a world, of whom a third is left out."""
TITLES = [title for title, _ in ATTACKS]
OUTCOMES = (NOTHING, ALLOWED, ABOVE)
"""By their numbers in the record."""
SOUND, REAL, COPY = "sound", "some real rows", "copy"


def main(arguments: Sequence[str] | None = None) -> None:
    fixed: dict[str, Any] = {"worlds": ["skewed"], "mechanisms": ["independent"], "epsilon": 1.0, "runs": 20, "real": 0.05}
    options = record.parser(__doc__, {"worlds": WORLDS}, **fixed).parse_args(arguments)
    place = options.results / NAME
    runs = record.earlier(place)
    for world in options.worlds:
        source = WORLDS[world]()
        for mechanism in options.mechanisms:
            point = {"world": world, "mechanism": mechanism, "epsilon": options.epsilon, "real": options.real}
            for seed in range(sum(point.items() <= one.items() for one in runs), options.runs):
                runs.append({**point, "seed": seed, **attacked(source, mechanism, options.epsilon, options.real, seed)})
                print(runs[-1]["outcomes"], file=sys.stderr, flush=True)
                record.keep(place, runs, [])
    record.write(place, runs, record.table(_HEAD, _rows(runs)))


def attacked(source: CodesSource, mechanism: str, epsilon: float, real: float, seed: int) -> dict[str, Any]:
    """Make a release with this seed of two thirds of the people; return what attacks on its rows find, also with real rows among them."""
    draw = np.random.default_rng((seed, 55))
    codes = draw.permutation(source.sample(MOST))
    inside, outside = np.split(codes, [2 * len(codes) // 3])
    domain = source.domain
    plan = Plan.of(spec({"kind": "demo"}, domain, mechanism, {"epsilon": epsilon, "delta": 1e-6}, output={"seed": seed}))
    made = synthesis.synthesize(plan, CodesSource(domain, inside), synthesis.noise_for(plan.spec), lambda _: None)
    people = People(tuple(attribute.size for attribute in domain), inside, outside, np.asarray(made.codes))
    broken = people.rows.copy()
    some = round(real * len(broken))
    broken[draw.permutation(len(broken))[:some]] = draw.choice(inside, some)
    ceiling = partial(meaning.power, plan.shares.accountant, made.rho, slack=plan.shares.slack)
    sound, with_real = (compared(one, roles(domain), ceiling) for one in (people, replace(people, rows=broken)))
    outcomes = {
        SOUND: {one.attack: one.outcome for one in sound},
        REAL: {one.attack: one.outcome for one in with_real},
        COPY: {one.attack: one.of_copy for one in sound},
    }
    short = {kind: [None if (said := of.get(title)) is None else OUTCOMES.index(said) for title in TITLES] for kind, of in outcomes.items()}
    sizes = {one.attack: round(z(one), 2) for one in sound}
    return {"people": len(inside), "left_out": len(outside), "outcomes": short, "z": [sizes.get(title) for title in TITLES]}


def roles(domain: Domain) -> Roles:
    """The roles that are proposed for a domain."""
    keys, target = proposed(domain)
    return Roles(tuple(map(domain.position, keys)), domain.position(target))


def z(one: Beside) -> float:
    """The difference of the shares in its own standard errors, with one hit and one miss more in each group."""
    more = [Count(count.hits + 1, count.people + 2) for count in (one.inside, one.outside)]
    error = sum(count.share * (1 - count.share) / count.people for count in more) ** 0.5
    return float((one.inside.share - one.outside.share) / error)


def worst(outcomes: Sequence[int | None]) -> int:
    """The outcome of a comparison: that of the attack which found most."""
    return max(one for one in outcomes if one is not None)


_HEAD = (
    *(
        "people, left out",
        "mechanism",
        "epsilon",
        "attack",
        "runs",
        "sound: seen",
        "sound: more than allowed",
        "sound: mean z (largest size)",
    ),
    *("real rows: more than allowed", "copy: more than allowed"),
)


def _rows(runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[object, ...]]:
    """Each point as a line for each attack, and one for all attacks together."""
    points = defaultdict[tuple[str, str, float, float], list[Mapping[str, Any]]](list)
    for run in runs:
        points[run["world"], run["mechanism"], run["epsilon"], run["real"]].append(run)
    for (world, mechanism, epsilon, real), every in points.items():
        about = (f"{world}, {every[0]['people']:,}, {every[0]['left_out']:,}", mechanism, f"{epsilon:g}")
        for place, title in enumerate(TITLES):
            tried = [run for run in every if run["outcomes"][SOUND][place] is not None]
            of = {kind: [run["outcomes"][kind][place] for run in tried] for kind in (SOUND, REAL, COPY)}
            sizes = [run["z"][place] for run in tried]
            mean = f"{statistics.fmean(sizes):.1f} ({max(map(abs, sizes)):.1f})" if sizes else ""
            yield (*about, title, len(tried), *_counted(of, mean))
        of = {kind: [worst(run["outcomes"][kind]) for run in every] for kind in (SOUND, REAL, COPY)}
        yield (*about, f"**any of them**, {real:.0%} real", len(every), *_counted(of, ""))


def _counted(of: Mapping[str, Sequence[int | None]], sizes: str) -> tuple[object, ...]:
    allowed, above = map(OUTCOMES.index, (ALLOWED, ABOVE))
    numbers = {kind: outcomes.count(above) for kind, outcomes in of.items()}
    return (of[SOUND].count(allowed), numbers[SOUND], sizes, numbers[REAL], numbers[COPY])
