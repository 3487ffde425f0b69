"""The list of mechanisms that the app and the command line offer: the core's, and those that the wings add (`foundation.wings`). **To add
a mechanism takes one file and one entry here.**

Other packages' are found by their names, "PACKAGE:NAME" (`foundation.foreign`). Their cards say so wherever they are shown, since import
rules and tests of ours cannot hold for them."""

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
    """What people want who take one of these mechanisms. title, sentence: for people. research: few people need them."""

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
"""The core's mechanisms by what they are wanted for."""


def _all() -> Iterator[Purpose]:
    """With what wings offer for each, after the core's own that they do not name."""
    for purpose in _OURS:
        offered = purpose.mechanisms
        for wing in registered("offers"):
            added = wing.OFFERS.get(purpose.name, ())
            offered = (*(mechanism for mechanism in offered if mechanism not in added), *added)
        if offered:
            yield replace(purpose, mechanisms=offered)


PURPOSES = tuple(_all())
"""The mechanisms by what they are wanted for, the recommended one first; each is in one place."""

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
"""By name, with the constants that their papers print. The others are no paper's algorithm to the letter, as their cards say."""

MECHANISMS: dict[str, Mechanism] = {mechanism.card.name: mechanism for purpose in PURPOSES for mechanism in purpose.mechanisms}
"""By name, the recommended one first; all with their default parameters."""


def get(name: str) -> Mechanism:
    """InputError with the known names if there is none of this name, and `foreign.Missing` for one of a package that is not installed."""
    if ":" in name:
        return _foreign(name)
    if name not in MECHANISMS:
        raise InputError("mechanism", f"{name!r} is unknown", f"use one of {', '.join(MECHANISMS)}")
    return MECHANISMS[name]


def title(name: str) -> str:
    """What to call a mechanism, that of two linked tables among them. InputError as `get`."""
    return Households.card.title if name == Households.card.name else get(name).card.title


def _foreign(name: str) -> Mechanism:
    """Of another package, with a card that says so. Raises `foreign.Missing`."""
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
    """What the mechanism of this name is wanted for. InputError as `get`."""
    mechanism = get(name)
    if mechanism.card.package:
        return Purpose("foreign", "Of other packages", "Not part of this program, and not checked by its rules and tests.", (mechanism,))
    return next(one for one in PURPOSES if mechanism in one.mechanisms)


def published(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with its paper's constants. InputError where no paper prints it."""
    if mechanism.card.name not in PUBLISHED:
        problem = f"no paper prints {mechanism.card.title}; its card says what differs from the papers that it follows"
        raise InputError(f"mechanism.{PRESET}", problem, "leave it out")
    return PUBLISHED[mechanism.card.name]


def base(mechanism: Mechanism, given: Mapping[str, Any]) -> Mechanism:
    """What settings change: the mechanism with its defaults, or as published where `preset` asks for that. Raises InputError."""
    preset = given.get(PRESET, DEFAULT)
    if preset not in (DEFAULT, PAPER):
        raise InputError(f"mechanism.{PRESET}", f"{shown(preset)} is unknown", f"use {DEFAULT} or {PAPER}")
    return mechanism if preset == DEFAULT else published(mechanism)


def settings(mechanism: Mechanism, given: Mapping[str, Any]) -> dict[str, Setting]:
    """Every parameter of the mechanism: the given value, as a number or as text, or that of the preset; and the preset itself where it is
    not the default. InputError names the parameter."""
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
    """The mechanism with these settings, and those of the preset for the others. As published, its card names what was changed all the
    same. Raises InputError as `settings`."""
    values, start = settings(mechanism, given), base(mechanism, given)
    wanted, defaults = {name: value for name, value in values.items() if name != PRESET}, chosen(start)
    changed = [name for name, value in wanted.items() if value != defaults[name]]
    if changed and start is not mechanism:
        title = f"{mechanism.card.title} (as published, but for {', '.join(changed)})"
        return replace(start, **wanted, card=replace(start.card, title=title))
    return replace(start, **wanted)


def forecast(mechanism: Mechanism, workload: Workload, rho: float, people: float | None = None) -> Forecast:
    """What a run is expected to need. It does not fit where the workload asks thresholds that the mechanism does not take, where it does
    not keep to published tables, and where these leave nothing to measure. people: how many there are, as far as that is public; divided
    by what one of them changes in a marginal (`Unit.marginal_l2`)."""
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
    """What `preset=paper` means for it; None where no paper prints it."""
    if mechanism.card.name not in PUBLISHED:
        return None
    printed = PUBLISHED[mechanism.card.name]
    return {"accountant": printed.card.accountant.name, "settings": chosen(printed), "chosen": list(printed.card.differences)}


def describe() -> list[dict[str, Any]]:
    """The registry as JSON: what `python -m dpsynth_core mechanisms` prints. One of another package that is broken says so, and no more."""
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
