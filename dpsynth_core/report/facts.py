"""The numbers in both documents of a release as plain text: the headline, the tables to trust, the facts.

For a learnt rule they give its quality and the assumptions of its guarantee. Names and labels are hostile text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpsynth_core.claims.certificate import CERTIFICATE
from dpsynth_core.evaluation.quality import Headline, within
from dpsynth_core.foundation import extension
from dpsynth_core.planning import discovery, domain_origin, precision
from dpsynth_core.planning.spec import Spec
from dpsynth_core.planning.unit_spec import UNNAMED
from dpsynth_core.release import tables
from dpsynth_core.release.release import Release
from dpsynth_core.statistics.distances import percent, possible

if TYPE_CHECKING:
    import pandas as pd

EACH = "Each bound holds with 95% confidence."
PICKED = "In trials with 3,000 people at epsilon 1, 24 of 541 tables that were called good enough were above their bound."
"""How often bounds of tables that were picked by them were wrong, as a whole sentence (`benchmarks/naming.py`)."""


def on_trials(release: Release, told: str) -> str:
    """Return what trials with single tables found, for a release of a single table; "" for linked tables, which were not tried.

    Args:
        release: The release.
        told: `PICKED` or `verdict.TRIALS`.
    """
    return told if release.plan.link is None else ""


def sentence(headline: Headline) -> str:
    """Return the quality of a release in a few short sentences. The table's name in it is hostile text."""
    tables, who = f"{headline.tables:,}", headline.who
    what = "synthetic rows" if headline.has_rows else "published answers"
    if headline.says_nothing and (headline.bounded or not math.isnan(headline.noise)):
        return "The errors are not known, because the noise is as large as the table."
    if not headline.bounded:
        of = "table" if headline.tables == 1 else f"{tables} tables"
        return f"No measurement bounds the errors of the {of} asked for, so what the {what} say there is a guess."
    worst = f"In the worst one, {headline.worst_table}, it is at most {percent(headline.worst)}."
    if headline.certified:
        one = headline.tables == 1
        over = f"In the one table asked for, {headline.worst_table}," if one else f"On average over the {tables} tables asked for,"
        shares = f"{percent(headline.mean)} of {who} into the wrong group, and at most {percent(headline.mean_limit)} with 95% confidence"
        return f"{over} the {what} put {shares}.{'' if one else f' {worst}'}{largest(headline)}"
    unknown = headline.tables - headline.bounded
    guess = f" Nothing bounds the other {unknown:,}." if unknown else ""
    lead = (
        "No certificate was made."
        if math.isnan(headline.noise)
        else (f"The certificate says nothing: its noise is ± {headline.noise:,.0f} of about {headline.people:,.0f} {who}.")
    )
    return (
        f"{lead} The noisy tables bound the errors of {headline.bounded:,} of the {tables} tables asked for, each with 95% confidence by"
        f" itself: the mean of these bounds is {percent(headline.mean_limit)} of {who} in the wrong group. {worst}{guess} True errors are"
        " often several times smaller than such bounds."
    )


def largest(headline: Headline) -> str:
    """Return the largest error of a single share as a sentence after a space; "" if no certificate states it."""
    if math.isnan(headline.largest):
        return ""
    several = f"count of people who match at least {headline.threshold} of the values of a cell"
    what = "single count" if headline.threshold is None else several
    note = "" if headline.threshold is None else " Such counts were asked for; the errors of tables are those of their plain cells."
    return (
        f" The worst {what} is off by at most {percent(headline.largest_limit)} of all {headline.who}, with 95% confidence;"
        f" {percent(headline.largest)} was measured.{note}"
    )


def trusted(table: pd.DataFrame, threshold: float, together: bool = False) -> str:
    """Return a sentence on how many tables have an error of at most `threshold`.

    Args:
        table: The frame of `quality.marginal_table`.
        threshold: The largest acceptable error, as a share of people.
        together: Whether to use bounds that hold for all tables at once with 95 % confidence,
            instead of bounds that hold for each table by itself.
    """
    good, limit = int(within(table, threshold, together).sum()), f"at most {percent(threshold)} of people are in the wrong group"
    tables = "the one table" if len(table) == 1 else f"the {len(table):,} tables"
    if not good:
        return f"The release does not show that {limit} in {'any of ' * (len(table) > 1)}{tables}."
    which = tables.capitalize() if len(table) == 1 else f"All {tables[4:]}" if good == len(table) else f"{good:,} of {tables}"
    how = ", with 95% confidence for all of them together." if together else ". Each bound holds with 95% confidence."
    return f"{which} can be trusted: {limit}{how}"


def byline(release: Release) -> str:
    """Return two sentences on a release: its rows and columns, the population, the mechanism and the date.

    Names in them are hostile text.
    """
    population = release.spec.population
    about = f" about “{population}”" if population != UNNAMED else ""
    return f"This release has {amount(release, about)}. {release.plan.mechanism.card.title} made it on {release.created}."


def amount(release: Release, about: str = "") -> str:
    """Return how many rows and columns the release has, in words.

    Args:
        release: The release.
        about: Text after the number of columns, with a space before it.
    """
    columns = f"{len(release.plan.row_domain.column_names):,} columns{about}"
    if release.members is not None:
        assert release.plan.link is not None
        held = release.plan.link.words.held
        columns += f", with {release.members.num_rows:,} {held} of {len(release.plan.member_domain.column_names):,} columns"
    made = "rows" if release.plan.link is None else release.plan.link.words.made
    return f"{release.rows:,} synthetic {made} of {columns}" if release.rows else f"answers over {columns}, and no rows"


