"""The workload: which marginals the synthetic table must get right, and how much each one counts.

Public: built from the domain and the curator's choices alone. This module knows nothing of records, budgets or mechanisms.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.documents import parse_json
from dpsynth_core.foundation.errors import CapacityError, InputError, count_text, shown
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, subsets
from dpsynth_core.vocabulary.names import column_field

if TYPE_CHECKING:
    from dpsynth_core.vocabulary.drawn_marginals import Draw

MAX_MARGINAL_CELLS = 10_000_000
"""Largest number of cells of a single marginal: 80 MB of counts."""

MAX_CLOSURE = 2_000_000
"""Bound on sum over marginals of 2^|r|, which bounds the closure: all 3-way marginals of 100 columns stay below it."""

MAX_DRAWS = 250_000
"""Marginals that are drawn at random, or draws of one."""

MAX_DRAW_STEPS = 25_000_000
"""Bound on draws x columns: each draw walks along the columns. Some seconds of work."""

MIN_WEIGHT, MAX_WEIGHT = 1e-9, 1e9
"""Only ratios of weights matter. Far beyond these, sums of them overflow or vanish."""

FEWEST_IN_ORDER = 3
"""Smallest number of ordered values for which ranges differ from cells and their complements."""

_FIELD = "workload"
_UNKNOWN = (0, 0)
"""The place and the size of a column that the domain lacks; places of others begin at 1."""


@dataclass(frozen=True)
class Workload:
    """The marginals of a domain that a release must get right, with weights.

    Attributes:
        domain: The domain.
        weights: Weight of each marginal, above 0; cliques are in domain order.
        threshold: None if each cell of a marginal is one question, "all of its columns have these
            values"; t if the question is "at least t of these columns" (see `queries`).
        draw: The random draw that the marginals come from, or None.
        ranges: Ordered columns whose ranges are asked, "from 30 to 45", among all people and within
            each cell of another column.
        first: Marginals of the workload that AIM measures before any others, however much noise
            they have. Other mechanisms make no difference between them and the rest.

    Raises:
        InputError: The workload is empty, a weight is not a positive number, a marginal has too few
            columns for the threshold, or a column with ranges has no order.
        CapacityError: A marginal or the closure is too large.
    """

    domain: Domain
    weights: Mapping[Clique, float]
    threshold: int | None = None
    draw: Draw | None = None
    ranges: tuple[str, ...] = ()
    first: tuple[Clique, ...] = ()

    def __post_init__(self) -> None:
        if not self.weights:
            raise InputError(_FIELD, "it has no marginals", "pick at least one set of columns")
        known = {attribute.name: (place, attribute.size) for place, attribute in enumerate(self.domain, start=1)}
        for clique, weight in self.weights.items():
            before, cells = 0, 1
            for name in clique:  # a wide table has tens of thousands of marginals, so these loops are plain
                place, size = known.get(name, _UNKNOWN)
                if place <= before:
                    before = 0
                    break
                before, cells = place, cells * size
            if not before:
                self.domain.clique(clique)  # names the column that is unknown or there twice
                raise InputError(_FIELD, f"{_clique_name(clique)} is not a set of columns in domain order", "use Domain.clique")
            if type(weight) is not float or not MIN_WEIGHT <= weight <= MAX_WEIGHT or cells > MAX_MARGINAL_CELLS:
                _check_marginal(clique, weight, cells)
        _check_closure(sum(2 ** len(clique) for clique in self.weights))
        if self.threshold is not None:
            columns, remedy = min(map(len, self.weights)), "change it, or leave it out to ask for all columns"
            _check_whole("threshold", self.threshold, 1, columns, f"the {columns} columns of the smallest table", remedy)
        _check_ranges(self.domain, self.ranges, self.threshold)
        object.__setattr__(self, "weights", {clique: float(weight) for clique, weight in self.weights.items()})

    @cached_property
    def cliques(self) -> tuple[Clique, ...]:
        """The columns of each marginal, in the order in which the workload states them."""
        return tuple(self.weights)

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names of all columns that occur in a marginal, as a set."""
        return frozenset(chain.from_iterable(self.weights))

    @cached_property
    def smallest_first(self) -> tuple[Clique, ...]:
        """The marginals by their number of cells, smallest first."""
        return tuple(self.cliques[place] for place in np.argsort(self.table_cells, kind="stable"))

    @cached_property
    def table_cells(self) -> NDArray[np.int64]:
        """Number of cells of each marginal, in the order of `cliques`, (marginals,)."""
        sizes = {attribute.name: attribute.size for attribute in self.domain}
        return np.array([math.prod([sizes[name] for name in clique]) for clique in self.weights], dtype=np.int64)

    @cached_property
    def widths(self) -> NDArray[np.int64]:
        """Number of columns of each marginal, in the order of `cliques`, (marginals,)."""
        return np.array([len(clique) for clique in self.weights], dtype=np.int64)

    @cached_property
    def cells(self) -> int:
        """Number of cells of all marginals together, also with a threshold: the number of counting queries about cells."""
        return _products({attribute.name: attribute.size for attribute in self.domain}, self.weights)

    @cached_property
    def closure_cells(self) -> int:
        """Number of cells of all marginals of the closure together (every non-empty subset of a clique, counted once)."""
        return self.over_closure({attribute.name: attribute.size for attribute in self.domain})

    @cached_property
    def closure_tables(self) -> int:
        """Number of marginals in the closure: the non-empty subsets of the workload's cliques, each counted once."""
        return self.over_closure(dict.fromkeys(self.domain.names, 1))

    def over_closure(self, sizes: Mapping[str, int]) -> int:
        """Return the sum, over the cliques of the closure, of the product of a number per column.

        The closure has every non-empty subset of the workload's cliques once. Workloads of all k-way marginals are
        summed without listing the closure.

        Args:
            sizes: The factor of each column of the domain, by name, such as its number of cells.
        """
        form = _compact_form(self)
        if form is None:
            return _products(sizes, {part for clique in self.weights for part in subsets(clique, 1)})
        column = form.get("column")
        sums = _cells_by_order([size for name, size in sizes.items() if name != column], form["k"])
        return sum(sums[1:]) if column is None else sum(sums[1:-1]) + sizes[column] * sum(sums[:-1])

    def closure(self) -> tuple[Clique, ...]:
        """Return every non-empty subset of the workload's cliques once, ordered by number of columns, then by domain order."""
        return self._closure

    @cached_property
    def _closure(self) -> tuple[Clique, ...]:
        position = {name: i for i, name in enumerate(self.domain.names)}
        parts = {part for clique in self.weights for part in subsets(clique, 1)}
        return tuple(sorted(parts, key=lambda r: (len(r), [position[name] for name in r])))

    def over(self, domain: Domain) -> Workload:
        """Return the workload over a domain whose open columns have learnt values.

        Ranges of columns with fewer than three values in an order are left out; the marginals of these columns stay.

        Args:
            domain: The domain with learnt values, which has the same columns.

        Raises:
            InputError: The domain lacks a column of the workload.
            CapacityError: A marginal has more than 10 million cells.
        """
        ranges = tuple(name for name in self.ranges if domain[name].ordered >= FEWEST_IN_ORDER)
        return replace(self, domain=domain, ranges=ranges)

    def aim_weights(self) -> dict[Clique, float]:
        """Return AIM's weight w_r = sum over s in W of c_s |r & s| for every clique r of the closure.

        W is the workload, c_s the weight of its marginal s, |r & s| the number of columns that r and s share (AIM,
        Algorithm 4, line 3). The cliques are in the order of `closure`.
        """
        return dict(self._aim_weights)

    @cached_property
    def _aim_weights(self) -> dict[Clique, float]:
        column = dict.fromkeys(self.domain.names, 0.0)
        for clique, weight in self.weights.items():
            for name in clique:
                column[name] += weight
        return {clique: sum(column[name] for name in clique) for clique in self.closure()}

    def to_json(self) -> dict[str, Any]:
        """Return the workload as JSON, in the shortest form that `from_json` reads; `first` is not in it."""
        asked = {"kind": "ranges", "columns": list(self.ranges)} if self.ranges else None
        form = (
            asked
            or (asdict(self.draw) if self.draw else _compact_form(self))
            or {
                "kind": "marginals",
                "marginals": [{"attributes": list(clique), "weight": weight} for clique, weight in self.weights.items()],
            }
        )
        return form if self.threshold is None else form | {"threshold": self.threshold}

    def measuring_first(self, tables: Iterable[Sequence[str]]) -> Workload:
        """Return the workload with these marginals in it, which are to be measured before any others.

        They replace `first`. A marginal that the workload lacks is added with weight 1. Marginals of one column are
        left out, since every column is measured.

        Args:
            tables: The columns of each marginal, in any order.

        Raises:
            InputError: A column is unknown or named twice in a marginal, or the workload asks for ranges, random
                marginals or a threshold.
            CapacityError: A marginal is too large.
        """
        first = tuple(dict.fromkeys(clique for clique in map(self.domain.clique, tables) if len(clique) > 1))
        if first and (self.ranges or self.draw or self.threshold is not None):
            raise InputError(_FIELD, "tables to measure first do not go with ranges, random tables or a threshold", "list its tables")
        return replace(self, weights={**self.weights, **{r: 1.0 for r in first if r not in self.weights}}, first=first)

    def asking(self, threshold: int | None) -> Workload:
        """Return the workload with another threshold.

        Args:
            threshold: t, to ask for each cell "at least t of these columns have these values", from 1 to the number of
                columns of the smallest marginal; None to ask for all columns.

        Raises:
            InputError: The threshold is out of range, or ranges are asked for.
        """
        return replace(self, threshold=threshold)


