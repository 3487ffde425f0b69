"""Figure 2 of Liu, Vietri, Steinke, Ullman, Wu 2021 on Adult: the largest error of 256 random three-way marginals against epsilon, with
public tables that resemble the private one less and less; delta = 1/N^2, means over runs.

    python -m benchmarks.pmwpub --epsilons 0.1 1 --runs 2
    python -m benchmarks.pmwpub --epsilons 0.1 --programs aim dualquery mwem_pgm --runs 1
    python -m benchmarks.pmwpub --epsilons 0.1 1 --programs aim aim_public --runs 3          # is a public table worth starting AIM from?

Private: 90 % of Adult's rows drawn with replacement. Public: 10 %, women drawn with probability r + bias, r being their share; or only men;
or the file adult-binned-public.csv, with adult-binned-private.csv as its private table. Beside PMW^Pub: what needs no public table (AIM,
MWEM+PGM in place of MWEM, whose 7e11 records no computer holds, DualQuery), and the public table as it is; and AIM that starts from the
public table (`mechanisms.public_prior`), whose place among our mechanisms this is the reason for. For each public table the
best-mixture error is found without noise, and the check is run at epsilon 0.05. A point that is in the record is not measured again. It
looks at true counts: right for a public table, and for nothing else.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import figures, record
from benchmarks.figures import DECIDED, Setting, by_epsilon
from benchmarks.table import ADULT_FOLDER
from dpsynth_core.inference.model import WeightedRecords
from dpsynth_core.mechanisms.public_check import FLOOR
from dpsynth_core.research.privacy import best_mixture
from dpsynth_core.research.privacy.groups import QueryCounts
from dpsynth_core.research.vocabulary.queries import Incidence, QueryClass
from dpsynth_core.sources import public as public_tables
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.detect import detect_format
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload

NAME, MARGINALS = "pmwpub", 256
CHECKED_AT = 0.05
BIASES: Mapping[str, float] = {"0": 0.0, "0.2": 0.2, "0.45": 0.45, "0.65": 0.65, "men": -1.0}
"""What is added to the probability of a woman; -1 leaves none."""
TABLES = ("0", "0.2", "0.45", "0.65", "men", "file")
WITH: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "pmwpub": ("PMW^Pub", "pmwpub", {}),
    "printed": ("PMW^Pub as printed", "pmwpub", {"skip": 0.0}),
    "flipped": ("PMW^Pub by permute-and-flip", "pmwpub", {"selection": "permute-and-flip"}),
    "aim_public": ("AIM from a public table", "aim_public", {}),
}
"""What uses a public table: title, mechanism, settings that are not at their default. As printed: the average is that of all iterates."""
WITHOUT = {"aim": "AIM", "mwem_pgm": "MWEM+PGM", "dualquery": "DualQuery"}

Codes = NDArray[np.int32]


def main(arguments: Sequence[str] | None = None) -> None:
    options = record.parser(
        __doc__,
        {"tables": TABLES, "programs": (*WITH, *WITHOUT)},
        epsilons=list(figures.EPSILONS),
        tables=list(TABLES),
        programs=[*WITH, *WITHOUT],
        runs=2,
    ).parse_args(arguments)
    place = options.results / NAME
    kept = {"tables": []} | record.opened(place)
    for table in options.tables:
        if table not in [one["table"] for one in kept["tables"]]:
            kept["tables"].append(judge(table))
            print(kept["tables"][-1], file=sys.stderr, flush=True)
    record.fill(kept, points(options), options.runs, lambda point: measure(**point), write, place)


def points(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for epsilon in options.epsilons:
        pairs = [(name, table) for name in options.programs if name in WITH for table in options.tables]
        for program, table in [*pairs, *((name, "") for name in options.programs if name in WITHOUT)]:
            yield {"program": program, "table": table, "epsilon": epsilon}


def measure(program: str, table: str, epsilon: float) -> dict[str, Any]:
    """One run with fresh noise. table: "" for programs that use none, measured on the same private table."""
    setting, public = _setting(table or "0")
    _, name, settings = WITH.get(program, ("", program, {}))
    outcome = figures.run(name, setting, epsilon, settings, public=public)
    return setting.errors(outcome.finished) | outcome.costs()


def judge(table: str) -> dict[str, Any]:
    """A public table as it is, the best that weights on its rows can do (at least FLOOR), and what the check said of it."""
    setting, public = _setting(table)
    rows, counts = public.support()
    as_it_is = WeightedRecords(setting.domain, rows, counts.astype(np.float64))
    errors = {"error": setting.model_error(as_it_is, public.rows), "mean_error": setting.mean_error(as_it_is, public.rows)}
    queries = QueryClass.of(setting.workload)
    tally = QueryCounts.of(queries, setting.source.counts(setting.workload.cliques))
    bounds = best_mixture.bracket(tally, Incidence(queries, rows), counts / counts.sum(), float(setting.rows), FLOOR * setting.rows)
    outcome = figures.run("mixture", setting, CHECKED_AT, {}, public=public)
    checked = {"checked": outcome.finished.details["best_mixture"], "check_seconds": round(outcome.seconds, 1)}
    best = {"best_mixture": None if bounds is None else round(bounds[1] / setting.rows, 5)}
    return {"table": table, "rows": public.rows} | {name: round(error, 5) for name, error in errors.items()} | best | checked


@lru_cache(maxsize=2)
def _setting(table: str) -> tuple[Setting, PublicTable]:
    """The private table with its workload, and a public one."""
    whole = figures.adult(3, MARGINALS)
    if table == "file":
        private, public = (_codes(whole.domain, f"adult-binned-{kind}.csv") for kind in ("private", "public"))
    else:
        private, public = _split(whole, BIASES[table])
    workload = Workload(whole.domain, whole.workload.weights)
    return Setting(CodesSource(whole.domain, private), private, workload), PublicTable(whole.domain, public, table, "")


def _codes(domain: Domain, name: str) -> Codes:
    path = ADULT_FOLDER / name
    return public_tables.read(path, detect_format(path), domain).codes


def _split(whole: Setting, bias: float) -> tuple[Codes, Codes]:
    """As the paper samples: with replacement, the private table the same for every bias."""
    rng = np.random.default_rng(0)
    private = whole.codes[rng.choice(whole.rows, int(0.9 * whole.rows))]
    sex = whole.codes[:, whole.domain.position("sex")]
    women = sex == np.argmin(np.bincount(sex))  # a third of Adult
    wanted = rng.random(int(0.1 * whole.rows)) < min(1.0, max(0.0, float(women.mean()) + bias))
    one, other = (rng.choice(np.flatnonzero(kind), len(wanted)) for kind in (women, ~women))
    return private, whole.codes[np.where(wanted, one, other)]


def write(kept: Mapping[str, Any], place: Path) -> None:
    """The means as tables, with what they say about the paper's claims."""
    frame, tables = pd.DataFrame(kept["runs"]), pd.DataFrame(kept["tables"])
    if frame.empty:
        return
    frame["title"] = [_title(program, table) for program, table in zip(frame["program"], frame["table"], strict=True)]
    text = [
        f"Adult binned as in the AIM paper, {MARGINALS} random three-way marginals, {figures.days(kept)}. Of the model's own answers:"
        " largest error of any cell, as a fraction of the people, and mean workload error (L1); means over runs (their number).",
        *("", *_runs(frame), "", *_public(tables), "", claims(frame, tables)),
    ]
    place.with_suffix(".md").write_text("\n".join(text) + "\n", encoding="utf-8")


