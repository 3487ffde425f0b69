"""A bundle that somebody published, checked on screen. It can come from anyone: all texts in it are hostile, and it stays in memory."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpsynth_core import report
from dpsynth_core.bundle import unpack, verify
from dpsynth_core.bundle.verify import CANNOT, FAILED, PASSED, SKIPPED, Check
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.release.release import Release
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import literal

MAX_BYTES = 2**30
"""Unpacked, for a server that others use too; the command line takes more."""
_FOUND = "verified"
_LOOK = {
    PASSED: (":green[:material/check_circle:]", ""),
    FAILED: (":red[:material/error:]", "**Wrong:** "),
    SKIPPED: (":material/remove:", "Not checked: "),
}


@dataclass(frozen=True)
class _Found:
    """What was found about an uploaded file, so that looking at it again costs nothing."""

    file: str
    report: verify.Report


def upload() -> None:
    """Choose a bundle, and what was found about it."""
    file = st.file_uploader("Release bundle (release.zip)", "zip", key="verify_file", help="It is checked in memory and not kept.")
    if file is None:
        st.caption("The same on the command line, also for larger ones: `python -m dpsynth_core verify BUNDLE.zip`")
        return
    try:
        verified = _verified(file)
    except InputError as error:
        frame.refused(error)
        return
    _verdict(verified)
    _checks(verified.report.checks)
    if verified.report.release is not None:
        _says(verified.report.release)


def _verified(file: UploadedFile) -> _Found:
    kept: _Found | None = st.session_state.get(_FOUND)
    if kept is not None and kept.file == file.file_id:
        return kept
    with st.spinner("Checking every file, sum and row …"):
        made = _Found(file.file_id, verify.verify(unpack.read_bytes(file.getvalue(), MAX_BYTES)))
    st.session_state[_FOUND] = made
    return made


def _verdict(verified: _Found) -> None:
    wrong = sum(check.verdict == FAILED for check in verified.report.checks)
    if verified.report.sound:
        st.success("**This bundle is sound**: nothing that can be checked is wrong.", icon=":material/verified:")
    else:
        st.error(f"**This bundle is not sound**: {wrong} of the checks failed. Do not rely on it.", icon=":material/gpp_bad:")
    st.markdown(f"SHA-256 of the file: `{verified.report.sha256}`")


def _checks(checks: tuple[Check, ...]) -> None:
    with frame.card("What was checked", Zone.RELEASED):
        for check in checks:
            icon, lead = _LOOK[check.verdict]
            detail = literal(check.detail[:1].upper() + check.detail[1:])
            st.markdown(f"{icon} **{check.question}** {lead}{detail}.")
        st.caption(literal(CANNOT, 1000))


def _says(release: Release) -> None:
    with frame.card("What the release says of itself", Zone.RELEASED):
        for brand in release.brands:
            st.warning(literal(brand.sentence, 1000), icon=":material/flag:")
        st.markdown(literal(release.statement, 2000))
        for name, text in report.facts(release):
            st.markdown(f"**{name}** · {literal(text, 300)}")
