"""The figures of Liu, Vietri, Steinke, Ullman, Wu 2021 on Adult, for the ACS tables of Figures 1 and 3 are not here: the largest error of
256 random three-way marginals against epsilon, with public tables that resemble the private one less and less (2), and are smaller and
smaller (3), and the time of a round beside MWEM on few columns (Table 1); delta = 1/N^2, means over runs.

    python -m benchmarks pmwpub --epsilons 0.1 1 --runs 2
    python -m benchmarks pmwpub --epsilons 0.1 --programs aim dualquery mwem_pgm --runs 1
    python -m benchmarks pmwpub --epsilons 0.1 1 --programs aim aim_public --runs 3          # is a public table worth starting AIM from?
    python -m benchmarks pmwpub --epsilons 1 --tables reduced --programs pmwpub mwem --runs 3

Private: 90 % of Adult's rows drawn with replacement. Public: 10 %, women drawn with probability r + bias, r being their share; or only men;
or a part of those without a bias ("0/0.1": a tenth); or the file adult-binned-public.csv, with adult-binned-private.csv as the private one;
or those without a bias, in five columns and all their triples ("reduced"). Beside PMW^Pub: what needs no public table (AIM,
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
from itertools import product, starmap
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import figures, record
from benchmarks.figures import Setting
from benchmarks.table import ADULT_FOLDER
from dpsynth_core.extensions.research.privacy import best_mixture
from dpsynth_core.extensions.research.privacy.groups import QueryCounts
from dpsynth_core.extensions.research.vocabulary.queries import Incidence, QueryClass
from dpsynth_core.inference.model import WeightedRecords
from dpsynth_core.mechanisms.public_check import FLOOR
from dpsynth_core.sources import public as public_tables
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload, all_kway

NAME, MARGINALS = "pmwpub", 256
CHECKED_AT = 0.05
BIASES: Mapping[str, float] = {"0": 0.0, "0.2": 0.2, "0.45": 0.45, "0.65": 0.65, "men": -1.0}
"""What is added to the probability of a woman; -1 leaves none."""
PARTS = ("0/0.1", "0/0.01", "0/0.001")
REDUCED = "reduced"
_FEW_COLUMNS = ("workclass", "education", "marital-status", "relationship", "sex")
TABLES = (*BIASES, "file", *PARTS, REDUCED)
WITH: Mapping[str, tuple[str, str, Mapping[str, Any]]] = {
    "pmwpub": ("PMW^Pub", "pmwpub", {}),
    "printed": ("PMW^Pub as printed", "pmwpub", {"skip": 0.0}),
    "flipped": ("PMW^Pub by permute-and-flip", "pmwpub", {"selection": "permute-and-flip"}),
    "aim_public": ("AIM from a public table", "aim_public", {}),
}
"""What uses a public table: title, mechanism, settings that are not at their default. As printed: the average is that of all iterates."""
WITHOUT = {"aim": "AIM", "mwem_pgm": "MWEM+PGM", "dualquery": "DualQuery", "mwem": "MWEM"}

Codes = NDArray[np.int32]


def points(options: argparse.Namespace) -> Iterator[record.Point]:
    """Programs without a public table have none, but for the reduced one, where they have its columns."""
    for epsilon in options.epsilons:
        pairs = [(name, table) for name in options.programs if name in WITH for table in options.tables]
        private = [REDUCED if options.tables == [REDUCED] else ""]
        for program, table in [*pairs, *((name, table) for name in options.programs if name in WITHOUT for table in private)]:
            yield {"program": program, "table": table, "epsilon": epsilon}


def measure(program: str, table: str, epsilon: float) -> dict[str, Any]:
    """One run with fresh noise. table: "" for programs that use none, measured on the same private table."""
    setting, public = _setting(table or "0")
    _, name, settings = WITH.get(program, ("", program, {}))
    outcome = figures.run(name, setting, epsilon, settings, public=public)
    rounds = outcome.finished.details.get("rounds")
    each = {"round_seconds": round(outcome.cpu_seconds / rounds, 5)} if rounds else {}
    return setting.errors(outcome.finished) | outcome.costs() | each


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
    bias, _, part = table.partition("/")
    if table == "file":
        private, public = (_codes(whole.domain, f"adult-binned-{kind}.csv") for kind in ("private", "public"))
    else:
        private, public = _split(whole, BIASES.get(bias, 0.0))
        public = public[: round(len(public) * float(part or 1))]  # its rows are in random order
    domain, workload = whole.domain, Workload(whole.domain, whole.workload.weights)
    if table == REDUCED:
        places = [domain.position(name) for name in _FEW_COLUMNS]
        domain, private, public = Domain(tuple(domain[name] for name in _FEW_COLUMNS)), private[:, places], public[:, places]
        workload = all_kway(domain, 3)
    return Setting(CodesSource(domain, private), private, workload), PublicTable(domain, public, table, "")


def _codes(domain: Domain, name: str) -> Codes:
    path = ADULT_FOLDER / name
    return public_tables.read(path, default_format(path), domain).codes


def _split(whole: Setting, bias: float) -> tuple[Codes, Codes]:
    """As the paper samples: with replacement, the private table the same for every bias."""
    rng = np.random.default_rng(0)
    private = whole.codes[rng.choice(whole.rows, int(0.9 * whole.rows))]
    sex = whole.codes[:, whole.domain.position("sex")]
    women = sex == np.argmin(np.bincount(sex))  # a third of Adult
    wanted = rng.random(int(0.1 * whole.rows)) < min(1.0, max(0.0, float(women.mean()) + bias))
    one, other = (rng.choice(np.flatnonzero(kind), len(wanted)) for kind in (women, ~women))
    return private, whole.codes[np.where(wanted, one, other)]


def lines(kept: Mapping[str, Any]) -> list[str]:
    """The means as tables."""
    frame, tables = pd.DataFrame(kept["runs"]), pd.DataFrame(kept["tables"])
    frame["title"] = [_title(program, table) for program, table in zip(frame["program"], frame["table"], strict=True)]
    return [
        f"Adult binned as in the AIM paper, {MARGINALS} random three-way marginals, {figures.days(kept)}. Of the model's own answers:"
        " largest error of any cell, as a fraction of the people, and mean workload error (L1); means over runs (their number).",
        *("", *_runs(frame), "", *_public(tables), "", f"The check warns of these public tables: {_warned(tables)}."),
    ]


def _warned(tables: pd.DataFrame) -> str:
    return ", ".join(tables["table"][[checked["poor"] for checked in tables["checked"]]]) or "none"


def _title(program: str, table: str) -> str:
    title = WITH[program][0] if program in WITH else WITHOUT[program]
    return f"{title} ({table})" if table else title


def _runs(frame: pd.DataFrame) -> list[str]:
    epsilons, rows = sorted(frame["epsilon"].unique()), []
    order = [*(_title(program, table) for program, table in product(WITH, TABLES)), *starmap(_title, product(WITHOUT, ("", REDUCED)))]
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


def _judged(kept: dict[str, Any], points: Sequence[record.Point]) -> None:
    """Judge the public tables that the record does not have."""
    tables = kept.setdefault("tables", [])
    for table in dict.fromkeys(point["table"] for point in points if point["table"]):
        if table not in [one["table"] for one in tables]:
            tables.append(judge(table))
            print(tables[-1], file=sys.stderr, flush=True)


_DEFAULTS = {
    **{"epsilons": list(figures.EPSILONS), "tables": [*BIASES, "file"], "programs": [*WITH, "aim", "mwem_pgm", "dualquery"], "runs": 2}
}
_AMONG = {"tables": TABLES, "programs": (*WITH, *WITHOUT)}
PROGRAM = record.Program(NAME, __doc__, points, lambda point: measure(**point), lines, _DEFAULTS, _AMONG, _judged)
main = PROGRAM.main
