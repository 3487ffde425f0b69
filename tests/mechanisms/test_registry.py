"""The registry: complete, self-describing, and strict about settings."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from dpsynth_core.mechanisms.mechanism import AT_LEAST, CHOOSING, SINGLE, Card
from dpsynth_core.mechanisms.parameters import choice, column, parameters, real, switch, whole
from dpsynth_core.mechanisms.registry import MECHANISMS, PURPOSES, configured, describe, forecast, get, purpose, settings
from dpsynth_core.mechanisms.steps import Fitted, Measured
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import all_kway
from tests.additions import listed
from tests.mechanisms.offered import TABLES
from tests.mechanisms.runs import DOMAIN, SHORT, people, ready, run
from tests.refusals import refused

CAPACITY = "max_size_mb"
COUNT_BY_COUNT = ("mwem", "pmwpub", "rap", "privsyn", "privmrf")
"""Those that measure single counts, or how far tables are off, which are not marginals and are reported as what was fitted."""


@dataclass(frozen=True)
class Knobs:
    """A mechanism with one parameter of each kind, and a field that is none."""

    card = Card("knobs", "Knobs", ZCDP, "", "", "")
    share: float = real(0.9, least=0.1, most=0.99, text="a share")
    rounds: int = whole(16, least=2, most=100, text="a number")
    careful: bool = switch(True, text="a switch")
    how: str = choice(("quick", "exact"), text="a word")
    about: str = column(text="a column")
    public: PublicTable | None = None


KNOBS: Any = Knobs()


def test_all_mechanisms_are_there_and_the_recommended_one_is_first() -> None:
    assert next(iter(MECHANISMS)) == "aim"
    assert all(get(name).card.name == name for name in MECHANISMS)


def test_every_mechanism_is_wanted_for_one_purpose() -> None:
    assert sum(len(one.mechanisms) for one in PURPOSES) == len(MECHANISMS)
    assert len({one.name for one in PURPOSES}) == len(PURPOSES)
    assert [entry["purpose"] for entry in describe()] == [purpose(name).name for name in MECHANISMS]
    rows = {one.name: {get(name).card.makes_rows for name in one.mechanisms} for one in PURPOSES}
    assert rows["answers"] == {False}
    assert all(rows[name] == {True} for name in ("default", *listed("PURPOSES_OF_ROWS")))


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    refused(get, "AIM2", saying=f"'AIM2' is unknown; use one of {', '.join(MECHANISMS)}")


def test_the_description_is_json_and_says_everything() -> None:
    described = json.loads(json.dumps(describe(), allow_nan=False))
    assert [entry["name"] for entry in described] == list(MECHANISMS)
    for entry in described:
        assert all(len(entry[field]) >= 3 for field in ("title", "summary", "paper", "privacy"))
        for parameter in entry["parameters"]:
            assert set(parameter) == {"name", "kind", "default", "low", "high", "help", "options"}


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_defaults_are_within_their_own_limits_and_a_complete_setting(name: str) -> None:
    mechanism = get(name)
    filled = settings(mechanism, {})
    assert list(filled) == [parameter.name for parameter in parameters(mechanism)]
    assert settings(mechanism, filled) == filled
    assert all(parameter.help for parameter in parameters(mechanism))
    assert configured(mechanism, {}) == mechanism


@pytest.mark.parametrize("name", TABLES)
def test_every_mechanism_forecasts_from_public_inputs(name: str) -> None:
    forecast = ready(name).forecast(all_kway(DOMAIN, 2), 0.01)
    assert forecast.fits
    assert 0 < forecast.seconds < 60
    assert 0 < forecast.memory_mb < 1000


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("rho", [1e-8, 1e-3, 1.0])
@pytest.mark.parametrize("name", TABLES)
def test_every_mechanism_spends_its_budget_and_no_more(name: str, rho: float, relation: str) -> None:
    done = run(name, all_kway(DOMAIN, 2), rho, relation, rows=2, **SHORT.get(name, {}))
    assert sum((event.cost for event in done.kernel.events), Fraction(0)) <= Fraction(rho)
    assert done.kernel.rho_spent == pytest.approx(rho, rel=1e-8)  # the meter's headroom is a billionth
    assert done.finished.total > 0


@pytest.mark.parametrize("name", TABLES)
def test_every_mechanism_reports_each_measurement_with_what_was_spent_by_then(name: str) -> None:
    done = run(name, all_kway(DOMAIN, 2), 0.05, **SHORT.get(name, {}))
    reports = [event for event in done.events if isinstance(event, Measured | Fitted)]
    if name not in COUNT_BY_COUNT:
        charged = [event for event in done.kernel.events if isinstance(event, Gaussian)]
        tables = sum(round(event.l2**2) if type(event) is Gaussian else 1 for event in charged)  # a person moves each by 1
        pairs = len(all_kway(DOMAIN, 2).cliques) if name in ("aim", "aim_public") else 0  # of which it asks how far they depend
        assert sum(isinstance(event, Measured) for event in reports) == tables - pairs
    for field in ("rho_spent", "done", "round"):
        values = [getattr(event, field) for event in reports]
        assert values == sorted(values), field
    assert reports[-1].rho_spent == done.kernel.rho_spent


@pytest.mark.parametrize("name", TABLES)
def test_a_mechanism_that_is_not_driven_on_spends_nothing_on(name: str) -> None:
    source = people()
    kernel = PrivacyKernel(source, Unit(), 0.05, SeededNoise(42))
    steps = ready(name).steps(kernel, all_kway(DOMAIN, 2))
    assert source.passes == []
    next(steps)
    spent = kernel.rho_spent
    steps.close()
    assert 0 < kernel.rho_spent == spent < 0.05


def test_text_from_the_command_line_becomes_numbers() -> None:
    words = {"how": "quick", "about": ""}
    assert settings(KNOBS, {"share": "0.5", "rounds": "7", "careful": "false"}) == {"share": 0.5, "rounds": 7, "careful": False} | words
    assert settings(KNOBS, {"rounds": 7.0}) == {"share": 0.9, "rounds": 7, "careful": True} | words
    assert isinstance(settings(KNOBS, {"rounds": 7.0})["rounds"], int)


@pytest.mark.parametrize(
    "given",
    [
        {"share": 1.5},
        {"share": "half"},
        {"share": math.nan},
        {"share": None},
        {"share": True},
        {"rounds": 1},
        {"rounds": 2.5},
        {"rounds": "inf"},
        {"careful": "perhaps"},
        {"careful": 1},
        {"how": "slowly"},
        {"how": 1},
        {"about": 2.0},
    ],
)
def test_settings_that_do_not_fit_are_refused_by_name(given: dict[str, Any]) -> None:
    refused(settings, KNOBS, given, saying=rf"mechanism\.{next(iter(given))}: .* is not ")


def test_a_word_is_taken_as_it_is() -> None:
    chosen = settings(KNOBS, {"how": "exact", "about": "income, total"})
    assert (chosen["how"], chosen["about"]) == ("exact", "income, total")


def test_unknown_parameters_are_refused_with_the_known_ones() -> None:
    refused(settings, KNOBS, {"shares": 0.5}, saying="use one of share, rounds, careful, how, about")
    refused(settings, get("independent"), {"shares": 0.5}, saying="has no parameters")


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("name", list(MECHANISMS))
def test_the_planned_split_is_a_whole_budget(name: str, relation: str) -> None:
    shares = [share for _, share in get(name).split(all_kway(DOMAIN, 2), Unit(relation).total_is_public)]
    assert all(share > 0 for share in shares)
    assert math.fsum(shares) == pytest.approx(1)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("name", ["mst", "independent", "gaussian", *listed("CHARGED_AS_PLANNED")])
def test_the_planned_split_is_what_a_run_is_charged(name: str, relation: str) -> None:
    done = run(name, all_kway(DOMAIN, 2), 1.0, relation)
    planned = dict(get(name).split(all_kway(DOMAIN, 2), done.kernel.unit.total_is_public))
    selected = sum(event.rho for event in done.kernel.events if isinstance(event, Selection))
    assert selected == pytest.approx(planned.get(CHOOSING, 0.0), rel=1e-6)
    measured = sum(event.rho for event in done.kernel.events if not isinstance(event, Selection))
    assert measured == pytest.approx(1 - planned.get(CHOOSING, 0.0), rel=1e-6)


@pytest.mark.parametrize(("name", "part"), [("aim", AT_LEAST), ("mst", SINGLE)])
def test_single_columns_are_paid_as_planned(name: str, part: str) -> None:
    done = run(name, all_kway(DOMAIN, 2), 1.0)
    planned = dict(get(name).split(all_kway(DOMAIN, 2), False))
    columns = [event.measurement for event in done.events if isinstance(event, Measured)][: len(DOMAIN)]
    first = sum(done.kernel.unit.marginal_l2**2 / (2 * column.sigma**2) for column in columns)
    assert first == pytest.approx(planned[part], rel=1e-6)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize(("sizes", "k"), [((20_000,), 1), ((300, 200), 2), ((3000, 2000), 2), ((20_000, 20_000), 1), ((90_000,) * 130, 1)])
def test_a_capacity_that_a_refusal_advises_can_be_stated_and_is_enough(name: str, sizes: tuple[int, ...], k: int) -> None:
    """The least capacity that can be stated is too little for each of these; without the parameter, no refusal names it."""
    workload = all_kway(Domain.from_json({f"c{place}": size for place, size in enumerate(sizes)}), k)
    least = {CAPACITY: 0.1} if CAPACITY in {one.name for one in parameters(get(name))} else {}
    refusal = forecast(configured(get(name), least), workload, 0.1).reason
    if (advised := re.search(rf"raise {CAPACITY} to (\d+)", refusal)) is None:
        assert CAPACITY not in refusal
    else:
        assert CAPACITY not in forecast(configured(get(name), {CAPACITY: int(advised[1])}), workload, 0.1).reason
