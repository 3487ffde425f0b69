"""Checks that guarantee and warnings agree with the plan and the answers."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from dpsynth_core.bundle.checks.opened import Opened
from dpsynth_core.claims.outcome import Open, Wrong, alike, expect, some
from dpsynth_core.mechanisms import public_check
from dpsynth_core.mechanisms.mechanism import UsesPublic
from dpsynth_core.release.release import INTERRUPTED
from dpsynth_core.release.statement import NOT_PRIVATE, brands, interrupted_brand, statement, unmeasured_brands

_PROMISE = re.compile(r"\([^()]*\)-differential")
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


def guarantee(opened: Opened) -> str:
    """Check that the guarantee in words is the plan's.

    The numbers must agree for any version of the program, the words only for this version.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        Open: The numbers are the plan's, but another version of the program wrote other words.
    """
    stated, plan = opened.release.statement, opened.plan
    planned = statement(plan, opened.release.rho_spent, opened.release.private)
    if stated == planned:
        return "the guarantee in words is the one of the plan"
    promised = f"({plan.spec.budget.epsilon:g}, {plan.spec.budget.delta:g})-differential"
    others = [words for words in _PROMISE.findall(stated) if words != promised]
    expect(promised in stated and not others, "it promises another ε and δ than the plan")
    expect(stated.startswith(NOT_PRIVATE) != opened.release.private, "whether the release is private is said wrongly")
    expect(_numbers(planned) <= _numbers(stated), "it names other numbers than the plan")
    expect(opened.other_program, "it says something else")
    raise Open("its numbers are the plan's, but another version may have worded it: read it with care")


def warnings(opened: Opened) -> str:
    """Check that every warning that plan and answers call for is stated.

    Whether a run was interrupted only shows when the mechanism runs again.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        Open: No warning is missing, but another version of the program wrote other words.
    """
    _check_public_table(opened)
    _check_reading(opened)
    release, stated = opened.release, list(opened.release.brands)
    planned = list(brands(opened.plan, release.total, release.private, release.details))
    if release.branded(INTERRUPTED):
        planned.append(interrupted_brand(len(release.measurements), release.transcript))
    else:
        planned.extend(unmeasured_brands(opened.plan, release.claims))
    if stated == planned:
        return f"{'1 warning follows' if len(stated) == 1 else f'{len(stated):,} warnings follow'} from the plan and the answers"
    missing = Counter(brand.code for brand in planned) - Counter(brand.code for brand in stated)
    expect(not missing, f"a warning is missing: {some(sorted(missing))}")
    silent = [brand.code for brand in planned if not any(_numbers(brand.sentence) <= _numbers(b.sentence) for b in stated)]
    expect(not silent, f"a warning names other numbers: {some(silent)}")
    expect(opened.other_program, "they say something else")
    raise Open("none is missing, but another version may have worded them: read them with care")


def _check_public_table(opened: Opened) -> None:
    """Check that the release names the public table of its plan, on which warnings depend.

    Raises:
        Wrong: It names another one or none, or names one though its mechanism uses none.
    """
    section, named = opened.plan.spec.public, opened.release.details.get("public_table")
    if not isinstance(opened.plan.mechanism, UsesPublic):
        expect(named is None, "it names a public table, but its mechanism uses none")
        return
    if section is None:
        raise Wrong("its mechanism needs a public table, and the plan has none")
    same = named is not None and named["name"] == Path(section.path).name and section.sha256 in ("", named["sha256"])
    expect(same, "it does not name the public table of its plan")


def _check_reading(opened: Opened) -> None:
    answers = [answer for answer in opened.release.transcript if answer.operation == "best_mixture_error"]
    stated = opened.release.details.get("best_mixture")
    if not answers:
        expect(stated is None, "a check of the public table is stated that was not made")
        return
    total, _, scale = answers[0].arguments[:3]
    wanted = public_check.reading(answers[0].value, total, scale).to_json()
    expect(stated is not None and alike(wanted, stated), "the check of the public table says something else")


def _numbers(text: str) -> Counter[str]:
    return Counter(_NUMBER.findall(text))