def _title(program: str, table: str) -> str:
    return f"{WITH[program][0]} ({table})" if program in WITH else WITHOUT[program]


def _runs(frame: pd.DataFrame) -> list[str]:
    epsilons, rows = sorted(frame["epsilon"].unique()), []
    order = [*(_title(program, table) for program, table in product(WITH, TABLES)), *WITHOUT.values()]
    runs = {str(title): mine for title, mine in frame.groupby("title")}
    for title, mine in ((title, runs[title]) for title in order if title in runs):
        cells = [mine[mine["epsilon"] == epsilon] for epsilon in epsilons]
        entries = [f"{cell['error'].mean():.3f}, {cell['mean_error'].mean():.3f} ({len(cell)})" if len(cell) else "" for cell in cells]
        cost = f"{cells[-1]['seconds'].mean():.0f} ({cells[-1]['cpu_seconds'].mean():.0f})" if len(cells[-1]) else ""
        rows.append([title, *entries, cost])
    heads = ("program", *(f"epsilon {epsilon:g}" for epsilon in epsilons), f"seconds (processor) at {epsilons[-1]:g}")
    return record.table(heads, rows)


def _public(tables: pd.DataFrame) -> list[str]:
    rows = []
    for one in tables.to_dict("records"):
        checked, best = one["checked"], one["best_mixture"]
        at_best = f"{best:.3f} or less" if best <= FLOOR else f"{best:.3f}"
        sentences = f"{checked['error']:.3f} ± {checked['half_width']:.3f}"
        as_it_is = f"{one['error']:.3f}, {one['mean_error']:.3f}"
        rows.append([one["table"], f"{one['rows']:,}", as_it_is, at_best, sentences, "yes" if checked["poor"] else "no"])
    check = f"check at epsilon {CHECKED_AT:g}"
    return record.table(("public table (bias)", "rows", "as it is: largest, mean error", "best mixture", check, "warns"), rows)


def claims(frame: pd.DataFrame, tables: pd.DataFrame) -> str:
    """What the paper claims and what was measured here: each program with each public table against what needs none and against PMW^Pub."""
    runs = {str(title): mine for title, mine in frame.groupby("title", sort=False)}
    sentences = [f"**The paper's claims** ({DECIDED})."]
    for field, meant in (("error", "largest"), ("mean_error", "mean")):
        rows = []
        for program, table in product(WITH, TABLES):
            mine, others = _title(program, table), [*WITHOUT.values(), *([_title("pmwpub", table)] if program != "pmwpub" else [])]
            if mine in runs:
                rows.append([mine, *(by_epsilon(runs[mine], runs[other], field) if other in runs else "" for other in others)])
        first, *others = WITHOUT.values()
        sentences += ["", *record.table((f"the {meant} error of", f"against {first}", *others, "PMW^Pub"), rows)]
    warned = ", ".join(tables["table"][[checked["poor"] for checked in tables["checked"]]]) or "none"
    return "\n".join([*sentences, "", f"The check warns of these public tables: {warned}."])


if __name__ == "__main__":
    main()
