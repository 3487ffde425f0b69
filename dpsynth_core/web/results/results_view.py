"""The views of the Results page. Released values only, unless the curator asks for true errors on this screen."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from dpsynth_core import charts, report
from dpsynth_core.evaluation import comparison
from dpsynth_core.evaluation.comparison import DIFFERENCE, MEASURED, PRIVATE, SYNTHETIC, is_ordered
from dpsynth_core.evaluation.verdict import LIMIT
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning import precision
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import document as releases
from dpsynth_core.release import sampling, synthesis
from dpsynth_core.release.rows import Rows
from dpsynth_core.release.sampling import Refitted
from dpsynth_core.store import approvals, runs
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.link_words import HOUSEHOLDS, LinkWords
from dpsynth_core.vocabulary.recoding import other_is_missing
from dpsynth_core.web.results import claims_view, downloads
from dpsynth_core.web.results.downloads import Offer
from dpsynth_core.web.results.open_runs import (
    COLUMN,
    FIRST,
    KEY,
    SECOND,
    OpenRun,
    beside_toggle,
    column_in_short,
    curator_toggle,
    forget,
    pair_map,
    truth_for,
)
from dpsynth_core.web.shell import additions, frame, refusals, session
from dpsynth_core.web.shell.figures import show, specification
from dpsynth_core.web.shell.more_rows import more_rows
from dpsynth_core.web.shell.text import WHOLE, capital, file_stem, literal, one_line

_ROWS_SHOWN = 1000
_TIMES_HELP = "The time depends on the records, so no release states it. Do not publish it."
_TABLES = {True: "First table", False: "Second table"}
Group = dict[str, tuple[str, ...]]
_MAP = "results_map"


def warnings(opened: OpenRun) -> None:
    """Draw the warnings (brands) of the release; nothing without warnings."""
    for brand in opened.release.brands:
        (st.error if brand.code == "not-private" else st.warning)(literal(brand.sentence, WHOLE), icon=":material/flag:")


def columns(opened: OpenRun) -> None:
    """Draw the counts of a chosen column, in people: as measured, in the rows, and true (curator-only) if switched on.

    The switch reads the private table and records the look. If the column was not measured and there are no rows,
    a sentence says so.
    """
    with beside_toggle():
        column = st.selectbox("Column", opened.release.domain.names, format_func=one_line, key=COLUMN, width=360)
        with_truth = curator_toggle()
    clique = opened.release.domain.clique([column])
    frame_of_column = comparison.one_way(report.evidence(opened.release), column, truth_for(opened, [clique]) if with_truth else None)
    if frame_of_column.value.empty:
        st.info("This column was not measured, and this mechanism writes no rows.", icon=":material/info:")
        return
    for sentence in report.not_read([one for one in opened.release.statements.unread if one.column == column]):
        st.warning(literal(sentence, WHOLE), icon=":material/spellcheck:")
    if opened.release.values is not None and other_is_missing(opened.release.domain[column]):
        st.caption("The rows have no “other” here. Values outside the domain are empty and count as missing.")
    attribute = opened.release.domain[column]
    if attribute.is_number:
        show(charts.histogram, frame_of_column, one_line(column, 40))
        if told := column_in_short(opened, column):
            st.markdown(literal(told, WHOLE))
    else:
        show(charts.one_way, frame_of_column, one_line(column, 40), ordered=is_ordered(attribute))


def pairs(opened: OpenRun) -> None:
    """Draw the error bounds of all pairs of columns, then the counts of two chosen columns, in people.

    A click on a pair of the first chart chooses its columns. The counts, measured, in the rows and true
    (curator-only, recorded as a look) if switched on, are heat maps with one scale. If there is only one column, a
    sentence says so.
    """
    names = opened.release.domain.names
    if len(names) < 2:
        st.info("There is only one column.", icon=":material/info:")
        return
    pairs_zoned = pair_map(opened)
    st.vega_lite_chart(specification(charts.pair_map, pairs_zoned, LIMIT), on_select=_take_pair, selection_mode=charts.PAIR, key=_MAP)
    start = next((m.clique for m in opened.release.tables_of_columns if len(m.clique) == 2), names[:2])
    with beside_toggle():
        first = st.selectbox("Down", names, names.index(start[0]), format_func=one_line, key=FIRST, width=260)
        others = [name for name in names if name != first]
        index = others.index(start[1]) if start[1] in others else 0
        second = st.selectbox("Across", others, index, format_func=one_line, key=SECOND, width=260)
        with_truth = curator_toggle()
    truth = truth_for(opened, [opened.release.domain.clique([first, second])]) if with_truth else None
    evidence = report.evidence(opened.release)
    panels = comparison.two_way(evidence, first, second, truth)
    if MEASURED not in panels:
        st.info("This pair was not measured: what the rows say about it is the model's guess.", icon=":material/psychology_alt:")
    counts = [panels[name] for name in (SYNTHETIC, MEASURED, PRIVATE) if name in panels]
    if not counts:
        return
    limit = max(1.0, *(float(panel.value["count"].max()) for panel in counts if panel.zone is not Zone.CURATOR), 1.0)
    drawn: list[tuple[Callable[..., charts.Drawing], str, dict[str, float]]]
    drawn = [(charts.two_way, name, {"limit": limit}) for name in (SYNTHETIC, MEASURED, PRIVATE) if name in panels]
    if DIFFERENCE in panels:
        drawn.append((charts.two_way_difference, DIFFERENCE, {"people": evidence.value.total, "wanted": LIMIT}))
    places = st.columns(2) if len(drawn) > 1 else [st.container()]
    for index, (make, name, scale) in enumerate(drawn):
        with places[index % len(places)]:
            show(make, panels[name], name, name=f"pair_{index}", **scale)


def _take_pair() -> None:
    picked = st.session_state[_MAP]["selection"].get(charts.PAIR, [])
    if picked and picked[0]["row"] != picked[0]["column"]:
        st.session_state[FIRST], st.session_state[SECOND] = picked[0]["row"], picked[0]["column"]


def rows(opened: OpenRun) -> None:
    """Draw the first rows, at most 1,000, with a filter by one column.

    Without rows a sentence says so. Of a release that awaits approval no row is drawn, because the
    table on screen can be saved.
    """
    values, domain = opened.release.values, opened.release.plan.row_domain
    if values is None:
        st.info("This mechanism gives noisy tables and no rows. Take the noisy marginals from the downloads.", icon=":material/info:")
        return
    if _unapproved(opened):  # the table on screen can be saved as CSV
        return
    if opened.release.members is not None:
        names = _TABLES if (words := _words(opened)) == HOUSEHOLDS else {True: capital(words.made), False: capital(words.held)}
        look = {"format_func": names.get, "required": True, "key": "results_table", "label_visibility": "collapsed"}
        if st.segmented_control("Table", list(_TABLES), default=True, **look) is False:
            values, domain = opened.release.members, opened.release.plan.member_domain
    left, right = st.columns([1, 2])
    look = {"format_func": lambda name: one_line(name) or "no filter", "key": "results_filter"}
    column = left.selectbox("Filter by", ["", *domain.names], **look)
    with right:
        keep = _filter(values, domain[column]) if column else None
    table, number = first_rows(values, column, keep, _ROWS_SHOWN)
    st.caption(f"{table.num_rows:,} of {number:,} rows shown. No row is a real person. Any resemblance is by chance.")
    st.dataframe(table.to_pandas(), hide_index=True, height=420, placeholder="")  # as in the file: “None” can be a value


def _words(opened: OpenRun) -> LinkWords:
    link = opened.release.plan.link
    return HOUSEHOLDS if link is None else link.words


def _filter(values: Rows, attribute: Attribute) -> Filter | None:
    name = attribute.name
    key = f"results_filter_{attribute.name}"
    if has_choices(attribute):
        options = sorted(choices(values, name), key=str)
        look = {"format_func": lambda v: "missing" if v is None else one_line(v), "placeholder": "all values"}
        picked = st.multiselect("Values", options, key=key, **look)
        return partial(one_of, column=name, values=picked) if picked else None
    if attribute.is_number and attribute.dtype != "duration" and attribute.lower < attribute.upper:
        low, high = st.slider("Range", attribute.lower, attribute.upper, (attribute.lower, attribute.upper), key=key)
        whole = (low, high) == (attribute.lower, attribute.upper)
        return None if whole else partial(between, column=name, low=low, high=high)
    st.caption("This column has too many values to pick from.")
    return None


def take_away(opened: OpenRun) -> None:
    """Draw the downloads, made from public and released values only: the bundle, then its parts.

    A form draws more rows from the model of one table, at no charge. While the release is withheld, the failed
    criteria and a field for the curator's reason are drawn instead; while it awaits approval, a sentence.
    """
    if claims_view.withheld(opened) or _unapproved(opened):
        return
    _, *single = downloads.offers(opened.release)
    with frame.card("The whole release"):
        whole_release(opened)
    with st.expander("Single files", icon=":material/folder_open:", key="single_files"):
        for start in range(0, len(single), 3):
            for place, offer in zip(st.columns(3), single[start : start + 3], strict=False):
                with place.container(border=True, height="stretch", key=f"offer_{offer.key}"):
                    st.caption(offer.what)
                    _button(opened, offer, offer.name, width="stretch")
    _more_rows(opened)
    additions.draw("downloads", opened)
    st.caption("You can save every chart as PNG or SVG: point at it and use the toolbar at its top right.")


@st.cache_resource(max_entries=2, show_spinner="Fitting the model again, which takes about as long as the run took …", **KEY)
def _fitted(opened: OpenRun) -> Refitted:
    return sampling.refit(opened.release, synthesis.feasible(Plan.of(opened.run.spec)))


def _more_rows(opened: OpenRun) -> None:
    release = opened.release
    if release.row_seed is None or release.plan.link is not None:  # of two linked tables no more rows are drawn yet
        return

    def draw(rows: int, where: Group) -> tuple[str, Callable[[], bytes]]:
        drawn = sampling.sample(_fitted(opened), rows, where)
        return drawn.errors, partial(releases.content_of, drawn.rows, releases.write_csv)

    more_rows(opened.run.id, f"{file_stem(release.spec.name)}-more-synthetic.csv", partial(_whom, release.domain), draw)


def _whom(domain: Domain) -> Group | None:
    left, right = st.columns([1, 2])
    look = {"format_func": lambda name: one_line(name) or "everybody", "key": "sampled_column"}
    column = left.selectbox("Of whom", ["", *domain.names], **look)
    if not column:
        return {}
    values = {"format_func": one_line, "key": f"sampled_values_{column}", "placeholder": "Choose values"}
    chosen = tuple(right.multiselect("With", domain[column].cell_labels(), **values))
    return {column: chosen} if chosen else None


def _unapproved(opened: OpenRun) -> bool:
    """Return whether a reviewer must approve the release first; if so, draw a message that says so."""
    waits = approvals.awaited(opened.run.id, approvals.RELEASE)
    if waits:
        st.info("A reviewer has to approve this release before its rows are shown and it can be downloaded.", icon=":material/how_to_reg:")
    return waits


def ask(opened: OpenRun) -> None:
    """Draw a link to the release's question page, or a disabled link with the reason for its absence."""
    why = "" if report.can_answer(opened.release) else "There is nothing to ask: this release has neither rows nor noisy tables."
    if approvals.awaited(opened.run.id, approvals.RELEASE):
        why = "A reviewer has to approve this release first: the page holds its rows."
    what = "Ask for counts, shares, means and tables. Each answer says how precisely it is known. "
    what += "The page has no rows until you write a reason." if opened.release.withheld else "The bundle has the same page for its readers."
    url, icon = downloads.address_of(opened.run.id, downloads.QUESTIONS), ":material/help_center:"
    st.link_button("Ask a question", url, icon=icon, help=why or what, disabled=bool(why))


