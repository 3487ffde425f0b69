"""Checks that everything published was paid for: plan, budget, charges and noise, from the plan and the transcript."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dpsynth_core.bundle.checks.opened import Opened
from dpsynth_core.bundle.unpack import parsed
from dpsynth_core.claims.outcome import NEAR, Nothing, expect, named, near
from dpsynth_core.foundation.documents import canonical_digest
from dpsynth_core.planning.plan import INSIDE, Plan
from dpsynth_core.privacy.events import delta_of
from dpsynth_core.privacy.thresholds import threshold
from dpsynth_core.release import synthesis
from dpsynth_core.release.journal import Journal
from dpsynth_core.release.transcript import check_paid, replaying
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.keys import PUBLIC
from dpsynth_core.vocabulary.measurement import Measurement


def sealed_plan(opened: Opened) -> str:
    """Check that the spec has the stated SHA-256, and nothing that a published spec lacks.

    The spec is compared as written: one from before a field existed does not mention the
    field.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
    """
    written = opened.bundle.document["spec"]
    digest = canonical_digest(written)
    expect(digest == opened.bundle.document["spec_sha256"], "the spec is not the one whose SHA-256 the release names")
    expect(_within(written, opened.plan.spec.published()), "the spec says more than a published one")
    expect(parsed("spec.json", opened.bundle.files["spec.json"]) == written, "spec.json is another spec")
    return f"the plan is the sealed one, SHA-256 {digest[:16]}…"


def _within(written: Any, whole: Any) -> bool:
    """Return whether `whole` has every entry of `written`, with the same value, at all depths."""
    if isinstance(written, dict) and isinstance(whole, dict):
        return all(name in whole and _within(value, whole[name]) for name, value in written.items())
    return bool(written == whole)


def budget(opened: Opened) -> str:
    """Check that the stated budget is the plan's, and that rho is at most what epsilon and delta allow.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
    """
    budget, stated, rho = opened.plan.spec.budget, opened.bundle.document["budget"], opened.release.rho
    accountant = opened.plan.shares.accountant
    wanted = {"epsilon": budget.epsilon, "delta": budget.delta, "relation": opened.plan.unit.relation, "accountant": accountant.name}
    expect(all(stated[name] == value for name, value in wanted.items()), "the stated budget is not the plan's")
    expect(stated["max_rows_per_person"] == opened.plan.spec.unit.max_rows_per_person, "the stated unit of privacy is not the plan's")
    own_delta = float(sum(map(delta_of, opened.release.charges)))  # of steps that keep their promise except with a probability of their own
    expect(own_delta < budget.delta, f"steps with a delta of their own need {own_delta:.6g}, not less than δ = {budget.delta:g}")
    allowed = accountant.rho_from(budget.epsilon, budget.delta - own_delta)
    stated_as = f"ε = {budget.epsilon:g}, δ = {budget.delta:g} under {accountant.name}"
    expect(0 < rho <= allowed * (1 + NEAR), f"ρ = {rho:.6g} is more than {stated_as} allow: {allowed:.6g}")
    implied = accountant.epsilon_from(rho, budget.delta - own_delta)
    return f"ρ = {rho:.6g} under {accountant.name} implies ε = {implied:.6g} at δ = {budget.delta:g}, as stated"


def charged(opened: Opened) -> str:
    """Check that each charge has the cost of its event, and that their sum is as stated and within rho.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
    """
    release, stated_charges = opened.release, opened.bundle.document["charges"]
    costs = [opened.plan.shares.accountant.cost(event) for event in release.charges]
    for event, cost, stated in zip(release.charges, map(float, costs), stated_charges, strict=True):
        expect(near(cost, stated["rho"]), f"a {type(event).__name__} is charged {stated['rho']:.6g}, but costs {cost:.6g}")
    spent = sum(costs, Fraction())
    expect(spent <= Fraction(release.rho), f"the charges add up to {float(spent):.6g}, more than ρ = {release.rho:.6g}")
    expect(near(float(spent), release.rho_spent), f"the charges add up to {float(spent):.6g}, not to {release.rho_spent:.6g}")
    return f"{len(release.charges):,} operations cost ρ = {float(spent):.6g} together, within {release.rho:.6g}"


def paid_noise(opened: Opened) -> str:
    """Check that every recorded answer was charged as the kernel charges it, and has the noise paid for.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong, InputError: The check fails.
    """
    expect(opened.release.transcript, "the release has no transcript, so nothing shows what was paid for")
    check_paid(opened.release.domain, opened.plan.unit, opened.release.transcript, opened.release.charges)
    measured, groups = set(), dict[str, Groups]()
    for answer in opened.release.transcript:
        for noisy in answer.tables:
            if isinstance(noisy, Measurement):
                expect(noisy.is_rounded_normal, f"the noise of the table {named(noisy.clique)} is not of the kind that the kernel adds")
                same = all(groups.setdefault(one.name, one) == one for one in noisy.groups)
                expect(same, f"the groups of the table {named(noisy.clique)} are not the same everywhere")
            measured.add(id(noisy))
    for table in opened.release.measurements:
        follows = table.spread is not None or not table.clique
        expect(follows or id(table) in measured, f"no charge belongs to the table {named(table.clique)}")
    return f"{len(opened.release.transcript):,} answers were paid for, {len(measured):,} noisy tables with the noise that they state"


def learnt_values(opened: Opened) -> str:
    """Check that learnt values follow from the noisy counts.

    Each published text must also have a noisy count of at least the threshold, so that no text of
    few people is disclosed.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        Nothing: All values were declared.
    """
    release, plan = opened.release, Plan.of(opened.plan.spec)
    if not plan.portions:
        raise Nothing("all values were declared")
    kernel = replaying(plan.domain, plan.unit, plan.shares, release.transcript, release.charges)
    completed, _ = synthesis.learnt(plan, kernel, Journal())
    expect(completed.domain == release.domain, "values of a column are not those that follow from what was measured")
    rows = plan.unit.max_rows_per_person
    for answer in release.transcript:
        if answer.operation == "discover_values":
            least = threshold(answer.arguments[1], answer.arguments[2], rows)
            hidden = all(count >= least for text, count in answer.value.items() if text not in PUBLIC)
            expect(hidden, f"values of {named(answer.arguments[0])} are published that too few people share")
    return f"the values of {len(plan.portions):,} columns follow from noisy counts, and every text was shared by enough"


def inside_cells(opened: Opened) -> str:
    """Check that the distributions of numbers within their cells follow from the noisy counts.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        Nothing: Nothing was measured within cells, or the run was interrupted.
    """
    release, plan = opened.release, Plan.of(opened.plan.spec)
    if not plan.shares.of(INSIDE) or opened.interrupted:
        expect(not release.inside, "it says how numbers lie in their cells, which nothing measured")
        raise Nothing("rows are spread evenly in their cells, or there are none")
    kernel = replaying(plan.domain, plan.unit, plan.shares, release.transcript, release.charges)
    found, _ = synthesis.looked_inside(*synthesis.learnt(plan, kernel, Journal()), Journal())
    expect(found == release.inside, "how numbers lie in their cells does not follow from what was measured")
    return f"how the numbers of {len(found):,} columns lie in their cells follows from noisy counts"


def private_noise(opened: Opened) -> str:
    """Check that the release does not state predictable noise.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
    """
    expect(opened.release.private and opened.plan.spec.output.seed is None, "the noise was predictable: this release is not private")
    return "the operating system's randomness, by the release's own word"


def ledger_entry(opened: Opened) -> str:
    """Check that the cited ledger entry names the plan's population and unit of privacy.

    Nothing else in the entry can be compared with a bundle.

    Returns:
        A sentence for people about what was found, without full stop.

    Raises:
        Wrong: The check fails.
        Nothing: No ledger was charged.
    """
    cited, spec = opened.release.ledger, opened.plan.spec
    if not cited:
        raise Nothing("no ledger was charged")
    same = cited["population"] == spec.population and cited["unit"] == spec.unit.model_dump()
    expect(same, "the charge that it names is for other people, or another unit of privacy")
    return f"entry {cited['entry']:,} of the ledger is for the plan's people and unit of privacy"