def _products(numbers: Mapping[str, int], cliques: Iterable[Clique]) -> int:
    """Return the sum over the cliques of the product of `numbers` over their columns."""
    return sum(math.prod([numbers[name] for name in clique]) for clique in cliques)


def all_kway(domain: Domain, k: int) -> Workload:
    """Return the workload of all marginals of `k` columns, each with weight 1.

    Raises:
        InputError: `k` is not from 1 to the number of columns.
        CapacityError: There are too many marginals, or one is too large.
    """
    k = _check_k(domain, k)
    _check_closure(math.comb(len(domain), k) * 2**k)
    return Workload(domain, dict.fromkeys(combinations(domain.names, k), 1.0))


def target(domain: Domain, column: str, k: int) -> Workload:
    """Return the workload of all marginals of `k` columns that contain `column`, each with weight 1.

    Raises:
        InputError: The column is unknown, or `k` is not from 1 to the number of columns.
        CapacityError: There are too many marginals, or one is too large.
    """
    if column not in domain:
        raise InputError(_FIELD, f"the target {shown(column)} is not a column of the domain", "choose one of its columns")
    k = _check_k(domain, k)
    _check_closure(math.comb(len(domain) - 1, k - 1) * 2**k)
    place = domain.position(column)
    others = combinations((i for i in range(len(domain)) if i != place), k - 1)
    ordered = sorted(tuple(sorted((place, *some))) for some in others)  # as in `combinations`, of which most lack the column
    return Workload(domain, {tuple([domain.names[i] for i in places]): 1.0 for places in ordered})


