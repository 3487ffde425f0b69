"""Survey weights of households and their members: what one household changes, both tables' totals, and recipients who follow."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.bundle.unpack import Bundle
from dpsynth_core.bundle.verdicts import FAILED, PASSED
from dpsynth_core.claims import weighing
from dpsynth_core.claims.weighted import WEIGHTED
from dpsynth_core.claims.weights import Weighted
from dpsynth_core.mechanisms.graphical.households import workload
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.release.linked import pairs
from dpsynth_core.release.release import Release
from dpsynth_core.release.rows import HeldRows
from dpsynth_core.report.asking import Answer, Asked, ask
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.linked import LinkedSource
from dpsynth_core.sources.opening import opened
from dpsynth_core.statistics.raking import raked, tilted
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER, Link
from tests.privacy.tables import GlassNoise
from tests.refusals import refused
from tests.releases import found, run

LARGEST, MOST = 8.0, 3
HOUSEHOLDS = Domain((Attribute.coded("region", 2), Attribute.numeric("w", 0.0, LARGEST, bins=4, nearest=True)))
MEMBERS = Domain.from_json({"sex": 2, "age": 4})
Household = tuple[int, float, tuple[tuple[int, int], ...]]
"""Its region, its weight, and the sex and age of each member, in file order."""


def spec(folder: Path, most: int = MOST, **more: Any) -> Spec:
    whole = {
        "population": "trial", "data": {"path": str(folder / "homes.csv")}, "domain": HOUSEHOLDS.to_json(),
        "members": {"path": str(folder / "people.csv"), "domain": MEMBERS.to_json()},
        "unit": {"person_column": "id", "max_rows_per_person": most}, "workload": workload(Link(HOUSEHOLDS, MEMBERS, most)).to_json(),
        "budget": {"epsilon": 8.0, "delta": 1e-9, "certificate": 0.05, "weighted": 0.2}, "mechanism": {"name": "households"},
        "weight": {"column": "w"},
    }  # fmt: skip
    return Spec.from_json(whole | more)


def source(households: list[Household], most: int) -> LinkedSource:
    homes = pd.DataFrame([(f"h{key}", region, w) for key, (region, w, _) in enumerate(households)], columns=["id", "region", "w"])
    members = [(f"h{key}", sex, age) for key, (_, _, owned) in enumerate(households) for sex, age in owned]
    people, form = pd.DataFrame(members, columns=["id", "sex", "age"]), TableFormat()
    return LinkedSource(Link(HOUSEHOLDS, MEMBERS, most), opened(homes.astype(str), form), opened(people.astype(str), form), "id")


def survey(households: int) -> list[Household]:
    """Weights go with regions, some are above the largest that counts; large ones of one region are younger."""
    rng, made = np.random.default_rng(7), list[Household]()
    for region, size in zip(rng.integers(0, 2, households), rng.integers(0, MOST + 2, households), strict=True):
        members = tuple((int(sex), max(0, int(age) - int(size > 2 and region))) for sex, age in rng.integers(0, (2, 4), (size, 2)))
        made.append((int(region), round(float(rng.gamma(4.0, 1.2 if region else 0.6)), 3), members))
    return made


def true(households: list[Household], column: str, of_members: bool) -> np.ndarray:
    """What those in each cell weigh."""
    sums = np.zeros(MOST + 1 if column == NUMBER else 4 if column == "age" else 2)
    for region, w, members in households:
        counted = members[:MOST]
        own = [region if column == "region" else len(counted)]
        cells = [age if column == "age" else sex for sex, age in counted] if of_members else own
        np.add.at(sums, cells, min(w, LARGEST))
    return sums


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("most", [1, 2])
def test_no_neighbour_is_further_in_weighted_tables_than_is_charged(relation: str, most: int) -> None:
    """Of every household there can be, next to none and next to every other; with more members than count, and a weight above the largest.
    Counts add up over households. And some neighbour is as far (but where one member counts, who is charged as two)."""
    plan = Plan.of(spec(Path(), most, unit={"relation": relation, "person_column": "id", "max_rows_per_person": most}))
    owned = [members for size in range(most + 2) for members in product(((0, 0), (1, 3)), repeat=size)]
    seen: list[dict[tuple[int, str], np.ndarray]] = []
    charged: dict[tuple[int, str], float] = {}
    for household in [None, *product(range(2), (0.0, LARGEST, 50.0), owned)]:
        glass, told = GlassNoise(), dict[tuple[int, str], np.ndarray]()
        kernel = PrivacyKernel(source([] if household is None else [household], most), plan.unit, 1e9, glass)
        cells, times, _ = weighing._steps(plan.domain["w"], plan.link)
        fine = kernel.over(Domain(tuple(cells if one.name == "w" else one for one in plan.domain)))
        for number, columns in enumerate((("region", NUMBER), ("sex", "age"))):
            for column in columns:
                weighing._view(plan, fine, times, bool(number)).measure_marginals([(column,)], 1.0)[0]
                told[number, column], charged[number, column] = glass.seen[-1][0].ravel(), kernel.events[-1].l2
        seen.append(told)
    compared = combinations_with_replacement(seen[1:], 2) if relation == "replace" else ((seen[0], one) for one in seen[1:])
    furthest = dict.fromkeys(charged, 0.0)
    for one, other in compared:
        for table in charged:
            furthest[table] = max(furthest[table], float(np.sqrt(((one[table] - other[table]).astype(float) ** 2).sum())))
    for (number, column), distance in furthest.items():
        assert distance <= charged[number, column] * (1 + 1e-15)
        assert distance == pytest.approx(charged[number, column] / (2 if most == 1 and number else 1), rel=1e-12)


def codes(households: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    owners = np.repeat(np.arange(households), rng.integers(0, MOST + 1, households))
    homes, people = rng.integers(0, (2, 4), (households, 2)), rng.integers(0, (2, 4), (len(owners), 2))
    return pairs(Link(HOUSEHOLDS, MEMBERS, MOST), homes, owners, people)


PLAN, PEOPLE, ROWS = Plan.of(spec(Path())), survey(1500), codes(1200, 3)
"""And rows that have little to do with the people."""


def measured(rho: float, seed: int, rows: Any = ROWS) -> tuple[PrivacyKernel, Weighted]:
    kernel = PrivacyKernel(source(PEOPLE, MOST), PLAN.unit, rho, SeededNoise(seed))
    return kernel, weighing.measure(PLAN, kernel, rows, {})


def test_weighted_tables_are_those_of_the_clipped_weights() -> None:
    """Noise is a hundredth of a household; a weight counts to half a step, of which there are 250."""
    _, stated = measured(1e6, 0)
    assert stated.step * PLAN.records_each == LARGEST / weighing.LINKED_STEPS
    for members, part in enumerate(stated.parts):
        for one in part.tables:
            assert part.step * np.array(one.measured) == pytest.approx(true(PEOPLE, one.column, bool(members)), rel=1e-2, abs=2)
        first = part.tables[0].column
        assert part.step * part.total.value == pytest.approx(true(PEOPLE, first, bool(members)).sum(), rel=1e-2)
        assert part.rows == pytest.approx(true(PEOPLE, first, bool(members)).sum(), rel=1e-2), "the rows weigh what the people weigh"
    assert [one.column for one in stated.tables] == ["region", NUMBER]


@pytest.mark.parametrize("seed", range(4))
def test_noise_that_hides_everything_is_said(seed: int) -> None:
    """Also of rows without a member, and where noise says that nobody has one."""
    empty = pairs(Link(HOUSEHOLDS, MEMBERS, MOST), np.zeros((9, 2), int), np.empty(0, int), np.empty((0, 2), int))
    for rows in (ROWS, empty):
        stated = measured(1e-9, seed, rows)[1]
        assert np.isfinite(weighing.calibrated(PLAN, rows, {}, stated)).all()
        said = WEIGHTED.sentences(PLAN, stated, PLAN)  # type: ignore[arg-type]  # what is final plays no part
        assert [line.endswith("nothing is known of their errors.") for line in said] == [False, False, True, True]


def test_bounds_hold_and_the_budget_too() -> None:
    """Of 80 bounds 76 are expected to hold, seeds 0 to 19; 69 is 3.6 standard deviations below. Of 40 totals 38 are, 33 is 3.6 below."""
    known, held, totals = source(PEOPLE, MOST), 0, 0
    for seed in range(20):
        kernel = PrivacyKernel(known, PLAN.unit, 3e-2, SeededNoise(seed))
        stated = weighing.measure(PLAN, kernel, ROWS, {})
        assert 3e-2 * (1 - 1e-8) < kernel.rho_spent <= 3e-2
        weights = weighing.calibrated(PLAN, ROWS, {}, stated)
        for members, (part, one) in enumerate(zip(stated.parts, weighing.counted(PLAN, ROWS), strict=True)):
            shares, doubt = weighing.shares(one, weights), 1.96 * part.step * part.total.sigma
            totals += abs(part.step * part.total.value - true(PEOPLE, part.tables[0].column, bool(members)).sum()) <= doubt
            for marginal in part.certificate.marginals:
                people = true(PEOPLE, marginal.attributes[0], bool(members))
                held += np.abs(people / people.sum() - shares[marginal.attributes]).sum() / 2 <= marginal.bound95
    assert 69 <= held <= 80, held
    assert 33 <= totals <= 40, totals


def test_named_tables_of_several_columns_are_measured_for_what_they_are() -> None:
    """Across and by size, without noise: the error is the distance of the weighted tables."""
    plan = Plan.of(spec(Path(), weight={"column": "w", "tables": TABLES}))
    kernel = PrivacyKernel(source(PEOPLE, MOST), plan.unit, 1e6, SeededNoise(0))
    stated = weighing.measure(plan, kernel, ROWS, {})
    weights = weighing.calibrated(plan, ROWS, {}, stated)
    people = {name: np.zeros(shape) for name, shape in ((("region", "age"), (2, 4)), (("members", "sex"), (MOST + 1, 2)))}
    for region, w, own in PEOPLE:
        for sex, age in own[:MOST]:
            people["region", "age"][region, age] += min(w, LARGEST)
            people["members", "sex"][min(len(own), MOST), sex] += min(w, LARGEST)
    _, members = weighing.counted(plan, ROWS)
    errors = {one.attributes: one.error for one in stated.parts[1].certificate.marginals}
    for table, true_table in people.items():
        off = np.abs(true_table / true_table.sum() - weighing.shares(members, weights)[table]).sum() / 2
        assert errors[table] == pytest.approx(off, abs=1e-2)


@pytest.mark.parametrize("most", [3, 10])
def test_many_households_are_certified_in_coarser_steps(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if sums were exact up to fewer records: the certificate is of coarser weights then, and not refused."""
    plan = Plan.of(spec(Path(), most))
    assert plan.link is not None
    assert weighing._steps(plan.domain["w"], plan.link)[1].max() == {3: 250, 10: 104}[most]
    rows, known = pairs(plan.link, np.zeros((30, 2), int), np.arange(30), np.zeros((30, 2), int)), source(PEOPLE, most)
    errors, limit = [], 2.0**36
    for _ in range(2):
        monkeypatch.setattr(weighing, "_MOST_COUNT", limit)
        stated = weighing.measure(plan, PrivacyKernel(known, plan.unit, 1e6, SeededNoise(0)), rows, {})
        errors.append([one.error for part in stated.parts for one in part.certificate.marginals])
        assert all(part.certificate.total.value <= limit for part in stated.parts)
        limit = stated.total.value / 4
    assert stated.certificate.total.value < stated.total.value / 2
    assert errors[0] == pytest.approx(errors[1], abs=0.02)


