"""The mechanisms that the app and the command line offer: the core's and the wings' (`foundation.wings`).

**To add a mechanism takes one file and one entry here.**

Other packages' mechanisms are found by their names, "PACKAGE:NAME" (`foundation.foreign`). Their cards say so wherever they are shown,
because import rules and tests of ours cannot hold for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any, cast

from dpsynth_core.foundation import foreign
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.wings import registered
from dpsynth_core.mechanisms.answers import gaussian
from dpsynth_core.mechanisms.answers.hdmm import Hdmm
from dpsynth_core.mechanisms.answers.residual_planner import ResidualPlanner
from dpsynth_core.mechanisms.graphical import aim, independent, mst, mwem_pgm
from dpsynth_core.mechanisms.graphical.aim_public import AimPublic
from dpsynth_core.mechanisms.graphical.hdmm_pgm import HdmmPgm
from dpsynth_core.mechanisms.graphical.households import Households
from dpsynth_core.mechanisms.graphical.privbayes import PrivBayes
from dpsynth_core.mechanisms.graphical.privmrf import PrivMrf
from dpsynth_core.mechanisms.mechanism import Adaptive, Card, Forecast, Mechanism
from dpsynth_core.mechanisms.parameters import Setting, chosen, parameters, read
from dpsynth_core.mechanisms.projection.all_pairs import AllPairs
from dpsynth_core.mechanisms.projection.privsyn import PrivSyn
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True)
class Purpose:
    """A purpose of mechanisms. `title` and `sentence` are for people; `research` marks mechanisms that few people need."""

    name: str
    title: str
    sentence: str
    mechanisms: tuple[Mechanism, ...]
    research: bool = False


_OURS = (
    Purpose(
        "default", "Best default", "Rows that keep the tables you asked for. When in doubt: the first.",
        (aim.Aim(), mwem_pgm.MwemPgm(), mst.Mst(), PrivMrf(), HdmmPgm(), PrivBayes(), independent.Independent()),
    ),
    Purpose("public", "With public data", "You have a public table of the same columns, of people who resemble yours.", (AimPublic(),)),
    Purpose(
        "large", "Very large workloads",
        "More tables, or larger ones, than graphical models can hold; the largest error of a single count matters most.",
        (PrivSyn(), AllPairs()),
        research=True,
    ),
    Purpose("small", "Small domains", "So few columns that there can be a number for every possible row.", (), research=True),
    Purpose(
        "answers", "Answers only", "The tables themselves with noise, unbiased and easy to analyse. No rows.",
        (ResidualPlanner(), Hdmm(), gaussian.GaussianAnswers()),
    ),
    Purpose(
        "learning", "Certified learning",
        "Columns of two values: a rule, or rows for a whole class of rules, with a proof that it is the best one under its noise.",
        (),
        research=True,
    ),
)
"""The core's mechanisms by purpose."""


def _all() -> Iterator[Purpose]:
    """Yield the purposes with the wings' mechanisms, after the core's own."""
    for purpose in _OURS:
        offered = purpose.mechanisms
        for wing in registered("offers"):
            added = wing.OFFERS.get(purpose.name, ())
            offered = (*(mechanism for mechanism in offered if mechanism not in added), *added)
        if offered:
            yield replace(purpose, mechanisms=offered)


PURPOSES = tuple(_all())
"""The mechanisms by purpose, the recommended one first; each has one purpose."""

PRESET, DEFAULT, PAPER = "preset", "default", "paper"
"""A setting of every mechanism, and its values."""

PUBLISHED: dict[str, Mechanism] = {
    mechanism.card.name: mechanism
    for mechanism in (
        aim.PUBLISHED,
        mwem_pgm.PUBLISHED,
        mst.PUBLISHED,
        independent.PUBLISHED,
        gaussian.PUBLISHED,
        *(mechanism for wing in registered("offers") for mechanism in wing.PUBLISHED),
    )
}
"""Mechanisms by name with the constants that their papers print. The others follow no paper to the letter, as their cards say."""

