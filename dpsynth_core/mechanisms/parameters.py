"""Parameters of mechanisms: fields of a frozen dataclass that carry their range, help text and default.

A mechanism is the dataclass of its parameters:

    @dataclass(frozen=True)
    class Example:
        rounds: int = whole(6, least=1, most=100, text="Number of rounds.")

What people set is read and checked here, once; a mechanism finds typed values in its own fields. Defaults depend on no data.
"""

from __future__ import annotations

import math
from dataclasses import Field, asdict, dataclass, field, fields
from typing import Any, ClassVar, Protocol

from dpsynth_core.foundation.errors import InputError

Setting = float | int | bool | str
"""The value of a parameter."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a mechanism, as forms and help texts show it.

    Attributes:
        name: Name of the field.
        kind: "int", "float", "bool", "choice" (one of `options`) or "column" (a name in the domain,
            or "").
        default: Default value.
        low: Smallest number, which is allowed; without meaning for texts.
        high: Largest number, which is allowed; without meaning for texts.
        help: Help text.
        options: Words to choose from, for "choice".
    """

    name: str
    kind: str  # "int" | "float" | "bool" | "choice" (one of `options`) | "column" (of the domain, or "")
    default: Setting
    low: float
    high: float
    help: str
    options: tuple[str, ...] = ()


class Parametrised(Protocol):
    """A dataclass with parameters among its fields."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


def real(default: float, *, least: float, most: float, text: str) -> float:
    """Declare a field of a mechanism as a parameter: a number from `least` to `most`, both included, with a help text.

    The result is a dataclass field, typed as its value so that it fits the annotation.
    """
    return _field(default, "float", least, most, text)


def whole(default: int, *, least: int, most: int, text: str) -> int:
    """Declare a field of a mechanism as a parameter: a whole number from `least` to `most`, both included, with a help text.

    The result is a dataclass field, typed as its value so that it fits the annotation.
    """
    return _field(default, "int", least, most, text)


def switch(default: bool, *, text: str) -> bool:
    """Declare a field of a mechanism as a parameter that is on or off, with a help text.

    The result is a dataclass field, typed as its value so that it fits the annotation.
    """
    return _field(default, "bool", 0, 1, text)


def choice(options: tuple[str, ...], *, text: str) -> str:
    """Declare a field of a mechanism as a parameter: one of `options`. The first one is the default.

    The result is a dataclass field, typed as its value so that it fits the annotation.
    """
    return _field(options[0], "choice", 0, 0, text, options)


def column(*, text: str) -> str:
    """Declare a field of a mechanism as a parameter: the name of a column, by default "" for no column.

    The mechanism, which knows the domain, checks that the column exists. The result is a dataclass field,
    typed as its value so that it fits the annotation.
    """
    return _field("", "column", 0, 0, text)


def _field(default: Any, kind: str, least: float, most: float, text: str, options: tuple[str, ...] = ()) -> Any:
    about = {"kind": kind, "default": default, "low": least, "high": most, "help": text, "options": options}
    return field(default=default, metadata=about)


def parameters(mechanism: Parametrised) -> tuple[Parameter, ...]:
    """Return the parameters of a mechanism in the order of its fields, without its other fields; () if it has none."""
    return tuple(Parameter(name=one.name, **one.metadata) for one in fields(mechanism) if one.metadata)


def chosen(mechanism: Parametrised) -> dict[str, Setting]:
    """Return the values of the mechanism's parameters by name."""
    values = asdict(mechanism)  # not by asking for attributes by name, which no mechanism may
    return {parameter.name: values[parameter.name] for parameter in parameters(mechanism)}


def read(parameter: Parameter, value: object) -> Setting:
    """Return the value of a parameter in its own type, from that type or from text.

    Args:
        parameter: The parameter.
        value: A number, a truth value, or a text such as "0.5" or "true". A whole number may be written
            6, 6.0 or "6"; a truth value in any case, but not as 1 or 0; a choice exactly as in `options`.

    Raises:
        InputError: The value is invalid or out of range; the error names the parameter and what it may be.
            Whether a column exists is not checked.
    """
    parsed = _parsed(parameter, value)
    if parsed is None:
        raise InputError(f"mechanism.{parameter.name}", f"{str(value)[:40]!r} is not {_wanted(parameter)}", "change it or leave it out")
    return parsed


def _parsed(parameter: Parameter, value: object) -> Setting | None:
    if parameter.kind == "bool":
        return {"true": True, "false": False}.get(str(value).strip().lower())
    if parameter.kind in ("choice", "column"):
        return value if isinstance(value, str) and (parameter.kind == "column" or value in parameter.options) else None
    amount = _amount(value)
    if amount is None or not parameter.low <= amount <= parameter.high:
        return None
    if parameter.kind == "float":
        return amount
    return int(amount) if amount == int(amount) else None


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = float(value)
    except (ValueError, OverflowError):
        return None
    return amount if math.isfinite(amount) else None


def _wanted(parameter: Parameter) -> str:
    if parameter.kind == "bool":
        return "true or false"
    if parameter.kind == "choice":
        return f"one of {', '.join(parameter.options)}"
    if parameter.kind == "column":
        return "the name of a column"
    return f"a {'whole number' if parameter.kind == 'int' else 'number'} from {parameter.low:g} to {parameter.high:g}"