def test_one_weight_for_each_household_meets_totals_of_both_tables() -> None:
    """Totals that weights there are meet; seed 1. Households without members are raked by their own tables alone."""
    rng = np.random.default_rng(1)
    regions, sizes = rng.integers(0, 3, 2000), rng.integers(0, 4, 2000)
    owners = np.repeat(np.arange(2000), sizes)
    ages, wanted = rng.integers(0, 4, len(owners)), rng.gamma(9.0, 1 / 9, 2000) * (1 + regions / 4)
    tables = [(regions, None), (sizes, None), (ages, owners)]
    targets = [np.bincount(cells, wanted if owner is None else wanted[owner]) for cells, owner in tables]
    made = raked([cells for cells, _ in tables], np.ones(2000), targets, [owner for _, owner in tables])
    for (cells, owner), target in zip(tables, targets, strict=True):
        assert np.bincount(cells, made if owner is None else made[owner]) == pytest.approx(target, rel=1e-4)


def test_public_totals_of_members_alone_make_more_households_and_not_larger_ones() -> None:
    """Without noise to speak of: totals that are half as large again scale all weights alike."""
    plain = measured(1e6, 0)[1]
    before = weighing.calibrated(PLAN, ROWS, {}, plain)
    sums = 1.5 * weighing.counted(PLAN, ROWS)[1].table(("sex",), before)
    asked = Plan.of(spec(Path(), weight={"column": "w", "totals": {"sex": dict(zip("01", sums.tolist(), strict=True))}}))
    after = weighing.calibrated(asked, ROWS, {}, plain)
    households = weighing.counted(asked, ROWS)[0]
    for column in ("region", NUMBER):
        one, other = (households.table((column,), weights) for weights in (before, after))
        assert other / other.sum() == pytest.approx(one / one.sum(), abs=0.01)
    assert after.sum() == pytest.approx(1.5 * before.sum(), rel=0.02)
    assert weighing.counted(asked, ROWS)[1].table(("sex",), after) == pytest.approx(sums, rel=0.03)


