"""A transcript is enough to make a release once more: same model, same rows, same bounds, same certificate, without the private table."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsynth_core.foundation.errors import BudgetExceeded
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.plan import Plan, Shares
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.events import Event, Gaussian, Selection
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis, transcript
from dpsynth_core.release.release import Release
from dpsynth_core.release.transcript import RecordedAnswer, Unrecorded, check_paid, recording, replaying
from dpsynth_core.sources import demo
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import ROUNDING, Measurement, Residual
from dpsynth_core.vocabulary.predictors import Additive, Largest, Predictor
from tests.additions import added
from tests.mechanisms.offered import TABLES
from tests.offers import selected
from tests.refusals import refused
from tests.releases import run
from tests.specs import usual


def spec(**fields: Any) -> Spec:
    """A plan over three columns of the simulated people."""
    return Spec.from_json(
        usual(
            {"kind": "demo"},
            {
                "version": 1,
                "attributes": [
                    {"name": "sex", "kind": "categorical", "categories": ["female", "male"], "other": False, "missing": False},
                    {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 5, "other": False, "missing": False},
                    {"name": "household_size", "kind": "integer", "lower": 1, "upper": 8, "bins": 4, "other": False, "missing": False},
                ],
            },
            budget={"epsilon": 2.0, "delta": 1e-9, "certificate": 0.1},
            output={"rows": 500},
        )
        | fields
    )


def public_table(folder: Path) -> dict[str, Any]:
    demo.simulate(rows=300, seed=8).to_csv(folder / "twin.csv", index=False)
    return {"path": str(folder / "twin.csv")}


def replayed(made: Release, plan_of: Spec) -> Release:
    """Through the document, as a recipient has it."""
    read = releases.from_json(json.loads(releases.document(made)), made.codes, made.values)
    plan = synthesis.feasible(Plan.of(plan_of))
    kernel = replaying(plan.domain, plan.unit, plan.shares, read.transcript, read.charges)
    return synthesis.carry_out(plan, kernel, read.private, lambda _: None)


@pytest.mark.parametrize(
    ("mechanism", "relation"), [*((name, "add-remove") for name in TABLES), ("aim", "replace"), ("residual_planner", "replace")]
)
def test_every_mechanism_is_reproduced_to_the_last_row_and_bound(mechanism: str, relation: str, tmp_path: Path) -> None:
    rows = 500 if registry.get(mechanism).card.makes_rows else None
    wanted = spec(mechanism={"name": mechanism}, unit={"relation": relation}, output={"rows": rows}, public=public_table(tmp_path))
    made = run(wanted)
    again = replayed(made, wanted)
    assert again.total == made.total
    assert again.bounds == made.bounds
    assert again.certificate == made.certificate
    assert again.charges == made.charges
    assert [m.values.tolist() for m in again.measurements] == [m.values.tolist() for m in made.measurements]
    if made.table is not None:
        np.testing.assert_array_equal(again.codes, made.codes)
        assert releases.csv_bytes(again.table) == releases.csv_bytes(made.table)


def test_other_settings_ask_for_something_else_and_are_told() -> None:
    made = run(spec(mechanism={"name": "aim"}))
    refused(replayed, made, spec(mechanism={"name": "mst"}), saying="transcript")


def replay(rho: float, answers: list[RecordedAnswer], paid: list[Event]) -> SealedKernel:
    return replaying(Domain.from_json({"a": 2}), Unit(), Shares(rho, rho, 0.0, ZCDP), answers, paid)


def test_a_replay_keeps_to_the_budget() -> None:
    answer = RecordedAnswer("measure_marginals", (("a",), 1.0), 1, [Measurement(("a",), np.zeros(2), 1.0, rounding=ROUNDING)])
    kernel = replay(0.1, [answer], [Gaussian(1.0, 1.0)])
    refused(kernel.measure_marginals, [("a",)], 1.0, kind=BudgetExceeded)


def test_a_question_is_known_by_its_columns_and_numbers() -> None:
    answer, paid = RecordedAnswer("measure_total", (2.0,), 1, 7.0), Gaussian(2.0, 1.0)
    for asked in (2.0, 2.0 * (1 + 1e-12)):
        assert replay(1.0, [answer], [paid]).measure_total(asked) == 7.0
    for operation, asked in (("measure_total", 2.1), ("measure_errors", 2.0)):
        refused(getattr(replay(1.0, [answer], [paid]), operation), asked, saying="something else")
    for damaged in ([2.0], None, {"a": 2.0}):
        refused(replay(1.0, [replace(answer, arguments=(damaged,))], [paid]).measure_total, 2.0, saying="something else")


@pytest.mark.parametrize(
    ("charges", "paid"),
    [(0, []), (1, []), (1, [Gaussian(4.0, 1.0)]), (1, [Gaussian(2.0, 0.5)]), (1, [Selection(0.5)]), (2, [Gaussian(2.0, 1.0)] * 2)],
)
def test_an_answer_that_was_not_charged_as_the_kernel_does_is_not_repeated(charges: int, paid: list[Event]) -> None:
    refused(replay(1.0, [RecordedAnswer("measure_total", (2.0,), charges, 7.0)], paid).measure_total, 2.0, saying="not charged")


class Kernel:
    events = ()
    rho_left = 0.5

    def part(self, rho: float) -> Kernel:  # noqa: ARG002
        return self

    def prepare(self, cliques: object) -> None:
        pass

    def ask(self, value: object) -> object:
        return value


def test_all_answers_are_recorded_and_nothing_else() -> None:
    answers: list[RecordedAnswer] = []
    kernel = recording(Kernel(), lambda answer, _: answers.append(answer))
    kernel.prepare([])
    assert kernel.rho_left == 0.5
    kernel.part(0.1).ask(3)
    assert kernel.ask(("a", "b")) == ("a", "b")
    assert [(a.operation, a.arguments, a.value) for a in answers] == [("ask", (3,), 3), ("ask", (("a", "b"),), ("a", "b"))]


def test_an_answer_that_is_written_to_afterwards_stays_as_it_was() -> None:
    answers: list[RecordedAnswer] = []
    given = recording(Kernel(), lambda answer, _: answers.append(answer)).ask((np.zeros(2), {"x": 1.0}))
    given[0][:] = 5
    given[1]["x"] = 5
    assert answers[0].value[0].tolist() == [0, 0]
    assert answers[0].value[1] == {"x": 1.0}


def test_every_type_of_answer_survives_the_document() -> None:
    published = Measurement(("a",), np.array([1.0, 2.5]), 2.0)
    other = Measurement((), np.array(3.0), 2.0, 1.5)
    given = [
        None,
        3,
        2.5,
        "x",
        True,
        ("a", "b"),
        [1, 2],
        {("a",): 1.5},
        published,
        other,
        Residual(("a",), np.array([1.0, -1.0]), 2.0),
        np.array([[1, 2]], dtype=np.int8),
        (np.array([1, 2], dtype=np.int64), np.array([True])),
    ]
    answers = [RecordedAnswer("ask", (("a",), 1), i, value) for i, value in enumerate(given)]
    items = json.loads(json.dumps(transcript.to_json(answers, [published])))
    answers_read = transcript.from_json(items, [published])
    assert [a.arguments for a in answers_read] == [(("a",), 1)] * len(given)
    for before, after in zip(given, (a.value for a in answers_read), strict=True):
        assert type(before) is type(after)
        if isinstance(before, Measurement | Residual):
            assert (before.clique, before.values.tolist(), before.sigma) == (after.clique, after.values.tolist(), after.sigma)
        elif isinstance(before, np.ndarray):
            np.testing.assert_array_equal(before, after)
            assert before.dtype == after.dtype
        elif not isinstance(before, tuple) or isinstance(before[0], str):
            assert before == after
    assert answers_read[8].value is published
    assert answers_read[9].value.spread == 1.5


def test_an_answer_that_cannot_be_kept_does_not_end_a_run_and_is_told_at_the_replay() -> None:
    answers: list[RecordedAnswer] = []
    recording(Kernel(), lambda answer, _: answers.append(answer)).ask(object())
    answers_read = transcript.from_json(json.loads(json.dumps(transcript.to_json(answers, []))), [])
    assert answers_read[0].value == Unrecorded("object")
    refused(replay(1.0, answers_read, [])._ask, "ask", object(), saying="cannot be reproduced")


FIRST, SECOND = (Predictor("a", Additive(np.array(scores, dtype=np.int64), {}), Largest(np.arange(2))) for scores in ([0, 1], [1, 0]))


A_DOMAIN = Domain.from_json({"a": 2, "b": 1})
ASKED: dict[str, Callable[[SealedKernel, float], Any]] = {
    "errors": lambda kernel, x: kernel.measure_errors({("a",): np.array([0.0, x])}, 2.0),
    "largest": lambda kernel, x: kernel.measure_largest_error({("a",): np.array([0.0, x])}, 2.0),
    "tables": lambda kernel, x: selected(kernel, {("a",): np.array([0.0, x])}, 1.0),
    "weights": lambda kernel, x: selected(kernel, {("a",): np.zeros(2), ("b",): np.zeros(1)}, 1.0, {("a",): 1.0, ("b",): 2.0 + x}),
    "offsets": lambda kernel, x: selected(kernel, {("a",): np.zeros(2)}, 1.0, offsets={("a",): x}),
}
for module in added("release.transcript_cases"):
    ASKED |= module.asked(A_DOMAIN)


@pytest.mark.parametrize("ask", ASKED.values(), ids=list(ASKED))
def test_every_array_that_was_asked_about_shows_in_the_transcript(ask: Callable[[SealedKernel, float], Any]) -> None:
    """Two questions with the same names and numbers differ by what else they are about; the same question never does."""

    def asked(x: float) -> tuple[Any, ...]:
        kept: list[RecordedAnswer] = []
        kernel = PrivacyKernel(CodesSource(A_DOMAIN, np.array([[0, 0], [1, 0], [1, 0]], dtype=np.int32)), Unit(), 1e6, SeededNoise(1), 0.5)
        ask(recording(kernel, lambda answer, _: kept.append(answer)), x)
        replayed: list[RecordedAnswer] = []
        read = transcript.from_json(json.loads(json.dumps(transcript.to_json(kept, []))), [])
        ask(recording(replay(1e6, list(read), list(kernel.events)), lambda answer, _: replayed.append(answer)), x)
        assert [a.arguments for a in replayed] == [a.arguments for a in kept]
        return kept[0].arguments

    assert asked(0.0) == asked(0.0)
    assert asked(0.0) != asked(0.25)


def test_the_seed_of_the_rows_follows_from_the_answers_before_them() -> None:
    made = run(spec(mechanism={"name": "independent"}))
    drawn_after = [n for n in range(len(made.transcript) + 1) if transcript.row_seed(made.transcript[:n]) == made.row_seed]
    assert len(drawn_after) == 1
    assert [a.operation for a in made.transcript[drawn_after[0] :]] == ["measure_errors", "measure_largest_error"]
    seeded = run(spec(mechanism={"name": "independent"}, output={"rows": 50, "seed": 4}))
    assert seeded.row_seed == 4


@pytest.mark.parametrize(
    ("asked", "otherwise"),
    [
        (lambda kernel: kernel.measure_right([FIRST], 2.0), lambda kernel: kernel.measure_right([SECOND], 2.0)),
        (
            lambda kernel: kernel.measure_sum(("a",), np.array([0.0, 1.0]), 0.0, 1.0, 2.0),
            lambda kernel: kernel.measure_sum(("a",), np.array([1.0, 0.0]), 0.0, 1.0, 2.0),
        ),
        (
            lambda kernel: kernel.among({"a": (0,)}).measure_errors({("a",): np.zeros(2)}, 2.0),
            lambda kernel: kernel.among({"a": (1,)}).measure_errors({("a",): np.zeros(2)}, 2.0),
        ),
        (
            lambda kernel: kernel.among({"a": (0,)}).measure_errors({("a",): np.zeros(2)}, 2.0),
            lambda kernel: kernel.measure_errors({("a",): np.zeros(2)}, 2.0),
        ),
    ],
    ids=["predictors", "weights", "group", "everybody"],
)
def test_an_answer_is_not_given_to_a_question_about_something_else(asked: Any, otherwise: Any) -> None:
    """Two models of the same column, two sums with the same bounds, two groups: the names and numbers in such questions are the same."""
    kept: list[RecordedAnswer] = []
    domain = Domain.from_json({"a": 2})
    kernel = PrivacyKernel(CodesSource(domain, np.array([[0], [1], [1]], dtype=np.int32)), Unit(), 1e6, SeededNoise(1))
    value = asked(recording(kernel, lambda answer, _: kept.append(answer)))
    read = transcript.from_json(json.loads(json.dumps(transcript.to_json(kept, []))), [])
    np.testing.assert_equal(asked(replay(1e6, list(read), list(kernel.events))), value)
    refused(otherwise, replay(1e6, list(read), list(kernel.events)), saying="something else")


def test_the_number_of_people_in_a_group_is_never_free() -> None:
    """Not even where that of all people is public: a replaced person may be in the group or not."""
    kept: list[RecordedAnswer] = []
    domain, unit = Domain.from_json({"a": 2}), Unit(REPLACE, 1)
    kernel = PrivacyKernel(CodesSource(domain, np.array([[0], [1], [1]], dtype=np.int32)), unit, 1e6, SeededNoise(1))
    value = recording(kernel, lambda answer, _: kept.append(answer)).among({"a": (1,)}).measure_total(2.0)
    for paid in (list(kernel.events), []):
        group = replaying(domain, unit, Shares(1e6, 1e6, 0.0, ZCDP), kept, paid).among({"a": (1,)})
        assert not group.unit.total_is_public
        if paid:
            assert group.measure_total(2.0) == value
        else:
            refused(group.measure_total, 2.0, saying="not charged")


HALVES = Groups("halves", "a", (0, 0, 1, 1))


@pytest.mark.parametrize(
    "change",
    [
        {"groups": (replace(HALVES, places=(1, 1, 0, 0)),)},
        {"groups": (replace(HALVES, column="b"),)},
        {"rounding": 0.0},
        {"groups": (), "spread": 0.1},
    ],
    ids=["places", "column", "rounding", "spread"],
)
def test_a_noisy_table_is_replayed_only_as_the_kernel_measures(change: dict[str, Any]) -> None:
    """Which values its groups have and the kind of its noise are asked for by nobody, and follow from what the kernel does."""
    kept: list[RecordedAnswer] = []
    domain = Domain.from_json({"a": 4, "b": 4})
    kernel = PrivacyKernel(CodesSource(domain, np.array([[0, 1], [3, 2]], dtype=np.int32)), Unit(), 1e6, SeededNoise(1))
    recording(kernel, lambda answer, _: kept.append(answer)).grouped([HALVES]).measure_marginals([("b", "halves")], 2.0)[0]

    def again(answers: list[RecordedAnswer]) -> Measurement:
        played = replaying(domain, Unit(), Shares(1e6, 1e6, 0.0, ZCDP), answers, list(kernel.events))
        return played.grouped([HALVES]).measure_marginals([("b", "halves")], 2.0)[0]

    (table,) = kept[0].value
    assert again(kept) is table
    refused(again, [replace(kept[0], value=[replace(table, **change)])], saying="not as the kernel measures")


def test_a_bound_that_another_machine_rounds_beside_zero_is_the_same_question() -> None:
    kept: list[RecordedAnswer] = []
    domain, weights = Domain.from_json({"a": 2}), np.array([0.0, 1.0])
    kernel = PrivacyKernel(CodesSource(domain, np.array([[0], [1]], dtype=np.int32)), Unit(), 1e6, SeededNoise(1))
    value = recording(kernel, lambda answer, _: kept.append(answer)).measure_sum(("a",), weights, 0.0, 1.0, 2.0)
    assert replay(1e6, kept, list(kernel.events)).measure_sum(("a",), weights, -1e-17, 1.0, 2.0) == value
    refused(replay(1e6, kept, list(kernel.events)).measure_sum, ("a",), weights, -1e-9, 1.0, 2.0, saying="something else")


NAMED = pytest.mark.parametrize("name", ["about", "among", "weighted"])
"""Columns of which a transcript could take a marginal for a digest, or for a group of records."""


def measured_of(name: str) -> tuple[Domain, list[RecordedAnswer], list[Event]]:
    domain, kept = Domain.from_json({name: 2, "b": 3, "c": 2}), list[RecordedAnswer]()
    kernel = PrivacyKernel(CodesSource(domain, np.array([[0, 1, 0], [1, 2, 1]], dtype=np.int32)), Unit(), 1e6, SeededNoise(1))
    recorder = recording(kernel, lambda answer, _: kept.append(answer))
    recorder.measure_marginals([(name,), (name, "b"), ("b", "c")], 2.0)
    recorder.among({name: (0,)}).measure_marginals([(name, "c")], 3.0)
    return domain, kept, list(kernel.events)


@NAMED
def test_columns_may_have_the_names_of_what_stands_beside_a_question(name: str) -> None:
    domain, kept, paid = measured_of(name)
    check_paid(domain, Unit(), kept, paid)
    again = replaying(domain, Unit(), Shares(1e6, 1e6, 0.0, ZCDP), kept, paid)
    assert again.measure_marginals([(name,), (name, "b"), ("b", "c")], 2.0) is kept[0].value
    assert again.among({name: (0,)}).measure_marginals([(name, "c")], 3.0) is kept[1].value
    assert [event.l2 for event in paid if isinstance(event, Gaussian)] == [pytest.approx(3**0.5), 1.0]
    other = replaying(domain, Unit(), Shares(1e6, 1e6, 0.0, ZCDP), kept, paid)
    refused(other.measure_marginals, [(name,), (name, "c"), ("b", "c")], 2.0, saying="something else")


def of_a(sigma: float, *shape: int) -> Measurement:
    return Measurement(("a",), np.zeros(shape), sigma, rounding=ROUNDING)


A, B = ("a",), ("b",)
UNASKED: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "two noise levels": ("measure_marginals", (A, 0.1, 2.0), [of_a(0.1, 2)]),
    "two of an older version": ("measure_marginal", (A, 0.1, 2.0), of_a(0.1, 2)),
    "less noise": ("measure_marginals", (A, 2.0), [of_a(0.1, 2)]),
    "a tuple": ("measure_marginals", (A, 2.0), (of_a(0.1, 2),)),
    "a table alone": ("measure_marginals", (A, 2.0), of_a(2.0, 2)),
    "none": ("measure_marginals", (A, B, 2.0), []),
    "one of two": ("measure_marginals", (A, B, 2.0), [of_a(2.0, 2)]),
    "one twice": ("measure_marginals", (A, B, 2.0), [of_a(2.0, 2), of_a(2.0, 2)]),
    "an array more": ("measure_marginals", (A, 2.0), [of_a(2.0, 2), np.zeros(2)]),
    "a dictionary": ("measure_marginals", (A, 2.0), {A: of_a(2.0, 2)}),
    "a number": ("measure_marginals", (A, 2.0), 3.0),
    "a residual": ("measure_marginals", (A, 2.0), [Residual(A, np.zeros(2), 2.0)]),
    "a table for a residual": ("measure_residual", (A, 2.0), of_a(2.0, 2)),
    "a table for nothing": ("seed", (A, 0.1), of_a(0.1, 2)),
    "tables for nothing": ("residual_l2", (A, 0.1), [of_a(0.1, 2)]),
    "a table for a sum": ("measure_sum", (A, 0.0, 1.0, 2.0), of_a(0.1, 2)),
    "roots of another shape": ("measure_roots", (A, 2.0), np.zeros(3)),
    "roots of columns in another order": ("measure_roots", (("b", "a"), 2.0), np.zeros((3, 2))),
    "roots in other steps": ("measure_roots", (A, 2.0), np.array([0.0, 1 / 3])),
    "roots without end": ("measure_roots", (A, 2.0), np.array([0.0, np.inf])),
    "roots that are not numbers": ("measure_roots", (A, 2.0), np.array([0.0, np.nan])),
    "roots in whole numbers": ("measure_roots", (A, 2.0), np.zeros(2, dtype=np.int64)),
    "a number for roots": ("measure_roots", (A, 2.0), 0.0),
    "another shape": ("measure_marginals", (A, 2.0), [of_a(2.0, 7)]),
}


@pytest.mark.parametrize(("operation", "asked", "given"), UNASKED.values(), ids=list(UNASKED))
def test_tables_that_were_not_asked_for_are_refused(operation: str, asked: tuple[Any, ...], given: Any) -> None:
    domain = Domain.from_json({"a": 2, "b": 3})
    answers = [RecordedAnswer(operation, asked, 1, given)]
    names = [one for one in asked if isinstance(one, tuple)]
    for paid in (Gaussian(asked[-1], len(names) ** 0.5), Gaussian(asked[-1], 2**0.5), Gaussian(asked[-1], 1.0)):
        kernel = replaying(domain, Unit(), Shares(1e6, 1e6, 0.0, ZCDP), answers, [paid])
        if operation.startswith("measure_marginal"):
            refused(kernel.measure_marginals, names, asked[-1])
        if given is not UNASKED["another shape"][-1]:  # how many cells a table of groups has, a replay alone knows
            refused(check_paid, domain, Unit(), answers, [paid])
    refused(check_paid, domain, Unit(), [replace(answers[0], charges=0)], [])


def test_what_an_earlier_version_measured_alone_is_repeated() -> None:
    answer = RecordedAnswer("measure_marginal", (A, 2.0), 1, of_a(2.0, 2))
    assert replay(1.0, [answer], [Gaussian(2.0, 1.0)]).measure_marginals([A], 2.0) == [answer.value]


def test_a_question_by_keywords_or_with_numbers_of_numpy_is_recorded_as_any() -> None:
    kept: list[RecordedAnswer] = []
    kernel = PrivacyKernel(CodesSource(Domain.from_json({"a": 2}), np.array([[0]], dtype=np.int32)), Unit(), 1e6, SeededNoise(1))
    recorder = recording(kernel, lambda answer, _: kept.append(answer))
    recorder.measure_marginals(sigma=3.0, cliques=[A])
    recorder.measure_marginals([A], np.int64(3))
    recorder.measure_marginals([A], np.float32(3))
    assert [answer.arguments for answer in kept] == [(A, 3.0)] * 3
    assert {event.rho for event in kernel.events} == {1 / 18}
