"""What it costs not to know a table's values: private discovery beside the codebook, many rare values, a secret of one person.

    python -m benchmarks discovery [--runs 5] [--data ../shared/data/adult.csv]

1. Adult's raw table and the demo's simulated people, AIM at epsilon 1, all pairs of columns: the error of the rows where every column is
   learnt for a tenth of the budget, beside the error where its values stand in a public codebook. Each in the cells of its own domain,
   which is the error that a release states and certifies; and each in the cells of the other, where a value that is not listed or a wider
   bin is an error too.
2. A column of 5,000 texts, Zipf: which of them become values.
3. A text that one person alone has, asked for ten thousand times with the noise of a real run.

The noise of the first two has a seed, so that runs can be compared. Looks at true counts: the table is public, the others are invented.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import record
from benchmarks.table import ADULT_FOLDER, released, spec
from dpsynth_core.mechanisms.discovery import learning
from dpsynth_core.mechanisms.discovery.learning import divided, shared_by
from dpsynth_core.planning.plan import DISCOVERY_DELTA
from dpsynth_core.planning.spec import DEFAULT_DISCOVERY
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Noise
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.demo import demo_domain, simulate
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.statistics.distances import scaled, workload_error
from dpsynth_core.vocabulary.attribute import FEWEST_LEARNT, Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.keys import PUBLIC
from dpsynth_core.vocabulary.workload import all_kway

DELTA = 1e-9
TITLES = {
    "codebook": "values from the codebook",
    "learnt": "all columns learnt",
    "codebook_in_learnt": "values from the codebook, counted in the cells that were learnt",
    "learnt_in_codebook": "all columns learnt, counted in the codebook's cells",
}
TABLES = {"adult": "Adult", "people": "Simulated people"}
SECRET = "known to one person alone"
AT_ONCE = 500
"""Secrets in one table, each of one person: setting up the noise of an answer takes longer than drawing it."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = record.parser(__doc__, {"tables": TABLES}, tables=list(TABLES), epsilon=1.0, runs=5, people=100_000, values=5000, tries=10_000)
    parser.add_argument("--data", type=Path, default=ADULT_FOLDER / "adult.csv", help="UCI Adult with a header (default: %(default)s)")
    options = parser.parse_args(arguments)
    kept: dict[str, Any] = {
        **{"epsilon": options.epsilon, "delta": DELTA, "discovery": DEFAULT_DISCOVERY, **record.machine()},
        **{"strings": strings(options.people, options.values, options.epsilon, seed=1), "secrets": secrets(options.tries, options.epsilon)},
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, (data, codebook) in tables(options.data, Path(folder), options.tables).items():
            kept[name] = list(pairs(data, codebook, options.epsilon, options.runs))
    record.write(options.results / "discovery", kept, _lines(kept))


def tables(data: Path, folder: Path, names: Sequence[str]) -> dict[str, tuple[Path, Domain]]:
    """Files with their codebooks: Adult, if it is there, and the simulated people, which are written for it."""
    chosen = {"adult": (data, adult())} if "adult" in names and data.exists() else {}
    if "people" in names:
        simulate().to_csv(folder / "people.csv", index=False)
        chosen["people"] = folder / "people.csv", Domain(tuple(attribute.unfolded() for attribute in demo_domain()))
    return chosen


def pairs(data: Path, codebook: Domain, epsilon: float, runs: int) -> Iterator[dict[str, float]]:
    """One record a run: the errors of both releases. Their noise has the same seed, the number of the run. A learnt column may have as many
    cells as the codebook gives it."""
    kinds = [(one, one.kind if one.is_number else "categorical") for one in codebook]
    learnt = Domain(tuple(Attribute.unknown(one.name, kind, max(FEWEST_LEARNT, one.size)) for one, kind in kinds))
    for seed in range(runs):
        known, learnt_release = (_released(data, domain, epsilon, seed) for domain in (codebook, learnt))
        yield {
            "codebook": error(data, known, codebook),
            "learnt": error(data, learnt_release, learnt_release.domain),
            "codebook_in_learnt": error(data, known, learnt_release.domain),
            "learnt_in_codebook": error(data, learnt_release, codebook),
        }
        print(f"run {seed + 1} of {runs}", file=sys.stderr)


def _released(data: Path, domain: Domain, epsilon: float, seed: int) -> Release:
    section, budget = {"kind": "csv", "path": str(data), "missing_markers": ["?"]}, {"epsilon": epsilon, "discovery": DEFAULT_DISCOVERY}
    return released(synthesis.plan(spec(section, domain, "aim", budget, name="discovery", output={"seed": seed})))


def error(data: Path, made: Release, cells: Domain) -> float:
    """AIM, Definition 2, of all pairs: of the rows of a release, counted in the cells of a domain with the same columns."""
    assert made.table is not None
    workload, form = all_kway(cells, 2), TableFormat.of(made.plan.spec.data.model_dump())
    true = ArrowSource(cells, str(data), form).counts([*workload.cliques, ()])
    rows = ArrowSource(cells, made.table.to_pandas()).counts(workload.cliques)
    people = int(true[()])
    return round(workload_error(workload, true, scaled(rows, people), people), 5)


def strings(people: int, values: int, epsilon: float, seed: int) -> dict[str, Any]:
    """Which of many texts become values of a column that gets the discovery share of a budget alone."""
    weights = [1 / rank for rank in range(1, values + 1)]
    counts = {f"text {rank}": round(people * weight / math.fsum(weights)) for rank, weight in enumerate(weights, 1)}
    answer, least, sigma = _learnt(counts, epsilon, SeededNoise(seed))
    column = learning.column_of(Attribute.unknown("text", "categorical", values), answer, sigma)
    shared = shared_by(sigma, DISCOVERY_DELTA * DELTA, 1)
    return {
        **{"people": sum(counts.values()), "texts": values, "least": least, "shared_by": shared},
        "found": len(column.categories),
        "smallest_noisy": min(answer[text] for text in column.categories),
        "smallest_true": min(counts[text] for text in column.categories),
        "missed": sum(count >= shared and text not in answer for text, count in counts.items()),
        "people_in_other": sum(count for text, count in counts.items() if text not in answer),
    }


def secrets(tries: int, epsilon: float) -> dict[str, Any]:
    """How often a text of one person becomes a value, beside one that many have; the noise is that of a real run, without a seed."""
    counts = {"known to many": 10_000, **{f"{SECRET} {i}": 1 for i in range(AT_ONCE)}}
    left = 0
    for _ in range(-(-tries // AT_ONCE)):
        left += len(_learnt(counts, epsilon, OpenDPNoise())[0].keys() - {"known to many", *PUBLIC})
    return {"tries": AT_ONCE * -(-tries // AT_ONCE), "left": left}


def _learnt(counts: Mapping[str, int], epsilon: float, noise: Noise) -> tuple[dict[str, int], int, float]:
    """The kernel's answer about one column of such counts, the least noisy count that is published, and sigma. The column has the share
    of a budget that discovery has."""
    unit, delta = Unit(), DISCOVERY_DELTA * DELTA
    rho = GDP.rho_from(epsilon, DELTA - delta)
    unknown = Attribute.unknown("text", "categorical")
    (portion,) = divided([unknown], unit, DEFAULT_DISCOVERY * rho, delta)
    kernel = PrivacyKernel(_Counts(counts), unit, rho, noise, delta, GDP)  # type: ignore[arg-type]  # no marginals are asked for
    least = portion.least(1)
    assert least is not None
    return kernel.discover_values(("text",), portion.sigma, portion.delta), least, portion.sigma


class _Counts:
    """A source of keyed counts."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self.domain, self._counts = Domain((Attribute.unknown("text", "categorical"),)), counts

    def values(self, _name: str) -> Iterator[Mapping[str, int]]:
        yield self._counts


def adult() -> Domain:
    """UCI Adult by its codebook: the values that it lists; numbers in 32 equal bins, as in the AIM paper, or one by one if they are few."""
    text = {
        "workclass": "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, Never-worked",
        "education": "Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th, 7th-8th, 12th, Masters, 1st-4th, "
        "10th, Doctorate, 5th-6th, Preschool",
        "marital-status": "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent, Married-AF-spouse",
        "occupation": "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, Handlers-cleaners, "
        "Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv, Protective-serv, Armed-Forces",
        "relationship": "Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried",
        "race": "White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black",
        "sex": "Female, Male",
        "native-country": "United-States, Cambodia, England, Puerto-Rico, Canada, Germany, Outlying-US(Guam-USVI-etc), India, Japan, "
        "Greece, South, China, Cuba, Iran, Honduras, Philippines, Italy, Poland, Jamaica, Vietnam, Mexico, Portugal, Ireland, France, "
        "Dominican-Republic, Laos, Ecuador, Taiwan, Haiti, Columbia, Hungary, Guatemala, Nicaragua, Scotland, Thailand, Yugoslavia, "
        "El-Salvador, Trinadad&Tobago, Peru, Hong, Holand-Netherlands",
        "income": "<=50K, >50K",
    }
    numbers = {
        "age": (17, 90, 32),
        "fnlwgt": (0, 1_500_000, 32),
        "education-num": (1, 16, 16),
        "capital-gain": (0, 99_999, 32),
        "capital-loss": (0, 4_400, 32),
        "hours-per-week": (1, 99, 32),
    }
    listed = [Attribute.categorical(name, values.split(", ")) for name, values in text.items()]
    binned = [Attribute.integer(name, low, high, bins=bins) for name, (low, high, bins) in numbers.items()]
    return Domain(tuple(attribute.unfolded() for attribute in (*listed, *binned)))


def _lines(kept: Mapping[str, Any]) -> Iterator[str]:
    """The record as tables in Markdown."""
    epsilon, delta, share = kept["epsilon"], kept["delta"], kept["discovery"]
    yield f"Epsilon {epsilon:g}, delta {delta:g}, {share:.0%} of the budget for discovery, {kept['day']}."
    for table, runs in ((title, kept[name]) for name, title in TABLES.items() if kept.get(name)):
        errors = {title: [run[name] for run in runs] for name, title in TITLES.items()}
        rows = [(title, len(e), f"{statistics.fmean(e):.4f}", f"{min(e):.4f} to {max(e):.4f}") for title, e in errors.items()]
        yield from ("", *record.table((f"{table}, all pairs, AIM", "runs", "mean error", "range"), rows))
    texts, tried = kept["strings"], kept["secrets"]
    facts = {
        "people, texts": f"{texts['people']:,}, {texts['texts']:,}",
        "least noisy count that is published": f"{texts['least']:,}",
        "texts found": f"{texts['found']:,}",
        "smallest noisy count and smallest true count among them": f"{texts['smallest_noisy']:,}, {texts['smallest_true']:,}",
        f"texts that {texts['shared_by']:,} or more share and that were not found": f"{texts['missed']:,}",
        "people whose text went to “other”": f"{texts['people_in_other']:,}",
    }
    yield from ("", *record.table(("a column of many texts", ""), facts.items()))
    yield from ("", f"A text that one person has left {tried['left']:,} times in {tried['tries']:,} tries.")
