"""A bundle that somebody published, checked on screen. It can come from anyone: all texts in it are hostile, and it stays in memory."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpsynth_core.bundle import confined
from dpsynth_core.bundle.verify import ABSENT, CANNOT, FAILED, PARTLY, PASSED, SKIPPED, SOUND, Check, Report, Summary
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import literal

_VERIFIED = "verified"
"""In the session: the id of an uploaded file, and what was reported of it, so that looking at it again costs nothing."""
_LOOK = {
    PASSED: (":green[:material/check_circle:]", ""),
    FAILED: (":red[:material/error:]", "**Wrong:** "),
    SKIPPED: (":orange[:material/help:]", "**Not checked:** "),
    ABSENT: (":material/remove:", "Nothing to check: "),
}


def upload() -> None:
    """Choose a bundle, and see what is reported of it."""
    file = st.file_uploader("Release bundle (release.zip)", "zip", key="verify_file", help="It is checked in memory and not kept.")
    if file is None:
        st.caption("On the command line, with `--memory` and `--seconds` for larger ones: `python -m dpsynth_core verify BUNDLE.zip`")
        return
    try:
        report = _report(file)
    except InputError as error:
        frame.refused(error)
        return
    _verdict(report)
    _checks(report.checks)
    if report.summary is not None:
        _says(report.summary)


def _report(file: UploadedFile) -> Report:
    name, report = st.session_state.get(_VERIFIED, ("", None))
    if name != file.file_id:
        with st.spinner("Checking every file, sum and row …"):
            report = confined.verified(file.getvalue())
        st.session_state[_VERIFIED] = file.file_id, report
    return report


def _verdict(report: Report) -> None:
    wrong = sum(check.verdict == FAILED for check in report.checks)
    if report.verdict == SOUND:
        st.success("**This bundle is sound**: nothing that can be checked is wrong.", icon=":material/verified:")
    elif report.verdict == PARTLY:
        left = " ".join(report.unchecked)
        sentence = f"**This bundle is sound as far as checked**, but not all of it could be checked. Open questions: {left}"
        st.warning(sentence, icon=":material/help:")
    else:
        st.error(f"**This bundle is not sound**: {wrong} of the checks failed. Do not rely on it.", icon=":material/gpp_bad:")
    st.markdown(f"SHA-256 of the file: `{report.sha256}`")


def _checks(checks: tuple[Check, ...]) -> None:
    with frame.card("What was checked", Zone.RELEASED):
        for check in checks:
            icon, lead = _LOOK[check.verdict]
            detail = literal(check.detail[:1].upper() + check.detail[1:])
            st.markdown(f"{icon} **{check.question}** {lead}{detail}.")
        st.caption(literal(CANNOT, 1000))


def _says(summary: Summary) -> None:
    with frame.card("What the release says of itself", Zone.RELEASED):
        for warning in summary.warnings:
            st.warning(literal(warning, 1000), icon=":material/flag:")
        st.markdown(literal(summary.statement, 2000))
        for name, text in summary.facts:
            st.markdown(f"**{name}** · {literal(text, 300)}")
