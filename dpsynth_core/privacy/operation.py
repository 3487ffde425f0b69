"""The description of a kernel operation: its valid questions, its charge, and its answer as a function of the counts.

The charge comes before the answer by construction. An operation is a function of public arguments alone: it checks the question, and
returns the answer as a function of the counts. Its price is another function of public numbers. `privacy.kernel` calls both, charges the
price, and only then hands over the counts (`View`); a free operation gets noise and no counts (`_Blind`). Kernel, transcripts, audits and
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
"""Returns the event of a call from `Asked` and the question's names of columns and numbers, in the order of its parameters; None if free.
"""

_REFUSALS = {
    **dict.fromkeys(("over", "values"), "this source holds cells, not values"),
    "right": "this source counts cells, and cannot be asked about records",
    "roots": "this source does not know whose a record is",
    "occupied": "rules are not learnt from groups of values or of records",
}


@dataclass(frozen=True)
class Asked:
    """The public facts of a call, in addition to its arguments.

    Attributes:
        unit: The unit of privacy.
        domain: The domain of the kernel that is asked.
        count: Number of answers asked for, such as one per table.
        groups: Groups of values, by name.
        offers: Abilities of the source beyond counting marginals: "over", "values", "right", "roots" or
            "occupied" (`require`).
        shapes: Cache of the shapes of checked cliques.
        offered: Cache of the offer for selections that was checked last.
        rows: Returns the number of rows where it is public; raises ValueError where it is not.
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
        """Return the shape of a marginal's table.

        Raises:
            ValueError: The clique is empty or not in domain order.
            InputError: A name is not in the domain.
        """
        if clique not in self.shapes:
            if not clique or self.domain.clique(clique) != clique:
                raise ValueError("a marginal is named by one or more columns in domain order")
            self.shapes[clique] = self.domain.sizes(clique)
        return self.shapes[clique]

    def groups_of(self, clique: Clique) -> tuple[Groups, ...]:
        """Return the groups of values among the names of a clique, in the clique's order; () without such names."""
        return tuple(self.groups[name] for name in clique if name in self.groups)

    def require(self, ability: str) -> None:
        """Check that the source has an ability beyond counting marginals.

        Args:
            ability: The ability: "over" or "values" (it holds values), "right" (records can be asked about),
                "roots" (it knows whose a record is), or "occupied" (it lists cells that have records).

        Raises:
            ValueError: The source lacks it.
        """
        if ability not in self.offers:
            raise ValueError(_REFUSALS[ability])


class Operation(Generic[P, R]):
    """An operation of the kernel.

    As an attribute of a class of kernels it is a method; elsewhere it is called with a kernel as
    its first argument.

    Args:
        ask: Checks a question, and returns the answer as a function of the view.
        event: Kind of event that a call is charged as; None for an operation that is always free.
        price: Returns the event of a call (`Price`).
        count: Returns the number of answers of a question; None for one answer.
        digests: Returns digests of arguments for the transcript; None for `questions.digests`.
    """

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
        """Check a call and return its price and answer, without seeing any count.

        Args:
            public: The public facts of the call.
            arguments: Arguments of the operation.
            options: Arguments of the operation by name.

        Returns:
            The event that the call is charged as, None if it is free; and the answer as a function
            of the view, to be called after the charge.

        Raises:
            ValueError: The question is invalid.
            InputError: A name is not in the domain.
            TypeError: The arguments do not go with the operation.
        """
        question = self.signature.bind(*arguments, **options).arguments
        answer = self._ask(public, *arguments, **options)
        count = 1 if self._count is None else self._count(question)
        return self.price(replace(public, count=count), *questions.numbers(question.values())), answer

    def due(self, public: Asked, numbers: Sequence[object], answer: Sized) -> Event | None:
        """Return the event that a call in a transcript must have been charged as; None if it is free.

        Any error means that the recorded question and answer do not fit each other.

        Args:
            public: The public facts of the call.
            numbers: Column names and numbers of the recorded question (`questions.numbers`).
            answer: The recorded answer, whose length is the number of answers.
        """
        return self.price(replace(public, count=1 if self._count is None else len(answer)), *numbers)

    def digests(self, arguments: Sequence[object]) -> tuple[tuple[str, ...], ...]:
        """Return digests (SHA-256) of the arguments that are not names or numbers, for the transcript.

        Args:
            arguments: The arguments of a call, after `Asked`.

        Returns:
            At most one further argument, a tuple of texts; () where names and numbers identify
            the call.
        """
        return questions.digests(arguments) if self._digests is None else (self._digests(*arguments),)

    @overload
    def __get__(self, kernel: None, owner: type) -> Operation[P, R]: ...
    @overload
    def __get__(self, kernel: object, owner: type) -> Callable[P, R]: ...
    def __get__(self, kernel: object, owner: type) -> object:
        return self if kernel is None else partial(cast(Any, kernel)._ask, self.name)

    def __call__(self, kernel: object, *arguments: P.args, **options: P.kwargs) -> R:
        """Ask a kernel for this operation, by its name; the kernel refuses names that it does not know."""
        answer: R = getattr(kernel, self.name)(*arguments, **options)
        return answer


def operation(
    event: type[Event] | None = None,
    price: Price = lambda *_: None,
    count: Callable[[Question], int] | None = None,
    digests: Callable[..., tuple[str, ...]] | None = None,
) -> Callable[[Callable[Concatenate[Asked, P], Callable[[View], R]]], Operation[P, R]]:
    """Return a decorator that makes an `Operation` of a function whose first parameter is `Asked`.

    Args:
        event: Kind of event that a call is charged as; None for an operation that is always free.
        price: Returns the event of a call (`Price`).
        count: Returns the number of answers of a question; one by default.
        digests: Returns digests of arguments for the transcript; `questions.digests` by default.
    """
    return lambda ask: Operation(ask, event, price, count, digests)
