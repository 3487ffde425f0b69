"""The quality of each table on the Results page: the verdict, the headline, the trustworthy tables, the charts and the list.

The page shows released values only, unless the curator asks for true errors on this screen.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dpsynth_core import charts, report
from dpsynth_core.evaluation import quality
from dpsynth_core.evaluation.against_bounds import against, drawable, known
from dpsynth_core.evaluation.quality import GUESS, INFERRED, Headline
from dpsynth_core.evaluation.verdict import LIMIT, PARTLY, PUBLISH, UNSHOWN, WITHHOLD, Verdict
from dpsynth_core.foundation.zones import Zone, Zoned, combine
from dpsynth_core.inference.households import told_kinds, told_titles
from dpsynth_core.release import tables as several
from dpsynth_core.report import percent
from dpsynth_core.report.facts import EACH, PICKED, counted, on_trials
from dpsynth_core.report.verdict import TRIALS
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.mechanism import outlook_view
from dpsynth_core.web.results import claims_view, results_view, wall_view
from dpsynth_core.web.results.open_runs import OpenRun, curator_toggle, judged, truth_for
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.figures import show
from dpsynth_core.web.shell.text import literal, names

ERROR_HELP = "People in the wrong group would have to move to another cell for the table to agree with the private one."
VERDICT_HELP = (
    f"A table is good enough if at most {LIMIT:.0%} of the people are counted in the wrong group. A survey of 1,600 people gives about "
    "that for a table of a hundred cells. Report, data card and the page Verify use the same rule."
)
LARGEST_HELP = "Any one {} holds a share of people that differs from the private table's by no more than this share of all people."
_RESIDUALS_HELP = "The expected error of ResidualPlanner on this budget. It gives the least noisy unbiased answers."
_KINDS = {"all": "All", "good": "Good enough", "poor": "Not good enough", "inferred": "Not measured"}
_KNOWN_HELP = (
    "“measured”: counted with noise by the mechanism, in a table that contains it. “inferred”: worked out by the model from what "
    "else was measured. “not bounded”: the noisy tables alone bound nothing about it."
)
_ERROR_KNOWN_HELP = "The best estimate from all measured errors. It draws each error towards those of tables of the same size."
_TOGETHER_HELP = (
    "Each bound by itself holds with 95% confidence. The bounds rest on the same noise, so several can be wrong together. “All together” "
    "is stricter: all bounds hold at once."
)
_ERRORS, _AGAINST, _SCATTER = "Errors", "Against bounds and baselines", "Bound against error"
EVERY_TABLE = "every_table"
_NAMED = 20
"""The most tables that are drawn with their names at once."""
_PURPOSES_SHOWN = 2


def tables(opened: OpenRun) -> None:
    """Draw what is known of a release's quality.

    These are the learnt rule, the verdict with the downloads it allows and the changes of the plan that would
    help, the claims, the headline, and every table of the workload, the worst first; each only if the release has
    it. Switches read the private table and record the look: true errors, and models of the real rows.
    """
    if rule := report.learnt(opened.release):  # if that is what the run was for
        with frame.card("What was learnt", Zone.RELEASED):
            st.markdown(f"##### {literal(rule, 2000)}")
            st.markdown(literal(report.goodness(opened.release.details["rule"]), 600))
            st.caption(literal(opened.release.details["rule"]["guarantee"], 300))
    if opened.release.further:
        st.caption(literal(several.explained(1 + len(opened.release.further)), 800))
    judgement = judged(opened)
    if (verdict := judgement.value.verdict) is not None:
        lost = nothing_learnt(opened.release.domain)
        _verdict(verdict, counted(opened.release.spec), lost, on_trials(opened.release, TRIALS))
        outlook_view.after(verdict, judgement.value.headline, opened.release.plan)
        if verdict.kind != WITHHOLD and not opened.release.withheld:
            results_view.whole_release(opened)
        with st.container(border=True):
            wall_view.draw(opened)
    claims_view.cards(opened.release)
    claims_view.real_models(opened)
    head, table = combine(lambda q: q.headline, judgement), combine(lambda q: q.table, judgement)
    with frame.card("How large are the errors?", Zone.RELEASED):
        st.markdown(literal(report.sentence(head.value), 1000), help=f"{ERROR_HELP} {_largest_help(head.value.threshold)}")
    if (link := opened.release.plan.link) is not None:
        names = {kind: title for kind, (title, _) in told_titles(link).items()}
        made = opened.release.members
        with st.container(border=True):
            show(charts.by_kind, quality.of_kinds(table, told_kinds(link)), LIMIT, names, link.words.households, name="by_kind")
            read = several.explained_members(None if made is None else made.num_rows, opened.release.plan.records_each, link.words)
            st.caption(literal(read, 800))
    _every_table(opened, head, table)


def _every_table(opened: OpenRun, head: Zoned[Headline], table: Zoned[pd.DataFrame]) -> None:
    """Draw each table with its error, as charts and as a list, and simpler ways, once the expander is opened.

    If the curator switched true errors on, they are added, and the frame becomes curator-only.

    Args:
        opened: The run.
        head: The headline.
        table: The frame of `quality.marginal_table`.
    """
    if not (fold := st.expander("Every table", icon=":material/format_list_numbered:", key=EVERY_TABLE, on_change="rerun")).open:
        return
    with fold:
        with st.container(horizontal=True, horizontal_alignment="right"):
            with_truth = curator_toggle()
        shown = table
        if with_truth and (truth := truth_for(opened, opened.cliques)) is not None:
            shown = quality.marginal_table(report.statements(opened.release), truth)
            exact = quality.true_largest(report.statements(opened.release), truth)
            with frame.card("The true largest errors", exact.zone), st.container(horizontal=True, gap="small"):
                for threshold, error in exact.value.items():
                    name = "Of any one cell" if threshold is None else f"Of any “at least {threshold}”"
                    st.metric(name, "–" if error != error else percent(error), help=_largest_help(threshold), width=170)
        _trust(shown, f"{EACH} {on_trials(opened.release, PICKED)}".rstrip())
        with st.container(border=True):
            show(charts.means, quality.means(head, table), name="means")


def _verdict(verdict: Verdict, note: str, lost: list[str], trials: str) -> None:
    """Draw the verdict: whether and for what to publish, and whether a simpler mechanism would be better.

    Args:
        verdict: The verdict.
        note: A sentence on what the numbers count; "" for none.
        lost: The columns of `nothing_learnt`.
        trials: A sentence on how often the rule was wrong; "" for none.
    """
    icons = {PUBLISH: ":material/check_circle:", PARTLY: ":material/rule:", UNSHOWN: ":material/help:"}
    icon = icons.get(verdict.kind, ":material/block:")
    with frame.card("May this be published?", Zone.RELEASED, f"{VERDICT_HELP} {trials}".rstrip()):
        st.markdown(f"#### {icon} {literal(report.ruling(verdict), 1000)}")
        st.markdown(literal(report.reasons(verdict), 1000))
        if note:
            st.caption(note)
        if verdict.despite:
            st.markdown(literal(report.despite(verdict), 1000))
        comparison, surpassed = report.comparison(verdict), any(way.better for way in verdict.simpler)
        good = report.fit_for(verdict)
        if comparison and (surpassed or not good):
            st.markdown(f"{':material/warning:' if surpassed else ':material/balance:'} {literal(comparison, 600)}")
        if lost:
            st.markdown(f":material/search_off: No values of {names(lost, 8)} were learnt: all are “other” or “missing”.")
        unfit = [f":material/close: {literal(line, 300)}" for line in report.unfit_for(verdict)]
        for line in ["**Not for**", *unfit[:_PURPOSES_SHOWN]] if unfit else []:
            st.markdown(line)
        if more := unfit[_PURPOSES_SHOWN:]:
            with st.expander(f"{len(more):,} more"):
                for line in more:
                    st.markdown(line)
        if good:
            with st.expander(f"Good for {len(good)} purpose{'s' * (len(good) > 1)}", icon=":material/check:", key="good_for"):
                for line in good:
                    st.markdown(f":material/check: {literal(line, 300)}")
                if comparison and not surpassed:  # the chart below shows it, too
                    st.markdown(f":material/balance: {literal(comparison, 600)}")
        st.caption("Never use it for decisions about one person, exact figures, or differences below the errors.")


def nothing_learnt(domain: Domain) -> list[str]:
    """Return the columns whose values were to be learnt but for which no value was found, in the domain's order."""
    return [one.name for one in domain if not one.values]


