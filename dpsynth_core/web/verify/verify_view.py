"""The check of a published bundle on screen; the person responsible for the release decides and signs.

A bundle can come from anyone: all its texts are hostile, and it stays in memory.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpsynth_core.bundle import confined, decision, verdicts
from dpsynth_core.bundle.confined import Wanted
from dpsynth_core.bundle.decision import Decision
from dpsynth_core.bundle.signature import parse_key
from dpsynth_core.bundle.verdicts import Check, Report, Running, Summary
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.content import Writer
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.foundation.reasons import MAX_REASON
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.store import runs
from dpsynth_core.store.home import home
from dpsynth_core.web.results import downloads
from dpsynth_core.web.shell import additions, frame, refusals, session
from dpsynth_core.web.shell.more_rows import more_rows
from dpsynth_core.web.shell.text import WHOLE, capital, literal

_VERIFIED = "verified"
"""Session key of the uploaded files' ids and their report, so that showing it again costs nothing."""
_PUBLIC_HELP = (
    "Some mechanisms start from a public table, which no bundle contains. With the same file, the mechanism runs again and more of the "
    "release is checked. Your file is deleted afterwards."
)
_KEY_HELP = (
    "Enter the 64 hexadecimal digits that the publisher announced apart from the bundle. The bundle must then be signed by this key. "
    "Without a key, anyone's signature is accepted."
)
_LOOK = {
    verdicts.PASSED: (":green[:material/check_circle:]", ""),
    verdicts.FAILED: (":red[:material/error:]", "**Wrong:** "),
    verdicts.SKIPPED: (":orange[:material/help:]", "**Not checked:** "),
    verdicts.ABSENT: (":material/remove:", "Nothing to check: "),
}


@refusals.explained()
def upload() -> None:
    """Draw the upload of a bundle and, once there is one, the report of its check.

    Without an upload, the bundle of the run that the Results page passed on is checked, if there is one. No uploaded
    file is kept. An error, such as a key that cannot be read, is drawn on the page.
    """
    file = st.file_uploader("Release bundle (ZIP)", "zip", key="verify_file", help="It is checked in memory and not kept.")
    with st.expander("A public table, or the publisher's key (optional)", icon=":material/key:"):
        public = st.file_uploader("The public table, if the release used one", key="verify_public", help=_PUBLIC_HELP)
        known = st.text_input("The publisher's key", key="verify_key", help=_KEY_HELP)
    own = st.session_state.get(downloads.TO_CHECK) if file is None else None
    if own is not None:
        st.caption(":material/inventory_2: This is the bundle of your release, as you download it on Results.")
    elif file is None:
        st.caption("You can check larger bundles with `--memory` and `--seconds`: `python -m dpsynth_core verify BUNDLE.zip`")
        return
    key = parse_key(known, "The publisher's key") if known.strip() else None
    report = _report(file, public, own)
    report = report if key is None else report.by(key)
    _verdict(report)
    if report.summary is not None:
        _brief(report, report.summary)
    decide(report)  # below what was found wrong or left open, what the release is, and what it warns of
    with st.expander(report.settled_title, icon=":material/fact_check:"):
        st.caption(report.unseen)
        _checks(report.settled)
    if report.summary is not None:
        with st.expander(f"The {'bundle' if report.kind else 'release'}'s statements", icon=":material/description:"):
            st.markdown(literal(report.summary.statement, WHOLE))
            _pairs(report.summary.facts)
    if file is not None and not report.kind and report.verdict != verdicts.INCONSISTENT:
        _more_rows(file.getvalue(), report.sha256)
        additions.draw("verify", (file.getvalue(), report.sha256))