def test_a_table_of_numbers_leans_to_its_total() -> None:
    table = np.array([10.0, 20.0, 0.0, 10.0])
    leaned = tilted(table, 70.0)
    assert (leaned.sum(), leaned @ np.arange(4), leaned[2]) == (pytest.approx(40), pytest.approx(70), 0)
    assert tilted(table, 200.0) is table, "no factors make it so many"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("survey")
    homes = [(key, region, w) for key, (region, w, _) in enumerate(PEOPLE)]
    members = [(key, sex, age) for key, (_, _, owned) in enumerate(PEOPLE) for sex, age in owned]
    pd.DataFrame(homes, columns=["id", "region", "w"]).to_csv(folder / "homes.csv", index=False)
    pd.DataFrame(members, columns=["id", "sex", "age"]).to_csv(folder / "people.csv", index=False)
    return folder


TABLES = [["sex", "age"], ["age", "region"], ["members", "region"], ["members", "sex"]]
EVEN = {"0": 1.0, "1": 1.0}
TOTALS = {
    "region": {"0": 3000.0, "1": 7000.0},
    "sex": {"0": 8000.0, "1": 9000.0},
    "age": {"0": 7000.0, "1": 6000.0, "2": 2000.0, "3": 2000.0},
}


@pytest.fixture(scope="module")
def release(folder: Path) -> Release:
    return run(spec(folder, weight={"column": "w", "totals": TOTALS, "tables": TABLES}, output={"seed": 11}))