def whole_release(opened: OpenRun) -> None:
    """Draw the buttons to download the bundle and to check it; before approval, a sentence.

    A click on the latter opens the page Verify, and nothing after the call runs. The caller makes sure that the
    release is not withheld.
    """
    if _unapproved(opened):
        return
    whole, *_ = downloads.offers(opened.release)
    with st.container(key=f"offer_{whole.key}"), st.container(horizontal=True, gap="small"):
        _button(opened, whole, "Download the release bundle", type="primary", help=whole.what)
        check = st.button("Check it", icon=":material/verified:", key="check_bundle", help="Anyone with the bundle can do the same.")
    if check:
        st.session_state[downloads.TO_CHECK] = opened.run.id
        frame.go("verify")


def _button(opened: OpenRun, offer: Offer, label: str, **look: Any) -> None:
    st.link_button(label, downloads.address_of(opened.run.id, offer.key), icon=":material/download:", **look)


def about(opened: OpenRun) -> None:
    """Draw the guarantee, the facts of the run, and the button that deletes it.

    The time that the run took is curator-only. Deleting removes rows and measurements for good, keeps the charge,
    and draws the page again.
    """
    release, run = opened.release, opened.run
    with frame.card("The guarantee", Zone.RELEASED):
        st.markdown(literal(release.statement, WHOLE))
    with frame.card("What could an attacker learn about one person?", Zone.RELEASED):
        left, right = st.columns([3, 4], gap="medium")
        with left:
            for line in report.protected(release):
                st.markdown(f"- {literal(line, 600)}")
            st.markdown(f"- {literal(report.noise(release), 600)}")
        with right:
            shares = release.plan.shares
            show(charts.tradeoff, precision.attacker(release.rho, shares.slack, shares.accountant), name="attacker")
    with frame.card("Facts", Zone.RELEASED):
        for name, text in report.facts(release):
            st.markdown(f"**{name}** · {literal(text, WHOLE)}")
    if (taken := runs.times_of(session.current().owner, run.id)) is not None:
        with frame.card("How long did it take?", taken.zone, _TIMES_HELP), frame.watermark(taken.zone):
            st.markdown(literal(", ".join(f"{phase} {seconds:.1f} s" for phase, seconds in taken.value["phases"].items())))
    with frame.card("Delete this run"):
        st.caption("This removes its rows and measurements from this machine for good. The ledger keeps the charge.")
        sure = st.checkbox("I have what I need from it", key=f"sure_{run.id}")
        if st.button("Delete the run", icon=":material/delete:", disabled=not sure, key=f"delete_{run.id}"):
            _delete(run.id)


