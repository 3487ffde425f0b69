"""The verdict on a release in words: one of three sentences, why, what for and what not for, and whether a simpler way was better."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpsynth_core.evaluation.quality import GAUSSIAN, INDEPENDENT, RESIDUALS
from dpsynth_core.evaluation.unread import Unread
from dpsynth_core.evaluation.verdict import LIMIT, MISFIT, MOSTLY, NOISE, PARTLY, PUBLISH, UNREAD, UNSHOWN, Purpose, Simpler, Verdict
from dpsynth_core.statistics.distances import percent
from dpsynth_core.vocabulary import names

REMEDIES = {
    UNREAD: "Say how the table writes such a column, or list its values: a larger budget would not help.",
    MISFIT: "The model does not fit all that was measured, which no larger budget mends: try another mechanism, and report it to us.",
    NOISE: "Fewer tables, fewer or wider groups, or a larger budget would help.",
}
"""What would help, by the cause of a verdict."""
_TABLES_NAMED = 4
_PURPOSES_NAMED = 8
_CRITERIA_NAMED = 4
_COLUMNS_NAMED = 4
TRIALS = "in trials with 3,000 people at epsilon 1, 21 of 541 tables called so were not"
"""`benchmarks/naming.py`. A test compares with its results."""
_NEAR = f"within {LIMIT:.0%} of the way from the people's to the nearer bound"
_GROUPS = "Single tables could not be measured closely enough: their errors are an indication. It was measured how far off most are."
_WAYS = {
    INDEPENDENT: "columns alone (Independent)",
    GAUSSIAN: "noisy answers (Gaussian, no rows)",
    RESIDUALS: "noisy answers (ResidualPlanner, no rows)",
}


def ruling(verdict: Verdict, most: int = _PURPOSES_NAMED) -> str:
    """Return the one sentence that a curator must decide by. Names of columns in it are hostile text; at most so many are named."""
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
    """Return what a release with unread columns is not for; "" where all columns were read."""
    columns = _listed([f"“{one.column}”" for one in verdict.unread], most)
    return f"what needs {columns}, which {'was' if len(verdict.unread) == 1 else 'were'} not read" if columns else ""


def _musts(verdict: Verdict) -> str:
    """Return how many required criteria are not met, or not shown to be met; "" if all are met."""
    numbers = {"Not met": len(verdict.failed), "not shown": len(verdict.unmeasured) + len(verdict.undecided)}
    counts = [f"{what}: {number:,}" for what, number in numbers.items() if number]
    if not counts:
        return ""
    said = " and ".join(counts) + f" of its {verdict.musts:,} musts" if verdict.musts > 1 else f"{counts[0][:-3]}: its only must"
    return f"{said[0].upper()}{said[1:]}."


def reasons(verdict: Verdict) -> str:
    """Why, in a few short sentences. Names in them are hostile text."""
    if not verdict.private:
        return "Its noise is predictable and protects nobody."
    said = []
    if verdict.failed:
        said.append(f"It does not meet what was fixed beforehand as a must: {_listed(verdict.failed, _CRITERIA_NAMED)}.")
    if verdict.unmeasured:
        named = _listed(verdict.unmeasured, _CRITERIA_NAMED)
        said.append(f"The release holds nothing that was measured of this, although a must: {named}.")
    if verdict.despite:
        said.append("It is published all the same, for a reason that the curator gives below.")
    if verdict.undecided:
        said.append(f"Not decided, because of the noise, although a must: {_listed(verdict.undecided, _CRITERIA_NAMED)}.")
    said += not_read(verdict.unread)
    return " ".join((*said, _tables(verdict), *_distances(verdict)))


def _distances(verdict: Verdict) -> list[str]:
    """Return a sentence about the pairs of columns whose distance the rows do not keep; none without such a pair."""
    if not verdict.apart:
        return []
    pairs = _listed([f"“{first}” and “{second}”" for first, second in verdict.apart], _PURPOSES_NAMED)
    return [f"Not for how far apart these are, of which the rows keep the order: {pairs}."]


def not_read(unread: Sequence[Unread]) -> list[str]:
    """Return a sentence about each of the first unread columns, and one about how many more there are. Names are hostile text."""
    said = []
    for one in unread[:_COLUMNS_NAMED]:
        where = f"Column “{one.column}” was not read: nearly all of it is other or missing"
        known = f"at most {one.at_most:.0%} of the people have one of its values" if one.is_sure else "noise hides how much the table holds"
        said.append(f"{where}; {known}.")
    more = len(unread) - _COLUMNS_NAMED
    return [*said, f"{more:,} more columns were not read."] if more > 0 else said


def _advice(verdict: Verdict) -> str:
    """Return what would help, by the causes of the verdict; "" where nothing has to."""
    return " ".join(REMEDIES[cause] for cause in verdict.causes)


def despite(verdict: Verdict) -> str:
    """Return the curator's reason to publish in spite of a criterion, or "".

    It is a paragraph of its own, because it is hostile text and could be read as ours beside our sentences.
    """
    return f"The curator's reason to publish it all the same: {verdict.despite}" if verdict.despite else ""


def _tables(verdict: Verdict) -> str:
    if verdict.says_nothing and not math.isnan(verdict.noise):  # that of the certificate is as large as the table
        among = f"about {verdict.people:,.0f} {verdict.who}, and noise of ± {verdict.noise:,.0f} in the number that is in the wrong group"
        return f"Nothing can be said of the tables: {among}. {REMEDIES[NOISE]}"
    if not verdict.bounded:
        return f"Nothing that was released says how far any of the {verdict.tables:,} tables is off. Set budget aside for a certificate."
    every = verdict.private and all(purpose.holds for purpose in verdict.sizes)
    good_enough = every and not verdict.unread and MISFIT not in verdict.causes  # then a criterion decided
    advice = "" if good_enough else f" {_advice(verdict)}".rstrip()
    if most := [purpose for purpose in verdict.sizes if not math.isnan(purpose.at_most)]:
        return f"{_GROUPS} {' '.join(map(line, most))}{advice}"
    trials = f"; {TRIALS}" if verdict.who == "people" else ""  # of one table
    enough = f"(at most {LIMIT:.0%} of the {verdict.who} counted in the wrong group{trials})"
    return f"{_count(verdict)} good enough {enough}.{_others(verdict)}{advice}"


def _others(verdict: Verdict) -> str:
    """Return the good tables if they are few, the ones that are not good enough, and the undecided ones."""
    only = f" Only these: {_listed(verdict.good, _TABLES_NAMED)}." if 0 < 2 * verdict.within < verdict.tables else ""
    poor = f" Not good enough: {_listed(verdict.poor, _TABLES_NAMED)}." if verdict.poor and verdict.tables > 1 else ""
    untold = f"{len(verdict.unknown):,} tables" if len(verdict.unknown) > _TABLES_NAMED else _listed(verdict.unknown, _TABLES_NAMED)
    unknown = f" Not measured closely enough to tell: {untold}." if verdict.unknown else ""
    return f"{only}{poor}{unknown}"


def _count(verdict: Verdict) -> str:
    if verdict.tables == 1:
        return f"The one table asked for is{'' if verdict.within else ' not' if verdict.poor else ' not known to be'}"
    which = {0: "None", verdict.tables: "All"}.get(verdict.within, f"{verdict.within:,}")
    of = f"{which} {verdict.tables:,}" if verdict.within == verdict.tables else f"{which} of the {verdict.tables:,}"
    return f"{of} tables asked for {'is' if verdict.within < 2 else 'are'}"


def comparison(verdict: Verdict) -> str:
    """Return one or two sentences on whether a simpler mechanism would have been better; "" if that is not known."""
    better = [way for way in verdict.simpler if way.better]
    if better:
        best = min(better, key=lambda way: way.error)
        put = _error_of(best, verdict.who)
        if best.surely:
            return f"A simpler way would have done better: {put} on average; here, {percent(best.ours)} was measured."
        untold = "Whether a simpler way would have done as well was not measured closely enough to tell"
        return f"{untold}: {put} on average; here, {percent(best.ours)} was measured."
    alone = next((way for way in verdict.simpler if way.series == INDEPENDENT), None)
    if alone is None:
        return ""
    how = "would have done worse" if alone.surely else "look worse, but it was not measured closely enough to be sure"
    return f"Columns alone {how}: {_error_of(alone, verdict.who)} on average; here, {percent(alone.ours)} was measured."


def fit_for(verdict: Verdict) -> list[str]:
    """Return in sentences what the release is good enough for."""
    near = [name for name, is_near in verdict.means if is_near]
    means = [f"The mean of {_listed(near, _PURPOSES_NAMED)}: {_NEAR}."] if near else []
    return [*(line(purpose) for purpose in _purposes(verdict) if purpose.holds), *means] if verdict.private else []


def unfit_for(verdict: Verdict) -> list[str]:
    """Return in sentences what the release is not shown to be good enough for."""
    undecided = [*verdict.unmeasured, *verdict.undecided]
    musts = [(verdict.failed, "is not met"), (undecided, "is not shown")]
    unmet = [f"What rests on a must that {how}: {_listed(named, _CRITERIA_NAMED)}." for named, how in musts if named]
    untold = [name for name, is_near in verdict.means if is_near is None]
    off = [(verdict.off, f"surely not {_NEAR}"), (untold, "not measured closely enough to tell")]
    unmet += [f"What needs “{one.column}”: it was not read." for one in verdict.unread]
    kept = "the rows keep their order, and the distance only as finely as their groups"
    unmet += [f"How far apart “{first}” and “{second}” are: {kept}." for first, second in verdict.apart]
    unmet += [f"The mean of {_listed(named, _PURPOSES_NAMED)}: {how}." for named, how in off if named]
    return [*unmet, *(line(purpose) for purpose in _purposes(verdict) if not purpose.holds or not verdict.private)]


def _purposes(verdict: Verdict) -> tuple[Purpose, ...]:
    return (*verdict.sizes, *verdict.columns)


def _sizes(verdict: Verdict) -> str:
    return "single columns" if verdict.largest == 1 else f"tables of up to {names.in_letters(verdict.largest)} columns"


def line(purpose: Purpose) -> str:
    """Return how many tables of a purpose are good enough, or the error of most. The name of a column in it is hostile text."""
    if not math.isnan(purpose.at_most):
        far = f"at most {percent(purpose.at_most)} of the people are in the wrong group, with 95% confidence"
        return f"{_noun(purpose)}: in {MOSTLY:.0%} of the {purpose.tables:,}, {far}; {percent(purpose.error)} was measured."
    return f"{_noun(purpose)}: {purpose.within:,} of {purpose.tables:,} are good enough."


def _noun(purpose: Purpose) -> str:
    return names.of_columns(purpose.size) if purpose.size else names.with_column(purpose.name)


def _error_of(way: Simpler, who: str) -> str:
    span = f" ({percent(way.low)} to {percent(way.high)}, 95%)" if way.low < way.high else ""
    return f"{_WAYS[way.series]} would put {percent(way.error)}{span} of the {who} into the wrong group"


def _listed(names: Sequence[str], most: int) -> str:
    more = len(names) - most
    return "; ".join(names[:most]) + (f"; and {more:,} more" if more > 0 else "")
