"""The statements of a release in words: guarantee, warnings, number of rows. They use public and released values alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.evaluation.misfit import MISFITS, UNSEEN
from dpsynth_core.mechanisms.mechanism import Learner
from dpsynth_core.planning import domain_origin, private_views, weakness
from dpsynth_core.planning.discovery import sentences
from dpsynth_core.planning.plan import INSIDE, Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.budget import check_budget
from dpsynth_core.privacy.unit import REPLACE
from dpsynth_core.release.release import INTERRUPTED, Brand
from dpsynth_core.release.transcript import RecordedAnswer
from dpsynth_core.vocabulary.public_table import PublicTable

_ASSUMED_WELL_FORMED = (
    "Cells of the table may contain line breaks, as the curator states. So one person's protection assumes that the file is well formed:"
    " that every quote in it opens, closes or stands for a quote of a cell."
)
OFF = "published_rows_off"
"""In `Release.details`, where tables were published: by how many rows a cell of one is off at most (`publishing.rows_off`)."""
NOT_PRIVATE = "This release is not private: anyone who knows the seed of its noise can remove the noise. Do not publish it."


def statement(plan: Plan, rho_spent: float, private: bool) -> str:
    """Return the guarantee in words, as plain text.

    It states the neighbouring relation, the unit, epsilon, delta, rho and the accountant. Names of
    columns are quoted and not escaped.

    Args:
        plan: The plan.
        rho_spent: Budget spent, in rho of the plan's accountant.
        private: Whether the noise was private; if not, the text begins with that.
    """
    unit, spec, accountant = plan.unit, plan.spec, plan.shares.accountant
    m = spec.unit.max_rows_per_person
    kept = [("measuring how numbers lie in their cells", rho)] if (rho := plan.shares.of(INSIDE)) else []
    kept += [(claim.purpose, rho) for claim in CLAIMS if (rho := plan.shares.of(claim.name))]
    parts = [f"rho = {rho:.6g}{'' if number else ' was kept'} for {purpose}" for number, (purpose, rho) in enumerate(kept)]
    aside = f", of which {', and '.join(parts)}," if parts else ""
    if plan.link is not None:
        who = plan.link.words.person.format(column=spec.unit.person_column, most=m)
    elif spec.unit.person_column is None:
        who = "a person owns one row; someone with several rows in the table is protected for each row, not for all together"
    else:
        rows = "one row" if m == 1 else f"{m} rows"
        who = f"a person is a value of the column {spec.unit.person_column!r} and owns at most {rows}, further ones are not used"
    change = (
        "replacing what one person owns, so that the number of rows is public"
        if unit.total_is_public
        else ("replacing what one person owns" if unit.relation == REPLACE else "adding or removing one person")
    )
    title, conversion = meaning.title(accountant), meaning.conversion(accountant)
    promise = (
        f"Neighbouring tables differ by {change} ({unit.relation}); {who}. {plan.mechanism.card.title} had a budget of"
        f" {meaning.stated(accountant, plan.shares.rho)}{aside} under {title} and spent {rho_spent:.6g} of rho."
        " The budget implies"
        f" ({spec.budget.epsilon:g}, {spec.budget.delta:g})-differential privacy (accountant: {accountant.name}, {conversion})."
        f"{_own_delta(plan)}{f' {plan.condition}' if plan.condition else ''}{_looks(spec)}"
        f" {domain_origin.sentence(spec)}{_published(plan)}"
    )
    return promise if private else f"{NOT_PRIVATE} Made with real noise, this would hold: {promise}"


def _looks(spec: Spec) -> str:
    """Return a sentence, after a space, on the curator's looks at the private table before the plan was sealed, or ""."""
    return f" {private_views.sentence(spec.looks)}" if spec.looks and not spec.data.simulated else ""


def _published(plan: Plan) -> str:
    tables = ", ".join(map(str, plan.domain.published))
    return f" The guarantee does not cover tables that were taken as published before: {tables}." if tables else ""


def _own_delta(plan: Plan) -> str:
    """Return sentences, after a space, on learnt columns and on the part of delta that was reserved; "" without both."""
    aside = plan.shares.delta
    if plan.portions:
        texts = (
            f"For that probability {aside:g} of delta was set aside. The accountant's guarantee holds except with this probability"
            " (approximate zCDP, Bun and Steinke 2016, section 8; likewise for Gaussian differential privacy)."
        )
        return " " + " ".join((*sentences(plan), *([texts] if aside else [])))
    if not aside:
        return ""
    return (
        f" Half of delta, {aside:g}, was set aside for steps that are differentially private except with a probability of"
        " their own; the guarantee is approximate zCDP (Bun and Steinke 2016, section 8)."
    )


