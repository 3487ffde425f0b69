"""What the claims of a release say, on the Results page: the card of each. Released values only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby

import streamlit as st

from dpsynth_core.claims.criteria.criterion import MET, NOT_MET, UNDECIDED, UNMEASURED
from dpsynth_core.claims.criteria.deciding import CRITERIA, line
from dpsynth_core.claims.models.usefulness import MODELS, verdict
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import MAX_REASON
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.release.release import Release
from dpsynth_core.report.sections import claimed
from dpsynth_core.store import runs
from dpsynth_core.web.results.open_runs import OpenRun, forget
from dpsynth_core.web.shell import fields, frame
from dpsynth_core.web.shell.text import literal

_ICONS = {MET: ":material/check_circle:", NOT_MET: ":material/cancel:", UNDECIDED: ":material/help:", UNMEASURED: ":material/pending:"}


def criteria(release: Release) -> None:
    """Each criterion with what was measured; nothing where none were fixed."""
    if not release.criteria:
        return
    with frame.card(CRITERIA.heading(release.criteria), Zone.RELEASED, CRITERIA.reading):
        for one in release.criteria:
            st.markdown(f"{_ICONS[one.outcome]} {literal(line(one, release.domain), 800)}")


def withheld(opened: OpenRun) -> bool:
    """Whether a reason is needed before anything may be taken away; if so, it is asked for."""
    release = opened.release
    if not release.withheld:
        return False
    key = f"despite_{opened.run.id}"
    with frame.card("A condition that must be met is not, or was not measured"):
        for one in release.criteria:
            if one.needs_reason:
                st.markdown(f"{_ICONS[one.outcome]} {literal(line(one, release.domain), 800)}")
        st.markdown("By its own plan this release is not to be published. If there is a good reason to do it all the same, write it down.")
        reason = st.text_area("Why is it published all the same?", key=key, max_chars=MAX_REASON, help=_HELP)
        if st.button("Publish with this reason", key=f"{key}_button", icon=":material/edit_note:"):
            _explain(opened, reason)
    return True


_HELP = "A sentence. It becomes part of the release and stands in its report, beside the verdict."


def _explain(opened: OpenRun, reason: str) -> None:
    try:
        runs.explain(opened.run.owner, opened.run.id, reason)
    except InputError as error:
        fields.problem(error)
        return
    forget()
    st.rerun()


def models(release: Release) -> None:
    """How often each model is right about the people, beside the guess that looks at nothing; nothing where none was asked for."""
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
"""By name of the claim, in the order of the page. A claim that has none gets a card with its sentences."""


def cards(release: Release) -> None:
    for card in CARDS.values():
        card(release)
    for section in claimed(release):
        if section.name not in CARDS:
            with frame.card(section.title, Zone.RELEASED, section.reading):
                for line in section.lines:
                    st.markdown(f"- {literal(line, 800)}")