def tables(bundle: Bundle) -> tuple[pd.DataFrame, pd.DataFrame]:
    homes, people = (pd.read_csv(io.BytesIO(bundle.files[name].read())) for name in ("synthetic.csv", "members.csv"))
    return homes, people


def test_members_weigh_what_their_household_weighs_and_public_totals_are_met(release: Release, bundle: Bundle) -> None:
    homes, people = tables(bundle)
    assert list(homes) == ["id", "region", "w", "w_calibrated"]
    assert list(people) == ["id", "sex", "age", "w_calibrated"]
    assert people["w_calibrated"].tolist() == homes.set_index("id")["w_calibrated"][people["id"]].tolist()
    for table, column in ((homes, "region"), (people, "sex"), (people, "age")):
        sums = table.groupby(column)["w_calibrated"].sum().to_dict()
        assert sums == pytest.approx({int(cell): total for cell, total in TOTALS[column].items()}, rel=2e-3)
    said = WEIGHTED.sentences(release.plan, release.claims["weighted"], release.final)
    assert "the rows of members add up to 17,0" in said[1]
    assert said[2].endswith("they meet them.")
    assert said[3].startswith("Weighted households in a wrong cell of a table, with 95% confidence each: ")
    assert said[4].startswith("Weighted members in a wrong cell of a table, with 95% confidence each: ")