def facts(release: Release) -> list[tuple[str, str]]:
    """Return the facts of a release as pairs of name and unescaped text, in the order of reading."""
    spec, plan, mechanism = release.spec, release.plan, release.plan.mechanism
    stated, nothing = list[str](), "none: no table was published; how good the rule is was measured instead"
    if not learnt(release):
        nothing = "none: no budget was set aside to measure the errors"
        stated = CERTIFICATE.sentences(release.plan, release.certificate, release.final)
        nothing += ". Where sums of roots were measured, nothing bounds them" if plan.link else ""
    made, link = None if release.members is None else release.members.num_rows, release.plan.link
    written = f"{release.rows:,} ({release.row_policy})"
    columns, filled = f"{len(release.plan.row_domain.column_names):,}", len(release.plan.row_domain.filled)
    filled -= release.plan.weight is not None
    if link is not None:
        columns += f" of {link.words.households}, {len(release.plan.member_domain.column_names):,} of {link.words.members}"
    return [
        ("Population", spec.population),
        (f"Synthetic {'rows' if link is None else link.words.made}", written if release.rows else "none: answers only"),
        *([("Tables of rows", tables.explained(1 + len(release.further)))] if release.further else []),
        *([(link.words.title, tables.explained_members(made, release.plan.records_each, link.words))] if link else []),
        ("Columns", f"{columns}, of which {filled:,} filled in without measuring anything" if filled else columns),
        (
            "Privacy budget",
            f"epsilon {spec.budget.epsilon:g}, delta {spec.budget.delta:g}"
            f" ({release.plan.shares.accountant.name} rho {release.rho:.6g}, spent {release.rho_spent:.6g})",
        ),
        ("Budget, as planned", precision.budget_sentence(mechanism, plan.workload, plan.shares, plan.unit.total_is_public)),
        ("Neighbouring tables", f"{spec.unit.relation}; rows of one person: {spec.unit.max_rows_per_person:,} at most"),
        ("Mechanism", f"{mechanism.card.title} ({mechanism.card.paper})"),
        *_rule_facts(release),
        ("Measurements", f"{len(release.measurements):,} noisy marginals"),
        ("Certificate", stated[0] if stated else nothing),
        ("Where the domain came from", domain_origin.clause(spec)),
        *([("Learnt with noise", " ".join(discovery.sentences(release.plan)))] if release.plan.portions else []),
        *([("Numbers inside their bins", inside)] if (inside := discovery.of_inside(release.plan)) else []),
        ("Made", release.created),
        *release.about.stated.facts(),
        ("SHA-256 of the spec", release.seal),
    ]


def first(labels: Sequence[str], limit: int = 6) -> str:
    """Return the first `limit` labels, unescaped, as a list in words, with an ellipsis for more."""
    return ", ".join(labels[:limit]) + (", …" if len(labels) > limit else "")


def counted(spec: Spec) -> str:
    """Return sentences that the numbers count records, if a person may own several, and whom they are about, if not everybody; else "".

    Report, data card, explore.html and the Results page show these sentences.
    """
    whom = extension.whom(spec.extensions)
    if spec.unit.max_rows_per_person == 1 or spec.members is not None:
        return whom
    records = (
        "Counts, shares and means are of records, also where they say “people”. A person has at most "
        f"{spec.unit.max_rows_per_person:,} of them. The guarantee is for people."
    )
    return f"{records} {whom}".strip()


def learnt(release: Release) -> str:
    """Return the sentence of the rule that the release learnt, with unescaped names of columns.

    It is "" if the release is not of a rule.
    """
    return str(release.details.get("rule", {}).get("sentence", ""))


def _rule_facts(release: Release) -> list[tuple[str, str]]:
    if (rule := release.details.get("rule")) is None:
        return []
    guarantee = f"{rule['guarantee'][0].upper()}{rule['guarantee'][1:]}."
    return [("Rule", learnt(release)), ("How good the rule is", goodness(rule)), ("What was guaranteed", guarantee)]


def goodness(rule: Mapping[str, Any]) -> str:
    """Return a sentence on how often a learnt rule is wrong, or for how many people it holds.

    Args:
        rule: The release's details about the rule, with "wrong" or "holds"; without both, the
            sentence says that a rule is missing. Both are mappings, of "share" (measured share of
            people) and "within" (half the width of its 95% interval). "wrong" comes with
            "wrong_without_rule", the share for whom the more common answer is wrong.
    """
    if "wrong" in rule:
        without = possible(rule["wrong_without_rule"])
        return f"It is wrong for {_measured(rule['wrong'])}; always giving the more common answer would be wrong for about {without:.1%}."
    if "holds" in rule:
        return f"It holds for {_measured(rule['holds'])}."
    return "There is no rule."


def _measured(stated: Mapping[str, Any]) -> str:
    if stated["within"] >= 1:
        return "an unknown share of the people, because the noise is larger than the table"
    return f"{possible(stated['share']):.1%} of the people, ± {possible(stated['within']):.1%} with 95% confidence"