def drawn(domain: Domain, draw: Draw) -> Workload:
    """Return the workload of the marginals of a random draw.

    The weight of a marginal is the number of times that it was drawn. The same draw gives the same marginals.

    Args:
        domain: The domain.
        draw: The kind of draw, with its number of columns, number of draws and seed.

    Raises:
        InputError: A number of the draw is out of range, or there are too few different marginals.
        CapacityError: The draw takes too long, or its marginals have too many subsets.
    """
    from dpsynth_core.vocabulary.drawn_marginals import RANDOM  # loaded for marginals drawn at random alone

    k, count = _check_k(domain, draw.k), _check_whole("count", draw.count, 1, MAX_DRAWS)
    _check_whole("seed", draw.seed, 0, 2**63 - 1)
    if count * len(domain) > MAX_DRAW_STEPS:
        most = MAX_DRAW_STEPS // len(domain)
        raise CapacityError(f"{_FIELD}.count", f"{count:,} draws from {len(domain):,} columns take too long", f"draw at most {most:,}")
    every = math.comb(len(domain), k)
    if draw.kind == RANDOM and count > every:
        problem = f"{len(domain)} columns have {count_text(every)} sets of {k}, fewer than {count:,}"
        raise InputError(f"{_FIELD}.count", problem, "draw fewer")
    _check_closure(min(count, every) * 2**k)
    return Workload(domain, draw.weights(domain.names), draw=draw)