def _brief(report: Report, summary: Summary) -> None:
    """Draw the release's short description and its warnings, which a person must read before signing."""
    claimed = "What the bundle claims: do not rely on it"
    title = claimed if report.verdict == verdicts.INCONSISTENT else f"What the {'bundle' if report.kind else 'release'} is"
    with frame.card(title, Zone.RELEASED):
        _pairs(summary.brief)
        for warning in summary.warnings:
            st.warning(literal(warning, WHOLE), icon=":material/flag:")
        if report.page and report.verdict != verdicts.INCONSISTENT:
            help_text = "Written here from release.json and the rows; the bundle's own report is not used."
            st.download_button("Download its report", report.page, "report.html", "text/html", icon=":material/article:", help=help_text)


def _pairs(pairs: Sequence[tuple[str, str]]) -> None:
    for name, text in pairs:
        st.markdown(f"**{name}** · {literal(text, WHOLE)}")


def _checks(checks: Sequence[Check]) -> None:
    for check in checks:
        icon, lead = _LOOK[check.verdict]
        st.markdown(f"{icon} **{check.question}** {lead}{literal(capital(check.detail))}.")


def _report(file: UploadedFile | None, public: UploadedFile | None, own: str | None) -> Report:
    ids, report = st.session_state.get(_VERIFIED, ((), None))
    if ids != (uploaded := (own or (file and file.file_id), public and public.file_id)):
        bar = st.progress(0.0, "Opening the bundle …")

        def show(running: Running) -> None:
            bar.progress((running.number - 1) / running.of, running.sentence)

        given = nullcontext() if public is None else _on_disk("public", partial(shutil.copyfileobj, public))
        with given as table, _bundle(file, own) as bundle:
            report = confined.verified(bundle, public=table, on_check=show)
        bar.empty()
        st.session_state[_VERIFIED] = uploaded, report
    return report


def _bundle(file: UploadedFile | None, own: str | None) -> AbstractContextManager[Path | bytes]:
    """Return a context that gives the uploaded bundle's bytes, or the path of the visitor's own bundle."""
    if file is not None:
        return nullcontext(file.getvalue())
    bundle, *_ = downloads.offers(runs.release(session.current().owner, str(own)))
    return _on_disk("release.zip", bundle.write)


@contextmanager
def _on_disk(name: str, write: Writer) -> Iterator[Path]:
    """Write a file in a temporary folder of DPSYNTH_HOME, yield its path, and delete it afterwards.

    Args:
        name: The name of the file.
        write: Writes the content to a stream.
    """
    with TemporaryDirectory(prefix="verify-", dir=home()) as folder:
        path = Path(folder) / name
        with private_file(path) as stream:
            write(stream)
        yield path


def _verdict(report: Report) -> None:
    wrong = sum(check.verdict == verdicts.FAILED for check in report.checks)
    if report.verdict == verdicts.CONSISTENT:
        sentence = "**This bundle is consistent**: nothing that can be checked is wrong."
        st.success(f"{sentence} {report.open_in_short}", icon=":material/check_circle:")
    elif report.verdict == verdicts.PARTLY:
        sentence = "**This bundle is consistent as far as checked**, but not all of it could be checked."
        st.warning(f"{sentence} {report.open_in_short}", icon=":material/help:")
    else:
        st.error(f"**This bundle is not consistent**: {wrong} of the checks failed. Do not rely on it.", icon=":material/gpp_bad:")
    _checks(report.outstanding)
    st.caption(f"SHA-256 of the file: `{report.sha256}`. {literal(capital(report.signature), WHOLE)}.")


