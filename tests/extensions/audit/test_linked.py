"""Two linked tables, audited through their files: tables that differ by a household, and a kernel that prices it too low."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.extensions.audit.cases import MU
from dpsynth_core.extensions.audit.evidence import FALSE_ALARM, from_draws, of_charges
from dpsynth_core.extensions.audit.losses import Losses
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.linked import LinkedSource
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.measurement import Clique

LINK = Link(Domain.from_json({"region": 2}), Domain.from_json({"sex": 2}), 3)
TABLES: tuple[Clique, ...] = (("region", "members"), ("region", "sex"), ("sex", "sex of another"))
DRAWS = 2000
LEVEL = FALSE_ALARM / 400
"""As in `test_operations`, whose findings these are counted with."""
OTHERS = tuple((region, (0, 1)[:size]) for size in range(3) for region in (0, 1))
"""Of everybody else: a region, and the sex of each member."""
Home = tuple[int, tuple[int, ...]]


class Once:
    """A source that reads its files once, however many kernels ask it."""

    def __init__(self, source: LinkedSource) -> None:
        self.domain, self._known = source.domain, source.counts(TABLES)
        self._roots = {clique: source.roots(clique, {}) for clique in TABLES}

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
        return {clique: self._known[clique] for clique in cliques}

    def roots(self, clique: Clique, groups: Mapping[str, Groups]) -> NDArray[np.int64]:
        assert not groups
        return self._roots[clique]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two sources in the place of an audit's tables."""

    tables: tuple[Once, Once]
    unit: Unit


def source(folder: Path, homes: Sequence[Home]) -> Once:
    """Both files. A stray row, of a key that no household has, is in each of them: it counts for nobody."""
    folder.mkdir()
    rows = [f"{key},{region}" for key, (region, _) in enumerate(homes)]
    owned = [f"{key},{sex}" for key, (_, members) in enumerate(homes) for sex in members]
    (folder / "homes.csv").write_text("\n".join(["id,region", *rows]) + "\n")
    (folder / "people.csv").write_text("\n".join(["id,sex", *owned, "99,1"]) + "\n")
    first, second = (opened(folder / name, TableFormat()) for name in ("homes.csv", "people.csv"))
    return Once(LinkedSource(LINK, first, second, "id"))


OPERATIONS = ("measure_marginals", "measure_roots")
Homes = tuple[Sequence[Home], Sequence[Home]]


def audited(folder: Path, unit: Unit, pair: Homes, clique: Clique, operation: str, priced: Unit | None = None) -> bool:
    """Whether a measured table of the pairs tells more than it is charged for, on tables that differ by a household. priced: the unit that
    the kernel is built with."""
    neighbours = Pair((source(folder / "one", [*OTHERS, *pair[0]]), source(folder / "two", [*OTHERS, *pair[1]])), unit)
    priced, noise = priced or unit, SeededNoise(1)
    asked = {"cliques": [clique]} if operation == "measure_marginals" else {"clique": clique}
    question = {**asked, "sigma": priced.marginal_l2 / MU}
    guess = Losses(neighbours).of(operation, question)  # type: ignore[arg-type]  # its tables can be counted
    kernels = [[PrivacyKernel(table, priced, 1e6, noise, 0.99, ZCDP) for _ in range(DRAWS)] for table in neighbours.tables]
    one, two = ([guess(getattr(kernel, operation)(**question)) for kernel in side] for side in kernels)
    return any(from_draws(claim, (one, two), LEVEL).broken for claim in of_charges(kernels[0][0].events))


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("clique", TABLES, ids=" x ".join)
@pytest.mark.parametrize("members", [(), (1,), (1, 1, 1), (0, 1, 1)], ids=str)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_household_of_any_size_tells_no_more_than_it_is_charged_for(
    tmp_path: Path, relation: str, clique: Clique, members: tuple[int, ...], operation: str
) -> None:
    before: list[Home] = [(0, (0, 0))] if relation == "replace" else []
    unit = Unit(relation, LINK.records_each, rows_may_not_count=True)
    assert not audited(tmp_path, unit, (before, [(1, members)]), clique, operation)


@pytest.mark.parametrize("members", [(1,), (1, 1, 1)], ids=len)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_household_at_half_its_price_is_found(tmp_path: Path, members: tuple[int, ...], operation: str) -> None:
    """Power: mu is twice what is claimed (`test_operations.test_how_much_a_build_sees` says from where on that is seen)."""
    unit = Unit("add-remove", LINK.records_each, rows_may_not_count=True)
    half = Unit("add-remove", LINK.records_each // 2, rows_may_not_count=True)
    assert audited(tmp_path, unit, ([], [(1, members)]), ("region", "members"), operation, half)
