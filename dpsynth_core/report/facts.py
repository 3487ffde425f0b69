"""What both documents of a release state, as plain text: the headline, the facts, how to read the rows, what is not protected."""

from __future__ import annotations

from collections.abc import Sequence

from dpsynth_core.evaluation.certificate import ANSWERS, Certificate
from dpsynth_core.evaluation.comparison import Headline
from dpsynth_core.release import Release

READING = (
    "The rows are invented. No row is a person, and a row that looks like one is chance.",
    "Counts are noisy. A difference smaller than the noise of its table means nothing.",
    "Tables marked “not measured” got no noisy counts of their own: what the rows say there is the model's guess.",
    "Numbers inside a bin are drawn evenly from it; do not read anything into the digits.",
    "Small groups are the least reliable. Add cells up before you conclude.",
)

NOT_PROTECTED = (
    "What is true of the whole population is learnt on purpose, and can be held against a member of it.",
    "Facts about groups: the guarantee is for one person (see neighbouring tables), not for a family or a firm.",
    "Other copies of the data, earlier releases elsewhere, and anything published without noise.",
    "The domain, the workload and the budget: they are public.",
)


_ORIGIN = {
    "typed": "typed by the curator",
    "codebook": "a codebook",
    "public": "a public table",
    "data": "the private table itself (see the warnings)",
}


def sentence(headline: Headline) -> str:
    """How good the rows are, in a few short sentences. The table's name in it is hostile text."""
    tables, checked = f"{headline.tables:,}", headline.checked
    if not checked:
        return f"None of the {tables} tables asked for was measured: every number is the model's guess."
    unmeasured = headline.tables - checked
    guess = f" {unmeasured:,} of the {tables} tables were not measured: there the rows are the model's guess." if unmeasured else ""
    doubt = (
        f"The least certain is {headline.worst_table}, where {headline.worst:.1%} of people may be in a wrong cell;"
        f" on average over these tables it is {headline.mean:.1%}.{guess}"
    )
    if not headline.has_rows:
        return f"{checked:,} of the {tables} tables asked for were measured. {doubt}"
    share = "all" if headline.matched == checked else f"{headline.matched:,} of the"
    return f"The synthetic rows follow {share} {checked:,} measured tables as closely as the noise allows. {doubt}"


def facts(release: Release) -> list[tuple[str, str]]:
    """What a reader asks first, as pairs of name and text."""
    spec = release.spec
    budget, unit = spec["budget"], spec["unit"]
    return [
        ("Population", spec["population"]),
        ("Synthetic rows", f"{release.rows:,} ({release.row_policy})" if release.rows else "none: answers only"),
        ("Columns", f"{len(release.domain)}"),
        (
            "Privacy budget",
            f"epsilon {budget['epsilon']:g}, delta {budget['delta']:g} (zCDP rho {release.rho:.6g}, spent {release.rho_spent:.6g})",
        ),
        ("Neighbouring tables", f"{unit['relation']}; at most {unit['max_rows_per_person']} row(s) per person"),
        ("Mechanism", spec["mechanism"]["name"]),
        ("Measurements", f"{len(release.measurements):,} noisy marginals"),
        ("Certificate", certified(release)),
        ("Where the domain came from", _ORIGIN[spec["domain_origin"]]),
        ("Made", release.created),
        ("SHA-256 of the spec", release.digest),
    ]


def certified(release: Release) -> str:
    """What the certificate says, in a few short sentences."""
    if release.certificate is None:
        return "none: no budget was set aside to measure the errors"
    said = Certificate.from_json(release.certificate)
    what = "answers" if said.of == ANSWERS else "synthetic rows"
    sample = ""
    if said.sample is not None:
        share = min(1.0, said.sample / said.total.value)
        sample = f" That is as accurate as publishing a random {said.sample:,.0f} of the records would be ({share:.0%} of them)."
    mean, most = max(0.0, said.mean_error) / 2, said.mean_bound95 / 2
    return (
        f"{release.spec['budget']['certificate']:.0%} of the budget measured how far the {what} are from the private table: on average"
        f" over the {len(said.marginals):,} tables, {mean:.1%} of people are in a wrong cell; with 95 % confidence, {most:.1%} at most."
        f"{sample}"
    )


def first(labels: Sequence[str], limit: int = 6) -> str:
    """The first labels, and a sign that there are more."""
    return ", ".join(labels[:limit]) + (", …" if len(labels) > limit else "")
