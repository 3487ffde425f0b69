"""Sentences about a release: what was protected and how strongly, what was assumed, what the data are for, how to check it.

Plain text from public and released values; the page that shows it escapes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpsynth_core.claims import weighted
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.visible import listed
from dpsynth_core.planning import discovery, domain_origin, private_views, weakness
from dpsynth_core.planning.spec import Spec
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.attacker import Reading
from dpsynth_core.privacy.unit import REPLACE
from dpsynth_core.release.release import Release
from dpsynth_core.release.statement import OFF
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary import zeros
from dpsynth_core.vocabulary.recoding import unlisted_as_listed

_COLUMNS_NAMED = 20

READING = (
    "No row is a real person, not even a row whose combination of values is rare or unique. A person who is not found among "
    "the rows may well be in the table.",
    "Counts have errors. The error of every table is stated, and a difference smaller than it means nothing.",
    "Tables that are not “measured” have no noisy counts of their own. A model of the other noisy tables says what is published there.",
    "Numbers inside a bin, or inside a measured part of it, are drawn evenly. Do not read anything into their digits.",
    "Small groups, such as minorities, are the least reliable: noise is the same for all cells, so it hides most where there are few "
    "people. Compare the size of a group with the noise of its cells, and add up cells before you conclude.",
)

_OF_ONE = "one person (see neighbouring tables), not for a family or a firm"


def not_protected(release: Release) -> tuple[str, ...]:
    """Return sentences on what the guarantee does not protect."""
    return (
        "Facts about the whole population: a release is made to show them, and they can be held against a member.",
        f"Facts about groups: the guarantee is for {release.plan.link.words.unit if release.plan.link else _OF_ONE}.",
        "Other copies of the data, earlier releases elsewhere, and anything published without noise.",
        "The domain, the workload and the budget: they are public.",
    )


USES = (
    "Tables of counts that were asked for, if their stated error is small enough for your purpose.",
    "Work that needs the structure of the table: write and test programs, plan an analysis, teach.",
    "Further processing of any kind: a result that is computed from this release alone is as private as the release.",
)

MISUSES = (
    "Decisions about a single person, and searches for real people: no row is one.",
    "Exact figures, differences smaller than the stated errors, and small groups: a decision about a minority may rest on noise alone, "
    "and an error that is small over all people can be large for those few.",
    "Relations between columns that no table asked for covers: the model had no reason to keep them.",
    "Ordinary significance tests and confidence intervals on the rows: they ignore the noise and promise too much. Test with "
    "the intervals of ask instead: two groups differ if the interval of their difference excludes 0.",
)


def protected(release: Release) -> list[str]:
    """Return in plain words who is protected, against whom, and how strongly, in odds; one sentence or more per item."""
    budget, attacker = release.spec.budget, odds(release)
    other = "With anything else in its place" if release.spec.unit.relation == REPLACE else "Without that person"
    return [
        f"{protection(release)} {other}, all of this would be almost as likely.",
        f"This holds against anyone, with any knowledge and any computer, now or later. {guess(release)}",
        f"An attacker who wrongly accuses 1% of those who are not there finds at most {attacker.at_1:.1%} of those who are. One "
        f"who wrongly accuses 10% finds at most {attacker.at_10:.1%}. Pure guessing would find 1% and 10%.",
        f"The promise is (ε, δ)-differential privacy with ε = {budget.epsilon:g} and δ = {budget.delta:g}. It follows, as do the odds "
        f"above, from ρ = {release.rho:.6g} in {meaning.title(release.plan.shares.accountant)}.",
    ]


def protection(release: Release) -> str:
    """Return a sentence that names what the release protects of a person."""
    unit = release.spec.unit
    rows = unit.max_rows_per_person
    owned = "the one row of a person says" if rows == 1 else f"the up to {rows:,} rows of a person say"
    if release.plan.link is not None:
        owned = release.plan.link.words.owned
    presence = "" if unit.relation == REPLACE else "a person's presence, and "
    return f"The release protects {presence}what {owned}."


def guess(release: Release) -> str:
    """Return a sentence on the best attack: how often someone who is 50:50 about a person ends up right, at most."""
    question = "which of two records is a person's" if release.spec.unit.relation == REPLACE else "whether a person is in the table"
    return f"Someone who is 50:50 about {question} guesses right at most {odds(release).guess:.1%} of the time with this release."


def odds(release: Release) -> Reading:
    """Return what the best attacker achieves under the release's guarantee, as shares (`privacy.attacker.Reading`)."""
    shares = release.plan.shares
    return meaning.reading(shares.accountant, release.rho, shares.slack)


