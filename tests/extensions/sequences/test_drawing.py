"""Rows of persons in order, drawn from a model of records: exact conditionals, rules, the same rows from the same state, refinement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dpsynth_core.extensions.sequences import drawing
from dpsynth_core.extensions.sequences.conditional import Conditional
from dpsynth_core.extensions.sequences.drawing import broken, draw, records_of, tables, told, wanted_tables
from dpsynth_core.extensions.sequences.layout import LAST, START, SequenceLink
from dpsynth_core.extensions.sequences.refine import refine
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.contraction import Contractor
from dpsynth_core.inference.estimation import estimate
from dpsynth_core.inference.households import LinkedCodes
from dpsynth_core.inference.model import GraphicalModel, structure_of
from dpsynth_core.inference.rare_values import ColumnFolding, Folding
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.released import of_codes
from dpsynth_core.vocabulary.zeros import StructuralZeros

PERSONS = Domain((Attribute.coded("sex", 2), Attribute.coded("age", 3)))
GAP = Attribute.integer("gap", 0, 2, missing=True)
ROWS = Domain((Attribute.coded("ward", 3), Attribute.coded("end", 2), GAP))
Rows = tuple[tuple[int, ...], ...]
NEVER = 1e-9
"""Share of correct programs that a statistical test here would call wrong."""


def linked(*, everybody: bool = True, most: int = 3, gap: bool = True, rules: Sequence[StructuralZeros] = ()) -> SequenceLink:
    rows = ROWS if gap else ROWS.keep(["ward", "end"])
    return SequenceLink(PERSONS, rows, most, tuple(rules), order="admitted", gap="gap" if gap else None, everybody=everybody)


def modelled(link: SequenceLink, seed: int, strength: float = 1.0, *, deep: bool = True, folding: Folding | None = None) -> GraphicalModel:
    """Return a model of records with random potentials, in which all possible numbers of rows are equally frequent."""
    domain = link.domain if deep else link.domain.keep([name for name in link.domain.names if link.lags.get(name, ("", 1))[1] == 1])
    asked = [(NUMBER, "sex"), ("age", "ward"), ("ward", "end"), ("ward", "ward before"), ("end", "ward before"), ("end", LAST)]
    asked += [(START, "ward"), *([("ward", "ward two before")] if deep else []), *([("gap", "end before")] if link.gap else [])]
    folding = folding or Folding(domain)
    structure = structure_of(folding.model, [domain.clique(names) for names in asked])
    rng = np.random.default_rng(seed)
    potentials = tuple(strength * rng.normal(size=[structure.sizes[a] for a in labels]) for labels in structure.cliques)
    model = GraphicalModel(folding, structure, potentials, 1000.0, Contractor(structure.sizes))
    numbers = model.marginal((NUMBER,))
    place = next(i for i, clique in enumerate(model.cliques) if {"sex", NUMBER} <= {*clique})
    shape = [1 if name != NUMBER else -1 for name in model.cliques[place]]
    potentials[place][:] -= np.log(np.where(numbers > 0, numbers, 1.0)).reshape(shape)
    return replace(model)  # which forgets what followed from the earlier potentials


@pytest.mark.parametrize("deep", [True, False])
@pytest.mark.parametrize("everybody", [True, False])
@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_rows_are_those_of_persons_and_keep_what_the_layout_says(most: int, everybody: bool, deep: bool) -> None:
    link = linked(everybody=everybody, most=most)
    drawn = draw(modelled(link, 1, deep=deep), link, 400, np.random.default_rng(2))
    assert drawn.households.shape == (400, 2)
    assert drawn.members.shape == (400, most, 3)
    assert drawn.sizes.min() == (1 if everybody else 0)
    assert drawn.sizes.max() <= most
    assert not violations(link, drawn).any()
    owners, rows = drawn.listed()
    first = np.append(True, np.diff(owners) > 0)
    assert (rows[first, 2] == GAP.missing_code).all()


def violations(link: SequenceLink, drawn: LinkedCodes) -> np.ndarray:
    """Return the number of forbidden cells that each record of these persons is in, persons without rows included."""
    wrong = []
    for _, records in link.records(drawn.households.astype(np.int32), drawn.sizes, drawn.members.astype(np.int32)):
        here = np.zeros(len(records), dtype=int)
        for clique, table in link.domain.zeros.items():
            here += table[tuple(records[:, link.domain.position(name)] for name in clique)]
        wrong.append(here)
    return np.concatenate(wrong)


def joint(model: GraphicalModel) -> np.ndarray:
    """Return the probability of each record of a model without folding, by its definition."""
    sizes, logs = model.structure.sizes, np.zeros(model.structure.sizes)
    for labels, table in zip(model.structure.cliques, model.log_potentials, strict=True):
        logs = logs + table.reshape([sizes[a] if a in labels else 1 for a in range(len(sizes))])
    for clique, impossible in model.domain.zeros.items():
        labels = [model.domain.position(name) for name in clique]
        logs = np.where(impossible.reshape([sizes[a] if a in labels else 1 for a in range(len(sizes))]), -np.inf, logs)
    shares = np.exp(logs - logs.max())
    return shares / shares.sum()


def unlike(counts: np.ndarray, shares: np.ndarray) -> bool:
    """Return whether counts contradict the shares of cells: a chi-square test, with rare cells put together."""
    assert (counts[shares == 0] == 0).all()
    expected = shares * counts.sum()
    rare = expected < 20
    seen, wanted = (np.append(table[~rare], table[rare].sum()) for table in (counts, expected))
    some = wanted > 0
    if some.sum() < 2:
        return False
    statistic = float(((seen[some] - wanted[some]) ** 2 / wanted[some]).sum())
    return bool(stats.chi2.sf(statistic, some.sum() - 1) < NEVER)


DEAD = StructuralZeros(("end", LAST), (((1,), (0,)),))
AFTER = StructuralZeros(("ward", "ward before"), (((0, 1, 2), (2,)), ((0,), (0,))))
"""Nothing follows ward 2, and ward 0 never follows itself: rows may have no possible next row."""


@pytest.mark.parametrize("deep", [True, False])
@pytest.mark.parametrize("rules", [(), (DEAD,), (DEAD, AFTER)])
def test_a_row_is_drawn_exactly_given_all_before_it(rules: tuple[StructuralZeros, ...], deep: bool) -> None:
    link = linked(gap=False, rules=rules)
    model = modelled(link, 4, deep=deep)
    everything, names, n = joint(model), model.domain.names, 20_000
    known = [name for name in names if name not in link.members]
    conditional, rng = Conditional(model, known, link.members.names), np.random.default_rng(5)
    order = [names.index(name) for name in (*known, *link.members.names)]
    table = everything.transpose(order).reshape(-1, np.prod([column.size for column in link.members]))
    given = np.argwhere(everything.transpose(order).sum(axis=(-1, -2)) > 0)
    for line in rng.permutation(given)[:12]:
        cell = np.ravel_multi_index(tuple(line), [model.domain[name].size for name in known])
        codes, possible = conditional.draw(np.tile(line, (n, 1)), rng)
        assert possible.all()
        counts = np.bincount(np.ravel_multi_index(tuple(codes.T), (3, 2)), minlength=6)
        assert not unlike(counts, table[cell] / table[cell].sum())


def test_a_line_without_any_possible_row_is_told() -> None:
    link = linked(gap=False, rules=[AFTER])
    model = modelled(link, 4)
    known = [name for name in model.domain.names if name not in link.members]
    row = {"sex": 0, "age": 0, NUMBER: 2, START: 1, LAST: 1, "ward before": 0, "end before": 0, "ward two before": 3, "end two before": 2}
    lines = np.array([[row[name] for name in known], [(row | {"ward before": 2})[name] for name in known]])
    assert Conditional(model, known, link.members.names).draw(lines, np.random.default_rng(1))[1].tolist() == [True, False]


@pytest.mark.parametrize("ages", [(0,), (0, 1, 2)])
def test_numbers_that_underflow_are_drawn_as_exactly(ages: tuple[int, ...]) -> None:
    """Two tables that contradict each other by a factor of e^800 in each ward leave shares as they were, at the ages concerned."""
    link = linked(gap=False)
    model = modelled(link, 4)
    tables, far = [*model.log_potentials], np.array([0.0, -400.0, -800.0])
    of_age, of_end = (model.cliques.index(model.domain.clique(names)) for names in (("age", "ward"), ("ward", "end")))
    tables[of_age] = tables[of_age] + np.isin(np.arange(3), ages)[:, None] * far
    tables[of_end] = tables[of_end] + far[::-1, None]
    names = model.domain.names
    known = [name for name in names if name not in link.members]
    row = {"sex": 0, "age": 0, NUMBER: 2, START: 1, LAST: 1, "ward before": 0, "end before": 0, "ward two before": 3, "end two before": 2}
    lines = np.tile([row[name] for name in known], (20_000, 1))
    conditional = Conditional(replace(model, log_potentials=tuple(tables)), known, link.members.names)
    codes, possible = conditional.draw(lines, np.random.default_rng(1))
    assert possible.all()
    shares = joint(model)[tuple(row.get(name, slice(None)) for name in names)].ravel()
    assert not unlike(np.bincount(np.ravel_multi_index(tuple(codes.T), (3, 2)), minlength=6), shares / shares.sum())


def paths(
    link: SequenceLink, everything: np.ndarray, domain: Domain, person: Sequence[int], size: int
) -> dict[tuple[tuple[int, ...], ...], float]:
    """Return the probability of each possible sequence of rows of a person, by row after row, all of them possible."""
    sizes, found = [column.size for column in link.members], dict[Rows, float]()
    for rows in product(product(*map(range, sizes)), repeat=size):
        chance = 1.0
        codes = np.zeros((1, link.most, len(sizes)), dtype=np.int32)
        codes[0, :size] = rows
        for place in range(size):
            record = link.row(np.array([person], dtype=np.int32), np.array([size]), codes, place)[0]
            cell = [int(record[link.domain.position(name)]) for name in domain.names]
            given = everything[tuple(slice(None) if name in link.members else c for name, c in zip(domain.names, cell, strict=True))]
            own = tuple(c for name, c in zip(domain.names, cell, strict=True) if name in link.members)
            chance *= given[own] / given.sum() if given.sum() else 0.0
        if chance > 0:
            found[rows] = chance
    whole = sum(found.values())
    return {rows: chance / whole for rows, chance in found.items()}


@pytest.mark.parametrize("rules", [(), (DEAD, AFTER)])
@pytest.mark.parametrize("deep", [True, False])
def test_persons_rows_are_drawn_given_that_all_are_possible(
    rules: tuple[StructuralZeros, ...], deep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = linked(gap=False, rules=rules)
    model, persons = modelled(link, 6, deep=deep), np.tile(np.array([1, 2], dtype=np.int32), (20_000, 1))
    monkeypatch.setattr(drawing, "_persons", lambda *_: (persons, np.full(len(persons), 3)))
    monkeypatch.setattr(drawing, "refine", lambda _, records, *__: records)
    drawn = draw(model, link, len(persons), np.random.default_rng(7))
    likely = paths(link, joint(model), model.domain, (1, 2), 3)
    number = {rows: place for place, rows in enumerate(likely)}
    held = [number[tuple(map(tuple, rows))] for rows in drawn.members.tolist()]
    assert not unlike(np.bincount(held, minlength=len(likely)), np.array([*likely.values()]))


def random_rules(link: SequenceLink, rng: np.random.Generator) -> list[StructuralZeros]:
    """Return one to three rules, each about two or three columns that rules may name."""
    names, rules = [column.name for column in link.columns], []
    for _ in range(rng.integers(1, 4)):
        clique = link.domain.clique(rng.choice(names, rng.integers(2, 4), replace=False))
        box = tuple(tuple(np.flatnonzero(rng.random(link.domain[name].size) < 0.5).tolist()) or (0,) for name in clique)
        rules.append(StructuralZeros(clique, (box,)))
    return rules


@pytest.mark.parametrize("seed", range(60))
def test_no_person_breaks_a_rule(seed: int) -> None:
    rng = np.random.default_rng(seed)
    everybody, most, gap = bool(rng.integers(2)), int(rng.integers(1, 5)), bool(rng.integers(2))
    rules = random_rules(linked(everybody=everybody, most=most, gap=gap), rng)
    link = linked(everybody=everybody, most=most, gap=gap, rules=rules)
    try:
        model = modelled(link, seed, 2.0, deep=bool(rng.integers(2)))
    except InputError:
        return  # the rules leave no possible record
    if not can_hold(link):
        with pytest.raises(InputError, match="nobody was found"):
            draw(model, link, 200, rng)
        return
    drawn = draw(model, link, 200, rng)
    assert not violations(link, drawn).any()
    assert not broken(link, drawn.households.astype(np.int32), drawn.sizes, drawn.members.astype(np.int32)).any()


def can_hold(link: SequenceLink) -> bool:
    """Return whether some person has rows that keep all rules, tried one by one."""
    sizes = [column.size for column in link.members]
    every = np.array([*product(*map(range, sizes))], dtype=np.int32)
    for person in product(*(range(column.size) for column in link.households)):
        for size in range(1, link.most + 1):
            held = np.zeros((1, 0, len(sizes)), dtype=np.int32)
            for place in range(size):
                rows = np.concatenate([np.repeat(held, len(every), axis=0), np.tile(every, (len(held), 1))[:, None]], axis=1)
                records = link.row(np.tile(np.array(person, dtype=np.int32), (len(rows), 1)), np.full(len(rows), size), rows, place)
                good = np.ones(len(rows), dtype=bool)
                for clique, impossible in link.domain.zeros.items():
                    good &= ~impossible[tuple(records[:, link.domain.position(name)] for name in clique)]
                held = rows[good]
                _, first = np.unique(held[:, -2:].reshape(len(held), min(place + 1, 2) * len(sizes)), axis=0, return_index=True)
                held = held[first]  # what may follow depends on the last two rows
            if len(held):
                return True
    return False


def test_rules_that_nobody_can_keep_are_told() -> None:
    nothing_follows = StructuralZeros(("ward", "ward before"), (((0, 1, 2), (0, 1, 2)),))
    several = StructuralZeros((NUMBER, "sex"), (((1,), (0, 1)),))
    link = linked(rules=[nothing_follows, replace(several, attributes=("sex", NUMBER), boxes=(((0, 1), (1,)),))])
    assert not can_hold(link)
    with pytest.raises(InputError, match="nobody was found") as error:
        draw(modelled(link, 1), link, 50, np.random.default_rng(1))
    assert error.value.field == "members.rules"


def test_persons_of_a_number_of_rows_that_no_rules_allow_become_others() -> None:
    nothing_follows = StructuralZeros(("ward", "ward before"), (((0, 1, 2), (0, 1, 2)),))
    link = linked(rules=[nothing_follows])
    drawn = draw(modelled(link, 1), link, 50, np.random.default_rng(1))
    assert (drawn.sizes == 1).all()


def test_values_that_the_model_folds_are_drawn_by_their_shares() -> None:
    link = linked(gap=False)
    fold = ColumnFolding(np.array([0, 0, 1]), np.array([0.25, 0.75, 1.0]))
    model = modelled(link, 3, folding=Folding(link.domain, {"ward": fold}))
    drawn = draw(model, link, 4000, np.random.default_rng(1))
    wards = np.bincount(drawn.listed()[1][:, 0], minlength=3)
    assert stats.binomtest(int(wards[1]), int(wards[:2].sum()), 0.75).pvalue > NEVER
    assert not violations(link, drawn).any()


def test_the_same_state_gives_the_same_rows() -> None:
    link = linked()
    one, two, other = (draw(modelled(link, 1), link, 300, np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert (one.households == two.households).all()
    assert (one.members == two.members).all()
    assert (one.sizes == two.sizes).all()
    assert not (one.members == other.members).all()


@dataclass(frozen=True)
class Before:
    records: np.ndarray
    sizes: np.ndarray
    wanted: dict[Clique, np.ndarray]


def unrefined(link: SequenceLink, model: GraphicalModel, monkeypatch: pytest.MonkeyPatch) -> Before:
    """Return what refinement is given for persons of a model."""
    kept = []
    monkeypatch.setattr(drawing, "refine", lambda _, records, *others: kept.append((records, *others)) or records)
    draw(model, link, 500, np.random.default_rng(1))
    records, sizes, wanted = kept[0][:3]
    return Before(records, sizes, wanted)


def of_persons(link: SequenceLink, seed: int) -> GraphicalModel:
    """Return a model that was told transitions and other tables of 2,000 persons, whose next ward mostly follows from the ward before."""
    rng, n = np.random.default_rng(seed), 2000
    persons, sizes = rng.integers(0, (2, 3), (n, 2)).astype(np.int32), rng.integers(1, link.most + 1, n)
    rows = np.zeros((n, link.most, 2), dtype=np.int32)
    for place in range(link.most):
        after = np.where(rng.random(n) < 0.7, rows[:, place - 1, 0] + 1 + rows[:, place - 1, 1], rows[:, place - 1, 0]) % 3
        rows[:, place, 0] = after if place else rng.integers(0, 3, n)
        rows[:, place, 1] = rng.random(n) < np.array([0.2, 0.5, 0.9])[rows[:, place, 0]]
    asked = [
        (NUMBER, START, LAST),
        ("sex", NUMBER),
        ("ward", "end", LAST),
        ("ward", "ward before"),
        ("ward", "end before"),
        ("age", "ward"),
    ]
    cliques = [link.domain.clique(names) for names in asked]
    counts = {clique: np.zeros(link.domain.sizes(clique)) for clique in cliques}
    for times, records in link.records(persons, sizes, rows):
        for clique in cliques:
            counts[clique] += times / link.records_each * of_codes(link.domain, records, clique, np.ones(len(records)))
    return estimate(link.domain, [Measurement(clique, table, 1.0) for clique, table in counts.items()], float(n))


@pytest.mark.parametrize("seed", range(4))
def test_refinement_brings_transitions_nearer_to_those_of_a_model_of_persons(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    link = linked(most=4, gap=False)
    before = unrefined(link, of_persons(link, seed), monkeypatch)
    weights = dict.fromkeys(before.wanted, 1.0)
    refined = refine(link, before.records, before.sizes, before.wanted, weights, np.random.default_rng(seed))
    kinds = tables(link, set(link.domain.names))
    first, now = (losses(link, records, before.wanted) for records in (before.records, refined))
    transitions = [clique for clique in before.wanted if kinds[clique] in ("same", "next")]
    assert len(transitions) > 2
    assert sum(now[clique] for clique in transitions) < 0.5 * sum(first[clique] for clique in transitions)


def losses(link: SequenceLink, records: np.ndarray, wanted: dict[Clique, np.ndarray]) -> dict[Clique, float]:
    """Return the loss of each table, by its definition: h is quadratic up to half of 1 + target, and linear beyond."""
    found = {}
    for clique, target in wanted.items():
        off, scale = np.abs(of_codes(link.domain, records, clique, np.ones(len(records))) - target), 1 + target
        found[clique] = float(np.where(2 * off <= scale, off**2 / scale, off - scale / 4).sum())
    return found


@pytest.mark.parametrize("seed", range(6))
def test_refinement_never_worsens_the_loss(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    link = linked(most=4)
    before = unrefined(link, modelled(link, seed, 2.0), monkeypatch)
    again = before.records
    for passes in range(3):
        weights = dict.fromkeys(before.wanted, 1.0)
        after = refine(link, again, before.sizes, before.wanted, weights, np.random.default_rng(seed), passes)
        assert sum(losses(link, after, before.wanted).values()) <= sum(losses(link, again, before.wanted).values()) + 1e-2
        again = after


def test_wanted_tables_count_every_row_once() -> None:
    link = linked(everybody=False)
    numbers = np.array([50, 30, 20, 10])
    model = modelled(link, 3)
    wanted = dict(wanted_tables(model, link, numbers))
    assert [*wanted] == told(model, link)
    for table in wanted.values():
        assert table.sum() == pytest.approx(30 + 2 * 20 + 3 * 10)


def test_rows_far_apart_are_refined_only_towards_what_the_model_was_told_of_them() -> None:
    link = linked()
    asked = told(modelled(link, 1), link)
    kinds = tables(link, set(link.domain.names))
    far = {clique for clique in asked if kinds[clique] in ("next", "two")}
    clique = link.domain.clique
    assert far == {clique(("end", "ward before", LAST)), clique(("gap", "end before", LAST)), clique(("ward", "ward two before"))}
    assert {*asked} - far == {one for one, kind in kinds.items() if kind not in ("next", "two")}


def test_records_are_those_of_the_layout() -> None:
    link = linked()
    drawn = draw(modelled(link, 1), link, 100, np.random.default_rng(2))
    persons, rows = drawn.households.astype(np.int32), drawn.members.astype(np.int32)
    ours = records_of(link, persons, drawn.sizes, rows)
    theirs = np.concatenate([records for _, records in link.records(persons, drawn.sizes, rows)])
    assert (ours[np.lexsort(ours.T)] == theirs[np.lexsort(theirs.T)]).all()
