"""The list of mechanisms that the app and the command line offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.answers.gaussian import GaussianAnswers
from dpsynth_core.mechanisms.answers.hdmm import Hdmm
from dpsynth_core.mechanisms.answers.residual_planner import ResidualPlanner
from dpsynth_core.mechanisms.games.dqrs import Dqrs
from dpsynth_core.mechanisms.games.dualquery import DualQuery
from dpsynth_core.mechanisms.games.fem import Fem
from dpsynth_core.mechanisms.games.sepfem import SepFem
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.mechanisms.graphical.aim_public import AimPublic
from dpsynth_core.mechanisms.graphical.hdmm_pgm import HdmmPgm
from dpsynth_core.mechanisms.graphical.independent import Independent
from dpsynth_core.mechanisms.graphical.mst import Mst
from dpsynth_core.mechanisms.graphical.mwem_pgm import MwemPgm
from dpsynth_core.mechanisms.graphical.privbayes import PrivBayes
from dpsynth_core.mechanisms.mechanism import Forecast, Mechanism
from dpsynth_core.mechanisms.parameters import Setting, parameters, read
from dpsynth_core.mechanisms.projection.privsyn import PrivSyn
from dpsynth_core.mechanisms.projection.rap import Rap
from dpsynth_core.mechanisms.rules.learn import Learn
from dpsynth_core.mechanisms.rules.oraclequery import OracleQuery
from dpsynth_core.mechanisms.weights.mixture import Mixture
from dpsynth_core.mechanisms.weights.mwem import Mwem
from dpsynth_core.mechanisms.weights.pmwpub import PmwPub
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True)
class Purpose:
    """What people want who take one of these mechanisms. title, sentence: for people. research: few people need them."""

    name: str
    title: str
    sentence: str
    mechanisms: tuple[Mechanism, ...]
    research: bool = False


PURPOSES: tuple[Purpose, ...] = (
    Purpose(
        "default",
        "Best default",
        "Rows that keep the tables you asked for. When in doubt: the first.",
        (Aim(), MwemPgm(), Mst(), HdmmPgm(), PrivBayes(), Independent()),
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
        (Rap(), PrivSyn(), Fem(), SepFem(), DualQuery(), Dqrs()),
        research=True,
    ),
    Purpose(
        "small",
        "Small domains",
        "So few columns that there can be a number for every possible row.",
        (Mwem(),),
        research=True,
    ),
    Purpose(
        "answers",
        "Answers only",
        "The tables themselves with noise, unbiased and easy to analyse. No rows.",
        (ResidualPlanner(), Hdmm(), GaussianAnswers()),
    ),
    Purpose(
        "learning",
        "Certified learning",
        "Columns of two values: a rule, or rows for a whole class of rules, with a proof that it is the best one under its noise.",
        (OracleQuery(), Learn()),
        research=True,
    ),
)
"""The mechanisms by what they are wanted for, the recommended one first; each is in one place."""

MECHANISMS: dict[str, Mechanism] = {mechanism.card.name: mechanism for purpose in PURPOSES for mechanism in purpose.mechanisms}
"""By name, the recommended one first; all with their default parameters."""

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
    offered = {parameter.name: parameter for parameter in parameters(mechanism)}
    for name in given:
        if name not in offered:
            remedy = f"use one of {', '.join(offered)}" if offered else "remove it: this mechanism has no parameters"
            raise InputError(f"mechanism.{name}", f"{mechanism.card.title} has no such parameter", remedy)
    return {name: read(parameter, given.get(name, parameter.default)) for name, parameter in offered.items()}


def configured(mechanism: Mechanism, given: Mapping[str, Any]) -> Mechanism:
    """The mechanism with these settings, and its defaults for the others. Raises InputError as `settings`."""
    return replace(mechanism, **settings(mechanism, given))


def forecast(mechanism: Mechanism, workload: Workload, rho: float) -> Forecast:
    """What a run is expected to need. It does not fit where the workload asks thresholds that the mechanism does not take."""
    if workload.threshold is not None and not mechanism.card.takes_thresholds:
        problem = f"it cannot ask who matches at least {workload.threshold} of the columns"
        return Forecast(False, 0.0, 0.0, f"{problem}; ask for all of them on the Workload page, or choose another mechanism")
    return mechanism.forecast(workload, rho)


def describe() -> list[dict[str, Any]]:
    """The registry as JSON: what `python -m dpsynth_core mechanisms` prints."""
    return [
        {
            "name": mechanism.card.name,
            "title": mechanism.card.title,
            "purpose": purpose(mechanism.card.name).name,
            "summary": mechanism.card.summary,
            "paper": mechanism.card.paper,
            "differences": list(mechanism.card.differences),
            "privacy": mechanism.card.privacy,
            "accountant": mechanism.card.accountant.name,
            "makes_rows": mechanism.card.makes_rows,
            "takes_thresholds": mechanism.card.takes_thresholds,
            "parameters": [asdict(parameter) for parameter in parameters(mechanism)],
        }
        for mechanism in MECHANISMS.values()
    ]
