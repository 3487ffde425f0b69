"""Plans and releases as text and as HTML for a notebook. Names of columns and values are hostile text in HTML, and are escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from dpsynth_core import report
from dpsynth_core.claims.certificate import CERTIFICATE
from dpsynth_core.foundation import extension
from dpsynth_core.planning import expected_verdict, precision
from dpsynth_core.planning.expected_verdict import Power
from dpsynth_core.planning.leaks import Leak, Severity
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.unit_spec import UNNAMED
from dpsynth_core.release.release import Release
from dpsynth_core.report.facts import amount

Pairs = Iterable[tuple[str, str]]


def plan_line(plan: Plan) -> str:
    """Return a plan in one line: tables, mechanism, budget and population."""
    spec, tables = plan.spec, plan.workload.cliques
    largest = max(map(len, tables))
    number = f"{len(tables):,} table{'s' * (len(tables) != 1)} of up to {largest} column{'s' * (largest != 1)}"
    account = "charged to no ledger" if spec.population == UNNAMED else f"charged to {spec.population!r}"
    return f"Plan: {number}, {plan.mechanism.card.title}, epsilon {spec.budget.epsilon:g}, delta {spec.budget.delta:g}, {account}"


def _plan_facts(plan: Plan, hope: Power | None) -> Pairs:
    expected = "say about how many people there are (people=...), to see what to expect"
    if hope is not None:
        error = f"about {hope.error:.1%} of the {plan.who} in the wrong group of a table, on average"
        expected = hope.warning or f"{hope.hope} should come out good enough; {error}. {hope.rests}".removesuffix(". ")
    protects = plan.spec.unit.words
    if plan.link is not None:
        whose = plan.link.words.protects.format(most=plan.link.most, s="s" * (plan.link.most > 1))
        protects = f"{whose}, {protects.rpartition(', ')[2]}"
    forecast, certificate = plan.forecast, plan.shares.of(CERTIFICATE.name) or not plan.mechanism.card.publishes_tables
    return [
        ("Protects", protects),
        *([("About", whom)] if (whom := extension.whom(plan.spec.extensions)) else []),
        ("Budget, as planned", precision.budget_sentence(plan.mechanism, plan.workload, plan.shares, plan.unit.total_is_public)),
        ("Expected", expected),
        *([("Small groups", expected_verdict.small_groups_sentence(plan))] if plan.mechanism.card.publishes_tables else []),
        ("Needs", f"about {max(1, round(forecast.seconds)):,} s and {forecast.memory_mb / 1000:.1f} GB on this machine"),
        *([] if certificate else [("No certificate", precision.without_certificate(plan.link))]),
        *(("Will be known", f"{sentence[0].upper()}{sentence[1:]}") for sentence in _forecasts(plan)),
        *(("Distances", sentence) for sentence in precision.distance_sentences(plan.row_domain) if plan.mechanism.card.makes_rows),
        ("Seal", plan.spec.digest()[:16]),
    ]


def _forecasts(plan: Plan) -> list[str]:
    return [sentence for path in extension.forecasts(plan.spec.extensions) for sentence in extension.load(path)(plan)]


def _leak_lines(leaks: Sequence[Leak]) -> Pairs:
    return [(f"{leak.severity.name.lower()}: {leak.title}", f"{leak.why} {leak.fix}") for leak in leaks]


def plan_text(plan: Plan, leaks: Sequence[Leak], hope: Power | None) -> str:
    """Return a plan as text of several lines: its summary, its facts and what it discloses.

    Args:
        plan: The plan.
        leaks: Disclosures that the privacy charge does not cover.
        hope: The expected quality of the tables (`Plan.expected`); None if it is unknown.
    """
    facts = [f"  {name}: {text}" for name, text in _plan_facts(plan, hope)]
    found = [f"  - {title}. {text}" for title, text in _leak_lines(leaks)]
    return "\n".join([plan_line(plan), *facts, *(["  It gives away, besides what it is charged for:", *found] if found else [])])


def plan_html(plan: Plan, leaks: Sequence[Leak], hope: Power | None) -> str:
    """Return a plan as HTML, in which names are escaped. The disclosures are folded away.

    Args:
        plan: The plan.
        leaks: Disclosures that the privacy charge does not cover.
        hope: The expected quality of the tables (`Plan.expected`); None if it is unknown.
    """
    serious = sum(leak.severity is not Severity.NOTE for leak in leaks)
    things = f"{len(leaks)} thing{'s' * (len(leaks) != 1)} that it gives away besides what it is charged for"
    title = f"{things}, {serious} of them to think about" if serious else things
    listed = f"<details><summary>{title}</summary>{_list(_leak_lines(leaks))}</details>" if leaks else ""
    return f"<p><b>{escape(plan_line(plan))}</b></p>{_list(_plan_facts(plan, hope))}{listed}"


def release_line(made: Release) -> str:
    """Return a release in one line: rows, columns and budget."""
    rows = "noisy tables, no rows" if made.codes is None else amount(made)
    private = "" if made.private else ", NOT PRIVATE"
    return f"Release: {rows}, epsilon {made.spec.budget.epsilon:g}, delta {made.spec.budget.delta:g}{private}"


def verdict(made: Release) -> str:
    """Return the verdict on a release with its reasons; "" if the release has no verdict."""
    return next((text for _, text in report.verdict_facts(made)), "")


def release_text(made: Release) -> str:
    """Return a release as text of several lines: a summary, the verdict, and a line for each warning."""
    warnings = [f"  warning: {warning}" for warning in report.warnings(made)]
    whom = [f"  {told}"] if (told := extension.whom(made.spec.extensions)) else []
    return "\n".join([release_line(made), f"  {verdict(made)}", *whom, *warnings])


def release_html(made: Release) -> str:
    """Return a release as HTML, with its warnings; names are escaped."""
    warnings = "".join(f"<li>{escape(warning)}</li>" for warning in report.warnings(made))
    shown = f"<ul>{warnings}</ul>" if warnings else ""
    about = f"<p>{escape(told)}</p>" if (told := extension.whom(made.spec.extensions)) else ""
    return f"<p><b>{escape(release_line(made))}</b></p><p>{escape(verdict(made))}</p>{about}{shown}{_list(report.in_short(made))}"


def _list(pairs: Pairs) -> str:
    return "<dl>" + "".join(f"<dt><b>{escape(name)}</b></dt><dd>{escape(text)}</dd>" for name, text in pairs) + "</dl>"