def _largest_help(threshold: int | None) -> str:
    return LARGEST_HELP.format("cell" if threshold is None else f"“at least {threshold} of these values”")


def _trust(table: Zoned[pd.DataFrame], each: str) -> None:
    """Draw which tables can be trusted up to a limit that the reader chooses.

    Args:
        table: The frame of `quality.marginal_table`.
        each: What to know about bounds that hold each by itself.
    """
    with frame.card("Which tables can I trust?", table.zone):
        limit, confidence, kind = st.columns([3, 4, 7], vertical_alignment="bottom")
        help, key = ERROR_HELP, "results_threshold"
        threshold = limit.number_input("Good enough up to (%)", 0.1, 100.0, 100 * LIMIT, 1.0, "%.1f", key=key, help=help)
        together = False
        if bool(table.value["together"].notna().any()):
            options = {"each": "each by itself", "together": "all together"}
            look = {"format_func": options.get, "default": "each", "required": True, "key": "results_together"}
            together = confidence.segmented_control("with 95% confidence", list(options), help=_TOGETHER_HELP, **look) == "together"
        with kind:
            chosen = st.segmented_control("Show", list(_KINDS), format_func=_KINDS.get, default="all", required=True, key="results_kind")
        st.markdown(f"**{literal(report.trusted(table.value, threshold / 100, together))}**", help=None if together else each)
        rows = quality.against_limit(table, threshold / 100, together).value
        good = rows["good"]
        rows = rows[{"all": good | True, "good": good, "poor": ~good, "inferred": rows["support"].isin([INFERRED, GUESS])}[chosen]]
        if rows.empty:
            st.info("There is no table of this kind.", icon=":material/info:")
            return
        drawn = Zoned(table.zone, rows)
        _drawn(drawn, threshold / 100)
        _list(drawn)


