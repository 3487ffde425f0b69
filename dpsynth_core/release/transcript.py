"""The transcript of a run: every answer of the kernel, in order, and a kernel that gives the same answers again.

A mechanism is a function of the kernel's answers. With them it can be run once more without the private table: that is what
`replaying` is for, and why a release can be reproduced from what is published, and a run that was interrupted goes on (Proposition 25).
Answers were paid for and are released; a transcript holds nothing else. The seed of the rows follows from them too, so that it cannot be
chosen. It knows no mechanism by name: all that a kernel is asked is recorded with its answer. What an answer must have cost is looked up in
`privacy.registry`; operations are named here where their answers are noisy tables or sums, whose cells and noise are checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self, cast

import numpy as np

from dpsynth_core.claims.claim import AnswersEnd
from dpsynth_core.claims.outcome import near
from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Shares
from dpsynth_core.privacy import questions
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.meter import Meter
from dpsynth_core.privacy.operation import Asked
from dpsynth_core.privacy.registry import find
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Integers
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.grouped_domain import with_groups
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import ROOT_STEPS, Clique, MarginalCounts, Measurement, Residual
from dpsynth_core.vocabulary.regrouping import by_name

_TOLERANCE = 1e-9
"""Relative difference of two numbers that count as the same question: another machine may round a sum differently."""
_NEAR_ZERO = 1e-14
"""Difference of two numbers that count as the same beside 0: what rounding leaves of a bound of weights, which are at most 1."""
_ANOTHER_VERSION = "use the version that made it, or `recover` the tables of an interrupted run with --answers, or begin a new run"
_NOT_ANSWERS = frozenset({"part", "over", "everybody", "among", "weighted", "grouped", "prepare", "prepare_cells"})


@dataclass(frozen=True, eq=False)
class RecordedAnswer:
    """One call of a kernel with its answer.

    Attributes:
        operation: Name of the operation.
        arguments: Names of columns and numbers among the arguments, and digests of the other parts
            (`privacy.questions`).
        charges: Number of events that the call was charged as, 0 or 1.
        value: The answer: numbers, names of columns, measurements, residuals, arrays, or tuples,
            lists and dictionaries of these.
    """

    operation: str
    arguments: tuple[Any, ...]
    charges: int
    value: Any

    @property
    def tables(self) -> Sequence[Measurement | Residual]:
        """The noisy tables that the answer consists of; empty for other answers."""
        return _tables(self.value)


_Group = tuple[tuple[str, ...], ...]
"""The group of records that a kernel answers about, or none, which is everybody."""
Keep = Callable[[RecordedAnswer, Sequence[Event]], None]
"""Takes an answer and what it was charged, before anybody acts on it."""


Given = tuple[Sequence[RecordedAnswer], Sequence[Event]]
"""Answers, and what they were charged together."""


def recording(kernel: SealedKernel, keep: Keep, given: Given = ((), ())) -> SealedKernel:
    """Return a kernel that passes each answer to `keep` before it returns the answer.

    Kernels made from it, such as its parts, do so too.

    Args:
        kernel: The kernel that answers.
        keep: Takes an answer and its charges.
        given: Recorded answers and charges of an interrupted run that is continued: they are
            repeated and charged first, and only further questions reach the private table. An
            unexpected question raises InputError, as in `replaying`.
    """
    return cast(SealedKernel, _Recorder(kernel, keep, _Given(given)))


def replaying(domain: Domain, unit: Unit, shares: Shares, answers: Sequence[RecordedAnswer], paid: Sequence[Event]) -> SealedKernel:
    """Return a kernel without a table, which repeats recorded answers and charges.

    Its operations raise InputError when they are asked another question, because another version or
    machine computes other numbers; and when an answer was not charged as the kernel charges it
    (`privacy.registry`). They raise AnswersEnd when no answer is left.

    Args:
        domain: The domain of the first questions.
        unit: The unit of privacy.
        shares: The division of the budget.
        answers: The recorded answers, in order.
        paid: The events that they were charged as, in order.
    """
    return _Replay(domain, unit, Meter(shares.rho, delta=shares.delta, accountant=shares.accountant), answers, paid)


class _Recorder:
    """A kernel that records the answers of any operation, given by its name.

    mypy cannot see the operations, so only `recording` makes one.
    """

    def __init__(self, kernel: SealedKernel, keep: Keep, given: _Given, group: _Group = ()) -> None:
        self.__kernel = kernel
        self.__keep = keep
        self.__given = given
        self.__group = group

    def part(self, rho: float) -> _Recorder:
        return _Recorder(self.__kernel.part(rho), self.__keep, self.__given, self.__group)

    def over(self, domain: Domain, known: Sequence[MarginalCounts] = ()) -> _Recorder:
        return _Recorder(self.__kernel.over(domain, known), self.__keep, self.__given, self.__group)

    def everybody(self) -> _Recorder:
        return _Recorder(self.__kernel.everybody(), self.__keep, self.__given, self.__group)

    def among(self, cells: Mapping[str, tuple[int, ...]]) -> _Recorder:
        return _Recorder(self.__kernel.among(cells), self.__keep, self.__given, (*self.__group, questions.among(cells)))

    def weighted(self, column: str, times: Integers) -> _Recorder:
        group = (*self.__group, questions.weighted(column, times))
        return _Recorder(self.__kernel.weighted(column, times), self.__keep, self.__given, group)

    def grouped(self, groups: Sequence[Groups]) -> _Recorder:
        return _Recorder(self.__kernel.grouped(groups), self.__keep, self.__given, self.__group)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.__kernel, name)
        if not callable(attribute) or name in _NOT_ANSWERS:
            return attribute

        def call(*arguments: Any, **options: Any) -> Any:
            interrupts.check()  # before more is paid for
            question, before = _identifying(name, arguments, options, self.__group), len(self.__kernel.events)
            given = self.__given.answer(self.__kernel, name, question)
            value = attribute(*arguments, **options) if given is None else given[0]
            paid = self.__kernel.events[before:]
            self.__keep(RecordedAnswer(name, question, len(paid), _copied(value)), paid)
            return value

        return call


class _Given:
    """Recorded answers that are repeated in order.

    Args:
        given: The answers, and the events that they were charged as.
    """

    def __init__(self, given: Given) -> None:
        self._answers, self._paid = iter(given[0]), iter(given[1])

    def answer(self, kernel: SealedKernel, operation: str, question: tuple[Any, ...]) -> tuple[Any] | None:
        """Return the next recorded answer, and charge the kernel for it.

        Args:
            kernel: The kernel that is asked.
            operation: Name of the operation that it is asked.
            question: Identity of the question (`_identifying`).

        Returns:
            A tuple of the answer alone; None if no recorded answer is left.

        Raises:
            InputError: The recorded answer is to another question, or was not charged or measured
                as the kernel would.
        """
        answer = next(self._answers, None)
        if answer is None:
            return None
        if answer.operation == "measure_marginal":  # of an earlier version, which measured one at a time
            answer = replace(answer, operation="measure_marginals", value=[answer.value])
        if answer.operation != operation or not _same_question(answer.arguments, question):
            raise InputError("transcript", "the mechanism asked for something else than it did then", _ANOTHER_VERSION)
        if isinstance(answer.value, Unrecorded):
            raise InputError("transcript", f"it does not hold the answers of {operation}", "this mechanism cannot be reproduced")
        asked, told = questions.parted(question)
        told = tuple(one for one in told if not questions.most_times(one))  # its unit knows as what records count
        event = _paid(Call(kernel.unit, kernel.domain, operation, (*asked, *told), answer.value), answer.charges, self._paid)
        if not all(_as_measured(kernel, table) for table in answer.tables):
            raise InputError("transcript", "a noisy table is not as the kernel measures", "do not rely on this release")
        if event is not None:
            kernel._charge(event)
        return (answer.value,)


def _as_measured(kernel: SealedKernel, table: Measurement | Residual) -> bool:
    """Return whether a recorded table looks as this kernel would measure it: its shape, groups and kind of noise."""
    if table.values.shape != kernel._public.shape(table.clique):
        return False
    return isinstance(table, Residual) or (table.is_rounded_normal and table.groups == kernel._public.groups_of(table.clique))


class _Replay(SealedKernel):
    """The kernel that `replaying` returns: it answers from a transcript and reads no table."""

    def __init__(self, domain: Domain, unit: Unit, meter: Meter, answers: Sequence[RecordedAnswer], paid: Sequence[Event]) -> None:
        super().__init__(Asked(unit, domain), meter)
        self.__group: _Group = ()
        self.__given = _Given((answers, paid))

    def over(self, domain: Domain, known: Sequence[MarginalCounts] = ()) -> Self:
        return self._turned(Asked(self.unit, domain), known)

    def everybody(self) -> Self:
        return self._turned(Asked(self.unit, self.domain), ())

    def among(self, cells: Mapping[str, tuple[int, ...]]) -> Self:
        other = self._turned(replace(self._public, unit=self.unit.counted(1)), self.known)
        other.__group = (*self.__group, questions.among(cells))
        return other

    def weighted(self, column: str, times: Integers) -> Self:
        other = self._turned(replace(self._public, unit=self.unit.counted(int(times.max()))), ())
        other.__group = (*self.__group, questions.weighted(column, times))
        return other

    def grouped(self, groups: Sequence[Groups]) -> Self:
        named = {**self._public.groups, **by_name(groups)}
        return self._turned(Asked(self.unit, with_groups(self.domain, groups), groups=named), self.known)

    def prepare(self, cliques: Collection[Clique]) -> None:
        """Do nothing: a replay has no table to read."""

    def prepare_cells(self, cells: Collection[Attribute]) -> None:
        """Do nothing: a replay has no table to read."""

    def _ask(self, operation: str, *arguments: object, **options: object) -> object:
        given = self.__given.answer(self, operation, _identifying(operation, arguments, options, self.__group))
        if given is None:
            raise AnswersEnd
        return given[0]


def check_paid(domain: Domain, unit: Unit, answers: Sequence[RecordedAnswer], paid: Sequence[Event]) -> None:
    """Check that every recorded answer was charged as the kernel charges it, and that nothing else was charged.

    Args:
        domain: The domain.
        unit: The unit of privacy.
        answers: The recorded answers, in order.
        paid: The charged events, in order.

    Raises:
        InputError: The charges do not fit the answers.
    """
    charges = iter(paid)
    for answer in answers:
        _paid(Call(unit, domain, answer.operation, answer.arguments, answer.value), answer.charges, charges)
    if next(charges, None) is not None:
        raise InputError("transcript", "there are charges for which there is no answer", "do not rely on this release")


_FORMER = {"select_worst_marginal": "select_offered_marginal", "measure_marginal": "measure_marginals"}
"""Operations of earlier releases that another one has taken the place of, at the same price of the same numbers."""


@dataclass(frozen=True)
class Call:
    """A question to the kernel and its answer.

    Attributes:
        unit: The unit of privacy.
        domain: The domain that the kernel counted in.
        operation: Name of the operation.
        arguments: The operation's arguments in order, then the digest and the group of records
            (`questions`).
        answer: The answer.
    """

    unit: Unit
    domain: Domain
    operation: str
    arguments: tuple[Any, ...]
    answer: Any


def due(call: Call) -> Event | None:
    """Return the event that a recorded call must have been charged as; None if it is free.

    A question about part of the records costs as much as about all records. A question about
    weighted records costs as much as if each person owned that many records.

    Raises:
        InputError: The operation is unknown, or the question or answer does not fit it.
    """
    unit, (asked, told) = call.unit, questions.parted(call.arguments)
    operation = find(_FORMER.get(call.operation, call.operation))
    if operation is None:
        raise InputError("transcript", f"nothing is known of an operation {call.operation[:40]!r}", "use the version that made it")
    try:
        while told and (times := questions.most_times(told[-1])):
            unit, told = unit.counted(times), told[:-1]
        as_asked = _as_asked(call, asked)
        numbers = [*asked, *(one for one in told if not questions.is_about(one))]
        event = operation.due(Asked(unit, call.domain), numbers, call.answer)
    except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        problem = f"a call of {call.operation} has arguments that cannot be"
        raise InputError("transcript", problem, "the release is damaged") from None
    if not as_asked:
        problem = f"an answer of {call.operation} is not of the tables, or not with the noise, that were asked for"
        raise InputError("transcript", problem, "do not rely on this release")
    return event


_OF_TABLES: Mapping[str, type[Measurement | Residual]] = {
    "measure_marginals": Measurement,
    "measure_marginal": Measurement,
    "measure_residual": Residual,
}
"""Operations that answer with noisy tables."""


def _as_asked(call: Call, asked: Sequence[Any]) -> bool:
    """Return whether an answer consists of exactly the requested noisy tables, with the requested noise.

    Answers of other operations must contain no tables. Sums of roots must be whole steps in each
    cell.

    Args:
        call: The call.
        asked: The arguments of the call without digests and groups of records.
    """
    answer, kind = call.answer, _OF_TABLES.get(call.operation)
    if call.operation == "measure_roots":
        own = tuple(name for name in asked[0] if name in call.domain)  # groups of values, which are known in a replay, come behind
        shape, table = Asked(call.unit, call.domain).shape(own), isinstance(answer, np.ndarray) and answer.dtype == np.float64
        if not table or asked[0][: len(own)] != own or answer.ndim != len(asked[0]) or answer.shape[: len(own)] != shape:
            return False
        return bool(np.isfinite(answer).all()) and not (answer % (1 / ROOT_STEPS)).any()
    if kind is None:
        return not _tables(answer)
    *names, sigma = asked
    given = answer if call.operation == "measure_marginals" else [answer]
    if not isinstance(given, list) or [type(one) for one in given] != [kind] * len(names):
        return False
    return [one.clique for one in given] == names and all(near(one.sigma, sigma) for one in given)


def _tables(answer: Any) -> list[Measurement | Residual]:
    given = answer if isinstance(answer, list | tuple) else [answer]
    return [one for one in given if isinstance(one, Measurement | Residual)]


def _paid(call: Call, charges: int, paid: Iterator[Event]) -> Event | None:
    """Return the next charged event after checking that it is the price of this call; None for a free call.

    Args:
        call: The call.
        charges: Number of events that the record says it was charged as.
        paid: The events that are left.

    Raises:
        InputError: The call was not charged at this price.
    """
    needed = due(call)
    event = None if needed is None else next(paid, None)
    if charges != (needed is not None) or (needed is not None and (event is None or not event.pays(needed))):
        problem = f"an answer of {call.operation} was not charged as it has to be"
        raise InputError("transcript", problem, "do not rely on this release")
    return event


@dataclass(frozen=True)
class Unrecorded:
    """The stand-in for an answer of a type that a transcript cannot hold.

    Attributes:
        type: Name of that type.
    """

    type: str


def to_json(answers: Sequence[RecordedAnswer], measurements: Sequence[Measurement]) -> list[dict[str, Any]]:
    """Return the recorded answers as JSON, one object per answer, in order.

    Args:
        answers: The answers.
        measurements: Measurements that are published anyway; an answer refers to one by its index,
            from 0.
    """
    numbers = {id(m): i for i, m in enumerate(measurements)}
    return [
        {"operation": a.operation, "asked": [_write(x, {}) for x in a.arguments], "charges": a.charges, "given": _write(a.value, numbers)}
        for a in answers
    ]


def from_json(items: Sequence[Mapping[str, Any]], measurements: Sequence[Measurement]) -> tuple[RecordedAnswer, ...]:
    """Return the recorded answers that `to_json` wrote, in order.

    Args:
        items: One object per answer.
        measurements: The measurements that answers refer to by their index, from 0.
    """
    read = partial(_read, measurements=measurements)
    return tuple(RecordedAnswer(item["operation"], tuple(map(read, item["asked"])), item["charges"], read(item["given"])) for item in items)


def _identifying(operation: str, arguments: Sequence[Any], options: Mapping[str, Any], group: _Group) -> tuple[Any, ...]:
    """Return the identity of a question: column names and numbers, a digest of other arguments, group of records.

    Args:
        operation: Name of the operation.
        arguments: Arguments of the call.
        options: Arguments of the call by name.
        group: The part or weights of records that the kernel answers about.
    """
    known = find(operation)
    if known is None:
        in_order = (*arguments, *options.values())
        return (*questions.numbers(in_order), *questions.digests(in_order), *group)
    in_order = tuple(known.signature.bind_partial(*arguments, **options).arguments.values())
    return (*questions.numbers(in_order), *known.digests(in_order), *group)


def _same_question(then: Sequence[Any], now: Sequence[Any]) -> bool:
    """Return whether two identities are of the same question; digests need not be equal.

    Another machine may round computed arrays differently; a different digest shows in the
    transcript that a replay writes.
    """
    (asked, told), (asked_now, told_now) = questions.parted(then), questions.parted(now)
    if (len(asked), len(told)) != (len(asked_now), len(told_now)) or not all(map(_same, asked, asked_now)):
        return False
    return all(one == other or (questions.is_about(one) and questions.is_about(other)) for one, other in zip(told, told_now, strict=True))


def _same(then: Any, now: Any) -> bool:
    """Return whether two arguments are the same names, or numbers that are equal up to rounding."""
    if questions.is_name(then) or questions.is_name(now):
        return bool(then == now)
    numbers = isinstance(then, int | float) and isinstance(now, int | float)  # a damaged spool has anything here
    return numbers and math.isclose(then, now, rel_tol=_TOLERANCE, abs_tol=_NEAR_ZERO)


def row_seed(answers: Sequence[RecordedAnswer]) -> int:
    """Return the seed of the rows: 63 bits of the SHA-256 of all answers before the rows.

    The plan is left out, because its words can be chosen freely. The seed protects no one: no noise
    depends on it.
    """
    given = [(a.operation, _cells(a.value)) for a in answers]
    return int(questions.digest(given)[:16], 16) >> 1


def _cells(answer: Any) -> Any:
    """Return the random part of an answer: values of tables, without their names and noise levels."""
    if isinstance(answer, list):
        return [_cells(part) for part in answer]
    return answer.values if isinstance(answer, Measurement | Residual) else answer


def _copied(answer: Any) -> Any:
    """Return a copy of an answer, so that the receiver may change its arrays and dictionaries.

    Measurements and residuals stay the same objects. A value that a transcript cannot hold becomes
    `Unrecorded`.
    """
    if isinstance(answer, np.ndarray):
        return answer.copy()
    if isinstance(answer, dict):
        return {key: _copied(value) for key, value in answer.items()}
    if type(answer) in (list, tuple):  # not the types derived from them, which would not be read back
        return type(answer)(_copied(value) for value in answer)
    if answer is None or isinstance(answer, str | bool | int | float | np.number | np.bool_ | Measurement | Residual):
        return answer
    return Unrecorded(type(answer).__name__)


def _write(value: Any, numbers: Mapping[int, int]) -> Any:
    """Return an answer as JSON that `_read` turns back into the same types: {"kind": content}.

    Texts, numbers, Booleans and null stay as they are.

    Args:
        value: The answer, or a part of an answer.
        numbers: By id() of a measurement, the index by which it is referred to.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, np.number | np.bool_):
        return value.item()
    if isinstance(value, np.ndarray):
        return {"array": value.ravel().tolist(), "shape": list(value.shape), "dtype": str(value.dtype)}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [part if type(part) is str else _write(part, numbers) for part in value]}
    if isinstance(value, dict):
        return {"dict": [[_write(key, numbers), _write(part, numbers)] for key, part in value.items()]}
    if isinstance(value, Measurement) and id(value) in numbers:
        return {"measurement": numbers[id(value)]}
    if isinstance(value, Measurement | Residual):
        more: dict[str, Any] = {}
        if isinstance(value, Measurement):
            more = {"spread": value.spread, "rounding": value.rounding}
            more |= {"groups": [one.to_json() for one in value.groups]} if value.groups else {}
        return {type(value).__name__: list(value.clique), "values": _write(value.values, numbers), "sigma": value.sigma} | more
    return {"unrecorded": value.type if isinstance(value, Unrecorded) else type(value).__name__}


def _read(obj: Any, measurements: Sequence[Measurement]) -> Any:
    if not isinstance(obj, Mapping):
        return obj
    kind = next(iter(obj), "nothing")
    if kind == "array":
        return np.array(obj["array"], dtype=np.dtype(obj["dtype"])).reshape(obj["shape"])
    if kind in ("list", "tuple"):
        parts: Iterator[Any] = (_read(part, measurements) for part in obj[kind])
        return list(parts) if kind == "list" else tuple(parts)
    if kind == "dict":
        return {_read(key, measurements): _read(part, measurements) for key, part in obj["dict"]}
    if kind == "measurement":
        return measurements[obj["measurement"]]
    if kind == "Measurement":
        groups = tuple(map(Groups.from_json, obj.get("groups", ())))
        noise = obj["sigma"], obj["spread"], obj.get("rounding", 0.0)
        return Measurement(tuple(obj[kind]), _read(obj["values"], measurements), *noise, groups)
    if kind == "Residual":
        return Residual(tuple(obj[kind]), _read(obj["values"], measurements), obj["sigma"])
    return Unrecorded(str(obj.get("unrecorded", kind)))
