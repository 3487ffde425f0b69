"""Workloads drawn from a seed: what the papers' descriptions say, written again by listing every set."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from itertools import accumulate, combinations
from random import Random
from typing import Any

import pytest

from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.drawn_marginals import PAPER_DRAWS, RANDOM, SKEWED, Draw
from dpsynth_core.vocabulary.workload import Workload, drawn, from_json, from_lines
from tests.refusals import refused

NAMES = tuple("abcdefghi")
DOMAIN = Domain.from_json(dict.fromkeys(NAMES, 2))


def listed_skewed(names: tuple[str, ...], k: int, draws: int, seed: int) -> Counter[tuple[str, ...]]:
    """AIM, section 6.1, word by word: a squared exponential weight per column; draws in proportion to the product of the weights."""
    rng = Random(seed)
    weight = {name: (-math.log(1.0 - rng.random())) ** 2 for name in names}
    sets = list(combinations(names, k))
    until = list(accumulate(math.prod(weight[name] for name in one) for one in sets))
    return Counter(sets[min(bisect_right(until, rng.random() * until[-1]), len(sets) - 1)] for _ in range(draws))


@pytest.mark.parametrize(("k", "seed"), [(3, 0), (3, 1), (1, 7), (2, 2**62), (9, 5)])
def test_skewed_is_the_aim_papers_description_with_every_set_listed(k: int, seed: int) -> None:
    workload = drawn(DOMAIN, Draw(SKEWED, k, PAPER_DRAWS, seed))
    assert dict(workload.weights) == dict(listed_skewed(NAMES, k, PAPER_DRAWS, seed))
    assert sum(workload.weights.values()) == PAPER_DRAWS == 256  # section 6.1


def test_skewed_prefers_some_columns_by_far() -> None:
    often = Counter(name for r, times in drawn(DOMAIN, Draw(SKEWED, 3, 256, 0)).weights.items() for name in r * int(times))
    assert max(often.values()) > 5 * min(often.get(name, 0) for name in NAMES)  # all alike would be 85 each


def test_random_is_so_many_different_sets_and_can_be_all_of_them() -> None:
    workload = drawn(DOMAIN, Draw(RANDOM, 3, 64, 3))
    assert len(workload.cliques) == 64
    assert set(workload.weights.values()) == {1.0}
    assert set(drawn(DOMAIN, Draw(RANDOM, 3, 84, 3)).cliques) == set(combinations(NAMES, 3))


def test_random_takes_every_set_equally_often() -> None:
    """84 sets, 1 drawn by each of 8,400 seeds: chi-square with 83 degrees of freedom, of which 150 is exceeded once in 100,000 times."""
    counts = Counter(drawn(DOMAIN, Draw(RANDOM, 3, 1, seed)).cliques[0] for seed in range(8400))
    assert len(counts) == 84
    assert sum((n - 100) ** 2 / 100 for n in counts.values()) < 150


@pytest.mark.parametrize("draw", [Draw(RANDOM, 3, 5, 1), Draw(SKEWED, 2, 5, 1)])
def test_json_keeps_how_it_was_drawn_and_means_the_same(draw: Draw) -> None:
    workload = drawn(DOMAIN, draw)
    assert workload.to_json() == {"kind": draw.kind, "k": draw.k, "count": 5, "seed": 1}
    assert from_json(DOMAIN, workload.to_json()) == workload
    assert from_json(DOMAIN, workload.asking(1).to_json()) == workload.asking(1)


def test_a_seed_means_these_marginals_for_ever() -> None:
    """Published plans name a seed: what it draws must never change."""
    assert drawn(DOMAIN, Draw(RANDOM, 3, 3, 1)).cliques == (("a", "c", "h"), ("d", "e", "f"), ("d", "g", "h"))
    skewed = (("b", "c", "e"), ("b", "c", "h"), ("b", "g", "h"), ("c", "e", "h"))
    assert drawn(DOMAIN, Draw(SKEWED, 3, 4, 1)).cliques == skewed


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"count": 85}, "84 sets of 3, fewer than 85"),
        ({"count": 0}, "from 1"),
        ({"count": 10**9}, "from 1"),
        ({"count": True}, "whole number"),
        ({"seed": -1}, "from 0"),
        ({"seed": 1.5}, "whole number"),
        ({"k": 10}, "from 1 to the 9 columns"),
        ({"weight": 1}, "unknown"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change: dict[str, Any], words: str) -> None:
    refused(from_json, DOMAIN, {"kind": "random", "k": 3, "count": 5, "seed": 0} | change, saying=words)


def test_too_many_subsets_are_refused_before_anything_is_drawn() -> None:
    wide = Domain.from_json({f"c{i}": 2 for i in range(60)})
    refused(drawn, wide, Draw(SKEWED, 10, 250_000, 0), kind=CapacityError)


def test_draws_that_would_take_minutes_are_refused_before_anything_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = Domain.from_json({f"c{i}": 2 for i in range(1000)})
    monkeypatch.setattr(Draw, "weights", lambda *_: {("c0", "c1", "c2"): 1})
    assert drawn(wide, Draw(RANDOM, 3, 25_000, 0)).cliques == (("c0", "c1", "c2"),)
    for kind in (RANDOM, SKEWED):
        with pytest.raises(CapacityError, match="25,001 draws from 1,000 columns take too long; draw at most 25,000"):
            drawn(wide, Draw(kind, 3, 25_001, 0))


def test_lines_of_columns_and_weights() -> None:
    domain = Domain.from_json({"age": 2, "sex, all": 2, "a:b": 2})
    workload = from_lines(domain, 'age\n"sex, all", age: 2.5\n\na:b\nage,a:b:3\n')
    assert dict(workload.weights) == {("age",): 1.0, ("age", "sex, all"): 2.5, ("a:b",): 1.0, ("age", "a:b"): 3.0}
    assert from_json(domain, workload.to_json()) == workload


@pytest.mark.parametrize("text", ["age: 1\n39, Secret: 77516", "age: 1\nage: Secret", "age: 1\nSecret", "age: 1\nSecret" + 140_000 * "x"])
def test_a_line_that_cannot_be_read_is_numbered_and_not_shown(text: str) -> None:
    error = refused(from_lines, Domain.from_json({"age": 2}), text, saying="line 2")
    assert "Secret" not in str(error)


def test_a_domain_that_is_completed_keeps_the_drawn_workload() -> None:
    workload = drawn(DOMAIN, Draw(SKEWED, 2, 9, 4))
    assert Workload(DOMAIN, workload.weights, 1, workload.draw) == workload.asking(1)