def test_a_recipient_follows_and_forged_weights_are_noticed(release: Release, bundle: Bundle) -> None:
    verdicts = found(bundle)
    assert [question for question, verdict in verdicts.items() if verdict == FAILED] == ["Is the noise private?"], "its noise has a seed"
    assert verdicts[WEIGHTED.question] == PASSED
    changed = json.loads(json.dumps(bundle.document))
    changed["weighted"]["members"]["rows"] *= 1.01
    assert found(replace(bundle, document=changed))[WEIGHTED.question] == FAILED
    assert release.members is not None
    table = next(iter(release.members.batches()))
    forged = table.set_column(table.num_columns - 1, "w_calibrated", [np.asarray(table["w_calibrated"]) * 1.001])
    assert found(replace(release, members=HeldRows(forged)))["Do the rows keep to the domain?"] == FAILED


def test_weighted_questions_are_about_households_or_members(release: Release, bundle: Bundle) -> None:
    homes, people = tables(bundle)
    for table, of in ((homes, {"region": 1}), (people, {"age": 0})):
        found = ask(release, Asked("share", of, weighted=True))
        (column, cell), weights = next(iter(of.items())), table["w_calibrated"]
        assert isinstance(found, Answer)
        assert found.value == pytest.approx(weights[table[column] == cell].sum() / weights.sum())
        assert found.low is not None
        assert found.low < found.value < found.high
    named = [{one.attributes for one in part.certificate.marginals if len(one.attributes) > 1} for part in release.claims["weighted"].parts]
    assert named == [{("region", "members")}, {("sex", "age"), ("region", "age"), ("members", "sex")}]
    across = ask(release, Asked("share", {"age": 0}, {"region": 1}, weighted=True))
    alone = ask(release, Asked("share", {"sex": 0}, {"region": 1}, weighted=True))
    assert isinstance(across, Answer)
    assert isinstance(alone, Answer)
    assert (across.kind, alone.kind) == ("bound", "guess"), "the plan names the table of age and region, and not that of sex"
    some = ask(release, Asked("share", {"some member": {"age": 3}}, weighted=True))
    having = homes["id"].isin(people["id"][people["age"] == 3])
    assert isinstance(some, Answer)
    assert some.value == pytest.approx(homes["w_calibrated"][having].sum() / homes["w_calibrated"].sum())


@pytest.mark.parametrize(
    ("weight", "field", "saying"),
    [
        ({"column": "age"}, "age", "first table"),
        ({"column": NUMBER}, NUMBER, "first table"),
        ({"column": "w", "totals": {"sex": {"0": 1.0}}}, "weight.totals", "not in the totals"),
        ({"column": "w", "totals": {"sex": EVEN, "age": dict.fromkeys("0123", 1.0)}}, "weight.totals", "add up to different"),
        ({"column": "w", "totals": {NUMBER: dict.fromkeys("0123", 1.0), "sex": EVEN}}, "weight.totals", "add up to different"),
        ({"column": "w", "totals": {"height": {"0": 1.0}}}, "weight.totals", "no column"),
        ({"column": "w", "totals": {"region": EVEN, "sex": {"0": 6.0, "1": 1.0}}}, "weight.totals", "at most 3 members each"),
        ({"column": "w", "tables": [["sex", "height"]]}, "weight.tables.0", "no column"),
        ({"column": "w", "tables": [["sex", "age"], ["sex", "sex"]]}, "weight.tables.1", "fewer than two"),
        ({"column": "w", "tables": [["sex", "w"]]}, "weight.tables.0", "is the weight"),
    ],
)
def test_what_does_not_go_with_a_weight_of_households_is_refused(weight: dict[str, Any], field: str, saying: str) -> None:
    assert field in refused(Plan.of, spec(Path(), weight=weight), saying=saying).field


def test_totals_of_households_by_size_go_with_those_of_their_members() -> None:
    sizes = {"0": 1.0, "1": 1.0, "2": 1.0, "3": 1.0}
    assert Plan.of(spec(Path(), weight={"column": "w", "totals": {NUMBER: sizes, "sex": {"0": 2.0, "1": 4.0}}})).weight is not None
    assert Plan.of(spec(Path())).unit == Unit("add-remove", 6, rows_may_not_count=True)
