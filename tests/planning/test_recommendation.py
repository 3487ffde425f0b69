"""Recommendations follow the trials they rest on: short, with reasons, from public facts, and honest about what was never tried."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Forecast
from dpsynth_core.planning import recommendation
from dpsynth_core.planning.recommendation import Situation, recommend
from dpsynth_core.privacy.conversions import rho_from
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources import demo
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.domain import Domain
from tests.additions import listed

WORKLOAD = workloads.all_kway(demo.demo_domain(), 2)


def situation(epsilon: float = 1.0, people: int = 50_000) -> Situation:
    return Situation.of(WORKLOAD, rho_from(epsilon, 1e-9), Unit(), people)


def fitting(*names: str, seconds: float = 5.0) -> dict[str, Forecast]:
    return {name: Forecast(fits=True, seconds=seconds, memory_mb=100.0) for name in names}


def test_the_list_is_public_and_best_first() -> None:
    advice = recommend(situation(), fitting(*registry.MECHANISMS))
    assert advice.zone is Zone.PUBLIC
    errors = [one.expected.error for one in advice.value]
    assert all(later * recommendation.CLOSE > earlier for earlier, later in pairwise(errors))
    assert all(one.reasons for one in advice.value)


def test_with_much_budget_dependence_is_worth_modelling() -> None:
    """What every trial with little noise showed: the best of those that look at pairs is far ahead of columns alone."""
    best = recommend(situation(10.0), fitting("aim", "mst", "independent")).value
    assert best[0].name in ("aim", "mst")
    assert "times as accurate as columns alone" in " ".join(best[0].reasons)
    assert [recommendation._ratio(times) for times in (1.44, 14.2, 143.9, 12_345.0)] == ["1.4", "14", "140", "12,000"]


def test_more_people_or_budget_never_hurt_the_best() -> None:
    def expected(epsilon: float, people: int) -> float:
        return min(one.expected.error for one in recommend(situation(epsilon, people), fitting(*registry.MECHANISMS)).value)

    assert expected(1.0, 5_000) > expected(1.0, 50_000) > expected(5.0, 50_000)


def test_what_does_not_fit_is_never_recommended() -> None:
    refused = {"aim": Forecast(fits=False, seconds=0, memory_mb=0, reason="too large")}
    assert [one.name for one in recommend(situation(), refused | fitting("mst")).value] == ["mst"]
    assert recommend(situation(), refused).value == ()


def test_answers_without_rows_are_left_out() -> None:
    assert recommend(situation(), fitting("gaussian")).value == ()


@pytest.mark.parametrize(("seconds", "first"), [(60.0, "aim"), (6_000.0, "mst")])
def test_among_equals_the_usual_one_comes_first_unless_it_takes_long(monkeypatch: pytest.MonkeyPatch, seconds: float, first: str) -> None:
    model = recommendation._model()
    same = model["mechanisms"]["aim"]
    monkeypatch.setattr(recommendation, "_model", lambda: model | {"mechanisms": dict.fromkeys(("aim", "mst", "independent"), same)})
    forecasts = fitting("aim", seconds=seconds) | fitting("mst", seconds=2.0) | fitting("independent", seconds=3.0)
    advice = recommend(situation(), forecasts).value
    assert [one.name for one in advice] == [first, *(name for name in ("mst", "independent", "aim") if name != first)]
    assert f"about as accurate as {registry.get(first).card.title}" in advice[1].reasons


def test_the_usual_one_gives_way_only_to_what_is_expected_to_err_far_less(monkeypatch: pytest.MonkeyPatch) -> None:
    model = recommendation._model()
    usual = model["mechanisms"]["aim"]

    def beside(times: float) -> str:
        weights = [usual["error"]["weights"][0] - math.log(times), *usual["error"]["weights"][1:]]
        less = usual | {"error": usual["error"] | {"weights": weights}}
        monkeypatch.setattr(recommendation, "_model", lambda: model | {"mechanisms": {"aim": usual, "mst": less}})
        return recommend(situation(), fitting("aim", "mst")).value[0].name

    assert beside(0.9 * recommendation.FAR) == "aim"
    assert beside(1.1 * recommendation.FAR) == "mst"


def test_a_mechanism_that_was_never_tried_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    model = recommendation._model()
    monkeypatch.setattr(recommendation, "_model", lambda: model | {"mechanisms": {"mst": model["mechanisms"]["mst"]}})
    assert recommendation.expected("aim", situation()) is None
    assert [one.name for one in recommend(situation(), fitting("aim", "mst")).value] == ["mst"]


@pytest.mark.parametrize("measure", recommendation.MEASURES)
def test_the_best_by_the_measure_that_was_asked_for_comes_first(measure: str) -> None:
    advice = recommend(situation(), fitting(*registry.MECHANISMS), measure=measure).value
    known = {name: recommendation.expected(name, situation(), measure) for name, one in registry.MECHANISMS.items() if one.card.makes_rows}
    assert advice[0].expected.error <= min(one.error for one in known.values() if one) * recommendation.CLOSE
    assert advice[0].expected == recommendation.expected(advice[0].name, situation(), measure)


def test_what_needs_a_public_table_says_that_it_depends_on_that_table() -> None:
    uses = ("aim_public", *listed("ON_SHORT_LISTS_WITH_PUBLIC"))
    advice = recommend(situation(), fitting(*uses, "independent")).value
    reasons = {one.name: " ".join(one.reasons) for one in advice}
    assert all("resemble" in reasons[name] for name in uses)
    assert "resemble" not in reasons["independent"]


def test_a_plan_beyond_what_one_mechanism_was_tried_on_is_beyond_for_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    model = recommendation._model()
    narrow = model["mechanisms"]["mst"] | {"low": [9.0] * 5, "high": [9.0] * 5}
    monkeypatch.setattr(recommendation, "_model", lambda: model | {"mechanisms": model["mechanisms"] | {"mst": narrow}})
    beyond = {name: advice.beyond for name in ("aim", "mst") if (advice := recommendation.expected(name, situation()))}
    assert beyond == {"aim": False, "mst": True}


@pytest.mark.parametrize(("values", "tried"), [(1_000, False), (100, True)])
@pytest.mark.parametrize("people", [1_000, 50_000])
def test_of_two_columns_of_many_values_no_expected_error_is_put_before_the_usual_one(values: int, tried: bool, people: int) -> None:
    """MWEM errs as much as it can there; before tables of such columns were tried, the model expected least of it."""
    pair = workloads.all_kway(Domain.from_json({"a": values, "b": values}), 2)
    advice = recommend(Situation.of(pair, rho_from(1.0, 1e-9), Unit(), people), fitting(*registry.MECHANISMS)).value
    assert advice[0].name == recommendation.USUAL
    assert advice[0].expected.beyond is not tried
    assert tried or all(one.expected.beyond for one in advice)


def test_what_answers_another_question_is_on_no_list() -> None:
    assert not {*listed("ON_NO_LIST")} & recommendation._model()["mechanisms"].keys()


def test_far_outside_of_the_trials_the_list_says_so_and_does_not_extrapolate() -> None:
    inside, outside = (recommendation.expected("aim", situation(10.0, people)) for people in (50_000, 10**12))
    assert inside is not None
    assert outside is not None
    assert not inside.beyond
    assert outside.beyond
    assert outside.error > inside.error / 100
    assert "outside of what was tried" in " ".join(recommend(situation(10.0, 10**12), fitting("aim")).value[0].reasons)


def test_errors_are_shares_and_their_range_holds_them() -> None:
    for name in recommendation._model()["mechanisms"]:
        for epsilon in (0.01, 1.0, 100.0):
            advice = recommendation.expected(name, situation(epsilon))
            assert advice is not None
            assert 0 < advice.low <= advice.error <= advice.high <= 1


def test_noise_is_that_of_two_measurements_a_column() -> None:
    one = Situation.of(WORKLOAD, 0.5, Unit(), 1000)
    cells = sorted(WORKLOAD.domain.cells(clique) for clique in WORKLOAD.cliques)
    typical = (cells[len(cells) // 2] + cells[(len(cells) - 1) // 2]) / 2
    assert one.noise == pytest.approx(math.sqrt(12 / 0.5) * typical / 2000)


def test_the_basis_is_told() -> None:
    based = recommendation.basis()
    assert based.scenarios > 10
    assert based.trials > based.scenarios