_SIGNED, _PLACE = "decided", "decision"
_ANSWER, _REASON, _NAME, _ROLE = "decision_answer", "decision_reason", "decision_name", "decision_role"
_LABELS = {"answer": "Your decision", "reason": "Reason", "name": "Your name", "role": "Your role"}
_MOST_SHOWN, _MOST_DIGITS = 2000, 200
_TITLES = {decision.PUBLISH: "Publish", decision.PURPOSES: "Publish for the purposes that I name", decision.WITHHOLD: "Do not publish"}
_HELP = "The decision is a file beside the bundle, bound to it by its SHA-256. This server keeps no copy."
_KEEP = (
    "Keep this code, or announce it with the SHA-256 of the bundle: if one letter of the decision or of the bundle "
    "changes, the code changes."
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


def decide(report: Report) -> None:
    """Draw the form to decide about a checked bundle and sign it; then the signed decision.

    The decision is kept in the session only, until it is downloaded. It is shown as long as it
    agrees with the report; otherwise the form is. Below, the decision of somebody else can be
    checked.

    Args:
        report: The report of the bundle's check.
    """
    signed: Decision | None = st.session_state.get(_SIGNED)
    with frame.card("Decide and sign", Zone.RELEASED, _HELP):
        if signed is None or not decision.holds(signed, report):
            offered = [decision.WITHHOLD] if report.verdict == verdicts.INCONSISTENT else list(decision.ANSWERS)
            st.radio(_LABELS["answer"], offered, format_func=_TITLES.get, index=None, key=_ANSWER, horizontal=True)
            st.text_area(_LABELS["reason"], key=_REASON, max_chars=MAX_REASON, height=90, placeholder="Why, or for which purposes")
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
                st.button("Decide anew", key="decision_again", type="tertiary", on_click=st.session_state.pop, args=(_SIGNED,))
        _check_decision(report)


def _sign(report: Report) -> None:
    typed = st.session_state
    today = datetime.now(UTC).date()
    try:
        typed[_SIGNED] = decision.of(report, typed[_ANSWER], typed[_REASON], typed[_NAME], typed[_ROLE], today)
    except InputError as error:
        raise InputError(_LABELS.get(error.field, error.field), error.problem, error.remedy) from None


def _check_decision(report: Report) -> None:
    """Draw the check of an uploaded decision that somebody else signed.

    It checks that the decision is unaltered and about this bundle, and that its code is the one
    that the signer gave.
    """
    with st.expander("Check a decision that was signed", icon=":material/fact_check:"), refusals.explained():
        file = st.file_uploader("Decision (JSON)", "json", key="decision_file")
        if file is None:
            return
        given = decision.read(file.getvalue().decode("utf-8", "replace"))
        decision.check_bundle(given, report.sha256)
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
    """Draw a decision without its code.

    The code is left out because comparing a file with a code from the same file proves nothing. All
    texts of the decision are hostile.

    Args:
        signed: The decision.
        by: The words before the signer's name.
        was: The words before the result of the check.
    """
    st.markdown(f"#### {literal(_TITLES[signed.answer])}")
    st.markdown(literal(signed.reason, MAX_REASON))
    who = f"**{literal(signed.name)}**, {literal(signed.role)}"
    st.markdown(f"{by} {who}, on {signed.signed}. {was} {literal(signed.checked)}.")
    if signed.open:
        st.caption(f"These questions were open then: {literal(' '.join(signed.open), _MOST_SHOWN)}")


def _more_rows(bundle: bytes, sha256: str) -> None:
    """Draw the form for more rows of a bundle's model, which is fitted again in a process with limits.

    Args:
        bundle: The ZIP.
        sha256: The SHA-256 of the ZIP, which identifies the release.
    """

    def draw(rows: int, where: tuple[str, ...]) -> tuple[str, bytes]:
        with st.spinner("Fitting the model again …"):
            stream = io.BytesIO()
            return confined.sampled(bundle, stream, Wanted(rows, where), Limits()).errors, stream.getvalue()

    more_rows(sha256, "more-synthetic.csv", _whom, draw)


def _whom() -> tuple[str, ...]:
    help = "Write one condition per line. One of the conditions on a column must hold, and this for every column that you name."
    example = "region=north\nregion=south\nsex=female"
    text = st.text_area("Only people with", key="sampled_where", placeholder=example, help=help, height=80)
    return tuple(line.strip() for line in text.splitlines() if line.strip())