def symbols(release: Release) -> list[str]:
    """Return the guarantee in symbols, in four lines of plain text.

    They are the neighbouring relation, the accountant's definition, the inequality of (ε, δ)-DP,
    and the values of ε, δ and ρ.
    """
    budget, unit, shares = release.spec.budget, release.spec.unit, release.plan.shares
    rows = unit.max_rows_per_person
    weight = "" if not shares.delta else "δ/2" if shares.slack == budget.delta else f"{shares.delta:g}"
    whose = release.plan.link.words.changed if release.plan.link else "one person,"
    by = f"{'replacing' if unit.relation == REPLACE else 'adding or removing'} the rows of {whose}"
    return [
        f"D ~ D′  ⇔  D and D′ differ by {by} {rows:,} at most",
        meaning.symbols(shares.accountant, weight),
        "Pr[ M(D) ∈ S ] ≤ e^ε · Pr[ M(D′) ∈ S ] + δ   for all D ~ D′ and all sets S",
        f"ε = {budget.epsilon:g},   δ = {budget.delta:g},   ρ = {release.rho:.6g}   (spent: {release.rho_spent:.6g})",
    ]


def noise(release: Release) -> str:
    """Return a sentence on the 95 % margin of cells in the noisy tables, in people; for two linked tables in households.

    It holds for 95 of 100 cells, not for all at once. Without noisy tables the sentence says so.
    """
    widths = sorted(normal(0.975) * m.deviation / release.plan.records_each for m in release.measurements)
    if not widths:
        return "The release has no noisy tables. The rows were made from noisy choices among questions."
    least, most = (f"± {width:,.0f}" if width >= 10 else f"± {width:.1f}" for width in (widths[0], widths[-1]))
    who = release.plan.who
    span = f"{least} {who}" if least == most else f"{least} to {most} {who}, depending on the table"
    return f"Each cell of the {len(widths):,} noisy tables has noise. For 95% of the cells it is at most {span}."


def assumptions(release: Release) -> Iterator[str]:
    """Yield sentences on what guarantee and data rest on and outsiders cannot check.

    They are plain text with unescaped names and words of the curator. Of more than 20 columns that lack a cell for
    unlisted values, 20 are named and the others are counted.
    """
    spec, unit = release.spec, release.spec.unit
    rows = unit.max_rows_per_person
    most = "1 row" if rows == 1 else f"{rows:,} rows"
    if release.plan.link is not None:
        said = release.plan.link.words
        yield said.key.format(column=unit.person_column)
        yield said.used.format(most=rows)
    elif unit.person_column is None:
        yield "One row is one person. Someone with several rows is protected for each row, not for all of them together."
    else:
        yield f"The column “{unit.person_column}” names the person of a row. At most {most} of each person were used."
        if unit.person_column in release.domain.column_names:
            yield "The rows have new identifiers there, which do not say which rows belong to one person."
    if unit.relation == REPLACE and rows == 1:
        yield "The number of records is public."
    yield domain_origin.sentence(spec)
    yield from discovery.sentences(release.plan)
    yield from filter(None, [discovery.of_inside(release.plan), weighted.assumed(release.plan)])
    if reason := spec.domain_justification.strip():
        yield f"The curator wrote about that: “{reason}”"
    if reason := weakness.sentence(spec.budget):
        yield reason
    if not spec.data.simulated:
        yield _looks(spec)
    yield from _values_outside(release)
    stated = release.domain.impossible if release.plan.link is None else release.plan.link.stated
    if not stated:
        yield "No combination of values was declared impossible."
    for rule in stated:
        note = f" (the curator's note: “{rule.note}”)" if rule.note else ""
        what = "is impossible, so no synthetic row has it" if rule.order is None else "always holds, so it holds in every synthetic row"
        yield f"The plan declares that this {what}: {zeros.sentence(rule, {a.name: a for a in release.domain})}{note}"
    yield from _published(release)
    if spec.public is not None:
        yield f"The table “{Path(spec.public.path).name}” was used as public; nothing here protects the people in it."
    yield "The noise came from the operating system's randomness." if release.private else "The noise was predictable. This is not private."
    yield _ledger(release.ledger)
    if not spec.data.simulated:  # and no ledger of this program knows it
        asked, answer = "Asked what else is published about the same people, the curator answered", spec.other_copies.strip()
        yield f"{asked}: “{answer}”" if answer else "The curator did not say whether anything else is published about the same people."


