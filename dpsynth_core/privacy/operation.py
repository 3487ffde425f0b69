"""An operation of the kernel, described once: what may be asked, what it is charged as, and how the counts answer it.

The charge comes before the answer by construction. An operation is a function of public things alone: it checks the question, and
returns the answer as a function of the counts. Its price is another function of public numbers. `privacy.kernel` calls both, charges the
price, and only then hands over the counts (`View`); what is free gets noise and no counts (`_Blind`). Kernel, transcripts, audits and
checks of bundles find operations by name in `privacy.registry`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload

from dpsynth_core.privacy import questions
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.scores import Offered
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import View
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Clique

P = ParamSpec("P")
R = TypeVar("R")
Question = Mapping[str, Any]
"""The arguments of a call, by parameter."""
Price = Callable[..., Event | None]
"""From `Asked` and the names of columns and numbers of the question, in the order of its parameters; None where it is free."""

_REFUSALS = {
    **dict.fromkeys(("over", "values"), "this source holds cells, not values"),
    "right": "this source counts cells, and cannot be asked about records",
    "roots": "this source does not know whose a record is",
    "occupied": "rules are not learnt from groups of values or of records",
}


@dataclass(frozen=True)
class Asked:
    """What is public of a call beside its arguments. count: how many answers are asked for. groups: of values, by name.

    offers: what the source can tell beside marginals (`_REFUSALS`). shapes, offered: of tables that were checked before. rows: the number
    of rows where it is public; ValueError where it is not.
    """

    unit: Unit
    domain: Domain
    count: int = 1
    groups: Mapping[str, Groups] = field(default_factory=dict)
    offers: frozenset[str] = frozenset()
    shapes: dict[Clique, tuple[int, ...]] = field(default_factory=dict)
    offered: list[Offered] = field(default_factory=list)
    rows: Callable[[], int] = lambda: 0

    def shape(self, clique: Clique) -> tuple[int, ...]:
        """Of a marginal's table. ValueError unless the clique is canonical and has a column."""
        if clique not in self.shapes:
            if not clique or self.domain.clique(clique) != clique:
                raise ValueError("a marginal is named by one or more columns in domain order")
            self.shapes[clique] = self.domain.sizes(clique)
        return self.shapes[clique]

    def groups_of(self, clique: Clique) -> tuple[Groups, ...]:
        """Those among the names of a marginal."""
        return tuple(self.groups[name] for name in clique if name in self.groups)

    def require(self, ability: str) -> None:
        """ValueError unless the source offers it."""
        if ability not in self.offers:
            raise ValueError(_REFUSALS[ability])


class Operation(Generic[P, R]):
    """See the module. In the body of a class of kernels it is a method; elsewhere it is called with a kernel before its arguments."""

    def __init__(
        self,
        ask: Callable[Concatenate[Asked, P], Callable[[View], R]],
        event: type[Event] | None,
        price: Price,
        count: Callable[[Question], int] | None,
        digests: Callable[..., tuple[str, ...]] | None,
    ) -> None:
        self.name, self.__doc__ = ask.__name__, ask.__doc__
        self.event, self.price = event, price
        self._ask, self._count, self._digests = ask, count, digests
        _, *parameters = inspect.signature(ask).parameters.values()
        self.signature = inspect.Signature(parameters)

    def asked(self, public: Asked, *arguments: P.args, **options: P.kwargs) -> tuple[Event | None, Callable[[View], R]]:
        """What the call is charged as, None where it is free, and its answer. ValueError for a question that cannot be."""
        question = self.signature.bind(*arguments, **options).arguments
        answer = self._ask(public, *arguments, **options)
        count = 1 if self._count is None else self._count(question)
        return self.price(replace(public, count=count), *questions.numbers(question.values())), answer

    def due(self, public: Asked, numbers: Sequence[object], answer: Sized) -> Event | None:
        """What the call must have been charged as, from what a transcript has of it. Any error: question and answer do not fit."""
        return self.price(replace(public, count=1 if self._count is None else len(answer)), *numbers)

    def digests(self, arguments: Sequence[object]) -> tuple[tuple[str, ...], ...]:
        """SHA-256 of what a call was given in whole, as one more argument; none where names and numbers say enough."""
        return questions.digests(arguments) if self._digests is None else (self._digests(*arguments),)

    @overload
    def __get__(self, kernel: None, owner: type) -> Operation[P, R]: ...
    @overload
    def __get__(self, kernel: object, owner: type) -> Callable[P, R]: ...
    def __get__(self, kernel: object, owner: type) -> object:
        return self if kernel is None else partial(cast(Any, kernel)._ask, self.name)

    def __call__(self, kernel: object, *arguments: P.args, **options: P.kwargs) -> R:
        """The kernel's own answer, by name: that an operation was made does not mean that a kernel knows it."""
        answer: R = getattr(kernel, self.name)(*arguments, **options)
        return answer


def operation(
    event: type[Event] | None = None,
    price: Price = lambda *_: None,
    count: Callable[[Question], int] | None = None,
    digests: Callable[..., tuple[str, ...]] | None = None,
) -> Callable[[Callable[Concatenate[Asked, P], Callable[[View], R]]], Operation[P, R]]:
    """Describe an operation whose first parameter is what is public. event: its kind; None where it is always free. count: how many answers
    a question asks for, if not one. digests: what stands beside names and numbers in a transcript, if not `questions.digests`."""
    return lambda ask: Operation(ask, event, price, count, digests)
