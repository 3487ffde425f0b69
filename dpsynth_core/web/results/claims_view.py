"""The claims of a release on the Results page: a card for each, from released values only.

Models trained on real rows are shown beside the certified ones. They are exact, and for the curator's eyes only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpsynth_core import charts
from dpsynth_core.claims.criteria.criteria import CRITERIA
from dpsynth_core.claims.criteria.deciding import line
from dpsynth_core.claims.criteria.outcomes import MET, NOT_MET, UNDECIDED, UNMEASURED
from dpsynth_core.claims.models.measuring import verdict
from dpsynth_core.claims.models.targets import Target
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.evaluation import beside_real
from dpsynth_core.evaluation.beside_real import MOST_RECORDS, REAL, SYNTHETIC, BesideReal
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import MAX_REASON
from dpsynth_core.foundation.zones import Zone, Zoned, combine, released
from dpsynth_core.planning.spec import DataSpec
from dpsynth_core.release.release import Release
from dpsynth_core.report.section import Section
from dpsynth_core.report.sections import claimed
from dpsynth_core.store import runs
from dpsynth_core.web.results.open_runs import OpenRun, forget
from dpsynth_core.web.shell import curator, fields, frame, refusals, session
from dpsynth_core.web.shell.figures import show
from dpsynth_core.web.shell.text import literal, one_line

_ICONS = {MET: ":material/check_circle:", NOT_MET: ":material/cancel:", UNDECIDED: ":material/help:", UNMEASURED: ":material/pending:"}


def criteria(release: Release) -> None:
    """Draw each criterion of the release with its measured result, in the plan's order; nothing without criteria."""
    if not release.criteria:
        return
    with frame.card(CRITERIA.heading(release.criteria), Zone.RELEASED, CRITERIA.reading):
        for one in release.criteria:
            st.markdown(f"{_ICONS[one.outcome]} {literal(line(one, release.domain), 800)}")


def withheld(opened: OpenRun) -> bool:
    """Return whether the plan withholds the release, so that downloads need the curator's reason first.

    If so, the failed criteria and the field for the reason are drawn. A reason of at least three different words becomes
    part of the release, and the page is drawn again; the error of any other text is drawn below the field.
    """
    release = opened.release
    if not release.withheld:
        return False
    key = f"despite_{opened.run.id}"
    with frame.card("A required criterion is not met, or was not measured"):
        for one in release.criteria:
            if one.needs_reason:
                st.markdown(f"{_ICONS[one.outcome]} {literal(line(one, release.domain), 800)}")
        st.markdown("The plan of this release forbids its publication. If you have a good reason to publish it all the same, write it.")
        help = "Write a sentence. It becomes part of the release, and the report shows it beside the verdict."
        reason = st.text_area("Why is it published all the same?", key=key, max_chars=MAX_REASON, help=help)
        if st.button("Publish with this reason", key=f"{key}_button", icon=":material/edit_note:"):
            try:
                runs.explain(session.current().owner, opened.run.id, reason)
            except InputError as error:
                fields.problem(error)
            else:
                forget()
                st.rerun()
    return True


def models(release: Release) -> None:
    """Draw the certified accuracy of each model in percent of the people, next to always guessing the most common value.

    Each has its 95 % interval. Nothing is drawn if no models were measured.
    """
    usefulness = release.usefulness
    if not usefulness:
        return
    with frame.card(MODELS.title, Zone.RELEASED, MODELS.reading):
        for column, models in groupby(usefulness, key=lambda one: one.column):
            of_column = list(models)
            near = "" if of_column[0].tolerance is None else f", to within {of_column[0].tolerance:g}"
            st.markdown(f"How often is **{literal(column, 60)}** guessed right{near}?")
            shares = [(one.model, one.of_model) for one in of_column]
            shares += [(f"always “{of_column[0].majority_guess}”", of_column[0].of_guess)]
            for place, (name, share) in zip(st.columns(len(shares)), shares, strict=True):
                with place:
                    st.metric(literal(name, 60), f"{share.value:.1%}")
                    st.caption(f"of the people; {share.low95:.1%} to {share.high95:.1%} with 95% confidence")
            st.caption(verdict(of_column))


CARDS: Mapping[str, Callable[[Release], None]] = {CRITERIA.name: criteria, MODELS.name: models}
"""The cards by the claim's name, in the order of the page. A claim without a card here gets a card with its sentences."""


def cards(release: Release) -> None:
    """Draw the claims of a release: those in `CARDS` as cards, others as expanders with sentences.

    Nothing is drawn for claims that were not measured.
    """
    for card in CARDS.values():
        card(release)
    for section in claimed(release):
        if section.name not in CARDS:
            fold(section)


