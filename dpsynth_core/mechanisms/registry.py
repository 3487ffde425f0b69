"""The list of mechanisms that the app and the command line offer, and the one place where their settings are checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.answers.gaussian import Gaussian
from dpsynth_core.mechanisms.answers.residual_planner import ResidualPlanner
from dpsynth_core.mechanisms.games.dqrs import Dqrs
from dpsynth_core.mechanisms.games.dualquery import DualQuery
from dpsynth_core.mechanisms.games.fem import Fem
from dpsynth_core.mechanisms.games.sepfem import SepFem
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.mechanisms.graphical.aim_public import AimPublic
from dpsynth_core.mechanisms.graphical.independent import Independent
from dpsynth_core.mechanisms.graphical.mst import Mst
from dpsynth_core.mechanisms.graphical.mwem_pgm import MwemPgm
from dpsynth_core.mechanisms.graphical.privbayes import PrivBayes
from dpsynth_core.mechanisms.mechanism import Forecast, Mechanism
from dpsynth_core.mechanisms.parameters import Parameter, Setting
from dpsynth_core.mechanisms.projection.rap import Rap
from dpsynth_core.mechanisms.rules.learn import Learn
from dpsynth_core.mechanisms.rules.oraclequery import OracleQuery
from dpsynth_core.mechanisms.weights.mixture import Mixture
from dpsynth_core.mechanisms.weights.mwem import Mwem
from dpsynth_core.mechanisms.weights.pmwpub import PmwPub
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True)
class Purpose:
    """What people want who take one of these mechanisms. title, sentence: for people."""

    name: str
    title: str
    sentence: str
    mechanisms: tuple[Mechanism, ...]


PURPOSES: tuple[Purpose, ...] = (
    Purpose(
        "default",
        "Best default",
        "Rows that keep the tables you asked for. When in doubt: the first.",
        (Aim(), MwemPgm(), Mst(), PrivBayes(), Independent()),
    ),
    Purpose(
        "public",
        "With public data",
        "You have a public table of the same columns, of people who resemble yours.",
        (AimPublic(), PmwPub(), Mixture()),
    ),
    Purpose(
        "large",
        "Very large workloads",
        "More tables, or larger ones, than graphical models can hold; the largest error of a single count matters most.",
        (Rap(), Fem(), SepFem(), DualQuery(), Dqrs()),
    ),
    Purpose(
        "small",
        "Small domains",
        "So few columns that there can be a number for every possible row.",
        (Mwem(),),
    ),
    Purpose(
        "answers",
        "Answers only",
        "The tables themselves with noise, unbiased and easy to analyse. No rows.",
        (ResidualPlanner(), Gaussian()),
    ),
    Purpose(
        "learning",
        "Certified learning",
        "Columns of two values: a rule, or rows for a whole class of rules, with a proof that it is the best one under its noise.",
        (OracleQuery(), Learn()),
    ),
)
"""The mechanisms by what they are wanted for, the recommended one first; each is in one place."""

MECHANISMS: dict[str, Mechanism] = {mechanism.name: mechanism for purpose in PURPOSES for mechanism in purpose.mechanisms}
"""By name, the recommended one first."""

RECOMMENDED = next(iter(MECHANISMS))
"""What a plan starts with."""


def get(name: str) -> Mechanism:
    """InputError with the known names if there is none of this name."""
    if name not in MECHANISMS:
        raise InputError("mechanism", f"{name!r} is unknown", f"use one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name]


def purpose(name: str) -> Purpose:
    """What the mechanism of this name is wanted for. InputError as `get`."""
    mechanism = get(name)
    return next(one for one in PURPOSES if mechanism in one.mechanisms)


def settings(mechanism: Mechanism, given: Mapping[str, Any]) -> dict[str, Setting]:
    """Every parameter of the mechanism: the given value, as a number or as text, or its default. InputError names the parameter."""
    known = {parameter.name: parameter for parameter in mechanism.parameters}
    for name in given:
        if name not in known:
            options = f"use one of {', '.join(known)}" if known else "remove it: this mechanism has no parameters"
            raise InputError(f"mechanism.{name}", f"{mechanism.title} has no such parameter", options)
    return {name: _read(parameter, given.get(name, parameter.default)) for name, parameter in known.items()}


def forecast(mechanism: Mechanism, domain: Domain, workload: Workload, rho: float, chosen: Mapping[str, Any]) -> Forecast:
    """What a run with these settings is expected to need. It does not fit where the workload asks thresholds it does not take."""
    if workload.threshold is not None and not mechanism.takes_thresholds:
        asked = f"it cannot ask who matches at least {workload.threshold} of the columns"
        return Forecast(False, 0.0, 0.0, f"{asked}; ask for all of them on the Workload page, or choose another mechanism")
    return mechanism.forecast(domain, workload, rho, chosen)


def describe() -> list[dict[str, Any]]:
    """The registry as JSON: what `python -m dpsynth_core mechanisms` prints."""
    return [
        {
            "name": mechanism.name,
            "title": mechanism.title,
            "purpose": purpose(mechanism.name).name,
            "summary": mechanism.summary,
            "paper": mechanism.paper,
            "privacy": mechanism.privacy,
            "accountant": mechanism.accountant.name,
            "makes_rows": mechanism.makes_rows,
            "takes_thresholds": mechanism.takes_thresholds,
            "parameters": [asdict(parameter) for parameter in mechanism.parameters],
        }
        for mechanism in MECHANISMS.values()
    ]


def _read(parameter: Parameter, value: Any) -> Setting:
    if parameter.kind in ("choice", "column"):
        return _read_word(parameter, value)
    read = _read_bool(value) if parameter.kind == "bool" else _read_number(value)
    whole = parameter.kind != "int" or (read is not None and math.isfinite(read) and read == int(read))
    if read is None or not whole or not parameter.low <= read <= parameter.high:
        raise InputError(f"mechanism.{parameter.name}", f"{str(value)[:40]!r} is not {_wanted(parameter)}", "change it or leave it out")
    return int(read) if parameter.kind == "int" else read


def _read_word(parameter: Parameter, value: Any) -> str:
    """Whether there is such a column is for the mechanism to say, which knows the domain."""
    if not isinstance(value, str) or (parameter.kind == "choice" and value not in parameter.options):
        raise InputError(f"mechanism.{parameter.name}", f"{str(value)[:40]!r} is not {_wanted(parameter)}", "change it or leave it out")
    return value


def _read_bool(value: Any) -> bool | None:
    return {"true": True, "false": False}.get(str(value).strip().lower())


def _read_number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _wanted(parameter: Parameter) -> str:
    if parameter.kind == "bool":
        return "true or false"
    if parameter.kind == "choice":
        return f"one of {', '.join(parameter.options)}"
    if parameter.kind == "column":
        return "the name of a column"
    return f"a {'whole number' if parameter.kind == 'int' else 'number'} from {parameter.low:g} to {parameter.high:g}"