def _values_outside(release: Release) -> Iterator[str]:
    """Yield sentences on how values outside the domain are counted.

    Columns without a cell for such values are named: no released count shows how many there were.
    """
    of = " of the people who count" if extension.whom(release.spec.extensions) else ""
    yield f"A fixed rule moved values outside their column's list or bounds into it (see Columns). No value{of} was left out or reported."
    link = release.plan.link
    shared = unlisted_as_listed(release.domain if link is None else (*link.households, *link.members))
    if shared:
        columns = listed([f"“{column}” as “{label}”" for column, label in shared.items()], _COLUMNS_NAMED)
        yield f"Values that these columns do not list count as a listed value, and no released count shows how many do: {columns}."


def _published(release: Release) -> Iterator[str]:
    for table in release.domain.published:
        only = ", except how numbers lie within its cells" if not release.inside.keys().isdisjoint(table.columns) else ""
        yield f"This table was taken as published, so the budget did not measure it{only}: {table}."
    if (off := release.details.get(OFF)) is not None:
        yield f"Each cell of these published tables has its published share of the rows, to within {off:,.3g} rows."


def _looks(spec: Spec) -> str:
    if spec.looks is None:
        return "It is not stated whether the plan was made after looking at the records."
    if not spec.looks:
        return "As far as was recorded, nothing about the records was shown without noise before the plan was sealed."
    return private_views.sentence(spec.looks)


def _ledger(cited: Mapping[str, Any]) -> str:
    """Return sentences on the ledger's cap for the population.

    The amount spent so far is left out: only a bound fixed beforehand holds for runs that are
    chosen one after the other.

    Args:
        cited: The release's entry about the ledger; empty if no ledger was charged.
    """
    if not cited:
        return "No ledger has this release. It is not known here whether other releases are about the same people, and what they add up to."
    cap, earlier = cited["cap"], [f"ε = {old['epsilon']:g} at δ = {old['delta']:g}" for old in cited["earlier_caps"]]
    unit = UnitSpec.model_validate(cited["unit"]).words
    said = (
        f"The curator's ledger has a cap on what all releases about “{cited['population']}”, with this one and later ones, may together "
        f"show of {unit}: ε = {cap['epsilon']:g} at δ = {cap['delta']:g}. It does not count releases elsewhere."
    )
    if earlier:
        said += f" This cap was changed after runs had been charged to it; before, it was {', then '.join(earlier)}."
    if "rules" in cited:
        said += f" The plan was checked against house rules with the SHA-256 {cited['rules']}."
    if cited["restored"]:
        times = "once" if cited["restored"] == 1 else f"{cited['restored']:,} times"
        said += f" A person accepted that ledger {times} although it was not whole, so charges may be missing from it."
    return said


CHECKS = (
    "python -m dpsynth_core verify BUNDLE.zip — checks the hashes of all files, the sum of all charges against ρ, ρ against ε and δ, "
    "every row against the columns and impossible combinations, and stated errors and bounds against rows and noisy tables. The app's "
    "page Verify does the same.",
    "python -m dpsynth_core reproduce BUNDLE.zip --out DIR — runs the mechanism again on the noisy answers in release.json and writes "
    "the rows again. With the versions named at the end and the same kind of processor they are the same, byte for byte. Otherwise "
    "rounding may change some.",
    "Nobody can check from outside that the table was what this page says, that noise was drawn as stated, and that one person owns no "
    "more rows than stated. For these you trust the curator and the program.",
)
"""How a recipient checks the release, and what nobody can check from outside."""