def fold(section: Section) -> None:
    """Draw a section of the report in a closed expander: its title, how to read it, and its lines.

    A line of more than 800 characters is shortened.
    """
    with st.expander(section.title, icon=":material/straighten:"):
        st.caption(section.reading)
        for line in section.lines:
            st.markdown(f"- {literal(line, 800)}")


_REAL_TITLE = "How far is that from models of the real rows?"
_REAL_HELP = (
    "The same models are trained on one half of the real rows, and both are asked about the other half. The result is computed when you "
    "press the button and gone when you do anything else. It is never published, stored or downloaded."
)
_ON_A_CLUSTER = "This is not available, because the records are on a cluster and never leave its workers."


def real_models(opened: OpenRun) -> None:
    """Draw a button that compares models of synthetic rows with models of real rows, and its result.

    The result is exact, curator-only and never stored; unless the people are simulated, using the button records
    that true values were seen. Where the records cannot be read here (`obstacle`), a sentence says so instead.
    Nothing is drawn if no models were measured or there are no rows.
    """
    release = opened.release
    if not release.usefulness or release.codes is None:
        return
    with frame.card(_REAL_TITLE, Zone.CURATOR, _REAL_HELP):
        if why := obstacle(release.spec.data):
            st.caption(f":material/info: {why}")
            return
        targets = {target.column: target for target in release.plan.targets}
        left, right = st.columns(2)
        with left:
            guessed = str(st.selectbox("Column that is guessed", list(targets), format_func=one_line, key="real_target"))
        with right:
            columns = [name for name in release.domain.names if name != guessed]
            column = str(st.selectbox("Accuracy by the values of", columns, format_func=one_line, key="real_by"))
        if st.button("Train on the real rows: exact, for your eyes only", key="real_models", icon=":material/visibility_lock:"):
            _compare(opened, targets[guessed], column)
        else:
            st.caption("This shows exact shares of the private table. Releases of this project will state that you saw true values.")


def obstacle(data: DataSpec) -> str:
    """Return a sentence on why the records of a table cannot be read here; "" if they can."""
    return _ON_A_CLUSTER if data.engine is not None else ""


@refusals.explained()
def _compare(opened: OpenRun, target: Target, column: str) -> None:
    release = opened.release
    st.warning(curator.WARNING, icon=":material/visibility_lock:")
    if not release.spec.data.simulated:
        curator.note("truth", opened.run.project)
    with st.spinner("Training on the real rows …"):
        records = curator.records(opened.run.spec, release.domain, MOST_RECORDS)
        synthetic = released(np.asarray(release.codes, dtype=np.int32))
        comparison = combine(lambda rows, real: beside_real.compared(release.domain, rows, real, target, column), synthetic, records)
    if comparison.value is None:
        st.info("There are too few records to hold some out.")
        return
    with frame.watermark(comparison.zone, "real_models"):
        _shown(opened, target, column, Zoned(comparison.zone, comparison.value))


def _shown(opened: OpenRun, target: Target, column: str, comparison: Zoned[BesideReal]) -> None:
    exact = comparison.value
    st.caption(held_out(exact, opened.release.spec.unit.max_rows_per_person))
    certified = {one.model: one.of_model for one in opened.release.usefulness if one.column == target.column}
    for model, share in certified.items():
        right = exact.right[exact.right["model"] == model].set_index("trained")["share"]
        st.markdown(f"**{literal(model, 60)}**")
        told = {SYNTHETIC: right[SYNTHETIC], REAL: right[REAL], "Certified, published": share.value}
        for place, (label, value) in zip(st.columns(3), told.items(), strict=True):
            place.metric(label, f"{value:.1%}")
        part = model.split()[0]
        by_value = combine(lambda whole, name=model: _of(whole.by_value, name), comparison)
        show(charts.accuracy_by_value, by_value, model, one_line(column), name=f"by_value_{part}")
        if target.tolerance is None:
            certainties = combine(lambda whole, name=model: _of(whole.calibration, name), comparison)
            show(charts.calibration, certainties, model, name=f"certainties_{part}")


def held_out(exact: BesideReal, rows_per_person: int) -> str:
    """Return sentences on how many records the exact accuracies refer to, and on their uncertainty in percent.

    The sentences are curator-only.

    Args:
        exact: The comparison of models of synthetic and of real rows.
        rows_per_person: The largest number of rows of one person.
    """
    half = f"{exact.held_out:,} records were held out; the models of real rows were trained on {exact.trained_on:,} others"
    shared = ", some of which may be of the same people" if rows_per_person > 1 else ""
    uncertain = f"Shares of so few are uncertain by about ± {1 / np.sqrt(exact.held_out):.1%}"
    return f"{half}{shared}. {uncertain}{' or more' if shared else ''}. The certified share is of all records, as published."


def _of(table: pd.DataFrame, model: Any) -> pd.DataFrame:
    return table[table["model"] == model].reset_index(drop=True)