def _drawn(table: Zoned[pd.DataFrame], threshold: float) -> None:
    """Draw the errors of tables in one of three views, which the curator picks.

    The views are errors with bounds; errors with AIM's bounds and the baselines; and AIM's bound
    against error.

    Args:
        table: The frame from `quality.against_limit`.
        threshold: The largest acceptable error, as a share of people.
    """
    views = [_ERRORS, *([_AGAINST] if drawable(table.value) else []), *([_SCATTER] if against(table.value) else [])]
    if known(table.value, "bound"):  # AIM's: the picture of its paper comes first
        views.sort(key=_AGAINST.__ne__)
    place, first, order = st.columns([8, 3, 4], vertical_alignment="bottom")
    look = {"default": views[0], "required": True, "key": "results_picture", "label_visibility": "collapsed"}
    view = place.segmented_control("View", views, **look)
    number, skip = len(table.value), 0
    if number > _NAMED and view != _SCATTER:
        skip = first.number_input("From table", 1, number, 1, _NAMED, key="results_from") - 1
    if view == _AGAINST:
        sorts = charts.sortable(table.value)
        by = order.selectbox("Sort by", sorts, format_func=charts.ORDERS.get, key="results_order")
        show(charts.against_bounds, table, threshold, by, show=_NAMED, skip=skip, name="against")
    elif view == _SCATTER:
        show(charts.bound_against_error, table, name="scatter")
    else:
        show(charts.marginals, table, threshold, show=_NAMED, skip=skip, name="marginals")
        if number > _NAMED and table.value["limit"].notna().any():
            show(charts.overview, table, threshold, name="overview")


def _list(table: Zoned[pd.DataFrame]) -> None:
    if table.zone is Zone.CURATOR:
        st.caption("The list is hidden while true errors are shown, because a list can be copied. Point at the charts instead.")
        return
    number, alike = st.column_config.NumberColumn, table.value["support"].nunique() == 1
    config = {
        "marginal": st.column_config.TextColumn("Table", width="medium"),
        "limit": number("At most", format="percent", help=f"{ERROR_HELP} With 95% confidence."),
        "error": number("Error", format="percent", help=_ERROR_KNOWN_HELP),
        "support": st.column_config.TextColumn("How known", help=_KNOWN_HELP),
        "bound": number("AIM's bound", format="percent", help="It follows from noisy tables alone (95%), sharper than in the paper."),
        "independent": number("Columns alone", format="percent", help="What single columns miss if the rows are right."),
        "gaussian": number("Noisy answers", format="percent", help="The expected error of Gaussian answers on this budget."),
        "residuals": number("Best noisy answers", format="percent", help=_RESIDUALS_HELP),
        "cells": number("Cells", format="localized"),
        "sigma": number("± per cell", format="%.1f", help="The noise of each measured cell, in people."),
    }
    idle = {name for name in config if table.value[name].isna().all() or (name == "support" and alike)}
    shown, height = [name for name in config if name not in idle], min(380, 40 + 35 * len(table.value))
    st.dataframe(table.value, hide_index=True, height=height, column_order=shown, column_config=config)
