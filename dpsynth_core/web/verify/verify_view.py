"""A bundle that somebody published, checked on screen. It can come from anyone: all texts in it are hostile, and it stays in memory."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpsynth_core.bundle import confined
from dpsynth_core.bundle.signature import parse_key
from dpsynth_core.bundle.verdicts import ABSENT, CONSISTENT, FAILED, INCONSISTENT, PARTLY, PASSED, SKIPPED, Report
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.store.home import home
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import WHOLE, capital, literal
from dpsynth_core.web.verify import decision_view

_VERIFIED = "verified"
"""In the session: the ids of the uploaded files, and what was reported of them, so that looking at it again costs nothing."""
_PUBLIC_HELP = (
    "Some mechanisms start from a public table, which no bundle contains. With the same file the mechanism can be run again, and more of "
    "the release be checked. It is deleted when that is done."
)
_KEY_HELP = (
    "64 hexadecimal digits that the publisher announced, apart from the bundle. The bundle then has to be signed by this very key; without "
    "it anyone's signature is taken."
)
_LOOK = {
    PASSED: (":green[:material/check_circle:]", ""),
    FAILED: (":red[:material/error:]", "**Wrong:** "),
    SKIPPED: (":orange[:material/help:]", "**Not checked:** "),
    ABSENT: (":material/remove:", "Nothing to check: "),
}


def upload() -> None:
    """Choose a bundle, and see what is reported of it."""
    file = st.file_uploader("Release bundle (ZIP)", "zip", key="verify_file", help="It is checked in memory and not kept.")
    public = st.file_uploader("The public table, if the release used one (optional)", key="verify_public", help=_PUBLIC_HELP)
    known = st.text_input("The publisher's key (optional)", key="verify_key", help=_KEY_HELP)
    if file is None:
        st.caption("On the command line, with `--memory` and `--seconds` for larger ones: `python -m dpsynth_core verify BUNDLE.zip`")
        return
    try:
        key = parse_key(known, "The publisher's key") if known.strip() else None
        report = _report(file, public)
    except InputError as error:
        frame.refused(error)
        return
    report = report if key is None else report.by(key)
    _verdict(report)
    with frame.card("What was checked", Zone.RELEASED):
        for check in report.checks:
            icon, lead = _LOOK[check.verdict]
            detail = literal(capital(check.detail))
            st.markdown(f"{icon} **{check.question}** {lead}{detail}.")
    if report.summary is not None:
        summary = report.summary
        with frame.card("What the release says of itself", Zone.RELEASED):
            for warning in summary.warnings:
                st.warning(literal(warning, WHOLE), icon=":material/flag:")
            st.markdown(literal(summary.statement, WHOLE))
            for name, text in summary.facts:
                st.markdown(f"**{name}** · {literal(text, WHOLE)}")
    if report.page and report.verdict != INCONSISTENT:
        help_text = "Written here from release.json and the rows; the bundle's own report is not used."
        st.download_button("Read its report, as this program writes it", report.page, "report.html", "text/html", help=help_text)
    decision_view.sign(report)  # last: whoever signs has passed what was checked and what the release warns of


def _report(file: UploadedFile, public: UploadedFile | None) -> Report:
    ids, report = st.session_state.get(_VERIFIED, ((), None))
    if ids != (uploaded := (file.file_id, public and public.file_id)):
        with st.spinner("Checking every file, sum and row …"), _on_disk(public) as table:
            report = confined.verified(file.getvalue(), public=table)
        st.session_state[_VERIFIED] = uploaded, report
    return report


@contextmanager
def _on_disk(public: UploadedFile | None) -> Iterator[Path | None]:
    """The public table as a file in the private data directory, for as long as it takes."""
    if public is None:
        yield None
        return
    with TemporaryDirectory(prefix="verify-", dir=home()) as folder:
        path = Path(folder) / "public"
        with private_file(path) as stream:
            shutil.copyfileobj(public, stream)
        yield path


def _verdict(report: Report) -> None:
    wrong = sum(check.verdict == FAILED for check in report.checks)
    if report.verdict == CONSISTENT:
        st.success(f"**This bundle is consistent**: nothing that can be checked is wrong. {report.unseen}", icon=":material/check_circle:")
    elif report.verdict == PARTLY:
        left = " ".join(report.unchecked)
        sentence = f"**This bundle is consistent as far as checked**, but not all of it could be checked. Open questions: {left}"
        st.warning(f"{sentence} {report.unseen}", icon=":material/help:")
    else:
        st.error(f"**This bundle is not consistent**: {wrong} of the checks failed. Do not rely on it.", icon=":material/gpp_bad:")
    st.markdown(f"SHA-256 of the file: `{report.sha256}`")
    st.markdown(f"Signature: {literal(capital(report.signature), WHOLE)}.")
