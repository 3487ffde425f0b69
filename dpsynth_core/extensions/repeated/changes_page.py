"""The page Changes: what changed between two releases, each an uploaded bundle or a finished run of the visitor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpsynth_core.bundle.verdicts import Running
from dpsynth_core.extensions.repeated.changes import BH, HOLM, MOST_EFFECT
from dpsynth_core.extensions.repeated.changes_report import CONDITION, TABLE_TITLES, TITLES
from dpsynth_core.extensions.repeated.changes_work import NAMES, Bundle, Found, found
from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.store import runs
from dpsynth_core.store.home import home
from dpsynth_core.store.runs import Run
from dpsynth_core.web.compare.compare_view import run_names
from dpsynth_core.web.results import downloads, open_runs
from dpsynth_core.web.shell import frame, refusals
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import WHOLE, capital, literal, one_line

NAME = "changes"
_FOUND = "changes_found"
"""Session key of what was compared, and of what was found, so that showing it again costs nothing."""
_LOW, _SHOWN = 10, 200
"""Rows of a table that is drawn in full height, and of one that is drawn at all."""
_UPLOAD = "A bundle (ZIP)"
_CORRECTIONS = {HOLM: "No false change (Holm)", BH: "Few false changes (Benjamini-Hochberg)"}
_CORRECTION_HELP = (
    "Of many cells some differ by chance. With Holm, any false change is listed with a probability of 5 % at most. With "
    "Benjamini-Hochberg, 5 % of the listed changes at most are expected to be false, "
    f"if {CONDITION}."
)
_SAMPLING_HELP = "Choose it where each table is a random sample of the people you ask about."
_EFFECT_HELP = "1 is a simple random sample. Surveys state the design effect of theirs."


@dataclass(frozen=True)
class Side:
    """One of the two releases: a finished run, or an uploaded file.

    Attributes:
        run: The run, or None.
        file: The uploaded file, or None.
    """

    run: Run | None = None
    file: UploadedFile | None = None

    @property
    def id(self) -> str:
        """A text that no other run or file has; "" if nothing is chosen yet."""
        return self.run.id if self.run else self.file.file_id if self.file else ""


def draw() -> None:
    """Draw the page.

    The button checks both bundles and compares them, in confined processes; the result is kept in the
    session. A finished run is written to a temporary folder as a bundle for this, and its download is noted
    in the ledger.
    """
    project = frame.require(NAME)
    frame.header(NAME, "See what changed between two releases of a table, beyond the noise of both.", Zone.RELEASED)
    with frame.card("Which releases?"):
        finished = [run for run in open_runs.finished(project.owner) if not run.only_learns]
        names = run_names(project, finished)
        sides = [
            _side(place, title, number, finished, names)
            for number, (place, title) in enumerate(zip(st.columns(2), ("Earlier release", "Later release"), strict=True))
        ]
        correction, sampling = _choices()
        ready = all(side.id for side in sides)
        asked = st.button("Check and compare", type="primary", icon=":material/difference:", key="changes_go", disabled=not ready)
    chosen = (*(side.id for side in sides), correction, sampling)
    if asked and ready:
        st.session_state.pop(_FOUND, None)
        with refusals.explained():
            st.session_state[_FOUND] = chosen, _found(project, sides, correction, sampling)
    kept, made = st.session_state.get(_FOUND, ((), None))
    if made is not None and kept == chosen:
        _show(project, sides, made)


def _side(place: st.delta_generator.DeltaGenerator, title: str, number: int, finished: list[Run], names: dict[str, str]) -> Side:
    """Draw the choice of one release: a run, or a bundle to upload."""
    with place:
        options = [_UPLOAD, *names]
        start = min(2 - number, len(finished))  # the two newest runs, the later one on the right
        shown = lambda one: one if one == _UPLOAD else one_line(names[one], 90)  # noqa: E731
        chosen = st.selectbox(title, options, start, format_func=shown, key=f"changes_{number}") if finished else _UPLOAD
        if chosen != _UPLOAD:
            return Side(run=next(run for run in finished if run.id == chosen))
        label = f"{title}: bundle (ZIP)"
        return Side(file=st.file_uploader(label, "zip", key=f"changes_file_{number}", help="It is checked in memory and not kept."))


def _choices() -> tuple[str, float | None]:
    """Draw the choices of the comparison, closed at first; the correction, and the design effect or None."""
    with st.expander("Correction and sampling", icon=":material/tune:", key="changes_choices"):
        look = {"format_func": _CORRECTIONS.get, "default": HOLM, "required": True, "help": _CORRECTION_HELP, "key": "changes_correction"}
        correction = st.segmented_control("Correction for many cells", list(_CORRECTIONS), **look) or HOLM
        if not st.toggle("Count the sampling error too", key="changes_sampling", help=_SAMPLING_HELP):
            return correction, None
        effect = st.number_input("Design effect", 1.0, MOST_EFFECT, 1.0, 0.1, key="changes_effect", help=_EFFECT_HELP)
        return correction, float(effect)


def _found(project: Current, sides: list[Side], correction: str, sampling: float | None) -> Found:
    bar = st.progress(0.0, "Opening the bundles …")

    def show(name: str, running: Running) -> None:
        done = NAMES.index(name) + (running.number - 1) / (running.of + 1)
        bar.progress(done / 2, f"{capital(name)}: {running.sentence}")

    try:
        with ExitStack() as stack:
            before, after = (stack.enter_context(_bundle(project, side)) for side in sides)
            return found(before, after, correction, sampling, on_check=show)
    finally:
        bar.empty()


@contextmanager
def _bundle(project: Current, side: Side) -> Iterator[Bundle]:
    """Yield the bytes of an uploaded bundle, or the path of a run's bundle, which is deleted afterwards.

    Raises:
        InputError: The run needs an approval or a reason before it may be taken away.
    """
    if side.file is not None:
        yield side.file.getvalue()
        return
    assert side.run is not None, "something is chosen"
    bundle, *_ = downloads.offers(runs.to_take_away(project.owner, side.run.id))
    with TemporaryDirectory(prefix="changes-", dir=home()) as folder:
        path = Path(folder) / "release.zip"
        with private_file(path) as stream:
            bundle.write(stream)
        yield path


def _show(project: Current, sides: list[Side], made: Found) -> None:
    first, *rest = made.summary
    with frame.card("What changed?"):
        st.markdown(f"**{literal(first, WHOLE)}**")
        if made.changed:
            with st.container(height=420 if len(made.changed) > _LOW else "content", border=False):
                st.markdown(_table(TITLES, made.changed[:_SHOWN]))
            if len(made.changed) > _SHOWN:
                st.caption(f"These are the {_SHOWN} largest changes of {len(made.changed):,}. The CSV file has all.")
        for sentence in rest:
            st.caption(literal(sentence, WHOLE))
        for name, questions in zip(NAMES, made.open, strict=True):
            for question in questions:
                st.warning(f"{capital(name)} was not checked in full: {literal(question, WHOLE)}", icon=":material/help:")
        with st.container(horizontal=True):
            for ending, mime, content in (("html", "text/html", made.html), ("csv", "text/csv", made.csv)):
                look = {"icon": ":material/download:", "on_click": "ignore", "key": f"changes_{ending}"}
                taken = partial(_taken, project, sides, content)
                st.download_button(f"Download as {ending.upper()}", taken, f"what-changed.{ending}", mime, **look)
    with st.expander("Every table, and how small a change is found", icon=":material/table_rows:", key="changes_tables"):
        with st.container(height=420 if len(made.tables) > _LOW else "content", border=False):
            st.markdown(_table(TABLE_TITLES, made.tables[:_SHOWN]))
        if len(made.tables) > _SHOWN:
            st.caption(f"These are {_SHOWN} of {len(made.tables):,} tables. The HTML file has all.")
    with st.expander("What can’t be said", icon=":material/help:", key="changes_unsaid"):
        for sentence in made.unsaid:
            st.markdown(f"- {literal(sentence, WHOLE)}")


def _table(titles: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return lines of texts as a table in Markdown.

    A frame's own button would save it without a note in the ledger, and as a CSV file whose names a spreadsheet may run as formulas.
    """
    escaped = [[literal(cells[0], 120), *map(literal, cells[1:])] for cells in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in (titles, ("---", *["---:"] * (len(titles) - 1)), *escaped))


def _taken(project: Current, sides: list[Side], content: bytes) -> bytes:
    """Return a file of the comparison, and note the download in the ledger for each run in it.

    Raises:
        InputError: A run may no longer be taken away; nothing is noted.
    """
    own = [side.run.id for side in sides if side.run is not None]
    for run in own:
        runs.to_take_away(project.owner, run)
    for run in own:
        runs.note_download(project.owner, run, NAME)
    return content
