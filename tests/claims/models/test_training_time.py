"""What training takes is said before the charge, and is in what the machine is asked for."""

from __future__ import annotations

import pytest

from dpsynth_core.claims.models import training_time
from dpsynth_core.claims.models.specs import ModelSpec
from dpsynth_core.claims.models.targets import Target, targets
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.planning import machine, precision
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from tests.refusals import refused
from tests.specs import usual


def target(classes: int) -> Target:
    answer = Attribute.coded("answer", classes) if classes else Attribute.integer("answer", 0, 99)
    (only,) = targets(Domain((answer, Attribute.coded("other", 2))), [ModelSpec(column="answer")])
    return only


@pytest.mark.parametrize(
    ("rows", "columns", "classes", "training", "asking"),
    [
        (50_000, 12, 2, 0.6, 3.7),
        (50_000, 12, 0, 0.4, 3.4),
        (50_000, 12, 10, 1.7, 11.0),
        (20_000, 12, 50, 2.0, 20.7),
        (20_000, 40, 10, 1.9, 13.6),
        (50_000, 40, 2, 1.3, 4.6),
    ],
)
def test_forecasts_are_near_what_was_measured(rows: int, columns: int, classes: int, training: float, asking: float) -> None:
    # processor seconds of one run each; a machine that is busy or slower gives twice as much
    one = [target(classes)]
    assert training / 2 <= training_time.training_seconds(one, columns, rows) <= 2 * training
    assert asking / 2 <= training_time.asking_seconds(one, columns) <= 2 * asking
    assert training_time.training_seconds(one, columns, 10**7) == training_time.training_seconds(one, columns, None)


def test_training_counts_in_the_time_of_a_run_and_is_told_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"c{i}" for i in range(20)]
    document = usual(
        {"kind": "standin", "standin": {"rows": 500, "strength": 0.5, "seed": 1}}, dict.fromkeys(names, 50), k=1, mechanism="independent",
    )
    monkeypatch.setattr(machine, "free_mb", lambda: None)
    monkeypatch.setattr(machine, "MAX_DAYS", 60 / 86_400)
    machine.check(Plan.of(Spec.from_json(document)))
    plan = Plan.of(Spec.from_json(document | {"models": [{"column": name} for name in names]}))
    refused(machine.check, plan, kind=CapacityError, saying=r"^time: .* ask for fewer models")
    assert precision.models_sentences(plan)[-1].startswith("To train them takes about 3 minutes, to ask them about ")
