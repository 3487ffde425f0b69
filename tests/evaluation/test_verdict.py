"""One of three verdicts, from the tables that are good enough; and a simpler way is only said to be better where numbers say so."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dpsynth_core import report
from dpsynth_core.claims.columns_alone import ColumnsAlone
from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.claims.criteria.outcomes import MET, NOT_MET, UNDECIDED
from dpsynth_core.claims.criteria.outcomes import UNMEASURED as NOT_MEASURED
from dpsynth_core.claims.criteria.tables import TablesWithin
from dpsynth_core.claims.means import MeanMeasured
from dpsynth_core.claims.ranks import Group, Most
from dpsynth_core.evaluation import quality
from dpsynth_core.evaluation.quality import INDEPENDENT, Headline, Statements
from dpsynth_core.evaluation.unread import Unread
from dpsynth_core.evaluation.verdict import (
    LIMIT,
    MISFIT,
    NOISE,
    PARTLY,
    PUBLISH,
    UNREAD,
    UNSHOWN,
    WITHHOLD,
    Purpose,
    Verdict,
    _good_parts,
    judge,
)
from dpsynth_core.foundation.zones import released
from dpsynth_core.report.verdict import REMEDIES
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.intervals import Interval
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.workload import all_kway, hand_picked
from tests.evaluation.test_quality import CERTIFIED, CODES, DOMAIN, certificate, counts, statements

UNMEASURED = Evidence(DOMAIN, CODES, (), 600.0)
TRIPLE = hand_picked(DOMAIN, {("a", "b", "c"): 1.0})


def head(stated: Statements) -> Headline:
    tagged = released(stated)
    return quality.headline(tagged, quality.marginal_table(tagged)).value


def verdict(errors: dict[tuple[str, ...], float], private: bool = True) -> Verdict:
    """errors: limits of tables, as shares of people."""
    stated = statements(certificate({r: 2 * limit for r, limit in errors.items()}, margin=0.0))
    stated = replace(stated, workload=hand_picked(DOMAIN, dict.fromkeys(errors, 1.0)))
    return judge(stated, head(stated), private)


def test_publish_where_every_number_of_columns_is_good_enough() -> None:
    made = verdict({("a", "b"): 0.02, ("a", "c"): LIMIT, ("b", "c"): 0.05})
    assert (made.kind, made.within, made.tables, made.largest) == (PUBLISH, 3, 3, 2)
    assert report.unfit_for(made) == []
    assert len(report.fit_for(made)) == 2 + 3


def test_a_distance_that_rows_do_not_keep_is_named_among_what_they_are_not_for() -> None:
    made = replace(verdict({("a", "b"): 0.02}), apart=(("start", "end"),))
    assert "“start” and “end”" in report.reasons(made)
    assert "“start” and “end”" in " ".join(report.unfit_for(made))
    days = {"kind": "date", "lower": "2024-01-01", "upper": "2024-12-31", "missing": False, "other": "nearest"}
    columns = [{"name": "start", "width": "month", **days}, {"name": "end", "width": "month", **days}]
    rule = {"column": "start", "at_most": "end"}
    for impossible, expected in (([rule], [("start", "end")]), ([], [])):
        domain = Domain.from_json({"version": 1, "attributes": columns, "impossible": impossible})
        assert [(one.first, one.second) for one in domain.loose_orders] == expected
        codes = np.zeros((600, 2), dtype=np.int8)
        workload = hand_picked(domain, {("start", "end"): 1.0})
        stated = replace(statements(None), evidence=Evidence(domain, codes, (), 600.0), workload=workload)
        assert list(judge(stated, head(stated), True).apart) == expected
        answers = replace(stated, evidence=Evidence(domain, None, (), 600.0))
        assert judge(answers, head(answers), True).apart == (), "of answers there are no rows"


def test_publish_for_the_purposes_that_hold_and_name_those_that_do_not() -> None:
    made = verdict({("a",): 0.01, ("b",): 0.02, ("c",): 0.02, ("a", "b"): 0.05, ("a", "c"): 0.3, ("b", "c"): 0.4})
    assert (made.kind, made.within, made.largest) == (PARTLY, 4, 1)
    assert made.poor == ("b × c", "a × c")  # the worst first
    assert "b × c; a × c" in report.reasons(made)
    assert [(one.size, one.within, one.holds) for one in made.sizes] == [(1, 3, True), (2, 1, False)]
    assert len(report.fit_for(made)) == 1


NUMBERS = Domain((*DOMAIN, Attribute.integer("gain", 0, 99_999), Attribute.integer("age", 16, 95)))


def test_a_mean_that_is_off_is_in_the_headline_however_good_the_tables_are() -> None:
    """3,599 for 1,078 among the people: a small part of the range, and more than three times what it should be."""
    gain = MeanMeasured("gain", 3599.0, 1078.0, 1000.0, 1160.0, 20.0, 600.0)
    age, unsure = (MeanMeasured("age", 40.0, 41.0, low, high, 5.0, 600.0) for low, high in ((40.0, 42.0), (35.0, 47.0)))
    stated = statements(certificate(dict.fromkeys(all_kway(DOMAIN, 2).cliques, 0.04), margin=0.0))
    stated = replace(stated, evidence=replace(stated.evidence, domain=NUMBERS, codes=None))
    whole = judge(stated, head(stated), private=True, means=[gain, age])
    assert whole.kind == PARTLY
    assert (whole.largest, whole.off) == (2, ("gain",))
    assert "mean of gain" in report.ruling(whole)
    assert "mean of gain" in report.unfit_for(whole)[0]
    assert "mean of age" in report.fit_for(whole)[-1]
    open_ = judge(stated, head(stated), private=True, means=[unsure])
    assert open_.kind == PUBLISH
    assert open_.means == (("age", None),)
    assert len(report.unfit_for(open_)) == 1


def test_a_column_that_is_right_with_all_others_is_a_purpose_of_its_own() -> None:
    made = verdict({("a", "b"): 0.05, ("a", "c"): 0.05, ("b", "c"): 0.4})
    assert made.kind == PARTLY
    assert "tables with “a”." in report.ruling(made)
    assert [purpose.name for purpose in made.columns if purpose.holds] == ["a"]


def test_do_not_publish_where_no_purpose_holds_and_say_what_is_left() -> None:
    """Two of many tables pass: what used to be praised."""
    errors = dict.fromkeys(all_kway(DOMAIN, 2).cliques, 0.3) | {("a", "b"): 0.05}
    stated = replace(statements(certificate({r: 2 * error for r, error in errors.items()}, margin=0.0)), evidence=UNMEASURED)
    made = judge(stated, head(stated), True)
    assert (made.kind, made.within, made.largest) == (WITHHOLD, 1, 0)
    assert made.good == ("a × b",)
    assert "a × b" in report.reasons(made)
    assert report.fit_for(made) == []


def criterion(outcome: str, importance: str = "must") -> Decided:
    """On every table, within 10 %."""
    interval = {MET: Interval(0.01, 0.0, 0.02), NOT_MET: Interval(0.5, 0.4, 0.6), UNDECIDED: Interval(0.1, 0.0, 0.2)}.get(outcome)
    one = Decided(TablesWithin(importance, "", (), 0.1), interval)  # type: ignore[arg-type]
    assert one.outcome == outcome
    return one


@pytest.mark.parametrize(
    ("outcomes", "despite", "kind"),
    [
        ([MET, MET], "", PUBLISH),
        ([MET, UNDECIDED, UNDECIDED], "", UNSHOWN),
        ([UNDECIDED], "", UNSHOWN),
        ([NOT_MET, MET], "", WITHHOLD),
        ([NOT_MET, MET], "A typing error.", UNSHOWN),
        ([NOT_MEASURED, UNDECIDED], "", WITHHOLD),
        ([NOT_MET, UNDECIDED, MET], "A typing error.", UNSHOWN),
    ],
)
def test_a_must_that_is_not_shown_is_the_headline_however_good_the_tables_are(outcomes: list[str], despite: str, kind: str) -> None:
    stated = statements(certificate(dict.fromkeys(all_kway(DOMAIN, 2).cliques, 0.02), margin=0.0))
    decided = [*map(criterion, outcomes), criterion(UNDECIDED, "should")]
    made = judge(stated, head(stated), True, decided, despite)
    assert made.kind == kind
    unmet, unshown = made.failed, (*made.unmeasured, *made.undecided)
    wanted = outcomes.count(NOT_MET), outcomes.count(UNDECIDED) + outcomes.count(NOT_MEASURED)
    assert (made.musts, len(unmet), len(unshown)) == (len(outcomes), *wanted)
    assert len(report.unfit_for(made)) == bool(unmet) + bool(unshown)


def test_noise_as_large_as_the_table_says_nothing_however_small_the_error_looks() -> None:
    """Three people, and a certificate that is off by twenty of them: it found less than nothing wrong."""
    few = replace(certificate(dict.fromkeys(all_kway(DOMAIN, 2).cliques, -5.0), margin=0.0), total=Total(3.0, 0.0), sigma=20.0)
    assert few.says_nothing
    assert not CERTIFIED.says_nothing
    stated = replace(statements(few), evidence=replace(UNMEASURED, total=3.0))
    made, heading = judge(stated, head(stated), True), head(stated)
    assert (made.kind, made.within) == (WITHHOLD, 0)
    assert made.says_nothing
    assert "3 people" in report.reasons(made)
    assert "± 20" in report.reasons(made)
    assert "%" not in report.sentence(heading)
    assert report.comparison(made) == ""


def grouped(*most: Most) -> Verdict:
    certified = replace(certificate(dict.fromkeys(all_kway(DOMAIN, 2).cliques, 0.02), margin=0.9), most=most, most_sigma=5.0)
    stated = replace(statements(certified), evidence=UNMEASURED)
    return judge(stated, head(stated), True)


def test_where_single_tables_are_beyond_reach_most_of_a_group_are_what_counts() -> None:
    made = grouped(Most(Group(2), 3, 3, 0.04, 0.08), Most(Group(name="a"), 2, 2, 0.1, 0.2))
    assert (made.kind, made.within) == (PUBLISH, 0)  # no single one is named
    assert [(p.size, p.within, p.holds) for p in made.sizes] == [(1, 3, True), (2, 3, True)]
    assert [line for line in report.fit_for(made) if "80%" in line and "at most 8.0%" in line and "4.0%" in line]
    assert [line for line in report.unfit_for(made) if "“a”" in line and "at most 20.0%" in line]
    assert grouped(Most(Group(2), 3, 3, 0.04, 0.11)).kind == WITHHOLD


def test_parts_are_good_whichever_tables_are_the_bad_ones() -> None:
    """Against all choices of bad tables: pairs of seven columns, and their single columns; triples of five, and their pairs."""
    for columns, size, part, bad in (("abcdefg", 2, 1, 6), ("abcdefg", 2, 1, 11), ("abcde", 3, 2, 2), ("abcde", 3, 1, 6)):
        cliques = list(combinations(columns, size))
        bound = _good_parts(cliques, Purpose(len(cliques), len(cliques) - bad, size), part)
        parts = list(combinations(columns, part))
        fewest = min(sum(any(set(one) <= set(r) for r in cliques if r not in chosen) for one in parts) for chosen in _choices(cliques, bad))
        assert bound <= fewest
        assert bound > 0


def _choices(cliques: list[tuple[str, ...]], bad: int) -> list[set[tuple[str, ...]]]:
    """Seeded ones, and for each two columns those that contain them first: the worst."""
    rng = np.random.default_rng(2)
    drawn = [{cliques[i] for i in rng.choice(len(cliques), bad, replace=False)} for _ in range(200)]
    pairs = combinations(sorted(set().union(*cliques)), 2)
    return drawn + [set(sorted(cliques, key=lambda r, pair=pair: -len({*r} & {*pair}))[:bad]) for pair in pairs]


def test_a_column_of_which_nothing_was_learnt_is_in_no_good_table_and_is_none_itself() -> None:
    learnt = replace(Attribute.unknown("c", "categorical", 9), most=0, categories=(), other=True, missing=True)
    domain = Domain((DOMAIN["a"], DOMAIN["b"], learnt))
    fine = (Measurement(("c",), np.array([400.0, 200.0]), 1.0),)
    stated = statements(certificate(dict.fromkeys(all_kway(DOMAIN, 2).cliques, 0.02), margin=0.0))
    stated = replace(stated, evidence=Evidence(domain, CODES, fine, 600.0), workload=all_kway(domain, 2))
    made = judge(stated, head(stated), True)
    assert made.good == ("a × b",)
    assert [(p.size, p.within) for p in made.sizes] == [(1, 2), (2, 1)]
    table = quality.marginal_table(released(stated)).value
    assert quality.within(table, 0.1).sum() == 1
    grouped = replace(stated, certificate=replace(stated.certificate, most=(Most(Group(2), 3, 3, 0.02, 0.03),)))
    assert judge(grouped, head(grouped), True).sizes[-1].within == 1


def test_an_unread_column_is_in_the_headline_and_a_larger_budget_is_not_its_remedy() -> None:
    """Two columns of three are right, and all their tables: of the third all is "other", which is right as well and says nothing. With
    noise of 3 in each cell, 17 of the 600 people is what 4.3 deviations leave open: 3 %."""
    spelled = Attribute.categorical("c", ["f", "m"], other=True)
    domain = Domain((DOMAIN["a"], DOMAIN["b"], spelled))
    codes = np.column_stack([CODES[:, :2], np.full(len(CODES), 2)]).astype(np.int32)
    counted = (Measurement(("c",), np.array([1.0, -2.0, 601.0]), 3.0),)
    stated = statements(certificate(dict.fromkeys(all_kway(domain, 2).cliques, 0.02), margin=0.0))
    stated = replace(stated, evidence=Evidence(domain, codes, counted, 600.0), workload=all_kway(domain, 2))
    made = judge(stated, head(stated), True)
    assert (made.kind, made.good, made.causes, [one.column for one in made.unread]) == (WITHHOLD, ("a × b",), (UNREAD,), ["c"])
    assert "at most 3% of the people" in report.reasons(made)
    assert report.reasons(made).endswith(REMEDIES[UNREAD])
    assert "“c”" in report.unfit_for(made)[0]
    assert made.unknown == ()


def test_a_release_is_published_but_for_its_unread_column() -> None:
    """Of six columns five are right: 10 of 15 pairs are too few, 5 of 6 columns are enough."""
    names = "abdefg"
    spelled = Attribute.categorical("c", ["f", "m"], other=True)
    domain = Domain((*(Attribute.coded(name, 2) for name in names), spelled))
    codes = np.column_stack([np.arange(600) // 2**place % 2 for place in range(6)] + [np.full(600, 2)]).astype(np.int32)
    counted = (Measurement(("c",), np.array([1.0, -2.0, 601.0]), 3.0),)
    for size, purposes in ((1, ["single columns"]), (2, ["single columns", *(f"tables with “{name}”" for name in names[:3])])):
        cliques = all_kway(domain, size).cliques
        stated = statements(certificate(dict.fromkeys(cliques, 0.02), margin=0.0))
        picked = hand_picked(domain, dict.fromkeys(cliques, 1.0))
        stated = replace(stated, evidence=Evidence(domain, codes, counted, 600.0), workload=picked)
        made = judge(stated, head(stated), True)
        assert made.kind == PARTLY
        ruling, exception = report.ruling(made), report.ruling(made).lower().rindex("not for")
        assert all(ruling.index(purpose) < exception for purpose in purposes)
        assert ruling.index("“c”") > exception


def test_advice_follows_from_every_cause() -> None:
    """Noise and an unread column together: both remedies, the one that costs nothing first."""
    made = verdict({("a", "b"): 0.4, ("a", "c"): 0.3})
    assert made.causes == (NOISE,)
    assert report.reasons(made).endswith(REMEDIES[NOISE])
    both = replace(made, unread=(Unread("x", 0.0, 0.03),), causes=(UNREAD, NOISE))
    two = replace(both, kind=PARTLY, unread=(*both.unread, Unread("y", 0.0, 0.03)))
    assert "“x”; “y”" in report.ruling(two)
    assert report.reasons(both).endswith(f"{REMEDIES[UNREAD]} {REMEDIES[NOISE]}")
    misfit = replace(made, causes=(MISFIT, NOISE))
    assert report.reasons(misfit).endswith(f"{REMEDIES[MISFIT]} {REMEDIES[NOISE]}")
    assert set(REMEDIES) == {UNREAD, MISFIT, NOISE}


def test_predictable_noise_is_never_published_however_small_the_errors() -> None:
    made = verdict(dict.fromkeys(all_kway(DOMAIN, 2).cliques, 0.01), private=False)
    assert made.kind == WITHHOLD
    assert "predictable" in report.reasons(made)
    assert report.fit_for(made) == []


def test_what_nothing_bounds_is_not_good_enough() -> None:
    stated = replace(statements(), evidence=UNMEASURED)
    made = judge(stated, head(stated), True)
    assert (made.kind, made.bounded, made.within) == (WITHHOLD, 0, 0)
    assert report.comparison(made) == ""


def test_parts_of_a_table_are_as_good_as_the_table_and_measured_columns_as_their_noise() -> None:
    stated = replace(statements(certificate({("a", "b", "c"): 0.4}, margin=0.0)), workload=TRIPLE, evidence=UNMEASURED)
    assert [(p.size, p.within, p.tables) for p in judge(stated, head(stated), True).sizes] == [(1, 0, 3), (2, 0, 3), (3, 0, 1)]
    fine = (Measurement(("a",), counts(("a",))[("a",)] + 1.0, 2.0),)
    measured = replace(stated, evidence=Evidence(DOMAIN, CODES, fine, 600.0))
    assert judge(measured, head(measured), True).sizes[0].within == 1


@pytest.mark.parametrize(
    ("alone", "better", "surely"),
    [
        (ColumnsAlone(0.02, 0.01, 0.03, 5.0), True, True),
        (ColumnsAlone(0.05, 0.01, 0.3, 5.0), True, False),
        (ColumnsAlone(0.12, 0.05, 0.3, 5.0), False, False),
        (ColumnsAlone(0.4, 0.35, 0.5, 5.0), False, True),
    ],
)
def test_columns_alone_are_compared_as_far_as_the_measurement_tells(alone: ColumnsAlone, better: bool, surely: bool) -> None:
    certified = replace(CERTIFIED, mean_error=0.1, mean_bound95=0.12, columns=alone)
    stated = statements(certified)
    stated = replace(stated, rho=1e-6)  # noisy answers are hopeless then
    made = judge(stated, head(stated), True)
    first = made.simpler[0]
    assert (first.series, first.better, first.surely) == (INDEPENDENT, better, surely)
    assert f"{alone.error:.1%} ({alone.low95:.1%} to {alone.high95:.1%}, 95%)" in report.comparison(made)


def test_noisy_answers_that_would_be_better_are_named_too() -> None:
    stated = replace(statements(replace(CERTIFIED, mean_error=0.1, mean_bound95=0.12)), rho=10.0)
    assert "ResidualPlanner" in report.comparison(judge(stated, head(stated), True))


def test_a_tenth_is_what_a_survey_of_1600_people_gives_for_a_hundred_cells() -> None:
    drawn = np.random.default_rng(1).multinomial(1600, np.full(100, 0.01), size=400) / 1600
    # "about": 2 % less, for counts are whole and a share of a hundredth is not small; the standard error of 400 surveys is 0.4 %
    assert np.abs(drawn - 0.01).sum(axis=1).mean() / 2 == pytest.approx(LIMIT, rel=0.03)