MECHANISMS: dict[str, Mechanism] = {mechanism.card.name: mechanism for purpose in PURPOSES for mechanism in purpose.mechanisms}
"""Mechanisms by name, the recommended one first; all with their default parameters."""


def get(name: str) -> Mechanism:
    """Return the mechanism of a name.

    Raises:
        InputError: The name is unknown; the error lists the known names.
        foreign.Missing: Its package is not installed.
    """
    if ":" in name:
        return _foreign(name)
    if name not in MECHANISMS:
        raise InputError("mechanism", f"{name!r} is unknown", f"use one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name]


def title(name: str) -> str:
    """Return the title of a mechanism, also of the one for two linked tables. Raises InputError as `get`."""
    return Households.card.title if name == Households.card.name else get(name).card.title


def _foreign(name: str) -> Mechanism:
    """Return the mechanism of another package, with a card that says so. Raises `foreign.Missing`."""
    given, package = foreign.load(foreign.MECHANISMS, name), foreign.package_of(name)
    of_one = is_dataclass(given) and not isinstance(given, type) and "card" in {one.name for one in fields(given)}
    if not of_one or not isinstance(cast(Mechanism, given).card, Card):
        raise foreign.Missing("mechanism", f"{shown(name)} is no dataclass with a card among its fields", "tell its authors")
    mechanism = cast(Mechanism, given)
    card = replace(
        mechanism.card,
        name=name,
        title=f"{mechanism.card.title} (of the package {package})",
        privacy=f"By the word of the package {package}, which no rule or test here covers: {mechanism.card.privacy}",
        package=package,
    )
    return replace(mechanism, card=card)


def purpose(name: str) -> Purpose:
    """Return the purpose of the mechanism of this name. Raises InputError as `get`."""
    mechanism = get(name)
    if mechanism.card.package:
        return Purpose("foreign", "Of other packages", "Not part of this program, and not checked by its rules and tests.", (mechanism,))
    return next(one for one in PURPOSES if mechanism in one.mechanisms)


def published(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with its paper's constants. Raises InputError if no paper prints it."""
    if mechanism.card.name not in PUBLISHED:
        problem = f"no paper prints {mechanism.card.title}; its card says what differs from the papers that it follows"
        raise InputError(f"mechanism.{PRESET}", problem, "leave it out")
    return PUBLISHED[mechanism.card.name]


def base(mechanism: Mechanism, given: Mapping[str, Any]) -> Mechanism:
    """Return the mechanism that settings change: with its defaults, or as published if `preset` asks for that.

    Raises InputError for an unknown preset.
    """
    preset = given.get(PRESET, DEFAULT)
    if preset not in (DEFAULT, PAPER):
        raise InputError(f"mechanism.{PRESET}", f"{shown(preset)} is unknown", f"use {DEFAULT} or {PAPER}")
    return mechanism if preset == DEFAULT else published(mechanism)


def settings(mechanism: Mechanism, given: Mapping[str, Any]) -> dict[str, Setting]:
    """Return the value of every parameter: the given one (number or text), or the preset's; and the preset itself unless it is the default.

    Raises:
        InputError: A value is invalid; the error names the parameter.
    """
    start = base(mechanism, given)
    offered = {parameter.name: parameter for parameter in parameters(mechanism)}
    for name in given:
        if name not in offered and name != PRESET:
            remedy = f"use one of {', '.join(offered)}" if offered else "remove it: this mechanism has no parameters"
            raise InputError(f"mechanism.{name}", f"{mechanism.card.title} has no such parameter", remedy)
    defaults = chosen(start)
    values = {name: read(parameter, given.get(name, defaults[name])) for name, parameter in offered.items()}
    return values if start is mechanism else {PRESET: PAPER, **values}


def configured(mechanism: Mechanism, given: Mapping[str, Any]) -> Mechanism:
    """Return the mechanism with these settings, and the preset's for the others. The card of a published one names what was changed.

    Raises:
        InputError: As `settings`.
    """
    values, start = settings(mechanism, given), base(mechanism, given)
    wanted, defaults = {name: value for name, value in values.items() if name != PRESET}, chosen(start)
    changed = [name for name, value in wanted.items() if value != defaults[name]]
    if changed and start is not mechanism:
        title = f"{mechanism.card.title} (as published, but for {', '.join(changed)})"
        return replace(start, **wanted, card=replace(start.card, title=title))
    return replace(start, **wanted)


def forecast(mechanism: Mechanism, workload: Workload, rho: float, people: float | None = None) -> Forecast:
    """Forecast a run of a mechanism.

    It does not fit where the workload asks thresholds that the mechanism does not take, where it does not keep published tables, and where
    these leave nothing to measure.

    Args:
        mechanism: The mechanism.
        workload: The workload.
        rho: Its budget.
        people: Public number of people, divided by the counts that one person changes in a marginal (`Unit.marginal_l2`).
    """
    if workload.threshold is not None and not mechanism.card.takes_thresholds:
        problem = f"it cannot ask who matches at least {workload.threshold} of the columns"
        return Forecast(False, 0.0, 0.0, f"{problem}; ask for all of them on the Workload page, or choose another mechanism")
    if workload.domain.published:
        if not mechanism.card.keeps_published:
            titles = ", ".join(one.card.title for one in MECHANISMS.values() if one.card.keeps_published)
            return Forecast(False, 0.0, 0.0, f"it does not keep to published tables; use {titles}, or give none")
        if not workload.domain.unpublished(workload.cliques):
            return Forecast(False, 0.0, 0.0, "published tables have all that is asked for, so nothing is left to measure; ask for more")
    if people is not None and isinstance(mechanism, Adaptive):
        return mechanism.forecast_for(workload, rho, people)
    return mechanism.forecast(workload, rho)


def _as_published(mechanism: Mechanism) -> dict[str, Any] | None:
    """Return the settings of `preset=paper`, or None if no paper prints the mechanism."""
    if mechanism.card.name not in PUBLISHED:
        return None
    printed = PUBLISHED[mechanism.card.name]
    return {"accountant": printed.card.accountant.name, "settings": chosen(printed), "chosen": list(printed.card.differences)}


def describe() -> list[dict[str, Any]]:
    """Return the registry as JSON, which `python -m dpsynth_core mechanisms` prints. A broken one of another package says only that."""
    return [*map(_described, MECHANISMS.values()), *map(_foreign_described, foreign.offered(foreign.MECHANISMS))]


def _described(mechanism: Mechanism) -> dict[str, Any]:
    return {
        "name": mechanism.card.name,
        "title": mechanism.card.title,
        **({"package": mechanism.card.package} if mechanism.card.package else {}),
        "purpose": purpose(mechanism.card.name).name,
        "summary": mechanism.card.summary,
        "paper": mechanism.card.paper,
        "differences": list(mechanism.card.differences),
        "as_published": _as_published(mechanism),
        "privacy": mechanism.card.privacy,
        "accountant": mechanism.card.accountant.name,
        "makes_rows": mechanism.card.makes_rows,
        "takes_thresholds": mechanism.card.takes_thresholds,
        "keeps_published": mechanism.card.keeps_published,
        "parameters": [asdict(parameter) for parameter in parameters(mechanism)],
    }


def _foreign_described(name: str) -> dict[str, Any]:
    try:
        return _described(_foreign(name))
    except Exception as error:  # noqa: BLE001 (code of strangers may raise anything)
        problem = error.problem if isinstance(error, InputError) else f"it cannot be described ({type(error).__name__})"
        return {"name": name, "package": foreign.package_of(name), "purpose": "foreign", "problem": problem}
