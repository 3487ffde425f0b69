"""Analyses of a release with intervals that know of its noise, or a refusal that names the relation that no measured table holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.extensions.intervals import formulas, variables
from dpsynth_core.extensions.intervals.estimates import Prepared, prepared
from dpsynth_core.extensions.intervals.explained import MOST_ROWS, explained
from dpsynth_core.extensions.intervals.noise import Informed, Noise, noise_in
from dpsynth_core.extensions.intervals.pooling import LEVEL, POPULATION, check_of
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

HOLDS, LEAST, UNHELD = 0.99, 0.5, 50.0
"""R2 from which intervals of few people hold as often as they say, R2 below which so few hold that there is none, and the most people times
1 - R2 with which intervals of many people hold (`holds_from`)."""
QUANTILE = float(scipy.stats.norm.ppf(0.5 + LEVEL / 2))
"""Of the normal distribution: the variance of the noise is known. Its shift is one observation, which trials show to be enough."""
ALIKE = "all rows are alike here, as where no row has a value, and nothing is known of the noise of that"
Floats = NDArray[np.float64]


def holds_from(people: float) -> float:
    """Return the R2 from which an interval holds as often as it says: 0.99 for 5,000 people or fewer, and nearer to 1 for more.

    What no measured table holds of a result is off by a share of the people that does not fall with their number, while the interval falls
    with its root. Of MST at epsilon 4 with 50,000 people, intervals with R2 from 0.99 held in 88.0 ± 1.8 %, and those with R2 from 0.999
    in 94.1 ± 1.4 % (`benchmarks/intervals.py`). The rule was chosen with these releases in view; only 5,000 and 50,000 people were tried.

    Args:
        people: Number of records of the table.
    """
    return max(HOLDS, 1 - UNHELD / people)


@dataclass(frozen=True)
class Result:
    """One number of an analysis.

    Attributes:
        name: Its name.
        value: The estimate in the released rows.
        low, high: Ends of the 95 % interval; None for a refused result.
        error: The standard error that belongs to the interval; None for a refused result.
        noise: The error that the noise makes in the estimate, a standard deviation (`noise.noise_in`).
        r2: The share of the estimate's influence function that measured tables determine, from 0 to 1.
        missing: The columns of the relation that no table holds; () if the interval holds, or if all rows are alike, so
            that nothing is known of the noise (a value that no row has, for example).
        enough: The R2 from which the interval holds (`holds_from`).
    """

    name: str
    value: float
    low: float | None
    high: float | None
    error: float | None
    noise: float
    r2: float
    missing: Clique = ()
    enough: float = HOLDS

    @property
    def state(self) -> str:
        """The result's standing: "holds" for an R2 of at least `enough`, "doubtful" for at least 0.5, otherwise "refused"."""
        return "holds" if self.r2 >= self.enough else "doubtful" if self.r2 >= LEAST else "refused"

    def __str__(self) -> str:
        if (self.low is None or self.high is None) and not self.missing:
            return f"{self.name}: no interval: {ALIKE}"
        if self.low is None or self.high is None:
            return f"{self.name}: no interval (R2 {self.r2:.2f}): no measured table holds {_relation(self.missing)}"
        rests = (
            f"; R2 {self.r2:.{2 if self.r2 < HOLDS else 4}f}: part of it rests on {_relation(self.missing)}, which no measured table holds"
        )
        doubt = "" if self.state == "holds" else rests
        return f"{self.name}: {self.value:.6g}, 95 % interval {self.low:.6g} to {self.high:.6g}{doubt}"


@dataclass(frozen=True)
class Analysed:
    """An analysis of a release.

    Attributes:
        analysis: Its text.
        of: "population" or "table".
        results: The numbers.
        people: Number of records of the table, public or as measured.
        notes: Sentences on what the intervals leave out.
    """

    analysis: str
    of: str
    results: tuple[Result, ...]
    people: int
    notes: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """True if the intervals of all results hold: each has enough R2."""
        return all(one.state == "holds" for one in self.results)

    @property
    def refused(self) -> tuple[Result, ...]:
        """The results without an interval, in order; () if all have one."""
        return tuple(one for one in self.results if one.low is None)

    def __str__(self) -> str:
        return "\n".join([f"{self.analysis} (of the {self.of})", *map(str, self.results), *self.notes])


