"""What several synthetic tables from one measurement say about its errors: how often the usual combining rules hold.

Makes releases of a small invented table, each with fresh noise, and draws M tables of rows from each model. For shares and a mean of the
people in the table, 95 % intervals are computed around the mean of the M tables, by rules for synthetic data from the literature:

    spread       b / m                     what the M tables differ by, b their variance (t with m - 1 degrees of freedom)
    redrawn      v / m                     as if the tables were samples of the people: v the usual variance in one table
    RND16        v (k / n + 1 / m)         Raab, Nowok, Dibben (2016), for a population; k synthetic and n real records
    RRR03        (1 + 1 / m) b - v         Raghunathan, Reiter, Rubin (2003), v / m where that is negative

and the interval that the release itself gives from its noisy counts. The noise between the people and the measurement is common to all M
tables, so that no spread between them can show it.

    python -m benchmarks several_tables --mechanism independent
    python -m benchmarks several_tables --mechanism aim --releases 100
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from benchmarks import record
from benchmarks.questions import DOMAIN, PEOPLE, people
from benchmarks.table import spec
from dpsynth_core.evaluation.questions.answer import answer
from dpsynth_core.evaluation.questions.known import Known
from dpsynth_core.evaluation.questions.question import Question, cell_values
from dpsynth_core.mechanisms.steps import Finished, Measured, RowModel
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.release import synthesis
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.statistics.totals import Total

ASKED = (
    *(Question("share", {}, {name: (code,)}) for name in ("sex", "work", "region") for code in range(DOMAIN[name].size - 1)),
    Question("mean", column="age"),
)
RELEASE = "noisy counts of the release"
_NORMAL = statistics.NormalDist().inv_cdf(0.975)


def main(arguments: Sequence[str] | None = None) -> None:
    options = record.parser(__doc__, mechanism="independent", epsilon=1.0, releases=200, tables=5).parse_args(arguments)
    print(written(options, trials(options)))


def trials(options: argparse.Namespace) -> Mapping[str, list[bool]]:
    """By rule, whether each interval held."""
    codes = people()
    truth = Known(DOMAIN, codes, (), Total(float(PEOPLE), 0.0), {})
    true = [answer(truth, question).stated.value for question in ASKED]
    asked = {"domain_origin": "public", "unit": {"relation": "replace"}}
    plan = Plan.of(spec({"kind": "demo"}, DOMAIN, options.mechanism, {"epsilon": options.epsilon}, **asked))
    seen = defaultdict[str, list[bool]](list)
    rng = np.random.default_rng(20261122)
    for number in range(options.releases):
        print(f"release {number + 1}", file=sys.stderr, end="\r")
        for question, exact, halves in zip(ASKED, true, _released(plan, codes, options.tables, rng), strict=True):
            assert exact is not None, question
            for rule, (middle, half) in halves.items():
                seen[rule].append(abs(exact - middle) <= half + 1e-12)
    return seen


def _released(plan: Plan, codes: NDArray[np.int32], tables: int, rng: np.random.Generator) -> Iterator[dict[str, tuple[float, float]]]:
    """For each question, the middle and half of the width of each rule's interval in one release."""
    noise = synthesis.noise_for(plan.spec)
    kernel = PrivacyKernel(CodesSource(DOMAIN, codes), plan.unit, plan.shares.rho, noise, plan.shares.delta, plan.shares.accountant)
    *steps, finished = plan.mechanism.steps(kernel, plan.workload)
    measurements = [step.measurement for step in steps if isinstance(step, Measured)]
    model = cast(RowModel, cast(Finished, finished).model)
    drawn = [model.rows(PEOPLE, plan.workload.weights, rng) for _ in range(tables)]
    known = Known(DOMAIN, drawn[0], measurements, Total(float(PEOPLE), 0.0), {})
    for question in ASKED:
        stated = answer(known, question).stated
        assert stated.low is not None, "all columns are measured"
        assert stated.high is not None
        values = [_values(question, rows) for rows in drawn]
        yield rules(values) | {RELEASE: ((stated.low + stated.high) / 2, (stated.high - stated.low) / 2)}


def _values(question: Question, rows: NDArray[np.integer]) -> NDArray[np.float64]:
    """What the statistic is the mean of, one number a row."""
    if question.column:
        numbers = cell_values(DOMAIN[question.column])
        assert numbers is not None
        return numbers[rows[:, DOMAIN.position(question.column)]]
    ((name, (code,)),) = question.cells.items()
    return (rows[:, DOMAIN.position(name)] == code).astype(np.float64)


def rules(tables: Sequence[NDArray[np.float64]]) -> dict[str, tuple[float, float]]:
    """Middle and half of the width of each rule's 95 % interval for a mean. tables: its values in each, as many as there are people."""
    m, means = len(tables), [float(values.mean()) for values in tables]
    b = statistics.variance(means)
    v = statistics.fmean(float(values.var(ddof=1)) / len(values) for values in tables)
    rubin = (1 + 1 / m) * b - v
    variances = {
        "redrawn: v / m": v / m,
        "RND16: v (k / n + 1 / m)": v * (1 + 1 / m),
        "RRR03: (1 + 1 / m) b - v": rubin if rubin > 0 else v / m,
    }
    middle = statistics.fmean(means)
    halves = {rule: (middle, _NORMAL * math.sqrt(variance)) for rule, variance in variances.items()}
    return halves | {"spread: b / m": (middle, float(student.ppf(0.975, m - 1)) * math.sqrt(b / m))}


def written(options: argparse.Namespace, seen: Mapping[str, list[bool]]) -> str:
    """Keep the record; returns it as a table."""
    told = {rule: {"intervals": len(results), "coverage": statistics.fmean(results)} for rule, results in sorted(seen.items())}
    kept = {name: getattr(options, name) for name in ("mechanism", "epsilon", "releases", "tables")} | {"people": PEOPLE}
    kept |= {"rules": told, "versions": synthesis.versions()}
    record.write(options.results / f"several_tables_{options.mechanism}_eps{options.epsilon:g}", kept)
    rows = [(rule, f"{one['intervals']:,}", f"{one['coverage']:.1%}") for rule, one in told.items()]
    return "\n".join(record.table(("rule", "intervals", "hold"), rows))