def ranges(domain: Domain, columns: Sequence[str] = ()) -> Workload:
    """Return a workload of ranges of columns, alone and with each other column of the domain, all of weight 1.

    Args:
        domain: The domain.
        columns: The columns, in any order; () for all columns with at least three values in an order.

    Raises:
        InputError: A column is unknown or has fewer than three values in an order, or no column of the domain has as
            many.
        CapacityError: There are too many marginals, or one is too large.
    """
    asked = tuple(name for name in domain.names if (name in columns if columns else domain[name].ordered >= FEWEST_IN_ORDER))
    if not columns and not asked:
        raise InputError(_FIELD, "no column of the domain has an order", "ask for tables, or declare numbers, dates or ordered categories")
    if unknown := [name for name in columns if name not in domain]:
        raise InputError(_FIELD, f"{shown(unknown[0])} is not a column of the domain", "name columns whose values have an order")
    cliques = [*((name,) for name in asked), *(pair for pair in combinations(domain.names, 2) if not set(pair).isdisjoint(asked))]
    return Workload(domain, dict.fromkeys(cliques, 1.0), ranges=asked)


def hand_picked(domain: Domain, weights: Mapping[Sequence[str], float]) -> Workload:
    """Return the workload of these marginals.

    Args:
        domain: The domain.
        weights: The weight of each marginal, named by its columns in any order; from 1e-9 to 1e9.

    Raises:
        InputError: No marginal is given, one has no column, a column is unknown or named twice in one, a marginal occurs
            twice, or a weight is not valid.
        CapacityError: There are too many marginals, or one is too large.
    """
    return _picked(domain, weights.items())


def from_json(domain: Domain, obj: Any) -> Workload:
    """Return the workload that JSON states.

    The forms are {"kind": "all", "k"}, {"kind": "target", "column", "k"}, {"kind": "random" or
    "skewed", "k", "count", "seed"}, {"kind": "ranges", "columns"} (all with an order, unless
    columns are named) and {"kind": "marginals", "marginals": [{"attributes", "weight"}]}, in which a weight that is left
    out is 1. Each may have a "threshold", but not with ranges.

    Args:
        domain: The domain.
        obj: The JSON value.

    Raises:
        InputError: It has none of these forms, or a value is not valid.
        CapacityError: There are too many marginals, or one is too large.
    """
    if not isinstance(obj, Mapping):
        raise InputError(_FIELD, "it is not a JSON object", 'write for example {"kind": "all", "k": 3}')
    marginals = _read_marginals(domain, {key: value for key, value in obj.items() if key != "threshold"})
    return marginals if obj.get("threshold") is None else marginals.asking(obj["threshold"])


def from_document(domain: Domain, name: str, text: str) -> Workload:
    """Return the workload that a file states, as JSON (`from_json`) or as lines (`from_lines`).

    Args:
        domain: The domain.
        name: Name of the file. The text is read as JSON if the name ends in ".json", or if the text begins with
            a brace or bracket.
        text: The text of the file.

    Raises:
        InputError: The text is not valid.
        CapacityError: There are too many marginals, or one is too large.
    """
    if name.endswith(".json") or text.lstrip().startswith(("{", "[")):
        return from_json(domain, parse_json(text, _FIELD))
    return from_lines(domain, text)


