"""Rows of persons in order from one model of records (`layout`): persons with their number of rows, then row after row, then refinement.

Each row is drawn exactly given the person and the rows before it (`conditional`); then single values are changed until the tables of rows
are what the model says (`refine`). Rules hold for each person at every stage, as far as rules of the model's columns do. Knows released
values only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.conditional import Conditional
from dpsynth_core.extensions.sequences.keepable import example
from dpsynth_core.extensions.sequences.layout import LAST, START, SequenceLink
from dpsynth_core.extensions.sequences.refine import Ints, refine
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.households import HEAVY, PARENTS, LinkedCodes, kinds
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.vocabulary.link import NUMBER, Codes, places
from dpsynth_core.vocabulary.measurement import Clique

NEXT, TWO = "next", "two"
"""Kinds of tables: of a column beside another one of the row before, and beside the same one two rows before."""
TRIES = 50
"""How often the rows of a person are drawn, if rows leave none that could follow them."""
MOST_TABLES, MOST_CELLS = 400, 2_000_000
"""Largest number of tables that rows are refined to, and of cells of them together; smallest tables first."""


def draw(model: GraphicalModel, link: SequenceLink, n: int, rng: np.random.Generator) -> LinkedCodes:
    """Draw n synthetic persons with their rows in order, at random; the same state of `rng` gives the same ones.

    Args:
        model: A model of records. Its first columns are the persons' own and the number of rows; it may lack columns of rows before.
        link: The link of persons and rows.
        n: Number of persons.
        rng: Source of randomness.

    Raises:
        InputError: Nobody was found whose rows keep to all rules.
    """
    persons, sizes, rows = rough(model, link, n, rng)
    _keep(link, persons, sizes, rows, rng)
    wanted = _few(dict(wanted_tables(model, link, np.bincount(sizes, minlength=link.most + 1))))
    refined = refine(link, records_of(link, persons, sizes, rows), sizes, wanted, dict.fromkeys(wanted, 1.0), rng)
    owners, mine = np.repeat(np.arange(n), sizes), [link.domain.position(name) for name in link.members.names]
    rows[owners, places(sizes)] = refined[:, mine]
    _keep(link, persons, sizes, rows, rng)
    return LinkedCodes(persons.astype(np.int64), sizes, rows.astype(np.int64))


def rough(model: GraphicalModel, link: SequenceLink, n: int, rng: np.random.Generator) -> tuple[Codes, Ints, Codes]:
    """Return drawn persons as they are before rules of whole persons and refinement: codes, numbers of rows, and codes of the rows."""
    persons, sizes = _persons(model, link, n, rng)
    rows = np.zeros((n, link.most, len(link.members)), dtype=np.int32)
    _fill(model, link, persons, sizes, rows, rng)
    return persons, sizes, rows


def _fill(model: GraphicalModel, link: SequenceLink, persons: Codes, sizes: Ints, rows: Codes, rng: np.random.Generator) -> None:
    """Draw the rows of all persons, in place: each given the person and the rows before it.

    A person whose rows leave no possible next row is drawn anew, up to 50 times (`TRIES`), which is to draw given that all rows are
    possible. Persons who fail as often break a rule.

    Args:
        model: The model.
        link: The link.
        persons: Codes of the persons, shape (n, columns).
        sizes: Their numbers of rows, shape (n,).
        rows: Codes of their rows, shape (n, most, columns).
        rng: Source of randomness.
    """
    known = [name for name in link.domain.names if name in model.domain and name not in link.members]
    given, conditional = [link.domain.position(name) for name in known], Conditional(model, known, link.members.names)
    left = np.flatnonzero(sizes > 0)
    for _ in range(TRIES):
        failed = [left[:0]]
        for place in range(int(sizes[left].max(initial=0))):
            left = left[sizes[left] > place]
            records = link.row(persons[left], sizes[left], rows[left], place)
            rows[left, place], possible = conditional.draw(records[:, given], rng)
            failed.append(left[~possible])
            left = left[possible]
        left = np.sort(np.concatenate(failed))
        if not len(left):
            break


def broken(link: SequenceLink, persons: Codes, sizes: Ints, rows: Codes) -> NDArray[np.bool_]:
    """Return whether each person breaks a rule in any of its rows, shape (n,), what the layout says included.

    Args:
        link: The link.
        persons: Codes of the persons, shape (n, columns).
        sizes: Numbers of rows, shape (n,).
        rows: Codes of the rows, shape (n, most, columns).
    """
    wrong = np.zeros(len(sizes), dtype=bool)
    for size in range(link.most + 1):
        some = np.flatnonzero(sizes == size)
        for _, records in link.records(persons[some], sizes[some], rows[some]):
            here = np.zeros(len(records), dtype=bool)
            for clique, impossible in link.domain.zeros.items():
                here |= impossible[tuple(records[:, link.domain.position(name)] for name in clique)]
            wrong[some] = here.reshape(-1, len(some)).any(axis=0)
    return wrong


def _keep(link: SequenceLink, persons: Codes, sizes: Ints, rows: Codes, rng: np.random.Generator) -> None:
    """Make each person who breaks a rule a copy of one who breaks none, in place: of the same number of rows if there is one.

    If all break one, the first becomes an example of the rules (`keepable`), of the most frequent number of rows that has one.

    Raises:
        InputError: Nobody who has rows keeps all rules, and the rules are too large for an example.
    """
    wrong = broken(link, persons, sizes, rows)
    good = np.flatnonzero(~wrong & (sizes > 0))
    if wrong.any() and not len(good) and _put_example(link, persons, sizes, rows):
        wrong[0], good = False, np.array([0])
    if wrong.any() and not len(good):
        problem = "nobody was found whose rows keep to all of them; the budget is spent"
        raise InputError("members.rules", problem, "check that they can hold together, from a person's first row to the last one")
    for size in np.unique(sizes[wrong]):
        some = np.flatnonzero(wrong & (sizes == size))
        alike = good[sizes[good] == size]
        chosen = rng.choice(alike if len(alike) else good, len(some))
        for codes in (persons, rows, sizes):
            codes[some] = codes[chosen]


def _put_example(link: SequenceLink, persons: Codes, sizes: Ints, rows: Codes) -> bool:
    """Put an example of the rules in the place of the first person, and return whether there is one."""
    frequent = np.argsort(-np.bincount(sizes, minlength=link.most + 1), kind="stable")
    found = next((one for size in frequent if size and (one := example(link, int(size)))), None)
    if found is not None:
        persons[0], sizes[0], rows[0, : len(found[1])] = found[0], len(found[1]), found[1]
    return found is not None


def records_of(link: SequenceLink, persons: Codes, sizes: Ints, rows: Codes) -> NDArray[np.integer]:
    """Return one record for each row, person by person and in order, as codes of `link.domain` of the narrowest type.

    Args:
        link: The link.
        persons: Codes of the persons, shape (n, columns).
        sizes: Numbers of rows, shape (n,).
        rows: Codes of the rows, shape (n, most, columns).
    """
    records, first = np.empty((int(sizes.sum()), len(link.domain)), dtype=link.narrow), np.cumsum(sizes) - sizes
    for place in range(int(sizes.max(initial=0))):
        some = np.flatnonzero(sizes > place)
        records[first[some] + place] = link.row(persons[some], sizes[some], rows[some], place)
    return records


def _persons(model: GraphicalModel, link: SequenceLink, n: int, rng: np.random.Generator) -> tuple[Codes, Ints]:
    """Return the codes of n persons, shape (n, columns), and their numbers of rows, shape (n,)."""
    asked = [clique for clique, kind in kinds(link).items() if kind == PARENTS]
    weights = dict.fromkeys(asked, 1.0) | {(NUMBER,): HEAVY}
    codes = model.rows_of(model.domain.keep({*link.households.names, NUMBER}), n, weights, rng)
    return codes[:, :-1].astype(np.int32), codes[:, -1].astype(np.int64)


def tables(link: SequenceLink, columns: Collection[str]) -> dict[Clique, str]:
    """Return tables of rows, each with its kind, among tables of these columns.

    Tables of rows say which rows are the last ones, because the others are somebody's row before.
    """
    persons, mine = (*link.households.names, NUMBER), link.members.names
    every: dict[str, Iterator[Clique]] = {
        "rows": ((a, b, LAST) for a, b in combinations(mine, 2)),
        "across": ((a, b, LAST) for a, b in product(persons, mine)),
        "place": ((START, a, LAST) for a in mine),
        "same": ((name, lag, LAST) for lag, (name, back) in link.lags.items() if back == 1 and name != link.gap),
        NEXT: ((a, lag, LAST) for a, (lag, (b, back)) in product(mine, link.lags.items()) if back == 1 and a != b),
        TWO: ((name, lag) for lag, (name, back) in link.lags.items() if back > 1),
    }
    held = {link.domain.clique(names): kind for kind, some in every.items() for names in some if set(names) <= set(columns)}
    return held if link.most > 1 else {clique: kind for clique, kind in held.items() if kind in ("rows", "across", "place")}


def told(model: GraphicalModel, link: SequenceLink) -> list[Clique]:
    """Return the tables that rows are refined towards.

    Tables of two rows with different columns, or of rows two apart, are among them only if the model has a potential for them: of others
    it knows less than rows that were drawn one after the other, which carry on what each row says of the next. Towards all tables,
    rows two apart were 0.026 off instead of 0.015, and transitions too were worse.
    """
    known = [set(clique) for clique in model.cliques]
    every = tables(link, set(model.domain.names)).items()
    return [clique for clique, kind in every if kind not in (NEXT, TWO) or any(set(clique) - {LAST} <= one for one in known)]


def wanted_tables(model: GraphicalModel, link: SequenceLink, numbers: Ints) -> Iterator[tuple[Clique, NDArray[np.float64]]]:
    """Yield, for each table of `told`, how many rows the model predicts in each cell, where every row counts 1.

    A model says it for each number of rows: its shares there, times the rows of the persons with as many.

    Args:
        model: The model.
        link: The link.
        numbers: Number of persons with 0, 1, 2, ... rows.
    """
    rows = numbers * np.arange(len(numbers))
    for table in told(model, link):
        clique = link.domain.clique({*table, NUMBER})
        counts = np.moveaxis(np.maximum(model.marginal(clique), 0.0), clique.index(NUMBER), 0)
        shares = counts / np.maximum(counts.sum(axis=tuple(range(1, counts.ndim)), keepdims=True), 1e-9)
        counted = shares * rows.reshape(-1, *[1] * (shares.ndim - 1))
        yield table, np.moveaxis(counted, 0, table.index(NUMBER)) if NUMBER in table else counted.sum(axis=0)


def _few(wanted: Mapping[Clique, NDArray[np.float64]]) -> dict[Clique, NDArray[np.float64]]:
    smallest = sorted(wanted.items(), key=lambda one: one[1].size)[:MOST_TABLES]
    fitting = np.cumsum([values.size for _, values in smallest]) <= MOST_CELLS
    return {clique: values for (clique, values), fits in zip(smallest, fitting, strict=True) if fits}
