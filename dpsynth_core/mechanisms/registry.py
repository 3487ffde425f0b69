"""The mechanisms of the core and of extensions (`foundation.extension`), which the app and the command line offer.

**To add a mechanism takes one file and one entry here, or in the manifest of an extension.** Entries are import paths: a mechanism is
loaded when it is first asked for, so that a run loads its own alone.

Other packages' mechanisms are found by their names, "PACKAGE:NAME" (`foundation.foreign`). Their cards say so wherever they are shown,
because our import rules and tests do not reach them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any, cast

from dpsynth_core.foundation import extension, foreign
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.mechanisms.mechanism import Adaptive, Card, Forecast, Mechanism
from dpsynth_core.mechanisms.parameters import Setting, chosen, parameters, read
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.workload import Workload

_GRAPHICAL, _ANSWERS = "dpsynth_core.mechanisms.graphical", "dpsynth_core.mechanisms.answers"

_PURPOSES = (
    extension.Purpose("default", "Best default", "Rows that keep the tables you asked for. When in doubt: the first."),
    extension.Purpose("public", "With public data", "You have a public table of the same columns, of people who resemble yours."),
    extension.Purpose("answers", "Answers only", "The tables themselves with noise, unbiased and easy to analyse. No rows."),
)

_OFFERS = (
    extension.Offer("aim", "default", f"{_GRAPHICAL}.aim:Aim", f"{_GRAPHICAL}.aim:PUBLISHED"),
    extension.Offer("mst", "default", f"{_GRAPHICAL}.mst:Mst", f"{_GRAPHICAL}.mst:PUBLISHED"),
    extension.Offer("independent", "default", f"{_GRAPHICAL}.independent:Independent", f"{_GRAPHICAL}.independent:PUBLISHED"),
    extension.Offer("aim_public", "public", f"{_GRAPHICAL}.aim_public:AimPublic"),
    extension.Offer("residual_planner", "answers", f"{_ANSWERS}.residual_planner:ResidualPlanner"),
    extension.Offer("gaussian", "answers", f"{_ANSWERS}.gaussian:GaussianAnswers", f"{_ANSWERS}.gaussian:PUBLISHED"),
)
"""The core's mechanisms."""

LINKED = extension.Offer("households", "linked", f"{_GRAPHICAL}.households:Households")
"""The mechanism of two linked tables. It is not listed, because nothing else can make them."""


@dataclass(frozen=True)
class Purpose:
    """A purpose of mechanisms, as lists show it.

    Attributes:
        name: Name of the purpose.
        title: Title for people.
        sentence: Description for people.
        mechanisms: Names of its mechanisms, the recommended one first.
        research: Whether few people need its mechanisms, so that pages show them last.
    """

    name: str
    title: str
    sentence: str
    mechanisms: tuple[str, ...]
    research: bool = False


def _made(found: object) -> Mechanism:
    """Return a mechanism from a class to be made without arguments, or as it was loaded."""
    return cast(Mechanism, found() if isinstance(found, type) else found)


_LISTED = extension.ordered(_OFFERS, tuple(one for added in extension.built_in() for one in added.mechanisms))

PURPOSES = tuple(
    Purpose(one.name, one.title, one.sentence, names, one.research)
    for one in extension.ordered(_PURPOSES, tuple(one for added in extension.built_in() for one in added.purposes))
    if (names := tuple(offer.name for offer in _LISTED if offer.purpose == one.name))
)
"""The mechanisms by purpose, the recommended one first; each has one purpose."""

PRESET, DEFAULT, PAPER = "preset", "default", "paper"
"""A setting of every mechanism, and its values."""

MECHANISMS = extension.OnDemand(
    {offer.name: offer.default for one in PURPOSES for offer in _LISTED if offer.purpose == one.name}, _made
)
"""Mechanisms by name, the recommended one first; all with their default parameters."""

PUBLISHED = extension.OnDemand({offer.name: offer.published for offer in _LISTED if offer.published}, _made)
"""Mechanisms by name with the constants that their papers print. The others follow no paper to the letter, as their cards say."""