def from_lines(domain: Domain, text: str) -> Workload:
    """Return the workload of lines such as `age, sex: 2`, each with columns and a weight (1 by default).

    The weight is behind the last colon. Names with commas are quoted. Blank lines are skipped.

    Raises:
        InputError: A line is invalid, a marginal occurs twice, or there are no lines. The error about a line names its
            number, never its text, which may be a line of the table given by mistake.
        CapacityError: There are too many marginals, or one is too large.
    """
    lines = ((number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip())
    return _picked(domain, (_read_line(domain, number, line) for number, line in lines))


def _read_line(domain: Domain, number: int, line: str) -> tuple[list[str], float]:
    whole = names_in(line, f"line {number}")
    columns, colon, weight = line.rpartition(":")
    if not colon or all(name in domain for name in whole):
        return _names_of(domain, number, whole), 1.0
    try:
        amount = float(weight)
    except ValueError:
        raise InputError(_FIELD, f"line {number} has no number after its last colon", "write columns: weight") from None
    return _names_of(domain, number, names_in(columns, f"line {number}")), amount


def names_in(text: str, where: str = "it") -> list[str]:
    """Return the names between commas, without spaces around them; quoted names may have commas.

    Args:
        text: The names on one line, not empty.
        where: What the text is, for errors.

    Raises:
        InputError: The text is too long.
    """
    try:
        return [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]
    except csv.Error:
        raise InputError(_FIELD, f"{where} is too long for names of columns", "write names of columns with commas between them") from None


def _names_of(domain: Domain, number: int, names: Sequence[str]) -> list[str]:
    if not all(name in domain for name in names):
        raise InputError(_FIELD, f"line {number} names a column that is not in the domain", "write columns: weight, one table per line")
    return list(names)


def _read_marginals(domain: Domain, obj: Mapping[str, Any]) -> Workload:
    match obj.get("kind"):
        case "all":
            _check_keys(obj, {"kind", "k"})
            return all_kway(domain, obj.get("k"))  # type: ignore[arg-type]  # _check_k validates
        case "target":
            _check_keys(obj, {"kind", "column", "k"})
            return target(domain, str(obj.get("column", "")), obj.get("k"))  # type: ignore[arg-type]
        case "random" | "skewed" as kind:
            _check_keys(obj, {"kind", "k", "count", "seed"})
            from dpsynth_core.vocabulary.drawn_marginals import Draw  # loaded for marginals drawn at random alone

            return drawn(domain, Draw(kind, obj.get("k"), obj.get("count"), obj.get("seed")))  # type: ignore[arg-type]
        case "ranges":
            _check_keys(obj, {"kind", "columns"})
            columns = obj.get("columns", [])
            if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
                raise InputError(f"{_FIELD}.columns", "it is not a list of column names", "name columns, or leave it out for all")
            return ranges(domain, columns)
        case "marginals":
            _check_keys(obj, {"kind", "marginals"})
            if not isinstance(marginals := obj.get("marginals"), list):
                raise InputError(f"{_FIELD}.marginals", "it is not a list", 'write [{"attributes": ["age", "sex"], "weight": 1.0}]')
            return _picked(domain, map(_read_marginal, marginals))
        case kind:
            known = '"all", "target", "random", "skewed", "ranges" or "marginals"'
            raise InputError(f"{_FIELD}.kind", f"{shown(kind)} is unknown", f"use {known}")


def _picked(domain: Domain, pairs: Iterable[tuple[Sequence[str], float]]) -> Workload:
    weights: dict[Clique, float] = {}
    for names, weight in pairs:
        clique = domain.clique(names)
        if clique in weights:
            raise InputError(_FIELD, f"the marginal {_clique_name(clique)} is listed twice", "keep one of them")
        weights[clique] = weight
    return Workload(domain, weights)


def _compact_form(workload: Workload) -> dict[str, Any] | None:
    """Return the workload in the JSON form "all" or "target", without threshold; None if neither fits."""
    cliques, d = workload.cliques, len(workload.domain)
    k = len(cliques[0])
    if any(len(clique) != k for clique in cliques) or any(weight != 1 for weight in workload.weights.values()):
        return None
    if len(cliques) == math.comb(d, k):
        return {"kind": "all", "k": k}
    shared = set(cliques[0]).intersection(*cliques)
    if len(cliques) == math.comb(d - 1, k - 1) and len(shared) == 1:
        return {"kind": "target", "column": shared.pop(), "k": k}
    return None


def _cells_by_order(sizes: Sequence[int], most: int) -> list[int]:
    """Return a list with, at place k, the number of cells of all marginals of k columns together, up to `most`.

    Args:
        sizes: Number of cells of each column.
        most: Largest number of columns.
    """
    sums = [1] + [0] * most
    for size in sizes:
        sums = [1, *(sums[k] + size * sums[k - 1] for k in range(1, most + 1))]
    return sums


def _read_marginal(item: Any) -> tuple[list[str], float]:
    field = f"{_FIELD}.marginals"
    if not isinstance(item, Mapping):
        raise InputError(field, "an entry is not a JSON object", 'write {"attributes": ["age", "sex"], "weight": 1.0}')
    _check_keys(item, {"attributes", "weight"})
    names = item.get("attributes")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise InputError(field, '"attributes" is not a list of column names', 'write {"attributes": ["age", "sex"], "weight": 1.0}')
    return names, item.get("weight", 1.0)


def _check_keys(obj: Mapping[str, Any], allowed: set[str]) -> None:
    for key in obj:
        if key not in allowed:
            raise InputError(f"{_FIELD}.{str(key)[:60]}", "this entry is unknown", f"use only {', '.join(sorted(allowed))}")


def _check_k(domain: Domain, k: Any) -> int:
    return _check_whole("k", k, 1, len(domain), f"the {len(domain)} columns of the domain")


def _check_whole(name: str, value: Any, least: int, most: int, called: str = "", remedy: str = "change it") -> int:
    """Return a whole number within limits.

    Args:
        name: The entry of the workload.
        value: Its value.
        least: Smallest number.
        most: Largest number.
        called: The largest number in words; "" for the number.
        remedy: The remedy in the error.

    Raises:
        InputError: `value` is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        problem = f"{shown(value)} is not a whole number from {least} to {called or f'{most:,}'}"
        raise InputError(f"{_FIELD}.{name}", problem, remedy)
    return value


def _check_marginal(clique: Clique, weight: Any, cells: int) -> None:
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not MIN_WEIGHT <= weight <= MAX_WEIGHT:
        problem = f"the weight {shown(weight)} of {_clique_name(clique)} is not a positive number from {MIN_WEIGHT:g} to {MAX_WEIGHT:g}"
        raise InputError(_FIELD, problem, "give a weight such as 1")
    if cells > MAX_MARGINAL_CELLS:
        problem = f"the marginal {_clique_name(clique)} has {count_text(cells)} cells, more than {MAX_MARGINAL_CELLS:,}"
        raise CapacityError(_FIELD, problem, "use fewer columns in it, or fewer categories or bins in its columns")


def _check_closure(subsets: int) -> None:
    if subsets > MAX_CLOSURE:
        problem = f"its marginals have about {count_text(subsets)} subsets, more than {MAX_CLOSURE:,}"
        raise CapacityError(_FIELD, problem, "use fewer columns per marginal, or fewer marginals")


def _check_ranges(domain: Domain, columns: Sequence[str], threshold: int | None) -> None:
    for name in columns:
        if domain[name].ordered < FEWEST_IN_ORDER:
            raise InputError(column_field(name), "its values have no order, or are too few for ranges", "ask for ranges of other columns")
    if columns and threshold is not None:
        raise InputError(f"{_FIELD}.threshold", "ranges are asked for", "ask for one of the two")


def _clique_name(clique: Sequence[str]) -> str:
    named = " x ".join(clique[:5]) or "of no columns"
    return f"{named} and {len(clique) - 5:,} more" if len(clique) > 5 else named