def check(domain: Domain, text: str, of: str) -> None:
    """Check that a text is an analysis of these columns, and return nothing.

    Args:
        domain: The domain of the rows.
        text: The analysis, in the grammar of `formulas`.
        of: "population" or "table".

    Raises:
        InputError: The text is not an analysis of these columns, or `of` is another text.
    """
    check_of(of)
    prepared(domain, formulas.read(text))


def analyse(informed: Informed, text: str, of: str) -> Analysed:
    """Return an analysis of a release with its intervals.

    Nothing is charged: released values alone are used. R2 is computed in the first 100,000 rows. Rows with a
    missing value in a column of the analysis are left out. So is a term of a regression that is 0 in every row;
    the notes name it.

    The variance of a result is the sum of the variance of the noise (`noise`), of the share of W that no measured
    table holds, 1 - R2, W being the ordinary variance in the rows (so much of W is the error of rows that were
    drawn), and, for a population, of W for as many people as the table has.

    Args:
        informed: The release.
        text: The analysis, in the grammar of `formulas`.
        of: "population" for the people that the table was drawn from, "table" for the table itself.

    Raises:
        InputError: The text is not an analysis of these columns, the rows hold too little for it, or `of` is
            "population" where people may own several rows.
    """
    check_of(of)
    asked = prepared(informed.domain, formulas.read(text))
    if of == POPULATION and informed.plan.unit.max_rows_per_person > 1:
        problem = "people may own several rows, which depend on each other: no interval of a population follows"
        raise InputError("of", problem, 'ask of="table"')
    codes = informed.codes
    absent = asked.absent(codes)
    left_out, asked = [asked.names[place] for place in absent], asked.without(absent)
    own = asked.estimate(codes, influence=True)
    held = explained(own.influence[:, :MOST_ROWS], asked.domain, codes[:MOST_ROWS], informed.tables, asked.columns)
    noise = noise_in(own.influence, asked.columns, informed)
    variances = variance(noise, own.variances, held.r2, of, len(codes) / informed.people)
    results, enough = list[Result](), holds_from(informed.people)
    for k, name in enumerate(asked.names):
        r2, value, error = float(held.r2[k]), float(own.values[k]), math.sqrt(variances[k])
        ends = [value - QUANTILE * error, value + QUANTILE * error, error]
        low, high, stated = ends if r2 >= LEAST else [None] * 3
        missing = () if r2 >= enough else held.missing[k]
        results.append(Result(name, value, low, high, stated, float(noise.errors[k]), r2, missing, enough))
    return Analysed(text, of, tuple(results), round(informed.people), tuple(_notes(asked, results, of, left_out)))


def variance(noise: Noise, within: Floats, r2: Floats, of: str, each: float) -> Floats:
    """Return the variances of results, shape (results,): of the noise, of rows that were drawn, and for a population of sampling.

    Args:
        noise: The noise of the release in the results.
        within: Their ordinary variances W in the rows, shape (results,).
        r2: The shares of their influence functions that measured tables determine, shape (results,). The rows are
            drawn with the variance (1 - r2) W.
        of: "population" or "table".
        each: Number of rows for each record of the table; `each` * W is the variance of sampling so many records.
    """
    return noise.errors**2 + (1 - r2) * within + (each * within if of == POPULATION else 0.0)


def _notes(asked: Prepared, results: Sequence[Result], of: str, left_out: Sequence[str]) -> list[str]:
    """Return sentences on what the intervals are of, on terms left out, on refused results, and on numbers inside cells."""
    said = ["The intervals are of the noise alone." if of != POPULATION else "The intervals are of noise and of sampling."]
    if left_out:
        said.append(f"No row of the release has {', '.join(left_out)}: left out.")
    if alike := [one.name for one in results if one.low is None and not one.missing]:
        said.append(f"No interval of {', '.join(alike)}: {ALIKE}.")
    for clique in dict.fromkeys(one.missing for one in results if one.missing):
        said.append(f"No measured table holds {_relation(clique)}. To analyse it next time, name this table in the workload of the plan.")
    wide = {name: variables.width(asked.domain, name) for name in asked.columns if variables.is_numeric(asked.domain[name])}
    if any(wide.values()):
        cells = ", ".join(f"{name} (up to {width:g})" for name, width in wide.items() if width)
        said.append(f"Numbers count as the middles of their cells; how values lie within a cell was not measured: {cells}.")
    return said


def _relation(clique: Clique) -> str:
    return " x ".join(clique)
