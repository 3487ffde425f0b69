"""Random small record problems, whose answer can be found by trying every record."""

from __future__ import annotations

import numpy as np

from dpsynth_core.extensions.research.oracles.records.problem import NO_COLUMN, RecordProblem, Records, SignedQueries
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.zeros import StructuralZeros


def random_domain(rng: np.random.Generator, *, zeros: bool) -> Domain:
    """3 to 5 columns of 2 to 6 values, and up to three rules, never so many that nothing is possible (code 0 everywhere always is)."""
    attributes = tuple(Attribute.coded(f"c{i}", int(rng.integers(2, 7))) for i in range(rng.integers(3, 6)))
    rules = []
    for _ in range(rng.integers(1, 4) if zeros else 0):
        chosen = rng.choice(len(attributes), size=int(rng.integers(2, 4)), replace=False)
        boxes = [tuple(sorted(rng.choice(attributes[a].size, size=max(1, attributes[a].size // 2), replace=False))) for a in chosen]
        boxes[0] = tuple(code for code in boxes[0] if code != 0) or (1,)
        rules.append(StructuralZeros(tuple(attributes[a].name for a in chosen), (tuple(tuple(map(int, b)) for b in boxes),)))
    return Domain(attributes, tuple(rules))


def random_queries(rng: np.random.Generator, domain: Domain, number: int, *, whole: bool = True) -> SignedQueries:
    """Queries of 1 to 3 columns, any threshold, either sign, some of them twice."""
    records = Records.of(domain)
    columns = np.full((number, 3), NO_COLUMN, dtype=np.int32)
    values = columns.copy()
    thresholds = np.ones(number, dtype=np.int32)
    for i in range(number):
        if i and rng.random() < 0.2:
            j = int(rng.integers(i))
            columns[i], values[i], thresholds[i] = columns[j], values[j], thresholds[j]
            continue
        k = int(rng.integers(1, 4))
        columns[i, :k] = np.sort(rng.choice(len(domain), size=k, replace=False))
        values[i, :k] = [rng.integers(records.sizes[c]) for c in columns[i, :k]]
        thresholds[i] = rng.integers(1, k + 1)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), size=number)
    weights = rng.integers(0, 5, size=number).astype(np.float64) if whole else rng.random(number) * 3
    return SignedQueries(records, columns, values, thresholds, signs, weights)


def random_problem(rng: np.random.Generator, *, zeros: bool = False, whole: bool = False) -> RecordProblem:
    domain = random_domain(rng, zeros=zeros)
    queries = random_queries(rng, domain, int(rng.integers(0, 25)), whole=whole)
    scale = rng.choice([0.1, 1.0, 5.0])
    noise = [rng.laplace(0.0, scale, size) for size in queries.records.sizes]
    return RecordProblem(queries, tuple(np.rint(costs) if whole else costs for costs in noise))
