"""Part of the Verify page: the person who answers for a release decides and signs; a signed decision is checked."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import streamlit as st

from dpsynth_core.bundle import decision
from dpsynth_core.bundle.decision import Decision
from dpsynth_core.bundle.verdicts import INCONSISTENT, Report
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import MAX_REASON
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.shell import frame, refusals
from dpsynth_core.web.shell.text import literal

_SIGNED, _PLACE = "decided", "decision"
_ANSWER, _REASON, _NAME, _ROLE = "decision_answer", "decision_reason", "decision_name", "decision_role"
_LABELS = {"answer": "Your decision", "reason": "Why, or for which purposes", "name": "Your name", "role": "Your role"}
_MOST_SHOWN, _MOST_DIGITS = 2000, 200
_TITLES = {decision.PUBLISH: "Publish", decision.PURPOSES: "Publish for the purposes that I name", decision.WITHHOLD: "Do not publish"}
_HELP = "The decision is a file of its own beside the bundle, bound to it by its SHA-256. Nothing of it is kept on this server."
_KEEP = (
    "Keep this code, or announce it with the SHA-256 of the bundle: if one letter of the decision or of the bundle is "
    "changed, the code is another one."
)


_CODE_HELP = "The signer keeps it, or announces it with the SHA-256 of the bundle. Do not take it from the person who gave you the file."
_NOBODY = (
    "**The code of this file fits its text, and it is about this bundle.** Anyone can make such a file: this does not prove the "
    "signer's name. Enter the code that the signer gave you to see whether this is what was signed."
)
_MATCHES = "**This is the decision whose code you entered**, unaltered, and about this bundle."
_OTHER_CODE = (
    "**This is not the decision whose code you entered**: this file has another code, of 64 digits. Ask the signer for the file, or "
    "correct the code."
)


def sign(report: Report) -> None:
    """Decide about the bundle that was just checked; then the decision with its code, to print or to save. It is shown for as long as the
    check comes to what was signed."""
    signed: Decision | None = st.session_state.get(_SIGNED)
    with frame.card("Decide and sign", Zone.RELEASED, _HELP):
        if signed is None or not decision.holds(signed, report):
            offered = [decision.WITHHOLD] if report.verdict == INCONSISTENT else list(decision.ANSWERS)
            st.radio(_LABELS["answer"], offered, format_func=_TITLES.get, index=None, key=_ANSWER, horizontal=True)
            st.text_area(_LABELS["reason"], key=_REASON, max_chars=MAX_REASON, height=90)
            name, role = st.columns(2)
            name.text_input(_LABELS["name"], key=_NAME, max_chars=decision.MOST_LETTERS)
            role.text_input(_LABELS["role"], key=_ROLE, max_chars=decision.MOST_LETTERS, placeholder="Data protection officer")
            attempt = partial(refusals.attempt, _PLACE, partial(_sign, report))
            st.button("Sign", type="primary", icon=":material/signature:", key="decision_sign", on_click=attempt)
            frame.refused_at(_PLACE)
        else:
            _shown(signed, "Signed by", "The bundle was")
            st.markdown(f"Code of the decision: `{signed.code}`")
            st.caption(_KEEP)
            with st.container(horizontal=True):
                file = f"decision-{signed.signed}-{signed.code[:8]}.json"
                save = partial(decision.to_json, signed)
                st.download_button("Save the decision", save, file, "application/json", icon=":material/download:", on_click="ignore")
                st.button("Decide anew", key="decision_again", type="tertiary", on_click=_forget)
        _check(report)


def _sign(report: Report) -> None:
    typed = st.session_state
    today = datetime.now(UTC).date()
    try:
        typed[_SIGNED] = decision.of(report, typed[_ANSWER], typed[_REASON], typed[_NAME], typed[_ROLE], today)
    except InputError as error:
        raise InputError(_LABELS.get(error.field, error.field), error.problem, error.remedy) from None


def _forget() -> None:
    del st.session_state[_SIGNED]


def _check(report: Report) -> None:
    """A decision that somebody else signed: is it whole, about this bundle, and the one whose code the signer gave?"""
    with st.expander("Check a decision that was signed", icon=":material/fact_check:"):
        file = st.file_uploader("Decision (JSON)", "json", key="decision_file")
        if file is None:
            return
        try:
            given = decision.read(file.getvalue().decode("utf-8", "replace"))
            decision.check_bundle(given, report.sha256)
        except InputError as error:
            frame.refused(error)
            return
        given_code = st.text_input("Code that the signer gave you", key="decision_code", max_chars=_MOST_DIGITS, help=_CODE_HELP)
        different = decision.differences(given, report)
        if given_code.strip() and not decision.has_code(given, given_code):
            st.error(_OTHER_CODE, icon=":material/error:")
        elif not given_code.strip():
            st.info(_NOBODY, icon=":material/info:")
        elif different:
            st.info(_MATCHES, icon=":material/info:")
        else:
            st.success(_MATCHES, icon=":material/verified:")
        for sentence in different:
            st.warning(literal(sentence, _MOST_SHOWN), icon=":material/warning:")
        _shown(given, "The file names as its signer", "It says that the bundle was")


def _shown(signed: Decision, by: str, was: str) -> None:
    """by, was: our words before the name and before what was found. All texts are hostile: a decision can come from anyone. Its code is not
    shown here: to compare the file with a code from the same file tells nothing."""
    st.markdown(f"#### {literal(_TITLES[signed.answer])}")
    st.markdown(literal(signed.reason, MAX_REASON))
    who = f"**{literal(signed.name)}**, {literal(signed.role)}"
    st.markdown(f"{by} {who}, on {signed.signed}. {was} {literal(signed.checked)}.")
    if signed.open:
        st.caption(f"Open questions then: {literal(' '.join(signed.open), _MOST_SHOWN)}")
