"""The checks of a release that a recipient can make without the private table: one verdict per question, and what cannot be checked.

Everything is computed again from the bundle: hashes, the budget, the sum of the charges, the noise of every table, every row against the
domain, the bounds, the arithmetic of the certificate, and all files from release.json. No content of a bundle is trusted to be well formed.
Questions that need the mechanism stay open here; `reproduce` runs it again, and `confined` does both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from dpsynth_core import report
from dpsynth_core.bundle.checks import charges, files, rows, words
from dpsynth_core.bundle.checks.opened import Opened
from dpsynth_core.bundle.unpack import DAMAGE, Bundle, plan_of
from dpsynth_core.bundle.verdicts import ABSENT, BOUNDS, FAILED, PASSED, REPLAYED, SIGNED, SKIPPED, WHOSE, Check, Report, Running, Summary
from dpsynth_core.claims.claim import Claim
from dpsynth_core.claims.outcome import Nothing, Open, Wrong
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import document as releases

_LONGEST = 2000
"""Largest number of characters of one text that is passed on."""
_DAMAGE = (*DAMAGE, pa.ArrowException)


def verify(bundle: Bundle) -> Report:
    """Make every check of a bundle, except the one that runs the mechanism again. A failed check raises no error.

    The bundle is one of a release (`Bundle.released`). The check that is not made stands in the report as not checked.
    If release.json is damaged, the checks that need it are left out. Code of the installed package that has the
    mechanism may run, so an untrusted bundle must be checked in a process with limits (`confined.verified`).

    Raises:
        InputError: The spec in release.json cannot be read, or its mechanism's package is missing.
        MemoryError: The bundle is too large.
    """
    (report,) = (said for said in checking(bundle) if isinstance(said, Report))
    return report


def checking(bundle: Bundle) -> Iterator[Running | Report]:
    """Make the checks of `verify` one by one: yield each before it runs, and the report last.

    The check that runs the mechanism again is not made, and stands in the report as not checked. If release.json is
    damaged, the checks that need it are left out.

    Raises:
        InputError: The spec in release.json cannot be read, or its mechanism's package is missing (at the first step).
        MemoryError: The bundle is too large.
    """
    plan = plan_of(bundle)
    opened: list[Opened] = []

    def read() -> str:
        opened.append(Opened(bundle, releases.from_json(bundle.document)))
        return f"a release of {plan.mechanism.card.title} with {len(opened[0].release.charges):,} charges"

    signers: list[str] = []

    def signed() -> str:
        signers.append(files.signed_by(bundle))
        return f"signed by {signers[0]}, entry {bundle.document['ledger']['entry']:,} of its ledger{WHOSE}"

    unchanged = partial(files.unchanged, bundle)
    first = dict[str, Callable[[], str]]({"Are the files unchanged?": unchanged, SIGNED: signed, "Is release.json complete?": read})
    checks, asked_for = list[Check](), _asked(plan, bundle)

    def made(asked: Mapping[str, Callable[[], str]]) -> Iterator[Running]:
        for question, check in asked.items():
            yield Running(question, len(checks) + 1, len(first) + len(asked_for) + 1)
            checks.append(judged(question, check))

    yield from made(first)
    yield from made({question: partial(check, opened[0]) for question, check in asked_for.items()} if opened else {})
    checks.append(Check(REPLAYED, SKIPPED, "the mechanism was not run again"))
    shown = (_summary(opened[0]), _page(opened[0])) if opened else (None, "")
    yield Report(tuple(checks), bundle.sha256, *shown, "".join(signers))


def _page(opened: Opened) -> str:
    try:
        return report.report_page(opened.with_rows).value.decode()
    except (Wrong, InputError, *_DAMAGE):
        return ""


def _summary(opened: Opened) -> Summary | None:
    """Return the release's statements, without its rows if these cannot be read."""
    try:
        release = opened.with_rows
    except Wrong:
        release = opened.release
    try:
        stated = (*report.verdict_facts(release), *report.claim_facts(release), *report.facts(release))
        brief, facts = (tuple((name, text[:_LONGEST]) for name, text in pairs) for pairs in (report.in_short(release), stated))
        return Summary(tuple(warning[:_LONGEST] for warning in report.warnings(release)), release.statement[:_LONGEST], facts, brief)
    except _DAMAGE:
        return None


def judged(question: str, check: Callable[[], str]) -> Check:
    """Run a check and return its outcome.

    Args:
        question: The question of the check.
        check: Returns what it found, or raises Open (not checked), Nothing (nothing to check) or
            Wrong (failed). Errors of damaged content count as failed.

    Returns:
        The result, with the text returned or raised, of at most 2,000 characters.

    Raises:
        MemoryError: The bundle is too large, and was not checked.
    """
    try:
        return Check(question, PASSED, check()[:_LONGEST])
    except Open as reason:
        return Check(question, SKIPPED, str(reason)[:_LONGEST])
    except Nothing as reason:
        return Check(question, ABSENT, str(reason)[:_LONGEST])
    except (Wrong, InputError) as wrong:
        return Check(question, FAILED, str(wrong)[:_LONGEST])
    except MemoryError:  # pyarrow's is an ArrowException too
        raise
    except _DAMAGE:
        return Check(question, FAILED, "what it is about is missing or damaged")


def _asked(plan: Plan, bundle: Bundle) -> Mapping[str, Callable[[Opened], str]]:
    """Return the checks that a bundle needs: without checks of claims that neither its plan nor its document mentions."""
    stated = plan.spec.extensions
    unasked = {claim.question for claim in CLAIMS if not claim.is_mentioned(stated) and claim.part not in bundle.document}
    return {question: check for question, check in _CHECKS.items() if question not in unasked}


def _follows(claim: Claim[Any], opened: Opened) -> str:
    return claim.follows(opened, opened.release.claims[claim.name])


_CHECKS: Mapping[str, Callable[[Opened], str]] = {
    "Is the plan the sealed one?": charges.sealed_plan,
    "Does ρ imply ε and δ?": charges.budget,
    "Do the charges stay within ρ?": charges.charged,
    "Was the stated noise paid for?": charges.paid_noise,
    "Do learnt values follow?": charges.learnt_values,
    "Does it follow how numbers lie in their cells?": charges.inside_cells,
    "Is the noise private?": charges.private_noise,
    "Do the rows keep to the domain?": rows.rows_in_domain,
    "Do both tables of rows agree?": rows.same_rows,
    "Are impossible combinations absent?": rows.possible_rows,
    "Do the rows keep to published tables?": rows.published_rows,
    BOUNDS: rows.bounds_follow,
    **{claim.question: partial(_follows, claim) for claim in CLAIMS},
    "Are the rows near the noisy tables?": rows.near_tables,
    "Is the guarantee stated as planned?": words.guarantee,
    "Are all warnings there?": words.warnings,
    "Does the ledger's entry fit the plan?": charges.ledger_entry,
    "Are its pages safe to open?": files.safe_pages,
    "Do report, cards and tables agree?": files.same_copies,
}
