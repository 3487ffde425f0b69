"""The house rules: conditions that every plan of this installation must meet, in one file beside the ledger.

The ledger records who put them in force, when and why, with the SHA-256 of the file, so that no other file counts; each later release names
it. A plan that breaks a rule is refused before its table is read. Without rules every plan is allowed.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from pydantic import Field, ValidationError

from dpsynth_core.foundation.documents import parse_json
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.foundation.reasons import check_reason
from dpsynth_core.planning.unit_spec import Part
from dpsynth_core.store import roles, verified_books
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.demands import RULES, newest_rules
from dpsynth_core.store.faults import StoreFault, explained
from dpsynth_core.store.home import home
from dpsynth_core.store.ledger_books import Books
from dpsynth_core.store.roles import Act

if TYPE_CHECKING:
    from dpsynth_core.planning.spec import Spec

NAME, KIND, _FIELD = "rules.json", RULES, "rules of the house"
_ASK = "change the plan, or ask who keeps the rules"


class Rules(Part):
    """The house rules; a limit or list of None allows everything.

    Attributes:
        version: Version of the document.
        largest_epsilon: Largest epsilon of a plan.
        largest_delta: Largest delta of a plan.
        data: Allowed kinds of tables, named as in specs.
        queries: Whether a table may be the answer of a database query.
        person_column: Whether a plan must name the column that identifies persons.
        looks: Whether private records may be shown without noise.
        mechanisms: Names of the allowed mechanisms.
        criteria: Kinds of criteria; each plan must have a required criterion of each kind.
        approve: Stages ("plan", "release") that a second person must approve, for every population.
    """

    version: Literal[1] = 1
    largest_epsilon: float | None = Field(default=None, gt=0)
    largest_delta: float | None = Field(default=None, gt=0, lt=1)
    data: tuple[str, ...] | None = None
    queries: bool = True
    person_column: bool = False
    looks: bool = True
    mechanisms: tuple[str, ...] | None = None
    criteria: tuple[str, ...] = ()
    approve: tuple[Literal["plan", "release"], ...] = ()


def read(text: str) -> Rules:
    """Return the house rules in a JSON text, with defaults for rules that it leaves out.

    Raises:
        InputError: The text is not JSON, or a rule is unknown or invalid.
    """
    from dpsynth_core.claims.criteria.registry import KINDS as CRITERIA
    from dpsynth_core.mechanisms.registry import LINKED, MECHANISMS  # these take a second to load
    from dpsynth_core.sources.registry import KINDS

    parse_json(text, "rules")
    try:
        rules = Rules.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place, problem = ".".join(map(str, ("rules", *first["loc"]))), first["msg"][:1].lower() + first["msg"][1:]
        raise InputError(place, problem, "see docs/office.md") from None
    mechanisms = (*MECHANISMS, LINKED.name)
    named = {"data": (rules.data, KINDS), "mechanisms": (rules.mechanisms, mechanisms), "criteria": (rules.criteria, CRITERIA)}
    for name, (given, known) in named.items():
        if unknown := sorted(set(given or ()) - set(known)):
            raise InputError(f"rules.{name}", f"{shown(unknown[0])} is not known", f"use some of {', '.join(sorted(known))}")
    return rules


def put_in_force(owner: str, text: str, reason: str) -> str:
    """Put rules in force from now on: write them into the file rules.json, and record this in the ledger.

    They replace all earlier rules.

    Args:
        owner: The person who demands the rules; their role must allow `Act.DEMAND`.
        text: The rules as JSON.
        reason: The reason, which is kept in the ledger without spaces around it.

    Returns:
        The SHA-256 of the rules' file.

    Raises:
        InputError: The reason has fewer than three different words, the rules are invalid, or the role does not allow this.
        BooksLost: The ledger is not whole.
    """
    check_reason("--reason", reason, "why these rules are put in force (it is kept in the ledger)")
    content = (json.dumps(read(text).model_dump(), indent=1) + "\n").encode()
    digest = sha256(content).hexdigest()
    with transaction() as db:
        roles.check(db, owner, Act.DEMAND)
        books = verified_books.current(db)
        with private_file(home() / NAME) as stream:
            stream.write(content)
        verified_books.append(db, books, Entry(owner, KIND, spec=digest, note=reason.strip()))
    return digest


def in_force(books: Books) -> Rules:
    """Return the house rules in force; without any, rules that allow everything.

    Args:
        books: The ledger's books.

    Raises:
        StoreFault: The rules' file is missing, or not the one that the ledger names.
    """
    if not (digest := newest_rules(books)):
        return Rules()
    with explained():
        content = (home() / NAME).read_bytes() if (home() / NAME).is_file() else b""
    if sha256(content).hexdigest() != digest:
        problem = f"its {NAME} is missing, or not the one that the ledger names"
        raise StoreFault(_FIELD, problem, "put it back, or put rules in force anew: python -m dpsynth_core ledger rules FILE --reason TEXT")
    return Rules.model_validate_json(content)


def check(spec: Spec) -> None:
    """Check that a plan breaks no house rule; reads nothing of its table.

    The rule about kinds of tables is applied to the private tables, also the second of two linked ones, and not to a public table.

    Raises:
        InputError: It breaks a rule; the first is named.
        StoreFault: The rules' file is missing, or not the one that the ledger names.
    """
    with reading() as db:
        rules = in_force(verified_books.unverified(db))
    check_price(rules, spec.budget.epsilon, spec.budget.delta, spec.unit.person_column)
    for table in (spec.data, *([] if spec.members is None else [spec.members])):
        if rules.data is not None and table.kind not in rules.data:
            raise _broken(f"tables are of the kinds {', '.join(rules.data)}, and this one is {table.kind}")
    if not rules.queries and spec.data.query:  # no second table is one
        raise _broken("no table is the answer of a query")
    if rules.mechanisms is not None and spec.mechanism.name not in rules.mechanisms:
        raise _broken(f"mechanisms are {', '.join(rules.mechanisms)}, and this one is {spec.mechanism.name}")
    must = {str(criterion["kind"]) for criterion in spec.criteria if criterion.get("importance", "must") == "must"}
    if missing := [kind for kind in rules.criteria if kind not in must]:
        raise _broken(f"each plan has a condition {missing[0]!r} that must be met")


def check_price(rules: Rules, epsilon: float, delta: float, person_column: str | None) -> None:
    """Check the house rules about epsilon, delta and the column of persons, which a charge alone shows to be broken.

    Args:
        rules: The house rules.
        epsilon: Epsilon of the charge.
        delta: Delta of the charge.
        person_column: Column that identifies persons, None if each row is a person.

    Raises:
        InputError: A rule is broken; the first is named.
    """
    if rules.largest_epsilon is not None and epsilon > rules.largest_epsilon:
        raise _broken(f"epsilon is at most {rules.largest_epsilon:g}, and this one is {epsilon:g}")
    if rules.largest_delta is not None and delta > rules.largest_delta:
        raise _broken(f"delta is at most {rules.largest_delta:g}, and this one is {delta:g}")
    if rules.person_column and person_column is None:
        raise _broken("each plan says which column tells people apart")


def check_look(books: Books) -> None:
    """Check that the house rules allow showing private records without noise.

    Args:
        books: The ledger's books.

    Raises:
        InputError: They do not.
        StoreFault: The rules' file is missing, or not the one that the ledger names.
    """
    if not in_force(books).looks:
        raise _broken("nothing of a private table is shown without noise")


def _broken(rule: str) -> InputError:
    return InputError(_FIELD, rule, _ASK)