def get(name: str) -> Mechanism:
    """Return the mechanism of a name.

    Raises:
        InputError: The name is unknown; the error lists the known names.
        foreign.Missing: Its package is not installed, or offers no such mechanism. It is an InputError too.
    """
    if ":" in name:
        return _foreign(name)
    if name not in MECHANISMS:
        raise InputError("mechanism", f"{name!r} is unknown", f"use one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name]


def linked(link: Link, layout: extension.Layout | None = None) -> Mechanism:
    """Return the mechanism of two linked tables.

    Args:
        link: The link of the tables.
        layout: How they are counted; None for pairs of members.
    """
    return cast(Mechanism, extension.load(LINKED.default if layout is None else layout.mechanism)(link))


def of_linked(layout: extension.Layout | None = None) -> str:
    """Return the name of the mechanism of two linked tables.

    Args:
        layout: How they are counted; None for pairs of members.
    """
    return LINKED.name if layout is None else layout.name


def title(name: str) -> str:
    """Return the title of the mechanism of this name; "households" is the mechanism of two linked tables.

    Raises:
        InputError: The name is unknown, or its package is not installed.
    """
    path = {LINKED.name: LINKED.default, **{layout.name: layout.mechanism for layout in extension.layouts()}}.get(name)
    mechanism = extension.load(path) if path else get(name)
    return cast(str, mechanism.card.title)


def _foreign(name: str) -> Mechanism:
    """Return the mechanism of another package, with a card that says so. Raises `foreign.Missing`."""
    given, package = foreign.load(foreign.MECHANISMS, name), foreign.package_of(name)
    of_one = is_dataclass(given) and not isinstance(given, type) and "card" in {one.name for one in fields(given)}
    if not of_one or not isinstance(cast(Mechanism, given).card, Card):
        raise foreign.Missing("mechanism", f"{shown(name)} is not a dataclass with a card among its fields", "tell its authors")
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
    """Return the purpose of the mechanism of this name; a purpose "foreign" for a mechanism of another package.

    Raises:
        InputError: The name is unknown, or its package is not installed. The mechanism of two linked tables
            has no purpose either.
    """
    mechanism = get(name)
    if mechanism.card.package:
        return Purpose("foreign", "Of other packages", "Not part of this program, and not checked by its rules and tests.", (name,))
    return next(one for one in PURPOSES if name in one.mechanisms)


def published(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with its paper's constants; the settings of `mechanism` are not taken over.

    Raises:
        InputError: No paper prints it.
    """
    if mechanism.card.name not in PUBLISHED:
        problem = f"no paper prints {mechanism.card.title}; its card says what differs from the papers that it follows"
        raise InputError(f"mechanism.{PRESET}", problem, "leave it out")
    return PUBLISHED[mechanism.card.name]


def base(mechanism: Mechanism, given: Mapping[str, Any]) -> Mechanism:
    """Return the mechanism that settings change: with its defaults, or as published if `preset` asks for that.

    Args:
        mechanism: The mechanism with its defaults.
        given: Settings by name; only the entry `preset` counts.

    Raises:
        InputError: The preset is unknown, or no paper prints the mechanism.
    """
    preset = given.get(PRESET, DEFAULT)
    if preset not in (DEFAULT, PAPER):
        raise InputError(f"mechanism.{PRESET}", f"{shown(preset)} is unknown", f"use {DEFAULT} or {PAPER}")
    return mechanism if preset == DEFAULT else published(mechanism)


def settings(mechanism: Mechanism, given: Mapping[str, Any]) -> dict[str, Setting]:
    """Return by name the value of every parameter: the given one (number or text), or the preset's.

    The preset itself comes first unless it is the default.

    Args:
        mechanism: The mechanism with its defaults.
        given: Settings by name.

    Raises:
        InputError: A name or a value is invalid, and the error names the parameter; or no paper prints the
            mechanism although `preset` asks for that.
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
    """Return the mechanism with the given settings; parameters without a setting keep the preset's values.

    The card of a published one names what was changed.

    Args:
        mechanism: The mechanism with its defaults.
        given: Settings by name.

    Raises:
        InputError: A name or a value is invalid, or no paper prints the mechanism.
    """
    values, start = settings(mechanism, given), base(mechanism, given)
    wanted, defaults = {name: value for name, value in values.items() if name != PRESET}, chosen(start)
    changed = [name for name, value in wanted.items() if value != defaults[name]]
    if changed and start is not mechanism:
        title = f"{mechanism.card.title} (as published, but for {', '.join(changed)})"
        return replace(start, **wanted, card=replace(start.card, title=title))
    return replace(start, **wanted)


def forecast(mechanism: Mechanism, workload: Workload, rho: float, people: float | None = None) -> Forecast:
    """Forecast the time (seconds) and memory (MB) of a run of a mechanism.

    It refuses the run, with 0 seconds and 0 MB, if the workload asks thresholds that the mechanism does not take, if
    the domain has published tables that it does not keep, and if these leave nothing to measure. Otherwise the
    mechanism's own forecast is returned, which may refuse for other reasons.

    Args:
        mechanism: The mechanism.
        workload: The workload.
        rho: Its budget, in rho.
        people: Public number of people, divided by the counts that one person changes in a marginal
            (`Unit.marginal_l2`); None if it is not known. Only an `Adaptive` mechanism uses it.
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
    """Return the registry as JSON, one entry per mechanism, which `python -m dpsynth_core mechanisms` prints.

    A mechanism of another package that cannot be loaded has an entry with its name and the problem.
    """
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