def brands(plan: Plan, total: float, private: bool, details: Mapping[str, Any]) -> Iterator[Brand]:
    """Yield the brands of a release: warnings that a reader needs before trusting it; nothing without warnings.

    Args:
        plan: The plan.
        total: The number of records, public or noisy.
        private: Whether the noise was private.
        details: The release's details, which describe the public table, because a recipient lacks
            that table.
    """
    spec = plan.spec
    if not private:
        yield Brand("not-private", NOT_PRIVATE)
    if spec.data.simulated:
        yield Brand("simulated", "The records are people invented by this program, so the release says nothing about anyone.")
    if domain_origin.from_data(spec):
        warning = "The domain was read from the private data, which no budget covers. The curator's reason: "
        yield Brand("domain-from-data", warning + spec.domain_justification.strip())
    if private_views.is_brand(spec.looks or ()) and (after_looking := _looks(spec).strip()):
        yield Brand("after-looking", after_looking)
    if spec.data.quoting == "standard":
        yield Brand("assumed-well-formed", _ASSUMED_WELL_FORMED)
    if (public := details.get("public_table")) is not None:
        table = f"{public['name']!r} ({public['rows']:,} rows, SHA-256 {public['sha256'][:16]})"
        nobody = "nothing here protects the people in it. The curator states that it may be used so."
        yield Brand("assumed-public", f"The table {table} was used as public: {nobody}")
    yield from _of_model(details)
    yield from _of_published(plan, details.get(OFF, 0.0))
    yield from _hangs_on(plan)
    for warning in check_budget(spec.budget.epsilon, spec.budget.delta, public_n=max(1, round(total))):
        yield Brand("budget", warning)
    if reason := weakness.sentence(spec.budget):
        yield Brand("budget", reason)
    if not plan.mechanism.card.makes_rows:
        output = "a rule" if isinstance(plan.mechanism, Learner) else "noisy marginals"
        yield Brand("answers-only", f"{plan.mechanism.card.title} gives {output} and no rows.")
    if (reading := details.get("best_mixture")) is not None:  # how well the public table resembles the private one
        verdict = "unchecked" if reading["error"] is None else "poor" if reading["poor"] else "checked"
        yield Brand(f"public-table-{verdict}", reading["sentence"])


def _of_model(details: Mapping[str, Any]) -> Iterator[Brand]:
    """Yield warnings that the model contradicts measured tables, or that columns were not measured."""
    if unfitted := details.get(MISFITS):
        yield Brand("misfit", misfit_sentence(unfitted))
    if unmeasured := details.get(UNSEEN):
        yield Brand("unmeasured-columns", unseen_sentence(unmeasured))


def misfit_sentence(tables: Sequence[str]) -> str:
    """Return a warning that the rows contradict these noisy tables.

    Args:
        tables: The tables in words, at least one; only the first is named.
    """
    more = f" and {len(tables) - 1:,} more" if len(tables) > 1 else ""
    fits = f"The model that made the rows does not fit the noisy table {tables[0]!r}{more}"
    return f"{fits}: noise explains so large a distance at most once in a million runs. Use the noisy tables instead of the rows there."


def unseen_sentence(columns: Sequence[str]) -> str:
    """Return a warning that these columns, at least one, are in no measured table."""
    which = f"Column {columns[0]!r} is" if len(columns) == 1 else f"Columns {', '.join(map(repr, columns))} are"
    whose = "its" if len(columns) == 1 else "their"
    return f"{which} in no measured table: {whose} values are uniform and say nothing of the data. Allow more rounds, or use AIM."


def _of_published(plan: Plan, off: float) -> Iterator[Brand]:
    """Yield warnings on the published tables that the plan took as known.

    Args:
        plan: The plan.
        off: The largest error of a cell of these tables in the rows, as a number of rows.
    """
    for known in plan.domain.published:
        unprotected = "Nothing here protects what that table says, and the guarantee is for what it leaves open"
        yield Brand("assumed-published", f"The curator states that this table was published: {known}. {unprotected}.")
    if off > len(plan.domain.published):
        why = "which is more than rounding: they do not quite hold together, or not with what is impossible"
        yield Brand("published-off", f"Cells of published tables are off by up to {off:,.3g} rows, {why}.")


def _hangs_on(plan: Plan) -> Iterator[Brand]:
    """Yield warnings on conditions of the guarantee that the program cannot check."""
    if package := plan.mechanism.card.package:
        whose = f"The mechanism is of the package {package}, which is not part of this program"
        by = "that it learns of the records by the kernel's noisy answers alone is its authors' word"
        yield Brand("foreign-mechanism", f"{whose}: {by}.")
    if condition := plan.condition:
        yield Brand("conditional", f"The guarantee has a condition. {condition}")


def interrupted_brand(tables: int, answers: Sequence[RecordedAnswer]) -> Brand:
    """Return the warning that the run ended early, or that its rows are left out.

    Args:
        tables: Number of noisy tables in the release.
        answers: The transcript, whose sums of roots are counted.
    """
    roots = sum(answer.operation == "measure_roots" for answer in answers)
    held = "one noisy table" if tables == 1 else f"{tables:,} noisy tables"
    held += f" and, in its transcript, {roots:,} sums of roots" if roots else ""
    return Brand(INTERRUPTED, f"The run was interrupted, or its rows are left out: this release holds {held} that it had measured.")


def unmeasured_brands(plan: Plan, claims: Mapping[str, Any]) -> Iterator[Brand]:
    """Yield warnings on claims that were never measured although a share of the budget was reserved for them.

    Args:
        plan: The plan.
        claims: The statement of each claim, by the claim's name.
    """
    for claim in CLAIMS:
        if sentence := claim.lacks(plan, claims[claim.name]):
            yield Brand(claim.brand, sentence)


def public_details(public: PublicTable | None) -> dict[str, Any]:
    """Return the public table's name, SHA-256 and number of rows for `Release.details`, under "public_table"; empty without one."""
    return {} if public is None else {"public_table": {"name": public.name, "sha256": public.digest, "rows": public.rows}}


def row_policy(plan: Plan, total: float) -> str:
    """Return a phrase on how the number of synthetic rows was chosen.

    Args:
        plan: The plan.
        total: The number of records, noisy or public.
    """
    if not plan.mechanism.card.makes_rows:
        return "no rows: this mechanism gives answers only"
    if plan.spec.output.rows is not None:
        return "as many rows as the spec asks for"
    records = "records" if plan.link is None else plan.link.words.records
    if round(total) > plan.most_unstated_rows:
        return f"the most that are written where no number is stated; the number of {records} is given as {total:,.0f}"
    return f"the number of {records}, which is public" if plan.unit.total_is_public else f"the noisy estimate of the number of {records}"
