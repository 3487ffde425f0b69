"""The record of the five papers' figures: runs what is missing of it, judges the papers' claims by it (`claims`), writes the tables of
docs/explanation/papers.md and draws its pictures.

    python -m benchmarks papers --missing                            # what is missing, and how long it takes
    python -m benchmarks papers --only "AIM 1" "RAP 3" --runs 3      # cells of these figures, cheap ones first
    python -m benchmarks papers --longest 0                          # no run; writes the page anew

A cell that is forecast to take more than --longest processor seconds is left out. It can be stopped, and goes on where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean

from benchmarks import aim_figures, fem, learning, pmwpub, rap, record
from benchmarks.claims import CLAIMS, Records
from benchmarks.figures import ENOUGH
from benchmarks.table import RESULTS, ROOT
from docs import figures as pictures

PAGE = ROOT / "docs" / "explanation" / "papers.md"
PROGRAMS = tuple(module.PROGRAM for module in (aim_figures, fem, rap, pmwpub, learning))
LONGEST = 120
"""Processor seconds of a run."""


@dataclass(frozen=True)
class Part:
    """figures: that the cells belong to. arguments: of the program that measures them."""

    figures: str
    program: record.Program
    arguments: str

    @cached_property
    def cells(self) -> list[record.Point]:
        return self.program.asked(self.arguments.split())


_EVERY = "aim mst mwem_pgm privbayes privmrf gem rap independent aim@paper mst@paper mwem_pgm@paper independent@paper"
_COMPARED = {"titanic": _EVERY, "demo": _EVERY, "adult": "aim mst mwem_pgm privbayes gem"}
_THREE = "--epsilons 0.1 1 10"
PARTS = (
    *(
        Part(f"AIM {number}", aim_figures.PROGRAM, f"--tables {table} --workloads {name} {_THREE} --mechanisms {others}")
        for table, others in _COMPARED.items()
        for number, name in enumerate(aim_figures.WORKLOADS, start=1)
    ),
    Part("AIM 1", aim_figures.PROGRAM, "--tables dense --epsilons 0.1 1 --mechanisms aim mst privmrf gem"),
    Part("AIM 1", aim_figures.PROGRAM, f"--tables titanic {_THREE} --mechanisms gem@paper rap@paper"),
    Part("AIM 4", aim_figures.PROGRAM, "--tables demo --epsilons 1 --mechanisms aim aim@paper --capacities 1.25 5 20 80"),
    Part("AIM 7", aim_figures.PROGRAM, f"--tables titanic {_THREE} --mechanisms mwem_pgm mwem_pgm@paper mwem_rp mwem_rp@paper"),
    Part("AIM T3", aim_figures.PROGRAM, f"--tables few few-zeros {_THREE} --mechanisms aim"),
    Part("FEM 1", fem.PROGRAM, "--figures 1 --epsilons 0.1 0.2 0.5 1 --programs zero fem dualquery dqrs gaussian-even aim"),
    Part("FEM 1", fem.PROGRAM, "--figures 1 --epsilons 0.1 1 --programs hdmm hdmm-laplace sepfem"),
    Part("FEM 1", fem.PROGRAM, "--figures 1 --k 5 --epsilons 0.1 1 --programs zero fem sepfem dualquery dqrs"),
    Part("FEM 2", fem.PROGRAM, "--figures 2 --marginals 16 64 256 455 --programs fem dualquery hdmm aim"),
    Part("RAP 2", rap.PROGRAM, "--figures 2 --epsilons 0.1 0.5 1 --programs zero rap rp fem aim"),
    Part("RAP 2", rap.PROGRAM, "--figures 2 --k 5 --epsilons 0.1 1 --programs zero rap fem aim"),
    Part("RAP 3", rap.PROGRAM, "--figures 3 --marginals 16 64 256 455 --programs rap fem aim"),
    Part("RAP 4", rap.PROGRAM, "--figures 4 --marginals 16 64 256 455 --programs rap fem aim"),
    Part("RAP 5", rap.PROGRAM, "--figures 5a --epsilons 0.1 1 --programs rap hdmm hdmm_pgm aim"),
    Part("RAP 5 6 8", rap.PROGRAM, "--figures 5b 6"),
    Part("RAP 10", rap.PROGRAM, "--figures 10 --epsilons 0.1 1 --programs zero rap fem"),
    Part("PMW 1 T1", pmwpub.PROGRAM, "--tables reduced --epsilons 0.1 1 --programs pmwpub mwem dualquery"),
    Part("PMW 1 2", pmwpub.PROGRAM, "--tables 0 0.2 0.45 0.65 men --epsilons 0.1 1 --programs pmwpub aim mwem_pgm dualquery"),
    Part("PMW 3", pmwpub.PROGRAM, "--tables 0/0.1 0/0.01 0/0.001 --epsilons 0.1 1 --programs pmwpub"),
    Part("Theorem 5 9 10", learning.PROGRAM, "--columns 2 4 --records 2000 20000 200000"),
    Part("Theorem 5 10", learning.PROGRAM, "--columns 8 --learners rspm gaussian oraclequery --records 2000 20000 200000"),
)


@dataclass(frozen=True)
class Lacking:
    """A cell that has been run less often than wanted. seconds: of the processor, for one run; None where nothing like it was run."""

    part: Part
    cell: record.Point
    times: int
    seconds: float | None


def main(arguments: Sequence[str] | None = None) -> None:
    figures = sorted({name for part in PARTS for name in _names(part)})
    parser = record.options(__doc__, {"only": figures}, only=figures, runs=ENOUGH, longest=LONGEST)
    parser.add_argument("--missing", action="store_true", help="say what is missing, and end")
    options = parser.parse_args(arguments)
    parts = [part for part in PARTS if set(_names(part)) & set(options.only)]
    missing = lacking(parts, options.runs)
    if options.missing:
        print("\n".join(_said(missing)))
        return
    for program in PROGRAMS:
        mine = [one for one in missing if one.part.program is program and (one.seconds or 0.0) <= options.longest]
        if mine and options.longest:
            program.fill([one.cell for one in sorted(mine, key=lambda one: one.seconds or 0.0)], options.runs)
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), recorded()), encoding="utf-8")
    pictures.main()


def _names(part: Part) -> list[str]:
    """ "PMW 1 T1" are "PMW 1" and "PMW T1"."""
    paper, *numbers = part.figures.split()
    return [f"{paper} {number}" for number in numbers] or [paper]


def lacking(parts: Sequence[Part], times: int) -> list[Lacking]:
    found: dict[str, Lacking] = {}
    for part in parts:
        runs = (record.earlier(RESULTS / part.program.name) or {"runs": []})["runs"]
        for cell in part.cells:
            if (have := record.times_measured(runs, cell)) < times:
                found[f"{part.program.name} {cell}"] = Lacking(part, cell, times - have, _forecast(runs, cell))
    return list(found.values())


def _forecast(runs: Sequence[record.Point], cell: record.Point) -> float | None:
    """The mean of runs of the cell, or of those that differ from it in as few fields as possible, the program and the table never."""
    fixed = {key: value for key, value in cell.items() if key in ("mechanism", "program", "table", "learner")}
    timed = [run for run in runs if "cpu_seconds" in run and fixed.items() <= run.items()]
    alike = [sum(run.get(key) == value for key, value in cell.items()) for run in timed]
    return fmean(run["cpu_seconds"] for run, same in zip(timed, alike, strict=True) if same == max(alike)) if timed else None


def _said(missing: Sequence[Lacking]) -> Iterator[str]:
    for one in missing:
        cost = "?" if one.seconds is None else f"{one.seconds:.0f} s"
        yield f"{one.part.figures}: {one.times} of {cost}: {' '.join(f'{key}={value}' for key, value in one.cell.items())}"
    yield _forecast_of(missing)


def _forecast_of(missing: Sequence[Lacking]) -> str:
    known = sum(one.times * one.seconds for one in missing if one.seconds is not None)
    unknown = sum(one.seconds is None for one in missing)
    extra = f", and {unknown} cells of which nothing like them has been run" if unknown else ""
    return f"{sum(one.times for one in missing)} runs in {len(missing)} cells: about {known / 60:.0f} processor minutes{extra}"


def recorded(results: Path = RESULTS) -> Records:
    kept = {program.name: record.earlier(results / program.name) or {"runs": []} for program in PROGRAMS}
    return {name: one["runs"] for name, one in kept.items()} | {"pmwpub_tables": kept[pmwpub.NAME].get("tables", [])}


def written(page: str, records: Records) -> str:
    """The page with the tables of claims between their marks."""
    for paper in CLAIMS:
        start, end = (f"<!-- {word} of {paper} -->" for word in ("claims", "end"))
        before, after = page.index(start) + len(start), page.index(end)
        page = page[:before] + "\n" + "\n".join(_section(paper, records)) + "\n" + page[after:]
    return page


def _section(paper: str, records: Records) -> Iterator[str]:
    cells = {
        f"{part.program.name} {cell}": (part.program.name, cell) for part in PARTS if part.figures.startswith(paper) for cell in part.cells
    }
    enough = sum(record.times_measured(records[name], cell) >= ENOUGH for name, cell in cells.values())
    began = [run["began"][:10] for name in {name for name, _ in cells.values()} for run in records[name]]
    when = f", of {min(began)} to {max(began)}" if began else ""
    findings = [(claim, claim.findings(records)) for claim in CLAIMS[paper]]
    words = Counter(finding.verdict for _, of in findings for finding in of.values())
    told = ", ".join(f"{word}: {count}" for word, count in sorted(words.items()))
    yield from (f"{enough} of {len(cells)} cells have {ENOUGH} runs{when}. Of what is claimed, {told}.", "")
    ways = any(way for _, of in findings for way in of)
    rows = []
    for claim, of in findings:
        for way, finding in of.items():
            heads = (claim.figure, claim.sentence) if finding is next(iter(of.values())) else ("", "")
            rows.append((*heads, *([way] if ways else []), f"**{finding.verdict}**", finding.numbers))
    yield from record.table(("figure", "the paper says", *(["tried with"] if ways else []), "here", "numbers"), rows)
