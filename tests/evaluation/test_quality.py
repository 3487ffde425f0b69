"""How good a release is: shares of people, sorted by what can be guaranteed, and curator-only as soon as truth is in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.claims.certificate import ROWS, Certificate, Certified, Largest, state
from dpsynth_core.claims.columns_alone import ColumnsAlone
from dpsynth_core.evaluation import quality
from dpsynth_core.evaluation.bounds import Bound
from dpsynth_core.evaluation.quality import Statements
from dpsynth_core.foundation.zones import Zone, curator_only, released
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import Workload, all_kway, hand_picked

DOMAIN = Domain((Attribute.coded("a", 3), Attribute.coded("b", 4), Attribute.coded("c", 2)))
CODES = np.random.default_rng(1).integers(0, [3, 4, 2], size=(600, 3)).astype(np.int32)
PAIRS = all_kway(DOMAIN, 2)


def counts(*cliques: tuple[str, ...]) -> dict[tuple[str, ...], Any]:
    return row_marginals(DOMAIN, CODES, cliques)


def certificate(errors: dict[tuple[str, ...], float], margin: float = 0.1) -> Certificate:
    """errors: as L1. Bounds `margin` above them, all together twice as far."""
    numbers = {r: (e, max(0.0, e), max(0.0, e - margin), e + margin, e + 2 * margin) for r, e in errors.items()}
    stated = tuple(Certified(r, *(share / 2 for share in shares)) for r, shares in numbers.items())
    mean = sum(errors.values()) / len(errors) / 2
    return Certificate(
        of=ROWS,
        marginals=stated,
        mean_error=mean,
        mean_bound95=mean + margin / 4,
        total=Total(600.0, 0.0),
        sigma=600 * margin / 1.6449,
        rho=0.01,
        max_error=0.05,
        max_bound95=0.07,
        max_sigma=8.0,
    )


def bound(support: str, tight: float) -> Bound:
    """tight: as L1."""
    return Bound(support, tight, tight / 2)


def statements(
    certified: Certificate | None = None,
    bounds: Mapping[Clique, Bound] | None = None,
    workload: Workload = PAIRS,
    codes: Any = CODES,
    mechanism: str = "aim",
) -> Statements:
    measured = (Measurement(("a", "b"), counts(("a", "b"))[("a", "b")].astype(float), 2.0),)
    return Statements(Evidence(DOMAIN, codes, measured, 600.0), workload, bounds or {}, certified, mechanism, 0.1, Unit())


CERTIFIED = certificate({("a", "b"): 0.02, ("a", "c"): 0.4, ("b", "c"): -0.01})


def test_errors_are_told_as_shares_of_people_which_is_half_the_l1_error() -> None:
    table = quality.marginal_table(released(statements(CERTIFIED))).value.set_index("marginal")
    assert table.loc["a × c", ["error", "limit", "together"]].tolist() == pytest.approx([0.2, 0.25, 0.3])
    assert table.loc["a × c", "low"] == pytest.approx(0.15, abs=1e-4)
    assert table.loc["b × c", "error"] == 0


def test_the_largest_possible_error_comes_first_and_what_nothing_bounds_last() -> None:
    bounds = {("a", "b"): bound("supported", 0.2), ("a", "c"): bound("unsupported", 0.9), ("b", "c"): bound("unbounded", math.inf)}
    table = quality.marginal_table(released(statements(bounds=bounds))).value
    assert table["marginal"].tolist() == ["a × c", "a × b", "b × c"]
    assert table["support"].tolist() == [quality.INFERRED, quality.MEASURED, quality.GUESS]
    assert table["limit"].tolist()[:2] == pytest.approx([0.45, 0.1])
    assert math.isnan(table["limit"].iloc[2])
    assert table["rank"].tolist() == [0, 1, 2]


def test_a_certificate_goes_before_what_was_known_beforehand() -> None:
    bounds = {r: bound("supported", 0.001) for r in PAIRS.cliques}
    table = quality.marginal_table(released(statements(CERTIFIED, bounds))).value
    assert table["limit"].iloc[0] == pytest.approx(0.25)
    assert table["bound"].iloc[0] == pytest.approx(0.0005)


def test_the_mean_of_all_tables_has_one_limit_wherever_it_is_shown() -> None:
    labels = ["a × b", "a × c", "b × c"]
    released_statements = released(statements(certified_by_the_program()))
    table = quality.marginal_table(released_statements)
    headline = quality.headline(released_statements, table).value
    assert quality.mean_limit(released_statements, labels).value == pytest.approx(headline.mean_limit, rel=1e-12)
    assert headline.mean_limit < table.value["limit"].mean()
    some = quality.mean_limit(released_statements, labels[:2]).value
    assert some < table.value.set_index("marginal").loc[labels[:2], "limit"].mean()
    bounds = {r: bound("supported", 0.2) for r in PAIRS.cliques}
    assert quality.mean_limit(released(statements(bounds=bounds)), labels).value == pytest.approx(0.1)
    assert math.isnan(quality.mean_limit(released(statements()), labels).value)


def certified_by_the_program() -> Certificate:
    published = {r: t / 600 for r, t in counts(*PAIRS.cliques).items()}
    noisy = {r: 60.0 + 30.0 * i for i, r in enumerate(published)}
    return state(noisy, published, Total(600.0, 5.0), 20.0, 0.01, ROWS, Largest(30.0, 8.0))


def test_truth_makes_the_table_curator_only_and_sets_its_order() -> None:
    wrong = {r: t.copy() for r, t in counts(*PAIRS.cliques).items()}
    wrong[("a", "b")][:] = 0
    wrong[("a", "b")][0, 0] = 600
    table = quality.marginal_table(released(statements(CERTIFIED)), curator_only(wrong))
    assert table.zone is Zone.CURATOR
    assert table.value["marginal"].iloc[0] == "a × b"
    assert table.value["true"].iloc[0] == pytest.approx(1 - counts(("a", "b"))[("a", "b")][0, 0] / 600)
    assert table.value["true"].iloc[1:].tolist() == pytest.approx([0, 0])
    means = quality.means(quality.headline(released(statements(CERTIFIED)), quality.marginal_table(released(statements(CERTIFIED)))), table)
    assert means.zone is Zone.CURATOR
    assert quality.TRUE in means.value["series"].tolist()


def test_a_mechanism_is_not_compared_with_itself() -> None:
    table = quality.marginal_table(released(statements(mechanism="gaussian", codes=None))).value
    assert table["gaussian"].isna().all()
    assert table["residuals"].notna().all()
    table = quality.marginal_table(released(statements(mechanism="residual_planner", codes=None))).value
    assert table["residuals"].isna().all()
    assert table["gaussian"].notna().all()


def test_columns_alone_err_by_what_their_product_misses_of_the_published_table() -> None:
    apart = hand_picked(DOMAIN, {("a", "b"): 1.0, ("a",): 1.0, ("a", "b", "c"): 1.0})
    errors = quality.marginal_table(released(statements(workload=apart))).value.set_index("marginal")["independent"]
    table = counts(("a", "b"))[("a", "b")] / 600
    assert errors["a × b"] == pytest.approx(np.abs(table - np.outer(table.sum(axis=1), table.sum(axis=0))).sum() / 2)
    assert errors["a × b × c"] > errors["a × b"]
    assert math.isnan(errors["a"])
    a = np.arange(600) % 3
    tied = released(statements(workload=apart, codes=np.column_stack([a, a, a % 2]).astype(np.int32)))
    assert quality.marginal_table(tied).value.set_index("marginal").loc["a × b", "independent"] == pytest.approx(2 / 3)


def test_columns_alone_are_no_yardstick_of_themselves_nor_of_noise() -> None:
    for stated in (statements(mechanism="independent"), statements(codes=None)):
        assert quality.marginal_table(released(stated)).value["independent"].isna().all()


def test_the_baselines_are_among_the_means() -> None:
    table = quality.marginal_table(released(statements(CERTIFIED)))
    means = quality.means(quality.headline(released(statements(CERTIFIED)), table), table).value.set_index("series")["error"]
    assert means[quality.RESIDUALS] == pytest.approx(table.value["residuals"].mean())
    assert means[quality.RESIDUALS] < means[quality.GAUSSIAN]
    assert quality.INDEPENDENT not in means  # this certificate did not measure it


def test_columns_alone_are_among_the_means_where_they_were_measured() -> None:
    stated = released(statements(replace(CERTIFIED, columns=ColumnsAlone(0.2, 0.1, 0.25, 30.0))))
    table = quality.marginal_table(stated)
    means = quality.means(quality.headline(stated, table), table).value.set_index("series")
    assert means.loc[quality.INDEPENDENT].tolist() == [0.2, 0.1, 0.25]
    assert means.loc[quality.OURS, "low"] == pytest.approx(max(0.0, 2 * CERTIFIED.mean_error - CERTIFIED.mean_bound95))


def test_answers_without_rows_are_judged_by_what_they_say() -> None:
    only = hand_picked(DOMAIN, {("a", "b"): 1.0})
    table = quality.marginal_table(released(statements(workload=only, codes=None)), curator_only(counts(("a", "b")))).value
    assert table["true"].tolist() == pytest.approx([0.0])


def test_the_headline_takes_the_mean_from_the_certificate_and_the_worst_from_the_table() -> None:
    stated = released(statements(CERTIFIED))
    head = quality.headline(stated, quality.marginal_table(stated)).value
    assert (head.tables, head.bounded, head.measured, head.certified, head.has_rows) == (3, 3, 1, True, True)
    assert head.mean == pytest.approx(CERTIFIED.mean_error)
    assert head.mean_limit == pytest.approx(CERTIFIED.mean_bound95)
    assert (head.worst, head.worst_table) == (pytest.approx(0.25), "a × c")


@pytest.mark.parametrize("threshold", [None, 1])
def test_the_largest_error_is_the_certificate_s_and_its_truth_is_curator_only(threshold: int | None) -> None:
    certified = replace(CERTIFIED, max_error=-0.001, max_bound95=0.02, max_sigma=5.0)
    stated = released(statements(certified, workload=PAIRS.asking(threshold)))
    head = quality.headline(stated, quality.marginal_table(stated)).value
    assert (head.largest, head.largest_limit, head.threshold) == (0.0, 0.02, threshold)
    wrong = {r: t.copy() for r, t in counts(*PAIRS.cliques).items()}
    wrong[("a", "b")][0, 0] += 60
    wrong[("a", "b")][1, 1] -= 60
    largest_true = quality.true_largest(stated, curator_only(wrong))
    assert largest_true.zone is Zone.CURATOR
    # also with one of two columns enough: row 0 and column 0 have these 60 people more, row 1 and column 1 as many fewer
    assert largest_true.value == pytest.approx({None: 60 / 600, 1: 60 / 600})


def test_the_headline_of_a_release_that_bounds_nothing_has_no_numbers() -> None:
    stated = released(statements(workload=hand_picked(DOMAIN, {("a", "c"): 1.0})))
    head = quality.headline(stated, quality.marginal_table(stated)).value
    assert (head.bounded, head.worst_table) == (0, "")
    assert math.isnan(head.worst)
    assert math.isnan(head.mean)


def test_trust_counts_what_stays_within_the_limit_alone_or_all_together() -> None:
    table = quality.marginal_table(released(statements(CERTIFIED)))
    asked = [(0.25, False), (0.249, False), (0.25, True), (0.05, False)]
    assert [quality.within(table.value, *one).sum() for one in asked] == [3, 2, 2, 1]
    assert not quality.within(quality.marginal_table(released(statements())).value, 1.0).any()


def test_pairs_that_were_not_asked_for_take_the_statement_of_the_smallest_table_around_them() -> None:
    workload = hand_picked(DOMAIN, {("a", "b", "c"): 1.0, ("a", "c"): 1.0})
    stated = statements(certificate({("a", "b", "c"): 0.6, ("a", "c"): 0.1}), workload=workload)
    frame = quality.pair_map(released(stated)).value.set_index(["row", "column"])
    assert frame.loc[("a", "c"), "limit"] == pytest.approx(0.1)
    assert frame.loc[("a", "c"), "basis"] == "asked for"
    assert frame.loc[("b", "a"), "limit"] == frame.loc[("a", "b"), "limit"] == pytest.approx(0.35)
    assert frame.loc[("a", "b"), "basis"] == "inside a × b × c"
    assert frame.loc[("a", "a"), "limit"] == pytest.approx(0.1)
    assert len(frame) == 9


def test_columns_of_members_that_no_table_is_about_are_not_in_the_map() -> None:
    asked = {**vars(statements(workload=hand_picked(DOMAIN, {("a",): 1.0}))), "swapped": {"b": "c", "c": "b"}}
    assert len(quality.pair_map(released(quality.Statements(**asked))).value) == 1


def test_a_pair_in_no_table_is_not_known() -> None:
    frame = quality.pair_map(released(statements(workload=hand_picked(DOMAIN, {("a", "b"): 1.0})))).value.set_index(["row", "column"])
    assert frame.loc[("a", "c"), "basis"] == "not asked for"
    assert frame["limit"].isna().all()


def test_the_largest_errors_are_one_row_as_released_and_one_a_table_with_truth() -> None:
    certified = replace(CERTIFIED, max_error=0.02, max_bound95=0.03, max_sigma=3.0)
    stated = quality.largest_table(released(statements(certified)))
    assert stated.zone is Zone.RELEASED
    assert stated.value["marginal"].tolist() == [quality.all_tables(None)]
    assert stated.value.loc[0, ["error", "limit"]].tolist() == [0.02, 0.03]
    assert stated.value.loc[0, "low"] == pytest.approx(0.02 - 1.6449 * 3 / 600, abs=1e-5)
    moved = CODES.copy()
    moved[:60, 0] = 0
    truth = curator_only(row_marginals(DOMAIN, moved, PAIRS.cliques))
    exact = quality.largest_table(released(statements(certified)), truth)
    assert exact.zone is Zone.CURATOR
    assert exact.value["marginal"].tolist() == ["a × b", "a × c", "b × c"]
    assert exact.value["true"].max() == pytest.approx(quality.true_largest(released(statements(certified)), truth).value[None])
    assert exact.value["true"].iloc[2] == 0  # the column that was changed is in the other two


def test_without_a_certificate_no_largest_error_is_known() -> None:
    assert quality.largest_table(released(statements())).value[["error", "low", "limit"]].isna().all(axis=None)


def test_the_bound_that_is_asked_for_is_drawn_and_decides() -> None:
    table = released(pd.DataFrame({"limit": [0.04, 0.2], "together": [0.08, 0.3], "says": [True, True]}))
    alone, together = (quality.against_limit(table, 0.05, asked).value for asked in (False, True))
    assert (alone["good"].tolist(), alone["limit"].tolist()) == ([True, False], [0.04, 0.2])
    assert (together["good"].tolist(), together["limit"].tolist()) == ([False, False], [0.08, 0.3])