@refusals.explained()
def _delete(run: str) -> None:
    runs.delete(session.current().owner, run)
    forget()
    st.rerun()


MAX_CHOICES = 200
Filter = Callable[[pa.Table], pa.Table]
"""A function that returns some rows of a table."""


def has_choices(attribute: Attribute) -> bool:
    """Return whether the column is filtered by picking values: it has no numbers, and at most 200 cells (`MAX_CHOICES`).

    Numbers are filtered by a range; a column with more cells has no filter.
    """
    return not attribute.is_number and attribute.size <= MAX_CHOICES


def first_rows(rows: Rows, column: str, keep: Filter | None, most: int) -> tuple[pa.Table, int]:
    """Return the first `most` rows that a filter keeps, and the number of all rows that it keeps.

    Rows beyond the first `most` are counted by reading the filter's column only. The table may be empty.

    Args:
        rows: The rows.
        column: The column of the filter.
        keep: The filter, which is also called with tables of `column` alone; None keeps all rows.
        most: The largest number of rows to return.
    """
    if keep is None:
        batches = rows.batches()
        parts = [next(batches).slice(0, most)]
        while (taken := sum(table.num_rows for table in parts)) < most and (part := next(batches, None)) is not None:
            parts.append(part.slice(0, most - taken))
        return pa.concat_tables(parts), rows.num_rows
    wanted, number, have = rows.batches(), 0, 0
    shown: list[pa.Table] = []
    for batch in rows.batches([column]):
        number += keep(batch).num_rows
        if have < most:
            shown.append(keep(next(wanted)).slice(0, most - have))
            have += shown[-1].num_rows
    return pa.concat_tables(shown), number


def choices(rows: Rows, column: str) -> set[object]:
    """Return the different values of a column of released rows, with None for missing ones. Only this column is read."""
    return {value for batch in rows.batches([column]) for value in batch.column(column).unique().to_pylist()}


def one_of(table: pa.Table, column: str, values: Collection[object]) -> pa.Table:
    """Return the rows of a table whose value of `column` is in `values`, where None means missing.

    If `values` is empty, all rows are returned.
    """
    if not values:
        return table
    wanted = pa.array(list(values), table.schema.field(column).type)
    return table.filter(pc.is_in(table.column(column), wanted))


def between(table: pa.Table, column: str, low: object, high: object) -> pa.Table:
    """Return the rows whose value of `column` is from `low` to `high`, both included; missing values are left out."""
    values = table.column(column)
    return table.filter(pc.and_(pc.greater_equal(values, pa.scalar(low, values.type)), pc.less_equal(values, pa.scalar(high, values.type))))
