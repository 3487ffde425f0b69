"""The verdict on a release in words: one of three sentences, why, what for and what not for, and whether a simpler way was better."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpsynth_core.evaluation.quality import GAUSSIAN, INDEPENDENT, RESIDUALS
from dpsynth_core.evaluation.unread import Unread
from dpsynth_core.evaluation.verdict import LIMIT, MISFIT, MOSTLY, NOISE, PARTLY, PUBLISH, UNREAD, UNSHOWN, Purpose, Simpler, Verdict
from dpsynth_core.foundation.visible import shortened
from dpsynth_core.statistics.distances import percent
from dpsynth_core.vocabulary import names

REMEDIES = {
    UNREAD: "Say how the table writes such a column, or list its values. A larger budget would not help.",
    MISFIT: "The model does not fit all noisy tables. A larger budget does not mend that. Try another mechanism, and report it to us.",
    NOISE: "Fewer tables, fewer or wider groups, or a larger budget would help.",
}
"""What would help, by the cause of a verdict."""
_TABLES_NAMED = 4
_PURPOSES_NAMED = 8
_CRITERIA_NAMED = 4
_COLUMNS_NAMED = 4
_LONGEST_LABEL = 40
TRIALS = "In trials with 3,000 people at epsilon 1, 21 of 541 tables that were called good enough were not."
"""How often the rule was wrong, as a whole sentence: it is about trials, and beside a verdict it would pass for a doubt about this release.
`benchmarks/naming.py`. A test compares with its results."""
_ROOM = f"{LIMIT:.0%} of the distance from the people's mean to the nearer bound of the column"
_GROUPS = "The noise is too large to judge single tables: their errors are indications. The error that most tables stay below was measured."
_WAYS = {
    INDEPENDENT: "Columns alone (Independent)",
    GAUSSIAN: "Noisy answers (Gaussian, no rows)",
    RESIDUALS: "Noisy answers (ResidualPlanner, no rows)",
}


def ruling(verdict: Verdict, most: int = _PURPOSES_NAMED) -> str:
    """Return the verdict's first sentence, by which a curator decides whether and for what to publish.

    Column names in it are hostile text.

    Args:
        verdict: The verdict.
        most: How many purposes or columns are named at most; others are counted.
    """
    if verdict.kind == PUBLISH:
        return f"Publish for {_sizes(verdict)}."
    if verdict.kind == PARTLY:
        means = f"the mean of {_listed(verdict.off, most)}" if verdict.off else ""
        exceptions = " and not for ".join(filter(None, (_unread(verdict, most), means)))
        if all(purpose.holds for purpose in verdict.sizes):
            return f"Publish for {_sizes(verdict)}, but not for {exceptions}."
        nouns = [_noun(purpose) for purpose in verdict.columns if purpose.holds]
        held = ([_sizes(verdict)] if verdict.largest else []) + [noun[0].lower() + noun[1:] for noun in nouns]
        return f"Publish for these purposes only: {_listed(held, most)}.{f' Not for {exceptions}.' if exceptions else ''}"
    if verdict.kind == UNSHOWN:
        return _musts(verdict)
    return f"Do not publish this as it is. {_musts(verdict)}".strip()


def _unread(verdict: Verdict, most: int) -> str:
    """Return words for the uses that unread columns exclude; "" if all columns were read.

    At most `most` columns are named.
    """
    columns = _listed([f"“{one.column}”" for one in verdict.unread], most)
    were = "was" if len(verdict.unread) == 1 else "were"
    how = "may not have been read" if any(one.shared_with for one in verdict.unread) else f"{were} not read"
    return f"anything that uses {columns}, which {how}" if columns else ""


def _musts(verdict: Verdict) -> str:
    """Return how many required criteria are not met, or not shown to be met; "" if all are met."""
    numbers = {"not met": len(verdict.failed), "not shown to be met": len(verdict.unmeasured) + len(verdict.undecided)}
    unmet = {what: number for what, number in numbers.items() if number}
    if not unmet:
        return ""
    if verdict.musts == 1:
        return f"Its only required criterion is {next(iter(unmet))}."
    counts = " and ".join(f"{number:,} {'is' if number == 1 else 'are'} {what}" for what, number in unmet.items())
    return f"Of its {verdict.musts:,} required criteria, {counts}."


def reasons(verdict: Verdict) -> str:
    """Return the reasons of the verdict in a few short sentences, and what would help. Names in them are hostile text.

    At most four tables, criteria or unread columns are named in a sentence; the others are counted.
    """
    if not verdict.private:
        return "Its noise is predictable and protects nobody."
    said = []
    if verdict.failed:
        said.append(f"It does not meet what its plan requires: {_listed(verdict.failed, _CRITERIA_NAMED)}.")
    if verdict.unmeasured:
        named = _listed(verdict.unmeasured, _CRITERIA_NAMED)
        said.append(f"Its plan requires this, but the release holds no measurement of it: {named}.")
    if verdict.despite:
        said.append("It is published all the same. The curator gives a reason below.")
    if verdict.undecided:
        said.append(f"Its plan requires this, but the noise leaves it undecided: {_listed(verdict.undecided, _CRITERIA_NAMED)}.")
    said += not_read(verdict.unread)
    return " ".join((*said, _tables(verdict), *_distances(verdict)))


def _distances(verdict: Verdict) -> list[str]:
    """Return a sentence on pairs of columns whose order rows keep but whose distance they do not.

    The list is empty without such pairs.
    """
    if not verdict.apart:
        return []
    pairs = _listed([f"“{first}” and “{second}”" for first, second in verdict.apart], _PURPOSES_NAMED)
    return [f"The rows keep the order of these columns, but not how far apart they are: {pairs}."]


def not_read(unread: Sequence[Unread]) -> list[str]:
    """Return a sentence about each of the first 4 unread columns, and one with the number of others.

    Names are hostile text. The list is empty if all columns were read.
    """
    said = []
    for one in unread[:_COLUMNS_NAMED]:
        where, value = f"Column “{one.column}” was not read: nearly all of its values are “other” or “missing”", "one of its values"
        if one.shared_with:
            counts = f"nearly all of its values count as “{shortened(one.shared_with, _LONGEST_LABEL)}”, as values outside its list do"
            where, value = f"Column “{one.column}” may not have been read: {counts}", "another of its values"
        known = f"at most {one.at_most:.0%} of the people have {value}" if one.is_sure else f"noise hides how many people have {value}"
        said.append(f"{where}; {known}.{' A cell for “other” would show whether it was read.' if one.shared_with else ''}")
    more = len(unread) - _COLUMNS_NAMED
    return [*said, f"{more:,} more {'column was' if more == 1 else 'columns were'} not read."] if more > 0 else said


def _advice(verdict: Verdict) -> str:
    """Return the remedies for the causes of the verdict; "" if it has no cause."""
    return " ".join(REMEDIES[cause] for cause in verdict.causes)


def despite(verdict: Verdict) -> str:
    """Return a sentence that introduces and quotes the curator's reason to publish all the same.

    "" without a reason. The reason is about a required criterion that failed or was not measured.
    It is hostile text, not escaped, and could pass for a sentence of this program: put the result
    in a paragraph of its own.
    """
    return f"The curator gave this reason to publish it all the same: {verdict.despite}" if verdict.despite else ""


def _tables(verdict: Verdict) -> str:
    if verdict.says_nothing and not math.isnan(verdict.noise):  # that of the certificate is as large as the table
        among = f"it is about {verdict.people:,.0f} {verdict.who}, and the noise of each error is ± {verdict.noise:,.0f}"
        return f"The release cannot say how good the tables are: {among}. {REMEDIES[NOISE]}"
    if not verdict.bounded:
        return f"The release does not bound the errors of the {verdict.tables:,} tables. Set aside a share of the budget for a certificate."
    every = verdict.private and all(purpose.holds for purpose in verdict.sizes)
    good_enough = every and not verdict.unread and MISFIT not in verdict.causes  # then a criterion decided
    advice = "" if good_enough else f" {_advice(verdict)}".rstrip()
    if most := [purpose for purpose in verdict.sizes if not math.isnan(purpose.at_most)]:
        return f"{_GROUPS} {' '.join(map(line, most))}{advice}"
    enough = f"(at most {LIMIT:.0%} of the {verdict.who} counted in the wrong group)"
    return f"{_count(verdict)} good enough {enough}.{_others(verdict)}{advice}"


def _others(verdict: Verdict) -> str:
    """Return sentences on good tables if these are few, then on poor and undecided tables.

    Each begins with a space and names the first `_TABLES_NAMED` tables, unescaped; many undecided
    tables are only counted.
    """
    only = _these("good enough", verdict.good) if 0 < 2 * verdict.within < verdict.tables else ""
    poor = _these("not good enough", verdict.poor) if verdict.poor and verdict.tables > 1 else ""
    unknown = _these("not measured closely enough to tell", verdict.unknown, ("was", "were"))
    if len(verdict.unknown) > _TABLES_NAMED:
        unknown = f" {len(verdict.unknown):,} tables were not measured closely enough to tell."
    return f"{only}{poor}{unknown}"


def _these(what: str, tables: Sequence[str], verbs: tuple[str, str] = ("is", "are")) -> str:
    """Return a sentence, after a space, that names the first `_TABLES_NAMED` tables, unescaped.

    It is "" without tables.

    Args:
        what: The words about the tables, such as "good enough".
        tables: The names of the tables.
        verbs: The verb for one table and for several.
    """
    which = f"This table {verbs[0]}" if len(tables) == 1 else f"These tables {verbs[1]}"
    return f" {which} {what}: {_listed(tables, _TABLES_NAMED)}." if tables else ""


def _count(verdict: Verdict) -> str:
    if verdict.tables == 1:
        return f"The one table asked for is{'' if verdict.within else ' not' if verdict.poor else ' not known to be'}"
    which = {0: "None", verdict.tables: "All"}.get(verdict.within, f"{verdict.within:,}")
    of = f"{which} {verdict.tables:,}" if verdict.within == verdict.tables else f"{which} of the {verdict.tables:,}"
    return f"{of} tables asked for {'is' if verdict.within < 2 else 'are'}"


def comparison(verdict: Verdict) -> str:
    """Return one or two sentences on whether a simpler mechanism would have been better; "" if that is not known.

    If several would have been, they name the one with the smallest error.
    """
    better = [way for way in verdict.simpler if way.better]
    if better:
        best = min(better, key=lambda way: way.error)
        put = _error_of(best, verdict.who)
        if best.surely:
            return f"A simpler mechanism would have been better. {put} on average; {percent(best.ours)} was measured here."
        untold = "The noise is too large to tell whether a simpler mechanism would have been as good"
        return f"{untold}. {put} on average; {percent(best.ours)} was measured here."
    alone = next((way for way in verdict.simpler if way.series == INDEPENDENT), None)
    if alone is None:
        return ""
    how = "would have been worse" if alone.surely else "look worse, but the noise is too large to be sure"
    return f"Columns alone {how}. {_error_of(alone, verdict.who)} on average; {percent(alone.ours)} was measured here."


def fit_for(verdict: Verdict) -> list[str]:
    """Return sentences on what the release is good enough for, with unescaped names.

    Of more than eight means, eight columns are named and the others are counted. The list is empty if the release
    is shown to be good enough for nothing, or if it is not private.
    """
    near = [_mean_of(verdict, name) for name, is_near in verdict.means if is_near]
    means = [f"The mean of {_listed(near, _PURPOSES_NAMED)}: it is off by at most {_ROOM}."] if near else []
    return [*(line(purpose) for purpose in _purposes(verdict) if purpose.holds), *means] if verdict.private else []


def _mean_of(verdict: Verdict, name: str) -> str:
    """Return the name of a column whose mean is spoken of, with the bounds that its values were cut to."""
    return f"{name} ({verdict.cut[name]})" if name in verdict.cut else name


def unfit_for(verdict: Verdict) -> list[str]:
    """Return sentences on what the release is not shown to be good enough for.

    Names in them are unescaped; of more than four criteria or eight means, the others are counted. If the
    release is not private, the sentences also list what it would be good enough for.
    """
    undecided = [*verdict.unmeasured, *verdict.undecided]
    musts = [(verdict.failed, "is not met"), (undecided, "is not shown to be met")]
    unmet = [f"Uses that rely on a required criterion that {how}: {_listed(named, _CRITERIA_NAMED)}." for named, how in musts if named]
    untold, surely = ([_mean_of(verdict, name) for name, is_near in verdict.means if is_near is wanted] for wanted in (None, False))
    off = [(surely, f"it is surely off by more than {_ROOM}"), (untold, "it was not measured closely enough to tell")]
    doubts = [(one.column, "may not have been read" if one.shared_with else "was not read") for one in verdict.unread]
    unmet += [f"Anything that uses “{column}”, which {doubt}." for column, doubt in doubts]
    kept = "the rows keep their order, but their distance only as finely as their groups"
    unmet += [f"How far apart “{first}” and “{second}” are: {kept}." for first, second in verdict.apart]
    unmet += [f"The mean of {_listed(named, _PURPOSES_NAMED)}: {how}." for named, how in off if named]
    return [*unmet, *(line(purpose) for purpose in _purposes(verdict) if not purpose.holds or not verdict.private)]


def _purposes(verdict: Verdict) -> tuple[Purpose, ...]:
    return (*verdict.sizes, *verdict.columns)


def _sizes(verdict: Verdict) -> str:
    return "single columns" if verdict.largest == 1 else f"tables of up to {names.in_letters(verdict.largest)} columns"


def line(purpose: Purpose) -> str:
    """Return how many tables of a purpose are good enough, as a sentence.

    If groups of tables were measured, it states instead a bound on the error of most tables. The
    name of a column in it is hostile text.
    """
    if not math.isnan(purpose.at_most):
        far = f"at most {percent(purpose.at_most)} of the people are in the wrong group, with 95% confidence"
        return f"{_noun(purpose)}: in {MOSTLY:.0%} of the {purpose.tables:,} tables, {far}; {percent(purpose.error)} was measured."
    return f"{_noun(purpose)}: {purpose.within:,} of {purpose.tables:,} are good enough."


def _noun(purpose: Purpose) -> str:
    return names.of_columns(purpose.size) if purpose.size else names.with_column(purpose.name)


def _error_of(way: Simpler, who: str) -> str:
    span = f" ({percent(way.low)} to {percent(way.high)}, 95%)" if way.low < way.high else ""
    return f"{_WAYS[way.series]} would put {percent(way.error)}{span} of the {who} into the wrong group"


def _listed(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return "; ".join(names[:most]) + (f"; and {more:,} more" if more > 0 else "")
